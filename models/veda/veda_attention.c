/* Attention of one step: scores, softmax, values (E7 to E10). */
#include "veda.h"

#include <dse/num.h>
#include <dse/units.h>

bool veda_prompt_stays(const struct veda_point *pt)
{
    return pt->prefill && pt->queries * pt->pair_bytes <= pt->buffer_bytes / 2;
}

bool veda_scores_leave(const struct veda_point *pt)
{
    return VEDA_ACTIVATION_BYTES * pt->longest + pt->activation_bytes > pt->buffer_bytes;
}

bool veda_vectors_leave(const struct veda_point *pt)
{
    return !veda_rows_fit(pt, pt->batch * pt->queries, (double)pt->llm->hidden + pt->kv_heads * pt->group * pt->d);
}

/* Rows of K (and as many of V) that one KV head and sequence reads (E8). */
static double rows_read(const struct veda_point *pt)
{
    double reads = pt->p->sharing == VEDA_SHARE_GROUP ? pt->positions : pt->positions * pt->group;
    return veda_prompt_stays(pt) ? pt->queries : reads;
}

/* Vote counts, or accumulated scores, of all devices: E10. Read and written back in each step; in a prefill written once. */
static double vote_bytes(const struct veda_point *pt)
{
    double count = (double)pt->p->cache.vote_bits / DSE_BITS_PER_BYTE;
    double moved = pt->prefill ? count * pt->queries : 2 * count * pt->positions;
    double kept = pt->policy->per_head ? pt->kv_heads : 1;
    return pt->policy->counts ? pt->layers * pt->batch * kept * moved : 0;
}

/* Scores of a head that the buffer has no room for go through the DRAM; queries and outputs of a prompt do, too (A8). One way. */
static double spilled_bytes(const struct veda_point *pt)
{
    double per_layer = 0, heads = pt->kv_heads * pt->group;
    if (veda_scores_leave(pt)) per_layer += VEDA_ACTIVATION_BYTES * heads * pt->batch * pt->positions;
    if (veda_vectors_leave(pt)) per_layer += VEDA_ACTIVATION_BYTES * heads * pt->d * pt->batch * pt->queries;
    return pt->layers * per_layer;
}

static void finish_period(struct veda_period *t, double gemv_s, double sfu_s, double vote_s)
{
    t->gemv_s = gemv_s;
    t->sfu_s = sfu_s;
    t->vote_s = vote_s;
    t->time_s = dse_max(dse_max(gemv_s, t->dram_s), dse_max(sfu_s, vote_s));
}

static double unhidden(const struct veda_period *t, double serial_s)
{
    return dse_max(0, serial_s - dse_max(t->gemv_s, t->dram_s));
}

void veda_attention_sum(struct veda_attention *a)
{
    a->softmax_exposed_s = a->softmax_s + unhidden(&a->scores, a->scores.sfu_s) + unhidden(&a->values, a->values.sfu_s);
    a->time_s = a->scores.time_s + a->softmax_s + a->values.time_s + a->drain_s;
    double exposed =
        a->time_s - a->drain_s - dse_max(a->scores.gemv_s, a->scores.dram_s) - dse_max(a->values.gemv_s, a->values.dram_s);
    a->vote_exposed_s = dse_max(0, exposed - a->softmax_exposed_s);
}

/* Bytes and their time, the same in both periods but for the votes. */
static void move(const struct veda_point *pt, struct veda_attention *a)
{
    double share = pt->device_kv_heads / pt->kv_heads;
    double kv = pt->layers * pt->batch * pt->kv_heads * rows_read(pt) * pt->row_bytes * pt->row_factor;
    double spilled = spilled_bytes(pt), votes = vote_bytes(pt);
    double kv_s = kv / pt->row_factor * share * pt->row_s, spilled_s = spilled * share * pt->stream_s;
    double votes_share = pt->policy->per_head ? share : 1 / pt->devices;
    a->scores.bytes = kv + spilled;
    a->values.bytes = kv + spilled + votes;
    a->scores.dram_s = kv_s + spilled_s;
    a->values.dram_s = kv_s + spilled_s + votes * votes_share * pt->stream_s;
    a->kv_bytes = 2 * kv;
    a->vote_bytes = votes;
    a->bytes = a->scores.bytes + a->values.bytes;
}

void veda_attention_at(const struct veda_point *pt, struct veda_attention *ret)
{
    const struct veda_params *p = pt->p;
    double heads = pt->layers * pt->batch * pt->device_kv_heads * pt->group; /* query heads of a device, one after the other */
    double cycle_s = heads / pt->clock_hz;                                   /* of all of them */
    double elements = pt->positions * cycle_s, exps = (double)p->sfu_exp, norms = dse_min(exps, (double)p->sfu_div);
    bool serial = p->softmax == VEDA_ELEMENT_SERIAL;
    const double widening = veda_widening_cycles(pt);
    double vote_s = pt->policy->counts ? elements / (double)p->vote_lanes : 0;

    *ret = (struct veda_attention){0};
    move(pt, ret);
    finish_period(&ret->scores, (veda_scores_cycles(pt) + widening) * cycle_s, serial ? elements / exps : 0,
                  pt->policy->drained ? vote_s : 0);
    finish_period(&ret->values, (veda_values_cycles(pt) + widening) * cycle_s, serial ? elements / norms : 0, vote_s);
    if (!serial) ret->softmax_s = (double)p->softmax_passes * elements / norms;
    if (p->drain == VEDA_DRAIN_TILE)
        ret->drain_s = pt->queries * dse_ceil(dse_min(pt->longest, (double)p->sfu_fifo) / exps) * cycle_s;
    veda_attention_sum(ret);
    ret->ops = 2 * DSE_OPS_PER_MAC * pt->layers * pt->batch * pt->kv_heads * pt->group * pt->pairs * pt->d;
    ret->value_ops = ret->ops / 2;
    ret->widened =
        dse_cache_widening(&p->workload) / DSE_OPS_PER_MAC * 2 * pt->layers * pt->batch * pt->kv_heads * rows_read(pt) * pt->d;
}
