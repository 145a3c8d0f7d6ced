#!/bin/sh
# Traces of other simulators are read by the rules of the simulator whose they are, all of their words, and however they are spaced.
. "$(dirname "$0")/lib.sh"

reads() { # WANTED TRACE OPTION...: the trace, in printf's writing, is these requests
    want=$1 trace=$2
    shift 2
    printf "$trace" >t.trace
    "$DSE" dram t.trace --memory hbm2-dramsim3 --access 64 "$@" --print-trace >got.txt 2>err.txt || fail "$trace is not read: $(cat err.txt)"
    printf "$want" | cmp -s - got.txt || fail "$trace is read as $(cat got.txt)"
}
refuses() { # TRACE PATTERN: with exit status 2, and an error like that
    status=0
    printf "$1" | "$DSE" dram - --memory hbm2-dramsim3 --print-trace >out.txt 2>err.txt || status=$?
    [ $status -eq 2 ] && grep -q "$2" err.txt || fail "$1: exit status $status, $(cat err.txt)"
}

# Ramulator 2: decimal, hexadecimal behind 0x (the addresses of 'ST 4096' and of its own examples).
reads 'R 0 64\nW 1000 64\nR 12340 64\nR 40 64\n' 'LD 0\nST 4096\nLD 0x12345\nLD 64\n'
reads 'R 40 64\nW 40 64\n' '  ld\t64  # a comment\r\n\r\nSt 0X40\r\n'
refuses 'LD 1f00\n' '1:4: error: "1f00" is no decimal address, and has no 0x'
refuses 'LD 64 12\n' 'is too much on this line'
refuses 'LD\n' 'the address is missing'
refuses 'R 0,0,1,2,3\n' 'which depend on the memory'
# 20,000 lines in order are as fast with decimal addresses as with hexadecimal ones.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "LD %d\n", 64 * i }' >decimal.trace
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "LD 0x%x\n", 64 * i }' >hexadecimal.trace
for f in decimal hexadecimal; do
    "$DSE" dram $f.trace --memory hbm2-ramulator2 --format json | grep -o '"bandwidth_gbs": *[0-9.]*' | tr -dc '0-9.\n' >$f.gbs
done
cmp decimal.gbs hexadecimal.gbs || fail "decimal addresses: $(cat decimal.gbs) GB/s, hexadecimal ones $(cat hexadecimal.gbs)"
[ "$(cut -d. -f1 <decimal.gbs)" -eq 251 ] || fail "a stream takes $(cat decimal.gbs) GB/s of 256"

# DRAMsim3: hexadecimal with 0x or without; every word that it and DRAMsim2 know; cycles of half a nanosecond here.
reads 'R 0 64 0.000000\nW 40 64 10.000000\nR 12340 64 20.000000\n' '0x0 READ 0\n0x40 WRITE 20\n0x12340 READ 40\n' --cycle-ns 0.5
for word in READ read Read P_MEM_RD P_FETCH P_LOCK_RD P_LOCK_WR IFETCH P_INT_ACK P_IO_RD P_IO_WR; do
    reads 'R 40 64 3.000000\n' "0x40 $word 3\n" --cycle-ns 1
done
for word in WRITE write P_MEM_WR BOFF; do reads 'W 40 64 3.000000\n' "0x40 $word 3\n" --cycle-ns 1; done
# 10, 0 and b are hexadecimal addresses, the first line of a file, too; tabs, blanks and CRLF make no difference.
reads 'R 0 64 1.000000\nW 0 64 2.000000\nW 40 64 2.000000\n' '\t 10   READ\t1 \r\nb write 2\r\n40 WRITE 2\r\n' --cycle-ns 1
reads 'R 0 64 0.000000\n' '0 READ 0\n' --cycle-ns 1
# It takes requests in the order of the file, one that should have been earlier when its turn comes.
reads 'R 0 64 9.000000\nR 40 64 9.000000\n' '0x0 READ 9\n0x40 READ 5\n' --cycle-ns 1
# Addresses of a larger machine wrap around at the memory's end.
reads 'R 1ffffffc0 64 0.000000\n' '0xfffffffffff0 READ 0\n'
refuses '0x100 MOVE 1\n' '1:7: error: "MOVE" is no kind of request'
refuses '0x1z0 READ 1\n' '1:1: error'
refuses '0x100 READ x\n' '"x" is no cycle'
refuses '0x100 READ 1 2\n' '"2" is too much'

# Ramulator 1: hexadecimal; an address alone is read.
reads 'R 0 64\nW 40 64\nR 12340 64\nR 80 64\n' '0x0 R\n0x40 W\n12340 R\n80\n'
reads 'R 12340 64\n' '0x12345\n'

# gem5's packets: decimal, with sizes of their own, in picoseconds.
reads 'R 1000 64 5.000000\nW 1010 16 6.500000\n' 'r,4096,64,256,5000\nw,4112,16,0,6500,4198400\n'
reads 'R 1000 64 5.000000\n' '17,r,4096,64,256,5000\n'
reads 'W 40 32 0.001000\n' 'w, 64, 32, 1\n'
refuses 'u,4096,64,0,5000\n' 'neither reads nor writes'
refuses 'r,0x1g,64,5000\n' 'is no decimal address'

# Ours: hexadecimal with 0x or without, also behind a byte order mark.
reads 'R 40 64\nB\nW 80 16 2.500000\n' '\357\273\277# a comment\nR 40 64\nB\nW 0x80 16 2.5\n'

# A file is of one simulator.
refuses 'LD 64\n0x40 READ 5\n' "2:1: error: a line of a trace that is DRAMsim's or Ramulator 1's, in one that is Ramulator 2's"
refuses 'R 40 64\nLD 64\n' "a line of a trace that is Ramulator 2's, in one that is dse's own"
