#!/bin/sh
# Boxes of a certificate that are closed since none of their points is better than at a place beside them: the front is that of all points, and the check
# finds a box that is said to be so and is not.
. "$(dirname "$0")/lib.sh"
cat >worse.toml <<'TOML'
# Which arrays are on the front?
[sweep]
name = "worse"
models = ["veda"]
[params]
pe_copies = { from = 1, to = 16, step = 1 }
stream_fifo_kib = 64
norm_fifo = 64
sfu_exp = [1, 2, 4, 8]
sfu_div = [1, 2, 4, 8]
clock_ghz = [0.5, 1, 1.5]
context = [512, 2048]
bandwidth_gbs = [32, 64, 128, 256]
[constraints]
size = "area_mm2 <= 120"
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
per = ["context"]
TOML
"$DSE" front worse.toml --certificate --no-figures -q -o two.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
[ "$(sqlite3 two.db 'select worse from certificate')" -gt 0 ] || fail "no box is worse than a place beside it"
"$DSE" check-front two.db >out.txt 2>said.txt || fail "$(cat out.txt said.txt)"

"$DSE" sweep worse.toml --no-figures -q -o all.db >/dev/null 2>said.txt || fail "$(cat said.txt)"
vectors='select distinct context, printf("%.8e %.8e", tokens_per_s, area_mm2) from veda_front order by 1, 2'
sqlite3 all.db "$vectors" >all.txt
sqlite3 two.db "$vectors" >exact.txt
cmp -s all.txt exact.txt || fail "the exact front is another: $(diff all.txt exact.txt | head -n 5)"

touched() {
    cp two.db touched.db
    sqlite3 touched.db "$1; delete from digest; update run set digests = null" # which would find it, too
    "$DSE" check-front touched.db >out.txt 2>said.txt && fail "$1: not found"
    tr '\n' ' ' <said.txt | tr -s ' ' | grep -q "$2" || fail "$1: $(cat said.txt)"
}
touched "update certificate_box set than = than + 2 where why = 'worse'" 'which is not beside it'
touched "update certificate_box set along = 'llm' where why = 'worse'" 'which is not beside it'
touched "update certificate set worse = worse + 1" 'the certificate says'
# The first place is that on the axis of the bandwidth, which more of makes faster.
is_worse="why = 'worse', along = 'bandwidth_gbs', by_model = null, by_point = null, best = null, than = cast(places as integer) - 1"
touched "update certificate_box set $is_worse where why = 'dominated' and places not like '0%'; update certificate set
    dominated = (select count(*) from certificate_box where why = 'dominated'), worse = (select count(*) from certificate_box where why = 'worse')" \
    'some of its points may be better'
touched "update certificate_box set along = 'context', than = 0 where why = 'worse' and places like '% 1 _ %'" 'tells fronts apart'
