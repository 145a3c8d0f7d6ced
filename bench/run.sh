#!/bin/sh
# ./dev bench: speed as ratios to limits and yardsticks measured in the same run. Absolute times drift with the machine; ratios are what counts.
set -eu
build=$(cd "$1" && pwd)
only=${2:-all}
dse=$build/src/cli/dse
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted() { [ "$only" = all ] || [ "$only" = "$1" ]; }

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }

if wanted eval; then
    echo "== closed form: nanoseconds a point and core (to reach: under 400)"
    "$build"/bench/bench_lad
    echo
    echo "== closed forms of all models (to reach: under 1000)"
    "$build"/bench/bench_models
    echo "== VEDA in TOML over VEDA in C, at the same points (to reach: 3)"
    "$build"/bench/bench_toml
    echo
fi

if wanted library; then
    echo "== a point through libdse, beside the model alone (to reach: 50 ns more)"
    "$build"/bench/bench_library
    echo
fi

if wanted sql; then
    echo "== rows of LAD through the SQLite extension, five columns to CSV (to reach: 500000 rows a second and core), beside a table of the same"
    rows="tiles BETWEEN 1 AND 16 AND context BETWEEN 1001 AND 32250 AND llm = 'llama3.1-8b' AND capacity_gib = 1024"
    seconds() { { time -p sqlite3 "$@" >/dev/null; } 2>&1 | awk '/user|sys/ { s += $2 } END { print s }'; }
    sqlite3 -cmd ".load $build/src/sql/dse" "$work/rows.db" "CREATE TABLE t AS SELECT tiles, context, tokens_per_s, area_mm2, energy_mj FROM lad WHERE $rows"
    for _ in 1 2 3; do
        seconds -csv "$work/rows.db" 'SELECT * FROM t' >>"$work/stored_rows"
        seconds -csv -cmd ".load $build/src/sql/dse" :memory: "SELECT tiles, context, tokens_per_s, area_mm2, energy_mj FROM lad WHERE $rows" >>"$work/computed_rows"
    done
    awk -v a="$(median <"$work/stored_rows")" -v b="$(median <"$work/computed_rows")" 'BEGIN {
        printf "   read from a table  %.0f rows a second\n   computed           %.0f rows a second: %.2fx the time\n\n", 5e5 / a, 5e5 / b, b / a}'
fi

if wanted diff; then
    echo "== dse diff of two runs of a million rows of LAD, seconds of CPU (to reach: 3)"
    sweep() { # NAME LLMS
        printf '[sweep]\nname = "%s"\nmodels = ["lad"]\n[params]\nllm = [%s]\n' "$1" "$2"
        printf 'context = { from = 512, to = 4096, step = 128 }\ntiles = { from = 1, to = 32, step = 1 }\n'
        printf 'sram_mib = { from = 0.5, to = 27.5, step = 0.125 }\n[objectives]\ntokens_per_s = "max"\narea_mm2 = "min"\n'
    }
    sweep a '"opt-2.7b", "llama2-7b", "llama2-13b", "llama3-8b", "mistral-7b"' >"$work/a.toml"
    sweep b '"mistral-7b", "llama3-8b", "opt-2.7b", "llama2-7b", "llama2-13b"' >"$work/b.toml"
    for x in a b; do "$dse" sweep "$work/$x.toml" -q -o "$work/$x.db" >/dev/null; done
    for x in a b; do
        for _ in 1 2 3; do { time -p "$dse" diff "$work/a.db" "$work/$x.db" >/dev/null; } 2>&1 | awk '/user|sys/ { s += $2 } END { print s }'; done |
            median | sed "s/^/   $([ $x = a ] && echo 'the same order    ' || echo 'in another order  ')/"
    done
    rm "$work"/[ab].db
    echo
fi

if wanted requests; then
    echo "== a row that is the mean over requests, for each of them, beside a plain row (to reach: under 1.2)"
    "$build"/bench/bench_requests
    echo
fi

if wanted profiles; then
    echo "== reading a profile (to reach: 1, the splines in it each by itself)"
    "$build"/bench/bench_profiles
    echo
fi

if wanted searches; then
    echo "== searches without bounds (to reach: local search 98 % of the front; NSGA-II 1000000 evaluations a second), streams and samples"
    "$build"/bench/bench_searches
    echo
fi

if wanted locality; then
    echo "== LAD's functional model at 1024 positions, d = 64 (to reach: 20000 steps a second and core), beside exact attention in float"
    "$build"/bench/bench_locality
    echo
fi

if wanted dram; then
    echo "== DRAM at event level (to reach: 5 M bursts/s on streams, 2 on 256 B and LAD, 1 on random 64 B; a layer of LAD in 2 s)"
    "$build"/bench/bench_dram
    echo "   agreement with the simulators:"
    "$build"/bench/bench_dram agree
    echo
fi

if wanted sweep; then
    echo "== a million LAD points, evaluation included, against a bare loop of prepared INSERTs of the same rows"
    echo "   (to reach: 1.0; goal: 2)"
    sed -e '/^\[figures\]/,$d' sweeps/lad_million.toml >"$work/million.toml"
    "$dse" sweep "$work/million.toml" -q -o "$work/rows.db" >/dev/null
    for _ in 1 2 3; do
        rm -f "$work"/sweep.db* "$work"/bare.db*
        sync
        "$build"/bench/bench_insert "$work/rows.db" lad_all "$work/bare.db" 131072 >>"$work/bare"
        sync
        "$build"/bench/bench_run "$dse" sweep "$work/million.toml" -q -o "$work/sweep.db" | cut -d' ' -f1 >>"$work/whole"
        rm -f "$work"/sweep.db*
        sync
        "$dse" sweep "$work/million.toml" -o "$work/sweep.db" 2>&1 >/dev/null | sed -n 's/.* points in \([0-9.]*\) s .*/\1/p' >>"$work/stored"
    done
    awk -v a="$(median <"$work/bare")" -v b="$(median <"$work/stored")" -v c="$(median <"$work/whole")" 'BEGIN {
        printf "   bare INSERT loop           %.2f s\n", a
        printf "   dse sweep, to the last row %.2f s: %.2fx the rate\n", b, a / b
        printf "   dse sweep, whole process   %.2f s: %.2fx, with the front found, stored and printed\n\n", c, a / c}'
fi

if wanted memory; then
    echo "== largest resident set (to reach: under 300 MiB, whatever the number of points)"
    for n in 1 10; do
        sed -e '/^\[figures\]/,$d' -e "s/points = 50/points = $((50 * n))/" sweeps/lad_million.toml >"$work/$n.toml"
        "$build"/bench/bench_run "$dse" sweep "$work/$n.toml" -q -o "$work/$n.db" | awk -v n=$n '{printf "   %2d million points: %s s, %s MiB\n", n, $1, $2}'
        rm -f "$work/$n".db*
    done
    echo
fi

if wanted events; then
    echo "== events: take one, put one back, against a time wheel fitted to the load and a binary heap (to reach: 0.5 of the wheel)"
    "$build"/bench/bench_events
    echo
    echo "== event levels of the models, a run (to reach: 1 s)"
    "$build"/bench/bench_simulate
    echo
    echo "== event level of LAD-3.5, LLaMA2-7B, 4096 positions, 12 sequences (to reach: a layer in 2 s, the step in 4)"
    "$build"/bench/bench_simulate step
    echo
fi

if wanted random; then
    echo "== random feasible points at both fidelities (to reach: none failed, none wrong; runs over 1 s are cut off)"
    "$build"/bench/bench_random 1000
    echo
fi

if wanted bounds; then
    echo "== bounds of all models: 1e8 pairs of a point and a metric (to reach: none outside), and their time over a point's"
    "$build"/bench/bench_bounds
    echo
fi

if wanted layers; then
    echo "== the same with every layer simulated (to reach: 60 s)"
    "$build"/bench/bench_simulate layers
    echo
fi

if wanted store; then
    echo "== ways into SQLite, a million synthetic rows"
    (cd "$work" && "$build"/bench/bench_store)
    echo
fi

if wanted front; then
    echo "== Pareto fronts and hypervolume, against moocore 0.20 as published, each over one pass of its own machine's data"
    "$build"/bench/bench_front
fi

if wanted eviction; then
    echo
    echo "== eviction: a sweep over policies and ratios for a layer (to reach: under 10 s)"
    "$build"/bench/bench_eviction
fi

if wanted search; then
    echo
    echo "== exact fronts: a trillion LADs, three objectives (to reach: 60 s on two cores; goal 10)"
    "$dse" front sweeps/lad_trillion.toml --no-figures -o "$work/trillion.db" 2>&1 >/dev/null | sed -n 's/^lad_trillion: \(.*exact front.*\); database.*/   \1/p'
    rm -f "$work"/trillion.db*
    echo "== exact fronts: 10^9 designs of each model (to reach: 60 s)"
    "$build"/bench/bench_search time
    echo "== exact fronts of random lattices against every point: twenty of 10^6, ten of 10^8 (to reach: 0 wrong)"
    "$build"/bench/bench_search equal 4 1e6
    "$build"/bench/bench_search equal 2 1e8
fi
