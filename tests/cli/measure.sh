#!/bin/sh
# `dse measure` from the loading of libraries to the file, on libraries that stand for NVIDIA's (fake_cuda); and without any.
. "$(dirname "$0")/lib.sh"
fake=$2
export NO_COLOR=1 LC_ALL=C
try() { # STATUS ARGUMENT...; what is said goes to said.txt
    want=$1
    shift
    status=0
    "$DSE" measure "$@" >out.txt 2>said.txt || status=$?
    [ $status -eq "$want" ] || fail "measure $*: exit status $status instead of $want: $(cat said.txt)"
}
says() { grep -q -- "$1" said.txt || fail "not said: $1; but: $(cat said.txt)"; }
# Column NAME of rows whose column COLUMN is VALUE.
column() { # FILE NAME COLUMN VALUE
    grep -v '^#' "$1" | awk -F, -v name="$2" -v where="$3" -v value="$4" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = NF }
        NF != n { print "a row of " NF " cells: " $0; exit }
        NR > 1 && $at[where] == value { print $at[name] }'
}

# Without a driver: one message, status 1. The plan needs none.
mkdir empty
try 1 --libraries empty
[ "$(wc -l <said.txt)" -eq 1 ] || fail "more than one line: $(cat said.txt)"
says 'no NVIDIA driver to measure with (empty/libcuda.so.1: cannot open shared object file: No such file or directory); dse measure --dry-run'
try 0 --dry-run
grep -q 'points in about' out.txt || fail "no time in the plan"
try 0 --dry-run --format csv --only gemm,power --clocks
[ "$(grep -c '^"power"' out.txt)" -gt 10 ] && grep -q '^"gemm","matmul bf16 64 x 4096 x 14336",0.5,' out.txt || fail "$(cat out.txt)"
[ -z "$(ls ./*.csv 2>/dev/null)" ] || fail "a plan wrote a file"

# The whole plan. Nothing of the GPU's settings is touched.
export FAKE_CUDA_LOG=$WORK/clocks.txt
try 0 --libraries "$fake" --seconds 0.001 -o all.csv --licence CC0-1.0 -q
[ ! -e clocks.txt ] || fail "clocks were set: $(cat clocks.txt)"
grep -q '^# source: measured by dse [0-9.]* measure on 2[0-9-]*; licence: CC0-1.0$' all.csv || fail "$(head -3 all.csv)"
grep -q '^# machine: NVIDIA A100-SXM4-80GB, 108 SMs, compute capability 8.0, 80 GiB, L2 40 MiB, memory bus 5120 bit, ECC on$' all.csv || fail "$(head -3 all.csv)"
grep -q '^# driver: 550.54.15$' all.csv || fail "no driver"
grep -q '^# software: CUDA 12.4 of the driver, cublas 12.8.5, NVRTC 12.0$' all.csv || fail "$(grep software all.csv)"
grep -q '^# clocks: SMs at most 1410 MHz, memory 1410 MHz; power limit 400 W, by default 400 W, from 100 W to 400 W$' all.csv || fail "$(grep clocks: all.csv)"
planned=$("$DSE" measure --dry-run --format csv | grep -c '^"')
planned=$((planned - 1))
left=$(grep -c '^# left out: ' all.csv) || true
[ "$(grep -vc '^#' all.csv)" -eq $((planned - left + 1)) ] || fail "$planned points, $left left out, $(grep -vc '^#' all.csv) rows"
[ "$left" -gt 0 ] && [ "$left" -lt 40 ] || fail "$left left out"
grep -q '^# left out: attention, batch 256, context 8192, 32 heads on 8: 8 GiB of memory are needed, 6 GiB are free$' all.csv || fail "$(grep left all.csv)"
[ "$(column all.csv gpu operator matmul | sort -u)" = a100-80gb ] || fail "it is called $(column all.csv gpu operator matmul | sort -u)"
[ "$(column all.csv engine operator matmul | sort -u)" = 'cublas 12.8.5' ] || fail "$(column all.csv engine operator matmul | sort -u)"
[ "$(column all.csv unit quantity time | sort -u)" = us ] || fail "times in $(column all.csv unit quantity time | sort -u)"
[ "$(column all.csv unit quantity bandwidth | sort -u)" = GB/s ] || fail "bandwidths"
[ "$(column all.csv operator quantity power | tr '\n' ' ')" = 'idle read matmul attention ' ] || fail "$(column all.csv operator quantity power)"
[ "$(column all.csv clock_limit quantity power | sort -u)" = power ] || fail "no limit"
[ "$(column all.csv split operator matmul | sort -u | tr '\n' ' ')" = 'calibrate test ' ] || fail "splits"
[ "$(column all.csv clock_set_mhz operator matmul | sort -u)" = '' ] || fail "clocks are said to be set"

# At clocks, which are given back; who may not set them gets the rest.
try 0 --libraries "$fake" --seconds 0.001 --only power --clocks -o clocks.csv -q
[ "$(head -1 clocks.txt)" = 'set 1275' ] && [ "$(tail -1 clocks.txt)" = 'given back 0' ] || fail "$(cat clocks.txt)"
clocks=$(column clocks.csv clock_set_mhz operator matmul | grep . | sort -un | tr '\n' ' ')
[ "$clocks" = '420 630 840 1065 1275 ' ] || fail "clocks: $clocks"
[ "$(column clocks.csv quantity clock_set_mhz 1275 | sort | tr '\n' ' ')" = 'bandwidth power power time ' ] || fail "$(grep 1275 clocks.csv)"
FAKE_CUDA=root try 0 --libraries "$fake" --seconds 0.001 --only power --clocks -o root.csv -q
says '10 points could not be measured; .*clocks cannot be set: Insufficient Permissions (only root may)'
[ "$(grep -c '^# left out: .*only root may' root.csv)" -eq 10 ] || fail "$(grep left root.csv)"

# Its name, and where it is written.
try 0 --libraries "$fake" --seconds 0.001 --only launch --gpu h100 -q --format csv
[ -e measured-h100-"$(date -u +%F)".csv ] || fail "no file of its own name: $(ls)"
grep -q '^"launch",[0-9.]*,"us",,,"launch_stream"$' out.txt || fail "$(cat out.txt)"
try 1 --libraries "$fake" --only launch -o nowhere/x.csv
says 'nowhere'

# A folder that the models can be held against: all times of GEMMs and of attention have an answer.
try 0 --libraries "$fake" --seconds 0.001 --only gemm,attention --folder mine -q
"$DSE" validate --measured --from mine --format csv >answers.csv 2>said.txt || fail "validate: $(cat said.txt)"
rows=$(grep -vc '^#' mine/measured.csv)
[ "$(grep -c '"dse-measure".*,,"measured",' answers.csv)" -eq $((rows - 1)) ] || fail "$(head -3 answers.csv)"
"$DSE" validate --measured --from mine >table.txt 2>said.txt || fail "validate: $(cat said.txt)"
grep -q 'GEMM, a100-80gb, M 16-64' table.txt && grep -q 'attention, decode, a100-80gb' table.txt || fail "$(cat table.txt)"
echo '# mine' >>mine/bindings.toml
try 0 --libraries "$fake" --seconds 0.001 --only gemm --folder mine -q
grep -q '^# mine' mine/bindings.toml || fail "bindings of the user's own were written over"
: >none
try 1 --libraries "$fake" --only launch --seconds 0.001 --folder none -q
says '^none'

# What goes wrong.
FAKE_CUDA=none try 1 --libraries "$fake"
says 'the NVIDIA driver sees no GPU'
try 1 --libraries "$fake" --device 3
says 'there is no GPU 3: the NVIDIA driver sees 1, counted from 0'
FAKE_CUDA=wrong try 1 --libraries "$fake" --only attention
says 'attention on this GPU: its kernel is 1.06 off at batch 2, context 333'
FAKE_CUDA=compile try 1 --libraries "$fake"
says 'NVRTC cannot be used (NVRTC_ERROR_COMPILATION for sm_80: kernels.cu(1): error: no such thing); --libraries says where it is$'
FAKE_CUDA=lost try 1 --libraries "$fake" --only bandwidth -o lost.csv -q
says 'the GPU failed: .*: an illegal memory access was encountered (CUDA error 700)'
grep -q 'points, the device failed$' lost.csv || fail "$(grep measured: lost.csv)"
mkdir some
cp "$fake"/libcuda.so.1 "$fake"/libnvrtc.so.12 some
try 1 --libraries some
says 'NVML cannot be used (some/libnvidia-ml.so.1: cannot open .*--only bandwidth,gemm,attention,launch does without it'
try 1 --libraries some --only gemm
says 'cuBLAS cannot be used (some/libcublas.so.12: cannot open .*--only bandwidth,attention,launch does without it'
try 0 --libraries some --only bandwidth --seconds 0.001 -o some.csv -q
[ "$(column some.csv clock_mhz operator read | sort -u)" = '' ] || fail "clocks without NVML"

# Ctrl-C: what was measured is there.
"$DSE" measure --libraries "$fake" --only gemm --seconds 0.2 -o part.csv >/dev/null 2>said.txt &
pid=$!
sleep 3
kill -INT $pid
status=0
wait $pid || status=$?
[ $status -eq 130 ] || fail "exit status $status instead of 130: $(cat said.txt)"
says 'stopped; the file says that it is incomplete'
grep -q 'points, interrupted$' part.csv || fail "$(grep measured: part.csv)"
[ "$(column part.csv quantity operator matmul | sort -u)" = time ] || fail "no rows"
