. ./lib
trace; head -c 80 t.trace >short.trace; "$DSE" trace info short.trace
