"$DSE" eval lad --timeline run.json --ideal dram
status=$?
[ ! -e run.json ] || echo "run.json was made" >&2
exit $status
