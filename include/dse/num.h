/* Small arithmetic of closed forms, inline: for baseline x86-64 ceil(), floor(), fmin() and fmax() are calls into the library.
 *
 * dse_floor, dse_ceil and dse_ceil_to are of numbers from 0 to 2^62; dse_min, dse_max and dse_clamp of numbers that are not NaN. */
#ifndef DSE_NUM_H
#define DSE_NUM_H

#include <stdint.h>

static inline double dse_floor(double x)
{
    return (double)(int64_t)x;
}

static inline double dse_ceil(double x)
{
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

/* The smallest multiple of `multiple` that is not below x. */
static inline double dse_ceil_to(double x, double multiple)
{
    return dse_ceil(x / multiple) * multiple;
}

static inline double dse_min(double a, double b)
{
    return a < b ? a : b;
}

static inline double dse_max(double a, double b)
{
    return a > b ? a : b;
}

/* x, but at least `least` and at most `most`. When the two exclude each other, `most`. */
static inline double dse_clamp(double x, double least, double most)
{
    return dse_min(dse_max(x, least), most);
}

/* The same for whole numbers. dse_ceil_div is n / d rounded up, where n + d must not overflow. */
static inline int64_t dse_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t dse_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t dse_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t dse_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t dse_ceil_div(uint64_t n, uint64_t d)
{
    return (n + d - 1) / d;
}

#endif
