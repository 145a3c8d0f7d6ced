. ./lib
printf '# source: me\n# settings: kind=retention treshold_a=2\npolicy,context,ratio,retained_mass,retained_mass_sd,attention_error,attention_error_sd\nvoting,64,0.2,0.5,0,0.5,0\nvoting,64,0.5,0.6,0,0.4,0\n' >mine.csv
printf '[retentions]\nmine = "mine.csv"\n' >mine.toml
"$DSE" eval veda -c mine.toml
