. ./lib
# Kinds of layers that an LLM has of its own.
entry() { # LINES: an LLM like another, with these
    printf '[llms.mine]\nlike = "llama3.1-8b"\nsource = "mine"\n%s\n' "$1" >c.toml
    "$DSE" list llms -c c.toml mine
}
entry '[llms.mine.kinds.wide]
heads = 64'
entry 'layer_kinds = ["wide"]'
entry 'layer_kinds = ["wide", "narow"]
[llms.mine.kinds.wide]
[llms.mine.kinds.narrow]
kv_heads = 2'
entry 'layer_kinds = ["wide"]
[llms.mine.kinds.wide]
[llms.mine.kinds.narrow]'
entry 'layer_kinds = ["wide"]
attention = "full"
[llms.mine.kinds.wide]'
entry 'layer_kinds = ["wide"]
[llms.mine.kinds.wide]
layers = 3'
entry 'layer_kinds = ["wide"]
[llms.mine.kinds]
wide = 3'
entry 'layer_kinds = ["wide"]
kinds = 3'
entry 'layer_kinds = ["shared", "own"]
[llms.mine.kinds.own]
[llms.mine.kinds.shared]
shares_cache = "yes"'
entry 'layer_kinds = ["own", "shared"]
[llms.mine.kinds.own]
[llms.mine.kinds.shared]
shares_cache = "yes"
kv_heads = 4'
entry 'layer_kinds = ["both"]
[llms.mine.kinds.both]
beside = "full"'
entry 'layer_kinds = ["both"]
[llms.mine.kinds.both]
beside = "mamba-2"'
entry 'layer_kinds = ["wide*3"]
[llms.mine.kinds.wide]'
entry 'layer_kinds = ["same"]
[llms.mine.kinds.same]
value_dim = 64
values_from_keys = "yes"'
entry 'layer_kinds = ["one", "other"]
[llms.mine.kinds.one]
shares_cache = "yes"
[llms.mine.kinds.other]
shares_cache = "yes"'
