#!/bin/sh
# Files that are none of dse's, of a newer dse, or damaged: every command that reads a database says so, and prints nothing of it.
. "$(dirname "$0")/lib.sh"
cat >s.toml <<'TOML'
[sweep]
name = "s"
models = ["lad"]
[params]
tiles = { from = 1, to = 40, step = 1 }
context = { from = 512, to = 16384, step = 512 }
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
cat >f.toml <<'TOML'
[figure]
title = "t"
kind = "scatter"
sql = "select tiles, tokens_per_s from lad where tokens_per_s > 0"
x = "tiles"
y = "tokens_per_s"
TOML
"$DSE" sweep s.toml -q -o whole.db >/dev/null 2>&1
[ "$(count whole.db lad)" = 1280 ] || fail "the sweep has not 1280 points"

all_refuse() { # DB WHAT-IS-SAID
    for command in query pareto report plot merge sweep; do
        case $command in
        query) set -- "$1" "$2" query "$1" 'select * from lad' ;;
        pareto) set -- "$1" "$2" pareto "$1" ;;
        report) set -- "$1" "$2" report "$1" -o out.html ;;
        plot) set -- "$1" "$2" plot f.toml "$1" -o out.svg ;;
        merge) set -- "$1" "$2" merge out.db "$1" ;;
        sweep) set -- "$1" "$2" sweep s.toml -q -o "$1" ;;
        esac
        db=$1 says=$2 before=$(sha256sum <"$1")
        shift 2
        status=0
        "$DSE" "$@" >out.txt 2>err.txt || status=$?
        [ "$status" -eq 1 ] || fail "exit status $status: $*: $(cat out.txt err.txt | head -5)"
        [ ! -s out.txt ] || fail "$* printed $(head -3 out.txt)"
        grep -q -- "$says" err.txt || fail "\"$says\" is not said by $*: $(cat err.txt)"
        [ ! -e out.html ] && [ ! -e out.svg ] && [ ! -e out.db ] || fail "$* left something behind"
        [ "$(sha256sum <"$db")" = "$before" ] || fail "$* changed the file"
        set -- "$db" "$says"
    done
}
sqlite3 foreign.db "create table run(id, status, objectives); insert into run values(1, 'done', 'max x')"
all_refuse foreign.db 'is a SQLite database, but not one of dse'
cp whole.db newer.db
sqlite3 newer.db 'pragma user_version = 999'
all_refuse newer.db 'is from a newer dse: its layout is version 999'
cp whole.db short.db
truncate -s -16384 short.db
all_refuse short.db 'is damaged'
cp whole.db rows.db
sqlite3 rows.db 'delete from lad_all where point >= 596'
all_refuse rows.db 'is damaged: run 1 has 596 rows of lad where 1280 were stored'
cp whole.db byte.db
printf x | dd of=byte.db bs=1 seek=$(($(stat -c %s byte.db) / 2)) conv=notrunc status=none
all_refuse byte.db 'is damaged: its bytes are not those that dse wrote'

# `dse check` finds each of them out, and more, and names what is wrong.
"$DSE" check whole.db --format csv >out.txt 2>err.txt || fail "check whole.db: $(cat out.txt err.txt)"
grep -q 'WRONG' out.txt && fail "check whole.db: $(cat out.txt)"
grep -q '"\{0,1\}seal"\{0,1\},"\{0,1\}ok"\{0,1\},"\{0,1\}whole' out.txt || fail "a database that dse wrote has no seal: $(cat out.txt)"
finds() { # DB CHECK WHAT-IS-FOUND
    status=0
    "$DSE" check "$1" --format csv >out.txt 2>err.txt || status=$?
    [ "$status" -eq 1 ] || fail "check $1: exit status $status"
    tr -d '"' <out.txt | grep -q "^$2,WRONG,.*$3" || fail "check $1 does not say $2: $3: $(cat out.txt err.txt)"
}
cp whole.db long.db
truncate -s +16384 long.db
all_refuse long.db 'bytes where its header says'
finds long.db size 'bytes where its header says'
finds rows.db rows '596 rows of lad where 1280 were stored'
finds byte.db seal 'are not those that dse wrote'
wrong() { # NAME SQL CHECK WHAT-IS-FOUND
    cp whole.db "$1.db"
    sqlite3 "$1.db" "$2"
    finds "$1.db" "$3" "$4"
}
wrong feasible 'update run set feasible = feasible - 1' rows 'another number of feasible rows'
wrong point 'update lad_all set point = 7 where point = 8' points '1 rows of another run or point'
wrong stray "insert into lad_all(id, run, point, status) values(5000, 1, 4999, 'ok')" points '1 rows of no run'
wrong text "update lad_all set tokens_per_s = 'fast' where point < 3" values '3 values of another type'
wrong reason "update lad_all set reason = null where status <> 'ok'; update lad_all set status = 'good' where point = 1" values 'rows with an unknown status'
wrong overlap "insert into block values(1, 'lad', 3, 3); update run set done = 1281" blocks '1 blocks that overlap'
wrong front "insert into front values(1, 'lad', 99999)" fronts '1 points on a front without'
wrong column "delete from column_info where column_name = 'tiles'" columns '1 columns without a description'
wrong view "drop view lad; create view lad as select 1 as point" views 'lad is that of an older dse'
for db in foreign newer short; do
    if "$DSE" check $db.db >out.txt 2>err.txt; then fail "check $db.db finds nothing wrong"; fi
done

# Names in a file are names, and a column that is not there is no text.
hostile() { # SQL WHAT-IS-SAID
    cp whole.db hostile.db
    sqlite3 hostile.db "$1; delete from digest; update run set digests = null"
    status=0
    "$DSE" pareto hostile.db >out.txt 2>err.txt || status=$?
    [ "$status" -ne 0 ] && [ ! -s out.txt ] || fail "pareto of a file with $1: $(cat out.txt)"
    grep -q "$2" err.txt || fail "pareto of a file with $1 says $(cat err.txt)"
}
hostile "update run set objectives = 'max nothing'" 'lad has no column "nothing"'
hostile "update run set axes = 'x\"from--'" 'which is not a name of dse'
hostile "update run set objectives = 'max tiles\"from--'" 'which is not a name of dse'

# Without a file there is nothing to refuse.
[ "$("$DSE" query :memory: 'select 1 as x' --format csv | tail -n 1)" = 1 ] || fail ":memory: cannot be asked"

# A view without end ends.
sqlite3 whole.db 'create view endless as with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) as n from c'
if "$DSE" query whole.db 'select * from endless' --steps 5000000 >out.txt 2>err.txt; then fail "an endless view has an answer: $(cat out.txt)"; fi
grep -q 'gave no row in 5,000,000 steps' err.txt || fail "$(cat err.txt)"
