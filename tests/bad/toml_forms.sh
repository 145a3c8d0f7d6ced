# Loops over ranges and tables, loops in functions, other values of parameters, files that are included: each case edits one line of a good model.
mkdir -p common
cat >blocks <<'TOML'
[functions]
"work(share)" = "sum(for op in linear: op.ops * share)"
[equations]
peak = "2 * pes * clock_ghz"
TOML
cat >good <<'TOML'
include = ["common/blocks.toml"]
[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
uses  = ["workload", "memory"]
[parameters]
pes       = { default = 4096, range = [1, 1000000], doc = "multiply-adds a cycle" }
clock_ghz = { default = 1, range = [0.1, 5], doc = "clock" }
order     = { default = "rows", choices = ["rows", "columns"], doc = "order" }
[tables]
tiles = { columns = ["rows", "fill_ns"], rows = [[64, 8], [128, 16]] }
[equations]
work_s = "work(1) / peak"
best   = "argmin(i in 1..16 if i <= pes: abs(i - 4))"
tile   = "argmin(t in tiles: t.fill_ns * pes / t.rows)"
other  = "at(pes = 2 * pes, work_s)"
[for.linear]
share  = "op.ops / peak"
[step]
time = "work_s + other + best * tiles.fill_ns(tile)"
TOML
bad() { # WHAT SED-SCRIPT [SED-SCRIPT of the included file]
    echo "== $1" >&2
    sed "$2" good >mine.toml
    sed "${3:-}" blocks >common/blocks.toml
    "$DSE" --plugin ./mine.toml eval mine
}
cp good good.toml
cp blocks common/blocks.toml
"$DSE" --plugin ./good.toml eval mine >out.txt || echo "the good one is refused" >&2
bad "a range without its end" 's/1\.\.16/1/'
bad "a range of an unknown end" 's/1\.\.16/1..pes/'
bad "a range of halves" 's/1\.\.16/1.5..16/'
bad "an empty range" 's/1\.\.16/16..1/'
bad "a long range" 's/1\.\.16/1..1001/'
bad "an end with a unit" 's/1\.\.16/1..16 [B]/'
bad "a condition with a unit" 's/if i <= pes/if 2 [B]/'
bad "items that do not fit each other" 's/^best .*/best = "sum(i in 1..3: i) + sum(i in 1..3: i * 1 [s])"/'
bad "a loop over operators with a condition" 's/^best .*/best = "sum(op in linear if op.is_draft: op.ops)"/'
bad "the least operator" 's/^best .*/best = "argmin(op in linear: op.ops)"/'
bad "a number of a range outside of it" 's/^best .*/best = "argmin(i in 1..16: abs(i - 4)) + i"/'
bad "a number of a range in a function" 's/^best .*/best = "sum(i in 1..3: work(1))"/' 's/op\.ops/op.ops * i/'
bad "an unknown table" 's/t in tiles/t in tile/'
bad "a row as a number" 's/t\.fill_ns \* pes/t * pes/'
bad "an unknown column of a row" 's/t\.rows/t.row/'
bad "an unknown column of a table" 's/tiles\.fill_ns/tiles.fills_ns/'
bad "a row with a unit" 's/tiles\.fill_ns(tile)/tiles.fill_ns(1 [B])/'
bad "a table with a short row" 's/\[128, 16\]/[128]/'
bad "a table with a word" 's/\[128, 16\]/[128, "16"]/'
bad "a table without rows" 's/rows = \[.*\]/rows = []/'
bad "a column twice" 's/"fill_ns"/"rows"/'
bad "a table with the name of a loop" 's/^tiles = /linear = /'
bad "another parameter that is none" 's/at(pes/at(pe/'
bad "another choice" 's/at(pes = 2 \* pes/at(order = 1/'
bad "another value of another unit" 's/at(pes = 2 \* pes/at(clock_ghz = 2/'
bad "no other value" 's/at(pes = 2 \* pes/at(2 * pes/'
bad "another value in another call" 's/abs(i - 4)/abs(i = 4)/'
bad "another memory" 's/at(pes = 2 \* pes/at(bandwidth_gbs = 1 [GB\/s]/'
bad "another batch, for operators" 's/at(pes = 2 \* pes/at(batch = 1/'
bad "another batch, for an operator" 's/^other .*/other = "sum(for op in linear: at(batch = 1, op.share))"/'
bad "another batch, for the footprint" 's/^other .*/other = "at(batch = 1, workload.footprint) \/ 1 [B\/s]"/'
bad "another value for each operator" 's/^other .*/other = "sum(for op in linear: at(pes = op.m, op.share))"/'
bad "equations that need themselves elsewhere" 's/at(pes = 2 \* pes, work_s)/at(pes = 2 * pes, other)/'
bad "a function whose loop sees another loop" 's/^best .*/best = "sum(for op in linear: work(op.m))"/'
bad "an unknown name in the included file" '' 's/op\.ops/op.opps/'
bad "a unit in the included file" '' '$a more_s = "2 * pes"'
bad "an equation twice" 's/^best .*/&\npeak = "1"/'
bad "a function twice" 's/^\[tables\]/[functions]\n"work(a, b)" = "a * b"\n&/'
bad "a section that is not included" '' 's/^\[equations\]/[step]/'
bad "a file that is not there" 's/common\/blocks/common\/block/'
bad "a file elsewhere" 's/common\/blocks/..\/blocks/'
bad "a file by its whole name" 's/common\/blocks/\/etc\/blocks/'
bad "no name of a file" 's/"common\/blocks.toml"/1/'
mkdir common/deep.toml
bad "a folder" 's/blocks/deep/'
bad "a hidden file" 's/blocks/.blocks/'
bad "a file that includes itself" '' '1i include = ["blocks.toml"]'
bad "a file above" '' '1i include = ["../mine.toml"]'
for i in 1 2 3 4 5; do printf 'include = ["deep%d.toml"]\n' $((i + 1)) >common/deep$i.toml; done
bad "files in a long row" '' '1i include = ["deep1.toml"]'
bad "a solve without a range" 's/^best .*/best = "solve(2 * pes)"/'
bad "a solve over a table" 's/^best .*/best = "solve(t in tiles: t.rows - 1)"/'
bad "a solve with a condition" 's/^best .*/best = "solve(x in 0.5..2 if x > 1: x - 1)"/'
bad "a solve between ends that do not fit" 's/^best .*/best = "solve(x in 0.5..2 [s]: x - 1)"/'
bad "a solve whose number does not fit" 's/^best .*/best = "solve(x in 0.5 [s]..2 [s]: x - 1)"/'
bad "a solve within a loop over operators" 's/^share .*/share = "solve(x in 0.5..2: x - op.ops \/ 1e9)"/'
bad "a solve within a solve" 's/^best .*/best = "solve(x in 0.5..2: x - solve(y in 0.1..3: y - x))"/'
bad "many solves" 's/^best .*/best = "sum(i in 1..40: solve(x in 0.5..2: x * i - 4))"/'
