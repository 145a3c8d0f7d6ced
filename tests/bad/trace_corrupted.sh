. ./lib
trace; printf X | dd of=t.trace bs=1 seek=70 conv=notrunc 2>/dev/null; "$DSE" trace info t.trace
