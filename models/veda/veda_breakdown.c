/* The breakdown of a step: operator by operator, attention by its parts.
 *
 * Times are exposed times: what runs behind something else has none and is "hidden". The parts of depth 0 add up to the step in
 * time, bytes, operations and energy; those of depth 1 add up to the attention above them. Leakage and clock are parts of their
 * own: they run whatever is done. With power = "constant" everything does.
 */
#include "veda.h"

#include <dse/units.h>

struct ctx {
    const struct veda_power *power;
    struct dse_breakdown *out;
};

static void add(const struct ctx *c, const char *name, int depth, const char *bound, double ops, const struct veda_work *work)
{
    struct dse_joules j = veda_joules_of(c->power, work);
    dse_breakdown_add(c->out, dse_part_of(name, depth, bound, work->seconds, j.work, work->bytes, ops));
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

static void add_attention(const struct ctx *c, const struct veda_point *pt, const struct veda_attention *a)
{
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    double waiting = a->softmax_s + a->drain_s, busy = a->scores.time_s + a->values.time_s, half = a->ops / 2;
    const char *bound = waiting > busy ? latency : period_bound(a->values.time_s >= a->scores.time_s ? &a->values : &a->scores);
    struct veda_score_work s = veda_score_work(pt);
    struct veda_work all = veda_attention_work(pt, a);
    const struct {
        const char *name, *bound;
        double ops;
        struct veda_work work;
    } parts[] = {
        {"attention_scores",
         period_bound(&a->scores),
         half,
         {.seconds = a->scores.time_s, .bytes = a->scores.bytes, .macs = all.macs / 2, .sfu_ops = s.sums}},
        {"softmax", latency, 0, {.seconds = a->softmax_s, .sfu_ops = s.stage}},
        {"attention_values",
         period_bound(&a->values),
         half,
         {.seconds = a->values.time_s, .bytes = a->values.bytes - a->vote_bytes, .macs = all.macs / 2, .sfu_ops = s.weights}},
        {"votes", latency, 0, {.bytes = a->vote_bytes, .votes = s.votes}},
        {"drain", latency, 0, {.seconds = a->drain_s}},
    };
    add(c, "attention", 0, bound, a->ops, &all);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        add(c, parts[i].name, 1, parts[i].bound, parts[i].ops, &parts[i].work);
}

void veda_break_down(const struct veda_point *pt, const struct veda_step *s, const struct veda_power *power,
                     struct dse_breakdown *out)
{
    struct ctx c = {.power = power, .out = out};
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    for (int i = 0; i < s->n_linear; i++) {
        const struct veda_linear *l = &s->linear[i];
        struct veda_work work = veda_linear_work(l);
        add(&c, l->name, 0, bound_of(l->gemv_s, l->dram_s), l->ops, &work);
        if (i == 0) add_attention(&c, pt, &s->attention);
    }
    struct veda_work norms = veda_norm_work(pt, s), exchange = {.seconds = s->exchange_s}, step = veda_step_work(pt, s);
    add(&c, "norms", 0, latency, 0, &norms);
    if (pt->p->devices > 1) add(&c, "exchange", 0, latency, 0, &exchange);
    struct dse_joules j = veda_joules_of(power, &step);
    dse_breakdown_joules(out, &j, pt->p->power);
}
