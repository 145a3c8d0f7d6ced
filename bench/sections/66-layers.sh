# event level of LAD with all 32 layers simulated
title "event level of LAD-3.5, LLaMA2-7B, 4096 positions, 12 sequences, every layer (to reach: 8 s)"
bench simulate layers
