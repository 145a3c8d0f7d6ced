#!/bin/sh
# The constants that the models ship are those that the fit gives, and the fit finds them from other values as well.
source=$(cd "$2" && pwd)
. "$(dirname "$0")/lib.sh"
fitted=0
for model in $("$DSE" list models --format csv | sed -n '2,$s/^"\([^"]*\)".*/\1/p'); do
    [ -f "$source/models/$model/claims.toml" ] || continue
    "$DSE" calibrate "$model" --format csv >fit.csv || fail "dse calibrate $model"
    [ -s fit.csv ] || continue
    wrong=$(sqlite3 :memory: '.mode csv' '.import fit.csv fit' '.mode list' "
        select constant || ': shipped ' || shipped || ', fitted ' || fitted from fit where reproduced <> 'yes'
        union all select constant || ': fitted ' || fitted || ', from other values ' || from_perturbed from fit
            where abs(from_perturbed - fitted) > 1e-3 * abs(fitted)")
    [ -z "$wrong" ] || fail "$model: $wrong"
    fitted=$((fitted + $(wc -l <fit.csv) - 1))
done
[ "$fitted" -gt 0 ] || fail "no model has a constant that is fitted"
