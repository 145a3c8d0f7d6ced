. ./lib
npy q.npy '<f4' False '(1, 2, 4, 2)' 60; import_arrays --q q.npy --k q.npy --v q.npy
