. ./lib
"$DSE" trace import a.f16 -o t.trace; "$DSE" trace info
