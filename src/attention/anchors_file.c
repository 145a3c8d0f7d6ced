#include "attention/anchors_file.h"

#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/toml.h"
#include "desc/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    const struct toml_doc *doc;
    struct anchor_set *set;
    struct diags *diags;
    struct schema rows; /* generator_params */
};

static bool complain(const struct reader *r, const struct toml_node *node, const char *hint, const char *message)
{
    return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, hint, "%s", message);
}

static bool number_of(const struct toml_node *node, double *ret)
{
    if (node->type == TOML_FLOAT) *ret = node->number;
    if (node->type == TOML_INTEGER) *ret = (double)node->integer;
    return node->type == TOML_FLOAT || node->type == TOML_INTEGER;
}

/* The number `key` of a table into *ret, within [min, max]. */
static bool read_number(const struct reader *r, const struct toml_node *table, const char *key, double min, double max, double *ret)
{
    const struct toml_node *node = toml_get(table, key);
    if (!node) return diags_input(r->diags, toml_loc(r->doc, table), r->doc->text, NULL, "\"%s\" is missing", key);
    if (!number_of(node, ret))
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "%s: %s instead of a number from %g to %g", key,
                           toml_type_name(node->type), min, max);
    if (*ret >= min && *ret <= max) return true;
    return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "%s: %g is outside of %g to %g", key, *ret, min, max);
}

static bool read_size(const struct reader *r, const struct toml_node *table, const char *key, size_t min, size_t max, size_t *ret)
{
    const struct toml_node *node = toml_get(table, key);
    double v = 0;
    if (!read_number(r, table, key, (double)min, (double)max, &v)) return false;
    if (node->type != TOML_INTEGER) return complain(r, node, NULL, "a whole number is wanted");
    *ret = (size_t)node->integer;
    return true;
}

/* ---- generator parameters ------------------------------------------------------------------------------------------------ */

static const struct field *find_row(const struct schema *rows, const char *name, struct srcloc loc, const char *text,
                                    struct diags *diags)
{
    const struct field *f = schema_find(rows, name);
    if (f) return f;
    const char **names = schema_names(rows);
    diags_unknown(diags, loc, text, name, names, rows->n, NULL, "\"%s\" is not a parameter of synthetic attention", name);
    free(names);
    return NULL;
}

bool generator_set_text(struct generator *g, const char *assignment, struct diags *diags)
{
    const char *equals = strchr(assignment, '=');
    if (!equals) return diags_input(diags, (struct srcloc){0}, NULL, "as in rho=0.97", "\"%s\" is not NAME=VALUE", assignment);
    char *name = xstrndup(assignment, (size_t)(equals - assignment));
    struct schema rows;
    schema_init_params(&rows, generator_params);
    const struct field *f = find_row(&rows, name, (struct srcloc){0}, NULL, diags);
    struct value v;
    bool ok = f != NULL;
    if (ok && !(f->type == DSE_TYPE_I64 ? text_parse_i64(equals + 1, &v.i64) : text_parse_f64(equals + 1, &v.f64)))
        ok = diags_input(diags, (struct srcloc){0}, NULL, NULL, "%s: \"%s\" is not a %snumber", name, equals + 1,
                         f->type == DSE_TYPE_I64 ? "whole " : "");
    if (ok) ok = field_check(f, v, (struct srcloc){0}, NULL, NULL, diags);
    if (ok) field_set(f, g, v);
    schema_release(&rows);
    free(name);
    return ok;
}

static bool read_parameters(const struct reader *r, const struct toml_node *table, struct generator *g)
{
    bool ok = true;
    for (size_t i = 0; table && i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        const struct field *f = find_row(&r->rows, node->key, toml_key_loc(r->doc, node), r->doc->text, r->diags);
        double number = 0;
        if (f && (!number_of(node, &number) || (f->type == DSE_TYPE_I64 && node->type != TOML_INTEGER))) {
            complain(r, node, NULL, f->type == DSE_TYPE_I64 ? "a whole number is wanted" : "a number is wanted");
            f = NULL;
        }
        struct value v = {.f64 = number};
        if (f && f->type == DSE_TYPE_I64) v.i64 = node->integer;
        bool good = f && field_check(f, v, toml_loc(r->doc, node), r->doc->text, NULL, r->diags);
        if (good) field_set(f, g, v);
        ok = good && ok;
    }
    return ok;
}

bool generator_set_table(struct generator *g, const struct toml_doc *doc, const struct toml_node *table, struct diags *diags)
{
    struct reader r = {.doc = doc, .diags = diags};
    schema_init_params(&r.rows, generator_params);
    bool ok = read_parameters(&r, table, g);
    schema_release(&r.rows);
    return ok;
}

static bool read_fitted(const struct reader *r, const struct toml_node *root)
{
    const struct toml_node *list = toml_expect(r->doc, root, "fit", TOML_ARRAY, r->diags);
    bool ok = toml_get(root, "fit") == NULL || list;
    r->set->fitted = xcalloc(list ? list->n + 1 : 1, sizeof(const struct dse_param *));
    for (size_t i = 0; list && i < list->n; i++) {
        const struct toml_node *node = &list->children[i];
        const struct field *f = NULL;
        if (node->type == TOML_STRING)
            f = find_row(&r->rows, node->string, toml_loc(r->doc, node), r->doc->text, r->diags);
        else
            complain(r, node, NULL, "the name of a parameter is wanted");
        if (f && f->type != DSE_TYPE_F64) {
            complain(r, node, NULL, "a whole number cannot be fitted");
            f = NULL;
        }
        if (f && field_number(f, &r->set->start) == 0) {
            complain(r, node, "give it another value in [start]", "a parameter that starts at 0 stays there");
            f = NULL;
        }
        for (size_t k = 0; f && k < r->set->n_fitted; k++)
            if (strcmp(r->set->fitted[k]->name, f->name) == 0) {
                complain(r, node, NULL, "the parameter is there twice");
                f = NULL;
            }
        if (f) r->set->fitted[r->set->n_fitted++] = &generator_params[schema_index(&r->rows, f)];
        ok = ok && f;
    }
    return ok;
}

/* ---- anchors ------------------------------------------------------------------------------------------------------------- */

static bool read_metric(const struct reader *r, const struct toml_node *table, struct anchor *a)
{
    const struct toml_node *node = toml_expect(r->doc, table, "statistic", TOML_STRING, r->diags);
    if (!node) return toml_get(table, "statistic") ? false : complain(r, table, NULL, "\"statistic\" is missing");
    for (size_t i = 0; i < ANCHOR_METRICS; i++) {
        if (strcmp(anchor_metric_names[i], node->string) != 0) continue;
        a->metric = (enum anchor_metric)i;
        return true;
    }
    struct text all;
    text_init(&all);
    for (size_t i = 0; i < ANCHOR_METRICS; i++) text_addf(&all, "%s%s", i ? ", " : "one of ", anchor_metric_names[i]);
    complain(r, node, all.s, "no such statistic");
    text_release(&all);
    return false;
}

static bool read_value(const struct reader *r, const struct toml_node *table, struct anchor *a)
{
    static const char *const keys[] = {[ANCHOR_EQUAL] = "equal", [ANCHOR_AT_LEAST] = "at_least", [ANCHOR_AT_MOST] = "at_most"};
    size_t found = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!toml_get(table, keys[i])) continue;
        a->kind = (enum anchor_kind)i;
        found++;
    }
    if (found != 1) return complain(r, table, NULL, "one of \"equal\", \"at_least\" and \"at_most\" is wanted");
    return read_number(r, table, keys[a->kind], -1e6, 1e6, &a->value);
}

static bool read_anchor(const struct reader *r, const struct toml_node *table, struct anchor *a)
{
    static const char *const allowed[] = {"statistic", "n", "equal", "at_least", "at_most", "tolerance", "source"};
    if (table->type != TOML_TABLE) return complain(r, table, NULL, "a table is wanted");
    bool ok = toml_check_keys(r->doc, table, allowed, sizeof allowed / sizeof *allowed, r->diags);
    ok = read_metric(r, table, a) && ok;
    ok = read_size(r, table, "n", ANCHOR_N_MIN, ANCHOR_N_MAX, &a->n) && ok;
    ok = read_value(r, table, a) && ok;
    ok = read_number(r, table, "tolerance", 1e-9, 1e6, &a->tolerance) && ok;
    const struct toml_node *source = toml_expect(r->doc, table, "source", TOML_STRING, r->diags);
    if (!source && !toml_get(table, "source")) complain(r, table, NULL, "\"source\" is missing");
    a->source = xstrdup(source ? source->string : "");
    return ok && source;
}

static bool read_anchors(const struct reader *r, const struct toml_node *root)
{
    const struct toml_node *list = toml_expect(r->doc, root, "anchors", TOML_ARRAY, r->diags);
    if (!list || list->n == 0)
        return toml_get(root, "anchors") && !list ? false : complain(r, root, NULL, "there is no [[anchors]]");
    r->set->list = xcalloc(list->n, sizeof *r->set->list);
    bool ok = true;
    for (size_t i = 0; i < list->n; i++) ok = read_anchor(r, &list->children[i], &r->set->list[r->set->n++]) && ok;
    return ok;
}

static bool read_range(const struct reader *r, const struct toml_node *root)
{
    const struct toml_node *node = toml_expect(r->doc, root, "score_range", TOML_ARRAY, r->diags);
    if (!node) return toml_get(root, "score_range") ? false : complain(r, root, NULL, "\"score_range\" is missing");
    if (node->n == 2 && number_of(&node->children[0], &r->set->low) && number_of(&node->children[1], &r->set->high) &&
        r->set->low < r->set->high)
        return true;
    return complain(r, node, NULL, "score_range: two numbers are wanted, the first the smaller");
}

static bool read_root(const struct reader *r, const struct toml_node *root)
{
    static const char *const allowed[] = {"heads", "score_range", "fit", "start", "anchors"};
    bool ok = toml_check_keys(r->doc, root, allowed, sizeof allowed / sizeof *allowed, r->diags);
    ok = read_size(r, root, "heads", 1, 4096, &r->set->heads) && ok;
    ok = read_range(r, root) && ok;
    const struct toml_node *start = toml_expect(r->doc, root, "start", TOML_TABLE, r->diags);
    ok = (start || !toml_get(root, "start")) && ok;
    ok = read_parameters(r, start, &r->set->start) && ok;
    ok = read_fitted(r, root) && ok;
    return read_anchors(r, root) && ok;
}

bool anchors_read_file(const char *path, struct anchor_set *ret, struct diags *diags)
{
    *ret = (struct anchor_set){.start = generator_defaults};
    struct toml_doc *doc = toml_read_file(path, diags);
    if (!doc) return false;
    struct reader r = {.doc = doc, .set = ret, .diags = diags};
    schema_init_params(&r.rows, generator_params);
    bool ok = read_root(&r, &doc->root);
    schema_release(&r.rows);
    toml_free(doc);
    if (!ok) anchor_set_release(ret);
    return ok;
}
