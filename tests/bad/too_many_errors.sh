. ./lib
{ echo "[sweep]"; i=0; while [ $i -lt 3000 ]; do echo "k$i = 1"; i=$((i + 1)); done; } >b.toml
"$DSE" sweep b.toml 2>all.txt
status=$?
head -n 3 all.txt >&2; tail -n 1 all.txt >&2
exit $status
