#!/bin/sh
# The profiles of the catalog are outputs of commands, run again here: the one of synthetic heads, the recording of the trace that is shipped, and
# published-fit, which is a formula. Those of
# traces that are not shipped are written anew where $DSE_TRACES names a folder with tinyllama-1.1b.trace and codellama-13b.trace
# (catalog/README.md has how they are imported); their checksums are checked by the files' own "# trace:" lines, which are compared too.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
catalog=$source/catalog

# But for the version that wrote it.
without() { sed 's/^# written by dse profile [0-9.]*:/# written by dse profile:/' "$1"; }
same() {
    without "$1" >one.txt
    without "$catalog/$2" | cmp one.txt - || fail "catalog/$2 is not what its command writes"
}

"$DSE" profile --synthetic n=4096 seed=2 --heads 16 --kind locality --contexts 128,256,512,1024,2048,4096 --fit -o synthetic.csv
same synthetic.csv profiles/synthetic.csv

"$DSE" profile "$catalog/traces/tinyllama.trace" --kind recording --steps 16 -o recording.csv
same recording.csv recordings/tinyllama.csv

# dse validate measures the same heads: hit ratio and top-1 are those of the profile, at the contexts of the claims.
cp "$(once validate-lad.csv "$DSE" validate lad --format csv)" claims.csv
grep -v '^#' synthetic.csv >rows.csv
agree() { # CLAIM COLUMN CONTEXTS: to the six digits of the profile
    there=$(sqlite3 :memory: '.mode csv' '.import claims.csv c' '.import rows.csv r' "
        select count(*) from c where claim = '$1' and measured_on = 'synthetic'
            and abs(modelled - (select min(100.0 * $2) from r where context in ($3))) < 1e-4")
    [ "$there" -eq 1 ] || fail "$1 is not the least $2 of catalog/profiles/synthetic.csv at $3"
}
agree lad.sec4.hit hit_ratio 512,1024,2048
agree lad.fig2.top1 top1 512,1024,2048

# published-fit: the four lines of its head.
awk -F, '!/^#/ && n++ {
    r = $1 / 512; want[2] = want[3] = 32 * r ^ 0.5; want[4] = 0.24 * 512 * r ^ 0.554 + 16; want[5] = 2; want[6] = 0.85
    for (i = 2; i <= 6; i++) if (($i - want[i]) ^ 2 > 1e-14 * want[i] ^ 2) { print $0 ": column " i " is not " want[i]; bad = 1 }
} END { exit bad || n < 100 }' "$catalog/profiles/published-fit.csv" || fail "catalog/profiles/published-fit.csv is not what its head says"

# Extended rows are of the measured ones and of what made heads were measured to have.
for name in tinyllama-1.1b codellama-13b; do
    "$DSE" trace extend "$catalog/quality/$name.csv" "$catalog/made/$name.csv" -o out.csv >checks.txt
    same out.csv "quality/$name.csv"
done

if [ -z "${DSE_TRACES:-}" ]; then
    echo "DSE_TRACES names no folder: the profiles of traces that are not shipped were not measured anew"
    exit 0
fi
for name in tinyllama-1.1b codellama-13b; do
    "$DSE" profile "$DSE_TRACES/$name.trace" --kind locality --fit -o out.csv
    same out.csv "profiles/$name.csv"
    "$DSE" profile "$DSE_TRACES/$name.trace" --kind retention -o out.csv
    same out.csv "retentions/$name.csv"
    "$DSE" profile "$DSE_TRACES/$name.trace" --kind retention -s prompt_share=1 -o out.csv
    same out.csv "retentions/$name-bulk.csv"
    "$DSE" profile "$DSE_TRACES/$name.trace" --kind range --steps half --contexts 128,256,512,1024,2048 -o out.csv
    same out.csv "ranges/$name.csv"
    layers="-s layers=40"
    [ $name = codellama-13b ] || layers="-s layers=22 --layers 22"
    # shellcheck disable=SC2086
    "$DSE" profile "$DSE_TRACES/$name.trace" --kind surface --contexts 128,256,512,724,1024,1448,2048 --ratios 0.05,0.1,0.2,0.3,0.4,0.5,0.6,0.8 \
        --policies voting,voting-head,h2o,h2o-accumulate,window,snapkv,pyramidkv,quest,oracle \
        --vary prompt_share=1 --vary threshold_b=0.5 --vary 'threshold_a=0.5,2*reserved_length=16,64' --vary recent_share=0.25,0.75 --vary page=32 \
        --vary 'intervals=8,12,16*collinear=0.9,0.95' --vary recent=64 --vary rounding=round --vary fraction_bits=14,20 \
        --kv-bits 4,8 $layers --by-layer --means "$catalog/means/$name.csv" -o out.csv
    without out.csv >one.txt
    without "$catalog/quality/$name.csv" | grep -v ',extended$' | cmp - one.txt || fail "catalog/quality/$name.csv is not what its command writes"
    "$DSE" trace fit --to "$DSE_TRACES/$name.trace" --first 1024 -o out.csv >said.txt
    same out.csv "kinds/$name.csv"
    "$DSE" trace measure "$catalog/kinds/$name.csv" --like "$catalog/quality/$name.csv" -o out.csv
    same out.csv "made/$name.csv"
done
