. ./lib
head -c 100000 "$TOY/../../../catalog/traces/tinyllama.trace" >cut.trace
"$DSE" profile cut.trace --kind locality -o x.csv
status=$?
[ ! -e x.csv ] || echo 'a file was written' >&2
exit $status
