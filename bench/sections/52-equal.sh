# exact fronts of random lattices of 10^6 and 10^8 points against every point (the longest but for layers)
title "exact fronts of random lattices against every point: twenty of 10^6, ten of 10^8 (to reach: 0 wrong)"
bench search equal "$(size 4 2)" "$(size 1e6 1e4)"
bench search equal "$(size 2 1)" "$(size 1e8 1e5)"
