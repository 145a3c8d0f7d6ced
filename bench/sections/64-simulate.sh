# event levels of the models: random points, a step of LAD
title "event levels of the models, a run (to reach: 50 ms, the slowest hundredth 1 s)"
bench simulate
title "event level of LAD-3.5, LLaMA2-7B, 4096 positions, 12 sequences (to reach: a layer in 0.3 s, the step in 0.8)"
bench simulate step
