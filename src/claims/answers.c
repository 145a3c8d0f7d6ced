/* The keys of a table that make a number: the value, its cases and its unit. */
#include "claims/answers.h"

#include "claims/units.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static const char *const mean_names[] = {"geometric", "arithmetic", "min", "max"};

/* Check that the value uses every name of `published`. */
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

/* ---- units --------------------------------------------------------------------------------------------------------------- */

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
    return claims_unknown(s, toml_loc(s->doc, node), node->string, mean_names, MEANS, "geometric, arithmetic, min or max", diags,
                          "there is no mean \"%s\"", node->string);
}

static bool read_cases(const struct claim_set *s, struct answer *a, struct diags *diags)
{
    const struct toml_node *name = toml_expect(s->doc, a->table, "cases", TOML_STRING, diags);
    if (!name) return !toml_get(a->table, "cases");
    const struct toml_node *all = toml_get(&s->doc->root, "cases");
    if (all && all->type == TOML_TABLE) a->cases = toml_get(all, name->string);
    if (a->cases) return a->cases->type == TOML_TABLE; /* else said by claims_open */
    return claims_unknown_key(s, name, all, "[cases.NAME] parameter = [...]", diags, "there are no cases");
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

bool claims_read_flag(const struct claim_set *s, const struct answer *a, const char *key, bool *ret, struct diags *diags)
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

bool claims_read_answer(struct claim_set *s, struct answer *a, const char *unit, struct diags *diags)
{
    bool ok = claims_read_mean(s, a, diags);
    ok = read_cases(s, a, diags) && ok;
    ok = read_set(s, a, diags) && ok;
    ok = claims_read_flag(s, a, "skip_infeasible", &a->skip_infeasible, diags) && ok;
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
