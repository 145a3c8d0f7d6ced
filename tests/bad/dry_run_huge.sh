. ./lib
"$DSE" sweep huge_grid.toml --dry-run
