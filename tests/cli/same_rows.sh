#!/bin/sh
# The same rows from one thread, from two, from three merged shards and from a reordered file.
. "$(dirname "$0")/lib.sh"
write_sweep s.toml
sed -i 's/points = 16/points = 4/' s.toml
"$DSE" sweep s.toml -q -j 1 -o one.db >one.txt
"$DSE" sweep s.toml -q -j 2 -o two.db >two.txt
"$DSE" sweep s.toml -q --shard 1/3 -o part1.db >/dev/null
SLURM_ARRAY_TASK_ID=11 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_COUNT=3 "$DSE" sweep s.toml -q --shard auto -o part2.db >/dev/null
OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3 "$DSE" sweep s.toml -q --shard auto -o part3.db >/dev/null
[ "$(sqlite3 part2.db 'select shard from run')" = 2/3 ] || fail "--shard auto took another shard"
"$DSE" merge merged.db part3.db part1.db part2.db
expected=$(rows one.db lad)
[ "$(count one.db lad)" -eq 47424 ] || fail "unexpected count $(count one.db lad)"
[ "$(rows two.db lad)" = "$expected" ] || fail "-j 2 gives other rows than -j 1"
[ "$(rows merged.db lad)" = "$expected" ] || fail "three merged shards give other rows"
cmp one.txt two.txt || fail "the printed front differs"
front() { sqlite3 "$1" 'select point from front order by 1' | sha256sum; }
[ "$(count one.db front)" -gt 0 ] || fail "no front"
[ "$(front two.db)" = "$(front one.db)" ] || fail "-j 2 gives another front"
[ "$(front merged.db)" = "$(front one.db)" ] || fail "merged shards give another front"

# Another order of keys is the same sweep: nothing is left to do.
awk '/^tiles/ {t = $0; next} {print} /^clock_ghz/ {print t}' s.toml >reordered.toml
"$DSE" sweep reordered.toml -o one.db 2>said.txt >/dev/null
grep -q 'already' said.txt || fail "a reordered file was run again: $(cat said.txt)"
[ "$(sqlite3 one.db 'select count(*) from run')" -eq 1 ] || fail "a reordered file made a second run"

# The same with a baseline, whose cache each thread fills with what it happens to meet. Workloads vary fastest.
sed 's/^name = .*/name = "compared"/; s/^tiles = .*/tiles = [4, 8]/; s/^clock_ghz = .*/weight_bits = { from = 2, to = 32, step = 1 }/' s.toml >c.toml
sed -i 's/^sram_mib = .*/sram_mib = 3/' c.toml
printf 'batch = { from = 1, to = 12, step = 1 }\nkv_bits = [4, 8, 16]\n' >params.txt
sed -i '/^\[params\]/r params.txt' c.toml
printf '[baseline]\nmodel = "lad"\ndecoding = "full-cache"\ntiles = 4\n' >>c.toml
"$DSE" sweep c.toml -q -j 1 -o one_c.db >one.txt
"$DSE" sweep c.toml -q -j 2 -o two_c.db >two.txt
"$DSE" sweep c.toml -q --shard 1/2 -o part1_c.db >/dev/null
"$DSE" sweep c.toml -q --shard 2/2 -o part2_c.db >/dev/null
"$DSE" merge merged_c.db part2_c.db part1_c.db
expected=$(rows one_c.db lad)
[ "$(sqlite3 one_c.db 'select count(*) from lad where speedup > 0')" -gt 1000 ] || fail "no ratios"
[ "$(rows two_c.db lad)" = "$expected" ] || fail "-j 2 gives other ratios than -j 1"
[ "$(rows merged_c.db lad)" = "$expected" ] || fail "merged shards give other ratios"
cmp one.txt two.txt || fail "the printed front differs beside a baseline"
[ "$(sqlite3 merged_c.db "select baseline from run")" = 'lad: decoding=full-cache, tiles=4' ] || fail "merging lost the baseline"
# Another baseline is another run.
sed 's/^decoding = "full-cache"/decoding = "locality-aware"/' c.toml >other.toml
"$DSE" sweep other.toml -q -o one_c.db >/dev/null
[ "$(sqlite3 one_c.db 'select count(*), count(distinct hash) from run')" = '2|2' ] || fail "another baseline is not another run"

# The same with requests, own ones of a CSV among them: a row is a mean over 68 of them, in whichever thread.
sed 's/^name = .*/name = "served"/; s/^tiles = .*/tiles = [2, 4, 8]/; /^context = /d; s/^sram_mib = .*/sram_mib = [0.25, 3]\nbatch = [1, 2, 4, 8]/' s.toml >r.toml
sed -i 's/^clock_ghz = .*/clock_ghz = { from = 0.5, to = 2, points = 100 }/' r.toml
printf 'prompt,generate\n1200,300\n400,1500\n2000,100\n900,80\n' >logged.csv
printf '[requests]\nmix = { translation = 3, logged = 1 }\n[baseline]\nmodel = "lad"\ndecoding = "full-cache"\n[catalog.requests]\nlogged = "logged.csv"\n' >>r.toml
"$DSE" sweep r.toml -q -j 1 -o one_r.db >one.txt
"$DSE" sweep r.toml -q -j 2 -o two_r.db >two.txt
"$DSE" sweep r.toml -q --shard 1/2 -o part1_r.db >/dev/null
"$DSE" sweep r.toml -q --shard 2/2 -o part2_r.db >/dev/null
"$DSE" merge merged_r.db part2_r.db part1_r.db
expected=$(rows one_r.db lad)
[ "$(rows two_r.db lad)" = "$expected" ] || fail "-j 2 gives other means than -j 1"
[ "$(rows merged_r.db lad)" = "$expected" ] || fail "merged shards give other means"
cmp one.txt two.txt || fail "the printed front differs with requests"
[ "$(sqlite3 one_r.db "select count(*) > 100, count(context), min(requests), max(requests), min(speedup) > 0 from lad where status = 'ok'")" = \
    '1|0|logged 0.25, translation 0.75|logged 0.25, translation 0.75|1' ] || fail "rows do not say what they are means over"
[ "$(sqlite3 one_r.db "select count(distinct reason), min(reason) from lad where status <> 'ok'")" = \
    "1|request of 1610 + 2275 tokens: the pipeline's working set does not fit the SRAM of a tile" ] || fail "the request that does not fit is not named"
[ "$(sqlite3 merged_r.db 'select requests from run')" = "$(sqlite3 one_r.db 'select requests from run')" ] || fail "merging lost the requests"
sqlite3 one_r.db 'select requests from run' | grep -q '^logged 0.25, translation 0.75: 68 requests a row, in the mean ' ||
    fail "run.requests is $(sqlite3 one_r.db 'select requests from run')"
# Another list in the same file is another run; the same one is not.
"$DSE" sweep r.toml -o one_r.db 2>said.txt >/dev/null
grep -q 'already' said.txt || fail "the same requests were run again: $(cat said.txt)"
printf '1,1\n' >>logged.csv
"$DSE" sweep r.toml -q -o one_r.db >/dev/null
[ "$(sqlite3 one_r.db 'select count(*), count(distinct hash) from run')" = '2|2' ] || fail "other requests are not another run"
