/* What GPU boards draw for what they move. */
#include <dse/power.h>

#include <math.h>

double dse_gpu_way_pj_per_bit(const struct dse_costs *book, int32_t memory_kind, double die_mm2)
{
    enum { WRITTEN_AND_READ = 2, WORD_BITS = 64, FJ_PER_PJ = 1000 };
    const double known = dse_by_kind(book, DSE_C_phy_pj_hbm2, memory_kind);
    const double interface = isnan(known) ? dse_physical(book, DSE_C_phy_pj_hbm2) : known;
    const double wire = dse_physical(book, DSE_C_wire_fj_bit_mm_10nm) / FJ_PER_PJ;
    const double caches = dse_physical(book, DSE_C_sram_1mib_pj_7nm) + dse_physical(book, DSE_C_sram_32kib_pj_7nm);
    return interface + wire * sqrt(die_mm2) + WRITTEN_AND_READ * caches / WORD_BITS;
}
