/* Times of a DRAM in its command clocks: what the closed form (hw/dram.c) and the event level (sim/dram_spec.c) both count in. */
#ifndef DSE_HW_DRAM_CLOCKS_H
#define DSE_HW_DRAM_CLOCKS_H

#include <math.h>

/* Clocks that `ns` take: whole ones, rounded up (JEDEC: nCK = ceil(t / tCK)), but for what a table of rounded ns, of a rate a
 * little lower, is off: 1.3 %, at most a quarter of a clock. */
static inline double dram_clocks(double ns, double clock_ns)
{
    const double n = ns / clock_ns, off = 0.013 * n;
    return ceil(n - (off < 0.25 ? off : 0.25));
}

#endif
