. ./lib
tensors a.safetensors '{"q": [}' 24; import_arrays --safetensors a.safetensors
