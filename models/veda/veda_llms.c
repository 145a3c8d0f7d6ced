/* LLMs of today on VEDA, and several chips: operator by operator (E32 to E35). */
#include "veda_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

bool veda_is_simple(const struct dse_workload *w)
{
    return !dse_workload_unknown(w, DSE_CAN_SCALES);
}

/* ---- what may not be ------------------------------------------------------------------------------------------------------ */

double veda_vectors_bytes(const struct dse_workload *w)
{
    const struct dse_llm *llm = w->llm;
    const int64_t inner = dse_max_i64(llm->ffn, dse_max_i64(llm->moe.expert_ffn, llm->moe.shared_ffn));
    return VEDA_ACTIVATION_BYTES * ((double)llm->hidden + dse_ceil((double)inner / (double)dse_degree(w->tensor_parallel)));
}

/* With as many positions as a chip holds at any time. */
static double footprint_of(const struct veda_point *pt)
{
    struct dse_workload w = pt->p->workload;
    w.context = (int64_t)pt->held;
    return dse_workload_footprint(&w);
}

const char *veda_layers_check(const struct veda_point *pt)
{
    const struct veda_params *p = pt->p;
    const struct dse_workload *w = &p->workload;
    const bool evicts = !pt->policy->keeps_all;
    if (p->devices > 1) return "devices above 1 need a dense LLM without parallelism, drafts, chunks or context_spread (devices)";
    if (evicts && (w->speculation.draft_tokens > 0 || w->chunk_tokens > 0 || w->context_spread > 0))
        return "eviction cannot be combined with draft_tokens, chunk_tokens or context_spread";
    if (w->phase == DSE_DECODE && p->request.generate > 0 && (w->chunk_tokens > 0 || w->context_spread > 0))
        return "generate cannot be combined with chunk_tokens or context_spread";
    if (veda_vectors_bytes(w) > p->buffer_kib * DSE_KIB)
        return "the on-chip buffer does not hold the vectors of one token (buffer_kib)";
    if (footprint_of(pt) > p->dram.capacity_gib * DSE_GIB) return "weights and KV cache do not fit the DRAM (capacity_gib)";
    return dse_links_check(&p->links, (double)dse_workload_chips(w));
}

/* ---- linear layers and recurrences: E32 ------------------------------------------------------------------------------------ */

/* Its inputs come one by one, after a norm or where it widens; else its outputs do (E11). */
static bool is_outer(const struct dse_op *op)
{
    switch (op->role) {
    case DSE_ROLE_QUERY_UP:
    case DSE_ROLE_LATENT_UP:
    case DSE_ROLE_EXPERT_UP:
    case DSE_ROLE_EXPERT_LATENT_UP:
    case DSE_ROLE_SHARED_UP: return true;
    default: return op->follows_norm;
    }
}

/* Columns that are activations: keys and values go to the cache, a gate is multiplied in at once (E11). */
static double outputs_of(const struct veda_point *pt, const struct dse_op *op)
{
    const struct dse_workload *w = &pt->p->workload;
    const struct dse_llm *llm = op->is_draft && w->speculation.drafter == DSE_DRAFT_LLM ? w->speculation.draft : pt->llm;
    const double tensor = (double)dse_degree(w->tensor_parallel), n = (double)op->n;
    if (op->has_gate) return n / 2;
    if (op->role != DSE_ROLE_QUERY_KEY_VALUE) return n;
    return n - 2 * dse_ceil((double)llm->kv_heads / tensor) * (double)llm->head_dim;
}

/* E11: tiles of one matrix. How many matrices of experts there are is a mean, whose rounding must not make one more. */
static double tiles_of(const struct veda_point *pt, const struct dse_op *op)
{
    static const double rounding = 1e-12;
    const double each = op->weight_bytes / ((double)op->repeat * op->copies);
    return dse_ceil(each / (pt->buffer_bytes / 2) * (1 - rounding));
}

/* Matrices of a layer that come one after another: experts with work, or a head's each, of which a list has as many as all
 * layers. */
static double layers_of(const struct dse_oplist *list, const struct dse_op *op)
{
    if (!op->is_per_head) return (double)op->repeat;
    for (int i = 0; i < list->n_attentions; i++) {
        const struct dse_attention *a = &list->attention[i];
        if (a->values_in_keys && a->is_draft == op->is_draft && op->repeat == a->layers * a->heads) return (double)a->layers;
    }
    return (double)op->repeat;
}

void veda_layers_shape(const struct veda_point *pt, const struct dse_oplist *list, const struct dse_op *op,
                       struct veda_linear_shape *ret)
{
    const double layers = layers_of(list, op), all = (double)op->repeat * op->copies, copies = all / layers;
    const double k = (double)op->k, outputs = outputs_of(pt, op), rows = dse_ceil(op->rows);
    const bool made = op->kv_read_bytes > 0, fit = veda_rows_fit(pt, op->rows, k + outputs);
    *ret = (struct veda_linear_shape){
        .outer = is_outer(op),
        .norm = op->follows_norm,
        .instances = layers,
        .rows = rows,
        .k = k,
        .n = (double)op->n,
        .weight_bytes = op->weight_bytes / layers,
        .new_bytes = op->kv_write_bytes / layers,
        .tiles = dse_max(1, dse_floor(copies * tiles_of(pt, op) + 0.5)),
    };
    if (made) {
        ret->read_bytes = op->kv_read_bytes / (all * op->rows);
        ret->write_bytes = VEDA_ACTIVATION_BYTES * (double)op->n;
    } else if (!fit) {
        ret->read_bytes = VEDA_ACTIVATION_BYTES * k;
        ret->write_bytes = VEDA_ACTIVATION_BYTES * copies * outputs;
    }
}

/* Keys and values that are made of latents are written, and the latents read again for each tile of the weights. */
static void linear_of(const struct veda_point *pt, const struct dse_op *op, struct veda_linear *ret)
{
    const double instances = (double)op->repeat * op->copies, k = (double)op->k, n = (double)op->n;
    const double cycles = instances * op->rows * veda_gemv_cycles(&pt->array, is_outer(op) ? VEDA_OUTER : VEDA_INNER, k, n);
    const double outputs = outputs_of(pt, op);
    *ret = (struct veda_linear){.name = op->name,
                                .gemv_s = cycles / pt->clock_hz,
                                .weight_bytes = op->weight_bytes,
                                .ops = op->ops,
                                .row_elements = k + outputs};
    if (!veda_rows_fit(pt, op->rows, ret->row_elements)) {
        const double tiles = tiles_of(pt, op);
        const bool made = op->kv_read_bytes > 0;
        ret->input_bytes = made ? op->kv_read_bytes * (tiles - 1) : VEDA_ACTIVATION_BYTES * instances * op->rows * k * tiles;
        ret->output_bytes = made ? 0 : VEDA_ACTIVATION_BYTES * instances * op->rows * outputs;
    }
    ret->bytes = op->weight_bytes + op->kv_write_bytes + op->kv_read_bytes + ret->input_bytes + ret->output_bytes;
    if (op->kv_read_bytes > 0) ret->bytes += VEDA_ACTIVATION_BYTES * instances * op->rows * n; /* keys and values that are made */
    ret->weights_s = op->weight_bytes * pt->stream_s;
    ret->dram_s = ret->bytes * pt->stream_s;
    ret->time_s = dse_max(ret->gemv_s, ret->dram_s);
    ret->norm_elements = op->follows_norm ? (double)op->repeat * op->rows * k : 0;
    ret->norm_s = ret->norm_elements / ((double)pt->p->sfu_div * pt->clock_hz);
}

/* On the PEs, an element of the state a cycle each. */
static void recurrence_of(const struct veda_point *pt, const struct dse_op *op, struct veda_linear *ret)
{
    *ret = (struct veda_linear){.name = op->name,
                                .gemv_s = op->ops / DSE_OPS_PER_MAC / (pt->array.pes * pt->clock_hz),
                                .bytes = op->kv_read_bytes + op->kv_write_bytes,
                                .ops = op->ops};
    ret->dram_s = ret->bytes * pt->stream_s;
    ret->time_s = dse_max(ret->gemv_s, ret->dram_s);
}

void veda_layers_linear(const struct veda_point *pt, struct veda_layers *s, const struct dse_op *op)
{
    struct veda_linear *l = &s->op[s->n++];
    if (op->kind == DSE_OP_RECURRENCE)
        recurrence_of(pt, op, l);
    else
        linear_of(pt, op, l);
    s->norm_ops += l->norm_elements;
    s->sum.norm_s += pt->p->softmax == VEDA_STAGE ? l->norm_s : dse_max(0, l->norm_s - l->time_s);
    veda_layers_add_linear(s, l);
}

/* ---- sums -------------------------------------------------------------------------------------------------------------------- */

static void add_period(struct veda_period *sum, const struct veda_period *t)
{
    sum->gemv_s += t->gemv_s;
    sum->dram_s += t->dram_s;
    sum->sfu_s += t->sfu_s;
    sum->vote_s += t->vote_s;
    sum->time_s += t->time_s;
    sum->bytes += t->bytes;
}

void veda_layers_add_linear(struct veda_layers *s, const struct veda_linear *l)
{
    struct veda_step *sum = &s->sum;
    sum->linear_s += l->time_s;
    sum->weight_bytes += l->weight_bytes;
    sum->bytes += l->bytes;
    sum->ops += l->ops;
    sum->gemv_s += l->gemv_s;
    *(l->gemv_s > l->dram_s ? &sum->compute_bound_s : &sum->dram_bound_s) += l->time_s;
}

void veda_layers_add_attention(struct veda_layers *s, const struct veda_attention *a, const struct veda_work *w)
{
    struct veda_attention *sum = &s->sum.attention;
    add_period(&sum->scores, &a->scores);
    add_period(&sum->values, &a->values);
    sum->softmax_s += a->softmax_s;
    sum->drain_s += a->drain_s;
    sum->time_s += a->time_s;
    sum->softmax_exposed_s += a->softmax_exposed_s;
    sum->vote_exposed_s += a->vote_exposed_s;
    sum->kv_bytes += a->kv_bytes;
    sum->vote_bytes += a->vote_bytes;
    sum->bytes += a->bytes;
    sum->ops += a->ops;
    sum->value_ops += a->value_ops;
    sum->widened += a->widened;
    s->attention.seconds += w->seconds;
    s->attention.macs += w->macs;
    s->attention.bytes += w->bytes;
    s->attention.sfu_ops += w->sfu_ops;
    s->attention.votes += w->votes;
    s->sum.bytes += a->bytes;
    s->sum.ops += a->ops;
    s->sum.gemv_s += a->scores.gemv_s + a->values.gemv_s;
    const struct veda_period *periods[] = {&a->scores, &a->values};
    for (int i = 0; i < 2; i++) {
        const double busy = dse_max(periods[i]->gemv_s, periods[i]->dram_s);
        *(periods[i]->gemv_s > periods[i]->dram_s ? &s->sum.compute_bound_s : &s->sum.dram_bound_s) += busy;
    }
}

/* ---- several chips: E34, E35 ------------------------------------------------------------------------------------------------ */

static void add_collective(const struct veda_point *pt, struct veda_layers *s, const struct dse_op *op)
{
    struct dse_exchange_cost cost;
    dse_exchange_at(&pt->p->links, &op->exchange, &cost);
    s->communication_s += (double)op->repeat * cost.seconds;
    s->link_joules += (double)op->repeat * cost.joules;
}

/* Seconds of a chip's passes; everything else of all chips. */
static void scale_linear(struct veda_linear *l, double passes, double all)
{
    double *const times[] = {&l->gemv_s, &l->dram_s, &l->time_s, &l->norm_s, &l->weights_s};
    double *const amounts[] = {&l->weight_bytes, &l->bytes, &l->ops};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) *times[i] *= passes;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) *amounts[i] *= all;
}

static void scale_period(struct veda_period *t, double passes, double all)
{
    t->gemv_s *= passes;
    t->dram_s *= passes;
    t->sfu_s *= passes;
    t->vote_s *= passes;
    t->time_s *= passes;
    t->bytes *= all;
}

static void scale(struct veda_layers *s, double passes, double all)
{
    struct veda_step *sum = &s->sum;
    struct veda_attention *a = &sum->attention;
    double *const times[] = {&sum->norm_s,          &sum->linear_s,     &sum->compute_bound_s, &sum->dram_bound_s,
                             &sum->gemv_s,          &a->softmax_s,      &a->drain_s,           &a->time_s,
                             &a->softmax_exposed_s, &a->vote_exposed_s, &s->communication_s,   &s->attention.seconds};
    double *const amounts[] = {&sum->weight_bytes,
                               &sum->bytes,
                               &sum->ops,
                               &a->kv_bytes,
                               &a->vote_bytes,
                               &a->bytes,
                               &a->ops,
                               &a->value_ops,
                               &a->widened,
                               &s->attention.macs,
                               &s->attention.bytes,
                               &s->attention.sfu_ops,
                               &s->attention.votes,
                               &s->norm_ops,
                               &s->link_joules};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) *times[i] *= passes;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) *amounts[i] *= all;
    for (int i = 0; i < s->n; i++) scale_linear(&s->op[i], passes, all);
    scale_period(&a->scores, passes, all);
    scale_period(&a->values, passes, all);
}

int64_t veda_mean_context(const struct veda_params *p)
{
    const struct dse_request *r = &p->request;
    return p->workload.phase == DSE_DECODE && r->generate > 0 ? r->prompt + (r->generate + 1) / 2 : p->workload.context;
}

static void expand(const struct veda_point *pt, const struct dse_draw *draw, struct dse_oplist *ret)
{
    struct dse_workload w = pt->p->workload;
    w.context = veda_mean_context(pt->p);
    if (draw)
        dse_workload_expand_drawn(&w, -1, draw, ret);
    else
        dse_workload_expand(&w, ret);
}

void veda_layers_begin(struct veda_layers *ret)
{
    ret->n = 0;
    ret->sum = (struct veda_step){0};
    ret->attention = (struct veda_work){0};
    ret->communication_s = ret->link_joules = ret->norm_ops = 0;
}

void veda_layers_parts(const struct veda_point *pt, const struct dse_draw *draw, struct veda_layers *ret)
{
    veda_layers_begin(ret);
    expand(pt, draw, &ret->list);
    for (int i = 0; i < ret->list.n; i++) {
        const struct dse_op *op = &ret->list.op[i];
        if (op->kind == DSE_OP_LINEAR || op->kind == DSE_OP_RECURRENCE) veda_layers_linear(pt, ret, op);
        if (op->kind == DSE_OP_COLLECTIVE) add_collective(pt, ret, op);
    }
    for (int i = 0; i < ret->list.n_attentions; i++) {
        struct veda_kind kind;
        struct veda_attention a;
        struct veda_work w;
        veda_kind_init(&kind, pt, &ret->list.attention[i]);
        veda_kind_at(&kind, &a, &w);
        veda_layers_add_attention(ret, &a, &w);
    }
}

void veda_layers_total(const struct veda_point *pt, struct veda_layers *ret)
{
    const struct dse_workload *w = &pt->p->workload;
    const double stages = (double)dse_degree(w->pipeline_parallel), passes = (double)dse_workload_passes(w);
    struct veda_step *sum = &ret->sum;
    scale(ret, passes, passes * pt->devices);
    const double working = sum->linear_s + sum->attention.time_s + sum->norm_s + ret->communication_s;
    ret->bubble_s = stages > passes ? working / passes * (stages - passes) : 0;
    sum->exchange_s = ret->communication_s;
    sum->time_s = working + ret->bubble_s;
    sum->latency_bound_s = sum->time_s - sum->compute_bound_s - sum->dram_bound_s;
    ret->work = ret->attention;
    ret->work.seconds = sum->time_s;
    ret->work.macs = sum->ops / DSE_OPS_PER_MAC + sum->attention.widened;
    ret->work.bytes = sum->bytes;
    ret->work.sfu_ops += ret->norm_ops;
    ret->work.link_joules = ret->link_joules;
}

void veda_layers_end(struct veda_point *pt, struct veda_layers *ret)
{
    pt->devices = (double)dse_workload_chips(&pt->p->workload);
    pt->tokens = dse_workload_tokens(&pt->p->workload);
    veda_layers_total(pt, ret);
}

void veda_layers_at(struct veda_point *pt, struct veda_layers *ret)
{
    veda_layers_parts(pt, NULL, ret);
    veda_layers_end(pt, ret);
}

double veda_layers_whole(struct veda_point *pt, const struct veda_layers *s)
{
    double seconds = 0;
    if (pt->policy->keeps_all) return s->sum.attention.time_s;
    veda_point_keep_all(pt);
    for (int i = 0; i < s->list.n_attentions; i++) {
        struct veda_kind kind;
        struct veda_attention a;
        struct veda_work w;
        veda_kind_init(&kind, pt, &s->list.attention[i]);
        veda_kind_at(&kind, &a, &w);
        seconds += a.time_s;
    }
    return seconds * (double)dse_workload_passes(&pt->p->workload);
}

/* ---- breakdown ------------------------------------------------------------------------------------------------------------ */

static void add_part(struct dse_breakdown *out, const struct veda_power *power, const char *name, const char *bound, double ops,
                     const struct veda_work *work)
{
    const struct dse_joules j = veda_joules_of(power, work);
    dse_breakdown_merge(out, dse_part_of(name, 0, bound, work->seconds, j.work, work->bytes, ops));
}

static void break_down(const struct veda_point *pt, const struct veda_layers *s, const struct veda_power *power,
                       struct dse_breakdown *out)
{
    const char *compute = dse_bound_names[DSE_BOUND_COMPUTE], *dram = dse_bound_names[DSE_BOUND_DRAM],
               *latency = dse_bound_names[DSE_BOUND_LATENCY];
    const struct veda_attention *a = &s->sum.attention;
    for (int i = 0; i < s->n; i++) {
        const struct veda_work work = veda_linear_work(&s->op[i]);
        add_part(out, power, s->op[i].name, s->op[i].gemv_s > s->op[i].dram_s ? compute : dram, s->op[i].ops, &work);
    }
    const struct veda_work norms = {.seconds = s->sum.norm_s, .sfu_ops = s->norm_ops},
                           exchange = {.seconds = s->communication_s, .link_joules = s->link_joules},
                           bubble = {.seconds = s->bubble_s};
    const bool computes = a->scores.gemv_s + a->values.gemv_s > a->scores.dram_s + a->values.dram_s;
    if (s->list.n_attentions > 0) add_part(out, power, "attention", computes ? compute : dram, a->ops, &s->attention);
    add_part(out, power, "norms", latency, 0, &norms);
    if (s->communication_s > 0) add_part(out, power, "communication", latency, 0, &exchange);
    if (s->bubble_s > 0) add_part(out, power, "bubble", latency, 0, &bubble);
    const struct dse_joules j = veda_joules_of(power, &s->work);
    dse_breakdown_joules(out, &j, pt->p->power);
}

/* Of one chip: with the operators of the step, where those are at as many positions as are held. */
static double held_bytes(const struct veda_point *pt, const struct veda_layers *s)
{
    const struct dse_workload *w = &pt->p->workload;
    if (pt->held != (double)veda_mean_context(pt->p) || w->context != veda_mean_context(pt->p)) return footprint_of(pt);
    return dse_workload_footprint_of(w, &s->list);
}

void veda_layers_report(const struct veda_point *pt, const struct veda_layers *s, double whole_s, struct veda_metrics *m,
                        struct dse_breakdown *breakdown)
{
    struct veda_power power;
    veda_report(pt, &s->sum, &s->work, whole_s, m, &power);
    m->dram_footprint_gib = held_bytes(pt, s) / DSE_GIB;
    if (breakdown) break_down(pt, s, &power, breakdown);
}
