/* Rounding of numbers from 0 to 2^62, inline: baseline x86-64 calls the library for ceil() and floor(). */
#ifndef VEDA_MATH_H
#define VEDA_MATH_H

#include <stdint.h>

static inline double veda_floor(double x)
{
    return (double)(int64_t)x;
}

static inline double veda_ceil(double x)
{
    double whole = (double)(int64_t)x;
    return whole < x ? whole + 1 : whole;
}

static inline double veda_max(double a, double b)
{
    return a > b ? a : b;
}

static inline double veda_min(double a, double b)
{
    return a < b ? a : b;
}

#endif
