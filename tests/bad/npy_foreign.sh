. ./lib
echo 'not an array' >q.npy; import_arrays --q q.npy --k q.npy --v q.npy
