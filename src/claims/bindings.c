/* [claims] and [contradictions]: what the model answers, compiled. */
#include "claims/claims_internal.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static const char *const mean_names[] = {"geometric", "arithmetic", "min", "max"};

/* Every name of `published` is used. */
static bool check_published(const struct claim_set *s, const struct answer *a, const struct toml_node *published,
                            struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; published && i < published->n; i++) {
        bool used = false;
        for (size_t k = 0; k < a->n_names && !used; k++)
            used = a->names[k]->source == FROM_PUBLISHED && strcmp(a->names[k]->text, published->children[i].key) == 0;
        if (!used)
            ok = claims_error(s, toml_key_loc(s->doc, &published->children[i]), NULL, diags, "the value does not use \"%s\"",
                              published->children[i].key);
    }
    return ok;
}

/* ---- cases ------------------------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct case_axis *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* How many values the parameter has; machines can make different numbers of the same range (whole numbers, rounded). */
static bool count_axis(const struct claim_set *s, const struct answer *a, const struct toml_node *node, uint64_t *ret,
                       struct diags *diags)
{
    *ret = 0;
    for (size_t i = 0; i < a->n_names; i++) {
        const struct place *p = a->names[i]->place;
        const struct field *f = p ? schema_find(&p->machine->model->params, node->key) : NULL;
        if (!f) continue;
        uint64_t n = p->binding->given[schema_index(&p->machine->model->params, f)].n;
        if (*ret && *ret != n)
            return claims_error(s, toml_loc(s->doc, node), "write the values as a list", diags,
                                "%s has %llu values for one machine and %llu for another", node->key, (unsigned long long)*ret,
                                (unsigned long long)n);
        *ret = n;
    }
    if (!*ret) *ret = 1; /* no machine of this claim has it */
    return true;
}

static bool count_cases(const struct claim_set *s, struct answer *a, struct diags *diags)
{
    a->n_cases = 1;
    a->axes = xcalloc(a->cases ? a->cases->n : 0, sizeof *a->axes);
    for (size_t i = 0; a->cases && i < a->cases->n; i++) {
        const struct toml_node *node = &a->cases->children[i];
        uint64_t n;
        if (!count_axis(s, a, node, &n, diags)) return false;
        a->n_cases *= n;
        if (a->n_cases > CLAIMS_CASES_MAX)
            return claims_error(s, toml_key_loc(s->doc, a->cases), "make a range coarser", diags, "more than %d cases",
                                CLAIMS_CASES_MAX);
        if (n > 1) a->axes[a->n_axes++] = (struct case_axis){node->key, n};
    }
    qsort(a->axes, a->n_axes, sizeof *a->axes, by_name);
    for (size_t i = 0; i < a->n_names; i++) {
        size_t n = a->names[i]->n_published;
        if (n < 2) continue;
        if (a->n_cases == 1) a->n_cases = n;
        if (a->n_cases != n || a->n_axes)
            return claims_error(s, toml_key_loc(s->doc, a->table),
                                "the patterns of `published` match as many claims as there are cases", diags,
                                "%s: %zu published numbers, %llu cases", a->names[i]->text, n, (unsigned long long)a->n_cases);
    }
    if (a->n_cases == 1 || a->mean != MEAN_NONE) return true;
    return claims_error(s, toml_key_loc(s->doc, a->table), "mean = \"geometric\", \"arithmetic\", \"min\" or \"max\"", diags,
                        "%llu cases and no mean", (unsigned long long)a->n_cases);
}

/* ---- units --------------------------------------------------------------------------------------------------------------------- */

/* The unit of a value that is one name; NULL when it is an expression. */
static const char *unit_of(const struct answer *a)
{
    const char *text = a->value->string + strspn(a->value->string, " \t\r\n");
    if (a->n_names != 1) return NULL;
    const struct name *n = a->names[0];
    size_t length = strlen(n->text);
    if (strncmp(text, n->text, length) != 0 || text[length + strspn(text + length, " \t\r\n")]) return NULL;
    if (n->source == FROM_STATISTIC) return "";
    return n->field ? n->field->unit : n->published[0]->unit;
}

bool claims_check_unit(const struct claim_set *s, struct answer *a, const char *claim, struct diags *diags)
{
    const struct toml_node *stated = toml_expect(s->doc, a->table, "unit", TOML_STRING, diags);
    const char *field = unit_of(a);
    if (!stated && toml_get(a->table, "unit")) return false;
    if (stated && claim && strcmp(stated->string, claim) != 0 && !claims_units_same(stated->string, claim))
        return claims_error(s, toml_loc(s->doc, stated), NULL, diags, "the unit of the claim is \"%s\", not \"%s\"", claim,
                            stated->string);
    a->unit = stated ? stated->string : claim ? claim : field ? field : "";
    if (!field) {
        if (stated || !*a->unit || strcmp(a->unit, "x") == 0) return true;
        return claims_error(s, toml_loc(s->doc, a->value), "unit = \"...\", that of the claim", diags,
                            "an expression says its unit");
    }
    if (claims_units_agree(field, a->unit, stated != NULL)) return true;
    return claims_error(s, toml_loc(s->doc, a->value), "write an expression that converts it", diags,
                        "%s is in \"%s\", the claim in \"%s\"", a->names[0]->text, field, a->unit);
}

/* ---- one table --------------------------------------------------------------------------------------------------------------- */

bool claims_read_mean(const struct claim_set *s, struct answer *a, struct diags *diags)
{
    const struct toml_node *node = toml_expect(s->doc, a->table, "mean", TOML_STRING, diags);
    if (!node) return !toml_get(a->table, "mean");
    enum { MEANS = sizeof mean_names / sizeof *mean_names };
    for (size_t i = 0; i < MEANS; i++)
        if (strcmp(mean_names[i], node->string) == 0) a->mean = (enum mean)(MEAN_GEOMETRIC + i);
    if (a->mean != MEAN_NONE) return true;
    char *hint = claims_hint(node->string, mean_names, MEANS, "geometric, arithmetic, min or max");
    claims_error(s, toml_loc(s->doc, node), hint, diags, "there is no mean \"%s\"", node->string);
    free(hint);
    return false;
}

static bool read_cases(const struct claim_set *s, struct answer *a, struct diags *diags)
{
    const struct toml_node *name = toml_expect(s->doc, a->table, "cases", TOML_STRING, diags);
    if (!name) return !toml_get(a->table, "cases");
    const struct toml_node *all = toml_get(&s->doc->root, "cases");
    if (all && all->type == TOML_TABLE) a->cases = toml_get(all, name->string);
    if (a->cases) return a->cases->type == TOML_TABLE; /* else said by claims_open */
    const char **names = xcalloc(all ? all->n : 0, sizeof *names);
    for (size_t i = 0; all && i < all->n; i++) names[i] = all->children[i].key;
    char *hint = claims_hint(name->string, names, all ? all->n : 0, "[cases.NAME] parameter = [...]");
    claims_error(s, toml_loc(s->doc, name), hint, diags, "there are no cases \"%s\"", name->string);
    free(hint);
    free(names);
    return false;
}

static bool read_set(struct claim_set *s, struct answer *a, struct diags *diags)
{
    a->set = toml_expect(s->doc, a->table, "set", TOML_TABLE, diags);
    if (!a->set) return !toml_get(a->table, "set");
    for (size_t i = 0; i < a->set->n; i++)
        if (a->set->children[i].type == TOML_ARRAY || a->set->children[i].type == TOML_TABLE)
            return claims_error(s, toml_loc(s->doc, &a->set->children[i]), "a list or a range goes into [cases.NAME]", diags,
                                "%s: `set` gives one value", a->set->children[i].key);
    return claims_check_params(s, a->set, diags);
}

static bool read_flag(const struct claim_set *s, const struct answer *a, const char *key, bool *ret, struct diags *diags)
{
    const struct toml_node *node = toml_expect(s->doc, a->table, key, TOML_BOOLEAN, diags);
    *ret = node && node->boolean;
    return node || !toml_get(a->table, key);
}

/* Every key of `set` is a parameter of a machine of the value. */
static bool check_set(const struct claim_set *s, const struct answer *a, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; a->set && i < a->set->n; i++) {
        bool taken = false;
        for (size_t k = 0; k < a->n_names && !taken; k++)
            taken = a->names[k]->place && schema_find(&a->names[k]->place->machine->model->params, a->set->children[i].key);
        if (!taken)
            ok = claims_error(s, toml_key_loc(s->doc, &a->set->children[i]), NULL, diags, "no machine of this value has %s",
                              a->set->children[i].key);
    }
    return ok;
}

/* The value and what belongs to it; a->value is there. */
bool claims_compile_answer(struct claim_set *s, struct answer *a, const char *unit, struct diags *diags)
{
    const struct toml_node *published = toml_expect(s->doc, a->table, "published", TOML_TABLE, diags);
    if (!published && toml_get(a->table, "published")) return false;
    a->expr = claims_compile(s, a, published, diags);
    if (!a->expr) return false;
    bool ok = count_cases(s, a, diags);
    ok = check_published(s, a, published, diags) && ok;
    ok = check_set(s, a, diags) && ok;
    return claims_check_unit(s, a, unit, diags) && ok;
}

/* What the tables of claims and of contradictions share. `unit` as in claims_check_unit. */
static bool read_answer(struct claim_set *s, struct answer *a, const char *unit, struct diags *diags)
{
    bool ok = claims_read_mean(s, a, diags);
    ok = read_cases(s, a, diags) && ok;
    ok = read_set(s, a, diags) && ok;
    ok = read_flag(s, a, "skip_infeasible", &a->skip_infeasible, diags) && ok;
    a->value = toml_expect(s->doc, a->table, "value", TOML_STRING, diags);
    if (!a->value) return ok && !toml_get(a->table, "value");
    return ok && claims_compile_answer(s, a, unit, diags);
}

void answer_release(struct answer *a)
{
    expr_free(a->expr);
    for (size_t i = 0; i < a->n_names; i++) {
        free(a->names[i]->text);
        free(a->names[i]->published);
        free(a->names[i]);
    }
    free(a->names);
    free(a->axes);
    free(a->contexts);
    free(a->reason);
}

/* ---- [claims] ------------------------------------------------------------------------------------------------------------------ */

static bool read_tag(const struct claim_set *s, const struct answer *a, struct claim *c, struct diags *diags)
{
    const struct toml_node *tag = toml_expect(s->doc, a->table, "contradiction", TOML_STRING, diags);
    if (!tag) return !toml_get(a->table, "contradiction");
    c->contradiction = tag->string;
    const struct toml_node *all = toml_get(&s->doc->root, "contradictions");
    if (all && all->type != TOML_TABLE) return false; /* said elsewhere */
    if (all && toml_get(all, tag->string)) return true;
    size_t n = all ? all->n : 0;
    const char **names = xcalloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = all->children[i].key;
    char *hint = claims_hint(tag->string, names, n, "[contradictions.TAG] text = \"...\"");
    claims_error(s, toml_loc(s->doc, tag), hint, diags, "there is no contradiction \"%s\"", tag->string);
    free(hint);
    free(names);
    return false;
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
    ok = read_flag(s, a, "headline", &c->headline, diags) && ok;
    ok = claims_read_class(s, a, diags) && ok;
    ok = read_answer(s, a, c->unit, diags) && ok;
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

/* Every claim that a model could answer is bound. */
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
    const struct toml_node *all = toml_expect(s->doc, &s->doc->root, "claims", TOML_TABLE, diags);
    bool ok = all || !toml_get(&s->doc->root, "claims");
    for (size_t i = 0; all && i < all->n; i++) ok = read_claim(s, &all->children[i], diags) && ok;
    return check_bound(s, diags) && ok;
}

/* ---- [contradictions] ---------------------------------------------------------------------------------------------------------- */

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
    ok = read_answer(s, a, NULL, diags) && ok;
    if (a->unit) c->unit = a->unit;
    return ok;
}

bool claims_read_contradictions(struct claim_set *s, struct diags *diags)
{
    const struct toml_node *all = toml_expect(s->doc, &s->doc->root, "contradictions", TOML_TABLE, diags);
    if (!all) return !toml_get(&s->doc->root, "contradictions");
    s->contradictions = xcalloc(all->n, sizeof *s->contradictions);
    s->contradiction_answers = xcalloc(all->n, sizeof *s->contradiction_answers);
    bool ok = true;
    for (size_t i = 0; i < all->n; i++) ok = read_contradiction(s, &all->children[i], diags) && ok;
    return ok;
}
