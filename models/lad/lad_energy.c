/* Energy by activity: Table III taken apart (E35), or as it is printed (E21). */
#include "lad_bound.h"

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

/* ---- bounds ---------------------------------------------------------------------------------------------------------------- */

/* What is drawn whatever is done: watts of a tile, and joules of a VPU's pass and of each lane of it, where the VPUs of all tiles
 * compute: watts of all tiles over what all of their VPUs do, which tiles, VPUs and widths are not in any more. */
struct always {
    struct dse_interval tile_w, pass_j, lane_j;
};

/* Of modules by Table III (mw: of a tile, at 1 GHz) times `factor`, and of sram_mw a tile. */
static struct always always_bound(const struct lad_box *b, const struct lad_modules_bound *mw, struct dse_interval factor,
                                  struct dse_interval sram_mw)
{
    const struct dse_interval width = b->width, scale = dse_iv_scale(factor, 1 / DSE_MW_PER_W);
    const struct dse_interval sram_w = dse_iv_scale(sram_mw, 1 / DSE_MW_PER_W);
    const struct dse_interval a_cycle = dse_iv_inv(b->clock_hz);
    return (struct always){.tile_w = dse_iv_add(dse_iv_mul(dse_iv_add(mw->fixed, dse_iv_mul(width, mw->lane)), scale), sram_w),
                           .pass_j =
                               dse_iv_mul(dse_iv_add(dse_iv_mul(mw->fixed_a_vpu, scale), dse_iv_div(sram_w, b->vpus)), a_cycle),
                           .lane_j = dse_iv_mul(dse_iv_mul(mw->lane_a_vpu, scale), a_cycle)};
}

/* Two that add up. */
static struct always always_sum(const struct always *x, const struct always *y)
{
    return (struct always){dse_iv_add(x->tile_w, y->tile_w), dse_iv_add(x->pass_j, y->pass_j), dse_iv_add(x->lane_j, y->lane_j)};
}

/* Joules of it over a sequence: of each operator's longer of computing and moving, and of attention; and not less than in all of
 * the time. */
static struct dse_interval always_joules(const struct lad_box *b, const struct always *w, const struct lad_step_bound *s)
{
    const struct dse_interval watts = dse_iv_mul(b->tiles, w->tile_w);
    struct dse_interval sum = b->locality_aware ? dse_iv_mul(watts, s->attention.time_s) : dse_iv_of(0);
    for (int i = 0; i < s->n_ops; i++) {
        const struct lad_op_bound *o = &s->op[i];
        const struct dse_interval a_row = dse_iv_add(dse_iv_mul(o->passes, w->pass_j), dse_iv_mul(o->lanes, w->lane_j));
        const struct dse_interval computing = o->rows.hi > 0 ? dse_iv_mul(o->rows, a_row) : dse_iv_mul(watts, o->compute_s);
        sum = dse_iv_add(sum, dse_iv_max(computing, dse_iv_mul(watts, o->dram_s)));
    }
    return dse_iv_both(sum, dse_iv_mul(watts, s->time_s));
}

/* sram_joules. */
static void sram_joules_bound(const struct lad_box *b, const struct lad_chip_bound *chip, struct dse_interval *ret_read,
                              struct dse_interval *ret_write)
{
    const struct dse_sram_bound *s = &chip->sram;
    const struct dse_interval scale = dse_iv_scale(chip->supply.energy, chip->sram_energy);
    if (isfinite(s->dynamic_mw.hi)) {
        const double a_byte = 1 / (DSE_MW_PER_W * table3_clock_hz * (TABLE3_ROW_BYTES + TABLE3_DRAM_BYTES));
        *ret_read = *ret_write = dse_iv_scale(dse_iv_mul(s->dynamic_mw, scale), a_byte);
        return;
    }
    const struct dse_interval words = dse_iv_i64(b->lo.sram_word_bits, b->hi.sram_word_bits);
    const struct dse_interval a_byte = dse_iv_mul(scale, dse_iv_div(dse_iv_of(DSE_PICO * DSE_BITS_PER_BYTE), words));
    *ret_read = dse_iv_mul(s->read_pj, a_byte);
    *ret_write = dse_iv_mul(s->write_pj, a_byte);
}

/* E35: joules of work, of a sequence: what is done times what it costs at the nominal supply, times the supply's factor. */
struct work {
    struct dse_interval macs, sfm_ops, bytes;
    const struct lad_attention_bound *stages; /* NULL: none works */
};

static void work_bound(const struct lad_box *b, const struct lad_chip_bound *chip, const struct work *w, struct lad_joules_bound *j)
{
    const struct dse_costs *book = b->lo.economics.costs;
    const struct lad_attention_bound *none = &(const struct lad_attention_bound){.apart_s = 0}, *a = w->stages ? w->stages : none;
    const double busy = (1 - dse_physical(book, DSE_C_clock_share)) * chip->logic_energy / (DSE_MW_PER_W * DSE_GIGA);
    const struct dse_interval energy = chip->supply.energy;
    double mw[LAD_MODULES]; /* of what Table III has one of */
    for (int i = 0; i < LAD_MODULES; i++) mw[i] = lad_table3[i].dynamic_mw / lad_table3_lanes[i];
    const struct dse_interval stages =
        dse_iv_add(dse_iv_add(dse_iv_scale(a->eas_lanes, mw[LAD_MODULE_EAS]), dse_iv_scale(a->apid_lanes, mw[LAD_MODULE_APID])),
                   dse_iv_add(dse_iv_scale(a->md_lanes, mw[LAD_MODULE_MD]), dse_iv_scale(a->ac_lanes, mw[LAD_MODULE_AC])));
    const struct dse_interval others =
        dse_iv_add(dse_iv_scale(w->macs, mw[LAD_MODULE_VPU]), dse_iv_scale(w->sfm_ops, mw[LAD_MODULE_SFM]));
    j->modules = dse_iv_mul(dse_iv_scale(dse_iv_add(others, dse_iv_scale(stages, b->head_samples)), busy), energy);
    struct dse_interval read_j, write_j;
    sram_joules_bound(b, chip, &read_j, &write_j);
    const struct dse_interval cache = dse_iv_i64(b->lo.cache_bits, b->hi.cache_bits);
    const struct dse_interval found = dse_iv_i64(b->lo.position_bits + b->lo.cache_bits, b->hi.position_bits + b->hi.cache_bits);
    const struct dse_interval bits =
        dse_iv_add(dse_iv_mul(w->macs, cache), dse_iv_scale(dse_iv_mul(a->apid_lanes, found), b->head_samples));
    const struct dse_interval rows = dse_iv_scale(bits, (double)TABLE3_ROW_BYTES / TABLE3_ASKED_BITS);
    j->sram = dse_iv_add(dse_iv_mul(rows, read_j), dse_iv_mul(w->bytes, write_j));
    const struct dse_interval hop = dse_iv_scale(energy, table3_hop * chip->logic_energy);
    j->interface = dse_iv_mul(w->bytes, dse_interface_joules_bound(book, b->lo.dram.memory, hop));
}

static struct dse_interval dram_bound(const struct lad_box *b, struct dse_interval bytes)
{
    return dse_dram_joules_bound(&b->lo.dram, &b->hi.dram, bytes);
}

/* E21. */
static void constant_bound(const struct lad_box *b, const struct lad_chip_bound *chip, const struct lad_step_bound *s,
                           struct lad_energy_bound *ret)
{
    const struct dse_interval nothing = dse_iv_of(0), ghz = dse_iv(b->lo.clock_ghz, b->hi.clock_ghz);
    const struct dse_interval leaks = dse_iv_of(chip->logic_power), switches = dse_iv_scale(ghz, chip->logic_energy);
    const struct dse_interval sram_mw = dse_iv_add(dse_iv_scale(lad_sram_mw_bound(&b->lo, &b->hi, chip), chip->sram_energy),
                                                   dse_iv_scale(chip->sram.leakage_mw, chip->sram_power));
    const struct lad_modules_bound none = {nothing, nothing, nothing, nothing};
    const struct always still = always_bound(b, &chip->static_mw, leaks, nothing),
                        moving = always_bound(b, &chip->dynamic_mw, switches, nothing), modules = always_sum(&still, &moving),
                        sram = always_bound(b, &none, nothing, sram_mw), all = always_sum(&modules, &sram);
    struct lad_joules_bound *j = &ret->step;
    *j = (struct lad_joules_bound){.modules = dse_iv_mul(dse_iv_mul(b->tiles, modules.tile_w), s->time_s),
                                   .sram = dse_iv_mul(dse_iv_mul(b->tiles, sram.tile_w), s->time_s),
                                   .dram = dram_bound(b, s->bytes)};
    j->all = dse_iv_add(always_joules(b, &all, s), j->dram);
    ret->chip_w = dse_iv_mul(b->tiles, all.tile_w);
    ret->attention = dse_iv_add(dse_iv_mul(ret->chip_w, s->attention.time_s), dram_bound(b, s->attention.period_bytes));
}

static struct dse_interval work_sum(const struct lad_joules_bound *j)
{
    return dse_iv_add(dse_iv_add(j->modules, j->sram), dse_iv_add(j->dram, j->interface));
}

/* E35. */
static void activity_bound(const struct lad_box *b, const struct lad_chip_bound *chip, const struct lad_step_bound *s,
                           struct lad_energy_bound *ret)
{
    const struct dse_interval ghz = dse_iv(b->lo.clock_ghz, b->hi.clock_ghz), nothing = dse_iv_of(0);
    const double clock_share = dse_physical(b->lo.economics.costs, DSE_C_clock_share);
    const struct dse_interval leaks = dse_iv_scale(chip->supply.leakage, chip->logic_power);
    const struct dse_interval switches = dse_iv_scale(dse_iv_mul(ghz, chip->supply.clock_tree), clock_share * chip->logic_energy);
    const struct dse_interval sram_mw = dse_iv_mul(dse_iv_scale(chip->sram.leakage_mw, chip->sram_power), chip->supply.leakage);
    struct always leakage = always_bound(b, &chip->static_mw, leaks, sram_mw),
                  clock = always_bound(b, &chip->dynamic_mw, switches, nothing);
    const double cycle_j = clock_share * chip->logic_energy / (DSE_MW_PER_W * DSE_GIGA); /* of a cycle, at any clock */
    const struct dse_interval tree = dse_iv_scale(chip->supply.clock_tree, cycle_j);
    clock.pass_j = dse_iv_mul(chip->dynamic_mw.fixed_a_vpu, tree);
    clock.lane_j = dse_iv_mul(chip->dynamic_mw.lane_a_vpu, tree);
    const struct always all = always_sum(&leakage, &clock);
    const struct lad_attention_bound *a = &s->attention, *stages = b->locality_aware ? a : NULL;
    const struct work of_step = {dse_iv_scale(s->vpu_ops, 1 / DSE_OPS_PER_MAC), s->sfm_ops, s->bytes, stages},
                      of_attention = {a->macs, nothing, a->period_bytes, stages};
    struct lad_joules_bound *j = &ret->step, attention = {.dram = dram_bound(b, a->period_bytes)};
    *j = (struct lad_joules_bound){.leakage = dse_iv_mul(dse_iv_mul(b->tiles, leakage.tile_w), s->time_s),
                                   .clock = dse_iv_mul(dse_iv_mul(b->tiles, clock.tile_w), s->time_s),
                                   .dram = dram_bound(b, s->bytes)};
    work_bound(b, chip, &of_step, j);
    work_bound(b, chip, &of_attention, &attention);
    j->all = dse_iv_add(always_joules(b, &all, s), work_sum(j));
    const struct dse_interval watts = dse_iv_mul(b->tiles, all.tile_w);
    ret->attention = dse_iv_add(dse_iv_mul(watts, a->time_s), work_sum(&attention));
    ret->chip_w = dse_iv_add(watts, dse_iv_div(dse_iv_add(j->modules, j->sram), s->time_s));
}

void lad_energy_bound(const struct lad_box *b, const struct lad_chip_bound *chip, const struct lad_step_bound *s,
                      struct lad_energy_bound *ret)
{
    if (b->lo.power == DSE_POWER_CONSTANT)
        constant_bound(b, chip, s, ret);
    else
        activity_bound(b, chip, s, ret);
}
