/* What a SwiftKV takes of an FPGA, and its power (E9, E10). */
#include "swiftkv.h"

/* Table II: the array of 32 processors of 128 + 12 DSPs, at 225 MHz. */
static const double table_processors = 32, table_dsps = 128, table_mhz = 225;
static const struct {
    double luts, ffs, brams;
} table_sfu = {14e3, 15e3, 46}, table_dispatcher = {148e3, 65e3, 0}, table_array = {355e3, 328e3, 224}, table_buffer = {0, 0, 136};
static const double sfu_dsps = 38;
static const double table_luts = 14e3 + 148e3 + 355e3;

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
    double dynamic = (1 - p->static_share) * (ret->luts / table_luts) * (p->clock_mhz / table_mhz);
    ret->watts = p->reference_power_w * (p->static_share + dynamic);
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
