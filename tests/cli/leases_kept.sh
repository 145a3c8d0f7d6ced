#!/bin/sh
# Workers that lease blocks of a sweep that keeps its front, or a sample: what they keep together is what a plain run stores.
. "$(dirname "$0")/lib.sh"
sweep() { # NAME KEEP MODELS
    cat >"$1.toml" <<TOML
[sweep]
name = "$1"
models = [$3]
keep = "$2"
$4
[params]
llm = ["llama2-7b", "mistral-7b"]
context = { from = 512, to = 4096, step = 256 }
bandwidth_gbs = { from = 200, to = 1800, points = 60, scale = "log" }
sram_mib = { from = 0.5, to = 20, step = 0.125 }
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
energy_mj = "min"
per = ["llm", "context"]
TOML
}
sweep kept front '"lad"' ''
sweep sampled sample '"lad"' 'keep_points = 500'
sed -i 's/energy_mj = "min"//; s/^per = .*/per = ["llm"]/' sampled.toml
# What is stored, what is on the front, what was counted.
same() { # DB PLAIN MODEL...
    db=$1 plain=$2
    shift 2
    for m in "$@"; do
        [ "$(rows "$db" "$m")" = "$(rows "$plain" "$m")" ] || fail "$db: other rows of $m: $(count "$db" "${m}_all") for $(count "$plain" "${m}_all")"
    done
    for sql in "select model, point from front order by 1, 2" "select model, status, reason, points from evaluated order by 1, 2, 3" \
        "select status, shard, method, planned, done, feasible, printf('%.9g', hypervolume), notices from run"; do
        [ "$(sqlite3 "$db" "$sql")" = "$(sqlite3 "$plain" "$sql")" ] || fail "$db: $sql: $(sqlite3 "$db" "$sql" | head -5)"
    done
    [ "$(sqlite3 "$db" 'select (select count(*) from streamed) + (select count(*) from streamed_part) + (select count(*) from streamed_block)')" = 0 ] ||
        fail "$db: leftovers"
    "$DSE" check "$db" >checked.txt || fail "$db: $(cat checked.txt)"
}
finish() { # NAME DB [POINTS]: of which only so many are evaluated; none
    "$DSE" sweep "$1.toml" -o "$2" >/dev/null 2>said.txt || fail "$2: $(cat said.txt)"
    grep -q "^$1: ${3:-0} points evaluated" said.txt || fail "$2: $(cat said.txt)"
}

for name in kept sampled; do
    "$DSE" sweep $name.toml -q -j 2 -o $name.plain.db >/dev/null
    # One worker, and another that comes late.
    "$DSE" sweep $name.toml --lease $name.one 2>said.txt
    grep -q "store what is kept: dse sweep $name.toml -o" said.txt || fail "said: $(cat said.txt)"
    "$DSE" merge $name.one.db $name.one 2>said.txt
    grep -q "of $name is not stored yet: run its sweep file with --fidelity closed-form -o $name.one.db" said.txt || fail "merge said: $(cat said.txt)"
    finish $name $name.one.db
    same $name.one.db $name.plain.db lad

    # Four workers; two are killed, one is stopped for longer than a lease and goes on.
    pids=
    for _ in 1 2 3 4; do
        "$DSE" sweep $name.toml -q -j 1 --lease $name.many --lease-age 1 &
        pids="$pids $!"
    done
    # shellcheck disable=SC2086
    set -- $pids
    until [ "$(find $name.many/leases/done -type f 2>/dev/null | wc -l)" -gt 8 ]; do kill -0 "$3" 2>/dev/null || break; sleep 0.02; done
    kill -STOP "$1" 2>/dev/null || true
    kill -9 "$2" 2>/dev/null || true
    sleep 0.3
    kill -9 "$3" 2>/dev/null || true
    "$DSE" sweep $name.toml -q -j 2 --lease $name.many --lease-age 1
    kill -CONT "$1" 2>/dev/null || true
    for p in "$1" "$4"; do wait "$p" || fail "a worker failed"; done
    [ "$(find $name.many -name "*.db" | wc -l)" -gt 1 ] || fail "only these worked: $(ls $name.many)"
    # All at once; and one by one, twice.
    "$DSE" merge $name.many.db $name.many 2>said.txt || fail "merge: $(cat said.txt)"
    finish $name $name.many.db
    same $name.many.db $name.plain.db lad
    for w in $(ls $name.many/leases/done | cut -d. -f2- | sort -u); do
        "$DSE" merge $name.each.db "$name.many/$w.db" "$name.many/$w.db" 2>said.txt || fail "$w: $(cat said.txt)"
    done
    finish $name $name.each.db
    same $name.each.db $name.plain.db lad
    # What is whole takes no harm of being merged again.
    "$DSE" merge $name.each.db $name.one 2>said.txt || fail "merge: $(cat said.txt)"
    "$DSE" check $name.each.db >checked.txt || fail "again: $(cat checked.txt)"
    [ "$(rows $name.each.db lad)" = "$(rows $name.plain.db lad)" ] || fail "merged again: other rows"
done

# A part alone is no whole: the sweep evaluates it anew.
part=$(ls kept.many/leases/done | head -n 1 | cut -d. -f2-)
"$DSE" merge part.db "kept.many/$part.db" 2>/dev/null
[ "$(sqlite3 part.db 'select count(*) from streamed')" = 0 ] || fail "a part is taken for the whole"
finish kept part.db 282,600
[ "$(rows part.db lad)" = "$(rows kept.plain.db lad)" ] || fail "a part, gone on with: other rows"

# Two models.
sweep two front '"lad", "veda"' ''
sed -i '/^per = /d; s/^sram_mib.*/sram_mib = { from = 0.5, to = 4, step = 0.5 }/; s/^context.*/context = [512, 2048]/' two.toml
"$DSE" sweep two.toml -q -o two.plain.db >/dev/null
"$DSE" sweep two.toml -q --lease two.one
"$DSE" merge two.one.db two.one 2>/dev/null
finish two two.one.db
same two.one.db two.plain.db lad veda
