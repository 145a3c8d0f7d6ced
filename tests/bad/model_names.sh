# Names that SQL, SQLite, the databases of results or other models have already, of models and of parameters. Each is refused when the model is loaded.
cat >good <<'TOML'
[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
uses  = ["workload", "memory"]
[parameters]
pes = { default = 4096, range = [1, 1000000], doc = "multiply-adds a cycle" }
[step]
time = "sum(for op in linear: op.ops / (2 * pes * 1 [GHz]))"
[metrics]
linear_us = { is = "sum(for op in linear: op.ops / (2 * pes * 1 [GHz]))", better = "less", doc = "linear layers" }
TOML
cat >s.toml <<'TOML'
[sweep]
name = "s"
models = ["MODEL"]
[params]
batch = [1, 2]
[objectives]
tokens_per_s = "max"
TOML
sweep() { # MODEL FILE
    sed "s/MODEL/$1/" s.toml >sweep.toml
    "$DSE" --plugin "./$2" sweep sweep.toml -q -o db.db
    [ ! -e db.db ] || echo "a database is left behind" >&2
    rm -f db.db
}
for name in run front block column_info seal comparison comparison_front certificate evaluated pareto claim lad_front lad_fixed lad_all lad_refined lad_model sqlite_stat1 pragma_table_info json_each select order; do
    sed "s/\"mine\"/\"$name\"/" good >mine.toml
    sweep "$name" mine.toml
done
for name in id run point points status reason fidelity first_id model max_points requests quality beyond known_tokens rowid oid _rowid_ speedup request_usd tokens_per_s; do
    sed "/^pes/a $name = { default = 1, range = [1, 2], doc = \"mine\" }" good >mine.toml
    sweep mine mine.toml
done
sed "s/^linear_us/max_points/" good >mine.toml
sweep mine mine.toml

echo "== a name that is long" >&2
sed "/^pes/a $(printf '%0101d' 0 | tr 0 a) = { default = 1, range = [1, 2], doc = \"mine\" }" good >mine.toml
sweep mine mine.toml

echo "== a model that has the name of another one's view" >&2
sed 's/"mine"/"mine_front"/' good >front.toml
cp good mine.toml
"$DSE" --plugin ./front.toml --plugin ./mine.toml list models
echo "== and its rows" >&2
sed 's/MODEL/mine_front/' s.toml >sweep.toml
"$DSE" --plugin ./front.toml sweep sweep.toml -q -o both.db --no-figures >rows.txt
sed 's/MODEL/mine/' s.toml >sweep.toml
"$DSE" --plugin ./mine.toml sweep sweep.toml -q -o both.db
