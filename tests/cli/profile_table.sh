#!/bin/sh
# The table of LAD's headline numbers under each profile in models/lad/README.md is what sweeps/lad_profile.toml gives.
#     profile_table.sh DSE SOURCE BUILD       compare
#     profile_table.sh DSE SOURCE --update    write the table anew
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
readme=$source/models/lad/README.md
begin='<!-- written by tests/cli/profile_table.sh --update -->'
end='<!-- end of the table -->'

"$DSE" sweep "$source/sweeps/lad_profile.toml" -q -o run.db >/dev/null 2>said.txt || [ -s run.db ] || fail "$(cat said.txt)"
{
    echo '| LAD | profile | feasible | attention | end to end | energy | error of the output |'
    echo '|---|---|---|---|---|---|---|'
    "$DSE" query run.db "
        select printf('%.1f', sram_mib) as lad, profile, sum(status = 'ok') || ' of ' || count(*) as feasible,
               printf('%.2fx', exp(avg(ln(attention_speedup)))) as attention, printf('%.2fx', exp(avg(ln(speedup)))) as whole,
               printf('%.1fx', exp(avg(ln(energy_ratio)))) as energy,
               case when avg(attention_error) is null then 'not measured' else printf('%.1f %%', 100 * avg(attention_error)) end as error
        from lad group by sram_mib, profile order by sram_mib, profile <> 'published-fit', profile" --format csv |
        sed -e 1d -e 's/\r$//' -e 's/"//g' -e 's/,/ | /g' -e 's/^/| /' -e 's/$/ |/'
} >table.md
[ "$(wc -l <table.md)" -eq 11 ] || fail "three machines under three profiles make nine rows: $(cat table.md)"
if [ "${3:-}" = --update ]; then
    awk -v begin="$begin" -v end="$end" '
        $0 == begin { print; while ((getline line <"table.md") > 0) print line; skip = 1 }
        $0 == end { skip = 0 }
        !skip && $0 != begin { print }' "$readme" >new.md
    cp new.md "$readme"
    exit 0
fi
awk -v begin="$begin" -v end="$end" '$0 == end { on = 0 } on { print } $0 == begin { on = 1 }' "$readme" >there.md
diff there.md table.md || fail "the table of models/lad/README.md is another; tests/cli/profile_table.sh DSE SOURCE --update writes it"
