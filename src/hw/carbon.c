/* Carbon by ACT (U. Gupta et al., ISCA 2022), C10 to C12. Its own Murphy yield has a misplaced bracket; yields come from cost.c. */
#include <dse/cost.h>

#define MM2_PER_CM2 100.0
#define WATTS_PER_KW 1e3

double dse_fab_g_cm2(const struct dse_fab *f)
{
    return (f->kwh_cm2 * f->grid_g_kwh + f->gas_g_cm2 + f->materials_g_cm2) / f->yield;
}

double dse_chip_g(const struct dse_fab *f, double mm2, double packages, double package_g)
{
    return mm2 / MM2_PER_CM2 * dse_fab_g_cm2(f) + packages * package_g;
}

double dse_memory_g(double gb, double g_gb, double yield, double packages, double package_g)
{
    return gb * g_gb / yield + packages * package_g;
}

double dse_operation_g(double watts, double hours, double g_kwh, double pue)
{
    return watts / WATTS_PER_KW * hours * g_kwh * pue;
}

bool dse_fab_of(const struct dse_costs *book, double node_nm, struct dse_fab *ret)
{
    *ret = (struct dse_fab){.kwh_cm2 = dse_by_node(book, DSE_C_fab_kwh_cm2_65nm, node_nm),
                            .grid_g_kwh = dse_physical(book, DSE_C_grid_g_taiwan),
                            .gas_g_cm2 = dse_by_node(book, DSE_C_gas_97_g_cm2_65nm, node_nm),
                            .materials_g_cm2 = dse_physical(book, DSE_C_materials_g_cm2),
                            .yield = dse_physical(book, DSE_C_carbon_yield)};
    return !isnan(dse_fab_g_cm2(ret));
}
