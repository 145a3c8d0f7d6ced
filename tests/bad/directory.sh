. ./lib
mkdir d.toml; "$DSE" sweep d.toml
