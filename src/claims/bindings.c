#include "claims/bindings.h"

#include "claims/evidence_internal.h"
#include "claims/measured.h"
#include "claims/rows.h"
#include "claims/steps_internal.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- [claims] ------------------------------------------------------------------------------------------------------------ */

static bool read_tag(const struct claim_set *s, const struct answer *a, struct claim *c, struct diags *diags)
{
    const struct toml_node *tag = toml_expect(s->doc, a->table, "contradiction", TOML_STRING, diags);
    if (!tag) return !toml_get(a->table, "contradiction");
    c->contradiction = tag->string;
    if (strcmp(c->kind, "measured") == 0)
        return claims_error(s, toml_loc(s->doc, tag),
                            "leave it out: the model's error counts, and `steps` may say where it comes from", diags,
                            "%s was measured, which cannot contradict arithmetic", c->id);
    const struct toml_node *all = toml_get(&s->doc->root, "contradictions");
    if (all && all->type != TOML_TABLE) return false; /* said elsewhere */
    if (all && toml_get(all, tag->string)) return true;
    return claims_unknown_key(s, tag, all, "[contradictions.TAG] text = \"...\"", diags, "there is no contradiction");
}

/* The largest of several modelled numbers answers the largest of several published, or what all of them stay below. */
static bool check_largest(const struct claim_set *s, const struct answer *a, const struct claim *c, struct diags *diags)
{
    if (a->mean != MEAN_MAX || c->bound != CLAIM_AT_MOST) return true;
    return claims_error(
        s, toml_loc(s->doc, toml_get(a->table, "mean")),
        "in claims.csv op:max is the largest published number (\"up to 2x\"), and op:< a bound that no number reaches", diags,
        "%s: the largest modelled number of several meets any \"at most\" by being too small", c->id);
}

static bool read_claim(struct claim_set *s, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"value",     "unit",     "cases",         "mean",        "set",
                                       "published", "headline", "contradiction", "unreachable", "skip_infeasible",
                                       "measured",  "class",    "because",       "steps"};
    struct claim *c = claims_find(s, table->key);
    if (!c) return claims_no_such_id(s, table->key, toml_key_loc(s->doc, table), diags);
    struct answer *a = &s->answers[c - s->claims];
    if (table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, table), NULL, diags, "claims.\"%s\" is not a table", table->key);
    a->table = table;
    a->claim = c;
    bool ok = toml_check_keys(s->doc, table, keys, sizeof keys / sizeof *keys, diags);
    ok = read_tag(s, a, c, diags) && ok;
    ok = claims_read_flag(s, a, "headline", &c->headline, diags) && ok;
    ok = claims_read_class(s, a, diags) && ok;
    ok = claims_read_answer(s, a, c->unit, diags) && ok;
    ok = check_largest(s, a, c, diags) && ok;
    const struct toml_node *unreachable = toml_expect(s->doc, table, "unreachable", TOML_STRING, diags);
    if (unreachable) a->unreachable = unreachable->string;
    ok = ok && claims_read_steps(s, a, diags);
    bool value = toml_get(table, "value"), none = toml_get(table, "unreachable");
    const struct toml_node *measured = toml_get(table, "measured");
    if (measured) ok = claims_read_measured(s, c, measured, diags) && ok;
    if (none && (!unreachable || !*unreachable->string))
        ok = unreachable ? claims_error(s, toml_loc(s->doc, unreachable), NULL, diags, "unreachable: say why") : false;
    if (value == none && !(measured && !value))
        ok = claims_error(s, toml_key_loc(s->doc, table), "value = \"MACHINE.NAME\", or unreachable = \"why\"", diags, "%s",
                          value ? "a value and unreachable" : "neither a value nor unreachable");
    return ok;
}

/* Check that every claim that a model could answer is bound to something. */
static bool check_bound(const struct claim_set *s, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < s->n_claims; i++) {
        const struct claim *c = &s->claims[i];
        bool modelable = strcmp(c->modelable, "yes") == 0 || strcmp(c->modelable, "partly") == 0;
        if (s->answers[i].table || strcmp(c->kind, "input") == 0 || !modelable) continue;
        const struct toml_node *claims = toml_get(&s->doc->root, "claims");
        if (claims && (claims->type != TOML_TABLE || toml_get(claims, c->id))) continue; /* said already */
        ok = diags_input(diags, csv_table_loc(&s->csv, i), s->csv.text, "a value, or unreachable = \"why\"",
                         "%s is bound to nothing: %s has no [claims.\"%s\"]", c->id, s->doc->file, c->id);
    }
    return ok;
}

bool claims_read_bindings(struct claim_set *s, struct diags *diags)
{
    bool ok = claims_read_section(s, "claims", read_claim, diags);
    return check_bound(s, diags) && ok;
}

/* ---- [contradictions] ---------------------------------------------------------------------------------------------------- */

static bool read_text(const struct claim_set *s, const struct toml_node *table, const char *key, bool needed, const char **ret,
                      struct diags *diags)
{
    const struct toml_node *node = toml_expect(s->doc, table, key, TOML_STRING, diags);
    *ret = node ? node->string : "";
    if (node && (*node->string || !needed)) return true;
    if (node || (needed && !toml_get(table, key)))
        return claims_error(s, toml_key_loc(s->doc, table), NULL, diags, "contradiction %s has no %s", table->key, key);
    return !toml_get(table, key);
}

static bool read_contradiction(struct claim_set *s, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"text",  "says", "verdict", "value",     "unit",
                                       "cases", "mean", "set",     "published", "skip_infeasible"};
    struct claim_contradiction *c = &s->contradictions[s->n_contradictions];
    struct answer *a = &s->contradiction_answers[s->n_contradictions];
    s->n_contradictions++;
    c->tag = table->key;
    a->table = table;
    if (table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, table), "text, says, value, unit, verdict", diags,
                            "contradictions.%s is not a table", table->key);
    bool ok = toml_check_keys(s->doc, table, keys, sizeof keys / sizeof *keys, diags);
    ok = read_text(s, table, "text", true, &c->text, diags) && ok;
    ok = read_text(s, table, "says", false, &c->says, diags) && ok;
    ok = read_text(s, table, "verdict", true, &c->verdict, diags) && ok;
    c->unit = "";
    if (!toml_get(table, "value")) return read_text(s, table, "unit", false, &c->unit, diags) && ok;
    ok = claims_read_answer(s, a, NULL, diags) && ok;
    if (a->unit) c->unit = a->unit;
    return ok;
}

bool claims_read_contradictions(struct claim_set *s, struct diags *diags)
{
    const struct toml_node *all = toml_get(&s->doc->root, "contradictions");
    size_t n = all && all->type == TOML_TABLE ? all->n : 0;
    s->contradictions = xcalloc(n, sizeof *s->contradictions);
    s->contradiction_answers = xcalloc(n, sizeof *s->contradiction_answers);
    return claims_read_section(s, "contradictions", read_contradiction, diags);
}
