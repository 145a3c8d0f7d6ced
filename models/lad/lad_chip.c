/* Area and power of the chip: Table III, scaled (E19). */
#include "lad_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>
#include <math.h>

/* Table III, one tile at 1 GHz in 22 nm; the VPU row is all seven. SRAM rows are the catalog's table "lad-table3". */
const struct lad_module lad_table3[LAD_MODULES] = {
    [LAD_MODULE_EAS] = {"EAS", 0.003, 1.37, 0.78},    [LAD_MODULE_APID] = {"APID", 0.006, 2.31, 0.99},
    [LAD_MODULE_MD] = {"MD", 0.001, 1.06, 0.34},      [LAD_MODULE_AC] = {"AC", 0.087, 92.20, 20.20},
    [LAD_MODULE_VPU] = {"VPU", 0.398, 291.78, 77.60}, [LAD_MODULE_SFM] = {"SFM", 0.069, 43.29, 16.90},
};

enum { TABLE3_NM = 22, TABLE3_EAS = 2, TABLE3_APID = 12, TABLE3_MD = 2, TABLE3_AC = 3, TABLE3_VPUS = 7, TABLE3_WIDTH = 128 };

const double lad_table3_lanes[LAD_MODULES] = {
    [LAD_MODULE_EAS] = TABLE3_EAS,
    [LAD_MODULE_APID] = TABLE3_APID,
    [LAD_MODULE_MD] = TABLE3_MD,
    [LAD_MODULE_AC] = (double)TABLE3_AC * TABLE3_WIDTH,
    [LAD_MODULE_VPU] = (double)TABLE3_VPUS * TABLE3_WIDTH,
    [LAD_MODULE_SFM] = TABLE3_WIDTH,
};

/* How much more of each module there is than in Table III (A9). */
static void module_scales(const struct lad_params *p, double scale[LAD_MODULES])
{
    double width = (double)p->vpu_width / TABLE3_WIDTH;
    scale[LAD_MODULE_EAS] = (double)p->vpu_eas / TABLE3_EAS;
    scale[LAD_MODULE_APID] = (double)p->apid_width / TABLE3_APID;
    scale[LAD_MODULE_MD] = (double)p->vpu_md / TABLE3_MD;
    scale[LAD_MODULE_AC] = width * (double)p->vpu_ac / TABLE3_AC;
    scale[LAD_MODULE_VPU] = width * (double)(p->vpu_eas + p->vpu_md + p->vpu_ac) / TABLE3_VPUS;
    scale[LAD_MODULE_SFM] = width;
}

/* Dynamic power [mW] of one tile's SRAM: as published under load, at the clock; or, from the energy of an access, one row read
 * every cycle and the tile's share of the peak HBM bandwidth written (A10). */
static double sram_dynamic_mw(const struct lad_params *p, const struct dse_sram *s)
{
    if (!isnan(s->dynamic_mw)) return s->dynamic_mw * p->clock_ghz;
    double word = (double)p->sram_word_bits, row = (double)(p->vpu_width * p->cache_bits);
    double reads_ghz = p->clock_ghz * row / word;
    double writes_ghz = p->dram.bandwidth_gbs / (double)p->tiles * DSE_BITS_PER_BYTE / word;
    return reads_ghz * s->read_pj + writes_ghz * s->write_pj; /* 1e9 accesses a second of 1e-12 J: mW */
}

struct ratios {
    double area, energy, power;
};

/* `area`: DSE_TECH_AREA of logic, DSE_TECH_SRAM_AREA of SRAM. */
static struct ratios tech_ratios(const struct dse_technology *to, double from_nm, enum dse_tech_metric area)
{
    if (to->node_nm == from_nm) return (struct ratios){1, 1, 1};
    return (struct ratios){.area = dse_tech_ratio(to, from_nm, area),
                           .energy = dse_tech_ratio(to, from_nm, DSE_TECH_ENERGY),
                           .power = dse_tech_ratio(to, from_nm, DSE_TECH_POWER)};
}

static bool known(struct ratios r)
{
    return !isnan(r.area) && !isnan(r.energy) && !isnan(r.power);
}

static double tile_mm2(const double scale[LAD_MODULES], double logic_ratio, double sram_mm2)
{
    double area = 0;
    for (int i = 0; i < LAD_MODULES; i++) area += scale[i] * lad_table3[i].area_mm2;
    return area * logic_ratio + sram_mm2;
}

/* E45: what links to other chips take of the die; mm2 is NaN where no source knows their PHYs. */
static void links_at(const struct lad_params *p, struct dse_links_die *ret)
{
    *ret = (struct dse_links_die){0};
    if (p->area == DSE_AREA_CORE || dse_workload_chips(&p->workload) == 1) return;
    dse_links_die_at(p->economics.costs, &p->links, p->technology->node_nm, ret);
}

double lad_links_mm2(const struct lad_params *p)
{
    struct dse_links_die links;
    links_at(p, &links);
    return links.mm2;
}

/* The die (E37) that the parameters ask for. */
static void die_at(const struct lad_params *p, double each_mm2, struct dse_die *ret)
{
    struct dse_links_die links;
    dse_die_at(p->economics.costs, p->area, (double)p->tiles * each_mm2, p->tiles, &p->dram, p->technology->node_nm, ret);
    links_at(p, &links);
    if (!(links.mm2 > 0)) return; /* none, or left out */
    ret->area_mm2 += links.mm2;
    ret->edge_mm += links.edge_mm;
}

/* E36, E37. */
static const char *check_physics(const struct lad_params *p, double logic_ratio, double sram_mm2)
{
    const struct dse_costs *book = p->economics.costs;
    double scale[LAD_MODULES];
    struct dse_die die;
    if (p->power == DSE_POWER_ACTIVITY) {
        if (!dse_supply_reaches(book, p->technology, TABLE3_NM, LAD_PUBLISHED_GHZ, p->clock_ghz)) return dse_too_fast;
        if (!dse_interface_known(book, p->dram.memory)) return dse_no_interface;
    }
    if (p->area == DSE_AREA_CORE) return NULL;
    module_scales(p, scale);
    die_at(p, tile_mm2(scale, logic_ratio, sram_mm2), &die);
    return dse_die_check(book, &die);
}

const char *lad_chip_check(const struct lad_params *p)
{
    struct dse_sram sram;
    double from, to;
    dse_sram_range(p->sram, &from, &to);
    if (!(p->sram_mib >= from && p->sram_mib <= to)) return "the SRAM table has no macro of this capacity";
    if (!dse_sram_at(p->sram, p->sram_mib, (double)p->sram_word_bits, &sram))
        return "the SRAM table has no macro of this word width";
    if (isnan(sram.area_mm2) || isnan(sram.leakage_mw) || isnan(sram_dynamic_mw(p, &sram)))
        return "the SRAM table lacks area, leakage or energy";
    struct ratios logic = tech_ratios(p->technology, TABLE3_NM, DSE_TECH_AREA),
                  memory = tech_ratios(p->technology, dse_sram_node_nm(p->sram), DSE_TECH_SRAM_AREA);
    if (!known(logic)) return "the technology's scaling method does not cover 22 nm, the node of Table III";
    if (!known(memory)) return "the technology's scaling method does not cover the node of the SRAM table";
    return check_physics(p, logic.area, sram.area_mm2 * memory.area);
}

bool lad_chip_shortage(const struct lad_params *p, const char *reason, struct dse_shortage *ret)
{
    struct dse_sram sram;
    struct lad_chip chip;
    if (!dse_sram_at(p->sram, p->sram_mib, (double)p->sram_word_bits, &sram)) return false; /* another reason */
    lad_chip_at(p, &chip);
    return dse_supply_shortage(&chip.supply, p->clock_ghz, reason, ret) ||
           dse_die_shortage(p->economics.costs, &chip.die, reason, ret);
}

void lad_chip_at(const struct lad_params *p, struct lad_chip *ret)
{
    struct dse_sram sram;
    bool covered = dse_sram_at(p->sram, p->sram_mib, (double)p->sram_word_bits, &sram);
    assert(covered);
    (void)covered;
    double sram_mw = sram_dynamic_mw(p, &sram);
    struct ratios logic = tech_ratios(p->technology, TABLE3_NM, DSE_TECH_AREA);
    struct ratios memory = tech_ratios(p->technology, dse_sram_node_nm(p->sram), DSE_TECH_SRAM_AREA);
    double scale[LAD_MODULES], dynamic_mw = 0, static_mw = 0;
    module_scales(p, scale);
    double tiles_w = (double)p->tiles / DSE_MW_PER_W;
    for (int i = 0; i < LAD_MODULES; i++) {
        dynamic_mw += scale[i] * lad_table3[i].dynamic_mw;
        static_mw += scale[i] * lad_table3[i].static_mw;
    }
    *ret = (struct lad_chip){
        .sram_area_mm2 = sram.area_mm2 * memory.area,
        .tile_area_mm2 = tile_mm2(scale, logic.area, sram.area_mm2 * memory.area),
        .sram = sram,
        .dynamic_modules_w = tiles_w * dynamic_mw * p->clock_ghz * logic.energy,
        .static_modules_w = tiles_w * static_mw * logic.power,
        .dynamic_sram_w = tiles_w * sram_mw * memory.energy,
        .static_sram_w = tiles_w * sram.leakage_mw * memory.power,
        .sram_energy_ratio = memory.energy,
        .logic_energy_ratio = logic.energy,
    };
    for (int i = 0; i < LAD_MODULES; i++)
        ret->module_dynamic_w[i] = tiles_w * scale[i] * lad_table3[i].dynamic_mw * p->clock_ghz * logic.energy;
    if (p->power == DSE_POWER_ACTIVITY)
        dse_supply_at(p->economics.costs, p->technology, TABLE3_NM, LAD_PUBLISHED_GHZ, p->clock_ghz, &ret->supply);
    die_at(p, ret->tile_area_mm2, &ret->die);
}

void lad_compute_shares(const struct lad_params *p, double *ret_area, double *ret_power)
{
    struct ratios logic = tech_ratios(p->technology, TABLE3_NM, DSE_TECH_AREA);
    double scale[LAD_MODULES], area[2] = {0}, power[2] = {0}; /* of all modules; of the computation modules */
    module_scales(p, scale);
    for (int i = 0; i < LAD_MODULES; i++) {
        const struct lad_module *m = &lad_table3[i];
        double mw = m->dynamic_mw * p->clock_ghz * logic.energy + m->static_mw * logic.power;
        for (int part = 0; part < 2; part++) {
            if (part == 1 && i != LAD_MODULE_VPU && i != LAD_MODULE_SFM) continue;
            area[part] += scale[i] * m->area_mm2;
            power[part] += scale[i] * mw;
        }
    }
    *ret_area = area[1] / area[0];
    *ret_power = power[1] / power[0];
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* x / (x + rest) grows with x and falls with the rest. */
static struct dse_interval share_bound(struct dse_interval part, struct dse_interval rest)
{
    return dse_widened(part.lo / (part.lo + rest.hi), part.hi / (part.hi + rest.lo), 4);
}

static void modules_bound(const struct lad_params *lo, const struct lad_params *hi, const double x[LAD_MODULES],
                          struct lad_modules_bound *ret)
{
    const struct dse_interval eas = dse_iv_i64(lo->vpu_eas, hi->vpu_eas), md = dse_iv_i64(lo->vpu_md, hi->vpu_md),
                              ac = dse_iv_i64(lo->vpu_ac, hi->vpu_ac), apid = dse_iv_i64(lo->apid_width, hi->apid_width);
    const struct dse_interval vpus = dse_iv_add(eas, dse_iv_add(md, ac));
    double each[LAD_MODULES];
    for (int i = 0; i < LAD_MODULES; i++) each[i] = x[i] / lad_table3_lanes[i];
    ret->tile[LAD_VPU_LANES] = dse_iv_scale(vpus, each[LAD_MODULE_VPU]);
    ret->tile[LAD_AC_LANES] = dse_iv_scale(ac, each[LAD_MODULE_AC]);
    ret->tile[LAD_SFM_LANES] = dse_iv_of(each[LAD_MODULE_SFM]);
    ret->tile[LAD_WITHOUT_LANES] =
        dse_iv_add(dse_iv_add(dse_iv_scale(eas, each[LAD_MODULE_EAS]), dse_iv_scale(md, each[LAD_MODULE_MD])),
                   dse_iv_scale(apid, each[LAD_MODULE_APID]));
    ret->a_vpu[LAD_VPU_LANES] = dse_iv_of(each[LAD_MODULE_VPU]);
    ret->a_vpu[LAD_AC_LANES] = dse_iv_scale(share_bound(ac, dse_iv_add(eas, md)), each[LAD_MODULE_AC]);
    ret->a_vpu[LAD_SFM_LANES] = dse_iv_div(dse_iv_of(each[LAD_MODULE_SFM]), vpus);
    ret->a_vpu[LAD_WITHOUT_LANES] = dse_iv_add(dse_iv_add(dse_iv_scale(share_bound(eas, dse_iv_add(md, ac)), each[LAD_MODULE_EAS]),
                                                          dse_iv_scale(share_bound(md, dse_iv_add(eas, ac)), each[LAD_MODULE_MD])),
                                               dse_iv_scale(dse_iv_div(apid, vpus), each[LAD_MODULE_APID]));
}

struct dse_interval lad_tile_bound(const struct lad_modules_bound *m, struct dse_interval width)
{
    const struct dse_interval lanes = dse_iv_add(m->tile[LAD_VPU_LANES], dse_iv_add(m->tile[LAD_AC_LANES], m->tile[LAD_SFM_LANES]));
    return dse_iv_add(m->tile[LAD_WITHOUT_LANES], dse_iv_mul(width, lanes));
}

struct dse_interval lad_sram_mw_bound(const struct lad_params *lo, const struct lad_params *hi, const struct lad_chip_bound *chip)
{
    const struct dse_interval clock = dse_iv(lo->clock_ghz, hi->clock_ghz), tiles = dse_iv_i64(lo->tiles, hi->tiles);
    const struct dse_sram_bound *s = &chip->sram;
    if (isfinite(s->dynamic_mw.hi)) return dse_iv_mul(s->dynamic_mw, clock);
    const struct dse_interval word = dse_iv_i64(lo->sram_word_bits, hi->sram_word_bits);
    const struct dse_interval row = dse_iv_i64(lo->vpu_width * lo->cache_bits, hi->vpu_width * hi->cache_bits);
    const struct dse_interval bits =
        dse_iv_scale(dse_iv_div(dse_iv(lo->dram.bandwidth_gbs, hi->dram.bandwidth_gbs), tiles), DSE_BITS_PER_BYTE);
    return dse_iv_add(dse_iv_mul(dse_iv_div(dse_iv_mul(clock, row), word), s->read_pj),
                      dse_iv_mul(dse_iv_div(bits, word), s->write_pj));
}

/* What does not depend on numbers of the box: does it keep all of it from being priced? */
static bool unpriced(const struct lad_params *p, const struct lad_chip_bound *chip)
{
    const struct ratios logic = tech_ratios(p->technology, TABLE3_NM, DSE_TECH_AREA),
                        memory = tech_ratios(p->technology, dse_sram_node_nm(p->sram), DSE_TECH_SRAM_AREA);
    const struct dse_sram_bound *s = &chip->sram;
    const bool dynamic = isfinite(s->dynamic_mw.hi) || (isfinite(s->read_pj.hi) && isfinite(s->write_pj.hi));
    return !known(logic) || !known(memory) || !isfinite(s->area_mm2.hi) || !isfinite(s->leakage_mw.hi) || !dynamic ||
           (p->power == DSE_POWER_ACTIVITY && !dse_interface_known(p->economics.costs, p->dram.memory));
}

/* E45. */
static bool add_links(const struct lad_params *lo, const struct lad_params *hi, struct dse_die_bound *die,
                      struct dse_interval *ret_mm2)
{
    const double reticle = dse_physical(lo->economics.costs, DSE_C_reticle_mm2);
    struct dse_links_die few, many;
    links_at(lo, &few);
    links_at(hi, &many);
    *ret_mm2 = isnan(many.mm2) ? dse_unbounded : dse_iv(few.mm2, many.mm2);
    if (!(many.mm2 > 0)) return true;
    die->area_mm2 = dse_iv_add(die->area_mm2, *ret_mm2);
    if (die->area_mm2.lo > reticle) return false;
    die->area_mm2.hi = dse_min(die->area_mm2.hi, reticle);
    return true;
}

bool lad_chip_bound(const struct lad_params *lo, const struct lad_params *hi, struct lad_chip_bound *ret)
{
    const struct dse_costs *book = lo->economics.costs;
    const struct dse_interval clock = dse_iv(lo->clock_ghz, hi->clock_ghz), tiles = dse_iv_i64(lo->tiles, hi->tiles),
                              width = dse_iv_i64(lo->vpu_width, hi->vpu_width), one = dse_iv_of(1);
    struct lad_modules_bound area;
    double mm2[LAD_MODULES], static_mw[LAD_MODULES], dynamic_mw[LAD_MODULES];
    for (int i = 0; i < LAD_MODULES; i++) {
        mm2[i] = lad_table3[i].area_mm2;
        static_mw[i] = lad_table3[i].static_mw;
        dynamic_mw[i] = lad_table3[i].dynamic_mw;
    }
    if (!dse_sram_bound(lo->sram, dse_iv(lo->sram_mib, hi->sram_mib), dse_iv_i64(lo->sram_word_bits, hi->sram_word_bits),
                        &ret->sram) ||
        unpriced(lo, ret))
        return false;
    const struct ratios logic = tech_ratios(lo->technology, TABLE3_NM, DSE_TECH_AREA),
                        memory = tech_ratios(lo->technology, dse_sram_node_nm(lo->sram), DSE_TECH_SRAM_AREA);
    ret->logic_energy = logic.energy;
    ret->logic_power = logic.power;
    ret->sram_energy = memory.energy;
    ret->sram_power = memory.power;
    ret->supply = (struct dse_supply_bound){one, one, one, one, one};
    if (lo->power == DSE_POWER_ACTIVITY &&
        !dse_supply_bound(book, lo->technology, TABLE3_NM, LAD_PUBLISHED_GHZ, clock, &ret->supply))
        return false;
    modules_bound(lo, hi, mm2, &area);
    modules_bound(lo, hi, static_mw, &ret->static_mw);
    modules_bound(lo, hi, dynamic_mw, &ret->dynamic_mw);
    ret->sram_mm2 = dse_iv_scale(ret->sram.area_mm2, memory.area);
    ret->tile_mm2 = dse_iv_add(dse_iv_scale(lad_tile_bound(&area, width), logic.area), ret->sram_mm2);
    return dse_die_bound(book, lo->area, dse_iv_mul(tiles, ret->tile_mm2), tiles, &lo->dram, &hi->dram, lo->technology->node_nm,
                         true, &ret->die) &&
           add_links(lo, hi, &ret->die, &ret->links_mm2);
}
