/* What a chip costs beyond its modules: the supply voltage that a clock asks for, and the edges of a die. All pure and thread-safe.
 *
 * Constants come from the book of the point (costs.h, `dse list costs`): their typical values. docs/explanation/cost.md has the
 * equations. */
#ifndef DSE_CHIP_H
#define DSE_CHIP_H

#include <dse/costs.h>
#include <dse/hw.h>
#include <dse/model.h>

/* How energy is counted: by what a step does, or as published watts times its time, whatever it does. */
enum dse_power { DSE_POWER_ACTIVITY, DSE_POWER_CONSTANT };
extern const char *const dse_power_names[]; /* "activity", "constant", NULL */
/* What area is counted: the die with memory interfaces and network, or the modules alone, as papers print it. */
enum dse_area { DSE_AREA_DIE, DSE_AREA_CORE };
extern const char *const dse_area_names[]; /* "die", "core", NULL */

/* ---- supply ----------------------------------------------------------------------------------------------------------- */

/* What a clock does to a chip of a node, over the same chip at the nominal supply of the node. */
struct dse_supply {
    double volts;
    double max_ghz;    /* where the clock is too fast for the node: the fastest it has */
    double energy;     /* of an operation or an SRAM access: (V / V0)^e, e of the node's library */
    double clock_tree; /* energy of a clock edge: (V / V0)^2 */
    double leakage;    /* power: V / V0 */
};

/* The supply for `clock_ghz`. A chip that its authors ran at published_ghz in a node of published_nm is taken to reach that at the
 * nominal supply of that node, and in another node faster by the ratio of delays. From there
 *
 *     f ~ (V - Vt)^alpha / V                                       Sakurai and Newton, JSSC 25(2) 1990
 *
 * with Vt, alpha, e and the range of V of the node's library in the book (fits to the delays of Stillmaker and Baas 2017): of the
 * high-performance library below 20 nm, of the low-power one from 20 nm on, which is what planar foundry nodes are like; a
 * technology whose method ends in "-hp" or "-lp" is asked for by that. A clock below what the lowest supply reaches runs at the
 * lowest supply. In a node without a law the supply is the nominal one, and 1 V where that is not known either.
 *
 * False: the clock is faster than the highest supply allows; then only ret->max_ghz and ret->volts, that supply, are meant. */
bool dse_supply_at(const struct dse_costs *book, const struct dse_technology *node, double published_nm, double published_ghz,
                   double clock_ghz, struct dse_supply *ret);
/* Is it true? Quicker to know. */
bool dse_supply_reaches(const struct dse_costs *book, const struct dse_technology *node, double published_nm, double published_ghz,
                        double clock_ghz);
/* Why it is false, and by how much. */
extern const char dse_too_fast[];
bool dse_supply_shortage(const struct dse_supply *supply, double clock_ghz, const char *reason, struct dse_shortage *ret);

/* ---- the die ---------------------------------------------------------------------------------------------------------- */

/* Areas of one die. */
struct dse_die {
    double core_mm2; /* modules and SRAM */
    double noc_mm2;  /* the network over tiles: none over one */
    double phy_mm2;  /* memory PHYs, which do not shrink with the node, and controllers, which do */
    double area_mm2; /* the sum */
    double units;    /* of memory: stacks of HBM, channels of 64 bits of all else */
    double edge_mm;  /* die edge that they take side by side */
    double edge_there_mm;
};

/* The memory's pins decide how many stacks of 1024 bits, or channels of 64, the die has: the channels of the DRAM (after
 * dse_dram_resolve) times the width of one. They stand along the two long edges of the die, as long as a reticle's at most: a die
 * is stretched to give edge, it is not grown. `area` = DSE_AREA_CORE: the core alone, and no edge is asked for.
 * What no source knows (the controller in a node without density, the PHY of a kind of memory) is NaN: dse_die_check says so. */
void dse_die_at(const struct dse_costs *book, int32_t area, double core_mm2, int64_t tiles, const struct dse_dram *dram,
                double node_nm, struct dse_die *ret);
/* NULL, or why there is no such die; then dse_die_shortage has its numbers, but for what is not known. */
const char *dse_die_check(const struct dse_costs *book, const struct dse_die *die);
bool dse_die_shortage(const struct dse_costs *book, const struct dse_die *die, const char *reason, struct dse_shortage *ret);

/* Is it known? And why not. */
bool dse_interface_known(const struct dse_costs *book, const struct dse_memory *memory);
extern const char dse_no_interface[];
/* Joules a byte that comes from or goes to the DRAM costs on the die, apart from the DRAM: PHY and controller of its kind, and one
 * hop over the network, which takes `hop` times what it does in 12 nm at the nominal supply. NaN where the book has none of the
 * kind. */
double dse_interface_joules(const struct dse_costs *book, const struct dse_memory *memory, double hop);

/* ---- energy ------------------------------------------------------------------------------------------------------------ */

/* Energy of a step, or of a part of it, by cause; `all` is the sum. */
struct dse_joules {
    double leakage, clock; /* whatever is done; 0 with power = "constant", which has them in modules and SRAM */
    double modules, sram;  /* what work takes */
    double dram, interface;
    double work; /* all but leakage and clock */
    double all;
    double links; /* of what is sent to other chips; part of work and all */
};
/* What a model tells of it in a breakdown: the causes, and leakage and clock as parts of depth 0 that take no time. Its other parts
 * have `work`. */
void dse_breakdown_joules(struct dse_breakdown *breakdown, const struct dse_joules *j, int32_t power);
/* dse_model.why_null of energy_clock_mj, energy_leakage_mj, energy_interface_mj and supply_v; of another metric NULL. */
const char *dse_why_not_apart(int32_t power, const char *metric);
/* dse_model.stand of an area that was published at a clock: no source says how it grows with it. NULL at that clock. */
const char *dse_area_unpriced(double clock_ghz, double published_ghz);
/* What dollars and carbon leave out: with DSE_AREA_CORE the memory's interfaces and the network; NULL else. */
const char *dse_area_without_edges(int32_t area);

#endif
