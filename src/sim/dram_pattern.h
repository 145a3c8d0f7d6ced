/* Requests made up by rule: "random,size=256,count=65536".
 *
 * A pattern is a name and settings, in any order; a setting that is not given has its default, one that the pattern does not have
 * is an error. Everything random is splitmix64 of the seed: the same requests everywhere. Numbers may end in KiB, MiB or GiB.
 *
 *   sequential  count requests of size, one behind the other
 *   random      count requests of size at random multiples of size within footprint
 *   stride      count requests of size, each stride behind the one before, round the footprint
 *   copy        count times: read size, write size at the same place offset further on
 *   lad         locality-aware decoding (docs/explanation/dram.md): heads attention heads of context positions each, interleave at
 *               a time
 *
 * write makes that share of the requests writes (random; the others of sequential and stride are spread evenly). load or interval
 * says when requests arrive: as many as make up a share of the peak bandwidth, or one every so many ns; evenly or at random
 * (arrival=poisson).
 */
#ifndef DSE_SIM_DRAM_PATTERN_H
#define DSE_SIM_DRAM_PATTERN_H

#include "sim/dram_run.h"

#include <dse/desc.h>

struct dram_pattern;

/* What `text` says. `peak_gbs` is what load is a share of. NULL with an error, whose file is `where`, for each fault. */
struct dram_pattern *dram_pattern_new(const char *text, double peak_gbs, const char *where, struct diags *diags);
void dram_pattern_free(struct dram_pattern *p);
/* The requests of the pattern, for dram_run. The source belongs to the pattern. */
struct dram_source *dram_pattern_source(struct dram_pattern *p);

#endif
