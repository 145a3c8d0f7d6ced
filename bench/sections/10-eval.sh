# closed forms: nanoseconds a point and core
title "closed form of LAD: nanoseconds a point and core (to reach: under 400)"
bench lad
title "closed forms of all models (to reach: under 1000)"
bench models
title "VEDA in TOML over VEDA in C, at the same points (to reach: 3)"
bench toml
