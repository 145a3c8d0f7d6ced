/* Bounds of the closed form over a box (README, "Bounds").
 *
 * Every term of a step (E3 to E7) grows or shrinks with each parameter, all of them the same way: what makes one longer, or takes
 * more bytes or products, makes none shorter. So a step with the least of all that costs time and the most of all that saves it has
 * the least time, bytes and products of the box, and the opposite step the most; with correctly rounded operations this holds to
 * the last digit. What grows in one factor and shrinks in another is taken apart: what a token takes of a step (batches share
 * rounds and reads of weights), and the energy of the clock tree (LUTs and clock, which make a step shorter).
 */
#include "swiftkv_bound.h"

#include <dse/units.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct dse_interval iv;
#define FAST SWIFTKV_FAST
#define SLOW SWIFTKV_SLOW
static const double hz_per_mhz = 1e6, rounding = 1e-9; /* more than that of sums in another order */

static iv with(iv a, double x)
{
    return dse_iv(dse_min(a.lo, x), dse_max(a.hi, x));
}

static iv positive(double lo, double hi)
{
    return dse_iv(lo, dse_max(lo, hi));
}

/* ---- the box ------------------------------------------------------------------------------------------------------------- */

/* The most x such that fixed + x * each <= there, a little more where it is not whole. */
static int64_t at_most(double there, double fixed, double each, int64_t x)
{
    const double most = (there * (1 + rounding) - fixed) / each;
    return each > 0 && most < (double)x ? (int64_t)dse_max(most, 0) : x;
}

/* E24: what stays, as a length. False: nothing does. */
static bool contract_cache(struct swiftkv_box *b)
{
    const iv seen = dse_iv_i64(b->lo.workload.context, b->hi.workload.context);
    return dse_cache_ends(&b->lo.cache, &b->hi.cache, &b->lo.workload, seen, &b->target);
}

/* E8: of the batch. */
static double footprint(const struct swiftkv_params *p, int64_t batch)
{
    struct dse_workload w = p->workload;
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    w.batch = batch;
    return dse_cache_footprint(&cache, &w);
}

/* Of a chip, at an end of the box. */
static double footprint_at(const struct swiftkv_box *b, int end)
{
    struct swiftkv_params p = end == FAST ? b->lo : b->hi;
    if (b->part) p.workload = end == FAST ? b->part->least : b->part->most;
    p.workload.batch = end == FAST ? b->lo.workload.batch : b->hi.workload.batch;
    return footprint(&p, p.workload.batch);
}

/* The largest batch that fits with the fewest bytes of all else. False: none does. */
static bool contract_batch(struct swiftkv_box *b)
{
    struct swiftkv_params p = b->lo;
    const double room = b->hi.dram.capacity_gib * DSE_GIB * (1 + rounding);
    int64_t fits = b->lo.workload.batch, beyond = b->hi.workload.batch + 1;
    if (b->part) p.workload = b->part->least;
    if (footprint(&p, fits) > room) return false;
    if (footprint(&p, beyond - 1) <= room) return true;
    while (beyond - fits > 1) {
        const int64_t middle = fits + (beyond - fits) / 2;
        *(footprint(&p, middle) <= room ? &fits : &beyond) = middle;
    }
    b->hi.workload.batch = fits;
    return true;
}

/* Where it is plain: what a sequence takes is the same for all. */
static void contract_plain_batch(struct swiftkv_params *lo, struct swiftkv_params *hi)
{
    const double weights = footprint(lo, 0), sequence = footprint(lo, lo->workload.batch) - weights;
    hi->workload.batch =
        at_most(hi->dram.capacity_gib * DSE_GIB, weights, sequence / (double)lo->workload.batch, hi->workload.batch);
}

/* Takes from the box what no point that check() accepts has. False: nothing is left. */
static bool contract(struct swiftkv_box *b)
{
    struct swiftkv_params *lo = &b->lo, *hi = &b->hi;
    const struct dse_fpga *f = lo->fpga;
    const double arrays = lo->value_update == SWIFTKV_UPDATE_OWN ? 2 : 1;
    if (!b->part)
        contract_plain_batch(lo, hi);
    else if (!contract_batch(b))
        return false;
    lo->dsps_per_processor =
        dse_max_i64(lo->dsps_per_processor, (int64_t)ceil(dse_max(lo->gemv_dsps, lo->fxp_dsps) * (1 - rounding)));
    const double dsps = (double)f->dsps, processors = (double)lo->processors, extra = (double)lo->extra_dsps;
    hi->processors = at_most(dsps, 0, arrays * (double)lo->dsps_per_processor + extra, hi->processors);
    hi->dsps_per_processor = at_most(dsps, processors * extra, processors * arrays, hi->dsps_per_processor);
    hi->gemv_dsps = dse_min(hi->gemv_dsps, (double)hi->dsps_per_processor);
    hi->fxp_dsps = dse_min(hi->fxp_dsps, (double)hi->dsps_per_processor);
    return lo->workload.context <= hi->workload.context && lo->workload.batch <= hi->workload.batch &&
           lo->processors <= hi->processors && lo->dsps_per_processor <= hi->dsps_per_processor && lo->gemv_dsps <= hi->gemv_dsps &&
           lo->fxp_dsps <= hi->fxp_dsps && lo->lut_bits <= hi->q_frac_bits && !swiftkv_chip_check(lo);
}

/* The end that is fast, or slow, of all parameters that a step's time, bytes and products depend on. */
static void corner(const struct swiftkv_box *b, bool fast, struct swiftkv_params *ret)
{
    const struct swiftkv_params *less = fast ? &b->lo : &b->hi, *more = fast ? &b->hi : &b->lo;
    *ret = *less;
    ret->processors = more->processors;                 /* E2, E3, E5 */
    ret->dsps_per_processor = more->dsps_per_processor; /* E2 */
    ret->clock_mhz = more->clock_mhz;                   /* E4, E7 */
    ret->gemv_efficiency = more->gemv_efficiency;       /* E4 */
    ret->weight_reuse = more->weight_reuse;             /* E4 */
    ret->block = more->block;                           /* E6: fewer blocks */
    ret->dram.bandwidth_gbs = more->dram.bandwidth_gbs; /* E4, E7 */
    ret->dram.dram_efficiency = more->dram.dram_efficiency;
    swiftkv_box_workload(b, fast ? FAST : SLOW, ret);
    if (fast) return; /* there is a lane at least */
    ret->gemv_dsps = dse_min(ret->gemv_dsps, (double)ret->dsps_per_processor);
    ret->fxp_dsps = dse_min(ret->fxp_dsps, (double)ret->dsps_per_processor);
}

void swiftkv_box_workload(const struct swiftkv_box *b, int end, struct swiftkv_params *p)
{
    if (!b->part) return;
    const int64_t batch = p->workload.batch;
    p->workload = end == FAST ? b->part->least : b->part->most;
    p->workload.batch = batch; /* as far as it fits */
}

/* ---- power --------------------------------------------------------------------------------------------------------------- */

/* E9, E10. Watts are linear in static_share, so that its ends have the least and the most of them. */
static void power_at(struct swiftkv_box *b)
{
    const bool constant = b->lo.power == DSE_POWER_CONSTANT;
    b->luts = b->op_j = b->still_w = b->tree_w = b->tree = b->power_w = dse_iv((double)INFINITY, -(double)INFINITY);
    for (int i = 0; i < 4; i++) {
        struct swiftkv_params p = i & 1 ? b->hi : b->lo;
        struct swiftkv_chip chip;
        p.static_share = i & 2 ? b->hi.static_share : b->lo.static_share;
        swiftkv_chip_at(&p, &chip);
        const double still_w = p.reference_power_w * p.static_share,
                     tree_w = constant ? chip.law.idle_w - still_w : chip.law.awake_w;
        b->luts = with(b->luts, chip.luts);
        b->op_j = with(b->op_j, chip.law.op_j);
        b->still_w = with(b->still_w, still_w);
        b->tree_w = with(b->tree_w, tree_w);
        b->power_w = with(b->power_w, still_w + tree_w);
        b->tree = with(b->tree, tree_w / (chip.luts * p.clock_mhz));
    }
}

/* ---- energy -------------------------------------------------------------------------------------------------------------- */

/* The least that LUTs times cycles are, where DSPs times cycles are at least dsp_cycles: the arrays never do more products than
 * they have DSPs. LUTs are so many a DSP, and those of what is there once. */
static double luts_by_cycles(const struct swiftkv_box *b, double cycles, double dsp_cycles)
{
    const double dsps = (double)(b->lo.processors * b->lo.dsps_per_processor), each = swiftkv_luts_per_dsp(&b->lo);
    return (b->luts.lo - each * dsps) * cycles + each * dse_max(dsp_cycles, dsps * cycles);
}

double swiftkv_tree_joules(const struct swiftkv_box *b, double seconds, double cycles, double dsp_cycles)
{
    return dse_max(b->tree_w.lo * seconds, b->tree.lo / hz_per_mhz * luts_by_cycles(b, cycles, dsp_cycles));
}

/* ---- a token ------------------------------------------------------------------------------------------------------------- */

/* ceil(n a / s) / n of whole numbers: from below (whole: of the largest n and s) or from above. */
static double shared_below(double a, double n_lo, double n_hi, double s_hi)
{
    return dse_max(a / s_hi, ceil(n_lo * a / s_hi) / n_hi);
}

static double shared_above(double a, double n_lo, double n_hi, double s_lo)
{
    return dse_min(ceil(n_hi * a / s_lo) / n_lo, a / s_lo + (1 - 1 / s_lo) / n_lo);
}

/* E5 for a token: how often the array is dealt heads, of one sequence in a batch. */
static double rounds_of_one(const struct swiftkv_box *b, int end)
{
    const struct swiftkv_params *p = &b->end[end].p;
    const struct dse_llm *llm = p->workload.llm;
    const double n_lo = (double)b->lo.workload.batch, n_hi = (double)b->hi.workload.batch, processors = (double)p->processors;
    const double group = (double)llm->heads / (double)llm->kv_heads;
    double a = (double)llm->heads, s = processors;
    if (p->kv_fetch == SWIFTKV_FETCH_GROUP) {
        a = (double)llm->kv_heads;
        if (processors < group) return a * ceil(group / processors);
        s = floor(processors / group);
    }
    return end == FAST ? shared_below(a, n_lo, n_hi, s) : shared_above(a, n_lo, n_hi, s);
}

static void add_attention_tree(struct swiftkv_box *b, const struct swiftkv_attention *a)
{
    const struct swiftkv_params *p = &b->end[FAST].p;
    const double arrays = p->value_update == SWIFTKV_UPDATE_OWN ? 2 : 1, hz = p->clock_mhz * hz_per_mhz;
    const double latency_s = a->rope_s + a->overhead_s;
    b->tree_j += swiftkv_tree_joules(b, a->stream_s, a->compute_s * hz, a->dsp_products / arrays);
    b->tree_j += swiftkv_tree_joules(b, latency_s, latency_s * hz, 0);
}

/* E3 to E5 for a token: rows and reads of a linear layer, of the floor (FAST) or the ceiling. */
static void add_linear_of_one(struct swiftkv_box *b, int end, struct dse_op *op)
{
    struct swiftkv_end *e = &b->end[end];
    const bool prefill = e->p.workload.phase == DSE_PREFILL, head = op->role == DSE_ROLE_OUTPUT_HEAD;
    const double c_lo = prefill ? (double)b->lo.workload.context : 1, c_hi = prefill ? (double)b->hi.workload.context : 1;
    const double n_lo = (double)b->lo.workload.batch * (head ? 1 : c_lo), n_hi = (double)b->hi.workload.batch * (head ? 1 : c_hi);
    const double rows = head ? 1 / (end == FAST ? c_hi : c_lo) : 1, reuse = (double)e->p.weight_reuse;
    const double reads = end == FAST ? shared_below(1, n_lo, n_hi, reuse) : shared_above(1, n_lo, n_hi, reuse);
    op->ops *= rows / (double)op->m;
    op->kv_write_bytes *= rows / (double)op->m;
    swiftkv_add_linear(&e->token, &e->p, op, rows, rows * reads);
    const struct swiftkv_op *o = &e->token.op[e->token.n_ops - 1];
    const double cycles = (double)op->repeat * swiftkv_gemv_cycles(&e->p, rows, (double)op->k, (double)op->n);
    if (end == FAST)
        b->tree_j += swiftkv_tree_joules(b, o->time_s, cycles / e->p.gemv_efficiency, o->dsp_products / e->p.gemv_efficiency);
}

static void token_at(struct swiftkv_box *b, int end)
{
    struct swiftkv_end *e = &b->end[end];
    const double batch = (double)e->p.workload.batch, queries = e->dealt.queries;
    double attention_ops = 0;
    const double other_queries = e->p.workload.phase == DSE_PREFILL ? (double)(end == FAST ? b->hi : b->lo).workload.context : 1;
    const double shared = queries / other_queries; /* E24: what a prompt takes once grows with it, and is that of all its tokens */
    swiftkv_step_start(&e->token);
    e->token.tokens = 1;
    for (int i = 0; i < e->ops.n; i++) {
        struct dse_op op = e->ops.op[i];
        if (swiftkv_counts(&e->p, &op)) add_linear_of_one(b, end, &op);
        if (op.in_attention) attention_ops += op.ops / (batch * queries);
        if (op.kind == DSE_OP_SCORES || op.kind == DSE_OP_VALUES) e->token.ops += op.ops / (batch * queries);
    }
    struct swiftkv_dealt one = {.rounds = rounds_of_one(b, end),
                                .reads = e->dealt.reads / batch,
                                .queries = 1,
                                .bounds = e->dealt.bounds,
                                .extra_cycles = e->dealt.extra_cycles * shared,
                                .extra_bytes = e->dealt.extra_bytes * shared,
                                .row_bytes = e->dealt.row_bytes};
    one.pairs = e->dealt.pairs / queries;
    one.blocks = e->dealt.blocks / queries;
    swiftkv_add_attention(&e->token, &e->p, &e->ops.attention[0], &one, 1, attention_ops);
    swiftkv_step_end(&e->token, &e->p);
    if (end == FAST) add_attention_tree(b, &e->token.attention);
}

static void step_and_token(struct swiftkv_box *b, int end)
{
    struct swiftkv_end *e = &b->end[end];
    if (b->part) {
        swiftkv_end_of_part(b, end);
        return;
    }
    swiftkv_expand(&e->p, &e->ops);
    swiftkv_deal(&e->p, &e->ops.attention[0], &e->dealt);
    swiftkv_step_init(&e->step, &e->p);
    token_at(b, end);
}

static void end_at(struct swiftkv_box *b, int end)
{
    struct swiftkv_end *e = &b->end[end];
    corner(b, end == FAST, &e->p);
    step_and_token(b, end);
    if (end == FAST || (e->p.gemv_dsps == b->hi.gemv_dsps && e->p.fxp_dsps == b->hi.fxp_dsps)) return;
    struct swiftkv_box wide = *b; /* the most DSPs of a product, where an array holds it */
    wide.end[end].p = b->hi;
    swiftkv_box_workload(b, end, &wide.end[end].p);
    step_and_token(&wide, end);
    e->step.dsp_products = wide.end[end].step.dsp_products;
    e->token.dsp_products = wide.end[end].token.dsp_products;
}

/* ---- metrics ------------------------------------------------------------------------------------------------------------- */

#define SET(metric, v) dse_bound_set(&f->metric, &c->metric, v)

/* Of the two ends of the box, a number of a step and of a token. */
#define STEP(number) positive(b->end[FAST].step.number, b->end[SLOW].step.number)
#define TOKEN(number) positive(b->end[FAST].token.number, b->end[SLOW].token.number)

/* What the chip draws for products: its arrays make no more than they have DSPs for. */
static iv products_w(const struct swiftkv_box *b, iv token_s)
{
    const iv rate = dse_iv_div(TOKEN(dsp_products), token_s);
    return dse_iv_mul(b->op_j, dse_iv(rate.lo, dse_min(rate.hi, b->peak_ops.hi)));
}

static iv chips_of(const struct swiftkv_box *b)
{
    return dse_iv((double)dse_workload_chips(&b->lo.workload), (double)dse_workload_chips(&b->hi.workload));
}

static void bound_step(struct swiftkv_box *b, struct dse_totals_bound *t)
{
    const iv chips = chips_of(b);
    const double arrays = b->lo.value_update == SWIFTKV_UPDATE_OWN ? 2 : 1;
    const double lo = (double)(b->lo.processors * b->lo.dsps_per_processor),
                 hi = (double)(b->hi.processors * b->hi.dsps_per_processor);
    *t = dse_totals_unknown();
    t->tokens = STEP(tokens);
    t->seconds = STEP(time_s);
    t->attention_s = STEP(attention.time_s);
    t->bytes = dse_iv_mul(chips, STEP(bytes));
    t->ops = dse_iv_mul(chips, STEP(dsp_products));
    t->token_s = TOKEN(time_s);
    t->token_bytes = dse_iv_mul(chips, TOKEN(bytes));
    t->token_ops = dse_iv_mul(chips, TOKEN(dsp_products));
    b->peak_ops = dse_iv_scale(dse_iv_mul(dse_iv(lo, hi), dse_iv(b->lo.clock_mhz, b->hi.clock_mhz)), arrays * hz_per_mhz);
    t->peak_ops = dse_iv_mul(chips, b->peak_ops);
    t->peak_bytes = dse_iv_mul(chips, dse_dram_peak_bound(&b->lo.dram, &b->hi.dram));
    t->compute_utilization = dse_iv(0, 1 + rounding);
    t->dram_utilization = dse_iv(0, b->hi.dram.dram_efficiency * (1 + rounding));
    dse_totals_narrow(t);
}

/* E10, E28. Of a token: of a chip without the DRAM, which is returned, and of all with it and what their links take. */
static iv bound_energy(const struct swiftkv_box *b, struct dse_totals_bound *t)
{
    const iv still = dse_iv_mul(b->still_w, t->token_s), products = dse_iv_mul(b->op_j, TOKEN(dsp_products));
    const iv tree = dse_iv_max(dse_iv_mul(b->tree_w, t->token_s), dse_iv_of(b->tree_j));
    const iv chip = dse_iv_add(dse_iv_add(still, tree), products);
    const iv dram = dse_dram_joules_bound(&b->lo.dram, &b->hi.dram, t->token_bytes);
    t->token_joules = dse_iv_add(dse_iv_mul(chips_of(b), dse_iv_add(chip, TOKEN(link_joules))), dram);
    return chip;
}

/* E9. What check() accepts does not take more than there is. */
static iv resource(double lo, double hi, int64_t there)
{
    return positive(lo, dse_min(hi, (double)there));
}

static void set_resources(const struct swiftkv_box *b, struct swiftkv_metrics *f, struct swiftkv_metrics *c)
{
    const struct dse_fpga *fpga = b->lo.fpga;
    struct swiftkv_chip lo, hi;
    swiftkv_chip_at(&b->lo, &lo);
    swiftkv_chip_at(&b->hi, &hi);
    const iv luts = resource(lo.luts, hi.luts, fpga->luts), ffs = resource(lo.ffs, hi.ffs, fpga->ffs),
             brams = resource(lo.brams, hi.brams, fpga->brams), dsps = resource(lo.dsps, hi.dsps, fpga->dsps);
    SET(luts, luts);
    SET(ffs, ffs);
    SET(brams, brams);
    SET(dsps, dsps);
    SET(lut_share, dse_iv_div(luts, dse_iv_of((double)fpga->luts)));
    SET(ff_share, dse_iv_div(ffs, dse_iv_of((double)fpga->ffs)));
    SET(bram_share, dse_iv_div(brams, dse_iv_of((double)fpga->brams)));
    SET(dsp_share, dse_iv_div(dsps, dse_iv_of((double)fpga->dsps)));
}

/* E8, E12, E14: each falls with the bits and grows with the positions. */
static void set_arithmetic(const struct swiftkv_box *b, struct swiftkv_metrics *f, struct swiftkv_metrics *c)
{
    const struct swiftkv_params *lo = &b->lo, *hi = &b->hi;
    const iv error = dse_iv_falling(swiftkv_exp_error(lo->lut_bits), swiftkv_exp_error(hi->lut_bits));
    SET(exp_error_percent, dse_iv_scale(error, 100));
    SET(rope_drift, dse_iv_growing(swiftkv_rope_bound(hi->q_frac_bits, (double)lo->workload.context),
                                   swiftkv_rope_bound(lo->q_frac_bits, (double)hi->workload.context)));
    const iv bytes = dse_iv(footprint_at(b, FAST), footprint_at(b, SLOW));
    const iv room = dse_iv_scale(dse_iv_of(hi->dram.capacity_gib), 1 + rounding);
    SET(dram_footprint_gib, dse_iv_min(dse_iv_scale(bytes, 1 / DSE_GIB), room));
}

/* 0 where no energy is counted at all. */
static iv over_joules(iv what, iv joules)
{
    const iv some = dse_iv_positive(joules);
    if (some.hi == 0) return dse_iv_of(0);
    const iv each = dse_iv_div(what, some);
    return some.lo > 0 ? each : dse_iv(0, each.hi);
}

static iv dram_watts(const struct swiftkv_box *b, const struct dse_totals_bound *t)
{
    return dse_iv_div(dse_dram_joules_bound(&b->lo.dram, &b->hi.dram, t->token_bytes), t->token_s);
}

/* E24, E25. */
static void set_cache(const struct swiftkv_box *b, struct swiftkv_metrics *f, struct swiftkv_metrics *c)
{
    struct dse_kept_bound kept;
    struct dse_arithmetic less, most;
    struct dse_cache_steps lo = swiftkv_cache_steps(&b->lo, &less), hi = swiftkv_cache_steps(&b->hi, &most);
    lo.cache = &b->asked_lo;
    hi.cache = &b->asked_hi;
    dse_cache_quality_bound(&lo, &hi, b->target, &kept);
    SET(retained_mass, kept.mass);
    SET(attention_error, kept.error);
    SET(attention_error_sd, kept.error_sd);
    struct dse_interval score, loss;
    dse_cache_score_bound(&lo, &hi, &score, &loss);
    SET(task.task_score, score);
    SET(task.task_loss, loss);
    const struct dse_cache_step few = swiftkv_cache_step(&b->lo), many = swiftkv_cache_step(&b->hi);
    SET(cached_positions,
        few.prefill ? dse_iv_scale(dse_iv_add(dse_iv(few.read, many.read), dse_iv_of(1)), 1.0 / 2) : dse_iv(few.read, many.read));
    SET(technique_mib, dse_iv_scale(dse_iv_mul(chips_of(b), TOKEN(attention.technique_bytes)), 1 / DSE_MIB));
}

static void set_rates(const struct swiftkv_box *b, const struct dse_totals_bound *t, iv chip_joules, struct swiftkv_metrics *f,
                      struct swiftkv_metrics *c)
{
    const iv attention_s = TOKEN(attention.time_s), linear_s = TOKEN(linear_s);
    const iv ops = dse_iv_scale(TOKEN(ops), 1 / DSE_GIGA), chip_w = dse_iv_add(b->power_w, products_w(b, t->token_s));
    const iv rest_s = dse_iv_add(linear_s, TOKEN(communication_s));
    const iv share = dse_iv_inv(dse_iv_add(dse_iv_of(1), dse_iv_div(rest_s, attention_s))); /* of what is no bubble */
    const double stages = (double)dse_degree(b->lo.workload.pipeline_parallel);
    const iv passes =
        dse_iv((double)dse_workload_passes(&b->end[FAST].p.workload), (double)dse_workload_passes(&b->end[SLOW].p.workload));
    SET(communication_us, dse_iv_scale(STEP(communication_s), DSE_US_PER_S));
    SET(linear_us, dse_iv_scale(STEP(linear_s), DSE_US_PER_S));
    SET(attention_share, stages > 1 ? dse_iv_mul(share, dse_iv_scale(passes, 1 / stages)) : share);
    SET(effective_gops, dse_iv_mul(chips_of(b), dse_iv_div(ops, t->token_s)));
    SET(chip_power_w, dse_iv_both(chip_w, dse_iv_div(chip_joules, t->token_s)));
    SET(chip_gop_per_j, over_joules(ops, chip_joules));
    SET(dram_power_w, dram_watts(b, t));
    SET(tokens_per_j, over_joules(dse_iv_of(1), t->token_joules));
}

/* A single point is looked at as such. */
static bool bound_point(const struct swiftkv_params *p, void *floor, void *ceiling)
{
    if (dse_model_swiftkv.check(p)) return false;
    dse_model_swiftkv.estimate(p, floor, NULL);
    memcpy(ceiling, floor, sizeof(struct swiftkv_metrics));
    return true;
}

/* E27: `part` is NULL where the workload is what the paper's machine knows. */
static bool bound_box(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling)
{
    struct swiftkv_box box = {.lo = *(const struct swiftkv_params *)lo, .hi = *(const struct swiftkv_params *)hi, .part = part},
                       *b = &box;
    struct swiftkv_metrics *f = floor, *c = ceiling;
    struct dse_totals_bound t;
    b->asked_lo = b->lo.cache;
    b->asked_hi = b->hi.cache;
    b->hi.workload.context = dse_min_i64(b->hi.workload.context, b->hi.workload.llm->max_context);
    if (b->lo.workload.context > b->hi.workload.context || !contract_cache(b) || !contract(b)) return false;
    power_at(b);
    end_at(b, FAST);
    end_at(b, SLOW);
    bound_step(b, &t);
    const iv chip_joules = bound_energy(b, &t), chips = chips_of(b);
    const struct dse_bill bill_lo = dse_bill_of_boards(&b->lo.economics, chips.lo, &b->lo.fpga->trade),
                          bill_hi = dse_bill_of_boards(&b->hi.economics, chips.hi, &b->hi.fpga->trade);
    t.bill_lo = &bill_lo;
    t.bill_hi = &bill_hi;
    const iv chip_w = dse_iv_add(dse_iv_add(b->power_w, products_w(b, t.token_s)), dse_iv_div(TOKEN(link_joules), t.token_s));
    t.watts = dse_iv_add(dse_iv_mul(chips, chip_w), dram_watts(b, &t));
    dse_totals_narrow(&t);
    dse_common_bound(&t, &f->common, &c->common);
    set_resources(b, f, c);
    set_arithmetic(b, f, c);
    set_cache(b, f, c);
    set_rates(b, &t, chip_joules, f, c);
    return true;
}

static bool bound_part(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling)
{
    const bool simple = swiftkv_is_simple(&part->lo) && swiftkv_is_simple(&part->hi);
    return bound_box(lo, hi, simple ? NULL : part, floor, ceiling);
}

bool swiftkv_bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    const struct swiftkv_params *from = lo, *to = hi;
    if (swiftkv_is_simple(&from->workload) && swiftkv_is_simple(&to->workload)) return bound_box(lo, hi, NULL, floor, ceiling);
    if (memcmp(lo, hi, sizeof *from) == 0) return bound_point(lo, floor, ceiling);
    return dse_bound_parts(&dse_model_swiftkv, offsetof(struct swiftkv_params, workload), lo, hi, bound_part, floor, ceiling);
}
