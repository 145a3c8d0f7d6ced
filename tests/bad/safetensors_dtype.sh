. ./lib
tensors a.safetensors '{"q":{"dtype":"F17","shape":[1,4,2],"data_offsets":[0,16]}}' 16; import_arrays --safetensors a.safetensors
