. ./lib
good_sweep s.toml s; printf '[search]\nmethod = "local"\n' >>s.toml; "$DSE" sweep s.toml --lease f
