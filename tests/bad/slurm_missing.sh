. ./lib
good_sweep s.toml s
mkdir bin; ln -s "$(command -v sh)" bin/sh; PATH=$PWD/bin "$DSE" sweep s.toml --slurm 2>said; e=$?
sed "s,$(pwd -P)/,," said >&2; exit $e
