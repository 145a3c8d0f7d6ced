# Shared by the command-line tests: $DSE is the binary, $WORK a folder of the test's own, and ways to fail with a reason.
set -eu
DSE=$1
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
cd "$WORK"

fail() {
    printf 'FAILED: %s\n' "$*" >&2
    exit 1
}

# Every row of a model in a database, without the ids that differ between runs, in the order of points: as a checksum of the values' bits.
# Given EVERY: the values of every EVERY-th row, and how many rows there are of which points.
rows() { # DATABASE MODEL [EVERY]
    if [ $# -eq 3 ]; then sqlite3 "$1" "select count(*), sum(point), min(point), max(point) from $2_all"; fi
    columns=$(sqlite3 "$1" "select group_concat('\"' || name || '\"') from pragma_table_info('$2_all') where name not in ('id', 'run')")
    [ -n "$columns" ] || fail "$1 has no table $2_all"
    sqlite3 "$1" "select hex(sha3_query('select $columns from $2_all where point % ${3:-1} = 0 order by point', 224))"
}

# What several tests read is evaluated once a test run: once NAME COMMAND... prints a file with what the command printed. The runner gives the folder.
once() {
    shared=${DSE_TESTS:-$WORK/shared}
    mkdir -p "$shared"
    name=$1
    shift
    flock "$shared/$name.lock" sh -c 'to=$1; shift; [ -f "$to" ] || { "$@" >"$to.new" && mv "$to.new" "$to"; }' sh "$shared/$name" "$@" || fail "$*"
    echo "$shared/$name"
}

# Is a shipped sweep one that tests share, in closed form? Not those at event level, which a test shortens, and not a million points.
is_shared() { # FILE
    [ -f "$1" ] || return 1
    ! grep -q '^fidelity *= *"event-level"' "$1" || return 1
    points=$("$DSE" sweep "$1" --dry-run | sed -n 's/^[a-z]*: \([0-9,]*\) points$/\1/p' | tr -d , | awk '{ n += $1 } END { printf "%.0f", n }')
    [ "$points" -le 200000 ]
}

# The database of a shipped sweep, run in closed form once a test run without its figures: for reading alone.
shipped() { # NAME
    shared=${DSE_TESTS:-$WORK/shared}
    mkdir -p "$shared"
    flock "$shared/$1.db.lock" sh -c '[ -f "$2.done" ] || { "$1" sweep "$3" --fidelity closed-form --no-figures -q -o "$2" >"$2.front" && : >"$2.done"; }' sh \
        "$DSE" "$shared/$1.db" "$SHIPPED/$1.toml" || fail "dse sweep $1"
    echo "$shared/$1.db"
}

count() { sqlite3 "$1" "select count(*) from $2"; }

# Wait until a run that goes on as process PID has rows in a database, or has ended.
wait_for_rows() { # PID DATABASE
    # Between two transactions of a busy writer there are some ten milliseconds: who waits for the lock in longer steps misses them.
    until [ "$(sqlite3 "$2" 'select done from run' 2>/dev/null || echo 0)" -gt 0 ] 2>/dev/null || ! kill -0 "$1" 2>/dev/null; do
        sleep 0.002
    done
}

# A sweep of some hundred thousand points.
write_sweep() {
    cat >"$1" <<'TOML'
# A sweep for tests.
[sweep]
name = "test"
models = ["lad"]
[params]
power = "constant"
area = "core"
context = { from = 512, to = 4096, step = 64 }
tiles = { from = 1, to = 16, step = 1 }
sram_mib = { from = 1, to = 4, step = 0.25 }
clock_ghz = { from = 0.5, to = 2, points = 16 }
[constraints]
area = "area_mm2 <= 40"
[derive]
density = "tokens_per_s / area_mm2"
[quality]
exact = false
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
energy_mj = "min"
TOML
}
