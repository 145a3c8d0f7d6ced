/* The box of a bound, and the metrics over it. */
#include "flashdecoding_bound.h"

#include <dse/bound.h>
#include <dse/num.h>
#include <dse/units.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- the box --------------------------------------------------------------------------------------------------------------- */

/* E28: fewer turns are faster. */
static void cached_ends(struct fd_box *b)
{
    struct fd_vendor_rates *fast = &b->fast.vendor, *slow = &b->slow.vendor;
    fast->l2_near = b->fast.l2 / b->lo.kernels.l2_copies;
    slow->l2_near = b->slow.l2 / b->hi.kernels.l2_copies;
    const bool warm = b->lo.cache == FD_WARM;
    fast->kept_bytes = warm ? fast->l2_near / (double)b->lo.cache_turns : 0;
    slow->kept_bytes = warm ? slow->l2_near / (double)b->hi.cache_turns : 0;
}

/* A peak of 0 is none, and GEMMs are computed in 16 bits; any other peak of the box, however low, is computed at. */
static void peak_ends(struct fd_box *b)
{
    const double almost_none = 1e-100;
    for (int i = FD_BITS_16 + 1; i < FD_FORMATS; i++) {
        const enum fd_format format = (enum fd_format)i;
        if (fd_peak_tflops(&b->lo, format) <= 0 && fd_peak_tflops(&b->hi, format) > 0)
            b->slow.vendor.format_ops[i] = b->slow.vendor.format_peak[i] = almost_none;
    }
}

void fd_box_clock(struct fd_box *b, struct dse_interval clock_ghz)
{
    struct fd_params at = b->lo;
    b->clock_ghz = clock_ghz;
    at.clock_ghz = clock_ghz.lo;
    fd_machine_init(&b->slow, &at);
    at = b->hi;
    at.clock_ghz = clock_ghz.hi;
    fd_machine_init(&b->fast, &at);
    b->fast.uniform = fd_operands_uniform(&b->least);
    b->slow.uniform = fd_operands_uniform(&b->most);
    const double most_hz = clock_ghz.hi * DSE_GIGA, least_hz = clock_ghz.lo * DSE_GIGA; /* fewer cycles are faster */
    b->fast.vendor.fixed_s = b->lo.kernels.gemm_fixed_cycles / most_hz;
    b->slow.vendor.fixed_s = b->hi.kernels.gemm_fixed_cycles / least_hz;
    b->fast.vendor.kernel_fixed_s = b->lo.kernels.kernel_fixed_cycles / most_hz;
    b->slow.vendor.kernel_fixed_s = b->hi.kernels.kernel_fixed_cycles / least_hz;
    b->fast.vendor.narrow_s = b->lo.kernels.attention_narrow_cycles / most_hz;
    b->slow.vendor.narrow_s = b->hi.kernels.attention_narrow_cycles / least_hz;
    b->fast.vendor.attention_kernels = b->lo.kernels.attention_kernels;
    b->slow.vendor.attention_kernels = b->hi.kernels.attention_kernels;
    b->fast.vendor.block_s = b->lo.kernels.attention_block_cycles / most_hz;
    b->slow.vendor.block_s = b->hi.kernels.attention_block_cycles / least_hz;
    b->fast.vendor.exposed = b->lo.gemm_exposed_share;
    b->slow.vendor.exposed = b->hi.gemm_exposed_share;
    cached_ends(b);
    peak_ends(b);
    fd_box_set(b, &b->fast.uniform, &b->slow.uniform);
    b->fast.p = &b->least;
    b->slow.p = &b->most;
}

static void box_turn(struct fd_box *b)
{
    b->least = b->lo;
    b->most = b->hi;
    b->least.workload.tensor_parallel = b->hi.workload.tensor_parallel;
    b->most.workload.tensor_parallel = b->lo.workload.tensor_parallel;
    b->least.workload.data_parallel = b->hi.workload.data_parallel;
    b->most.workload.data_parallel = b->lo.workload.data_parallel;
    b->least.kernels.expert_tensor_share = b->hi.kernels.expert_tensor_share; /* rates */
    b->most.kernels.expert_tensor_share = b->lo.kernels.expert_tensor_share;
    b->least.kernels.expert_stream_share = b->hi.kernels.expert_stream_share;
    b->most.kernels.expert_stream_share = b->lo.kernels.expert_stream_share;
    b->least.kernels.expert_scaled_share = b->hi.kernels.expert_scaled_share;
    b->most.kernels.expert_scaled_share = b->lo.kernels.expert_scaled_share;
    b->least.kernels.expert_row_share = b->hi.kernels.expert_row_share;
    b->most.kernels.expert_row_share = b->lo.kernels.expert_row_share;
    /* Operands as they are asked for: fd_range_of tells what becomes of them. */
    b->least.peaks = b->most.peaks = (struct dse_gpu_peaks){1, 1, 1};
    b->least.narrow_numbers = b->most.narrow_numbers = FD_FLOATS;
}

struct dse_interval fd_devices_of(const struct fd_box *b)
{
    return dse_iv(fd_devices(&b->lo), fd_devices(&b->hi));
}

/* fd_range_check refuses all points. */
static bool range_refused(const struct fd_box *b)
{
    if (b->lo.score_low >= b->hi.score_high) return true;
    if (b->lo.softmax == FD_SYNCHRONIZED) return false;
    const double slack = 1e-9;
    return b->lo.score_high - b->hi.unified_max + log((double)b->lo.workload.context) > log((double)FLT_MAX) + slack ||
           b->hi.score_low - b->lo.unified_max < log((double)FLT_MIN) - slack;
}

/* E27: what no point draws less than, at its lowest clock. */
static double least_power(const struct fd_box *b)
{
    const struct dse_gpu *gpu = b->lo.gpu;
    const double clock = dse_min(FD_LOWEST_CLOCK, b->lo.clock_ghz / gpu->clock_ghz);
    const double made = (double)b->lo.sms / (double)gpu->sms * clock * dse_gpu_voltage_squared(clock);
    const double range_w = dse_max(0, gpu->board_power_w - b->hi.idle_w);
    return b->lo.idle_w + (b->lo.awake_share + b->lo.active_share) * range_w * made;
}

/* E42: that any point has. */
static double most_room(const struct fd_box *b)
{
    struct fd_params most = b->hi;
    most.memory.reserved_gib = b->lo.memory.reserved_gib;
    most.memory.step_tokens = b->lo.memory.step_tokens;
    most.memory.step_sequences = b->lo.memory.step_sequences;
    return fd_room(&most) + 1e-9 * b->hi.capacity_gib * DSE_GIB;
}

/* E16: a batch that does not fit with the shortest context and the narrowest numbers fits nowhere. */
static void fit_batch(struct fd_box *b)
{
    struct fd_params one = b->least;
    const double room = most_room(b);
    int64_t fits = b->lo.workload.batch, beyond = b->hi.workload.batch + 1;
    while (beyond - fits > 1) {
        one.workload.batch = fits + (beyond - fits) / 2;
        if (fd_footprint(&one) <= room)
            fits = one.workload.batch;
        else
            beyond = one.workload.batch;
    }
    b->hi.workload.batch = fits;
}

bool fd_box_init(struct fd_box *b, const struct fd_params *lo, const struct fd_params *hi, const struct dse_workload_part *part)
{
    b->part = part;
    const struct dse_llm *llm = lo->workload.llm;
    b->lo = *lo;
    b->hi = *hi;
    b->hi.workload.context = dse_min_i64(hi->workload.context, llm->max_context);
    if (!part) b->hi.workload.tensor_parallel = dse_min_i64(hi->workload.tensor_parallel, llm->heads);
    if (b->lo.workload.context > b->hi.workload.context || b->lo.workload.tensor_parallel > b->hi.workload.tensor_parallel ||
        range_refused(b))
        return false;
    const struct dse_interval seen = FD_OF(b, workload.context);
    b->asked_lo = b->lo.kept;
    b->asked_hi = b->hi.kept;
    if (!dse_cache_ends(&b->lo.kept, &b->hi.kept, &b->lo.workload, seen, &b->target)) return false;
    if (lo->power == DSE_POWER_ACTIVITY) {
        if (lo->idle_w >= lo->gpu->board_power_w || hi->board_power_w * (1 + 1e-9) <= least_power(b)) return false;
        b->hi.idle_w = dse_min(hi->idle_w, lo->gpu->board_power_w);
    }
    box_turn(b);
    if (fd_footprint(&b->least) > most_room(b)) return false;
    fit_batch(b);
    box_turn(b);
    b->attention_load_s = dse_iv(0, (double)INFINITY);
    fd_box_clock(b, FD_OF(b, clock_ghz));
    return true;
}

/* ---- metrics --------------------------------------------------------------------------------------------------------------- */

struct ends {
    struct fd_metrics *floor, *ceiling;
};

#define SET(metric, value) dse_bound_set(&m->floor->metric, &m->ceiling->metric, value)
#define SET_WHOLE(metric, value) dse_bound_set_i64(&m->floor->metric, &m->ceiling->metric, value)

static struct dse_interval microseconds(struct dse_interval seconds)
{
    return dse_iv_scale(dse_iv_positive(seconds), DSE_US_PER_S);
}

static void fill_common(const struct ends *m, const struct fd_box *b, const struct fd_point_bound *at)
{
    const struct fd_step_bound *s = &at->step;
    const struct fd_amounts *step = &s->step, *token = &s->token;
    const struct dse_interval devices = fd_devices_of(b), bandwidth = {b->slow.bandwidth, b->fast.bandwidth};
    const struct dse_bill bill_lo = fd_bill_of(&b->lo), bill_hi = fd_bill_of(&b->hi);
    struct dse_totals_bound t = dse_totals_unknown();
    t.tokens = s->tokens;
    t.seconds = step->seconds;
    t.attention_s = s->attention_s;
    t.joules = dse_iv_mul(devices, at->joules);
    t.bytes = dse_iv_mul(devices, step->bytes);
    t.ops = step->ops;
    t.token_s = token->seconds;
    t.token_joules = dse_iv_mul(devices, at->token_joules);
    t.token_bytes = dse_iv_mul(devices, token->bytes);
    t.token_ops = token->ops;
    t.peak_ops = dse_iv(dse_max(b->slow.tensor_peak, b->slow.vector_peak), dse_max(b->fast.tensor_peak, b->fast.vector_peak));
    t.peak_bytes = dse_iv_mul(devices, bandwidth);
    t.dram_utilization = dse_iv_div(dse_iv_div(token->bytes, token->seconds), bandwidth);
    t.watts = dse_iv_mul(devices, at->watts);
    t.area_mm2 = dse_iv_mul(devices, FD_OF(b, die_mm2));
    t.bill_lo = &bill_lo;
    t.bill_hi = &bill_hi;
    dse_totals_narrow(&t);
    dse_common_bound(&t, &m->floor->common, &m->ceiling->common);
    const struct dse_interval bits = dse_iv_scale(FD_OF(b, dram_pj_per_bit), DSE_BITS_PER_BYTE * DSE_PICO * DSE_MJ_PER_J);
    SET(energy_dram_mj, dse_iv_mul(t.token_bytes, bits));
    SET(energy_links_mj, dse_iv_scale(dse_iv_mul(devices, dse_iv_div(s->link_j, s->tokens)), DSE_MJ_PER_J));
    SET(tokens_per_j, dse_iv_inv(dse_iv_positive(t.token_joules)));
    SET(attention_share, dse_iv_div(s->attention_s, t.seconds));
}

static void fill_gemm(const struct ends *m, const struct fd_box *b)
{
    const enum fd_gemm_choice which = (enum fd_gemm_choice)b->lo.gemm;
    const struct fd_gemm_bound g = b->part ? fd_gemm_of_parts_bound(b, which) : fd_gemm_of_bound(b, which);
    const struct dse_interval bandwidth = {b->slow.bandwidth, b->fast.bandwidth};
    struct fd_cost_bound three[FD_KERNELS];
    fd_three_bound(b, &g, three);
    const struct fd_cost_bound *flat = &three[FD_FLAT];
    SET(gemv_us, microseconds(three[FD_GEMV].seconds));
    SET(flat_gemm_us, microseconds(flat->seconds));
    SET(library_gemm_us, microseconds(three[FD_LIBRARY].seconds));
    SET(vendor_gemm_us, microseconds(fd_vendor_bound(b, &g).seconds));
    SET(flat_utilization, dse_iv_div(flat->bytes, dse_iv_mul(bandwidth, flat->seconds)));
    SET(padding_utilization, dse_iv_div(dse_iv(g.lo.m, g.hi.m), flat->rows));
    SET_WHOLE(flat_tile_n, flat->tile_n);
    SET_WHOLE(flat_blocks, flat->blocks);
    SET_WHOLE(flat_waves, flat->waves);
}

/* E33. */
static void fill_cache(const struct ends *m, const struct fd_box *b, const struct fd_step_bound *s)
{
    const bool prefill = b->lo.workload.phase == DSE_PREFILL;
    struct dse_arithmetic less, most;
    struct dse_cache_steps lo = fd_cache_steps(&b->lo, &less), hi = fd_cache_steps(&b->hi, &most);
    lo.cache = &b->asked_lo;
    hi.cache = &b->asked_hi;
    const struct dse_interval read = dse_iv(fd_read(&b->lo), fd_read(&b->hi));
    struct dse_kept_bound kept;
    dse_cache_quality_bound(&lo, &hi, b->target, &kept);
    SET(retained_mass, kept.mass);
    SET(attention_error, kept.error);
    SET(attention_error_sd, kept.error_sd);
    struct dse_interval score, loss;
    dse_cache_score_bound(&lo, &hi, &score, &loss);
    SET(task.task_score, score);
    SET(task.task_loss, loss);
    SET(cached_positions, prefill ? dse_iv((read.lo + 1) / 2, (read.hi + 1) / 2) : read);
    SET(technique_us, microseconds(s->technique_s));
    SET(technique_mib, dse_iv_scale(dse_iv_mul(fd_devices_of(b), dse_iv_div(s->technique_bytes, s->tokens)), 1 / DSE_MIB));
}

static void fill(const struct ends *m, const struct fd_box *b, const struct fd_point_bound *at)
{
    const struct fd_step_bound *s = &at->step;
    fill_common(m, b, at);
    fill_gemm(m, b);
    fill_cache(m, b, s);
    SET(linear_us, microseconds(s->linear_s));
    SET(sync_us, microseconds(s->sync_s));
    SET(launch_wait_us, microseconds(s->wait_s));
    SET(communication_us, microseconds(s->allreduce_s));
    SET(power_demand_w, dse_iv_mul(at->demand_w, fd_devices_of(b)));
    SET(used_clock_ghz, at->clock_ghz);
    SET(fitting_tokens, dse_iv(0, (double)INFINITY)); /* nothing is known */
    SET(fitting_sequences, dse_iv(0, (double)INFINITY));
    SET(dram_footprint_gib, dse_iv_scale(fd_footprint_bound(b), 1 / DSE_GIB));
}

/* A single point is looked at as such. */
static bool bound_point(const struct fd_params *p, void *floor, void *ceiling)
{
    if (dse_model_flashdecoding.check(p)) return false;
    dse_model_flashdecoding.estimate(p, floor, NULL);
    memcpy(ceiling, floor, sizeof(struct fd_metrics));
    return true;
}

static bool bound_box(const struct fd_params *lo, const struct fd_params *hi, const struct dse_workload_part *part, void *floor,
                      void *ceiling)
{
    const struct ends m = {floor, ceiling};
    struct fd_box b;
    struct fd_point_bound at;
    struct dse_oplist least, most;
    if (!fd_box_init(&b, lo, hi, part)) return false;
    if (part) {
        struct dse_workload_part fitting = *part;
        fitting.hi.batch = fitting.most.batch = b.hi.workload.batch;
        dse_workload_part_expand(&fitting, -1, -1, &least, &most);
        b.ops_least = &least;
        b.ops_most = &most;
        if (!fd_parts_agree(&b)) {
            dse_bound_nothing(dse_model_flashdecoding.metrics, floor, ceiling);
            return true;
        }
    }
    fd_point_bound_init(&at, &b);
    fill(&m, &b, &at);
    return true;
}

static bool bound_part(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling)
{
    const bool plain = fd_is_plain(&part->lo) && fd_is_plain(&part->hi);
    return bound_box(lo, hi, plain ? NULL : part, floor, ceiling);
}

bool fd_bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    const struct fd_params *least = lo, *most = hi;
    if (dse_bound_same(lo, hi, sizeof *least)) return bound_point(least, floor, ceiling);
    if (fd_is_plain(&most->workload) && fd_is_plain(&least->workload)) return bound_box(least, most, NULL, floor, ceiling);
    return dse_bound_parts(&dse_model_flashdecoding, offsetof(struct fd_params, workload), lo, hi, bound_part, floor, ceiling);
}
