. ./lib
npy q.npy '<f8' False '(1, 2, 4, 2)' 128; import_arrays --q q.npy --k q.npy --v q.npy
