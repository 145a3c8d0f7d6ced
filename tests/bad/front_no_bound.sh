# Objectives that no box has a bound of, and what has no exact front at all.
head='[sweep]\nname = "bad"\nmodels = ["lad"]\n[params]\ntiles = [2, 4]\nsram_mib = [1, 2]\n'
printf "$head"'[derive]\nwave = "tan(area_mm2)"\n[objectives]\ntokens_per_s = "max"\nwave = "min"\n' >s.toml
"$DSE" front s.toml -o s.db
printf "$head"'[requests]\nmix = "chat"\n[objectives]\ntokens_per_s = "max"\n' >s.toml
"$DSE" front s.toml -o s.db
printf "$head"'[objectives]\ntokens_per_s = "max"\n' | sed 's/^name.*/&\nfidelity = "event-level"/' >s.toml
"$DSE" front s.toml -o s.db
