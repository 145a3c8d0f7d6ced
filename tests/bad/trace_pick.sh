. ./lib
trace; "$DSE" trace import --csv t.csv --model toy --source x --select-layers 4,5 --first 2 -o new.trace
