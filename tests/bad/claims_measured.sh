. ./lib
toy_claims 's/"100 \* top1"/"100 * top3"/; s/\["known"\]/["unknown"]/; s/contexts = \[128\]/contexts = [96]/; s/^mean     = "min"/mean     = "mid"/; s/{ made = "chosen for it" }/{ taken = "" }/' claims.toml
"$DSE_TOY" validate toy
