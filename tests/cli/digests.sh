#!/bin/sh
# A value of a stored run that another program changes is found, in whatever column of whatever table it stands.
#     digests.sh DSE SOURCE
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"

# ---- runs of every kind ----
sweep_file() { # NAME: a sweep of 24 points, to which a test adds
    cat <<TOML
[sweep]
name = "$1"
models = ["lad", "veda"]
[params]
context = [512, 1024, 2048]
[params.lad]
tiles = [2, 4, 6]
sram_mib = [1, 3]
[params.veda]
pe_copies = [4, 16]
[derive]
density = "tokens_per_s / area_mm2"
[baseline]
model = "lad"
decoding = "full-cache"
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
}
sweep_file plain >plain.toml
sweep_file refined | sed 's/^models.*/models = ["veda"]\nfidelity = "refine"/; /params.lad/,/sram_mib/d' >refined.toml
sweep_file kept | sed 's/^models.*/&\nkeep = "front"/' >kept.toml
sweep_file searched | sed 's/^models.*/models = ["lad"]/; /params.veda/,/pe_copies/d' >searched.toml
printf '[search]\nmethod = "nsga2"\nevaluations = 20\npopulation = 4\n' >>searched.toml
sweep_file exact | sed 's/^models.*/models = ["lad"]/; /params.veda/,/pe_copies/d; /derive/,/decoding/d' >exact.toml
for name in plain refined kept searched; do
    "$DSE" sweep $name.toml -q --no-figures -o $name.db >out.txt 2>err.txt </dev/null || fail "$name: $(cat err.txt)"
done
"$DSE" front exact.toml --certificate -q -o exact.db >out.txt 2>err.txt </dev/null || fail "exact: $(cat err.txt)"
for k in 1 2; do "$DSE" sweep plain.toml --shard $k/2 -q -o part$k.db >out.txt 2>err.txt || fail "shard $k: $(cat err.txt)"; done
"$DSE" merge merged.db part1.db part2.db >out.txt 2>err.txt || fail "merge: $(cat err.txt)"

# ---- each column of each table is changed once ----
# What a value becomes. Of a table without row ids its first row is found by its key.
another() { # COLUMN
    echo "case typeof(\"$1\") when 'integer' then \"$1\" + 1000003 when 'real' then \"$1\" * 1.0000001 + 1e-9 when 'text' then \"$1\" || 'x' when 'blob' then x'01' else 1 end"
}
first_row() { # DATABASE TABLE
    keys=$(sqlite3 "$1" "select group_concat('\"' || name || '\"') from pragma_table_info('$2') where pk > 0")
    echo "where (${keys:=rowid}) = (select $keys from $2 limit 1)"
}
edits=0
for name in plain refined kept searched exact merged; do
    "$DSE" check $name.db >out.txt 2>&1 || fail "$name.db as it is: $(cat out.txt)"
    for table in $(sqlite3 $name.db "select name from sqlite_schema where type = 'table' and name not like 'sqlite%' and name <> 'seal'"); do
        [ "$(count $name.db "$table")" -gt 0 ] || continue
        where=$(first_row $name.db "$table")
        # All columns of MODEL_all and MODEL_fixed once, and of other runs and models a few.
        some=""
        case $name:$table in plain:lad_*) ;; *_all | *_fixed) some="where name in ('id', 'run', 'point', 'first_id', 'points', 'fidelity', 'latency_us', 'llm')" ;; esac
        for column in $(sqlite3 $name.db "select name from pragma_table_info('$table') $some"); do
            cp $name.db copy.db
            sqlite3 copy.db "update $table set \"$column\" = $(another "$column") $where" || fail "$table.$column"
            ! "$DSE" check copy.db >out.txt 2>&1 || fail "$name.db: another $table.$column is not found"
            edits=$((edits + 1))
        done
    done
done
[ $edits -gt 250 ] || fail "only $edits edits were tried"

# ---- and every command that reads says so ----
cp plain.db copy.db
sqlite3 copy.db "update lad_fixed set llm = 'llama3-8b'"
says() { # COMMAND...
    ! "$@" >out.txt 2>err.txt </dev/null || fail "$*: an edited database is read"
    grep -q 'lad_fixed of run 1 is not as dse wrote it' err.txt || fail "$*: $(cat err.txt)"
}
says "$DSE" query copy.db 'select 1'
says "$DSE" pareto copy.db
says "$DSE" merge out.db copy.db
says "$DSE" sweep plain.toml -q --no-figures -o copy.db
says "$DSE" report copy.db -o out.html
cp exact.db copy.db
sqlite3 copy.db "update lad_fixed set llm = 'llama3-8b'"
says "$DSE" check-front copy.db

# ---- what is taken away as a whole ----
gone() { # DATABASE SQL
    cp "$1" copy.db
    sqlite3 copy.db "$2"
    ! "$DSE" query copy.db 'select 1' >out.txt 2>err.txt </dev/null || fail "$1: $2: an edited database is read"
    grep -q 'is damaged: ' err.txt || fail "$1: $2: $(cat err.txt)"
}
gone plain.db 'drop table digest'
gone plain.db 'delete from digest'
gone plain.db "delete from digest where of = 'lad_fixed'"
gone kept.db 'drop table evaluated'
gone kept.db 'alter table evaluated rename to counted'
gone plain.db 'update lad_all set run = 2 where point = 3'
gone exact.db 'drop table certificate_box'

# ---- rows that something in the file keeps out ----
"$DSE" sweep plain.toml --shard 1/2 -q -o half.db >out.txt 2>&1 || fail "half: $(cat out.txt)"
sqlite3 half.db "delete from front; delete from lad_all where point > 2; delete from block where model = 'lad' and first > 0; update run set status = 'interrupted', done = (select count(*) from lad_all) + (select count(*) from veda_all);
    update run set feasible = done; update block set last = 2 where model = 'lad'; delete from digest; update run set digests = null;
    create trigger away before insert on lad_all begin select raise(ignore); end"
! "$DSE" sweep plain.toml --shard 1/2 -q -o half.db >out.txt 2>err.txt || fail "rows were swallowed, and nothing is said"
grep -q 'rows of lad: something in it, which dse did not put there, keeps rows out' err.txt || fail "swallowed rows: $(cat err.txt)"

# Without the trigger the run goes on. An index has rows written one by one: their digests are those that reading them gives.
sqlite3 half.db "drop trigger away; create index by_latency on lad_all(latency_us)"
"$DSE" sweep plain.toml --shard 1/2 -q -o half.db >out.txt 2>err.txt || fail "half, on an index: $(cat err.txt)"
"$DSE" check half.db >out.txt 2>&1 || fail "half, on an index: $(cat out.txt)"
[ "$(rows half.db lad)" = "$(rows part1.db lad)" ] || fail "half, on an index: other rows"
[ "$(sqlite3 half.db "select hash from digest where of = 'lad_all'")" = "$(sqlite3 part1.db "select hash from digest where of = 'lad_all'")" ] || fail "half, on an index: other digests"

# ---- what another program adds beside a run is no damage ----
cp plain.db copy.db
sqlite3 copy.db 'create table notes(run integer, text); insert into notes values(1, "mine"); create view mine as select * from lad'
"$DSE" query copy.db 'select count(*) from mine' >out.txt 2>err.txt || fail "a table and a view of others: $(cat err.txt)"
# A run of an older dse has no digests; another run beside it gets some.
cp plain.db old.db
sqlite3 old.db 'drop table digest; update run set digests = null'
sed 's/512, 1024, 2048/512, 1024/' plain.toml >fewer.toml
"$DSE" sweep fewer.toml -q --no-figures -o old.db >out.txt 2>err.txt || fail "beside an older run: $(cat err.txt)"
"$DSE" check old.db >out.txt 2>&1 || fail "beside an older run: $(cat out.txt)"
sqlite3 old.db "update lad_all set latency_us = 1 where id = (select max(id) from lad_all)"
! "$DSE" check old.db >out.txt 2>&1 || fail "a row of a run beside an older one is not looked at"
