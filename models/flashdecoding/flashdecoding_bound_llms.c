/* Bounds of steps of LLMs with layers of several kinds, on several chips, or of more than one token a sequence:
 * flashdecoding_llms.c, E36 to E40, in its order. Kernels are those of the part's operators, at their least on the fast machine and
 * at their most on the slow one. */
#include "flashdecoding_bound.h"
#include "flashdecoding_layers.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

static struct dse_interval at_least(struct dse_interval a, double least)
{
    return (struct dse_interval){dse_max(a.lo, least), dse_max(a.hi, least)};
}

/* ---- the same kernels ------------------------------------------------------------------------------------------------------ */

static bool shapes_agree(const struct fd_box *b, const struct dse_attention *lo, const struct dse_attention *hi)
{
    const int64_t tile_lo = b->lo.attention_tile, tile_hi = b->hi.attention_tile;
    const bool prefill = b->lo.workload.phase == DSE_PREFILL, measured = b->lo.kernel_losses == FD_MEASURED;
    const bool all_long = lo->queries > tile_hi, none_long = hi->queries <= tile_lo;
    struct fd_attention_shape least, most;
    fd_shape_of(&least, &b->fast, lo);
    fd_shape_of(&most, &b->slow, hi);
    if (!prefill && !all_long && !none_long) return false;
    if (least.tensor != most.tensor || least.limited != most.limited) return false;
    if (lo->values_in_keys && b->lo.latent_heads != b->hi.latent_heads) return false;
    return !(measured && least.prompt && least.limited) || tile_lo == tile_hi;
}

/* The layer at both ends, with activations as points have them. */
static void layers_of(const struct fd_box *b, const struct dse_op *lo, const struct dse_op *hi, struct fd_expert_layer *ret_lo,
                      struct fd_expert_layer *ret_hi)
{
    const struct fd_operands least = fd_operands_of(&b->least, lo), most = fd_operands_of(&b->most, hi);
    const struct fd_range r = fd_range_of(b, &least, &most);
    fd_expert_layer_of(ret_lo, &b->least, lo);
    fd_expert_layer_of(ret_hi, &b->most, hi);
    ret_lo->activation_bits = r.least.activation_bits;
    ret_hi->activation_bits = r.most.activation_bits;
}

/* E31: where tokens vary, experts that are all alike do one thing; those of a power law are drawn. */
static bool experts_agree(const struct fd_box *b, const struct dse_op *lo, const struct dse_op *hi)
{
    struct fd_expert_layer least, most;
    if (b->lo.dataflow != FD_BY_VENDOR || lo->role != DSE_ROLE_EXPERT_UP) return true;
    layers_of(b, lo, hi, &least, &most);
    if ((least.activation_bits < FD_WIDE_BITS) != (most.activation_bits < FD_WIDE_BITS))
        return false; /* kernels that narrow them */
    const double each_lo = fd_experts_each(&least), each_hi = fd_experts_each(&most);
    const bool straddles = least.tokens <= dse_max(each_lo, each_hi) && most.tokens > dse_min(each_lo, each_hi);
    if (straddles && b->lo.expert_tiles == FD_DEFAULT) return false;
    return least.tokens == most.tokens || b->lo.workload.routing != DSE_ROUTING_POWER_LAW;
}

bool fd_parts_agree(const struct fd_box *b)
{
    const struct dse_oplist *lo = b->ops_least, *hi = b->ops_most;
    if (b->lo.elementwise_kernels == 0 && b->hi.elementwise_kernels > 0) return false;
    for (int i = 0; i < lo->n_attentions; i++)
        if (!shapes_agree(b, &lo->attention[i], &hi->attention[i])) return false;
    for (int i = 0; i < lo->n; i++)
        if (!experts_agree(b, &lo->op[i], &hi->op[i])) return false;
    return true;
}

/* ---- a pass ---------------------------------------------------------------------------------------------------------------- */

struct walk {
    struct fd_step_bound *s;
    const struct fd_box *b;
    int at;                                   /* the operator */
    struct dse_interval scalar_ops;           /* of element-wise operators */
    struct dse_interval rest_s;               /* element-wise operators and states: with what they wait */
    struct dse_interval launches;             /* kernels of a pass */
    struct fd_experts experts_lo, experts_hi; /* of one layer, with dataflow = vendor */
};

static const struct dse_op *least_of(const struct walk *w)
{
    return &w->b->ops_least->op[w->at];
}

static const struct dse_op *most_of(const struct walk *w)
{
    return &w->b->ops_most->op[w->at];
}

static struct dse_interval repeats(const struct walk *w)
{
    return dse_iv((double)least_of(w)->repeat, (double)most_of(w)->repeat);
}

static void add(struct dse_interval *sum, struct dse_interval what)
{
    *sum = dse_iv_add(*sum, what);
}

/* E14: kernels of an operator one after the other, each of `busy`, and at any clock of `clocked`. */
static void take(struct walk *w, struct dse_interval *sum, struct dse_interval count, struct dse_interval kernels,
                 struct dse_interval busy, struct dse_interval clocked)
{
    const struct fd_launched l = fd_launched_bound(w->b, busy, kernels), any = fd_launched_bound(w->b, clocked, kernels);
    add(sum, dse_iv_mul(count, l.each));
    add(&w->s->wait_s, dse_iv_mul(count, l.wait));
    add(&w->s->kernels_s, dse_iv_mul(count, busy));
    add(&w->s->clocked_s, dse_iv_mul(count, any.each));
    add(&w->s->clocked_busy_s, dse_iv_mul(count, clocked));
    add(&w->launches, dse_iv_mul(count, kernels));
}

static void move(struct walk *w, struct dse_interval bytes, struct dse_interval ops)
{
    add(&w->s->step.bytes, bytes);
    add(&w->s->step.ops, ops);
}

static struct dse_interval ops_of(const struct walk *w)
{
    return dse_iv(least_of(w)->ops, most_of(w)->ops);
}

/* ---- matrices -------------------------------------------------------------------------------------------------------------- */

static struct fd_gemm linear_gemm(const struct fd_params *p, const struct dse_op *op)
{
    const double kernels = fd_kernels_of(p, op), prompt = p->workload.phase == DSE_PREFILL ? 1 : 0;
    return (struct fd_gemm){.m = op->rows,
                            .k = (double)op->k,
                            .n = (double)op->n / kernels,
                            .extra_bytes = (op->kv_read_bytes + prompt * op->kv_write_bytes) / ((double)op->repeat * kernels),
                            .operands = fd_operands_of(p, op)};
}

static void add_linear(struct walk *w)
{
    const struct fd_box *b = w->b;
    const struct dse_op *lo = least_of(w), *hi = most_of(w);
    const struct fd_gemm_bound g = {linear_gemm(&b->least, lo), linear_gemm(&b->most, hi)};
    const struct fd_cost_bound c = fd_linear_bound(b, &g);
    const struct dse_interval joined_s = {fd_joined_bytes(&b->least, lo) / b->fast.vendor.stream,
                                          fd_joined_bytes(&b->most, hi) / b->slow.vendor.stream};
    const struct dse_interval count = dse_iv_scale(repeats(w), fd_kernels_of(&b->lo, lo)),
                              seconds = dse_iv_add(c.seconds, joined_s);
    take(w, &w->s->linear_s, count, dse_iv_of(1), seconds, seconds);
    move(w, dse_iv_mul(count, c.bytes), dse_iv_mul(ops_of(w), fd_op_share_bound(b, &g)));
}

/* E38. What activations move is set against the cache as a whole: a GEMM of that size counts less of it. */
static struct fd_gemm experts_gemm(const struct fd_machine *m, const struct dse_op *op, double copies_by_rows)
{
    const double k = (double)op->k, n = (double)op->n, moved = copies_by_rows * (k + n) * FD_ACTIVATION_BYTES;
    struct fd_gemm g = {.m = op->rows, .k = k, .n = n * op->copies, .operands = fd_operands_of(m->p, op)};
    g.extra_bytes = dse_max(0, moved - m->l2) - dse_max(0, op->rows * (k + g.n) * FD_ACTIVATION_BYTES - m->l2);
    return g;
}

/* Rows of all experts with work. What is whole but for rounding is made whole before it is multiplied by them. */
static double all_rows(const struct dse_op *op, double rounded)
{
    return rounded * op->ops / (DSE_OPS_PER_MAC * (double)op->repeat * (double)op->k * (double)op->n);
}

static struct fd_gemm_bound experts_gemms(const struct fd_box *b, const struct dse_op *lo, const struct dse_op *hi)
{
    const double slack = 2e-9;
    return (struct fd_gemm_bound){experts_gemm(&b->fast, lo, all_rows(lo, 1 - slack)),
                                  experts_gemm(&b->slow, hi, all_rows(hi, 1 + slack))};
}

/* E31: more tokens are more experts with work, and more rows of each. */
static void experts_by_vendor(struct walk *w, const struct fd_gemm_bound *g)
{
    struct fd_expert_layer lo, hi;
    layers_of(w->b, least_of(w), most_of(w), &lo, &hi);
    struct fd_box own;
    const struct fd_box *b = fd_box_for(w->b, g, &own);
    fd_experts_of_drawn(&w->experts_lo, &b->fast, &lo, &hi);
    fd_experts_of_drawn(&w->experts_hi, &b->slow, &hi, &lo);
}

static double vendor_experts_s(const struct fd_experts *e, const struct fd_machine *m, bool up)
{
    return e->kernels / 2 * m->vendor.kernel_fixed_s + (up ? e->up_s : e->down_s + e->elementwise_s);
}

static void add_experts(struct walk *w)
{
    const struct fd_box *b = w->b;
    const struct dse_op *lo = least_of(w), *hi = most_of(w);
    const struct fd_gemm_bound g = experts_gemms(b, lo, hi);
    const bool up = lo->role == DSE_ROLE_EXPERT_UP, by_vendor = b->lo.dataflow == FD_BY_VENDOR;
    struct dse_interval seconds, bytes, kernels = dse_iv_of(1);
    if (by_vendor) {
        if (up) experts_by_vendor(w, &g);
        seconds = dse_iv(vendor_experts_s(&w->experts_lo, &b->fast, up), vendor_experts_s(&w->experts_hi, &b->slow, up));
        kernels = dse_iv(w->experts_lo.kernels / 2, w->experts_hi.kernels / 2);
        if (kernels.lo > kernels.hi) kernels = dse_iv(kernels.hi, kernels.lo);
        const double extra_lo = dse_min(g.lo.extra_bytes, 0), extra_hi = dse_max(g.hi.extra_bytes, 0);
        bytes =
            dse_iv(dse_max(0, lo->weight_bytes / (double)lo->repeat + extra_lo), hi->weight_bytes / (double)hi->repeat + extra_hi);
    } else {
        const struct fd_cost_bound c = fd_linear_bound(b, &g);
        seconds = c.seconds;
        bytes = c.bytes;
    }
    take(w, &w->s->linear_s, repeats(w), kernels, seconds, seconds);
    move(w, dse_iv_mul(repeats(w), bytes), dse_iv_mul(ops_of(w), fd_op_share_bound(b, &g)));
}

/* ---- attention ------------------------------------------------------------------------------------------------------------- */

static void add_attention(struct walk *w)
{
    enum { DECODE_KERNELS = 2 };
    const struct fd_box *b = w->b;
    const int8_t at = least_of(w)->attention;
    const struct dse_attention *lo = &b->ops_least->attention[at], *hi = &b->ops_most->attention[at];
    const bool again = b->lo.softmax == FD_ASYNCHRONOUS;
    const struct dse_interval layers = {(double)lo->layers, (double)hi->layers};
    struct fd_attention_shape least, most;
    struct fd_attention_bound law;
    fd_shape_of(&least, &b->fast, lo);
    fd_shape_of(&most, &b->slow, hi);
    fd_attention_of_bound(&law, b, &least, &most);
    const struct dse_interval alone = dse_iv_max(law.compute_s, law.load_s);
    struct dse_interval update = dse_iv_of(0);
    if (!lo->is_index)
        update = at_least(dse_widened((again ? fd_async_factor(&b->lo) : fd_sync_factor(&b->lo)) - 1,
                                      (again ? fd_async_factor(&b->hi) : fd_sync_factor(&b->hi)) - 1, 4),
                          0);
    const struct dse_interval extra = dse_iv_mul(alone, update);
    const struct dse_interval busy = dse_iv_add(dse_iv_both(law.both_s, dse_iv_add(alone, law.fixed_s)), extra);
    const struct dse_interval some = {law.least_s.lo, law.both_s.hi};
    const struct dse_interval clocked = dse_iv_add(law.both_s, dse_iv_mul(update, some));
    take(w, &w->s->attention_s, layers, dse_iv_of(least.prompt ? 1 : DECODE_KERNELS), busy, clocked);
    add(&w->s->sync_s, dse_iv_mul(layers, extra));
    move(w, dse_iv_mul(layers, law.bytes), dse_iv_mul(layers, law.products));
}

/* ---- the rest -------------------------------------------------------------------------------------------------------------- */

/* E39. */
static double state_seconds(const struct fd_box *b, const struct fd_machine *m, const struct fd_params *rates,
                            const struct fd_params *waits, const struct dse_op *op)
{
    const bool measured = b->lo.kernel_losses == FD_MEASURED, prompt = b->lo.workload.phase == DSE_PREFILL;
    const double bytes = (op->kv_read_bytes + op->kv_write_bytes) / (double)op->repeat, ops = op->ops / (double)op->repeat;
    const double load_s = bytes / (measured ? m->vendor.stream : m->bandwidth * rates->attention_efficiency);
    const double compute_s = ops / (prompt ? m->tensor_peak * rates->compute_efficiency : m->vector_peak);
    const double apart_s = b->lo.kernel_losses == FD_APART ? waits->memory_latency_ns / FD_NS_PER_S : 0;
    return dse_max(load_s, compute_s) + (measured ? m->vendor.kernel_fixed_s : apart_s);
}

static void add_state(struct walk *w)
{
    const struct fd_box *b = w->b;
    const struct dse_op *lo = least_of(w), *hi = most_of(w);
    const struct dse_interval seconds =
        dse_widened(state_seconds(b, &b->fast, &b->hi, &b->lo, lo), state_seconds(b, &b->slow, &b->lo, &b->hi, hi), 4);
    take(w, &w->rest_s, repeats(w), dse_iv_of(1), seconds, seconds);
    move(w, dse_iv(lo->kv_read_bytes + lo->kv_write_bytes, hi->kv_read_bytes + hi->kv_write_bytes), ops_of(w));
}

static void add_scalars(struct walk *w)
{
    const struct fd_box *b = w->b;
    const struct dse_interval kernels = FD_OF(b, elementwise_kernels);
    add(&w->scalar_ops, ops_of(w));
    if (kernels.lo <= 0) return;
    const struct dse_interval each = dse_widened(least_of(w)->ops / (double)least_of(w)->repeat / b->fast.vector_peak,
                                                 most_of(w)->ops / (double)most_of(w)->repeat / b->slow.vector_peak, 4);
    take(w, &w->rest_s, repeats(w), kernels, each, each);
}

static void add_exchange(struct walk *w)
{
    struct dse_exchange_bound each;
    fd_exchange_bound(w->b, &least_of(w)->exchange, &most_of(w)->exchange, &each);
    const struct dse_interval seconds = dse_iv_mul(repeats(w), each.seconds);
    add(&w->s->link_j, dse_iv_mul(repeats(w), each.joules));
    add(&w->s->allreduce_s, seconds);
    add(&w->s->clocked_s, seconds);
    add(&w->launches, repeats(w));
}

static void add_operator(struct walk *w)
{
    const struct dse_op *op = most_of(w);
    switch (op->kind) {
    case DSE_OP_LINEAR:
        if (op->ops <= 0) break;
        if (fd_is_experts(op))
            add_experts(w);
        else
            add_linear(w);
        break;
    case DSE_OP_SCORES: add_attention(w); break;
    case DSE_OP_VALUES: break;
    case DSE_OP_ELEMENTWISE:
        if (!op->in_attention) add_scalars(w);
        break;
    case DSE_OP_RECURRENCE: add_state(w); break;
    case DSE_OP_COLLECTIVE:
        if (op->exchange.kind != DSE_ALL_GATHER) add_exchange(w);
        break;
    }
}

/* E14: fused kernels hide behind the linear operators; the longer of both counts. */
static struct dse_interval hidden_s(const struct walk *w)
{
    const struct fd_box *b = w->b;
    if (b->lo.elementwise_kernels > 0) return dse_iv_of(0);
    const struct dse_interval seconds = dse_iv_div(w->scalar_ops, dse_iv(b->slow.vector_peak, b->fast.vector_peak));
    const struct dse_interval longer = dse_iv_max(w->s->linear_s, seconds);
    return at_least(dse_iv_sub(longer, w->s->linear_s), 0);
}

/* ---- a step ---------------------------------------------------------------------------------------------------------------- */

/* E40, E14: of a pass the step: it works in `passes` of `stages`, and what the host has left of its launches comes on top. */
static struct dse_interval step_seconds(const struct fd_box *b, struct dse_interval pass_s, struct dse_interval passes,
                                        struct dse_interval launched_s)
{
    const double stages = (double)b->lo.workload.pipeline_parallel;
    const double lo = dse_product(stages - passes.lo, pass_s.lo) + dse_max(passes.lo * pass_s.lo, launched_s.lo);
    const double hi = dse_product(stages - passes.hi, pass_s.hi) + dse_max(passes.hi * pass_s.hi, launched_s.hi);
    return dse_widened(lo, hi, 8);
}

static struct dse_interval launched_s(const struct fd_box *b, struct dse_interval launches)
{
    if (b->lo.launches != FD_QUEUED) return dse_iv_of(0);
    const struct dse_interval all = dse_iv_mul(launches, FD_OF(b, launch_us));
    return dse_iv_scale(b->lo.workload.phase == DSE_PREFILL ? dse_iv_add(all, FD_OF(b, prompt_us)) : all, 1 / DSE_US_PER_S);
}

static struct fd_amounts share_out(const struct fd_amounts *step, struct dse_interval tokens)
{
    return (struct fd_amounts){dse_iv_div(step->seconds, tokens), dse_iv_div(step->busy_s, tokens), dse_iv_div(step->bytes, tokens),
                               dse_iv_div(step->ops, tokens)};
}

static void fill_step(struct walk *w, struct dse_interval passes)
{
    struct fd_step_bound *s = w->s;
    const struct fd_box *b = w->b;
    const double stages = (double)b->lo.workload.pipeline_parallel;
    const struct dse_interval host_s = dse_widened(fd_host_s(&b->lo), fd_host_s(&b->hi), 4), hidden = hidden_s(w);
    const struct dse_interval seconds = dse_iv_div(w->scalar_ops, dse_iv(b->slow.vector_peak, b->fast.vector_peak));
    const bool fused = b->lo.elementwise_kernels == 0;
    struct dse_interval linear_s = s->linear_s, clocked = s->clocked_s;
    if (fused) linear_s = dse_iv_max(linear_s, seconds);
    if (fused) clocked = dse_iv_add(clocked, dse_iv(0, seconds.hi));
    const struct dse_interval pass_s = dse_iv_add(dse_iv_add(linear_s, s->attention_s), dse_iv_add(s->allreduce_s, w->rest_s));
    const struct dse_interval launched = launched_s(b, dse_iv_mul(w->launches, passes));
    const struct dse_interval bubble_s = {dse_product(stages - passes.hi, pass_s.lo),
                                          dse_above(dse_product(stages - passes.lo, pass_s.hi), 4)};
    s->kernels_s = dse_iv_mul(passes, dse_iv_add(s->kernels_s, fused ? hidden : dse_iv_of(0)));
    s->clocked_busy_s = dse_iv_mul(passes, dse_iv_add(s->clocked_busy_s, fused ? dse_iv(0, seconds.hi) : dse_iv_of(0)));
    s->step.seconds = dse_iv_add(step_seconds(b, pass_s, passes, launched), host_s);
    s->clocked_s = dse_iv_add(step_seconds(b, clocked, passes, launched), host_s);
    s->step.busy_s = s->kernels_s;
    const struct dse_interval late_s = at_least(dse_iv_sub(launched, dse_iv_mul(passes, pass_s)), 0);
    s->wait_s = dse_iv_add(dse_iv_add(dse_iv_mul(passes, s->wait_s), bubble_s), dse_iv_add(host_s, late_s));
    struct dse_interval *const sums[] = {&s->linear_s, &s->attention_s, &s->sync_s,  &s->allreduce_s,
                                         &s->link_j,   &s->step.bytes,  &s->step.ops};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) *sums[i] = dse_iv_mul(passes, *sums[i]);
}

void fd_parts_bound(struct fd_step_bound *ret, const struct fd_box *b)
{
    struct walk w = {.s = ret, .b = b};
    const struct dse_workload_part part = {.lo = b->lo.workload, .hi = b->hi.workload};
    *ret = (struct fd_step_bound){.tokens = dse_workload_part_tokens(&part), .attention_load_s = {0, (double)INFINITY}};
    for (w.at = 0; w.at < b->ops_least->n; w.at++) add_operator(&w);
    fill_step(&w, dse_iv((double)dse_workload_passes(&b->least.workload), (double)dse_workload_passes(&b->most.workload)));
    ret->token = share_out(&ret->step, ret->tokens);
}

/* ---- the GEMM that is looked at -------------------------------------------------------------------------------------------- */

struct fd_gemm_bound fd_gemm_of_parts_bound(const struct fd_box *b, enum fd_gemm_choice which)
{
    if (which == FD_GIVEN) return fd_gemm_of_bound(b, which);
    const int i = fd_gemm_operator(b->ops_most, which);
    const struct dse_op *lo = &b->ops_least->op[i], *hi = &b->ops_most->op[i];
    if (fd_is_experts(lo)) return experts_gemms(b, lo, hi);
    return (struct fd_gemm_bound){linear_gemm(&b->least, lo), linear_gemm(&b->most, hi)};
}
