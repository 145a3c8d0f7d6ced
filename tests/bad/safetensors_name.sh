. ./lib
tensors a.safetensors '{"model.q":{"dtype":"F16","shape":[1,4,2],"data_offsets":[0,16]}}' 16; import_arrays --safetensors a.safetensors
