/* Attention of one kind of layers, as a point of its own (E33): what closed form and event level share. */
#include "veda_llms.h"

#include <dse/num.h>
#include <dse/units.h>

/* The machine as it sees one kind of layers: a point of its own, whose device is a chip. */
static void point_of(const struct veda_point *pt, const struct dse_attention *a, struct veda_point *ret)
{
    const double n = (double)a->positions;
    const bool triangle = pt->prefill && a->pairs == n * (n + 1) / 2;
    const bool own =
        a->mixer == DSE_FULL && !a->is_draft && a->queries == 1 && !pt->prefill; /* with the span that eviction leaves */
    *ret = *pt;
    ret->devices = 1;
    ret->layers = (double)a->layers;
    ret->batch = (double)a->sequences;
    ret->kv_heads = ret->device_kv_heads = (double)a->kv_heads;
    const int64_t group = a->heads / a->kv_heads; /* whole */
    ret->group = (double)group;
    if (own && pt->p->workload.context_spread <= 0 && pt->p->workload.chunk_tokens == 0) return;
    ret->policy = dse_eviction_at(0);
    ret->queries = (double)a->queries;
    ret->pairs = a->pairs;
    ret->longest = n;
    ret->span = (struct veda_span){.flat = ret->queries, .flat_length = a->pairs / ret->queries, .mean_of = 1};
    if (triangle && pt->p->causal == VEDA_SKIPPED) ret->span = (struct veda_span){.to = n, .mean_of = 1};
    if (triangle && pt->p->causal == VEDA_COMPUTED) ret->span = (struct veda_span){.flat = n, .flat_length = n, .mean_of = 1};
    ret->positions = veda_span_sum(&ret->span, 1);
}

static void set_row(struct veda_point *pt, const struct dse_attention *a, int64_t dim, double bytes)
{
    pt->d = (double)dim;
    veda_point_rows(pt, a->is_made ? VEDA_ACTIVATION_BYTES * pt->d : bytes / (double)a->kv_heads);
}

void veda_kind_init(struct veda_kind *ret, const struct veda_point *pt, const struct dse_attention *a)
{
    ret->of = a;
    ret->alike = a->key_dim == a->value_dim && a->key_bytes == a->value_bytes;
    point_of(pt, a, &ret->keys);
    set_row(&ret->keys, a, a->key_dim, a->key_bytes);
    if (ret->alike) return;
    ret->values = ret->keys;
    set_row(&ret->values, a, a->value_dim, a->value_bytes);
    ret->keys.pair_bytes = ret->values.pair_bytes = ret->keys.row_bytes + ret->values.row_bytes;
}

void veda_kind_at(const struct veda_kind *k, struct veda_attention *ret, struct veda_work *ret_work)
{
    struct veda_attention v = {0};
    veda_attention_at(&k->keys, ret);
    *ret_work = veda_attention_work(&k->keys, ret);
    if (k->alike) return;
    if (!k->of->is_index) veda_attention_at(&k->values, &v);
    ret->values = v.values;
    ret->kv_bytes = ret->kv_bytes / 2 + v.kv_bytes / 2;
    ret->bytes = ret->scores.bytes + ret->values.bytes;
    ret->value_ops = v.value_ops;
    ret->ops = ret->ops / 2 + v.value_ops;
    ret->widened = ret->widened / 2 + v.widened / 2;
    veda_attention_sum(ret);
    ret_work->seconds = ret->time_s;
    ret_work->macs = ret->ops / DSE_OPS_PER_MAC + ret->widened;
    ret_work->bytes = ret->bytes;
}
