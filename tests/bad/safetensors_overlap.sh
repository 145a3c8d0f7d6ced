. ./lib
tensors a.safetensors '{"q":{"dtype":"F16","shape":[1,4,2],"data_offsets":[0,16]},"k":{"dtype":"F16","shape":[1,4,2],"data_offsets":[8,24]}}' 24; import_arrays --safetensors a.safetensors
