/* The book of constants: its list, look-ups by node and memory, and what a design is priced by. */
#include <dse/costs.h>

#define ROW(id, unit_, least_, doc_) [DSE_C_##id] = {#id, unit_, doc_, least_},
const struct dse_constant_row dse_constant_rows[DSE_CONSTANT_COUNT] = {DSE_CONSTANTS(ROW)};
#undef ROW

const char *const dse_band_names[] = {"low", "typical", "high", NULL};
const char *const dse_yield_names[] = {"negative-binomial", "poisson", "murphy", "seeds", NULL};
const char *const dse_wafer_fit_names[] = {"scribed", "area", "squares", NULL};
const char *const dse_tenure_names[] = {"owned", "rented", NULL};
const char *const dse_packaging_names[] = {"auto", "organic", "interposer", "fanout", NULL};
const char *const dse_grid_names[] = {"world",  "india",  "australia", "taiwan", "singapore", "usa",
                                      "europe", "brazil", "iceland",   "japan",  "korea",     NULL};
_Static_assert(sizeof dse_grid_names / sizeof *dse_grid_names == DSE_C_grid_g_korea - DSE_C_grid_g_world + 2,
               "a grid is named in the order of its constants");

#define NODE(nm) nm,
const double dse_node_nm[DSE_NODE_COUNT] = {DSE_NODES(NODE)};
#undef NODE
_Static_assert(DSE_C_wafer_usd_2nm - DSE_C_wafer_usd_65nm + 1 == DSE_NODE_COUNT, "a family has a member for each node");
_Static_assert(DSE_C_phy_mm2_gddr7 - DSE_C_phy_mm2_hbm2 + 2 == DSE_MEMORY_KINDS, "a family has a member for each kind");

int dse_node_of(double node_nm)
{
    enum { MOST_NM = 65 };
#define NODE(nm) [nm] = DSE_NODE_##nm##NM + 1,
    static const signed char behind[MOST_NM + 1] = {DSE_NODES(NODE)}; /* 0: none */
#undef NODE
    if (!(node_nm >= 0 && node_nm <= MOST_NM)) return -1;
    const int nm = (int)node_nm;
    return (double)nm == node_nm ? behind[nm] - 1 : -1;
}

double dse_by_node(const struct dse_costs *book, int first, double node_nm)
{
    const int node = dse_node_of(node_nm);
    return node < 0 ? (double)NAN : dse_physical(book, first + node);
}

double dse_by_kind(const struct dse_costs *book, int first, int32_t memory_kind)
{
    return memory_kind == DSE_MEMORY_OTHER ? (double)NAN : dse_physical(book, first + memory_kind - 1);
}

#define E struct dse_economics
const struct dse_param dse_economics_params[] = {
    DSE_PARAM_REF(E, costs, struct dse_costs, DSE_KIND_COSTS, "book of constants: prices, areas, energies, carbon",
                  "docs/explanation/cost.md"),
    DSE_PARAM_ENUM(E, prices, dse_band_names, "low, typical or high end of every price range", "docs/explanation/cost.md"),
    DSE_PARAM_I64(E, price_year, DSE_PRICE_YEAR_FIRST, DSE_PRICE_YEAR_LAST,
                  "year of the prices: the newest up to this year, else the oldest", "docs/explanation/cost.md"),
    DSE_PARAM_ENUM(E, yield_model, dse_yield_names, "model of the share of good dies, from area and defects",
                   "docs/explanation/cost.md"),
    DSE_PARAM_ENUM(E, wafer_fit, dse_wafer_fit_names, "how dies per wafer are counted", "docs/explanation/cost.md"),
    DSE_PARAM_ENUM(E, packaging, dse_packaging_names, "package substrate; auto: an interposer with HBM stacks, else organic",
                   "docs/explanation/cost.md"),
    DSE_PARAM_ENUM(E, tenure, dse_tenure_names, "machine bought for its life, or rented by the hour if its rent is known",
                   "docs/explanation/cost.md"),
    DSE_PARAM_F64_AUTO(E, life_years, "year", 0.1, 30, NULL, "life of the machine; auto: server_years of the book",
                       "docs/explanation/cost.md"),
    DSE_PARAM_F64_AUTO(E, busy_share, "", 0.01, 1, NULL, "share of its life that the machine works; auto: the book's",
                       "docs/explanation/cost.md"),
    DSE_PARAM_F64_AUTO(E, pue, "", 1, 3, NULL, "building power over server power; auto: the book's", "docs/explanation/cost.md"),
    DSE_PARAM_F64_AUTO(E, electricity_usd_kwh, "usd/kWh", 0.001, 2, NULL, "price of electricity; auto: the book's, by `prices`",
                       "docs/explanation/cost.md"),
    DSE_PARAM_ENUM(E, grid, dse_grid_names, "electricity grid of operation, which sets its carbon", "docs/explanation/cost.md"),
    DSE_PARAM_I64(E, devices_per_server, 1, 64, "devices that share the other parts of a server", "docs/explanation/cost.md"),
    DSE_PARAM_I64(E, units, 0, 1000000000000, "chips made of one design, which share the cost of design and masks; 0: not counted",
                  "docs/explanation/cost.md, C24"),
    DSE_PARAM_I64(E, mask_sets, 1, 100, "mask sets of the design: the first, plus one per respin", "docs/explanation/cost.md, C24"),
    DSE_PARAM_END,
};
#undef E

void dse_economics_resolve(struct dse_economics *e)
{
    if (isnan(e->life_years)) e->life_years = dse_physical(e->costs, DSE_C_server_years);
    if (isnan(e->busy_share)) e->busy_share = dse_physical(e->costs, DSE_C_busy_share);
    if (isnan(e->pue)) e->pue = dse_physical(e->costs, DSE_C_pue);
    if (isnan(e->electricity_usd_kwh)) e->electricity_usd_kwh = dse_price(e, DSE_C_electricity_usd_kwh);
}
