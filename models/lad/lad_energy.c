/* Energy by activity: Table III taken apart (E35), or as it is printed (E21). */
#include "lad_bound.h"

#include <dse/num.h>
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
    struct dse_joules j = {.dram = dse_dram_joules(e->dram, w->bytes), .links = w->link_joules};
    if (e->constant) {
        j.modules = e->modules_w * w->seconds;
        j.sram = e->sram_w * w->seconds;
        j.all = j.work = e->watts * w->seconds + j.dram + j.links;
        return j;
    }
    j.leakage = e->leakage_w * w->seconds;
    j.clock = e->clock_w * w->seconds;
    j.modules = e->mac_j * w->macs + e->sfm_op_j * w->sfm_ops + e->eas_cycle_j * w->stages.eas + e->apid_cycle_j * w->stages.apid +
                e->md_cycle_j * w->stages.md + e->ac_cycle_j * w->stages.ac;
    j.sram = e->mac_sram_j * w->macs + e->apid_sram_j * w->stages.apid + e->byte_sram_j * w->bytes;
    j.interface = e->byte_interface_j * w->bytes;
    j.work = j.modules + j.sram + j.dram + j.interface + j.links;
    j.all = j.leakage + j.clock + j.work;
    return j;
}

struct lad_work lad_op_work(const struct lad_op *o)
{
    struct lad_work w = {.seconds = o->time_s, .bytes = o->batch_bytes, .link_joules = o->link_joules};
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
    w.link_joules = s->link_joules;
    w.macs = s->vpu_ops / DSE_OPS_PER_MAC;
    for (int i = 0; i < s->n_ops; i++)
        if (s->op[i].kind == DSE_OP_ELEMENTWISE) w.sfm_ops += s->op[i].batch_ops;
    return w;
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* Something drawn whatever is done: watts of all tiles, and joules of it for a row in a pass of the VPUs, or in each lane of the
 * passes, where the VPUs of all tiles compute: watts over what all VPUs do, which tiles, VPUs and, of lanes, the width are not in
 * any more. */
struct draw {
    struct dse_interval watts, row_j;
    bool by_lane;
};
enum { DRAWS_MAX = 2 * (LAD_GROUPS + 1) };
struct draws {
    int n;
    struct draw draw[DRAWS_MAX];
};

/* Of modules by Table III, at so many watts, and joules a cycle, of each of its milliwatts. */
static void draw_modules(const struct lad_box *b, const struct lad_modules_bound *mw, struct dse_interval watts,
                         struct dse_interval cycle_j, struct draws *d)
{
    const struct dse_interval lanes_w = dse_iv_mul(dse_iv_mul(watts, b->tiles), b->width), without_w = dse_iv_mul(watts, b->tiles);
    for (int g = 0; g < LAD_GROUPS; g++) {
        const bool by_lane = g != LAD_WITHOUT_LANES;
        d->draw[d->n++] = (struct draw){.watts = dse_iv_mul(mw->tile[g], by_lane ? lanes_w : without_w),
                                        .row_j = dse_iv_mul(mw->a_vpu[g], cycle_j),
                                        .by_lane = by_lane};
    }
}

static void draw_sram(const struct lad_box *b, struct dse_interval tile_w, struct dse_interval cycle_j, struct draws *d)
{
    d->draw[d->n++] = (struct draw){.watts = dse_iv_mul(b->tiles, tile_w), .row_j = dse_iv_div(cycle_j, b->vpus)};
}

static struct dse_interval draws_watts(const struct draws *d, int from, int to)
{
    struct dse_interval sum = dse_iv_of(0);
    for (int i = from; i < to; i++) sum = dse_iv_add(sum, d->draw[i].watts);
    return sum;
}

/* Joules of one draw over a sequence, at least: its operators take the longer of computing and moving; and it is drawn all of the
 * time. In plain numbers, of which the sum is rounded. */
static double draw_least(const struct lad_box *b, const struct draw *w, const struct lad_step_bound *s)
{
    double sum = b->locality_aware ? w->watts.lo * s->attention.time_s.lo : 0;
    for (int i = 0; i < s->n_ops; i++) {
        const struct lad_op_bound *o = &s->op[i];
        const double rows = o->rows.lo * (w->by_lane ? o->lanes.lo : o->passes.lo) * w->row_j.lo;
        sum += dse_max(o->rows.hi > 0 ? rows : w->watts.lo * o->compute_s.lo, w->watts.lo * o->dram_s.lo);
    }
    return dse_max(sum, w->watts.lo * s->time_s.lo);
}

/* Of all draws, an operator at most. */
static double op_most(const struct draws *d, const struct lad_op_bound *o, double watts)
{
    double computing = 0;
    for (int i = 0; i < d->n; i++) {
        const struct draw *w = &d->draw[i];
        const double rows = o->rows.hi * (w->by_lane ? o->lanes.hi : o->passes.hi) * w->row_j.hi;
        computing += o->rows.hi > 0 ? rows : w->watts.hi * o->compute_s.hi;
    }
    return dse_max(computing, watts * o->dram_s.hi);
}

/* Of a sequence. */
static struct dse_interval draws_joules(const struct lad_box *b, const struct draws *d, const struct lad_step_bound *s)
{
    enum { SUMMED = 256 };
    const struct dse_interval watts = draws_watts(d, 0, d->n);
    double lo = 0, hi = b->locality_aware ? watts.hi * s->attention.time_s.hi : 0;
    for (int i = 0; i < d->n; i++) lo += draw_least(b, &d->draw[i], s);
    for (int i = 0; i < s->n_ops; i++) hi += op_most(d, &s->op[i], watts.hi);
    return dse_iv_both(dse_widened(lo, hi, SUMMED), dse_iv_mul(watts, s->time_s));
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
    const struct dse_interval ghz = dse_iv(b->lo.clock_ghz, b->hi.clock_ghz), a_cycle = dse_iv_inv(b->clock_hz);
    const struct dse_interval leaks = dse_iv_of(chip->logic_power / DSE_MW_PER_W);
    const double cycle_j = chip->logic_energy / (DSE_MW_PER_W * DSE_GIGA);
    const struct dse_interval sram_mw = dse_iv_add(dse_iv_scale(lad_sram_mw_bound(&b->lo, &b->hi, chip), chip->sram_energy),
                                                   dse_iv_scale(chip->sram.leakage_mw, chip->sram_power));
    const struct dse_interval sram_w = dse_iv_scale(sram_mw, 1 / DSE_MW_PER_W);
    struct draws d = {.n = 0};
    draw_modules(b, &chip->static_mw, leaks, dse_iv_mul(leaks, a_cycle), &d);
    draw_modules(b, &chip->dynamic_mw, dse_iv_scale(ghz, chip->logic_energy / DSE_MW_PER_W), dse_iv_of(cycle_j), &d);
    const int modules = d.n;
    draw_sram(b, sram_w, dse_iv_mul(sram_w, a_cycle), &d);
    struct lad_joules_bound *j = &ret->step;
    *j = (struct lad_joules_bound){.modules = dse_iv_mul(draws_watts(&d, 0, modules), s->time_s),
                                   .sram = dse_iv_mul(draws_watts(&d, modules, d.n), s->time_s),
                                   .dram = dram_bound(b, s->bytes)};
    ret->drawn = draws_joules(b, &d, s);
    ret->work = j->dram;
    ret->attention_work = dram_bound(b, s->attention.period_bytes);
    j->all = dse_iv_add(ret->drawn, ret->work);
    ret->chip_w = ret->watts = draws_watts(&d, 0, d.n);
    ret->attention = dse_iv_add(dse_iv_mul(ret->chip_w, s->attention.time_s), ret->attention_work);
}

static struct dse_interval work_sum(const struct lad_joules_bound *j)
{
    return dse_iv_add(dse_iv_add(j->modules, j->sram), dse_iv_add(j->dram, j->interface));
}

/* E35: leakage of modules and SRAM, then the clock. Returns how many are leakage. */
static int draw_activity(const struct lad_box *b, const struct lad_chip_bound *chip, struct draws *d)
{
    const double clock_share = dse_physical(b->lo.economics.costs, DSE_C_clock_share);
    const double switches = clock_share * chip->logic_energy / DSE_MW_PER_W;
    const struct dse_interval ghz = dse_iv(b->lo.clock_ghz, b->hi.clock_ghz), tree = chip->supply.clock_tree;
    const struct dse_interval leaks = dse_iv_scale(chip->supply.leakage, 1 / DSE_MW_PER_W),
                              leaks_a_cycle = dse_iv_scale(chip->supply.leakage_a_ghz, 1 / (DSE_MW_PER_W * DSE_GIGA));
    const struct dse_interval sram_mw = dse_iv_scale(chip->sram.leakage_mw, chip->sram_power);
    draw_modules(b, &chip->static_mw, dse_iv_scale(leaks, chip->logic_power), dse_iv_scale(leaks_a_cycle, chip->logic_power), d);
    draw_sram(b, dse_iv_mul(sram_mw, leaks), dse_iv_mul(sram_mw, leaks_a_cycle), d);
    const int leakage = d->n;
    draw_modules(b, &chip->dynamic_mw, dse_iv_scale(dse_iv_mul(ghz, tree), switches), dse_iv_scale(tree, switches / DSE_GIGA), d);
    return leakage;
}

/* E35. */
static void activity_bound(const struct lad_box *b, const struct lad_chip_bound *chip, const struct lad_step_bound *s,
                           struct lad_energy_bound *ret)
{
    struct draws d = {.n = 0};
    const int leakage = draw_activity(b, chip, &d);
    const struct lad_attention_bound *a = &s->attention, *stages = b->locality_aware ? a : NULL;
    const struct work of_step = {dse_iv_scale(s->vpu_ops, 1 / DSE_OPS_PER_MAC), s->sfm_ops, s->bytes, stages},
                      of_attention = {a->macs, dse_iv_of(0), a->period_bytes, stages};
    const struct dse_interval watts = draws_watts(&d, 0, d.n);
    struct lad_joules_bound *j = &ret->step, attention = {.dram = dram_bound(b, a->period_bytes)};
    *j = (struct lad_joules_bound){.leakage = dse_iv_mul(draws_watts(&d, 0, leakage), s->time_s),
                                   .clock = dse_iv_mul(draws_watts(&d, leakage, d.n), s->time_s),
                                   .dram = dram_bound(b, s->bytes)};
    work_bound(b, chip, &of_step, j);
    work_bound(b, chip, &of_attention, &attention);
    ret->watts = watts;
    ret->drawn = draws_joules(b, &d, s);
    ret->work = work_sum(j);
    ret->attention_work = work_sum(&attention);
    j->all = dse_iv_add(ret->drawn, ret->work);
    ret->attention = dse_iv_add(dse_iv_mul(watts, a->time_s), ret->attention_work);
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
