/* Attention of one kind at event level: which lengths and units stand for all, and what all take (E25 to E27). */
#include "veda_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <string.h>

enum { UNITS_MIN = 8 /* of attention simulated at least, where there are so many */ };

/* E26: the lengths that stand for those of the span. */
void veda_plan_init(struct veda_plan *ret, const struct veda_point *keys, const struct veda_point *values,
                    const struct dse_sampling *sampling)
{
    const struct veda_span *s = &keys->span;
    const double all = s->to - s->from + s->flat;
    const int64_t flat = (int64_t)dse_ceil(s->flat_length); /* as E4 has it */
    ret->sampling = *sampling;
    ret->keys = *keys;
    ret->alike = !values;
    if (values) ret->values = *values;
    if (s->to > s->from)
        dse_lengths_plan(&ret->lengths, sampling, UNITS_MIN, (int64_t)s->from + 1, (int64_t)s->to, (s->to - s->from) / all);
    if (s->flat > 0) dse_lengths_plan(&ret->lengths, sampling, UNITS_MIN, flat, flat, s->flat / all);
}

/* ---- the closed form of a unit ------------------------------------------------------------------------------------------- */

static void closed_at(const struct veda_point *pt, double length, struct veda_attention *ret)
{
    struct veda_point at = *pt;
    at.prefill = false;
    at.queries = 1;
    at.positions = at.pairs = length;
    at.span = (struct veda_span){.flat = 1, .flat_length = length, .mean_of = 1};
    veda_attention_at(&at, ret);
}

/* E26: of one unit at one length, what the samples are compared with. */
static void closed_unit(const struct veda_plan *plan, double length, struct veda_tally *ret)
{
    const struct veda_point *pt = &plan->keys;
    struct veda_attention a, v;
    closed_at(pt, length, &a);
    if (!plan->alike) {
        closed_at(&plan->values, length, &v);
        a.values = v.values;
    }
    double units = pt->layers * veda_units(pt) / pt->queries;
    memset(ret, 0, sizeof *ret);
    ret->at[VEDA_SCORES_S] = a.scores.time_s / units;
    ret->at[VEDA_SOFTMAX_S] = a.softmax_s / units;
    ret->at[VEDA_VALUES_S] = a.values.time_s / units;
    ret->at[VEDA_SCORES_WORK_S] = a.scores.gemv_s / units;
    ret->at[VEDA_VALUES_WORK_S] = a.values.gemv_s / units;
}

static void add_tally(struct veda_tally *to, const struct veda_tally *what, double weight)
{
    for (int i = 0; i < VEDA_COUNTS; i++) to->at[i] += weight * what->at[i];
}

/* E26: the mean over all lengths of the span. */
static void closed_mean(const struct veda_plan *plan, struct veda_tally *ret)
{
    const struct veda_span *s = &plan->keys.span;
    struct veda_tally unit;
    double each = 1 / (s->to - s->from + s->flat);
    memset(ret, 0, sizeof *ret);
    const int64_t lengths = (int64_t)(s->to - s->from);
    for (int64_t i = 1; i <= lengths; i++) {
        closed_unit(plan, s->from + (double)i, &unit);
        add_tally(ret, &unit, each);
    }
    if (s->flat <= 0) return;
    closed_unit(plan, s->flat_length, &unit);
    add_tally(ret, &unit, each * s->flat);
}

/* ---- what is simulated --------------------------------------------------------------------------------------------------- */

/* E25. */
struct veda_heads *veda_plan_begin(const struct veda_plan *plan, const struct veda_run *run, const struct dse_length *length,
                                   int64_t layer, uint32_t actor)
{
    struct veda_heads_spec spec = {.pt = &plan->keys, .length = length->positions, .layer = layer, .actor = actor};
    if (!plan->alike) spec.values = &plan->values;
    spec.simulated = dse_lengths_heads(&plan->lengths, &plan->sampling, spec.length, 1, UNITS_MIN, veda_units(&plan->keys));
    return veda_heads_new(run, &spec);
}

/* E26: what is seen, as a difference from the closed form. */
void veda_plan_end(struct veda_plan *plan, const struct dse_length *length, const struct veda_heads_result *r, double layers)
{
    struct veda_tally closed;
    const double share = length->weight / layers;
    closed_unit(plan, (double)length->positions, &closed);
    add_tally(&plan->unit, &r->unit, share);
    add_tally(&plan->unit, &closed, -share);
    add_tally(&plan->ends, &r->ends, share);
}

double veda_dram_s(const struct veda_point *pt, double time_s, double data_s, double bytes)
{
    static const double fill = 0.01; /* of the time: the first bytes are always waited for */
    return data_s > fill * time_s ? time_s : bytes / dse_dram_peak(&pt->p->dram);
}

static void set_period(const struct veda_point *pt, const struct veda_tally *t, bool scores, struct veda_period *ret)
{
    const double share = pt->device_kv_heads / pt->kv_heads;
    ret->gemv_s = t->at[scores ? VEDA_SCORES_WORK_S : VEDA_VALUES_WORK_S];
    ret->device_bytes = t->at[scores ? VEDA_SCORES_BYTES : VEDA_VALUES_BYTES];
    ret->time_s =
        dse_max(t->at[scores ? VEDA_SCORES_S : VEDA_VALUES_S], ret->device_bytes / dse_dram_peak(&pt->p->dram)); /* as layers */
    ret->bytes = ret->device_bytes / share;
    ret->dram_s = veda_dram_s(pt, ret->time_s, t->at[scores ? VEDA_SCORES_DATA_S : VEDA_VALUES_DATA_S], ret->device_bytes);
}

/* E25: a layer is its units and what happens at its ends. */
void veda_plan_attention(const struct veda_plan *plan, struct veda_attention *a)
{
    const struct veda_point *pt = &plan->keys;
    const double share = pt->device_kv_heads / pt->kv_heads, vote_share = pt->policy->per_head ? share : 1 / pt->devices;
    struct veda_tally t, mean;
    double units = pt->layers * veda_units(pt);
    closed_mean(plan, &mean);
    add_tally(&mean, &plan->unit, 1);
    /* E26: a wait that falls with the length may come out below 0 on the straight line to lengths that are not simulated. */
    for (int i = 0; i < VEDA_COUNTS; i++) t.at[i] = dse_max(0, units * mean.at[i] + pt->layers * plan->ends.at[i]);
    set_period(pt, &t, true, &a->scores);
    set_period(pt, &t, false, &a->values);
    a->softmax_s = t.at[VEDA_SOFTMAX_S];
    a->drain_s = t.at[VEDA_DRAIN_S];
    a->time_s = a->scores.time_s + a->values.time_s + a->softmax_s + a->drain_s;
    a->softmax_exposed_s = a->softmax_s + t.at[VEDA_SFU_WAIT_S];
    a->vote_exposed_s = t.at[VEDA_VOTE_WAIT_S];
    a->kv_bytes = t.at[VEDA_KV_BYTES] / share;
    a->vote_bytes = t.at[VEDA_VOTE_BYTES] / vote_share;
    a->values.bytes += a->vote_bytes;
    a->bytes = a->scores.bytes + a->values.bytes;
}
