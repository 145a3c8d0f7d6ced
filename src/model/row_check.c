#include "model/row_check.h"

#include "base/xalloc.h"
#include "desc/schema.h"

#include <dse/units.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parts and metrics are sums of the same numbers in another order. */
static const double ROUNDING = 1e-9;

struct row_check {
    const struct dse_model *model;
    struct schema metrics;
    size_t *finite, *nullable, *shares; /* offsets of doubles */
    size_t n_finite, n_nullable, n_shares;
    const struct field *latency, *rate, *attention, *bytes, *energy, *power; /* NULL: has no meaning here */
};

static const struct field *metric(const struct row_check *c, const char *name)
{
    const struct field *f = schema_find(&c->metrics, name);
    return f && !f->without && f->type == DSE_TYPE_F64 ? f : NULL;
}

/* Is the metric the share of a peak? Such names end in "utilization". */
static bool is_share_of_peak(const char *name)
{
    static const char end[] = "utilization";
    const size_t n = strlen(name), m = sizeof end - 1;
    return n >= m && strcmp(name + n - m, end) == 0;
}

struct row_check *row_check_new(const struct dse_model *m)
{
    struct row_check *c = xcalloc(1, sizeof *c);
    c->model = m;
    schema_init_metrics(&c->metrics, m->metrics, m->without);
    const size_t n = c->metrics.n;
    c->finite = xcalloc(n, sizeof *c->finite);
    c->nullable = xcalloc(n, sizeof *c->nullable);
    c->shares = xcalloc(n, sizeof *c->shares);
    for (size_t i = 0; i < n; i++) {
        const struct field *f = &c->metrics.fields[i];
        if (f->type != DSE_TYPE_F64 || f->without) continue;
        if (f->may_be_null)
            c->nullable[c->n_nullable++] = f->offset;
        else
            c->finite[c->n_finite++] = f->offset;
        if (is_share_of_peak(f->name)) c->shares[c->n_shares++] = f->offset;
    }
    c->latency = metric(c, "latency_us");
    c->rate = metric(c, "tokens_per_s");
    c->attention = metric(c, "attention_us");
    c->bytes = metric(c, "dram_mib");
    c->energy = metric(c, "energy_mj");
    c->power = metric(c, "power_w");
    return c;
}

void row_check_free(struct row_check *c)
{
    if (!c) return;
    schema_release(&c->metrics);
    free(c->finite);
    free(c->nullable);
    free(c->shares);
    free(c);
}

const struct dse_model *row_check_model(const struct row_check *c)
{
    return c->model;
}

/* ---- metrics ------------------------------------------------------------------------------------------------------------- */

static double at(const void *metrics, size_t offset)
{
    double v;
    memcpy(&v, (const char *)metrics + offset, sizeof v);
    return v;
}

/* 0 times a number is 0 unless it is not finite: one sum for all of them, in strands, since each addition waits for the last. */
static double nothing_of(const size_t *offsets, size_t n, const void *metrics)
{
    double a = 0, b = 0, c = 0, d = 0;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += 0 * at(metrics, offsets[i]);
        b += 0 * at(metrics, offsets[i + 1]);
        c += 0 * at(metrics, offsets[i + 2]);
        d += 0 * at(metrics, offsets[i + 3]);
    }
    for (; i < n; i++) a += 0 * at(metrics, offsets[i]);
    return a + b + c + d;
}

static bool any_infinite(const size_t *offsets, size_t n, const void *metrics)
{
    unsigned ret = 0;
    for (size_t i = 0; i < n; i++) ret |= fabs(at(metrics, offsets[i])) == (double)INFINITY;
    return ret != 0;
}

/* The largest of numbers, NaN aside. */
static double largest(const size_t *offsets, size_t n, const void *metrics)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = fabs(at(metrics, offsets[i]));
        most = v > most ? v : most;
    }
    return most;
}

static bool metrics_hold(const struct row_check *c, const void *metrics)
{
    return nothing_of(c->finite, c->n_finite, metrics) == 0 && !any_infinite(c->nullable, c->n_nullable, metrics) &&
           largest(c->shares, c->n_shares, metrics) <= 1 + ROUNDING;
}

/* Say which metric breaks what metrics_hold tests, by its name. The caller frees it. */
static char *metrics_complaint(const struct row_check *c, const void *metrics)
{
    for (size_t i = 0; i < c->metrics.n; i++) {
        const struct field *f = &c->metrics.fields[i];
        if (f->type != DSE_TYPE_F64 || f->without) continue;
        const double v = at(metrics, f->offset);
        if (isinf(v) || (isnan(v) && !f->may_be_null)) return xasprintf("%s is %g, which is no finite number", f->name, v);
        if (is_share_of_peak(f->name) && v > 1 + ROUNDING)
            return xasprintf("%s is %.10g, and a share of the peak is at most 1", f->name, v);
    }
    return NULL;
}

/* ---- the breakdown ------------------------------------------------------------------------------------------------------- */

/* The value of a metric; NaN where it has no meaning. */
static double value(const struct field *f, const void *metrics)
{
    return f ? at(metrics, f->offset) : (double)NAN;
}

static char *differ(const char *metric_name, const char *what, double sum, double total)
{
    const double tiny = 1e-12;
    if (isnan(total) || fabs(sum - total) <= ROUNDING * fabs(total) + tiny) return NULL;
    return xasprintf("%s: the %s of the parts adds up to %.10g, and the metric says %.10g", metric_name, what, sum, total);
}

static char *part_complaint(const struct dse_part *p)
{
    if (!p->name || !p->bound) return xstrdup("a part of the breakdown has no name or no bound");
    if (!(isfinite(p->time_us) && p->time_us >= 0)) return xasprintf("time_us of the part %s is %g", p->name, p->time_us);
    if (!(isfinite(p->dram_bytes) && p->dram_bytes >= 0))
        return xasprintf("dram_bytes of the part %s is %g", p->name, p->dram_bytes);
    if (!(isfinite(p->ops) && p->ops >= 0)) return xasprintf("ops of the part %s is %g", p->name, p->ops);
    return NULL;
}

/* Check that the causes of energy add up to the energy. NULL, or what is wrong; the caller frees it. */
static char *causes_complaint(const struct row_check *c, const void *metrics, const struct dse_breakdown *b, double tokens)
{
    double energy_mj = 0;
    for (int i = 0; i < b->n_causes; i++) {
        const struct dse_cause *cause = &b->cause[i];
        if (!(isfinite(cause->energy_mj) && cause->energy_mj >= 0))
            return xasprintf("energy_mj of %s is %g", cause->name, cause->energy_mj);
        energy_mj += cause->energy_mj;
    }
    return b->n_causes ? differ("energy_mj", "energy by cause", energy_mj, value(c->energy, metrics) * tokens) : NULL;
}

static char *parts_complaint(const struct row_check *c, const void *metrics, const struct dse_breakdown *b)
{
    double time_us = 0, bytes = 0, energy_mj = 0;
    char *why = NULL;
    for (int i = 0; i < b->n && !why; i++) {
        const struct dse_part *p = &b->part[i];
        why = part_complaint(p);
        if (p->depth != 0) continue;
        time_us += p->time_us;
        bytes += p->dram_bytes;
        energy_mj += p->energy_mj;
    }
    const double tokens = value(c->rate, metrics) * value(c->latency, metrics) / DSE_US_PER_S;
    if (!why) why = differ("latency_us", "time", time_us, value(c->latency, metrics));
    if (!why) why = differ("dram_mib", "traffic", bytes / DSE_MIB, value(c->bytes, metrics) * tokens);
    if (!why) why = differ("energy_mj", "energy", energy_mj, value(c->energy, metrics) * tokens);
    if (!why && c->energy && time_us > 0)
        why = differ("power_w", "energy over the time", energy_mj / DSE_MJ_PER_J / (time_us / DSE_US_PER_S),
                     value(c->power, metrics));
    if (!why && value(c->attention, metrics) > time_us * (1 + ROUNDING))
        why = xasprintf("attention_us is %.10g, and all of the step %.10g", value(c->attention, metrics), time_us);
    return why ? why : causes_complaint(c, metrics, b, tokens);
}

char *row_check_run(const struct row_check *c, const void *metrics, const struct dse_breakdown *breakdown)
{
    if (!metrics_hold(c, metrics)) return metrics_complaint(c, metrics);
    return breakdown && breakdown->n > 0 ? parts_complaint(c, metrics, breakdown) : NULL;
}
