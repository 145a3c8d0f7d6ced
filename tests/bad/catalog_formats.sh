. ./lib
# Formats that contradict themselves, and one that no entry has.
try()
{
    printf '%s\n' "$@" >c.toml
    "$DSE" list formats -c c.toml
}
try '[formats.mine]' 'source = "me"' 'expert_bits = 4'
try '[formats.mine]' 'source = "me"' 'experts_bits = 40'
try '[formats.mine]' 'source = "me"' 'experts_bits = nan'
try '[formats.mine]' 'source = "me"' 'experts_scale_bits = 0.25'
try '[formats.mine]' 'source = "me"' 'head_bits = 16' 'head_scale_bits = 0.25'
try '[formats.mine]' 'source = "me"' 'released = "yes"' 'head_bits = 16'
try '[formats.mine]' 'experts_bits = 4'
"$DSE" eval veda --set format=mxfp4
