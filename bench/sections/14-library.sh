# a point through libdse, beside the model alone
title "a point through libdse, beside the model alone (to reach: 50 ns more)"
bench library
