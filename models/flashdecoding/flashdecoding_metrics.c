/* Metrics of a step, in closed form or carried out, and the bill of its GPUs. */
#include "flashdecoding.h"

#include <dse/num.h>
#include <dse/units.h>

/* What the largest share of the step waits for. */
static int32_t step_bound(const struct fd_step *s)
{
    double by[] = {[DSE_BOUND_COMPUTE] = 0, [DSE_BOUND_DRAM] = 0};
    for (int i = 0; i < FD_LINEARS && s->n_parts == 0; i++)
        by[s->linear[i].compute_bound ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM] += s->linear[i].seconds - s->linear[i].wait_s;
    for (int i = 0; i < s->n_parts; i++) {
        const struct fd_part *o = &s->part[i];
        if (o->kind == FD_PART_LINEAR || o->kind == FD_PART_EXPERTS || o->kind == FD_PART_STATE)
            by[o->compute_bound ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM] += o->seconds - o->wait_s;
    }
    by[s->attention_compute_bound ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM] += s->stream_s + s->recompute_s;
    by[DSE_BOUND_COMPUTE] += s->elementwise_s - s->elementwise_wait_s;
    return dse_bound_of(by[DSE_BOUND_COMPUTE], by[DSE_BOUND_DRAM], s->wait_s + s->sync_s + s->allreduce_s);
}

/* The GPU of the point, whose SMs, memory and die may be others than its entry has. */
struct dse_bill fd_bill_of(const struct fd_params *p)
{
    struct dse_bill bill = dse_bill_of_gpus(&p->economics, fd_devices(p), p->gpu);
    bill.peak_w = p->board_power_w;
    bill.idle_w = p->idle_w;
    return bill;
}

static void fill_common(struct fd_metrics *m, const struct fd_point *point)
{
    const struct fd_machine *at = &point->machine;
    const struct fd_step *s = &point->step;
    const struct fd_params *p = at->p;
    double tokens = dse_workload_tokens(&p->workload), devices = fd_devices(p);
    double bytes = devices * (s->linear_bytes + s->attention_bytes), ops = fd_step_ops(s);
    const struct dse_bill bill = fd_bill_of(p);
    struct dse_totals totals = {
        .tokens = tokens,
        .seconds = s->seconds,
        .attention_s = s->attention_s,
        .joules = fd_step_joules(point) * devices,
        .bytes = bytes,
        .ops = ops,
        .peak_ops = dse_max(at->tensor_peak, at->vector_peak),
        .peak_bytes = devices * at->bandwidth,
        .area_mm2 = p->die_mm2 * devices,
        .bound = step_bound(s),
        .bill = &bill,
    };
    m->common = dse_common_of(&totals);
    if (p->power == DSE_POWER_CONSTANT) m->common.power_w = p->board_power_w * devices; /* to the last bit */
    m->linear_us = s->linear_s * DSE_US_PER_S;
    m->sync_us = (s->sync_s + s->recompute_s) * DSE_US_PER_S;
    m->launch_wait_us = s->wait_s * DSE_US_PER_S;
    m->communication_us = s->allreduce_s * DSE_US_PER_S;
    m->attention_share = s->attention_s / s->seconds;
    m->energy_dram_mj = bytes * DSE_BITS_PER_BYTE * p->dram_pj_per_bit * DSE_PICO * DSE_MJ_PER_J / tokens;
    m->energy_links_mj = devices * s->link_j * DSE_MJ_PER_J / tokens;
    m->power_demand_w = point->power.demand_w * devices;
    m->used_clock_ghz = p->clock_ghz;
    m->tokens_per_j = DSE_MJ_PER_J / m->common.energy_mj;
    const double kept = s->n_parts > 0 ? s->kept : fd_kept(p);
    const double footprint = s->n_parts > 0 ? s->footprint : fd_footprint_beside(p, kept);
    const struct fd_fitting fits = fd_fitting_of(p, footprint, kept);
    m->dram_footprint_gib = footprint / DSE_GIB;
    m->fitting_tokens = fits.tokens;
    m->fitting_sequences = fits.sequences;
}

/* That of a step of such kernels is known already. */
static double vendor_seconds(const struct fd_point *point)
{
    const struct fd_params *p = point->machine.p;
    if (p->dataflow == FD_BY_VENDOR && p->gemm < FD_LINEARS && point->step.n_parts == 0)
        return point->step.linear[p->gemm].cost.seconds;
    return fd_vendor(&point->machine, &point->gemm).seconds;
}

static void fill_gemm(struct fd_metrics *m, const struct fd_point *point)
{
    const struct fd_cost *three = point->three, *flat = &three[FD_FLAT];
    m->gemv_us = three[FD_GEMV].seconds * DSE_US_PER_S;
    m->flat_gemm_us = flat->seconds * DSE_US_PER_S;
    m->library_gemm_us = three[FD_LIBRARY].seconds * DSE_US_PER_S;
    m->vendor_gemm_us = vendor_seconds(point) * DSE_US_PER_S;
    m->gemm_kernel = (int32_t)fd_fastest(three);
    m->flat_utilization = flat->bytes / (point->machine.bandwidth * flat->seconds);
    m->padding_utilization = point->gemm.m / flat->rows;
    m->flat_tile_n = (int64_t)flat->tile_n;
    m->flat_blocks = (int64_t)flat->blocks;
    m->flat_waves = (int64_t)flat->waves;
}

/* E33. */
static void fill_cache(struct fd_metrics *m, const struct fd_point *at)
{
    const struct fd_params *p = at->machine.p;
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = fd_cache_steps(p, &arithmetic);
    const double read = fd_read(p), devices = fd_devices(p);
    struct dse_kept kept;
    dse_cache_quality(&steps, &kept);
    m->cached_positions = p->workload.phase == DSE_PREFILL ? (read + 1) / 2 : read;
    m->technique_us = at->step.technique_s * DSE_US_PER_S;
    m->technique_mib = devices * at->step.technique_bytes / (DSE_MIB * dse_workload_tokens(&p->workload));
    m->retained_mass = kept.mass;
    m->attention_error = kept.error;
    m->attention_error_sd = kept.error_sd;
    dse_cache_score(&steps, &m->task);
}

void fd_fill(struct fd_metrics *m, const struct fd_point *at)
{
    fill_common(m, at);
    fill_cache(m, at);
    fill_gemm(m, at);
}
