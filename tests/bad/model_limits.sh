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
awk 'BEGIN { s = "1"; for (i = 0; i < 800; i++) s = s "+pes*2" } { print } /^e0/ { for (i = 1; i < 80; i++) printf "e%d = \"%s\"\n", i, s }' good >mine.toml
check "terms"
awk 'BEGIN { s = "1"; for (i = 0; i < 2000; i++) s = s "+pes" } { print } /^e0/ { printf "e1 = \"%s\"\n", s }' good >mine.toml
check "a long formula"
sed 's/cite .*/&\nuses = ["workload"]/' good | awk '{ print } /^e0/ { for (i = 1; i < 1900; i++) printf "s%d = \"sum(for op in linear: (op.ops + %d) * op.k / op.n)\"\n", i, i }' | sed '/^tokens/d' >mine.toml
check "terms in loops"
awk '{ print } /^pes/ { printf "c = { default = \"v0\", choices = [\"v0\""; for (i = 1; i < 2001; i++) printf ", \"v%d\"", i; print "], doc = \"x\" }" }' good >mine.toml
check "choices"
awk '{ print } /^e0/ { print "e1 = \"sum(i in 1..501: at(pes = i, e0))\"" }' good >mine.toml
check "other values of parameters"
awk 'BEGIN { s = "[[0]"; for (i = 1; i < 1000; i++) s = s ", [0]"; print "[tables]\nt = { columns = [\"x\"], rows = " s "] }" } { print } /^e0/ { for (i = 1; i < 120; i++) printf "e%d = \"t.x(pes + %d)\"\n", i, i }' good >mine.toml
check "rows of tables that are looked up"
mkdir common
for i in $(seq 17); do : >common/f$i.toml; done
awk 'BEGIN { s = "\"common/f1.toml\""; for (i = 2; i < 18; i++) s = s ", \"common/f" i ".toml\""; print "include = [" s "]" } { print }' good >mine.toml
check "files that are included"
for i in 1 2; do awk 'BEGIN { for (i = 0; i < 45000; i++) printf "# %0100d\n", i }' >common/f$i.toml; done
check "bytes of files that are included"
awk 'BEGIN { print "[tables]"; for (i = 0; i < 1500; i++) printf "t%d = { columns = [\"x\"], rows = [[0]] }\n", i; print "[functions]"; for (i = 0; i < 1500; i++) printf "\"g%d(x)\" = \"x\"\n", i }' >common/f1.toml
sed 's/t\([0-9]\)/u\1/; s/g\([0-9]\)/h\1/' common/f1.toml >common/f2.toml
sed -i '1s/.*/include = ["common\/f1.toml", "common\/f2.toml"]/' mine.toml
check "tables and functions of files that are included"
