/* One step: linear layers (E11), norms (E12), several devices (E13), and the sum. */
#include "veda.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>

bool veda_rows_fit(const struct veda_point *pt, double rows, double elements)
{
    return rows <= 1 || VEDA_ACTIVATION_BYTES * rows * elements <= pt->buffer_bytes / 2;
}

/* After a norm an outer product, whose inputs come one by one; before a norm an inner product, whose outputs do (Fig. 1). */
static const enum veda_product products[VEDA_LINEARS] = {
    [VEDA_QKV] = VEDA_OUTER,      [VEDA_OUTPUT] = VEDA_INNER,  [VEDA_FFN_UP] = VEDA_OUTER,
    [VEDA_FFN_DOWN] = VEDA_INNER, [VEDA_LM_HEAD] = VEDA_OUTER,
};

/* Elements of an operator's output that are activations: keys and values go to the cache, a gate is multiplied in at once. */
static double activations_out(const struct veda_point *pt, const struct dse_op *op, int which)
{
    if (which == VEDA_QKV) return pt->kv_heads * pt->group * pt->d;
    return which == VEDA_FFN_UP ? (double)pt->llm->ffn : (double)op->n;
}

/* E13: the part of an operator's columns that the device with most has. */
static double device_share(const struct veda_point *pt, const struct dse_op *op)
{
    return dse_ceil((double)op->n / pt->devices) / (double)op->n;
}

/* E11: tiles that the weights of one instance come in. */
static double weight_tiles(const struct veda_point *pt, const struct dse_op *op, double share)
{
    return dse_ceil(op->weight_bytes / (double)op->repeat * share / (pt->buffer_bytes / 2));
}

/* E11: activations through the DRAM, of one instance. Weights of one row go straight into the array; those of several rows stay
 * in half of the buffer, a tile after the other, and the inputs of all rows pass by each tile. */
static void add_activations(const struct veda_point *pt, const struct dse_op *op, double share, double outputs,
                            struct veda_linear *l, double *device_bytes)
{
    double rows = (double)op->m, repeat = (double)op->repeat, k = (double)op->k;
    l->row_elements = k + outputs;
    if (veda_rows_fit(pt, rows, l->row_elements)) return;
    double each = VEDA_ACTIVATION_BYTES * repeat * rows;
    l->input_bytes = each * k * weight_tiles(pt, op, share);
    l->shared_input_bytes = each * k * (op->weight_bytes / repeat / (pt->buffer_bytes / 2));
    l->output_bytes = each * outputs;
    l->bytes += l->input_bytes * pt->devices + l->output_bytes;
    *device_bytes += l->input_bytes + l->output_bytes * share;
}

/* E12: the norm before an outer product. */
static double norm_seconds(const struct veda_point *pt, const struct dse_op *op, int which)
{
    if (products[which] != VEDA_OUTER) return 0;
    return (double)op->repeat * (double)op->m * (double)pt->llm->hidden / ((double)pt->p->sfu_div * pt->clock_hz);
}

static void linear_at(const struct veda_point *pt, const struct dse_op *op, int which, struct veda_linear *ret)
{
    double device_n = dse_ceil((double)op->n / pt->devices), share = device_share(pt, op);
    double cycles = (double)op->repeat * (double)op->m * veda_gemv_cycles(&pt->array, products[which], (double)op->k, device_n);
    double device_bytes = op->weight_bytes * share + op->kv_write_bytes * pt->device_kv_heads / pt->kv_heads;
    *ret = (struct veda_linear){
        .name = op->name,
        .gemv_s = cycles / pt->clock_hz,
        .norm_s = norm_seconds(pt, op, which),
        .weights_s = op->weight_bytes * share * pt->stream_s,
        .weight_bytes = op->weight_bytes,
        .bytes = op->weight_bytes + op->kv_write_bytes,
        .ops = op->ops,
    };
    add_activations(pt, op, share, activations_out(pt, op, which), ret, &device_bytes);
    ret->dram_s = device_bytes * pt->stream_s;
    ret->time_s = dse_max(ret->gemv_s, ret->dram_s);
}

/* E12: element by element on the serial input of the product, or before it. */
static double norm_exposed(const struct veda_point *pt, const struct veda_linear *l)
{
    return pt->p->softmax == VEDA_STAGE ? l->norm_s : dse_max(0, l->norm_s - l->time_s);
}

static void expand(const struct veda_point *pt, struct dse_oplist *ret)
{
    struct dse_workload w = pt->p->workload;
    if (!pt->prefill) w.context = 1; /* attention is not taken from the list */
    dse_workload_expand(&w, ret);
}

void veda_linear_shape(const struct veda_point *pt, int which, struct veda_linear_shape *ret)
{
    struct dse_oplist ops;
    expand(pt, &ops);
    const struct dse_op *op = ops.op;
    for (int i = 0; op->kind != DSE_OP_LINEAR || i++ < which;) op++;
    double share = device_share(pt, op), outputs = activations_out(pt, op, which), repeat = (double)op->repeat;
    bool fit = veda_rows_fit(pt, (double)op->m, (double)op->k + outputs);
    *ret = (struct veda_linear_shape){
        .outer = products[which] == VEDA_OUTER,
        .norm = products[which] == VEDA_OUTER,
        .instances = repeat,
        .rows = (double)op->m,
        .k = (double)op->k,
        .n = dse_ceil((double)op->n / pt->devices),
        .weight_bytes = op->weight_bytes / repeat * share,
        .new_bytes = op->kv_write_bytes / repeat * pt->device_kv_heads / pt->kv_heads,
        .read_bytes = fit ? 0 : VEDA_ACTIVATION_BYTES * (double)op->k,
        .write_bytes = fit ? 0 : VEDA_ACTIVATION_BYTES * outputs * share,
        .tiles = weight_tiles(pt, op, share),
    };
}

static void add_linears(const struct veda_point *pt, struct veda_step *s)
{
    struct dse_oplist ops;
    expand(pt, &ops);
    for (int i = 0; i < ops.n; i++) {
        if (ops.op[i].kind != DSE_OP_LINEAR) continue;
        struct veda_linear *l = &s->linear[s->n_linear];
        linear_at(pt, &ops.op[i], s->n_linear, l);
        s->norm_s += norm_exposed(pt, l);
        s->linear_s += l->time_s;
        s->weight_bytes += l->weight_bytes;
        s->bytes += l->bytes;
        s->ops += l->ops;
        s->gemv_s += l->gemv_s;
        s->n_linear++;
    }
    assert(s->n_linear == VEDA_LINEARS);
}

/* What limits the longest of GEMV and DRAM. */
static void add_bound(struct veda_step *s, double gemv_s, double dram_s)
{
    if (gemv_s > dram_s)
        s->compute_bound_s += gemv_s;
    else
        s->dram_bound_s += dram_s;
}

void veda_step_sum(const struct veda_point *pt, struct veda_step *s)
{
    const struct veda_attention *a = &s->attention;
    if (pt->p->devices > 1) s->exchange_s = 2 * pt->layers * pt->p->exchange_us / DSE_US_PER_S;
    s->bytes += a->bytes;
    s->ops += a->ops;
    s->gemv_s += a->scores.gemv_s + a->values.gemv_s;
    s->time_s = s->linear_s + a->time_s + s->norm_s + s->exchange_s;
    for (int i = 0; i < s->n_linear; i++) add_bound(s, s->linear[i].gemv_s, s->linear[i].dram_s);
    add_bound(s, a->scores.gemv_s, a->scores.dram_s);
    add_bound(s, a->values.gemv_s, a->values.dram_s);
    s->latency_bound_s = s->time_s - s->compute_bound_s - s->dram_bound_s;
}

void veda_step_at(const struct veda_point *pt, struct veda_step *ret)
{
    *ret = (struct veda_step){0};
    add_linears(pt, ret);
    veda_attention_at(pt, &ret->attention);
    veda_step_sum(pt, ret);
}
