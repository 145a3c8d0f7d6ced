/* What locality-aware decoding (LAD) asks of the DRAM, as a list of requests.
 *
 * Six phases a head: read the intermediate values; read the keys of centers and large positions (an eighth of the context); write
 * the intermediate values; write, then read, 33.5 KiB of the position cache; read key and value of the active positions that are
 * not cached (3 of 64). Positions are drawn without replacement and read in their order, 256 bytes each. The shares stand for
 * none of the paper's numbers: they are those of the reference runs in tests/data/dram.
 */
#ifndef DSE_SIM_DRAM_LAD_H
#define DSE_SIM_DRAM_LAD_H

#include "sim/dram_run.h"

struct dram_lad;

/* `interleave` heads at a time: their requests, cut into 256 bytes, in turn. Barriers behind every phase only when it is 1. */
struct dram_lad *dram_lad_new(uint32_t context, uint32_t heads, uint32_t interleave, bool barriers, uint64_t seed);
void dram_lad_free(struct dram_lad *l);
bool dram_lad_next(struct dram_lad *l, struct dram_request *ret);

/* The generator of everything random here: splitmix64. */
uint64_t dram_splitmix(uint64_t *state);

#endif
