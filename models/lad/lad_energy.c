/* Energy by activity: Table III taken apart (E35), or as it is printed (E21). */
#include "lad.h"

#include <dse/units.h>

#include <math.h>

/* What Table III is taken to be measured at (A16): every module at work in every cycle; of its SRAM one row of the VPUs' width is
 * read in a cycle (A10), and a tile's share of the peak bandwidth passes. */
enum { TABLE3_ROW_BYTES = 256, TABLE3_DRAM_BYTES = 256 /* 1536 GB/s over 6 tiles, a cycle of 1 GHz */ };
static const double table3_clock_hz = 1e9;
static const double table3_hop = 0.30 / 0.19; /* energy of 22 nm over 14, the node nearest to 12 that DeepScaleTool has */
/* Bits that the modules of such a tile ask for in a cycle: 16 for each of 7 * 128 multipliers, G and score of 12 positions. */
enum { TABLE3_ASKED_BITS = 7 * 128 * 16 + 12 * (64 + 16) };

/* Joules of a byte to or from the SRAM: as published under load; or of an access. */
static void sram_joules(const struct lad_params *p, const struct dse_sram *s, double scale, double *ret_read, double *ret_write)
{
    if (isnan(s->dynamic_mw)) {
        double words = DSE_PICO * DSE_BITS_PER_BYTE / (double)p->sram_word_bits;
        *ret_read = s->read_pj * words * scale;
        *ret_write = s->write_pj * words * scale;
    } else {
        *ret_read = *ret_write = s->dynamic_mw / DSE_MW_PER_W / (table3_clock_hz * (TABLE3_ROW_BYTES + TABLE3_DRAM_BYTES)) * scale;
    }
}

static void price_modules(const struct lad_params *p, const struct lad_chip *chip, double energy, double busy,
                          struct lad_power *ret)
{
    double width = (double)p->vpu_width, vpus = (double)(p->vpu_eas + p->vpu_md + p->vpu_ac);
    double cycle_j = busy * energy / ((double)p->tiles * p->clock_ghz * DSE_GIGA); /* of a watt of all tiles at the clock */
    const double *w = chip->module_dynamic_w;
    ret->mac_j = w[LAD_MODULE_VPU] * cycle_j / (vpus * width);
    ret->sfm_op_j = w[LAD_MODULE_SFM] * cycle_j / width;
    ret->eas_cycle_j = w[LAD_MODULE_EAS] * cycle_j;
    ret->apid_cycle_j = w[LAD_MODULE_APID] * cycle_j;
    ret->md_cycle_j = w[LAD_MODULE_MD] * cycle_j;
    ret->ac_cycle_j = w[LAD_MODULE_AC] * cycle_j;
}

void lad_power_at(const struct lad_params *p, const struct lad_chip *chip, struct lad_power *ret)
{
    *ret = (struct lad_power){.dram = &p->dram, .constant = p->power == DSE_POWER_CONSTANT};
    if (ret->constant) {
        ret->modules_w = chip->dynamic_modules_w + chip->static_modules_w;
        ret->sram_w = chip->dynamic_sram_w + chip->static_sram_w;
        ret->watts = lad_watts(chip);
        return;
    }
    const struct dse_costs *book = p->economics.costs;
    const struct dse_supply *s = &chip->supply;
    double clock_share = dse_physical(book, DSE_C_clock_share), read_j, write_j;
    ret->leakage_w = (chip->static_modules_w + chip->static_sram_w) * s->leakage;
    ret->clock_w = chip->dynamic_modules_w * clock_share * s->clock_tree;
    ret->watts = ret->leakage_w + ret->clock_w;
    price_modules(p, chip, s->energy, 1 - clock_share, ret);
    sram_joules(p, &chip->sram, chip->sram_energy_ratio * s->energy, &read_j, &write_j);
    double row_j = read_j * TABLE3_ROW_BYTES / TABLE3_ASKED_BITS; /* of a bit that a module asks for */
    ret->mac_sram_j = row_j * (double)p->cache_bits;
    ret->apid_sram_j = row_j * (double)(p->apid_width * (p->position_bits + p->cache_bits));
    ret->byte_sram_j = write_j;
    ret->byte_interface_j = dse_interface_joules(book, p->dram.memory, table3_hop * chip->logic_energy_ratio * s->energy);
}

struct dse_joules lad_joules_of(const struct lad_power *e, const struct lad_work *w)
{
    struct dse_joules j = {.dram = dse_dram_joules(e->dram, w->bytes)};
    if (e->constant) {
        j.modules = e->modules_w * w->seconds;
        j.sram = e->sram_w * w->seconds;
        j.all = j.work = e->watts * w->seconds + j.dram;
        return j;
    }
    j.leakage = e->leakage_w * w->seconds;
    j.clock = e->clock_w * w->seconds;
    j.modules = e->mac_j * w->macs + e->sfm_op_j * w->sfm_ops + e->eas_cycle_j * w->stages.eas + e->apid_cycle_j * w->stages.apid +
                e->md_cycle_j * w->stages.md + e->ac_cycle_j * w->stages.ac;
    j.sram = e->mac_sram_j * w->macs + e->apid_sram_j * w->stages.apid + e->byte_sram_j * w->bytes;
    j.interface = e->byte_interface_j * w->bytes;
    j.work = j.modules + j.sram + j.dram + j.interface;
    j.all = j.leakage + j.clock + j.work;
    return j;
}

struct lad_work lad_op_work(const struct lad_op *o)
{
    struct lad_work w = {.seconds = o->time_s, .bytes = o->batch_bytes};
    if (o->kind == DSE_OP_ELEMENTWISE)
        w.sfm_ops = o->batch_ops;
    else
        w.macs = o->batch_ops / DSE_OPS_PER_MAC;
    return w;
}

struct lad_work lad_attention_work(const struct lad_point *pt, const struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    struct lad_work w = {.seconds = a->time_s, .bytes = a->stage1_bytes + a->stage4_bytes, .macs = a->macs};
    if (!pt->locality_aware) return w;
    double samples = pt->head_samples * s->batch;
    w.stages = (struct lad_stages){.eas = samples * a->stages.eas,
                                   .apid = samples * a->stages.apid,
                                   .md = samples * a->stages.md,
                                   .ac = samples * a->stages.ac};
    return w;
}

struct lad_work lad_step_work(const struct lad_point *pt, const struct lad_step *s)
{
    struct lad_work w = lad_attention_work(pt, s);
    w.seconds = s->time_s;
    w.bytes = s->bytes;
    w.macs = s->vpu_ops / DSE_OPS_PER_MAC;
    for (int i = 0; i < s->n_ops; i++)
        if (s->op[i].kind == DSE_OP_ELEMENTWISE) w.sfm_ops += s->op[i].batch_ops;
    return w;
}
