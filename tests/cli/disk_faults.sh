#!/bin/sh
# Needs: npm-report
# A disk on which the n-th write, sync or name fails: the command says so with exit status 1, or has done all of it, and the same command
# goes on to the result of an undisturbed run. Commands that only read change nothing beside a database. Everyday runs try a few n; all of
# them are tried in the full tier on a release build.
. "$(dirname "$0")/lib.sh"
build=$3
WRITES=1 SHORT=2 SYNCS=3 NAMES=4 ENOSPC=28 EIO=5 EACCES=13
write_sweep s.toml
sed -i 's/points = 16/points = 2/; s/step = 64/step = 512/; s/^tiles.*/tiles = { from = 1, to = 16, step = 5 }/' s.toml
cat >front.toml <<'TOML'
[sweep]
name = "front"
models = ["lad"]
[params]
context = [1024, 2048]
tiles = { from = 1, to = 8, step = 1 }
sram_mib = [1, 2]
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
cat >two.toml <<'TOML'
# Rows of each model are committed by themselves.
[sweep]
name = "two"
models = ["lad", "veda"]
[params]
context = [512, 1024, 2048]
[params.lad]
tiles = { from = 1, to = 16, step = 1 }
clock_ghz = { from = 0.5, to = 2, points = 4 }
[params.veda]
clock_ghz = { from = 0.5, to = 2, points = 40 }
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
every=29
if [ "${DSE_SAMPLES:-}" = all ]; then every=1; fi
if [ $every -eq 1 ] && grep -q __asan_init "$DSE"; then every=5; fi
faulty() { # FAULT COMMAND...: on a disk that fails so below a folder; how many calls there were, in calls
    fault=$1
    shift
    ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-} LD_PRELOAD="$build/tests/cli/disk_faults.so" DISK_FAULT="$fault" DISK_COUNT="$PWD/calls" "$@"
}

# ---- reading ----------------------------------------------------------------------------------------------------------------
mkdir -p read
"$DSE" sweep s.toml -q -o read/s.db >/dev/null
listing() { find read -type f -exec sha256sum {} +; }
before=$(listing)
reads() { # COMMAND...: it works although nothing below read/ can be changed, and changes nothing
    for kind in $WRITES $SYNCS $NAMES; do
        faulty "$kind 0 1 $EACCES $WORK/read" "$@" >out.txt 2>said.txt || fail "$*: $(cat said.txt)"
        [ "$(cat calls)" -eq 0 ] || fail "$* tried to change something $(cat calls) times"
        [ "$(listing)" = "$before" ] || fail "$* has changed the database or left something beside it"
    done
}
reads "$DSE" query read/s.db 'select count(*) from lad'
reads "$DSE" pareto read/s.db
reads "$DSE" check read/s.db
reads "$DSE" report read/s.db -o page.html

# ---- what is written: a command, what it begins with, and its result -----------------------------------------------------------
"$DSE" sweep s.toml -q --shard 1/2 -o one.db >/dev/null
"$DSE" sweep s.toml -q --shard 2/2 -o two.db >/dev/null
sweep() { "$DSE" sweep "$WORK/s.toml" -q -j 1 --no-figures -o disk/s.db; }
result_sweep() { rows disk/s.db lad; }
merge() { "$DSE" merge disk/s.db "$WORK/one.db" "$WORK/two.db"; }
result_merge() { rows disk/s.db lad; }
merge_more() { "$DSE" merge disk/s.db "$WORK/two.db"; }
begin_merge_more() { cp "$WORK/one.db" disk/s.db; }
result_merge_more() { rows disk/s.db lad; }
resume() { "$DSE" sweep "$WORK/two.toml" -q -j 1 --no-figures -o disk/s.db; }
begin_resume() { # what was committed of a sweep that was cut off in its middle
    [ ! -d "$WORK/half" ] || cp "$WORK"/half/* disk/
}
result_resume() { rows disk/s.db lad && rows disk/s.db veda; }
front() { "$DSE" front "$WORK/front.toml" --certificate -q -j 1 --no-figures -o disk/s.db; }
result_front() { # as far as a search that was cut off does not come in: it is begun anew as another run
    "$DSE" check-front disk/s.db >checked.txt || cat checked.txt
    sqlite3 disk/s.db "select f.point, f.tiles, f.area_mm2, c.complete, c.dominated, c.refused from lad_front f, certificate c
        where c.run = (select max(id) from run where status = 'done') order by 1"
}
report() { "$DSE" report "$WORK/read/s.db" -o disk/page.html; }
result_report() { sed "s/[0-9a-f]\{32\}//g" disk/page.html | sha256sum; } # nonces
leases() { "$DSE" sweep "$WORK/s.toml" -q -j 1 --lease disk --lease-age 1; }
result_leases() {
    rm -f merged.db
    "$DSE" merge merged.db disk >/dev/null 2>&1 && rows merged.db lad
}

begin() { # COMMAND: the disk as it is before
    rm -rf disk
    mkdir disk
    if command -v "begin_$1" >/dev/null; then "begin_$1"; fi
}
fails_at() { # COMMAND KIND AT STAYS ERRNO
    begin "$1"
    status=0
    faulty "$2 $3 $4 $5 $PWD/disk" "$1" >out.txt 2>said.txt || status=$?
    case $status in
    0) [ "$("result_$1")" = "$expected" ] || fail "$*: said to be well, and another result" ;;
    1) grep -q 'error: ' said.txt || fail "$*: no message: $(cat said.txt)" ;;
    *) fail "$*: exit status $status: $(cat said.txt)" ;;
    esac
    if [ "$1" = report ] && [ -f disk/page.html ]; then [ "$(result_report)" = "$expected" ] || fail "$*: half a page"; fi
    "$1" >out.txt 2>said.txt || fail "$*: the same command does not go on: $(cat said.txt)"
    [ "$("result_$1")" = "$expected" ] || fail "$*: another result after going on"
    tried=$((tried + 1))
}
everywhere() { # COMMAND KIND STAYS ERRNO CALLS
    at=$((step / 2))
    [ $at -lt "$5" ] || at=$(($5 / 2))
    while [ $at -lt "$5" ]; do
        fails_at "$1" "$2" $at "$3" "$4"
        at=$((at + step))
    done
}
calls_of() { # COMMAND KIND: how many there are on a disk that works, and the result is then in $expected
    begin "$1"
    faulty "$2 1000000000 0 $EIO $PWD/disk" "$1" >out.txt 2>said.txt || fail "$1 on a disk that works: $(cat said.txt)"
    expected=$("result_$1")
    [ -n "$expected" ] || fail "$1 has no result"
    calls=$(cat calls)
}
every_fault() { # COMMAND STEP: in a folder of its own
    step=$2 tried=0
    mkdir "$1"
    cd "$1"
    calls_of "$1" $SYNCS
    everywhere "$1" $SYNCS 0 $EIO "$calls"
    calls_of "$1" $NAMES
    everywhere "$1" $NAMES 0 $EACCES "$calls"
    calls_of "$1" $WRITES
    everywhere "$1" $WRITES 1 $ENOSPC "$calls"
    everywhere "$1" $WRITES 0 $EIO "$calls"
    everywhere "$1" $SHORT 0 $ENOSPC "$calls"
    cd ..
    echo "$1: $calls writes; $tried faults, at every $step. write, sync and name"
    echo $tried >>tried.txt
}

for at in 50 55 60 65 70 75 80 85 90; do
    begin resume
    faulty "$WRITES $at 1 $ENOSPC $PWD/disk" resume >out.txt 2>said.txt && fail "a full disk was not noticed"
    half=$(sqlite3 disk/s.db 'select done > 0 and done < planned from run' 2>/dev/null || echo 0)
    [ "$half" = 1 ] && break
done
[ "$half" = 1 ] || fail "no sweep was cut off in its middle"
mkdir half
cp disk/* half

# Two at a time; a worker whose lease is left waits a second for it.
few=$((every * 8))
[ $every -gt 5 ] || few=$every
(for c in sweep report front; do every_fault $c $([ $c = sweep ] && echo $every || echo $few); done) &
first=$!
for c in merge merge_more resume; do every_fault $c $([ $c = merge ] && echo $every || echo $few); done
every_fault leases $few
wait $first || exit 1
[ "$(awk '{ n += $1 } END { print n }' tried.txt)" -gt 40 ] || fail "only $(cat tried.txt) faults"
