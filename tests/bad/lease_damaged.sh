. ./lib
good_sweep s.toml s; "$DSE" sweep s.toml -q --lease f; echo 'dse-leases 2' >f/leases/plan; "$DSE" sweep s.toml --lease f
echo e=$? >&2; printf 'dse-leases 1\nsweep s\nhash 0123456789abcdef\nblock 1\npoints 9000000000000000000\n' >f/leases/plan; "$DSE" merge a.db f
