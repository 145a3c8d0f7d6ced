/* Area and power of the chip: Table I, scaled (E14). */
#include "veda.h"

#include <dse/units.h>

#include <math.h>

/* Table I, 28 nm at 1 GHz; power is static and dynamic together. The buffer's row is the catalog's table "veda-table1". */
static const struct {
    double area_mm2, power_mw;
} table1[VEDA_MODULES] = {
    [VEDA_PE_ARRAY] = {0.493, 175.64},
    [VEDA_VOTING_ENGINE] = {0.069, 26.41},
    [VEDA_SFU] = {0.029, 13.19},
    [VEDA_SCHEDULE] = {0.041, 11.20},
};

enum { TABLE1_PES = 128, TABLE1_VOTE_FIFO = 4096, TABLE1_SFU_UNITS = 4 /* 2 EXP, 2 dividers */ };

/* `area`: DSE_TECH_AREA of logic, DSE_TECH_SRAM_AREA of the buffer. */
static struct veda_ratios tech_ratios(const struct dse_technology *to, double from_nm, enum dse_tech_metric area)
{
    if (to->node_nm == from_nm) return (struct veda_ratios){1, 1, 1};
    return (struct veda_ratios){.area = dse_tech_ratio(to, from_nm, area),
                                .energy = dse_tech_ratio(to, from_nm, DSE_TECH_ENERGY),
                                .power = dse_tech_ratio(to, from_nm, DSE_TECH_POWER)};
}

/* Leakage goes by the power, which nothing else asks for. */
static bool known(const struct veda_params *p, struct veda_ratios r)
{
    return !isnan(r.area) && !isnan(r.energy) && (p->power == DSE_POWER_CONSTANT || !isnan(r.power));
}

/* mW at `clock_ghz`: as published under load; or, from the energy of an access, with a row of inputs read in every other cycle:
 * inner products take one in each, outer products a single element (A10). */
static double sram_mw(const struct veda_params *p, const struct dse_sram *s)
{
    double leakage = isnan(s->leakage_mw) ? 0 : s->leakage_mw;
    if (!isnan(s->dynamic_mw)) return s->dynamic_mw * p->clock_ghz + leakage;
    double row_bits = (double)(p->pe_rows * p->pe_columns * p->pe_copies) * VEDA_ACTIVATION_BYTES * DSE_BITS_PER_BYTE;
    return p->clock_ghz / 2 * row_bits / (double)p->sram_word_bits * s->read_pj +
           leakage; /* 1e9 accesses a second of 1e-12 J: mW */
}

static bool supply_at(const struct veda_params *p, struct dse_supply *ret)
{
    return dse_supply_at(p->economics.costs, p->technology, VEDA_TABLE1_NM, VEDA_PUBLISHED_GHZ, p->clock_ghz, ret);
}

static const char *check_physics(const struct veda_params *p)
{
    const struct dse_costs *book = p->economics.costs;
    struct veda_chip chip;
    if (p->power == DSE_POWER_ACTIVITY) {
        if (!dse_supply_reaches(book, p->technology, VEDA_TABLE1_NM, VEDA_PUBLISHED_GHZ, p->clock_ghz)) return dse_too_fast;
        if (!dse_interface_known(book, p->dram.memory)) return dse_no_interface;
    }
    if (p->area == DSE_AREA_CORE) return NULL;
    veda_chip_at(p, &chip);
    return dse_die_check(book, &chip.die);
}

const char *veda_chip_check(const struct veda_params *p)
{
    struct dse_sram sram;
    double from, to, mib = p->buffer_kib * DSE_KIB / DSE_MIB;
    dse_sram_range(p->sram, &from, &to);
    if (!(mib >= from && mib <= to)) return "the SRAM table has no macro of the buffer's capacity";
    if (!dse_sram_at(p->sram, mib, (double)p->sram_word_bits, &sram)) return "the SRAM table has no macro of this word width";
    if (isnan(sram.area_mm2) || isnan(sram_mw(p, &sram))) return "the SRAM table lacks area or energy";
    if (!known(p, tech_ratios(p->technology, VEDA_TABLE1_NM, DSE_TECH_AREA)))
        return "the technology's scaling method does not cover 28 nm, the node of Table I";
    if (!known(p, tech_ratios(p->technology, dse_sram_node_nm(p->sram), DSE_TECH_SRAM_AREA)))
        return "the technology's scaling method does not cover the node of the SRAM table";
    return check_physics(p);
}

bool veda_chip_shortage(const struct veda_params *p, const char *reason, struct dse_shortage *ret)
{
    struct veda_chip chip;
    veda_chip_at(p, &chip);
    return dse_supply_shortage(&chip.supply, p->clock_ghz, reason, ret) ||
           dse_die_shortage(p->economics.costs, &chip.die, reason, ret);
}

/* How much more of each module there is than in Table I (A9). */
static void module_scales(const struct veda_params *p, double scale[VEDA_MODULES])
{
    scale[VEDA_PE_ARRAY] = (double)(p->pe_rows * p->pe_columns * p->pe_copies) / TABLE1_PES;
    scale[VEDA_VOTING_ENGINE] = (double)(p->vote_fifo * p->vote_lanes) / TABLE1_VOTE_FIFO;
    scale[VEDA_SFU] = (double)(p->sfu_exp + p->sfu_div) / TABLE1_SFU_UNITS;
    scale[VEDA_SCHEDULE] = 1;
    scale[VEDA_BUFFER] = 0;
}

void veda_modules_at(const struct veda_params *p, struct veda_chip *ret)
{
    struct veda_chip *c = ret;
    double scale[VEDA_MODULES];
    module_scales(p, scale);
    c->logic = tech_ratios(p->technology, VEDA_TABLE1_NM, DSE_TECH_AREA);
    c->memory = tech_ratios(p->technology, dse_sram_node_nm(p->sram), DSE_TECH_SRAM_AREA);
    for (int i = 0; i < VEDA_MODULES; i++) {
        c->area_mm2[i] = scale[i] * table1[i].area_mm2 * c->logic.area;
        c->table_w[i] = scale[i] * table1[i].power_mw / DSE_MW_PER_W;
        c->power_w[i] = c->table_w[i] * p->clock_ghz * c->logic.energy;
    }
}

void veda_buffer_at(const struct veda_params *p, struct veda_chip *c)
{
    c->area_mm2[VEDA_BUFFER] = c->buffer.area_mm2 * c->memory.area;
    c->power_w[VEDA_BUFFER] = sram_mw(p, &c->buffer) / DSE_MW_PER_W * c->memory.energy;
    c->total_mm2 = c->total_w = 0;
    for (int i = 0; i < VEDA_MODULES; i++) {
        c->total_mm2 += c->area_mm2[i];
        c->total_w += c->power_w[i];
    }
}

double veda_links_mm2(const struct veda_params *p)
{
    struct dse_links_die links;
    if (p->area == DSE_AREA_CORE) return 0;
    dse_links_die_at(p->economics.costs, &p->links, p->technology->node_nm, &links);
    return links.mm2;
}

void veda_chip_at(const struct veda_params *p, struct veda_chip *ret)
{
    struct veda_chip *c = ret;
    veda_modules_at(p, c);
    if (!dse_sram_at(p->sram, p->buffer_kib * DSE_KIB / DSE_MIB, (double)p->sram_word_bits, &c->buffer))
        c->buffer = (struct dse_sram){(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    veda_buffer_at(p, c);
    if (p->power == DSE_POWER_ACTIVITY) supply_at(p, &c->supply);
    dse_die_at(p->economics.costs, p->area, c->total_mm2, 1, &p->dram, p->technology->node_nm, &c->die);
    c->links_mm2 = dse_workload_chips(&p->workload) > 1 ? veda_links_mm2(p) : 0;
    if (c->links_mm2 > 0) c->die.area_mm2 += c->links_mm2;
}
