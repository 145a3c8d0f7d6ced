/* Scaling between technology nodes, by the published method a node's entry belongs to. */
#include <dse/hw.h>

#include <math.h>
#include <string.h>

static double metric_of(const struct dse_technology *t, enum dse_tech_metric metric)
{
    switch (metric) {
    case DSE_TECH_AREA: return t->area;
    case DSE_TECH_SRAM_AREA: return isnan(t->sram_area) ? t->area : t->sram_area;
    case DSE_TECH_ENERGY: return t->energy;
    case DSE_TECH_DELAY: return t->delay;
    case DSE_TECH_POWER: return t->power;
    }
    return (double)NAN;
}

/* Is supply a nearer to `wanted` than b? A method without supplies has NaN in all its nodes: then neither is. */
static bool nearer(double wanted, double a, double b)
{
    double da = fabs(a - wanted), db = fabs(b - wanted);
    return da < db || (da <= db && a > b);
}

double dse_tech_ratio(const struct dse_technology *to, double from_nm, enum dse_tech_metric metric)
{
    const struct dse_technology *from = NULL, *t = to;
    do {
        bool usable = t->node_nm == from_nm && !isnan(metric_of(t, metric));
        if (usable && (!from || nearer(to->vdd_v, t->vdd_v, from->vdd_v))) from = t;
        t = t->sibling;
    } while (t != to);
    if (!from) return (double)NAN;
    return metric_of(to, metric) / metric_of(from, metric);
}

const char *dse_tech_sram_beyond(const struct dse_technology *to, double from_nm)
{
    enum { ALIKE_NM = 20 }; /* down to there bit cells shrank as logic did */
    if (to->node_nm == from_nm || to->node_nm >= ALIKE_NM || !isnan(to->sram_area)) return NULL;
    return "SRAM area is scaled like logic, which shrank more below 20 nm (technologies of method tsmc have bit cells)";
}

/* Is it a supply of the node of `at` that the metric is known for? */
static bool is_point(const struct dse_technology *t, const struct dse_technology *at, enum dse_tech_metric metric)
{
    return t->node_nm == at->node_nm && !isnan(metric_of(t, metric)) && !isnan(t->vdd_v);
}

double dse_tech_at_supply(const struct dse_technology *at, double vdd_v, enum dse_tech_metric metric)
{
    int points = 0;
    double sum = 0;
    const struct dse_technology *t = at;
    do { /* Lagrange's form */
        double weight = is_point(t, at, metric) ? metric_of(t, metric) : 0;
        points += is_point(t, at, metric);
        for (const struct dse_technology *o = t->sibling; weight != 0 && o != t; o = o->sibling)
            if (is_point(o, at, metric)) weight *= (vdd_v - o->vdd_v) / (t->vdd_v - o->vdd_v);
        sum += weight;
        t = t->sibling;
    } while (t != at);
    return points < 3 ? (double)NAN : sum;
}

size_t dse_tech_nodes(const struct dse_technology *to, enum dse_tech_metric metric, double *ret_nm, size_t max)
{
    size_t n = 0;
    double below = (double)INFINITY;
    for (;;) { /* the largest node below the one before: a handful of entries, no sorting needed */
        double next = 0;
        const struct dse_technology *t = to;
        do {
            if (t->node_nm < below && t->node_nm > next && !isnan(metric_of(t, metric))) next = t->node_nm;
            t = t->sibling;
        } while (t != to);
        if (next <= 0) return n;
        if (n < max) ret_nm[n] = next;
        n++;
        below = next;
    }
}
