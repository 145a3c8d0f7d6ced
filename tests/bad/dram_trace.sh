printf 'R 0 64\nX 10 64\nR 0x20 none\n  W zz 64\nR 0 0\nR ffffffffff 64\nR 0 64 10\nR 0 64 9.5\nB 3\nR 1ffffffff 2 99 7\n' >a.trace
"$DSE" dram --memory hbm2-ramulator2 a.trace
