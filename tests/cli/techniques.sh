#!/bin/sh
# The table of docs/explanation/quality.md of what each technique brings is that of sweeps/techniques.toml. `techniques.sh DSE SOURCE --update` writes it anew.
SOURCE=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
page=$SOURCE/docs/explanation/quality.md
"$DSE" sweep "$SOURCE/sweeps/techniques.toml" -q -o t.db >front.txt 2>&1 || fail "the sweep: $(cat front.txt)"
"$DSE" query t.db --format csv "
with rows as (
    select c.model, iif(d.decoding = 'locality-aware', 'LAD''s decoding', c.eviction) as technique, c.tokens_per_s, c.attention_us, c.energy_mj, c.attention_error,
        iif(d.decoding = 'locality-aware', d.intervals || ' intervals', 'ratio ' || c.eviction_ratio || ', ' || c.boundary) as setting, c.quality
    from comparison c left join lad d on c.model = 'lad' and d.point = c.point where c.status = 'ok' and c.quality <> 'unknown'),
exact as (select model, max(tokens_per_s) as tokens_per_s, min(attention_us) as attention_us, min(energy_mj) as energy_mj from rows where quality in ('exact', 'rounded') group by 1),
budgets(budget) as (values (0.1), (0.03))
select technique, r.model, budget, printf('%.2f', max(r.tokens_per_s / e.tokens_per_s)) as step, printf('%.2f', e.attention_us / r.attention_us) as attention,
    printf('%.2f', e.energy_mj / r.energy_mj) as energy, printf('%.3f', attention_error) as error, setting, quality
from budgets join rows r on attention_error <= budget join exact e using (model) where quality not in ('exact', 'rounded')
group by 1, 2, 3 order by 1, 2, 3 desc" >rows.csv || fail "the query"
{
    echo '| technique | machine | budget | step | attention | energy | its error | with | trust |'
    echo '|---|---|---|---|---|---|---|---|---|'
    tail -n +2 rows.csv | sed -E 's/"ratio ([0-9.]+), ([a-z]+)"/ratio \1 \2/; s/"//g; s/,/ | /g; s/^/| /; s/$/ |/'
} >table.md
[ "$(wc -l <table.md)" -gt 20 ] || fail "a short table: $(cat table.md)"
grep -q 'quality' table.md && fail "a row of unknown quality"
if [ "${3:-}" = --update ]; then
    awk 'FNR == NR { table = table $0 "\n"; next } /^<!-- techniques -->$/ { print; printf "%s", table; skip = 1; next } /^<!-- end -->$/ { skip = 0 } !skip' table.md "$page" >new.md
    cp new.md "$page"
fi
awk '/^<!-- end -->$/ { on = 0 } on; /^<!-- techniques -->$/ { on = 1 }' "$page" >printed.md
diff -u printed.md table.md || fail "the page has another table: $0 DSE SOURCE --update writes it anew"
