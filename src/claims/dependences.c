#include "claims/dependences.h"

#include "claims/answers.h"
#include "claims/constants.h"
#include "claims/rows.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- [calibrate] --------------------------------------------------------------------------------------------------------- */

static bool read_fitted(struct claim_set *s, const struct toml_node *node, struct diags *diags)
{
    if (node->type != TOML_STRING)
        return claims_error(s, toml_loc(s->doc, node), "the id of a claim", diags, "an id is needed, not %s",
                            toml_type_name(node->type));
    const struct claim *c = claims_find(s, node->string);
    if (!c) return claims_no_such_id(s, node->string, toml_loc(s->doc, node), diags);
    size_t i = (size_t)(c - s->claims);
    if (c->held_out)
        return claims_error(s, toml_loc(s->doc, node), "fit to claims of split calibrate alone", diags, "%s is held out", c->id);
    if (!s->answers[i].table || s->answers[i].unreachable)
        return claims_error(s, toml_loc(s->doc, node), "[claims.\"ID\"] value = ...", diags, "%s has no value to be fitted", c->id);
    if (!claim_is_number(c) || !(c->value > 0))
        return claims_error(s, toml_loc(s->doc, node), "a number above 0, not a bound nor a range", diags, "%s cannot be fitted to",
                            c->id);
    for (size_t k = 0; k < s->n_fitted; k++)
        if (s->fitted[k] == i) return claims_error(s, toml_loc(s->doc, node), NULL, diags, "%s stands in the list already", c->id);
    s->fitted[s->n_fitted++] = i;
    return true;
}

bool claims_read_calibrate(struct claim_set *s, struct diags *diags)
{
    static const char *const keys[] = {"claims"};
    const struct toml_node *table = toml_expect(s->doc, &s->doc->root, "calibrate", TOML_TABLE, diags);
    if (!table && toml_get(&s->doc->root, "calibrate")) return false;
    bool ok = !table || toml_check_keys(s->doc, table, keys, 1, diags);
    const struct toml_node *list = table ? toml_expect(s->doc, table, "claims", TOML_ARRAY, diags) : NULL;
    if (table && !list && toml_get(table, "claims")) return false;
    s->fitted = xcalloc(list ? list->n : 0, sizeof *s->fitted);
    for (size_t i = 0; list && i < list->n; i++) ok = read_fitted(s, &list->children[i], diags) && ok;
    const struct constant *fit = NULL;
    for (size_t i = 0; i < s->n_constants && !fit; i++)
        if (s->constants[i].public.fit) fit = &s->constants[i];
    if (!ok || !fit || s->n_fitted) return ok;
    return claims_error(s, (struct srcloc){.file = s->doc->file}, "[calibrate] claims = [...], or fit = false", diags,
                        "%s is fitted, and [calibrate] names no claims", fit->public.name);
}

/* ---- dependences --------------------------------------------------------------------------------------------------------- */

/* A claim's number with one constant changed is another one. */
static bool numbers_differ(double a, double b)
{
    enum { ROUNDING = 1000000000 };
    return isnan(b) || fabs(a - b) > fmax(fabs(a), fabs(b)) / ROUNDING;
}

/* The constant's value, changed by a share of itself (of its range, when it is 0), inside its range; whole when the constant is. */
static double changed(const struct constant *c, double share)
{
    const struct claim_constant *k = &c->public;
    double step = share * (k->shipped != 0 ? fabs(k->shipped) : k->max - k->min);
    if (c->field->type == DSE_TYPE_I64) step = copysign(fmax(1, rint(fabs(step))), step);
    return fmin(fmax(k->shipped + step, k->min), k->max);
}

/* Find the claims whose number changes when constant k has another value. */
static void compare_with(struct claim_set *s, size_t k, double *values, double value, const double *shipped)
{
    values[k] = value;
    for (size_t i = 0; i < s->n_claims; i++)
        if (!isnan(shipped[i]) && numbers_differ(shipped[i], answer_value(s, &s->answers[i]))) s->depends[i] |= UINT64_C(1) << k;
}

void claims_find_dependences(struct claim_set *s)
{
    /* 1 %, then more for what is rounded up or down on the way */
    static const double shares[] = {0.01, -0.01, 0.1, -0.1};
    double *values = xcalloc(s->n_constants, sizeof *values), *shipped = xcalloc(s->n_claims, sizeof *shipped);
    s->depends = xcalloc(s->n_claims, sizeof *s->depends);
    for (size_t i = 0; i < s->n_claims; i++) shipped[i] = s->answers[i].expr ? answer_value(s, &s->answers[i]) : (double)NAN;
    s->current = values;
    for (size_t k = 0; k < s->n_constants; k++) {
        for (size_t i = 0; i < s->n_constants; i++) values[i] = s->constants[i].public.shipped;
        const struct claim_constant *c = &s->constants[k].public;
        for (size_t j = 0; j < sizeof shares / sizeof *shares && !c->choices; j++)
            compare_with(s, k, values, changed(&s->constants[k], shares[j]), shipped);
        for (size_t j = 0; j < c->n_alternatives; j++) compare_with(s, k, values, c->alternatives[j], shipped);
    }
    s->current = NULL;
    free(values);
    free(shipped);
}

const size_t *claims_fitted(const struct claim_set *s, size_t *ret_n)
{
    *ret_n = s->n_fitted;
    return s->fitted;
}
