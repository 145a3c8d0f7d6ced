/* What a SwiftKV takes of an FPGA, and its power (E9, E10). */
#include "swiftkv.h"

/* Table II: the array of 32 processors of 128 + 12 DSPs, at 225 MHz. */
static const double table_processors = 32, table_dsps = 128, table_mhz = 225;
static const struct {
    double luts, ffs, brams;
} table_sfu = {14e3, 15e3, 46}, table_dispatcher = {148e3, 65e3, 0}, table_array = {355e3, 328e3, 224}, table_buffer = {0, 0, 136};
static const double sfu_dsps = 38;
static const double table_luts = 14e3 + 148e3 + 355e3;
/* compute_utilization of the closed form where the paper's power is of: Llama-2 7B at 512 positions. A test holds it. */
static const double published_utilization = 0.5949755472496088;

/* E10. Everything that is clocked is clocked all the time. */
static struct dse_power_law law_of(const struct swiftkv_params *p, double luts)
{
    const double hz_per_mhz = 1e6, size = luts / table_luts * (p->clock_mhz / table_mhz), dynamic = 1 - p->static_share;
    if (p->power == DSE_POWER_CONSTANT)
        return (struct dse_power_law){.idle_w = p->reference_power_w * (p->static_share + dynamic * size)};
    const double tree = dse_physical(p->economics.costs, DSE_C_clock_share);
    const double products = published_utilization * table_processors * table_dsps * table_mhz * hz_per_mhz;
    return (struct dse_power_law){.idle_w = p->reference_power_w * p->static_share,
                                  .awake_w = p->reference_power_w * dynamic * tree * size,
                                  .op_j = p->reference_power_w * dynamic * (1 - tree) / products};
}

double swiftkv_joules(const struct swiftkv_params *p, const struct swiftkv_chip *chip, double seconds, double bytes,
                      double dsp_products)
{
    const struct dse_activity a = {.seconds = seconds, .awake_s = seconds, .ops = dsp_products};
    const struct dse_energy e = dse_energy_of(&chip->law, &a);
    return dse_energy_sum(&e) + dse_dram_joules(&p->dram, bytes);
}

double swiftkv_luts_per_dsp(const struct swiftkv_params *p)
{
    const double arrays = p->value_update == SWIFTKV_UPDATE_OWN ? 2 : 1; /* dot product and update */
    return (table_dispatcher.luts + arrays * table_array.luts) / (table_processors * table_dsps);
}

void swiftkv_chip_at(const struct swiftkv_params *p, struct swiftkv_chip *ret)
{
    double processors = (double)p->processors, mac_dsps = (double)p->dsps_per_processor;
    double arrays = p->value_update == SWIFTKV_UPDATE_OWN ? 2 : 1; /* of mac_dsps each: dot product and update */
    double wide = processors * mac_dsps / (table_processors * table_dsps);
    ret->luts = table_sfu.luts + table_buffer.luts + wide * (table_dispatcher.luts + arrays * table_array.luts);
    ret->ffs = table_sfu.ffs + table_buffer.ffs + wide * (table_dispatcher.ffs + arrays * table_array.ffs);
    ret->brams = table_sfu.brams + table_buffer.brams + wide * (table_dispatcher.brams + table_array.brams);
    ret->array_dsps = processors * (arrays * mac_dsps + (double)p->extra_dsps);
    ret->dsps = sfu_dsps + ret->array_dsps;
    ret->law = law_of(p, ret->luts);
}

const char *swiftkv_chip_check(const struct swiftkv_params *p)
{
    struct swiftkv_chip chip;
    swiftkv_chip_at(p, &chip);
    if (chip.dsps > (double)p->fpga->dsps) return "more DSPs than the FPGA has";
    if (chip.luts > (double)p->fpga->luts) return "more LUTs than the FPGA has";
    if (chip.ffs > (double)p->fpga->ffs) return "more flip-flops than the FPGA has";
    if (chip.brams > (double)p->fpga->brams) return "more block RAMs than the FPGA has";
    return NULL;
}
