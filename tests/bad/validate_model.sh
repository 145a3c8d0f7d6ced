. ./lib
"$DSE" validate lad ladd
