/* The other values that a chosen constant could have had: `alternatives`, `text` and `source` of [constants.NAME]. */
#include "claims/constants.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *claim_constant_text(const struct claim_constant *c, double value, char buf[TEXT_NUMBER_MAX])
{
    return c->choices ? c->choices[(size_t)value] : text_short_number(buf, value);
}

/* The index of a choice that is given by its name. NaN with an error. */
static double read_choice(const struct claim_set *s, const struct constant *c, const struct toml_node *node, struct diags *diags)
{
    size_t n = 0;
    for (; c->public.choices[n]; n++)
        if (node->type == TOML_STRING && strcmp(c->public.choices[n], node->string) == 0) return (double)n;
    const char *word = node->type == TOML_STRING ? node->string : NULL;
    claims_unknown(s, toml_loc(s->doc, node), word, c->public.choices, n, NULL, diags, "%s: that is no value of %s", c->public.name,
                   c->public.parameter);
    return (double)NAN;
}

/* A value of the constant's parameter. NaN with an error. */
static double read_value(const struct claim_set *s, const struct constant *c, const struct toml_node *node, struct diags *diags)
{
    if (c->public.choices) return read_choice(s, c, node, diags);
    bool whole = c->field->type == DSE_TYPE_I64;
    if (node->type != TOML_INTEGER && (node->type != TOML_FLOAT || whole)) {
        claims_error(s, toml_loc(s->doc, node), NULL, diags, "%s: a %s is needed, not %s", c->public.name,
                     whole ? "whole number" : "number", toml_type_name(node->type));
        return (double)NAN;
    }
    double v = node->type == TOML_INTEGER ? (double)node->integer : node->number;
    if (v >= c->public.min && v <= c->public.max) return v;
    char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
    claims_error(s, toml_loc(s->doc, node), NULL, diags, "%s: outside of %s to %s", c->public.name, text_number(a, c->public.min),
                 text_number(b, c->public.max));
    return (double)NAN;
}

static bool is_alternative(const struct constant *c, double v)
{
    for (size_t i = 0; i < c->public.n_alternatives; i++)
        if (c->alternatives[i] == v) return true;
    return false;
}

static bool read_list(const struct claim_set *s, struct constant *c, const struct toml_node *list, struct diags *diags)
{
    bool ok = true;
    c->alternatives = xcalloc(list->n, sizeof *c->alternatives);
    c->public.alternatives = c->alternatives;
    for (size_t i = 0; i < list->n; i++) {
        double v = read_value(s, c, &list->children[i], diags);
        if (!isnan(v) && (v == c->public.shipped || is_alternative(c, v))) {
            ok = claims_error(s, toml_loc(s->doc, &list->children[i]), NULL, diags, "%s: %s", c->public.name,
                              v == c->public.shipped ? "that is the shipped value" : "that value stands in the list already");
            continue;
        }
        ok = ok && !isnan(v);
        c->alternatives[c->public.n_alternatives++] = v;
    }
    return ok;
}

/* What the paper's text says: one of the alternatives, or the shipped value. */
static bool read_text(const struct claim_set *s, struct constant *c, const struct toml_node *text, struct diags *diags)
{
    c->public.text = read_value(s, c, text, diags);
    if (isnan(c->public.text)) return false;
    if (c->public.text == c->public.shipped || is_alternative(c, c->public.text)) return true;
    return claims_error(s, toml_loc(s->doc, text), "add it to the alternatives", diags,
                        "%s: the text's value is neither shipped nor an alternative", c->public.name);
}

bool claims_read_alternatives(const struct claim_set *s, struct constant *c, const struct toml_node *table, struct diags *diags)
{
    const struct toml_node *list = toml_expect(s->doc, table, "alternatives", TOML_ARRAY, diags), *text = toml_get(table, "text");
    const struct toml_node *source = toml_expect(s->doc, table, "source", TOML_STRING, diags);
    if ((!list && toml_get(table, "alternatives")) || (!source && toml_get(table, "source"))) return false;
    if (c->public.fit) {
        const struct toml_node *extra = list ? list : text ? text : source;
        if (!extra) return true;
        return claims_error(s, toml_key_loc(s->doc, extra), "fit = false", diags,
                            "%s is fitted: only chosen constants have alternatives", table->key);
    }
    if (!list || list->n == 0 || !source || !*source->string)
        return claims_error(s, toml_key_loc(s->doc, table), "alternatives = [...], source = \"where they are from\"", diags,
                            "%s was chosen: its alternatives or their source are missing", table->key);
    c->public.source = source->string;
    return read_list(s, c, list, diags) && (!text || read_text(s, c, text, diags));
}
