. ./lib
npy q.npy '<u2' False '(1, 2, 4, 2)' 32; import_arrays --q q.npy --k q.npy --v q.npy
