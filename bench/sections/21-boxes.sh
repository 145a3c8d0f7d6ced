# the bound of a box of VEDA: by hand, in TOML box by box, in TOML in blocks
title "the bound of a box of VEDA in TOML over that by hand (to reach: 250 ns in blocks, with three objectives)"
bench boxes
