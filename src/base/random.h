/* Random numbers by their place: a function of seed, stream and index, so that the same come whatever the order in which, and
 * the number of threads on which, they are drawn. The mixing is that of SplitMix64 (Steele, Lea, Flood, "Fast splittable
 * pseudorandom number generators", OOPSLA 2014).
 */
#ifndef DSE_BASE_RANDOM_H
#define DSE_BASE_RANDOM_H

#include <stdint.h>

static inline uint64_t random_mix(uint64_t z)
{
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 64 random bits: number i of a stream of a seed. */
static inline uint64_t random_at(uint64_t seed, uint64_t stream, uint64_t i)
{
    return random_mix(random_mix(random_mix(seed) ^ stream) ^ i);
}

/* A number in 0 to n - 1, from 64 random bits (Lemire's multiplication; its bias is below n / 2^64). */
static inline uint64_t random_below(uint64_t bits, uint64_t n)
{
    return (uint64_t)(((__uint128_t)bits * n) >> 64);
}

/* A number in [0, 1), from 64 random bits. */
static inline double random_unit(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
