/* Energy by activity, and what GPU boards draw. */
#include <dse/num.h>
#include <dse/power.h>
#include <dse/units.h>

#include <math.h>

struct dse_energy dse_energy_of(const struct dse_power_law *law, const struct dse_activity *a)
{
    return (struct dse_energy){.idle = law->idle_w * a->seconds,
                               .awake = law->awake_w * a->awake_s,
                               .active = law->active_w * a->busy_s,
                               .bytes = law->byte_j * a->bytes,
                               .ops = law->op_j * a->ops};
}

double dse_energy_sum(const struct dse_energy *e)
{
    return e->idle + e->awake + e->active + e->bytes + e->ops;
}

/* ---- GPUs ---------------------------------------------------------------------------------------------------------------- */

double dse_gpu_idle_w(const struct dse_gpu *gpu)
{
    const double share = 0.13; /* A100 60 of 400 W, H200 77 of 700 W: sources in catalog/gpus.toml */
    return isnan(gpu->power.idle_w) ? share * gpu->board_power_w : gpu->power.idle_w;
}

double dse_gpu_way_pj_per_bit(const struct dse_costs *book, int32_t memory_kind, double die_mm2)
{
    enum { WRITTEN_AND_READ = 2, WORD_BITS = 64, FJ_PER_PJ = 1000 };
    const double known = dse_by_kind(book, DSE_C_phy_pj_hbm2, memory_kind);
    const double interface = isnan(known) ? dse_physical(book, DSE_C_phy_pj_hbm2) : known;
    const double wire = dse_physical(book, DSE_C_wire_fj_bit_mm_10nm) / FJ_PER_PJ;
    const double caches = dse_physical(book, DSE_C_sram_1mib_pj_7nm) + dse_physical(book, DSE_C_sram_32kib_pj_7nm);
    return interface + wire * sqrt(die_mm2) + WRITTEN_AND_READ * caches / WORD_BITS;
}

struct dse_power_law dse_gpu_power_law(const struct dse_gpu *gpu, const struct dse_gpu_shares *shares, double idle_w,
                                       double dram_pj_per_bit, double way_pj_per_bit, double tensor_tflops)
{
    const double tera = 1e3 * DSE_GIGA, range_w = gpu->board_power_w - idle_w;
    return (struct dse_power_law){.idle_w = idle_w,
                                  .awake_w = shares->awake * range_w,
                                  .active_w = shares->active * range_w,
                                  .byte_j = (dram_pj_per_bit + way_pj_per_bit) * DSE_BITS_PER_BYTE * DSE_PICO,
                                  .op_j = shares->tensor * range_w / (tensor_tflops * tera)};
}

double dse_gpu_voltage_squared(double clock)
{
    const double lowest = 0.5, voltage = dse_max(clock, lowest);
    return voltage * voltage;
}

struct dse_power_law dse_gpu_power_at(const struct dse_power_law *law, double clock, double sms)
{
    const double voltage2 = dse_gpu_voltage_squared(clock);
    struct dse_power_law at = *law;
    at.awake_w *= sms * clock * voltage2;
    at.active_w *= sms * clock * voltage2;
    at.op_j *= voltage2;
    return at;
}

double dse_gpu_power_w(const struct dse_power_law *law, const struct dse_activity *a, double limit_w)
{
    const struct dse_energy e = dse_energy_of(law, a);
    return dse_min(limit_w, dse_energy_sum(&e) / a->seconds);
}
