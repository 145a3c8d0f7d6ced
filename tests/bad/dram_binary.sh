printf '\177ELF\002\001\000\000\n\377\376R 0 64\nR 0\00064 1\n' >a.trace
"$DSE" dram a.trace
head -c 100000 /dev/zero >zero.trace
"$DSE" dram zero.trace
"$DSE" dram --pattern sequential,size=99999999999
