. ./lib
import_arrays --q q.npy --v v.npy
import_arrays --safetensors a.safetensors --csv a.csv
import_arrays --safetensors a.safetensors --dim 3
import_arrays --raw a.f16 --k k.npy
