# Pareto fronts and hypervolume of points, against moocore as published
title "Pareto fronts and hypervolume, against moocore 0.20 as published, each over one pass of its own machine's data"
bench front
