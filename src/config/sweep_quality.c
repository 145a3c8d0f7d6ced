/* [quality] of a sweep file: the budgets of its fronts, and the exact machines beside lossy ones. */
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
    const char *hint = least ? "a share of attention from 0 to 1: for example 0.9"
                             : "0 or more: 0.1 is a tenth of the output; inf: any known loss";
    if (node->type != TOML_INTEGER && node->type != TOML_FLOAT)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, hint, "%s: a number is needed, not %s", key,
                           toml_type_name(node->type));
    const double v = node->type == TOML_INTEGER ? (double)node->integer : node->number;
    if (isnan(v)) return fail(r, node, hint, key, "nan limits nothing");
    if (v < 0 || (least && v > 1)) return fail(r, node, hint, key, least ? "it is from 0 to 1" : "a budget is not negative");
    if (*n == BUDGETS_MAX) return fail(r, node, NULL, key, "too many budgets; at most 16");
    r->out->budget.limit[m][(*n)++] = v + 0.0; /* no -0 */
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
    diags_unknown(r->diags, toml_loc(r->doc, node), r->doc->text, node->string, dse_quality_names, DSE_QUALITY_COUNT,
                  "from best to worst: exact, rounded, measured, extended, other-llm, unknown; this trust and better ones are kept",
                  "there is no trust \"%s\"", node->string);
    return false;
}

/* ---- the exact machine beside a lossy one ----------------------------------------------------------------------------------- */

/* Are all its points prompts, of which every position stays? */
static bool is_prefill(const struct binding *b)
{
    const struct field *f = schema_find(&b->model->params, "phase");
    if (!f || f->type != DSE_TYPE_ENUM) return false;
    const struct given *g = &b->given[schema_index(&b->model->params, f)];
    bool prefill = strcmp(f->choices[field_get(f, b->defaults).choice], "prefill") == 0;
    if (g->is_given) prefill = true;
    for (uint64_t i = 0; g->is_given && g->values && i < g->n; i++)
        prefill = prefill && strcmp(f->choices[g->values[i].choice], "prefill") == 0;
    return prefill;
}

/* Let the parameter have the value that turns the technique off, unless it has it, or nothing else. */
static void add_exact(struct binding *b, const struct dse_technique *t)
{
    const struct field *f = schema_find(&b->model->params, t->param);
    if (!f || f->type != DSE_TYPE_ENUM) return;
    int32_t off = 0;
    while (f->choices[off] && strcmp(f->choices[off], t->off) != 0) off++;
    const struct given *g = &b->given[schema_index(&b->model->params, f)];
    if (!f->choices[off] || (g->is_given && !g->values)) return;
    bool has = !g->is_given && field_get(f, b->defaults).choice == off;
    for (uint64_t i = 0; g->is_given && i < g->n; i++) has |= g->values[i].choice == off;
    if (!has) binding_add_exact(b, f, off);
}

static void add_exact_machines(const struct sweep_file *s)
{
    for (size_t m = 0; m < s->n_models; m++) {
        struct binding *b = s->bindings[m];
        for (const struct dse_technique *t = b->model->desc->techniques; t && t->param && !is_prefill(b); t++) add_exact(b, t);
    }
}

/* Read `exact`: false leaves the exact machines out. */
static bool read_exact(struct reading *r, const struct toml_node *table)
{
    const struct toml_node *node = table ? toml_expect(r->doc, table, "exact", TOML_BOOLEAN, r->diags) : NULL;
    if (!node || node->boolean) add_exact_machines(r->out);
    return node || !table || !toml_get(table, "exact");
}

bool sweep_read_quality(struct reading *r)
{
    static const char *const keys[] = {"attention_error", "task_loss", "retained_mass", "trust", "exact"};
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
                         "two metrics have several budgets, so dse cannot tell which belong together");
    if (b->n == 0) budget_set_default(b);
    return read_exact(r, table) && ok;
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
