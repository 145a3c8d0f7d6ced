# LAD's decoding carried out on real heads
title "LAD's functional model at 1024 positions, d = 64 (to reach: 20000 steps a second and core), beside exact attention in float"
bench locality
