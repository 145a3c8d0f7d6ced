. ./lib
npy q.npy '<f4' False '(2, 2, 2)' 32; npy k.npy '<f4' False '(2, 9, 2)' 144; import_arrays --q q.npy --k k.npy --v k.npy
import_arrays --q q.npy --k k.npy --v k.npy --steps 3,9
import_arrays --q q.npy --k k.npy --v k.npy --steps 8,3
import_arrays --q q.npy --k k.npy --v k.npy --steps 3
import_arrays --q q.npy --k k.npy --v k.npy --steps 0-8/0
