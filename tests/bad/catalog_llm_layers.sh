. ./lib
cat >c.toml <<TOML
[llms.uncovered]
like = "gemma3-27b"
attention = ["window*5", "full"]
[llms.unknown]
like = "gemma3-27b"
attention = ["window*5", "whole"]
[llms.times]
like = "gemma3-27b"
attention = ["window*0", "full"]
[llms.number]
like = "gemma3-27b"
attention = ["window", 5]
[llms.empty]
like = "gemma3-27b"
attention = []
[llms.many]
like = "mixtral-8x7b"
experts_active = 9
[llms.rank]
like = "deepseek-v3"
kv_rank = 0
[llms.deep]
like = "deepseek-v3"
dense_layers = 100
[llms.headless]
like = "mamba2-2.7b"
attention = "full"
[llms.shared]
like = "deepseek-v3.2"
attention = ["latent-top-k-shared", "latent-top-k*60"]
TOML
"$DSE" list llms -c c.toml
"$DSE" eval ane --set llm=deepseek-v3.2 --set capacity_gib=2000
