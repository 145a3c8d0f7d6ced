#!/bin/sh
# dse eval --points takes what dse itself, pandas and Optuna write: what is no parameter is left out with one line, a misspelt one is not.
. "$(dirname "$0")/lib.sh"

points() { # MODEL FILE: rows.csv and said.txt
    "$DSE" eval "$1" --points "$2" >rows.csv 2>said.txt || fail "eval $1 --points $2: $(cat said.txt)"
}
says() { # COUNT PATTERN: so many lines of said.txt are like that
    [ "$(grep -c "$2" said.txt)" -eq "$1" ] || fail "not $1 times \"$2\": $(cat said.txt)"
}
lines() { [ "$(wc -l <said.txt)" -eq "$1" ] || fail "not $1 lines: $(cat said.txt)"; }

# Rows of dse eval are the same rows again, of every model, with what was set and what follows from it.
for m in lad veda flashdecoding swiftkv ane; do
    for options in '' '--set batch=2 --set bandwidth_gbs=77'; do
        # shellcheck disable=SC2086
        "$DSE" eval $m $options --format csv >one.csv 2>/dev/null || fail "eval $m $options"
        points $m one.csv
        cmp one.csv rows.csv || fail "$m: rows of eval are others again"
        says 1 '^one.csv:1:1: note: columns that are no parameters of .* are not read: status, reason, tokens_per_s, '
        lines 1
    done
done

# A sweep of two models: pareto, its views, a front, the rows side by side.
cat >two.toml <<'T'
[sweep]
name = "two"
models = ["lad", "veda"]
[params]
context = [1024, 2048]
[params.lad]
tiles = [6, 8]
[derive]
time = "latency_us / 1000"
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
T
"$DSE" sweep two.toml --no-figures -q -o two.db >/dev/null 2>&1 || fail "no sweep"
"$DSE" pareto two.db --format csv >front.csv 2>/dev/null
points lad front.csv
says 1 'columns that are no parameters of lad are not read: tokens_per_s, area_mm2, attention_error, quality$'
says 1 'rows are of other models than lad, and are left out$'
lines 2
"$DSE" query two.db 'select * from lad order by point' --format csv >view.csv
points lad view.csv
says 1 'are not read: .*reason.*tokens_per_s.*time.*quality'
lines 1
metrics() { python3 -c 'import csv, sys; [print(r["tiles"], r["context"], r["tokens_per_s"], r["energy_mj"]) for r in csv.DictReader(open(sys.argv[1]))]' "$1"; }
[ "$(metrics view.csv)" = "$(metrics rows.csv)" ] && [ "$(metrics rows.csv | wc -l)" -eq 4 ] || fail "rows of a view are others: $(metrics rows.csv)"
"$DSE" query two.db 'select tiles, context, max(tokens_per_s) as best, min(area_mm2) from lad group by 1, 2' --format csv >best.csv
points lad best.csv
says 1 'are not read: best, min(area_mm2)$'
lines 1
"$DSE" query two.db 'select * from comparison' --format csv >both.csv
points veda both.csv
says 1 'note: 4 of 6 rows are of other models than veda, and are left out$'
[ "$(wc -l <rows.csv)" -eq 3 ] || fail "not two rows of veda: $(cat rows.csv)"

# A frame of pandas, with its index; Optuna's trials; both with semicolons, a byte order mark or CRLF.
printf 'context,tiles\n512,8\n1024,6\n' >plain.csv
points lad plain.csv
lines 0
cp rows.csv want.csv
same() { # PRINTF NOTE: the same points, with a note like that
    printf "$1" >frame.csv
    points lad frame.csv
    cmp rows.csv want.csv || fail "$1 is other points"
    says 1 "note: .*$2"
    lines 1
}
same ',tiles,context\n0,8,512\n1,6,1024\n' 'are not read: column 1, which has no name$'
same 'Unnamed: 0,tiles,context\n0,8,512\n1,6,1024\n' 'are not read: Unnamed: 0$'
same ',number,value,datetime_start,datetime_complete,duration,params_context,params_tiles,user_attrs_x,state\r\n0,0,1.5,2026-01-01 00:00:00.1,2026-01-01 00:00:01.1,0 days 00:00:01,512,8,,COMPLETE\r\n1,1,2.5,,,,1024,6.0,,FAIL\r\n' \
    'number, value, datetime_start, datetime_complete, duration, user_attrs_x, state$'
same '\357\273\277tiles;context;tokens_per_s\n8;512;1\n6;1024;2\n' 'are not read: tokens_per_s$'
same 'tiles\tcontext\tnote of mine\n8\t512\t\n6\t1024\tx\n' 'are not read: note of mine$'

# Empty cells are defaults, which may depend on the rest of the row.
printf 'memory,bandwidth_gbs,context\nhbm2-5cube,100,512\n,,512\nhbm3-h100-80gb,,512\n,100,\n' >holes.csv
points lad holes.csv
says 1 "note: 5 cells are empty, so the parameter has its default: of memory, bandwidth_gbs, context$"
lines 1
i=1
for options in '--set memory=hbm2-5cube --set bandwidth_gbs=100 --set context=512' '--set context=512' '--set memory=hbm3-h100-80gb --set context=512' '--set bandwidth_gbs=100'; do
    i=$((i + 1))
    # shellcheck disable=SC2086
    "$DSE" eval lad $options --format csv | tail -n 1 >one.csv
    sed -n ${i}p rows.csv | cmp - one.csv || fail "row $i with empty cells is not $options"
done

# Misspelt parameters are errors, beside metrics and in Optuna's names, too; and so are files that say nothing of the model.
refuses() { # PATTERN FILE
    printf "$2" >bad.csv
    status=0
    "$DSE" eval lad --points bad.csv >rows.csv 2>said.txt || status=$?
    [ $status -eq 2 ] && grep -q "$1" said.txt && [ ! -s rows.csv ] || fail "$2: exit status $status, $(cat said.txt)"
}
refuses 'did you mean "tiles"?' 'tilez,context\n8,512\n'
refuses 'did you mean "tiles"?' 'tilez,context,tokens_per_s,status\n8,512,1,ok\n'
refuses 'did you mean "tiles"?' 'params_tilse,params_context\n8,512\n'
refuses 'did you mean "sram_mib"?' 'sram_mb,context\n8,512\n'
refuses 'did you mean "context"?' 'Context,tiles\n512,8\n'
refuses 'columns tiles and params_tiles are the same parameter' 'tiles,params_tiles\n8,6\n'
refuses 'column tiles stands twice' 'tiles,tiles\n8,6\n'
refuses 'no column is a parameter of lad' 'tokens_per_s,area_mm2\n8,6\n'
refuses 'no row is of model lad' 'model,tiles\nveda,8\nane,6\n'
refuses 'bandwidth_gbs and channels cannot both be given' 'bandwidth_gbs,channels\n100,8\n'
