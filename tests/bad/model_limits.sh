# What a model in TOML may have, at most: small files that would grow without end, and large ones. Each is refused at once.
cat >good <<'TOML'
[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
[parameters]
pes = { default = 4096, range = [1, 1000000], doc = "multiply-adds a cycle" }
[functions]
"f0(x)" = "x + x"
[equations]
e0 = "pes"
[step]
time = "1 [s] * e0"
tokens = "1"
TOML
check() { # WHAT
    echo "== $1" >&2
    ( ulimit -t 20; "$DSE" --plugin ./mine.toml list models >out.txt; )
}
awk '{ print } /^"f0/ { for (i = 1; i < 30; i++) printf "\"f%d(x)\" = \"f%d(f%d(x))\"\n", i, i - 1, i - 1 }' good | sed 's/e0 = "pes"/e0 = "f29(pes)"/' >mine.toml
check "functions that double"
awk '{ print } /^"f0/ { for (i = 1; i < 1900; i++) printf "\"f%d(x)\" = \"-(-(-(f%d(x))))\"\n", i, i - 1 }' good | sed 's/e0 = "pes"/e0 = "f1899(pes)"/' >mine.toml
check "functions inside each other"
awk '{ print } /^pes/ { for (i = 0; i < 2001; i++) printf "p%d = { default = 1, range = [1, 2], doc = \"x\" }\n", i }' good >mine.toml
check "parameters"
awk '{ print } /^pes/ { for (i = 0; i < 1850; i++) printf "p%d = { default = 1, range = [1, 2], doc = \"x\" }\n", i }' good >mine.toml
check "columns"
awk '{ print } /^e0/ { for (i = 1; i < 2002; i++) printf "e%d = \"e%d\"\n", i, i - 1 }' good >mine.toml
check "equations"
awk 'BEGIN { s = "1"; for (i = 0; i < 800; i++) s = s "+pes*2" } { print } /^e0/ { for (i = 1; i < 40; i++) printf "e%d = \"%s\"\n", i, s }' good >mine.toml
check "terms"
awk 'BEGIN { s = "1"; for (i = 0; i < 2000; i++) s = s "+pes" } { print } /^e0/ { printf "e1 = \"%s\"\n", s }' good >mine.toml
check "a long formula"
sed 's/cite .*/&\nuses = ["workload"]/' good | awk '{ print } /^e0/ { for (i = 1; i < 1900; i++) printf "s%d = \"sum(for op in linear: (op.ops + %d) * op.k / op.n)\"\n", i, i }' | sed '/^tokens/d' >mine.toml
check "terms in loops"
awk '{ print } /^pes/ { printf "c = { default = \"v0\", choices = [\"v0\""; for (i = 1; i < 2001; i++) printf ", \"v%d\"", i; print "], doc = \"x\" }" }' good >mine.toml
check "choices"
