/* Random streams: xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS 2021), seeded by
 * splitmix64 from the run's seed and the purpose. Only +, -, *, / and square root touch the numbers, so that they are the same on
 * every machine; libraries' logarithms differ in the last bit. GSL has neither this generator nor streams without allocation. */
#include "sim/sim_internal.h"

#include <math.h>

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

void dse_sim_seed(struct dse_sim *sim, uint64_t seed)
{
    if (!sim->options.seed_given) sim->seed = seed;
}

struct dse_random dse_sim_random(const struct dse_sim *sim, uint64_t purpose)
{
    struct dse_random r;
    uint64_t state = sim->seed;
    state = splitmix(&state) ^ purpose; /* mixed one after the other: seed 1, purpose 2 is not seed 2, purpose 1 */
    state = splitmix(&state);
    for (int i = 0; i < 4; i++) r.state[i] = splitmix(&state);
    return r;
}

static uint64_t rotated(uint64_t x, int k)
{
    return x << k | x >> (64 - k);
}

uint64_t dse_random_u64(struct dse_random *r)
{
    uint64_t *s = r->state;
    const uint64_t ret = rotated(s[1] * 5, 7) * 9, t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return ret;
}

double dse_random_uniform(struct dse_random *r)
{
    return (double)(dse_random_u64(r) >> 11) * 0x1p-53;
}

/* Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019. */
uint64_t dse_random_below(struct dse_random *r, uint64_t bound)
{
    unsigned __int128 product = (unsigned __int128)dse_random_u64(r) * bound;
    if ((uint64_t)product < bound)
        for (const uint64_t least = -bound % bound; (uint64_t)product < least;)
            product = (unsigned __int128)dse_random_u64(r) * bound;
    return (uint64_t)(product >> 64);
}

/* Natural logarithm of 0 < x < 1, to about 1e-16 of its value: x = m * 2^e with m in [sqrt(1/2), sqrt(2)), log m = 2 atanh((m -
 * 1) / (m + 1)) as a series. */
static double log_of(double x)
{
    int e;
    double m = frexp(x, &e), sum = 0;
    if (m < M_SQRT1_2) {
        m *= 2;
        e--;
    }
    const double s = (m - 1) / (m + 1), s2 = s * s;
    for (int k = 23; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
    return 2 * s * sum + e * M_LN2;
}

/* Marsaglia's polar method. Its second number is dropped: the stream has nowhere to keep it. */
double dse_random_normal(struct dse_random *r)
{
    double u, square;
    do {
        u = 2 * dse_random_uniform(r) - 1;
        const double v = 2 * dse_random_uniform(r) - 1;
        square = u * u + v * v;
    } while (square >= 1 || square == 0);
    return u * sqrt(-2 * log_of(square) / square);
}
