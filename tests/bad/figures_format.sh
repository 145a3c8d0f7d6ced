"$DSE" figures --format gif
