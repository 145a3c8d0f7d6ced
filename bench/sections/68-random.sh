# a thousand random points of each model at both fidelities: none fails
title "random feasible points at both fidelities (to reach: none failed, none wrong; runs over 1 s are cut off)"
bench random
