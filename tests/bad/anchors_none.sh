. ./lib
echo 'score_range = [-1, 1]' >a.toml; "$DSE" trace fit --anchors a.toml; "$DSE" trace fit --anchors nowhere.toml
