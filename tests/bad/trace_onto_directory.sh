. ./lib
trace; mkdir d; "$DSE" trace import --csv t.csv --model toy --source x -o d
