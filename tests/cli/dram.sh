#!/bin/sh
# dse dram: patterns are the reference's traces to the byte, a trace and its pattern give the same run, results in every format.
. "$(dirname "$0")/lib.sh"
sums=$2/tests/data/dram/trace_sha256.txt
export LC_ALL=C

# Every trace of the reference that the simulators of tests/data/dram were fed with.
same_trace() { # NAME PATTERN
    want=$(awk -v f="$1.t" '$2 == f { print $1 }' "$sums")
    [ -n "$want" ] || fail "there is no sum of $1"
    got=$("$DSE" dram --memory hbm2-dramsim3 --print-trace --pattern "$2" | sha256sum | cut -d' ' -f1)
    [ "$got" = "$want" ] || fail "pattern $2 is not the trace $1"
}
same_trace seq_rd sequential,size=16MiB,count=1
same_trace seq_wr sequential,size=16MiB,count=1,write=1
same_trace rw_g256_of copy,size=256,count=32768,offset=1073872896
same_trace rnd64_wr random,size=64,seed=4003,write=1
same_trace chunk256_rd random,size=256,count=65536,seed=5256
same_trace lad_n512_nb lad,context=512,interleave=1
same_trace lad_n512_bar lad,context=512,interleave=1,barriers=1
same_trace lad_n512_il8 lad,context=512
same_trace stride4096_rd stride,stride=4096
same_trace idle64_rd random,size=64,count=1000,seed=4009,interval_ns=200
same_trace rate_det_30_p256 random,size=256,count=65536,seed=8000,load=30
same_trace rate_poi_30_p256 random,size=256,count=65536,seed=8000,load=30,arrival=poisson

# A trace in a file, on standard input, and the pattern it came from.
pattern=lad,context=256,heads=8
"$DSE" dram --print-trace --pattern $pattern >lad.trace
without_speed() { sed 's/,[0-9.e+]*$//'; }
"$DSE" dram --pattern $pattern --format csv | without_speed >a.csv
"$DSE" dram lad.trace --format csv | without_speed >b.csv
"$DSE" dram - --format csv <lad.trace | without_speed >c.csv
cmp a.csv b.csv || fail "a trace and its pattern differ"
cmp a.csv c.csv || fail "standard input differs"
head -n 1 a.csv | grep -q '^"memory","mapping","frontend","refresh","bandwidth_gbs",' || fail "header: $(head -n 1 a.csv)"

# The default map, written out, is the default map; another one is another run.
map=$("$DSE" dram lad.trace --format csv | tail -n 1 | cut -d, -f2 | tr -d '"')
"$DSE" dram lad.trace --mapping "$map" --format csv | without_speed >d.csv
cmp a.csv d.csv || fail "the map \"$map\" is not the default"
"$DSE" dram lad.trace --mapping "co ch pc bg ba ro" --format csv | without_speed >e.csv
! cmp -s a.csv e.csv || fail "the map changes nothing"

# Twice the channels, what --set says, and no refresh.
cell() { "$DSE" dram lad.trace --memory hbm2-dramsim3 --format json "$@" | grep -o "\"$what\":[^,}]*" | cut -d: -f2 | tr -d ' '; }
what=peak_gbs
[ "$(cell --channels 16)" = 512 ] || fail "16 channels have 512 GB/s, not $(cell --channels 16)"
[ "$(cell --set channel_gbs=16)" = 128 ] || fail "8 channels of 16 GB/s have 128 GB/s"
what=refreshes
[ "$(cell --no-refresh)" = 0 ] || fail "there are refreshes without refresh"

# Commands: as many as counted, and read back as CSV.
"$DSE" dram lad.trace --commands commands.csv --format csv >/dev/null
reads=$(grep -c ',RD,' commands.csv)
what=reads
[ "$("$DSE" dram lad.trace --format json | grep -o '"reads":[0-9 ]*' | tr -dc 0-9)" = "$reads" ] || fail "$reads reads are in the list of commands"
"$DSE" dram lad.trace >table.txt 2>talk.txt
grep -q '^bandwidth_gbs ' table.txt || fail "no table"
grep -q '^hbm2-5cube, 80 channels, map ' talk.txt || fail "what was run is not told: $(cat talk.txt)"

# A trace without end that is printed ends with Ctrl-C; commands of a run that is stopped are kept, those of one that is killed are not there.
catches_term() { # PID
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null)
    [ $((0x${caught:-0} >> 14 & 1)) -eq 1 ]
}
stopped() { # SIGNAL STATUS OPTION...: a second after it has begun
    signal=$1 want=$2
    shift 2
    status=0
    "$DSE" dram --pattern random,size=64,count=4000000000 "$@" >out.txt 2>err.txt &
    pid=$!
    for _ in $(seq 300); do catches_term "$pid" && break || sleep 0.1; done
    sleep 1
    kill -s "$signal" "$pid"
    wait "$pid" || status=$?
    [ "$status" -eq "$want" ] || fail "dram $*: exit status $status after $signal: $(cat err.txt)"
}
stopped TERM 130 --print-trace
[ "$(wc -l <out.txt)" -gt 1000 ] || fail "nothing was printed of the trace"
rm -f out.txt
stopped KILL 137 --commands killed.csv
[ -z "$(ls -A | grep killed || true)" ] || fail "a run that was killed left $(ls -A | grep killed)"
stopped TERM 130 --commands stopped.csv
[ "$(wc -l <stopped.csv)" -gt 1000 ] || fail "the commands of a run that was stopped are not there"
[ "$(tail -n 1 stopped.csv | tr -cd , | wc -c)" -eq 7 ] || fail "the last command is cut: $(tail -n 1 stopped.csv)"
