#include "space/sampler.h"

#include "base/random.h"
#include "base/xalloc.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>

enum { SOBOL_BITS = 30, DIGITS_MAX = 64 };

/* A digit d of a Halton axis becomes (a d + c) mod base. */
struct digit {
    uint32_t a, c;
};

struct halton_axis {
    uint32_t base;
    int digits; /* that a double can tell */
    struct digit digit[DIGITS_MAX];
    double weight[DIGITS_MAX], tail[DIGITS_MAX + 1]; /* base^-(k + 1); what digits k and up make of zeros */
};

struct sampler {
    enum sample_method method;
    uint64_t points, seed, distinct; /* distinct: points of the grid, or 0 */
    bool scramble;
    size_t n_axes;
    uint32_t (*directions)[SOBOL_BITS]; /* sobol: of each axis */
    struct halton_axis *halton;
};

/* ---- permutations ---------------------------------------------------------------------------------------------------------- */

/* The place of i in a random order of 0 to n - 1: rounds that each can be undone on the bits of n - 1, till it is below n. */
static uint64_t permuted(uint64_t i, uint64_t n, uint64_t key)
{
    const int bits = n > 1 ? 64 - __builtin_clzll(n - 1) : 1;
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const int shift = (bits + 1) / 2;
    do {
        uint64_t round = key;
        for (int k = 0; k < 4; k++) {
            round = random_mix(round);
            i = ((i ^ (round >> 32)) * (round | 1)) & mask;
            i ^= i >> shift;
        }
    } while (i >= n);
    return i;
}

bool sampler_is_distinct(const struct sampler *s)
{
    return s->distinct > 0;
}

uint64_t sampler_index(const struct sampler *s, uint64_t i)
{
    return permuted(i, s->distinct, random_at(s->seed, s->method, 0));
}

/* ---- sobol ----------------------------------------------------------------------------------------------------------------- */

static uint32_t numerator(double x)
{
    return (uint32_t)(x * (double)(UINT32_C(1) << SOBOL_BITS));
}

/* Walk GSL's sequence as far as the sample needs: a few hundredths of the time that evaluating its points takes. */
static void read_directions(struct sampler *s)
{
    const unsigned dimensions = s->n_axes ? (unsigned)s->n_axes : 1;
    gsl_qrng *q = gsl_qrng_alloc(gsl_qrng_sobol, dimensions);
    if (!q) out_of_memory(sizeof *q);
    double x[SAMPLER_SOBOL_AXES_MAX] = {0}, before[SAMPLER_SOBOL_AXES_MAX] = {0};
    s->directions = xcalloc(dimensions, sizeof *s->directions);
    int j = 0;
    for (uint64_t k = 1; k < s->points; k++) {
        for (size_t a = 0; a < s->n_axes; a++) before[a] = x[a];
        gsl_qrng_get(q, x);
        if (k != UINT64_C(1) << j) continue;
        for (size_t a = 0; a < s->n_axes; a++) s->directions[a][j] = numerator(x[a]) ^ numerator(before[a]);
        j++;
    }
    gsl_qrng_free(q);
}

static uint32_t mirrored(uint32_t x)
{
    x = __builtin_bswap32(x);
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    return (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
}

/* Each bit is flipped by a hash of those above it; Burley's constants. */
static uint32_t owen_scrambled(uint32_t x, uint32_t seed)
{
    x = mirrored(x) + seed;
    x ^= x * 0x6c50b47cu;
    x ^= x * 0xb82f1e52u;
    x ^= x * 0xc7afe638u;
    x ^= x * 0x8d22f6e6u;
    return mirrored(x);
}

static double sobol_at(const struct sampler *s, uint64_t i, size_t axis)
{
    uint32_t x = 0;
    for (uint64_t gray = i ^ (i >> 1); gray; gray &= gray - 1) x ^= s->directions[axis][__builtin_ctzll(gray)];
    x <<= 32 - SOBOL_BITS;
    if (s->scramble) x = owen_scrambled(x, (uint32_t)random_at(s->seed, SAMPLE_SOBOL, axis));
    return (double)x * 0x1p-32;
}

/* ---- halton ---------------------------------------------------------------------------------------------------------------- */

static bool is_prime(uint32_t n)
{
    for (uint32_t d = 2; d * d <= n; d++)
        if (n % d == 0) return false;
    return true;
}

static void make_halton_axis(const struct sampler *s, size_t axis, uint32_t base, struct halton_axis *h)
{
    double weight = 1;
    *h = (struct halton_axis){.base = base};
    for (; h->digits < DIGITS_MAX && weight > 0x1p-53; h->digits++) {
        const uint64_t bits = random_at(s->seed, SAMPLE_HALTON + (uint64_t)axis * SAMPLE_METHODS, (uint64_t)h->digits);
        h->weight[h->digits] = weight /= base;
        h->digit[h->digits] = (struct digit){.a = 1};
        if (s->scramble)
            h->digit[h->digits] =
                (struct digit){.a = 1 + (uint32_t)random_below(bits << 32, base - 1), .c = (uint32_t)random_below(bits, base)};
    }
    for (int k = h->digits; k-- > 0;) h->tail[k] = h->tail[k + 1] + h->digit[k].c * h->weight[k];
}

static void make_halton(struct sampler *s)
{
    s->halton = xcalloc(s->n_axes, sizeof *s->halton);
    uint32_t base = 1;
    for (size_t a = 0; a < s->n_axes; a++) {
        while (!is_prime(++base)) continue;
        make_halton_axis(s, a, base, &s->halton[a]);
    }
}

static double halton_at(const struct halton_axis *h, uint64_t i)
{
    double x = 0;
    int k = 0;
    for (; i && k < h->digits; k++, i /= h->base)
        x += (double)((h->digit[k].a * (i % h->base) + h->digit[k].c) % h->base) * h->weight[k];
    return fmin(x + h->tail[k], 1 - 0x1p-53);
}

/* ---- all ------------------------------------------------------------------------------------------------------------------- */

struct sampler *sampler_new(const struct sample_section *section, size_t n_axes, uint64_t count)
{
    struct sampler *s = xcalloc(1, sizeof *s);
    s->method = section->method;
    s->points = section->points;
    s->seed = section->seed;
    s->scramble = section->scramble;
    s->n_axes = n_axes;
    if (s->method == SAMPLE_RANDOM && count <= INT64_MAX && s->points <= count) s->distinct = count;
    if (s->method == SAMPLE_SOBOL) read_directions(s);
    if (s->method == SAMPLE_HALTON) make_halton(s);
    return s;
}

void sampler_free(struct sampler *s)
{
    if (!s) return;
    free(s->directions);
    free(s->halton);
    free(s);
}

double sampler_at(const struct sampler *s, uint64_t i, size_t axis)
{
    const uint64_t stream = (uint64_t)s->method + (uint64_t)SAMPLE_METHODS * axis;
    switch (s->method) {
    case SAMPLE_SOBOL: return sobol_at(s, i, axis);
    case SAMPLE_HALTON: return halton_at(&s->halton[axis], i);
    case SAMPLE_LHS:
        return fmin(((double)permuted(i, s->points, random_mix(s->seed) ^ stream) + random_unit(random_at(s->seed, stream, i))) /
                        (double)s->points,
                    1 - 0x1p-53);
    default: return random_unit(random_at(s->seed, stream, i));
    }
}
