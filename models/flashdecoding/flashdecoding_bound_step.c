/* Bounds of a step: flashdecoding_step.c, E13 to E16, in its order. */
#include "flashdecoding_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

static struct dse_interval microseconds(struct dse_interval a)
{
    return dse_iv_scale(a, 1 / DSE_US_PER_S);
}

static struct dse_interval at_least(struct dse_interval a, double least)
{
    return (struct dse_interval){dse_max(a.lo, least), dse_max(a.hi, least)};
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

struct fd_gemm_bound fd_gemm_of_bound(const struct fd_box *b, enum fd_gemm_choice which)
{
    struct fd_gemm_bound g = {fd_gemm_of(&b->least, which), fd_gemm_of(&b->most, which)};
    if (which == FD_GIVEN && b->lo.gemm_m == 0 && b->hi.gemm_m > 0) { /* of the phase, or given */
        struct fd_params phase = b->most;
        phase.gemm_m = 0;
        g.lo.m = 1;
        g.hi.m = dse_max(g.hi.m, fd_gemm_of(&phase, which).m);
    }
    return g;
}

struct fd_launched fd_launched_bound(const struct fd_box *b, struct dse_interval seconds, struct dse_interval kernels)
{
    if (b->lo.launches == FD_QUEUED) return (struct fd_launched){seconds, {0, 0}};
    const struct dse_interval launch = dse_iv_mul(kernels, microseconds(FD_OF(b, launch_us)));
    const struct fd_launched l = {.each = dse_iv_max(seconds, launch), .wait = at_least(dse_iv_sub(launch, seconds), 0)};
    /* The closed form subtracts: what is left of an equal pair is 0 but for rounding. */
    return l.wait.hi > 0 ? (struct fd_launched){l.each, {l.wait.lo, l.wait.hi + (dse_above(l.each.hi, 1) - l.each.hi)}} : l;
}

/* Of a token: no less than `least`, which is what each token takes whatever the others do. */
static struct dse_interval a_token(const struct fd_step_bound *s, struct dse_interval of_step, double least)
{
    const struct dse_interval share = dse_iv_div(of_step, s->tokens);
    return (struct dse_interval){dse_max(share.lo, dse_below(least, 4)), share.hi};
}

static void add(struct dse_interval *sum, struct dse_interval each, double count)
{
    *sum = dse_iv_add(*sum, dse_iv_scale(each, count));
}

static void add_linears(struct fd_step_bound *s, const struct fd_box *b)
{
    const struct dse_llm *llm = b->lo.workload.llm;
    const bool prefill = b->lo.workload.phase == DSE_PREFILL;
    for (int i = 0; i < FD_LINEARS; i++) {
        const double count = i == FD_LM_HEAD ? 1 : (double)llm->layers * (i == FD_FFN_UP ? (double)(llm->ffn_matrices - 1) : 1);
        const struct fd_gemm_bound g = fd_gemm_of_bound(b, (enum fd_gemm_choice)i);
        const struct fd_cost_bound c = fd_linear_bound(b, &g);
        const struct fd_launched l = fd_launched_bound(b, c.seconds, dse_iv_of(1));
        const struct dse_interval counted = dse_widened(DSE_OPS_PER_MAC * g.lo.k * g.lo.n, DSE_OPS_PER_MAC * g.hi.k * g.hi.n, 4);
        const struct dse_interval row = dse_iv_mul(counted, fd_op_share_bound(b, &g));
        const bool of_last = prefill && i == FD_LM_HEAD;
        const struct dse_interval ops = of_last ? dse_iv_div(row, FD_OF(b, workload.context)) : row;
        const double least = fd_row_seconds(b, &g) / (of_last ? (double)b->hi.workload.context : 1);
        add(&s->linear_s, l.each, count);
        add(&s->wait_s, l.wait, count);
        add(&s->kernels_s, c.seconds, count);
        add(&s->step.bytes, c.bytes, count);
        add(&s->step.ops, dse_iv_mul(row, dse_iv(g.lo.m, g.hi.m)), count);
        add(&s->token.seconds, a_token(s, l.each, least), count);
        add(&s->token.busy_s, a_token(s, c.seconds, least), count);
        add(&s->token.bytes, dse_iv_div(c.bytes, s->tokens), count);
        add(&s->token.ops, ops, count);
    }
}

/* ---- attention ------------------------------------------------------------------------------------------------------------- */

/* E13, E2, E3. */
static void add_attention(struct fd_step_bound *s, const struct fd_box *b)
{
    enum { DECODE_KERNELS = 2 };
    const bool again = b->lo.softmax == FD_ASYNCHRONOUS;
    const double kernels = b->lo.workload.phase == DSE_PREFILL ? 1 : DECODE_KERNELS, layers = (double)b->lo.workload.llm->layers;
    struct fd_attention_bound law;
    fd_attention_law_bound(&law, b);
    const struct dse_interval alone = dse_iv_max(law.compute_s, law.load_s);
    const struct dse_interval update = at_least(dse_widened((again ? fd_async_factor(&b->lo) : fd_sync_factor(&b->lo)) - 1,
                                                            (again ? fd_async_factor(&b->hi) : fd_sync_factor(&b->hi)) - 1, 4),
                                                0);
    const struct dse_interval extra = dse_iv_mul(alone, update);
    const struct dse_interval busy = dse_iv_add(dse_iv_both(law.both_s, dse_iv_add(alone, law.fixed_s)), extra);
    /* At any clock: loading takes what it takes. */
    const struct dse_interval known = dse_iv_max(law.compute_s, b->attention_load_s);
    const struct dse_interval some = {dse_max(law.least_s.lo, known.lo), dse_min(law.both_s.hi, known.hi)};
    const struct dse_interval clocked = dse_iv_add(law.both_s, dse_iv_mul(update, some));
    const struct fd_launched l = fd_launched_bound(b, busy, dse_iv_of(kernels));
    const double least = law.token_s.lo * (1 + update.lo);
    s->attention_load_s = b->lo.kernel_losses == FD_MEASURED ? dse_iv(0, (double)INFINITY) : law.load_s; /* at any clock */
    add(&s->attention_s, l.each, layers);
    add(&s->sync_s, extra, layers);
    add(&s->wait_s, l.wait, layers);
    add(&s->kernels_s, busy, layers);
    const struct fd_launched every = fd_launched_bound(b, clocked, dse_iv_of(kernels));
    add(&s->clocked_s, every.each, layers);
    add(&s->clocked_busy_s, clocked, layers);
    add(&s->step.bytes, law.bytes, layers);
    add(&s->step.ops, law.products, layers);
    add(&s->token.seconds, a_token(s, every.each, least), layers);
    add(&s->token.busy_s, a_token(s, clocked, least), layers);
    add(&s->token.bytes, law.token_bytes, layers);
    add(&s->token.ops, law.token_products, layers);
}

/* E33: the same at any clock; of a token its share of the step. */
static void add_technique(struct fd_step_bound *s, const struct fd_box *b)
{
    const double layers = (double)b->lo.workload.llm->layers;
    struct fd_technique lo, hi;
    fd_technique(&lo, &b->least, &b->fast, b->hi.attention_efficiency, b->hi.compute_efficiency);
    fd_technique(&hi, &b->most, &b->slow, b->lo.attention_efficiency, b->lo.compute_efficiency);
    const struct dse_interval seconds = dse_iv(lo.seconds, hi.seconds), bytes = dse_iv(lo.bytes, hi.bytes);
    s->technique_s = s->technique_bytes = dse_iv_of(0);
    if (!(hi.kernels > 0)) return;
    const struct fd_launched l = fd_launched_bound(b, seconds, dse_iv(lo.kernels, hi.kernels));
    add(&s->technique_s, l.each, layers);
    add(&s->technique_bytes, bytes, layers);
    add(&s->attention_s, l.each, layers);
    add(&s->wait_s, l.wait, layers);
    add(&s->kernels_s, seconds, layers);
    add(&s->clocked_s, l.each, layers);
    add(&s->clocked_busy_s, seconds, layers);
    add(&s->step.bytes, bytes, layers);
    add(&s->token.seconds, a_token(s, l.each, 0), layers);
    add(&s->token.busy_s, a_token(s, seconds, 0), layers);
    add(&s->token.bytes, dse_iv_div(bytes, s->tokens), layers);
}

/* ---- the rest ---------------------------------------------------------------------------------------------------------------- */

/* E14: kernels of their own come on top of the linear operators; where they are fused the longer of both counts. So `*sum`, the
 * seconds of linear operators, becomes that of both. */
static void join_elementwise(struct dse_interval *sum, const struct fd_box *b, struct dse_interval apart, struct dse_interval fused)
{
    const struct dse_interval on_top = dse_iv_add(*sum, apart), longer = dse_iv_max(*sum, fused);
    *sum = b->lo.elementwise_kernels > 0 ? on_top : b->hi.elementwise_kernels == 0 ? longer : dse_iv_hull(on_top, longer);
}

/* Linear operators are in linear_s and kernels_s: what is added to either is what they do not hide. */
static void add_elementwise(struct fd_step_bound *s, const struct fd_box *b, struct dse_interval *ret_s)
{
    const struct dse_interval kernels = {(double)dse_max_i64(1, b->lo.elementwise_kernels), (double)b->hi.elementwise_kernels};
    const struct dse_interval seconds = {fd_elementwise_ops(&b->least.workload) / b->fast.vector_peak,
                                         fd_elementwise_ops(&b->most.workload) / b->slow.vector_peak};
    const struct fd_launched l = fd_launched_bound(b, seconds, dse_iv_scale(kernels, (double)b->lo.workload.llm->layers));
    const bool some = b->hi.elementwise_kernels > 0, all = b->lo.elementwise_kernels > 0;
    struct dse_interval hidden = at_least(dse_iv_sub(seconds, s->linear_s), 0); /* what they do not hide of fused ones */
    if (some) hidden = all ? seconds : dse_iv_hull(hidden, seconds);
    s->kernels_s = dse_iv_add(s->kernels_s, hidden);
    s->clocked_busy_s = dse_iv_add(s->clocked_busy_s, all ? seconds : dse_iv(0, seconds.hi));
    s->wait_s = dse_iv_add(s->wait_s, all ? l.wait : dse_iv(0, some ? l.wait.hi : 0));
    *ret_s = s->linear_s;
    join_elementwise(ret_s, b, l.each, seconds);
    join_elementwise(&s->token.seconds, b, dse_iv_div(l.each, s->tokens), dse_iv_div(seconds, s->tokens));
    s->token.busy_s = dse_iv_add(s->token.busy_s, a_token(s, all ? seconds : dse_iv(0, seconds.hi), 0));
}

/* E15, E30: within a system. */
static struct dse_interval allreduce_bound(const struct fd_link *lo, const struct fd_link *hi, double devices,
                                           struct dse_interval bytes)
{
    struct fd_link fast = *hi, slow = *lo;
    fast.waits = lo->waits, slow.waits = hi->waits;
    return dse_widened(fd_allreduce(&fast, devices, bytes.lo), fd_allreduce(&slow, devices, bytes.hi), 16);
}

void fd_exchange_bound(const struct fd_box *b, const struct dse_exchange *x_lo, const struct dse_exchange *x_hi,
                       struct dse_exchange_bound *ret)
{
    struct fd_link lo, hi;
    fd_link_init(&lo, &b->lo);
    fd_link_init(&hi, &b->hi);
    const bool sum = x_lo->kind == DSE_ALL_REDUCE;
    if (sum && dse_boards_are_one_system(&lo.boards, x_hi)) {
        struct dse_exchange_cost least, most;
        fd_exchange_at(&lo, x_lo, &least);
        fd_exchange_at(&hi, x_hi, &most);
        ret->seconds = allreduce_bound(&lo, &hi, x_lo->devices, dse_iv(x_lo->bytes, x_hi->bytes));
        ret->bytes = dse_widened(least.bytes, most.bytes, 8);
        ret->joules = dse_widened(least.joules, most.joules, 8);
        return;
    }
    dse_boards_exchange_bound(&lo.boards, &hi.boards, x_lo, x_hi, ret);
    if (sum && lo.how == FD_RING) return;
    ret->seconds.lo = dse_max(ret->seconds.lo, lo.waits.launch_s);
    ret->seconds.hi = dse_max(ret->seconds.hi, hi.waits.launch_s);
}

/* It grows with bytes and waits, and falls with rates; over devices it does neither. */
static struct dse_exchange_bound allreduces(const struct fd_box *b, struct dse_interval bytes)
{
    struct dse_exchange_bound ret = {{(double)INFINITY, 0}, {(double)INFINITY, 0}, {(double)INFINITY, 0}}, one;
    for (int64_t devices = b->lo.workload.tensor_parallel; devices <= b->hi.workload.tensor_parallel; devices++) {
        const struct dse_exchange lo = {DSE_ALL_REDUCE, (double)devices, 1, bytes.lo, 1},
                                  hi = {DSE_ALL_REDUCE, (double)devices, 1, bytes.hi, 1};
        fd_exchange_bound(b, &lo, &hi, &one);
        ret.seconds = dse_iv_hull(ret.seconds, one.seconds);
        ret.joules = dse_iv_hull(ret.joules, one.joules);
    }
    return ret;
}

/* E15 within a system: hops, and what each device passes on, grow with the devices. */
static struct dse_interval rings(const struct fd_box *b, struct dse_interval bytes)
{
    const double least = (double)b->lo.workload.tensor_parallel, most = (double)b->hi.workload.tensor_parallel;
    const struct dse_interval hops = {2 * (least - 1), 2 * (most - 1)};
    const struct dse_interval passed = dse_widened(2 * (least - 1) / least, 2 * (most - 1) / most, 4);
    const struct dse_interval moving =
        dse_iv_div(dse_iv_mul(at_least(passed, 0), bytes), dse_iv_scale(FD_OF(b, link_gbs), DSE_GIGA));
    return dse_iv_add(moving, dse_iv_mul(hops, microseconds(FD_OF(b, link_latency_us))));
}

static void add_allreduce(struct fd_step_bound *s, const struct fd_box *b)
{
    enum { ALLREDUCES = 2 };
    const struct dse_llm *llm = b->lo.workload.llm;
    const double times = ALLREDUCES * (double)llm->layers;
    const double lo_rows = fd_gemm_of(&b->lo, FD_OUTPUT).m, hi_rows = fd_gemm_of(&b->hi, FD_OUTPUT).m;
    const struct dse_interval bytes = dse_iv_mul(dse_iv_scale(dse_iv(lo_rows, hi_rows), (double)llm->hidden),
                                                 dse_iv(dse_exchange_bytes(&b->lo.workload), dse_exchange_bytes(&b->hi.workload)));
    const struct dse_exchange_bound each = allreduces(b, bytes);
    const bool ring = b->lo.collectives == FD_RING && (double)b->hi.workload.tensor_parallel <= b->lo.link.system_devices;
    s->allreduce_s = at_least(dse_iv_scale(ring ? rings(b, bytes) : each.seconds, times), 0);
    s->link_j = at_least(dse_iv_scale(each.joules, times), 0);
}

/* E14, where the host runs ahead: all kernels against all launches. */
static struct dse_interval ahead(struct dse_interval kernels_s, struct dse_interval launched_s)
{
    return dse_iv_max(kernels_s, launched_s);
}

void fd_step_bound_init(struct fd_step_bound *ret, const struct fd_box *b)
{
    if (b->part) {
        fd_parts_bound(ret, b);
        return;
    }
    const struct dse_interval host_s = dse_widened(fd_host_s(&b->lo), fd_host_s(&b->hi), 4);
    const struct dse_interval launched_s = dse_widened(fd_launched_s(&b->lo), fd_launched_s(&b->hi), 4);
    struct dse_interval linear_s; /* with element-wise operators */
    *ret = (struct fd_step_bound){.tokens = dse_iv(dse_workload_tokens(&b->lo.workload), dse_workload_tokens(&b->hi.workload))};
    add_linears(ret, b);
    ret->clocked_busy_s = ret->kernels_s;
    add_elementwise(ret, b, &linear_s);
    add_attention(ret, b);
    add_technique(ret, b);
    add_allreduce(ret, b);
    const struct dse_interval rest = dse_iv_add(linear_s, ret->allreduce_s), kernels_s = dse_iv_add(ret->attention_s, rest);
    ret->wait_s = dse_iv_add(ret->wait_s, dse_iv_add(host_s, at_least(dse_iv_sub(launched_s, kernels_s), 0)));
    ret->clocked_s = dse_iv_add(ahead(dse_iv_add(ret->clocked_s, rest), launched_s), host_s);
    ret->step.busy_s = ret->kernels_s;
    ret->step.seconds = dse_iv_add(ahead(kernels_s, launched_s), host_s);
    ret->token.seconds = dse_iv_add(ret->token.seconds, dse_iv_div(ret->allreduce_s, ret->tokens));
    ret->token.seconds =
        dse_iv_add(ahead(ret->token.seconds, dse_iv_div(launched_s, ret->tokens)), dse_iv_div(host_s, ret->tokens));
    ret->token.bytes = dse_iv_both(ret->token.bytes, dse_iv_div(ret->step.bytes, ret->tokens));
    ret->token.ops = dse_iv_both(ret->token.ops, dse_iv_div(ret->step.ops, ret->tokens));
}

struct dse_interval fd_footprint_bound(const struct fd_box *b)
{
    return (struct dse_interval){fd_footprint(&b->least), fd_footprint(&b->most)};
}
