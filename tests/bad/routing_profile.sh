. ./lib
# Loads of another LLM, loads that are none, drafts that nobody measured.
"$DSE" eval veda --set llm=qwen3-30b-a3b --set routing=profile
"$DSE" eval veda --set llm=mixtral-8x7b --set drafts=mine
printf 'layer,expert,load\n0,0,3\n0,1,x\n' >loads.csv
printf '[expert_loads]\nmine = "loads.csv"\n[drafts.mine]\nlength_2 = 4\n' >c.toml
"$DSE" eval veda --catalog c.toml
