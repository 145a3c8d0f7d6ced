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

# The batch of the A100 that LAD is compared with is not published; no claim tells it from the efficiency of its linear layers.
"$DSE" calibrate lad --format csv >fit.csv
product=$(sqlite3 :memory: '.mode csv' '.import fit.csv fit' '.mode list' \
    "select constant, known_only, round(product, 2), product_standard_error > 0 from fit where known_only <> ''")
[ "$product" = "linear_efficiency|linear_efficiency x a100_batch|5.36|1" ] || fail "lad: known only by a product: $product"
"$DSE" calibrate lad | grep -q "only linear_efficiency x a100_batch is known. Shipped: 5.36, fitted: 5.359 +- 0.0585" || fail "dse calibrate lad does not say so"
