/* [trends]: bandwidth_gbs = { more = ["tokens_per_s"] }: with everything else as it is, growing the parameter never makes the
 * metric fall. */
#include "toml_model/internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static bool is_metric(const struct toml_model *m, const char *name)
{
    for (const struct dse_metric *c = dse_common_metrics; c->type != DSE_TYPE_END; c++)
        if (c->type == DSE_TYPE_F64 && strcmp(c->name, name) == 0) return true;
    for (int i = 0; i < m->n_own; i++)
        if (strcmp(m->equations[m->own[i].equation].name, name) == 0) return true;
    return false;
}

/* Room is doubled at each power of two: a hostile file has millions of them. */
static void add_trend(struct toml_model *m, struct dse_trend t)
{
    if ((m->n_trends & (m->n_trends - 1)) == 0) m->trends = xrealloc(m->trends, 2 * m->n_trends + 2, sizeof *m->trends);
    m->trends[m->n_trends++] = t;
    m->trends[m->n_trends] = (struct dse_trend){.param = NULL};
}

static bool read_metrics_of(struct toml_model *m, const struct toml_node *t, const char *key, struct dse_trend trend,
                            struct diags *diags)
{
    const struct toml_node *list = toml_expect(m->doc, t, key, TOML_ARRAY, diags);
    bool ok = list || !toml_get(t, key);
    for (size_t i = 0; list && i < list->n; i++) {
        const struct toml_node *name = &list->children[i];
        if (name->type != TOML_STRING || !is_metric(m, name->string)) {
            ok = diags_input(diags, toml_loc(m->doc, name), m->doc->text,
                             "those of [metrics], and those that every model has: tokens_per_s, latency_us, energy_mj, ...",
                             "\"%s\" is no metric of the model", name->type == TOML_STRING ? name->string : "");
            continue;
        }
        trend.metric = name->string;
        add_trend(m, trend);
    }
    return ok;
}

static bool read_trend(struct toml_model *m, const struct field *f, const struct toml_node *t, struct diags *diags)
{
    static const char *const keys[] = {"more", "less", "along", "where"};
    if (t->type != TOML_TABLE)
        return diags_input(diags, toml_loc(m->doc, t), m->doc->text, "clock_ghz = { more = [\"tokens_per_s\"] }",
                           "a trend is a table, or a list of tables");
    struct dse_trend trend = {.param = f->name,
                              .effect = DSE_MORE,
                              .along = string_of(m->doc, t, "along", diags),
                              .where = string_of(m->doc, t, "where", diags)};
    bool ok = toml_check_keys(m->doc, t, keys, sizeof keys / sizeof *keys, diags);
    ok = read_metrics_of(m, t, "more", trend, diags) && ok;
    trend.effect = DSE_LESS;
    return read_metrics_of(m, t, "less", trend, diags) && ok;
}

/* One trend, or several that hold at different points. */
static bool read_trends_of(struct toml_model *m, const struct toml_node *t, struct diags *diags)
{
    const struct field *f = schema_find(&m->schema, t->key);
    bool ok = true;
    if (!f || (f->type != DSE_TYPE_F64 && f->type != DSE_TYPE_I64)) {
        size_t n;
        const char **names = known_names(m, DOMAIN_NONE, &n);
        diags_unknown(diags, toml_key_loc(m->doc, t), m->doc->text, t->key, names, n, "[trends] is of parameters that are numbers",
                      "%s is no parameter that can grow", t->key);
        free(names);
        return false;
    }
    if (t->type != TOML_ARRAY) return read_trend(m, f, t, diags);
    for (size_t i = 0; i < t->n; i++) ok = read_trend(m, f, &t->children[i], diags) && ok;
    return ok;
}

bool read_trends(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "trends", TOML_TABLE, diags);
    bool ok = t || !toml_get(&m->doc->root, "trends");
    for (size_t i = 0; t && i < t->n; i++) ok = read_trends_of(m, &t->children[i], diags) && ok;
    return ok;
}
