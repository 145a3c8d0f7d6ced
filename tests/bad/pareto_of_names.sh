. ./lib
database
"$DSE" pareto a.db --max llm
