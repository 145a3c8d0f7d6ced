#!/bin/sh
# A quality is shown where it was measured under the settings of the point, and said to be unknown elsewhere: by eval, in rows, of a front.
. "$(dirname "$0")/lib.sh"
says() { grep -qF "$1" "$2" || fail "\"$1\" is not in $2: $(cat "$2")"; }
gives() { # DB SQL EXPECTED
    got=$(sqlite3 "$1" "$2")
    [ "$got" = "$3" ] || fail "$2: \"$got\" instead of \"$3\""
}
point() { # MODEL SETTING... : eval as JSON, in $json
    model=$1
    shift
    set -- $(printf -- ' --set %s' "$@")
    "$DSE" eval "$model" "$@" --format json >point.json
    json=$(cat point.json)
}
cell() { sqlite3 :memory: "select coalesce(json_extract(readfile('point.json'), '\$[0].$1'), 'NULL')"; }
is() { # COLUMN EXPECTED
    got=$(cell "$1")
    [ "$got" = "$2" ] || fail "$1 is \"$got\" instead of \"$2\": $json"
}

# ---- eval ----
# VEDA as published keeps a prompt whole: what was measured token by token says nothing of it.
bulk="boundary=bulk eviction_ratio=0.5 quality_from=retention"
point veda $bulk retention=codellama-13b
is retained_mass NULL
is attention_error NULL
is quality unknown
is why_unknown 'retention codellama-13b was measured only with boundary = token'
is why_null 'retained_mass: retention codellama-13b was measured only with boundary = token; attention_error: retention codellama-13b was measured only with boundary = token; attention_error_sd: retention codellama-13b was measured only with boundary = token; task_score: the task has no score for this technique (task); task_loss: the task has no score for this technique (task)'
"$DSE" eval veda --set boundary=bulk --set quality_from=retention --set retention=codellama-13b >table.txt 2>said.txt
says 'unknown: retention codellama-13b was measured only with boundary = token' table.txt
says 'note: attention error unknown: retention codellama-13b was measured only with boundary = token; do not compare this point with others; attention is exact with eviction=none' said.txt
# As timed, the sink leaves with the surplus. A table says so in a line of its own; a program reads the number.
"$DSE" eval veda --set boundary=bulk --set eviction_ratio=0.5 >table.txt 2>said.txt
says "note: attention error 5.801 is above 0.1: the output of attention is off by 580.1 % of its norm; attention is exact with eviction=none" said.txt
"$DSE" eval veda --set boundary=bulk --format csv >table.csv 2>said.txt
[ ! -s said.txt ] || fail "a program is told: $(cat said.txt)"
point veda $bulk retention=codellama-13b-bulk
is quality other-llm
[ "$(sqlite3 :memory: "select $(cell retained_mass) < 0.4 and $(cell attention_error) > 4")" = 1 ] || fail "as timed: $json"
for setting in kv_bits=2 reserved_length=8 threshold_a=0.5 threshold_b=0.1; do
    point veda $bulk retention=codellama-13b-bulk $setting
    is attention_error NULL
    is quality unknown
done
# Weights of few bits lose something, too, which no measured error has; a quality that is rounded says so itself.
narrow='the loss from weights below 16 bits is not in the quality: nobody measured it (weight_bits, format)'
for settings in veda\ weight_bits=4 veda\ format=int4-linears lad\ weight_bits=4; do
    point $settings
    is quality other-llm
    is beyond "$narrow"
done
point veda weight_bits=4 eviction=none
is quality rounded
is beyond NULL
# Defaults lose little, and nothing is said of them.
for model in lad veda swiftkv flashdecoding ane; do
    "$DSE" eval $model >table.txt 2>said.txt
    [ ! -s said.txt ] || fail "eval $model says $(cat said.txt)"
done
# LAD: other pieces, windows and widths were not measured, neither what is lost nor how many positions are active.
point lad draws=profile intervals=5 profile=tinyllama-1.1b batch=1
is quality other-llm
is why_null 'attention_error_sd: the attention profile has no spread over heads (profile)'
for setting in intervals=16 recent=0 kv_bits=2; do
    case $setting in intervals=*) pieces= ;; *) pieces=intervals=5 ;; esac
    point lad draws=profile profile=tinyllama-1.1b batch=1 $pieces $setting
    for metric in attention_error false_negative active centers hit_ratio; do is $metric NULL; done
    is quality unknown
    is why_unknown "$(cell beyond)"
    [ "$(cell latency_us)" != NULL ] || fail "no time: $json"
done
is beyond 'profile tinyllama-1.1b was measured only with kv_bits = 16'
# A law is flagged where it leaves its data.
point lad draws=profile intervals=5 context=4096 batch=1
is beyond NULL
point lad draws=profile intervals=5 context=131072 llm=yarn-llama2-7b-128k batch=1 sram_mib=16 tiles=1 capacity_gib=200
is status ok
is beyond 'profile published-fit has data for 512 to 4096 positions'
# Exact attention, in full and in few bits.
point swiftkv weight_bits=16 kv_bits=16 capacity_gib=64
is quality exact
point swiftkv kv_bits=8
is quality rounded

# ---- rows, and what there is to know of a front ----
cat >s.toml <<'TOML'
# Evict, or not?
[sweep]
name = "s"
models = ["veda", "lad"]
[params]
context = [1024, 8192]
kv_bits = [8, 16]
batch = 1
llm = "llama3.1-8b"
capacity_gib = 64
[params.veda]
eviction = ["none", "voting"]
vote_fifo = 16384
boundary = "bulk"
eviction_ratio = 0.5
quality_from = "retention"
retention = "codellama-13b-bulk"
[params.lad]
draws = "profile"
intervals = 5
tiles = [1, 2]
sram_mib = 4
[constraints]
area = "area_mm2 <= 500"
[quality]
exact = false
trust = "unknown"
[objectives]
tokens_per_s = "max"
energy_mj = "min"
per = ["context"]
TOML
"$DSE" sweep s.toml -o s.db --no-figures >front.txt 2>said.txt
gives s.db "select eviction, kv_bits, context, quality, retained_mass is null from veda order by 1, 2, 3" \
    'none|8|1024|rounded|0
none|8|8192|rounded|0
none|16|1024|exact|0
none|16|8192|exact|0
voting|8|1024|unknown|1
voting|8|8192|unknown|1
voting|16|1024|other-llm|0
voting|16|8192|unknown|1'
gives s.db "select distinct kv_bits, context, quality, beyond from lad where status = 'ok' order by 1, 2" \
    '8|1024|unknown|profile published-fit was measured only with kv_bits = 16
8|8192|unknown|profile published-fit has data for 512 to 4096 positions; profile published-fit was measured only with kv_bits = 16
16|1024|unknown|
16|8192|unknown|profile published-fit has data for 512 to 4096 positions'
gives s.db "select count(*) from pragma_table_info('comparison') where name in ('quality', 'beyond')" 2
gives s.db "select count(*) from column_info where table_name = 'lad' and column_name in ('quality', 'beyond') and length(doc) > 10" 2
unknown=$(sqlite3 s.db "select count(*) from comparison_front where quality = 'unknown'")
beyond=$(sqlite3 s.db "select count(*) from comparison_front where beyond is not null")
all=$(count s.db comparison_front)
[ "$unknown" -gt 0 ] && [ "$beyond" -gt 0 ] || fail "the sweep does not show what it is for"
says "note: $unknown of the $all designs on the front lose information, and nobody measured how much under their settings" said.txt
says "note: $beyond of the $all designs on the front use numbers outside the measured range (column beyond): profile published-fit has data for 512 to 4096" said.txt
says 'note: kv_bits varies without kv_scale_bits: no model says what narrower numbers cost in output' said.txt
# Scales, and a surface that says what rounding loses: nothing to be told.
cat >scaled.toml <<'TOML'
# Fewer bits with scales, or whole numbers?
[sweep]
name = "scaled"
models = ["veda"]
[params]
context = [1024, 8192]
kv_bits = [8, 16]
kv_scale_bits = [0, 1]
quality_from = "surface"
llm = "llama3.1-8b"
capacity_gib = 64
[constraints]
formats = "kv_bits + 8 * kv_scale_bits == 16"
[quality]
exact = false
trust = "unknown"
[objectives]
tokens_per_s = "max"
energy_mj = "min"
TOML
"$DSE" sweep scaled.toml -o scaled.db --no-figures >front.txt 2>said.txt
gives scaled.db "select count(*) > 0 from veda_front where kv_bits = 8" 1
! grep -q 'kv_bits varies' said.txt || fail "it says what a surface says: $(cat said.txt)"

# quality = "known": what loses an unknown part of the output is infeasible, and says why.
sed 's/^\[constraints\]/&\nquality = "known"/; s/"s"/"known"/' s.toml >known.toml
"$DSE" sweep known.toml -o known.db --no-figures >front.txt 2>said.txt
gives known.db "select count(*) from comparison where status = 'ok' and quality = 'unknown'" 0
gives known.db "select count(*) from comparison where status = 'ok'" "$(sqlite3 s.db "select count(*) from comparison where status = 'ok' and quality <> 'unknown'")"
gives known.db "select distinct reason from veda where kv_bits = 8 and eviction = 'voting'" \
    'constraint quality: retention codellama-13b-bulk was measured only with kv_bits = 16'
! grep -q 'lose information' said.txt || fail "it says what cannot be: $(cat said.txt)"
"$DSE" sweep known.toml --dry-run >dry.txt
says 'quality is known' dry.txt

# ---- means over requests: the share of tokens whose quality is known ----
cat >mix.toml <<'TOML'
# Short requests lie within what was measured, long ones do not.
[sweep]
name = "mix"
models = ["veda"]
[params]
llm = "llama2-7b"
eviction = ["none", "window"]
eviction_ratio = 0.5
boundary = "bulk"
quality_from = "retention"
retention = "codellama-13b-bulk"
[requests]
mix = { short = 0.75, long = 0.25 }
[catalog.requests.short]
source = "me"
prompt_median = 1000
prompt_p90 = 1000
generate_median = 100
generate_p90 = 100
max_tokens = 4000
[catalog.requests.long]
source = "me"
prompt_median = 3000
prompt_p90 = 3000
generate_median = 100
generate_p90 = 100
max_tokens = 4000
[quality]
exact = false
trust = "unknown"
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep mix.toml -o mix.db --no-figures >front.txt 2>said.txt
gives mix.db "select eviction, quality, round(known_tokens, 6), retained_mass is null from veda order by 1" 'none|exact|1.0|0
window|unknown|0.75|0'
"$DSE" eval veda --set eviction=window --requests chat --format json >point.json
[ "$(cell known_tokens)" != NULL ] || fail "eval does not say what share is known: $(cat point.json)"
