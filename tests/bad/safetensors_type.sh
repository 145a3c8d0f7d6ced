. ./lib
tensors a.safetensors '{"q":{"dtype":"F64","shape":[1,1,2],"data_offsets":[0,16]}}' 16; import_arrays --safetensors a.safetensors
