#include "sim/dram_tally.h"

#include <math.h>

/* The bucket of a latency beyond the exact ones, of which there are 64 an octave. */
size_t dram_latency_bucket(int64_t clocks)
{
    int octave = 63 - __builtin_clzll((uint64_t)clocks), first = 63 - __builtin_clzll(DRAM_LATENCY_EXACT);
    size_t within = ((uint64_t)clocks >> (octave - 6)) & (DRAM_LATENCY_OCTAVE - 1);
    size_t i = DRAM_LATENCY_EXACT + (size_t)(octave - first) * DRAM_LATENCY_OCTAVE + within;
    return i < DRAM_LATENCY_BUCKETS ? i : DRAM_LATENCY_BUCKETS - 1;
}

static double bucket_value(size_t i)
{
    if (i < DRAM_LATENCY_EXACT) return (double)i;
    size_t k = i - DRAM_LATENCY_EXACT;
    return ldexp(1 + (double)(k % DRAM_LATENCY_OCTAVE) / DRAM_LATENCY_OCTAVE, 13 + (int)(k / DRAM_LATENCY_OCTAVE));
}

double dram_latency_quantile(const struct dram_latency *l, double share)
{
    if (l->n == 0) return (double)NAN;
    uint64_t want = (uint64_t)ceil(share * (double)l->n), seen = 0;
    if (want < 1) want = 1;
    size_t i = 0;
    while (i < DRAM_LATENCY_BUCKETS - 1 && (seen += l->bucket[i]) < want) i++;
    return bucket_value(i);
}

double dram_latency_mean(const struct dram_latency *l)
{
    return l->n ? (double)l->sum / (double)l->n : (double)NAN;
}
