# DRAM burst by burst: bursts a second, agreement with two simulators
title "DRAM at event level (to reach: 5 M bursts/s on streams, 2 on 256 B and LAD, 1 on random 64 B; a layer of LAD in 2 s)"
bench dram
title "its agreement with the simulators"
bench dram agree
