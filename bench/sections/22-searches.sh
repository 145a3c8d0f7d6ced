# local search, NSGA-II, streams and samples
title "searches without bounds (to reach: local search 98 % of the front; NSGA-II 1000000 evaluations a second), streams and samples"
bench searches
