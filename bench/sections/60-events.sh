# the queue of events, against a time wheel and a heap
title "events: take one, put one back, against a time wheel fitted to the load and a binary heap (to reach: 0.5 of the wheel)"
bench events
