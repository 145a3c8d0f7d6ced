. ./lib
printf '\377\377\377\000\000\000\000\000{}' >a.safetensors; import_arrays --safetensors a.safetensors
