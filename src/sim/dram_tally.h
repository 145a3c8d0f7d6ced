/* What a bus counts. */
#ifndef DSE_SIM_DRAM_TALLY_H
#define DSE_SIM_DRAM_TALLY_H

#include <stddef.h>
#include <stdint.h>

struct dram_tally {
    uint64_t reads, writes;                    /* bursts over the data buses */
    uint64_t forwarded, merged;                /* reads that a queued write answered; reads that shared the burst of another */
    uint64_t coalesced;                        /* writes that a queued write swallowed */
    uint64_t hits, misses;                     /* bursts that found their row open, that did not */
    uint64_t activates, precharges, refreshes; /* a precharge of all banks is one */
    int64_t active_clocks;                     /* summed over channels: a bank was open */
    uint64_t group_columns, bank_activates;    /* of the busiest bank group and the busiest bank; known when the bus is closed */
};

/* Clocks of reads: mean exact, quantiles exact below DRAM_LATENCY_EXACT, to 1 % above. */
enum { DRAM_LATENCY_EXACT = 8192, DRAM_LATENCY_OCTAVE = 64, DRAM_LATENCY_BUCKETS = DRAM_LATENCY_EXACT + 40 * DRAM_LATENCY_OCTAVE };
struct dram_latency {
    uint64_t n, sum;
    int64_t max;
    uint64_t bucket[DRAM_LATENCY_BUCKETS];
};

size_t dram_latency_bucket(int64_t clocks);
/* The smallest latency that the share of them (0 to 1) does not exceed; NaN when there is none. */
double dram_latency_quantile(const struct dram_latency *l, double share);
double dram_latency_mean(const struct dram_latency *l);

static inline void dram_latency_add(struct dram_latency *l, int64_t clocks, uint64_t n)
{
    l->n += n;
    l->sum += (uint64_t)clocks * n;
    if (clocks > l->max) l->max = clocks;
    l->bucket[clocks < DRAM_LATENCY_EXACT ? (size_t)clocks : dram_latency_bucket(clocks)] += n;
}

#endif
