. ./lib
tensors a.safetensors '{"q":{"dtype":"F16","shape":[1,4,2],"data_offsets":[16,32]}}' 24; import_arrays --safetensors a.safetensors
