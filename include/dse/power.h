/* What GPU boards draw for what they move. Pure and thread-safe. */
#ifndef DSE_POWER_H
#define DSE_POWER_H

#include <dse/costs.h>

#include <stdint.h>

/* Energy [pJ/bit] of a bit's way between the DRAM's device of a GPU and an SM, by a book of constants: the interface (of HBM, where
 * the kind of its memory is not said), wires as long as the side of the die, the last-level cache and the L1 written and read. */
double dse_gpu_way_pj_per_bit(const struct dse_costs *book, int32_t memory_kind, double die_mm2);

#endif
