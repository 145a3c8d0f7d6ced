#!/bin/sh
# dse eval --points, which is made of libdse alone: each point of a file is the row that `dse eval` gives of it by itself.
. "$(dirname "$0")/lib.sh"

# Each LINE under HEADER is --set NAME=VALUE... of one eval, and a line of one file.
same() { # MODEL "OPTION..." HEADER LINE...
    model=$1 options=$2 header=$3
    shift 3
    printf '%s\n' "$header" "$@" >points.csv
    : >one.csv
    for line in "$@"; do
        settings=$(printf '%s\n' "$header" "$line" | awk -F, 'NR == 1 { split($0, name) } NR == 2 { for (i = 1; i <= NF; i++) printf " --set %s=%s", name[i], $i }')
        # shellcheck disable=SC2086 # options are words
        "$DSE" eval "$model" $options $settings --format csv 2>said >row.csv || fail "eval $model$settings: $(cat said)"
        [ -s one.csv ] || head -n 1 row.csv >one.csv
        tail -n 1 row.csv >>one.csv
    done
    # shellcheck disable=SC2086
    "$DSE" eval "$model" $options --points points.csv >many.csv || fail "eval $model --points"
    diff one.csv many.csv || fail "$model: rows of --points are not those of eval"
}
# Feasible ones, a memory that is too small, names that set other parameters, metrics that are not known.
same lad "" context,tiles 512,8 4096,12 1000000,12
same lad "--set kv_bits=8" llm,memory,context llama2-7b,hbm2-5cube,1024 llama3-8b,hbm3-h100-80gb,2048
same veda "" eviction_ratio,context 0.5,512 0.2,8192
same flashdecoding "--set batch=2" llm,tensor_parallel,context llama3-8b,1,1024 mixtral-8x7b,8,4096
same swiftkv "" context,batch 512,1 2048,4
same ane "" llm,context llama2-7b,512 llama3-8b,2048
same lad "--fidelity event-level" context 512

# What a file says of a point that cannot be is in its row; JSON has the same rows.
printf 'tiles,context\n0,2048\n8,2048\n' >points.csv
"$DSE" eval lad --points points.csv --format json >rows.json
for text in '"status": *"invalid"' '"reason": *"tiles: a whole number from 1 to 256"' '"tiles": *"\{0,1\}0' '"status": *"ok"'; do
    grep -q "$text" rows.json || fail "--points --format json has no $text: $(head -c 600 rows.json)"
done
# More points than are evaluated at once, and none.
awk 'BEGIN { print "context"; for (i = 0; i < 9000; i++) print 512 + i % 3000 }' >points.csv
"$DSE" eval lad --points points.csv >many.csv
[ "$(wc -l <many.csv)" -eq 9001 ] || fail "9000 points are $(wc -l <many.csv) lines"
for line in 3002 6002; do
    [ "$(sed -n 2p many.csv)" = "$(sed -n ${line}p many.csv)" ] || fail "the same point is another row in line $line"
done
echo context >points.csv
[ "$("$DSE" eval lad --points points.csv | wc -l)" -eq 1 ] || fail "no points are a header"
