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

enum { TABLE1_NM = 28, TABLE1_PES = 128, TABLE1_VOTE_FIFO = 4096, TABLE1_SFU_UNITS = 4 /* 2 EXP, 2 dividers */ };

struct ratios {
    double area, energy;
};

static struct ratios tech_ratios(const struct dse_technology *to, double from_nm)
{
    if (to->node_nm == from_nm) return (struct ratios){1, 1};
    return (struct ratios){.area = dse_tech_ratio(to, from_nm, DSE_TECH_AREA),
                           .energy = dse_tech_ratio(to, from_nm, DSE_TECH_ENERGY)};
}

static bool known(struct ratios r)
{
    return !isnan(r.area) && !isnan(r.energy);
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

const char *veda_chip_check(const struct veda_params *p)
{
    struct dse_sram sram;
    double from, to, mib = p->buffer_kib * DSE_KIB / DSE_MIB;
    dse_sram_range(p->sram, &from, &to);
    if (!(mib >= from && mib <= to)) return "the SRAM table has no macro of the buffer's capacity";
    if (!dse_sram_at(p->sram, mib, (double)p->sram_word_bits, &sram)) return "the SRAM table has no macro of this word width";
    if (isnan(sram.area_mm2) || isnan(sram_mw(p, &sram))) return "the SRAM table lacks area or energy";
    if (!known(tech_ratios(p->technology, TABLE1_NM)))
        return "the technology's method cannot be reached from 28 nm, the node of Table I";
    if (!known(tech_ratios(p->technology, dse_sram_node_nm(p->sram))))
        return "the technology's method cannot be reached from the node of the SRAM table";
    return NULL;
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

void veda_chip_at(const struct veda_params *p, struct veda_chip *ret)
{
    struct dse_sram sram;
    struct ratios logic = tech_ratios(p->technology, TABLE1_NM), memory = tech_ratios(p->technology, dse_sram_node_nm(p->sram));
    double scale[VEDA_MODULES];
    module_scales(p, scale);
    for (int i = 0; i < VEDA_MODULES; i++) {
        ret->area_mm2[i] = scale[i] * table1[i].area_mm2 * logic.area;
        ret->power_w[i] = scale[i] * table1[i].power_mw / DSE_MW_PER_W * p->clock_ghz * logic.energy;
    }
    bool there = dse_sram_at(p->sram, p->buffer_kib * DSE_KIB / DSE_MIB, (double)p->sram_word_bits, &sram);
    ret->area_mm2[VEDA_BUFFER] = there ? sram.area_mm2 * memory.area : (double)NAN;
    ret->power_w[VEDA_BUFFER] = there ? sram_mw(p, &sram) / DSE_MW_PER_W * memory.energy : (double)NAN;
    ret->total_mm2 = ret->total_w = 0;
    for (int i = 0; i < VEDA_MODULES; i++) {
        ret->total_mm2 += ret->area_mm2[i];
        ret->total_w += ret->power_w[i];
    }
}
