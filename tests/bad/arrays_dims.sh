. ./lib
npy q.npy '<f4' False '(4, 2)' 32; import_arrays --q q.npy --k q.npy --v q.npy
