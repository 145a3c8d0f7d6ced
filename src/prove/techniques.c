/* Where a technique is off, nothing depends on what it alone reads. */
#include "prove/prove_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 400 };

struct off {
    const struct model *m;
    const struct field *param;
    int32_t choice;
    void *point, *other, *before, *after;
    uint64_t seed;
};

static bool find_off(struct off *o, const struct dse_technique *t, struct diags *diags)
{
    o->param = schema_find(&o->m->params, t->param);
    if (!o->param || o->param->type != DSE_TYPE_ENUM) return prove_fail(o->m, diags, "technique %s: no such enumeration", t->param);
    while (o->param->choices[o->choice] && strcmp(o->param->choices[o->choice], t->off) != 0) o->choice++;
    return o->param->choices[o->choice] || prove_fail(o->m, diags, "technique %s has no value %s", t->param, t->off);
}

static bool estimate(const struct off *o, const void *params, void *metrics)
{
    const struct dse_model *model = o->m->desc;
    if (model->check && model->check(params)) return false;
    model->estimate(params, metrics, NULL);
    return true;
}

/* Let one parameter have its value of another random point. */
static bool try_only(struct off *o, const struct field *f, const struct catalog *catalog, const void *base, size_t *n,
                     struct diags *diags)
{
    const struct dse_model *model = o->m->desc;
    random_point_of(o->m, catalog, base, 0.5, &o->seed, o->other);
    const struct value v = field_get(f, o->other);
    memcpy(o->other, o->point, model->params_size);
    field_set(f, o->other, v);
    if (model->resolve) model->resolve(o->other);
    if (!estimate(o, o->other, o->after))
        return prove_fail(o->m, diags, "with %s = %s, %s still decides whether a point is refused", o->param->name,
                          o->param->choices[o->choice], f->name);
    ++*n;
    for (size_t i = 0; i < o->m->metrics.n; i++) {
        const struct field *metric = &o->m->metrics.fields[i];
        if (metric->without || field_same(metric, o->before, o->after)) continue;
        const double x = field_is_number(metric) ? field_number(metric, o->before) : 0,
                     y = field_is_number(metric) ? field_number(metric, o->after) : 1;
        if (isnan(x) && isnan(y)) continue;
        return prove_fail(o->m, diags, "with %s = %s, %s still moves %s: %.17g, %.17g", o->param->name,
                          o->param->choices[o->choice], f->name, metric->name, x, y);
    }
    return true;
}

static bool prove_technique(struct off *o, const struct dse_technique *t, const struct catalog *catalog, const void *base,
                            size_t *n, struct diags *diags)
{
    o->choice = 0;
    bool ok = find_off(o, t, diags);
    for (int i = 0; ok && i < POINTS; i++) {
        random_point_of(o->m, catalog, base, i % 4 ? 0.15 : 1, &o->seed, o->point);
        field_set(o->param, o->point, (struct value){.choice = o->choice});
        if (o->m->desc->resolve) o->m->desc->resolve(o->point);
        if (!estimate(o, o->point, o->before)) continue;
        for (const char *const *only = t->only; ok && only && *only; only++) {
            const struct field *f = schema_find(&o->m->params, *only);
            ok = f ? try_only(o, f, catalog, base, n, diags)
                   : prove_fail(o->m, diags, "technique %s: no parameter %s", t->param, *only);
        }
    }
    return ok;
}

bool prove_techniques(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    const struct dse_model *model = m->desc;
    void *base = prove_point(m, catalog, NULL, 0, diags);
    struct off o = {.m = m,
                    .point = xmalloc(model->params_size),
                    .other = xmalloc(model->params_size),
                    .before = xcalloc(1, model->metrics_size),
                    .after = xcalloc(1, model->metrics_size),
                    .seed = 42};
    bool ok = base != NULL;
    size_t n = 0, techniques = 0;
    for (const struct dse_technique *t = model->techniques; ok && t && t->param; t++, techniques++)
        ok = prove_technique(&o, t, catalog, base, &n, diags);
    if (ok && techniques && n < POINTS / 4)
        ok = prove_fail(m, diags, "only %zu random points could be changed with a technique off", n);
    text_addf(note, "%zu techniques, %zu changes of what they alone read", techniques, n);
    free(o.point);
    free(o.other);
    free(o.before);
    free(o.after);
    free(base);
    return ok;
}
