#!/bin/sh
# Scores of tasks: each is the paper's, joins with what a sweep ran, and a file of one's own is checked.
. "$(dirname "$0")/lib.sh"
ask() { "$DSE" query :memory: "$1" --format csv | tail -1; }
[ "$(ask "select count(*), count(distinct claim) from task_quality")" = 152,152 ] || fail "rows"
[ "$(ask "select count(*), sum(t.value = c.value) from task_quality t join claim c on c.id = t.claim")" = 152,152 ] || fail "a score is not its claim's"
[ "$(ask "select min(case when better = 'less' then value >= 0.99 * reference else value <= 1.01 * reference end) from task_quality where reference is not null")" = 1 ] ||
    fail "a technique is better than the LLM"

cat >h2o.toml <<'TOML'
[sweep]
name = "h2o"
models = ["veda", "swiftkv"]
[params]
llm = ["llama2-7b", "llama2-13b"]
eviction = "h2o"
eviction_ratio = 0.2
kv_bits = 16
weight_bits = 4
context = 1024
[objectives]
tokens_per_s = "max"
TOML
"$DSE" sweep h2o.toml -o h2o.db -q
got=$("$DSE" query h2o.db "SELECT count(*), sum(attention_error > 0) FROM swiftkv s JOIN task_quality t ON t.method = s.eviction AND t.llm = s.llm AND t.ratio = s.eviction_ratio WHERE t.task = 'wikitext2'" \
    --format csv | tail -1)
[ "$got" = 2,2 ] || fail "joined: $got"

head='method,ratio,settings,llm,task,score,value,unit,better,reference,source,claim'
refused() { # WHY, of mine.csv
    "$DSE" query :memory: "select * from task_quality('mine.csv')" 2>err && fail "accepted: $1"
    grep -q "$1" err || fail "\"$1\" is not said: $(cat err)"
}
row='h2o,0.2,,tiny,mine,accuracy,0.5,,more,0.6,me,'
printf '%s\n%s\n' "$head" "$row" >mine.csv
[ "$(ask "select value from task_quality('mine.csv')")" = 0.5 ] || fail "a file of one's own"
printf '%s\n%s\n%s\n' "$head" "$row" "$row" >mine.csv
refused 'the same score as in line 2'
printf '%s\n%s\n' "$head" 'h2o,0.2,,tiny,mine,accuracy,high,,more,,me,' >mine.csv
refused 'high'
printf '%s\n%s\n' "$head" 'h2o,1.2,,tiny,mine,accuracy,1,,more,,me,' >mine.csv
refused 'ratio 1.2 is not above 0 and at most 1'
printf '%s\n%s\n' "$head" 'h2o,0.2,,tiny,mine,accuracy,1,,higher,,me,' >mine.csv
refused 'neither more nor less'
printf '%s\n%s\n' "$head" 'h2o,0.2,,tiny,,accuracy,1,,more,,me,' >mine.csv
refused 'there is no task'
