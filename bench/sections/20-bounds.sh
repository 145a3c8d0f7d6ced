# bounds of boxes: 10^8 points and metrics of each model in their bounds, and the time over a point's
title "bounds of all models: 1e8 pairs of a point and a metric (to reach: none outside), and their time over a point's"
bench bounds
