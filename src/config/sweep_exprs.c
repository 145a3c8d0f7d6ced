/* The sections of a sweep file that name columns: [constraints], [derive], [objectives]. */
#include "config/sweep_internal.h"

#include "base/xalloc.h"
#include "model/names.h"
#include "model/ratios.h"
#include "model/served.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- expressions --------------------------------------------------------------------------------------------------------- */

static bool is_identifier(const char *s)
{
    enum { LENGTH_MAX = 200 };
    return name_is_plain(s) && strlen(s) <= LENGTH_MAX;
}

/* Is the name a column already: one of the store's or SQLite's own, the mix of requests, a metric that the sweep adds, a parameter
 * or a metric of any model of the sweep? SQL does not tell upper from lower case. */
static bool is_taken(const struct reading *r, const char *name)
{
    bool taken = name_of_column(name, NAME_OF_DERIVED) != NULL;
    taken |= r->out->compares && metrics_have(ratio_metrics, name);
    taken |= r->out->averages && metrics_have(served_metrics, name);
    for (size_t m = 0; m < r->out->n_models; m++) {
        const struct schema *params = &r->out->bindings[m]->model->params, *metrics = &r->out->bindings[m]->model->metrics;
        for (size_t i = 0; i < params->n; i++) taken |= strcasecmp(params->fields[i].name, name) == 0;
        for (size_t i = 0; i < metrics->n; i++) taken |= strcasecmp(metrics->fields[i].name, name) == 0;
    }
    return taken;
}

static int by_name(const void *a, const void *b)
{
    const struct named_expr *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Is there a derived column of that name before the i-th key? Names of columns differ in more than case. */
static bool is_repeated_key(const struct toml_node *table, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (strcasecmp(table->children[k].key, table->children[i].key) == 0) return true;
    return false;
}

/* Read `quality`, the one constraint that is no expression. */
static bool read_quality(struct reading *r, const struct toml_node *node)
{
    if (node->type == TOML_STRING && strcmp(node->string, "known") == 0) return r->out->known_quality = true;
    const char *what = node->type == TOML_STRING ? node->string : toml_type_name(node->type);
    return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text,
                       "with it, a point whose loss nobody measured is infeasible; a limit on a column needs another name",
                       "quality: its only value is \"known\", not %s%s%s", node->type == TOML_STRING ? "\"" : "", what,
                       node->type == TOML_STRING ? "\"" : "");
}

static bool read_list(struct reading *r, const char *section, bool columns, struct named_expr **ret, size_t *ret_n)
{
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, section, TOML_TABLE, r->diags);
    if (!table) return toml_get(&r->doc->root, section) == NULL;
    if (table->n > SWEEP_EXPRESSIONS_MAX)
        return diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, NULL, "[%s] has %zu expressions; at most %d",
                           section, table->n, SWEEP_EXPRESSIONS_MAX);
    bool ok = true;
    for (size_t i = 0; i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        struct srcloc key = toml_key_loc(r->doc, node);
        if (!columns && strcmp(node->key, "quality") == 0) {
            ok = read_quality(r, node) && ok;
            continue;
        }
        if (!is_identifier(node->key))
            ok = diags_input(r->diags, key, r->doc->text, "letters, digits and _, at most 200; no digit first",
                             "\"%s\" cannot name %s", node->key, columns ? "a column" : "a constraint");
        else if (columns && (is_taken(r, node->key) || is_repeated_key(table, i)))
            ok = diags_input(r->diags, key, r->doc->text, "give the new column another name", "there is a column \"%s\" already",
                             node->key);
        if (node->type != TOML_STRING) {
            ok = diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, "for example: \"area_mm2 <= 25\"",
                             "%s: an expression in quotes is needed, not %s", node->key, toml_type_name(node->type));
            continue;
        }
        *ret = xrealloc(*ret, *ret_n + 1, sizeof **ret);
        (*ret)[(*ret_n)++] = (struct named_expr){xstrdup(node->key), xstrdup(node->string), toml_string_loc(r->doc, node)};
    }
    if (*ret_n) qsort(*ret, *ret_n, sizeof **ret, by_name);
    return ok;
}

bool sweep_read_expressions(struct reading *r)
{
    bool ok = read_list(r, "constraints", false, &r->out->constraints, &r->out->n_constraints);
    return read_list(r, "derive", true, &r->out->derived, &r->out->n_derived) && ok;
}

/* ---- objectives ---------------------------------------------------------------------------------------------------------- */

/* per = ["llm", "context"]: a front for each combination of values of these parameters. */
static bool read_per(struct reading *r, const struct toml_node *node)
{
    if (node->type != TOML_ARRAY)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, "per = [\"llm\", \"context\"]",
                           "per: a list of parameters is needed");
    bool ok = true;
    for (size_t i = 0; i < node->n; i++) {
        const struct toml_node *item = &node->children[i];
        bool known = item->type == TOML_STRING;
        for (size_t m = 0; known && m < r->out->n_models; m++)
            known = schema_find(&r->out->bindings[m]->model->params, item->string) != NULL;
        if (!known) {
            ok = diags_input(r->diags, toml_loc(r->doc, item), r->doc->text, NULL,
                             "per: %s is not a parameter of every model of the sweep",
                             item->type == TOML_STRING ? item->string : toml_type_name(item->type));
            continue;
        }
        if (r->out->averages && request_mix_sets(item->string)) {
            ok = diags_input(r->diags, toml_loc(r->doc, item), r->doc->text, "leave it out, or leave out [requests]",
                             "per: %s is not one value: [requests] gives each request its own", item->string);
            continue;
        }
        bool twice = false;
        for (size_t k = 0; k < r->out->n_per; k++) twice |= strcmp(r->out->per[k], item->string) == 0;
        if (twice) {
            ok = diags_input(r->diags, toml_loc(r->doc, item), r->doc->text, NULL, "per: %s stands in the list already",
                             item->string);
            continue;
        }
        r->out->per = xrealloc(r->out->per, r->out->n_per + 1, sizeof(char *));
        r->out->per[r->out->n_per++] = xstrdup(item->string);
    }
    return ok;
}

static bool read_objective(struct reading *r, const struct toml_node *node)
{
    bool max = node->type == TOML_STRING && strcmp(node->string, "max") == 0;
    bool min = node->type == TOML_STRING && strcmp(node->string, "min") == 0;
    if (!max && !min)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "%s: \"max\" or \"min\" is needed", node->key);
    r->out->objectives = xrealloc(r->out->objectives, r->out->n_objectives + 1, sizeof *r->out->objectives);
    r->out->objectives[r->out->n_objectives++] =
        (struct objective){.column = xstrdup(node->key), .maximise = max, .loc = toml_key_loc(r->doc, node)};
    return true;
}

bool sweep_read_objectives(struct reading *r)
{
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "objectives", TOML_TABLE, r->diags);
    if (!table && toml_get(&r->doc->root, "objectives")) return false;
    bool ok = true;
    for (size_t i = 0; table && i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        ok = (strcmp(node->key, "per") == 0 ? read_per(r, node) : read_objective(r, node)) && ok;
    }
    if (ok && r->out->n_objectives == 0)
        ok = diags_input(r->diags, (struct srcloc){.file = r->doc->file}, NULL, "[objectives] tokens_per_s = \"max\"",
                         "a sweep needs at least one objective");
    if (r->out->n_objectives > SWEEP_OBJECTIVES_MAX)
        ok = diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, NULL, "%zu objectives; at most %d",
                         r->out->n_objectives, SWEEP_OBJECTIVES_MAX);
    return ok;
}
