/* The breakdown of a step: operator by operator, attention by its parts.
 *
 * Times are exposed times: what runs behind something else has none and is "hidden". The parts of depth 0 add up to the step in time,
 * bytes, operations and energy; those of depth 1 add up to the attention above them.
 */
#include "veda.h"

#include <dse/units.h>

struct ctx {
    const struct veda_point *pt;
    double watts; /* of all chips */
    struct dse_breakdown *out;
};

static void add(const struct ctx *c, const char *name, int depth, const char *bound, double seconds, double bytes, double ops)
{
    double joules = c->watts * seconds + dse_dram_joules(&c->pt->p->dram, bytes);
    dse_breakdown_add(c->out, (struct dse_part){.name = name,
                                                .bound = seconds > 0 ? bound : "hidden",
                                                .depth = depth,
                                                .time_us = seconds * DSE_US_PER_S,
                                                .dram_bytes = bytes,
                                                .ops = ops,
                                                .energy_mj = joules * DSE_MJ_PER_J});
}

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

static void add_attention(const struct ctx *c, const struct veda_attention *a)
{
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    double waiting = a->softmax_s + a->drain_s, busy = a->scores.time_s + a->values.time_s;
    const char *bound = waiting > busy ? latency : period_bound(a->values.time_s >= a->scores.time_s ? &a->values : &a->scores);
    add(c, "attention", 0, bound, a->time_s, a->bytes, a->ops);
    add(c, "attention_scores", 1, period_bound(&a->scores), a->scores.time_s, a->scores.bytes, a->ops / 2);
    add(c, "softmax", 1, latency, a->softmax_s, 0, 0);
    add(c, "attention_values", 1, period_bound(&a->values), a->values.time_s, a->values.bytes - a->vote_bytes, a->ops / 2);
    add(c, "votes", 1, latency, 0, a->vote_bytes, 0);
    add(c, "drain", 1, latency, a->drain_s, 0, 0);
}

void veda_break_down(const struct veda_point *pt, const struct veda_step *s, const struct veda_chip *chip,
                     struct dse_breakdown *out)
{
    struct ctx c = {.pt = pt, .watts = pt->devices * chip->total_w, .out = out};
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    for (int i = 0; i < s->n_linear; i++) {
        const struct veda_linear *l = &s->linear[i];
        add(&c, l->name, 0, bound_of(l->gemv_s, l->dram_s), l->time_s, l->bytes, l->ops);
        if (i == 0) add_attention(&c, &s->attention);
    }
    add(&c, "norms", 0, latency, s->norm_s, 0, 0);
    if (pt->p->devices > 1) add(&c, "exchange", 0, latency, s->exchange_s, 0, 0);
}
