. ./lib
cat >a.toml <<TOML
heads = 0
score_range = [3, 1]
fit = ["noise", "sinks", "step_sd", "rho", "rho", 7]
weight = 1
[start]
rho = 1.5
sinks = 1.5
step_sd = 0
level = -5
[[anchors]]
statistic = "top3"
n = 12
at_least = 0.5
at_most = 0.6
tolerance = 0
source = "x"
[[anchors]]
n = 64.5
tolerance = "small"
TOML
"$DSE" trace fit --anchors a.toml
