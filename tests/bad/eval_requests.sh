# A mix that is none, and what there is of one step alone.
"$DSE" eval lad --requests cha
"$DSE" eval lad --requests 'mix = { chat = 0.7,'
"$DSE" eval lad --requests 'points = 3'
"$DSE" eval lad --requests 'mix = { chat = 0 }' --set context=100
"$DSE" eval lad --requests chat --breakdown --equations
