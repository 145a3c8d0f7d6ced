/* [quality] of a sweep file: the budgets of its fronts. */
#include "config/sweep_internal.h"

#include "base/hint.h"

#include <dse/model.h>
#include <math.h>
#include <string.h>

static bool fail(struct reading *r, const struct toml_node *node, const char *hint, const char *key, const char *what)
{
    return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, hint, "%s: %s", key, what);
}

/* A limit of the metric, added to those that there are. */
static bool read_limit(struct reading *r, enum budget_metric m, const struct toml_node *node, size_t *n)
{
    const char *key = budget_metrics[m];
    const bool least = budget_is_least(m);
    const char *hint =
        least ? "a share of attention from 0 to 1, 0.9" : "0 or more: 0.1 is a tenth of the output; inf: any that is known";
    if (node->type != TOML_INTEGER && node->type != TOML_FLOAT)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, hint, "%s: a number is needed, not %s", key,
                           toml_type_name(node->type));
    const double v = node->type == TOML_INTEGER ? (double)node->integer : node->number;
    if (isnan(v)) return fail(r, node, hint, key, "nan limits nothing");
    if (v < 0 || (least && v > 1)) return fail(r, node, hint, key, least ? "it is from 0 to 1" : "a budget is not negative");
    if (*n == BUDGETS_MAX) return fail(r, node, NULL, key, "too many budgets; at most 16");
    r->out->budget.limit[m][(*n)++] = v;
    return true;
}

_Static_assert(BUDGETS_MAX == 16, "as the message says");

static bool some_model_has(const struct sweep_file *s, const char *metric)
{
    bool has = s->n_models == 0; /* the models are the error then */
    for (size_t m = 0; m < s->n_models; m++) {
        const struct field *f = schema_find(&s->bindings[m]->model->metrics, metric);
        has |= f && !f->without;
    }
    return has;
}

static bool read_metric(struct reading *r, const struct toml_node *table, enum budget_metric m, size_t *n)
{
    const struct toml_node *node = toml_get(table, budget_metrics[m]);
    if (!node) return true;
    if (!some_model_has(r->out, budget_metrics[m]))
        return diags_input(r->diags, toml_key_loc(r->doc, node), r->doc->text, NULL, "no model of this sweep has the metric %s",
                           budget_metrics[m]);
    if (node->type != TOML_ARRAY) return read_limit(r, m, node, n);
    if (node->n == 0) return fail(r, node, "several make fronts side by side: [0.03, 0.1]", budget_metrics[m], "no value is given");
    bool ok = true;
    for (size_t i = 0; i < node->n; i++) ok = read_limit(r, m, &node->children[i], n) && ok;
    return ok;
}

static bool read_trust(struct reading *r, const struct toml_node *table)
{
    const struct toml_node *node = toml_expect(r->doc, table, "trust", TOML_STRING, r->diags);
    if (!node) return toml_get(table, "trust") == NULL;
    for (int32_t t = 0; t < DSE_QUALITY_COUNT; t++)
        if (strcmp(node->string, dse_quality_names[t]) == 0) return r->out->budget.trust = t, true;
    diags_unknown(
        r->diags, toml_loc(r->doc, node), r->doc->text, node->string, dse_quality_names, DSE_QUALITY_COUNT,
        "from the best to the worst: exact, rounded, measured, extended, other-llm, unknown; what is said and better is kept",
        "there is no trust \"%s\"", node->string);
    return false;
}

bool sweep_read_quality(struct reading *r)
{
    static const char *const keys[] = {"attention_error", "task_loss", "retained_mass", "trust"};
    struct budget *b = &r->out->budget;
    budget_init(b);
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "quality", TOML_TABLE, r->diags);
    bool ok = table || !toml_get(&r->doc->root, "quality");
    size_t counts[BUDGET_METRICS] = {0};
    if (table) ok = toml_check_keys(r->doc, table, keys, sizeof keys / sizeof *keys, r->diags);
    if (table) ok = read_trust(r, table) && ok;
    for (int m = 0; table && m < BUDGET_METRICS; m++) ok = read_metric(r, table, (enum budget_metric)m, &counts[m]) && ok;
    if (!budget_settle(b, counts))
        ok = diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, "give one of them a single value",
                         "two metrics have several budgets: which belong together nobody can tell");
    if (b->n == 0) budget_set_default(b);
    return ok;
}

/* ---- limits as constraints ------------------------------------------------------------------------------------------------- */

static const char *const limit_names[BUDGET_METRICS] = {"quality.attention_error", "quality.task_loss", "quality.retained_mass"};

const char *sweep_constraint_name(const struct sweep_file *s, size_t i)
{
    return i < s->n_constraints ? s->constraints[i].name : limit_names[i - s->n_constraints];
}

size_t sweep_constraint_find(const struct sweep_file *s, const char *name)
{
    for (size_t i = 0; i < s->n_constraints + BUDGET_METRICS; i++)
        if (strcmp(sweep_constraint_name(s, i), name) == 0) return i;
    return SIZE_MAX;
}
