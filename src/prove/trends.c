/* The monotonicities that a model declares (struct dse_trend) hold at random points, and the ones that every model owes are
 * declared. */
#include "prove/prove_internal.h"

#include <dse/catalog.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 10000 };

/* The value of a parameter times `factor`, rounded up for a whole number; false when it leaves the range or does not grow. */
static bool grow(const struct field *f, void *params, double factor)
{
    double old = field_number(f, params), v = f->type == DSE_TYPE_I64 ? ceil(old * factor) : old * factor;
    if (old == 0) v = f->type == DSE_TYPE_I64 ? ceil(factor) : (f->max < 1 ? f->max : 1) * (factor - 1) / factor;
    if (!(v > old) || v > f->max) return false;
    field_set(f, params, f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)v} : (struct value){.f64 = v});
    return true;
}

/* Set one NAME=VALUE of an enumeration. */
static bool set_choice(const struct model *m, const char *name, const char *value, void *params, struct diags *diags)
{
    const struct field *f = schema_find(&m->params, name);
    int32_t i = 0;
    if (!f || f->type != DSE_TYPE_ENUM)
        return prove_fail(m, diags, "a trend holds where %s is %s, which is no choice", name, value);
    while (f->choices[i] && strcmp(f->choices[i], value) != 0) i++;
    if (!f->choices[i]) return prove_fail(m, diags, "a trend holds where %s is %s, which it cannot be", name, value);
    field_set(f, params, (struct value){.choice = i});
    return true;
}

/* NAME=VALUE, separated by commas. */
static bool set_where(const struct model *m, const struct dse_trend *t, void *params, struct diags *diags)
{
    bool ok = true;
    for (const char *s = t->where; ok && s && *s;) {
        const char *equals = strchr(s, '=');
        if (!equals) return prove_fail(m, diags, "a trend holds where \"%s\", which is no NAME=VALUE", t->where);
        const size_t length = strcspn(equals + 1, ",");
        char *name = xstrndup(s, (size_t)(equals - s)), *value = xstrndup(equals + 1, length);
        ok = set_choice(m, name, value, params, diags);
        free(name);
        free(value);
        s = equals + 1 + length;
        if (*s == ',') s++;
    }
    return ok;
}

static bool estimate(const struct model *m, void *params, void *metrics)
{
    if (m->desc->resolve) m->desc->resolve(params);
    if (m->desc->check && m->desc->check(params)) return false;
    m->desc->estimate(params, metrics, NULL);
    return true;
}

/* A trend while it is tried. */
struct trying {
    const struct model *m;
    const struct dse_trend *t;
    const struct field *param, *metric, *along;
    void *params, *before, *after;
    uint64_t seed;
};

static bool find_fields(struct trying *y, struct diags *diags)
{
    y->param = schema_find(&y->m->params, y->t->param);
    y->metric = schema_find(&y->m->metrics, y->t->metric);
    y->along = y->t->along ? schema_find(&y->m->params, y->t->along) : NULL;
    if (!field_is_number(y->param) || !y->metric || (y->t->along && !field_is_number(y->along)))
        return prove_fail(y->m, diags, "a trend of %s and %s names what is not there, or no number", y->t->param, y->t->metric);
    return y->t->effect == DSE_LESS || y->t->effect == DSE_MORE ||
           prove_fail(y->m, diags, "the trend of %s and %s has no direction", y->t->param, y->t->metric);
}

/* A whole factor for a pair that must grow alike; small steps as often as large ones. */
static double random_factor(struct trying *y)
{
    if (y->along) return floor(2 + 3 * random_uniform(&y->seed));
    return 1 + (random_uniform(&y->seed) < 0.5 ? 0.05 : 7) * random_uniform(&y->seed);
}

static bool broken(struct trying *y, double x, double v, double factor, struct diags *diags)
{
    struct text point;
    text_init(&point);
    char buf[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < y->m->params.n; i++) {
        const struct field *f = &y->m->params.fields[i];
        text_addf(&point, "%s%s=%s", i ? ", " : "", f->name, value_text(f, field_get(f, y->params), buf));
    }
    prove_fail(y->m, diags, "%s goes from %.17g to %.17g when %s grows by %g to the value of: %s", y->t->metric, x, v, y->t->param,
               factor, point.s);
    text_release(&point);
    return false;
}

/* A longer context may cost less where attention is to the positions of chunks: the next begins with one. */
static bool has_chunks(const struct model *m, const void *params)
{
    const struct field *f = schema_find(&m->params, "llm");
    if (!f || f->type != DSE_TYPE_REF || f->kind != DSE_KIND_LLM) return false;
    const struct dse_llm *llm = (const struct dse_llm *)field_get(f, params).ref;
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].attention == DSE_CHUNK) return true;
    return false;
}

/* One random point, if it can grow. */
static bool try_point(struct trying *y, const struct catalog *catalog, const void *base, int trial, int *feasible,
                      struct diags *diags)
{
    const double factor = random_factor(y), share = trial % 4 == 0 ? 1 : 0.15 * random_uniform(&y->seed);
    random_point_of(y->m, catalog, base, share, &y->seed, y->params);
    if (!set_where(y->m, y->t, y->params, diags)) return false;
    if (strcmp(y->t->param, "context") == 0 && has_chunks(y->m, y->params)) return true;
    if (!estimate(y->m, y->params, y->before) || !grow(y->param, y->params, factor)) return true;
    if (y->along && !grow(y->along, y->params, factor)) return true;
    if (!estimate(y->m, y->params, y->after)) return true;
    ++*feasible;
    const double x = field_number(y->metric, y->before), v = field_number(y->metric, y->after);
    if (y->t->effect == DSE_MORE ? v >= x - 1e-9 * fabs(x) : v <= x + 1e-9 * fabs(x)) return true;
    return broken(y, x, v, factor, diags);
}

static bool prove_trend(const struct model *m, const struct dse_trend *t, const struct catalog *catalog, const void *base,
                        struct diags *diags)
{
    struct trying y = {.m = m, .t = t, .seed = 42};
    if (!find_fields(&y, diags)) return false;
    y.params = xmalloc(m->desc->params_size);
    y.before = xcalloc(1, m->desc->metrics_size);
    y.after = xcalloc(1, m->desc->metrics_size);
    int feasible = 0;
    bool ok = true;
    for (int i = 0; ok && i < POINTS; i++) ok = try_point(&y, catalog, base, i, &feasible, diags);
    if (ok && feasible <= POINTS / 50)
        ok = prove_fail(m, diags, "%s over %s: only %d of %d random points could grow", t->metric, t->param, feasible, POINTS);
    free(y.params);
    free(y.before);
    free(y.after);
    return ok;
}

static bool declares(const struct model *m, const char *param, const char *metric)
{
    for (const struct dse_trend *t = m->desc->trends; t && t->param; t++)
        if (strcmp(t->param, param) == 0 && strcmp(t->metric, metric) == 0) return true;
    return false;
}

bool prove_trends(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    void *base = prove_point(m, catalog, NULL, 0, diags);
    bool ok = base != NULL;
    size_t n = 0;
    for (const struct dse_trend *t = m->desc->trends; base && t && t->param; t++, n++)
        ok = prove_trend(m, t, catalog, base, diags) && ok;
    free(base);
    /* More bandwidth is never slower, and a longer context never cheaper. */
    if (schema_find(&m->params, "bandwidth_gbs") && !declares(m, "bandwidth_gbs", "tokens_per_s"))
        ok = prove_fail(m, diags, "it declares no trend of bandwidth_gbs and tokens_per_s");
    if (!declares(m, "context", "latency_us") && !declares(m, "context", "tokens_per_s"))
        ok = prove_fail(m, diags, "it declares no trend of context and latency_us, or tokens_per_s");
    text_addf(note, "%zu trends at %d points each", n, POINTS);
    return ok;
}
