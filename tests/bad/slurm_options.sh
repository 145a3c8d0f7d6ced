. ./lib
good_sweep s.toml s
for o in long --p --array=1-9 '--comment="a b"'; do "$DSE" sweep s.toml --slurm="$o"; done
"$DSE" sweep s.toml --slurm --workers 0; "$DSE" sweep s.toml --slurm --shard 1/2; "$DSE" sweep s.toml --slurm --fresh
[ ! -e results ] || echo "something was written" >&2; exit 2
