# Inline tables of TOML 1.1 are read; what is wrong in them is told at its place in the file. What else is new in TOML 1.1 is told to be.
printf '[sweep]\nname = "t"\nmodels = ["lad"]\n[params]\ncontext = { # tokens\n  from = 1024,\n  to = 4096,\n  step = 0,\n}\n[objectives]\ntokens_per_s = "max"\n' >a.toml
"$DSE" sweep a.toml --dry-run
sed 's/step = 0,/step = 1024, ,/' a.toml >b.toml
"$DSE" sweep b.toml --dry-run
sed 's/"t"/"\\x74"/' a.toml >c.toml
"$DSE" sweep c.toml --dry-run
sed 's/step = 0/step = 1024/' a.toml >d.toml
"$DSE" sweep d.toml --dry-run
