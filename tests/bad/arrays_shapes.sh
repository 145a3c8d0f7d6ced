. ./lib
npy q.npy '<f4' False '(1, 3, 4, 2)' 96; npy k.npy '<f4' False '(1, 2, 4, 2)' 64; import_arrays --q q.npy --k k.npy --v k.npy
