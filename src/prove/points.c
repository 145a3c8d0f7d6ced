/* What a model says of points: finite numbers that add up, or a reason. */
#include "prove/prove_internal.h"

#include "model/reason.h"
#include "model/row_check.h"
#include "space/point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *prove_point(const struct model *m, const struct catalog *catalog, const char *const *assignments, size_t n,
                  struct diags *diags)
{
    struct design_point p;
    void *params = NULL;
    if (design_point_init(&p, m, catalog, assignments, n, diags)) {
        params = xmalloc(m->desc->params_size);
        memcpy(params, p.params, m->desc->params_size);
    }
    design_point_release(&p);
    return params;
}

/* A metric is NULL where the model says why, and only there; a point's quality is unknown likewise. */
static bool prove_standing(const struct model *m, const void *params, const void *metrics, struct diags *diags)
{
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        if (f->type != DSE_TYPE_F64 || f->without) continue;
        const char *why = m->desc->why_null ? m->desc->why_null(params, f->name) : NULL;
        if ((isnan(field_number(f, metrics)) != 0) != (why != NULL))
            return prove_fail(m, diags, "%s is %g, and the reason is %s", f->name, field_number(f, metrics), why ? why : "none");
    }
    if (!m->desc->stand) return true;
    struct dse_standing s = {0};
    m->desc->stand(params, &s);
    if (s.quality < 0 || s.quality >= DSE_QUALITY_COUNT || s.n_beyond < 0 || s.n_beyond > DSE_BEYOND_MAX ||
        (s.quality == DSE_QUALITY_UNKNOWN) != (s.unknown != NULL))
        return prove_fail(m, diags, "stand() says of the quality what it does not know, or not what it is");
    const struct field *error = schema_find(&m->metrics, "attention_error");
    if (!error) return true;
    const double lost = field_number(error, metrics);
    if ((s.quality == DSE_QUALITY_UNKNOWN) != (isnan(lost) != 0) || (s.quality <= DSE_QUALITY_ROUNDED && lost != 0))
        return prove_fail(m, diags, "attention_error is %g, and the quality is %s", lost, dse_quality_names[s.quality]);
    return true;
}

/* What is held at one point after the other. */
struct held {
    const struct model *m;
    struct row_check *check;
    void *metrics;
};

static bool hold(const struct held *h, const void *params, struct diags *diags)
{
    struct dse_breakdown b = {0};
    memset(h->metrics, 0, h->m->desc->metrics_size);
    h->m->desc->estimate(params, h->metrics, &b);
    char *why = row_check_run(h->check, h->metrics, &b);
    bool ok = !why || prove_fail(h->m, diags, "%s", why);
    free(why);
    if (b.n == 0) ok = prove_fail(h->m, diags, "it has no breakdown (dse_breakdown_add)");
    return ok && prove_standing(h->m, params, h->metrics, diags);
}

static struct held held_of(const struct model *m)
{
    return (struct held){m, row_check_new(m->desc), xcalloc(1, m->desc->metrics_size)};
}

static void held_release(struct held *h)
{
    row_check_free(h->check);
    free(h->metrics);
}

bool prove_defaults(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    (void)note;
    void *params = prove_point(m, catalog, NULL, 0, diags);
    if (!params) return false;
    struct held h = held_of(m);
    const char *reason = m->desc->check ? m->desc->check(params) : NULL;
    bool ok = !reason || prove_fail(m, diags, "the defaults are infeasible: %s", reason);
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (!field_is_number(f)) continue;
        const double v = field_number(f, params);
        if (f->may_be_auto && isnan(v)) continue; /* a model without resolve() leaves it open */
        if (!(v >= f->min && v <= f->max)) ok = prove_fail(m, diags, "%s: its default, %g, is out of range", f->name, v);
    }
    ok = ok && hold(&h, params, diags);
    held_release(&h);
    free(params);
    return ok;
}

/* Anything that the ranges allow is either refused with a reason or gives finite numbers that add up. Half of the points change a
 * few parameters of the defaults only, so that many are feasible. */
bool prove_points(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    enum { TRIALS = 20000, FEASIBLE_MIN = 1000 };
    uint64_t seed = 42;
    void *base = prove_point(m, catalog, NULL, 0, diags), *params = xmalloc(m->desc->params_size);
    struct held h = held_of(m);
    size_t feasible = 0;
    bool ok = base != NULL;
    for (int trial = 0; ok && trial < TRIALS; trial++) {
        if (!random_point_of(m, catalog, base, trial % 2 ? 1 : 0.1, &seed, params)) continue;
        feasible++;
        ok = hold(&h, params, diags);
    }
    if (ok && feasible <= FEASIBLE_MIN)
        ok = prove_fail(m, diags, "only %zu of %d random points are feasible: the ranges are too wide to be tested", feasible,
                        TRIALS);
    text_addf(note, "%zu of %d are feasible", feasible, TRIALS);
    held_release(&h);
    free(params);
    free(base);
    return ok;
}

/* Points that lack something, by what the model says of it. */
static bool prove_short(const struct model *m, const struct catalog *catalog, const void *base, size_t *ret_n, struct diags *diags)
{
    uint64_t seed = 42;
    void *params = xmalloc(m->desc->params_size);
    bool ok = true;
    *ret_n = 0;
    for (int trial = 0; ok && trial < 5000; trial++) {
        struct dse_shortage s;
        if (random_point_of(m, catalog, base, 0.1, &seed, params)) continue;
        const char *reason = m->desc->check(params);
        if (!m->desc->shortage(params, reason, &s)) continue;
        ++*ret_n;
        if (!(s.needed > s.there && isfinite(s.needed)))
            ok = prove_fail(m, diags, "%s: %g needed, %g available", reason, s.needed, s.there);
    }
    free(params);
    return ok;
}

/* Where something is too small, what is needed is more than what is there, and the text says both. */
bool prove_shortage(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    static const char setting[] = "capacity_gib=0.5";
    if (!schema_find(&m->params, "capacity_gib")) return true;
    if (!m->desc->check || !m->desc->shortage)
        return prove_fail(m, diags, "it has a capacity, and no check() and shortage() that say when that is too small");
    void *params = prove_point(m, catalog, (const char *const[]){setting}, 1, diags);
    if (!params) return false;
    const char *reason = m->desc->check(params);
    bool ok = reason || prove_fail(m, diags, "an LLM fits half a GiB");
    char *text = ok ? reason_text(m->desc, params, reason) : NULL;
    if (ok && !strstr(text, " GiB needed, 0.5 GiB available")) ok = prove_fail(m, diags, "\"%s\" says no numbers", text);
    free(text);
    free(params);
    size_t n = 0;
    void *base = prove_point(m, catalog, NULL, 0, diags);
    ok = base && prove_short(m, catalog, base, &n, diags) && ok;
    if (ok && n <= 100) ok = prove_fail(m, diags, "only %zu random points are short of something", n);
    text_addf(note, "%zu points that lack something", n);
    free(base);
    return ok;
}

/* Equations can be asked for at any point, feasible or not. */
bool prove_equations(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    (void)note;
    if (!m->desc->equate) return true;
    uint64_t seed = 42;
    void *base = prove_point(m, catalog, NULL, 0, diags);
    void *params = xmalloc(m->desc->params_size), *equations = xcalloc(1, m->desc->equations_size);
    bool ok = base != NULL;
    for (int trial = 0; ok && trial < 100; trial++) {
        random_point_of(m, catalog, base, trial % 2 ? 1 : 0.1, &seed, params);
        m->desc->equate(params, equations);
        for (size_t i = 0; i < m->equations.n; i++)
            if (isinf(field_number(&m->equations.fields[i], equations)))
                ok = prove_fail(m, diags, "%s is infinite", m->equations.fields[i].name);
    }
    free(equations);
    free(params);
    free(base);
    return ok;
}

/* ---- devices ----------------------------------------------------------------------------------------------------------------- */

/* The point's price, carbon and footprint with that degree of parallelism; NaN: it has none, or is infeasible. */
enum { PAID = 2 };
static const char *const paid_metrics[PAID] = {"system_usd", "embodied_kgco2"};

static bool paid(const struct model *m, const struct catalog *catalog, const char *setting, double ret[PAID], struct diags *diags)
{
    void *params = prove_point(m, catalog, &setting, 1, diags);
    if (!params) return false;
    for (int i = 0; i < PAID; i++) ret[i] = (double)NAN;
    if (!m->desc->check || !m->desc->check(params)) {
        void *metrics = xcalloc(1, m->desc->metrics_size);
        m->desc->estimate(params, metrics, NULL);
        for (int i = 0; i < PAID; i++) {
            const struct field *f = schema_find(&m->metrics, paid_metrics[i]);
            if (f && !f->without) ret[i] = field_number(f, metrics);
        }
        free(metrics);
    }
    free(params);
    return true;
}

/* Devices that work together are all paid for. */
bool prove_devices(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    static const char *const degrees[] = {"tensor_parallel", "pipeline_parallel"};
    bool ok = true;
    int compared = 0;
    for (size_t i = 0; ok && i < sizeof degrees / sizeof *degrees; i++) {
        if (!schema_find(&m->params, degrees[i])) continue;
        double one[PAID], two[PAID];
        char *single = xasprintf("%s=1", degrees[i]), *both = xasprintf("%s=2", degrees[i]);
        ok = paid(m, catalog, single, one, diags) && paid(m, catalog, both, two, diags);
        for (int k = 0; ok && k < PAID; k++) {
            if (isnan(one[k]) || isnan(two[k])) continue;
            compared++;
            if (!(two[k] > 1.5 * one[k]))
                ok = prove_fail(m, diags, "%s of %s is %g, and of one device %g: not all are paid for (chips in [step])",
                                paid_metrics[k], both, two[k], one[k]);
        }
        free(single);
        free(both);
    }
    if (!compared) text_add(note, "nothing of several devices is priced");
    return ok;
}
