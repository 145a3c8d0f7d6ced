# exact fronts of 10^12 LADs and of 10^9 designs of each model, certificate and check
title "exact fronts: a trillion LADs, three objectives, stored with the certificate (to reach: 60 s on two cores; goal 10), and the check of it"
# In the short form an axis of the lattice is one value.
sed -e "$(size '' '/^\(vpu\|apid\)_/s/= \[\([0-9]*\).*/= \1/; s/^clock_ghz .*/clock_ghz = 1/; s/points = 129/points = 5/')" \
    -e '/^\[figures\]/,$d' "$source/sweeps/lad_trillion.toml" >lattice.toml
bench run "$dse" front lattice.toml --certificate -o trillion.db >front
bench run "$dse" check-front trillion.db >check
points=$(sqlite3 trillion.db 'SELECT printf("%.3g", sum(points)) FROM certificate_space')
found=$(sqlite3 trillion.db 'SELECT count(*) FROM lad_all')
for x in front check; do echo "   $x: $(field 1 <$x) s wall, $(field 2 <$x) s CPU, $(field 3 <$x) MiB"; done
row "exact front of $points LADs, speed, area and energy ($found rows), and its certificate; the check of that" \
    "$(field 2 <front) s CPU, $(field 1 <front) s wall; $(field 2 <check) s CPU, $(field 1 <check) s wall"
title "exact fronts: 10^9 designs of each model (to reach: 60 s)"
bench search time
