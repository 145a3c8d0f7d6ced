. ./lib
npy q.npy '<f4' False '(2, 2, 2)' 32; npy k.npy '<f4' False '(2, 9, 2)' 144
"$DSE" trace import --q q.npy --k k.npy --v k.npy --steps 3,8 --model toy --source x -o new.trace
"$DSE" profile new.trace --kind locality --contexts 5,9 --steps 2
