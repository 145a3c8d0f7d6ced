/* The breakdown of a step: operator by operator, attention by its parts.
 *
 * Times are exposed times: what runs behind something else has none and is "hidden". The parts of depth 0 add up to the step in
 * time, bytes, operations and energy; those of depth 1 add up to the attention above them.
 */
#include "veda.h"

#include <dse/units.h>

static const char *bound_of(double gemv_s, double dram_s)
{
    return dse_bound_names[gemv_s > dram_s ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
}

static const char *period_bound(const struct veda_period *t)
{
    if (t->vote_s >= t->time_s && t->vote_s > t->gemv_s && t->vote_s > t->dram_s) return "voting engine";
    if (t->sfu_s >= t->time_s && t->sfu_s > t->gemv_s && t->sfu_s > t->dram_s) return "special functions";
    return bound_of(t->gemv_s, t->dram_s);
}

static void add_attention(const struct dse_parts *parts, const struct veda_attention *a)
{
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    double waiting = a->softmax_s + a->drain_s, busy = a->scores.time_s + a->values.time_s;
    const char *bound = waiting > busy ? latency : period_bound(a->values.time_s >= a->scores.time_s ? &a->values : &a->scores);
    dse_parts_add(parts, "attention", 0, bound, a->time_s, a->bytes, a->ops);
    dse_parts_add(parts, "attention_scores", 1, period_bound(&a->scores), a->scores.time_s, a->scores.bytes, a->ops / 2);
    dse_parts_add(parts, "softmax", 1, latency, a->softmax_s, 0, 0);
    dse_parts_add(parts, "attention_values", 1, period_bound(&a->values), a->values.time_s, a->values.bytes - a->vote_bytes,
                  a->ops / 2);
    dse_parts_add(parts, "votes", 1, latency, 0, a->vote_bytes, 0);
    dse_parts_add(parts, "drain", 1, latency, a->drain_s, 0, 0);
}

void veda_break_down(const struct veda_point *pt, const struct veda_step *s, const struct veda_chip *chip,
                     struct dse_breakdown *out)
{
    struct dse_parts parts = {.breakdown = out, .watts = pt->devices * chip->total_w, .dram = &pt->p->dram};
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    for (int i = 0; i < s->n_linear; i++) {
        const struct veda_linear *l = &s->linear[i];
        dse_parts_add(&parts, l->name, 0, bound_of(l->gemv_s, l->dram_s), l->time_s, l->bytes, l->ops);
        if (i == 0) add_attention(&parts, &s->attention);
    }
    dse_parts_add(&parts, "norms", 0, latency, s->norm_s, 0, 0);
    if (pt->p->devices > 1) dse_parts_add(&parts, "exchange", 0, latency, s->exchange_s, 0, 0);
}
