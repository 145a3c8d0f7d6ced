# As many options as one likes in one argument.
"$DSE" eval lad -bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb >/dev/null
"$DSE" list -fcsvf models >/dev/null
"$DSE" eval lad -bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbx >/dev/null
