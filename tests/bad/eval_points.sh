# Files of points with columns and cells that are none, and options about one step.
printf 'tilez,llm\n1,llama2-7b\n' >points.csv
"$DSE" eval lad --points points.csv
printf 'tiles,llm\nx,llama2-7b\n' >points.csv
"$DSE" eval lad --points points.csv
printf 'tiles,tiles\n1,1\n' >points.csv
"$DSE" eval lad --points points.csv
printf 'tiles\n1\n' >points.csv
"$DSE" eval lad --points points.csv --set tiles=3
"$DSE" eval lad --points points.csv --set batch
"$DSE" eval lad --points points.csv --set tile=3
"$DSE" eval lad --points points.csv --fidelity events
"$DSE" eval lad --points points.csv --breakdown
"$DSE" eval lad --points points.csv --requests chat
"$DSE" eval ladd --points points.csv
"$DSE" eval lad --points nowhere.csv
