. ./lib
"$DSE" trace generate --set rho=1.2 --set sinks=2.5 --set noise=1 --set n -o g.trace; e=$?
[ -z "$(find . -name 'g.trace*')" ] || echo "something was left behind" >&2
exit $e
