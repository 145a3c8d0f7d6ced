# An exact search of a sample, and a part of a search.
head='[sweep]\nname = "bad"\nmodels = ["lad"]\n[params]\ntiles = [2, 4]\nsram_mib = [1, 2]\n[objectives]\ntokens_per_s = "max"\n'
printf "$head"'[sample]\nmethod = "lhs"\npoints = 3\n' >s.toml
"$DSE" front s.toml -o s.db
printf "$head"'[search]\nmethod = "local"\n' >s.toml
"$DSE" sweep s.toml -o s.db --shard 1/2
