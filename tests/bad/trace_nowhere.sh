. ./lib
trace; "$DSE" trace import --csv t.csv --model toy --source x -o nowhere/t.trace
