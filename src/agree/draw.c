/* Points near the defaults of a model. */
#include "agree/agree_internal.h"

#include "base/xalloc.h"

#include <dse/workload.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- settings ------------------------------------------------------------------------------------------------------------ */

void settings_drop(struct settings *s, size_t kept)
{
    while (s->n > kept) free(s->list[--s->n]);
}

void settings_add(struct settings *s, char *assignment)
{
    s->list[s->n++] = assignment; /* there is room for all parameters */
}

/* ---- drawing ------------------------------------------------------------------------------------------------------------- */

static bool is_calibrated(const struct binding *b, const char *name)
{
    size_t n;
    const struct calibrated *c = binding_calibrated(b, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(c[i].name, name) == 0) return true;
    return false;
}

/* Does a catalog entry, of a kind that the model refers to, set the parameter? */
static bool is_of_an_entry(const struct drawing *d, const struct field *f)
{
    const struct schema *params = &d->model->params;
    for (size_t i = 0; i < params->n; i++)
        if (params->fields[i].type == DSE_TYPE_REF && schema_find(catalog_fields(d->catalog, params->fields[i].kind), f->name))
            return true;
    return false;
}

static bool is_given(const struct binding *b, const struct field *f)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n; i++)
        if (b->given[i].is_given && (&params->fields[i] == f || field_excludes(f, params->fields[i].name))) return true;
    return false;
}

static void draw_name(struct drawing *d, const struct field *f)
{
    size_t n = 0;
    if (f->type == DSE_TYPE_REF) {
        while (catalog_at(d->catalog, f->kind, n)) n++;
        settings_add(&d->settings,
                     xasprintf("%s=%s", f->name, catalog_at(d->catalog, f->kind, gsl_rng_uniform_int(d->rng, n))->name));
    } else {
        while (f->choices[n]) n++;
        settings_add(&d->settings, xasprintf("%s=%s", f->name, f->choices[gsl_rng_uniform_int(d->rng, n)]));
    }
}

/* The value rounded to three digits, as one would type it. */
static double rounded(double v)
{
    char buf[TEXT_NUMBER_MAX];
    snprintf(buf, sizeof buf, "%.3g", v);
    double r = v;
    text_parse_f64(buf, &r);
    return r;
}

static double log_uniform(gsl_rng *rng, double lo, double hi)
{
    return exp(log(lo) + gsl_rng_uniform(rng) * log(hi / lo));
}

static bool is_context(const struct field *f)
{
    return strcmp(f->name, "context") == 0;
}

/* Draw a context from the shortest to the longest that the LLM was made for. */
static double draw_context(const struct drawing *d, const struct field *f, const void *params)
{
    const struct field *llm = schema_find(&d->model->params, "llm");
    double hi = llm && llm->type == DSE_TYPE_REF
                    ? (double)((const struct dse_llm *)(const void *)field_get(llm, params).ref)->max_context
                    : f->max;
    return log_uniform(d->rng, fmax(f->min, AGREE_CONTEXT_MIN), fmax(fmin(f->max, hi), AGREE_CONTEXT_MIN + 1));
}

static void draw_number(struct drawing *d, const struct field *f, const void *params)
{
    char buf[TEXT_NUMBER_MAX];
    double v = field_number(f, params);
    if (is_context(f))
        v = draw_context(d, f, params);
    else
        v *= log_uniform(d->rng, 1 / AGREE_FACTOR, AGREE_FACTOR);
    v = rounded(v);
    if (f->type == DSE_TYPE_I64) v = round(v);
    v = fmin(fmax(v, f->min), f->max);
    settings_add(&d->settings, xasprintf("%s=%s", f->name, text_number(buf, v)));
}

/* Is the setting NAME=VALUE of a parameter that cannot stand beside f? */
static bool sets_excluded(const struct field *f, const char *setting)
{
    char *name = xstrndup(setting, strcspn(setting, "="));
    bool excluded = field_excludes(f, name);
    free(name);
    return excluded;
}

/* Half of the names and choices; draw_numbers, half of the numbers around what those make of the defaults, and always the context.
 */
static void draw_names(struct drawing *d, const struct binding *b)
{
    for (size_t i = 0; i < d->model->params.n; i++) {
        const struct field *f = &d->model->params.fields[i];
        if ((f->type == DSE_TYPE_REF || f->type == DSE_TYPE_ENUM) && f->reader == READ_BY_BOTH && !is_given(b, f) &&
            gsl_rng_uniform(d->rng) < 0.5)
            draw_name(d, f);
    }
}

static void draw_numbers(struct drawing *d, const struct design_point *p)
{
    size_t names = d->settings.n;
    for (size_t i = 0; i < d->model->params.n; i++) {
        const struct field *f = &d->model->params.fields[i];
        if ((f->type != DSE_TYPE_F64 && f->type != DSE_TYPE_I64) || is_given(p->binding, f)) continue;
        if (strcmp(f->name, "seed") == 0) settings_add(&d->settings, xasprintf("seed=%llu", (unsigned long long)d->number));
        if (f->reader != READ_BY_BOTH || is_calibrated(p->binding, f->name) || is_of_an_entry(d, f)) continue;
        bool excluded = false; /* by one that was drawn before */
        for (size_t k = names; k < d->settings.n && f->excludes; k++) excluded |= sets_excluded(f, d->settings.list[k]);
        if (excluded || field_number(f, p->params) == 0) continue;
        if (is_context(f) || gsl_rng_uniform(d->rng) < 0.5) draw_number(d, f, p->params);
    }
}

bool draw_near(struct drawing *d, const struct design_point *defaults, struct design_point *ret)
{
    struct diags ignored;
    diags_init(&ignored);
    settings_drop(&d->settings, d->settings.given);
    draw_names(d, defaults->binding);
    bool ok = design_point_init(ret, d->model, d->catalog, (const char *const *)d->settings.list, d->settings.n, &ignored);
    if (ok) draw_numbers(d, ret);
    design_point_release(ret);
    ok = ok && design_point_init(ret, d->model, d->catalog, (const char *const *)d->settings.list, d->settings.n, &ignored) &&
         !ret->reason;
    if (!ok) design_point_release(ret);
    diags_release(&ignored);
    return ok;
}
