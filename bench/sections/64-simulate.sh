# event levels of the models: random points, a step of LAD
title "event levels of the models, a run (to reach: 1 s)"
bench simulate
title "event level of LAD-3.5, LLaMA2-7B, 4096 positions, 12 sequences (to reach: a layer in 2 s, the step in 4)"
bench simulate step
