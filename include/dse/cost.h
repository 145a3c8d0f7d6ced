/* What a machine costs: dies, packages, memory, servers, a million tokens, carbon. Equations and their sources:
 * docs/explanation/cost.md, whose numbers stand here. All pure, thread-safe, without allocation. Money is in dollars, areas in
 * mm2, carbon in grams of CO2e. */
#ifndef DSE_COST_H
#define DSE_COST_H

#include <dse/costs.h>
#include <dse/hw.h>
#include <stdbool.h>

/* ---- dies -------------------------------------------------------------------------------------------------------------- */

/* Share of good dies (C1): with x = mm2 / 100 * defects a cm2, Poisson e^-x, Murphy ((1 - e^-x) / x)^2, Seeds 1 / (1 + x), negative
 * binomial (1 + x / alpha)^-alpha. */
double dse_yield(int32_t yield_model, double mm2, double defects_per_cm2, double alpha);

/* Dies a wafer of a diameter. C2: pi d^2 / 4 A - pi d / sqrt(2 A) (ttm-cas, as LLMCompass uses it). */
double dse_dies_by_area(double mm2, double wafer_mm);
/* C3: the same of dies that a scribe lane surrounds, on a wafer without its rim (Chiplet Actuary). */
double dse_dies_scribed(double mm2, double wafer_mm, double rim_mm, double scribe_mm);
/* C4: squares in rows, each row as many as the circle takes, at the best offset of the rows: a whole number (Chiplet Cloud bisects
 * the offset, which is one short now and then). Takes microseconds for small dies. */
double dse_dies_squares(double mm2, double wafer_mm, double gap_mm);

/* A wafer as a design pays it. */
struct dse_wafer {
    double usd, defects_per_cm2, alpha;
    double wafer_mm, rim_mm, scribe_mm;
    int32_t yield_model, wafer_fit;
};
/* That of a node, by the book, the band and the year of prices. False where the book has no price or no defect density of it; then
 * *ret_lacks is the first it lacks (a string constant: "wafer_usd_65nm"), or says that there are no constants for such a node. */
bool dse_wafer_of(const struct dse_economics *e, double node_nm, struct dse_wafer *ret, const char **ret_lacks);

struct dse_die_price {
    double per_wafer, yield;
    double made;     /* for a good one: 1 / yield */
    double raw_usd;  /* whether good or not */
    double good_usd; /* C5: wafer price / (dies * yield) */
};
/* What a die costs; good_usd is infinite where a wafer holds none. */
struct dse_die_price dse_die_of(const struct dse_wafer *wafer, double mm2);

/* ---- packages ---------------------------------------------------------------------------------------------------------- */

/* What is put into a package: dies and stacks of memory, which are known to be good. */
struct dse_parts_of_package {
    double count;       /* dies and stacks that are bonded */
    double silicon_mm2; /* of all */
    double usd;         /* of all */
};
struct dse_package {
    double substrate_usd, interposer_usd, bumps_usd;
    double lost_usd; /* what bonding spoils: the parts, too */
    double usd;      /* all of it, without the parts */
};
/* C6, C7 (Chiplet Actuary, chip last). Organic: a substrate of 4 times the silicon, of more layers under several dies, bumps, and
 * what of both and of the parts is lost in bonding. Interposer and fan-out: that of a wafer of their own with its yield, too. Of
 * DSE_PACKAGE_AUTO nothing is known: the caller decides. */
struct dse_package dse_package_of(const struct dse_economics *e, int32_t packaging, const struct dse_parts_of_package *parts);

/* ---- ownership --------------------------------------------------------------------------------------------------------- */

/* A server over its life (C8; ASIC Cloud and Chiplet Cloud). */
struct dse_ownership {
    double server_usd;
    double peak_w;    /* that the building is made for */
    double average_w; /* that electricity is paid for */
    double years;
    double electricity_usd_kwh, hours_per_month, pue, interest;
    double building_usd_w, building_years;
    double building_interest; /* on a dollar over building_years: dse_interest */
    double upkeep_usd_w_month, server_upkeep_share;
};
struct dse_tco {
    double building, building_interest, upkeep;
    double server, server_interest, server_upkeep;
    double power, pue_overhead;
    double total;
};
struct dse_tco dse_tco_of(const struct dse_ownership *o);
/* Interest of an annuity that is paid monthly. */
double dse_interest(double usd, double a_year, double years);
/* C9. Dollars a million tokens: of `usd` over years of 365 days in which so many tokens a second are made. */
double dse_usd_per_mtoken(double usd, double years, double tokens_per_s);

/* ---- a system ---------------------------------------------------------------------------------------------------------- */

/* What must be bought for a design. A device is built (dies, memory, package) or bought as a board or a whole computer; each has
 * its share of a server, but for a whole computer. Areas, prices and watts are of one device. */
struct dse_bill {
    const struct dse_economics *economics; /* NULL: the model makes no bill */
    double devices;
    double dies;                                        /* equal ones of a device, together die_mm2 */
    double die_mm2, node_nm;                            /* NaN: not known */
    int32_t memory_kind;                                /* enum dse_memory_kind */
    double memory_gib;                                  /* 0: none of its own */
    double stacks;                                      /* beside the die in the package; 0: memory stands elsewhere */
    bool is_bought;                                     /* at price_usd, with its memory */
    bool is_server;                                     /* its server is one of GPUs: a factor of price and power */
    bool is_whole;                                      /* it is a computer: no server */
    double price_usd[DSE_BANDS], rent_usd_h[DSE_BANDS]; /* NaN: not known */
    double peak_w, idle_w;                              /* that the building is made for, and without work; NaN: as at work */
};
/* Stacks that a bandwidth and a room take; 0 of what is not stacked. A stack is as fast as its standard allows. */
double dse_stacks_of(const struct dse_costs *book, int32_t memory_kind, double gbs, double gib);

/* A device that is built: one die, and DRAM as a model has it, in stacks beside the die where it is HBM. */
struct dse_bill dse_bill_of_chip(const struct dse_economics *e, double devices, double die_mm2, double node_nm,
                                 const struct dse_dram *dram);
/* Boards of the catalog: what they are sold and let for; low and high are the price where the entry has no more. */
struct dse_bill dse_bill_of_boards(const struct dse_economics *e, double devices, const struct dse_trade *trade);
struct dse_bill dse_bill_of_gpus(const struct dse_economics *e, double devices, const struct dse_gpu *gpu);

/* What dollars count: what it costs to make, what a shop takes, what an hour of it is let for. Only like is compared with like. */
enum dse_dollars { DSE_DOLLARS_COST, DSE_DOLLARS_PRICE, DSE_DOLLARS_RENT, DSE_DOLLARS_COUNT };
extern const char *const dse_dollars_names[]; /* closed by NULL */
/* Of a million tokens of the bill; of its system it is never the rent. */
int32_t dse_dollars_of(const struct dse_bill *bill);

struct dse_priced {
    double die_usd;    /* a good die, tested; with its share of design and masks */
    double design_usd; /* of system_usd: design and masks (C24) */
    double system_usd, usd_per_mtoken;
    double embodied_kgco2, gco2_per_mtoken;
};
/* C24 (Chiplet Actuary): what the design of one die of so many mm2 costs, masks with it: the cost of the node at 300 mm2, a part of
 * which goes by the area, and further sets of masks. NaN where the book lacks a constant. */
double dse_design_usd(const struct dse_economics *e, double node_nm, double mm2);
/* At `watts` of all devices together while they make tokens_per_s. NaN where dse_bill_why_null has a reason. */
void dse_bill_price(const struct dse_bill *bill, double watts, double tokens_per_s, struct dse_priced *ret);
/* What a bill costs whatever its devices draw and make: of many steps of one chip it is computed once. Zero for a bill that is not
 * made. */
struct dse_built {
    double die_usd, design_usd;    /* a good die, tested; of each die: design and masks */
    double device_usd;             /* without its server */
    double embodied_g;             /* of a device and its share of a server */
    double watt_factor, besides_w; /* watts of a server for each watt of the device in it, and besides */
};
void dse_bill_build(const struct dse_bill *bill, struct dse_built *ret);
/* dse_bill_price of what was built already. */
void dse_bill_price_built(const struct dse_bill *bill, const struct dse_built *built, double watts, double tokens_per_s,
                          struct dse_priced *ret);
/* Why the metric of that name is not known, naming the constant that the book lacks; NULL where it is, or is no metric of these. */
const char *dse_bill_why_null(const struct dse_bill *bill, const char *metric);

/* ---- carbon (ACT) ------------------------------------------------------------------------------------------------------ */

/* C10. Of a chip: mm2 / 100 * (kWh/cm2 * grid + gases + materials) / yield, and its packages. */
struct dse_fab {
    double kwh_cm2, grid_g_kwh, gas_g_cm2, materials_g_cm2, yield;
};
double dse_fab_g_cm2(const struct dse_fab *f); /* after yield */
double dse_chip_g(const struct dse_fab *f, double mm2, double packages, double package_g);
/* C11. Of memory. */
double dse_memory_g(double gb, double g_gb, double yield, double packages, double package_g);
/* C12. Of working: watts for hours at so many grams a kWh and the building's share. */
double dse_operation_g(double watts, double hours, double g_kwh, double pue);
/* The fab of a node, Taiwan's grid, 97 % of the gases abated. False where the book lacks one of it. */
bool dse_fab_of(const struct dse_costs *book, double node_nm, struct dse_fab *ret);

/* ---- areas by transistors (LLMCompass) --------------------------------------------------------------------------------- */

/* C13. Logic: million transistors over the density of the node. */
double dse_logic_mm2(const struct dse_costs *book, double mtr, double node_nm);
/* C14. A cache or scratchpad: bits by their area over the efficiency at its capacity; larger ones are made of units of 512 KiB. */
double dse_cache_mm2(const struct dse_costs *book, double bytes, double node_nm);
/* C15. A register file of so many words, bits and ports (EMPIRE's polynomial at 90 nm, scaled by density). */
double dse_registers_mm2(const struct dse_costs *book, double words, double bits, double ports, double node_nm);
/* C16. A core of a GPU. Units are a lane's of a sublane: a multiply-add each. */
struct dse_core_plan {
    double sublanes, vector_width;
    double array_rows, array_columns; /* of multiply-adds of array_mantissa bits: 52, 23, 10 */
    double array_mantissa;
    double int32_units, fp16_units, fp32_units, fp64_units;
    double register_files, registers, register_bits, register_ports;
    double sram_bytes;
};
double dse_core_mm2(const struct dse_costs *book, const struct dse_core_plan *c, double node_nm);
double dse_crossbar_mm2(const struct dse_costs *book, double cores, double node_nm);
/* C17. The die of what it holds: white space and a pad ring around it (Chiplet Cloud). */
double dse_die_around(double content_mm2, double core_share, double pad_ring_mm);

#endif
