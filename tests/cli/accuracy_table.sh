#!/bin/sh
# The tables of docs/accuracy.md are what dse says: of all systems `dse validate`, and of LAD what it gains under each profile. Event level is that of tests/cli/validate_events.csv, which validate.sh holds against the
# models; LAD's, which takes a quarter of an hour, of validate_events_lad.csv: the errors of the headline numbers alone, to two digits, as in
# models/lad/README.md.
#     accuracy_table.sh DSE SOURCE BUILD       compare
#     accuracy_table.sh DSE SOURCE --update    write the table anew
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
page=$source/docs/accuracy.md

row() { # MODEL TITLE FILE-OF-EVENTS WHAT-IT-IS-OF
    cp "$(once "validate-$1.csv" "$DSE" validate "$1" --format csv)" claims.csv
    "$DSE" validate "$1" --ensemble --format csv >ensemble.csv || fail "dse validate $1 --ensemble"
    "$DSE" calibrate "$1" --format csv >fit.csv || fail "dse calibrate $1"
    fitted=$(($(wc -l <fit.csv) - 1))
    [ "$fitted" -ge 0 ] || fitted=0
    sqlite3 :memory: '.mode csv' '.import claims.csv claims' '.import ensemble.csv ensemble' ".import $3 events" '.mode list' "
        create view number as select *, class in ('identity', 'arithmetic') as counted from claims
            where class <> '' and measured_on = '' and step = '';
        create view error as select *, abs(error_pct) as e, abs(null_error_pct) as n from number
            where kind = 'measured' and split = 'holdout' and verdict not in ('holds', 'contradiction');
        create view happened as select avg(abs(events.error_pct)) as e from error join events using (claim);
        select '| $2 | ' || (select count(*) || ': ' || sum(class = 'fitted') || ' / ' || sum(counted) || ' / ' || sum(class = 'interpolation') || ' / '
                || sum(class = 'informed') || ' / ' || sum(class = 'held out') || ' | ' || sum(verdict in ('exact', 'holds')) from number)
            || ' | $fitted / ' || (select count(distinct constant) from ensemble where constant not in ('as shipped', 'all, as the text'))
            || (select printf(' | %.1f %%', measured_pct) || iif(headline_pct = '' or abs(headline_pct - measured_pct) < 0.05, '',
                printf(' (headline: %.1f %%)', headline_pct)) from ensemble where constant = 'as shipped')
            || (select iif(count(n) = 0 or sum(null_error_pct <> '') = 0, ' | none',
                printf(' | %.1f %% for %.1f %%', avg(iif(null_error_pct <> '', n, null)), avg(iif(null_error_pct <> '', e, null)))) from error)
            || (select iif(count(*) = 1, ' | no choices', printf(' | %.1f to %.1f %%', min(measured_pct + 0), max(measured_pct + 0))) from ensemble)
            || (select printf(' | %.1f %%${4:-} |', e) from happened);" || fail "the row of $1"
}

{
    echo '| system | numbers: fitted / counted / beside a fitted one / informed / held out | exact or bound met | constants fitted / chosen | error, measured and not fitted | null model for the model | with other choices | at event level |'
    echo '|---|---|---|---|---|---|---|---|'
    row lad LAD "$source/tests/cli/validate_events_lad.csv" ' (headline)'
    row veda VEDA "$source/tests/cli/validate_events.csv"
    row swiftkv SwiftKV "$source/tests/cli/validate_events.csv"
    row flashdecoding FlashDecoding++ "$source/tests/cli/validate_events.csv"
    row ane 'Neural Engine' "$source/tests/cli/validate_events.csv"
} >table.md
[ "$(grep -c '|$' table.md)" -eq 7 ] || fail "five systems make seven lines: $(cat table.md)"
# What README.md says of all of it.
awk -F'|' 'NR > 2 { split($3, n, ":"); split($6, e, "%"); all += n[1]; v = e[1] + 0; if (NR == 3 || v < lo) lo = v; if (v > hi) hi = v }
    END { printf "recomputes %d published numbers\nthe mean error is %.0f to %.0f %%\n", all, lo, hi }' table.md >said.txt
tr -s ' \n' '  ' <"$source/README.md" >readme.txt
while read -r said; do grep -qF -- "$said" readme.txt || fail "README.md does not say: $said"; done <said.txt
"$DSE" query :memory: "
    select '| \`' || profile || '\`' || iif(profile = 'published-fit', ', fitted to what the paper publishes', ', measured heads')
            || printf(' | %.2fx | ', tokens_per_s / (select tokens_per_s from lad where context = 2048 and decoding = 'full-cache'))
            || iif(attention_error is null, 'not measured', printf('%.1f %%', 100 * attention_error)) || ' |' as line
        from lad where draws = 'profile' and intervals = 5 and context = 2048 and profile in ('published-fit', 'codellama-13b', 'tinyllama-1.1b')
        order by profile <> 'published-fit', profile" --format csv >gains.csv || fail "the gains of LAD"
{
    echo '| `profile` of LAD | tokens a second over the same chip decoding with its full cache: LLaMA2-7B, 12 sequences, 2048 positions | error of the output |'
    echo '|---|---|---|'
    sed '1d; s/^"//; s/"$//' gains.csv
} >gains.md
[ "$(grep -c '|$' gains.md)" -eq 5 ] || fail "three profiles make five lines: $(cat gains.md)"

# Numbers of single claims in the page's text.
quoted() { # MODEL CLAIM
    said=$(sqlite3 :memory: '.mode csv' ".import $(once "validate-$1.csv" "$DSE" validate "$1" --format csv) claims" '.mode list' \
        "select published || printf('x in the paper and %.3gx here', modelled) from claims where claim = '$2' and step = ''")
    grep -qF -- " $said" "$page" || fail "docs/accuracy.md does not say of $2 that it is $said"
}
quoted flashdecoding fdpp.abs.hf_nvidia
quoted veda veda.tab2.energy_vs_4090

# What stands between two lines of the page: written anew from a file, or held against it.
block() { # BEGIN END FILE
    begin="<!-- $1 -->" end="<!-- $2 -->"
    grep -qxF -- "$begin" "$page" && grep -qxF -- "$end" "$page" || fail "docs/accuracy.md has no block \"$1\""
    if [ "$update" = --update ]; then
        awk -v begin="$begin" -v end="$end" -v file="$3" '
            $0 == begin { print; while ((getline line <file) > 0) print line; skip = 1 }
            $0 == end { skip = 0 }
            !skip && $0 != begin { print }' "$page" >new.md
        cp new.md "$page"
        return
    fi
    awk -v begin="$begin" -v end="$end" '$0 == end { on = 0 } on { print } $0 == begin { on = 1 }' "$page" >there.md
    diff there.md "$3" || fail "a table of docs/accuracy.md is another; tests/cli/accuracy_table.sh DSE SOURCE --update writes it"
}
update=${3:-}
block 'written by tests/cli/accuracy_table.sh --update' 'end of the table' table.md
block 'gains of LAD: written by tests/cli/accuracy_table.sh --update' 'end of the gains' gains.md
