#include "attention/half.h"

#include <math.h>
#include <string.h>

/* A half is 1 bit of sign, 5 of exponent (bias 15), 10 of mantissa; a float 1, 8 (bias 127) and 23. */
enum { MANTISSA_SHIFT = 23 - 10, BIAS_STEP = 127 - 15 };

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, magnitude = half & 0x7fff;
    if (magnitude >= 0x7c00) return float_of(sign | 0x7f800000 | magnitude << MANTISSA_SHIFT);            /* infinity, NaN */
    if (magnitude >= 0x0400) return float_of(sign | ((magnitude << MANTISSA_SHIFT) + (BIAS_STEP << 23))); /* normal */
    return float_of(sign | bits_of((float)magnitude * 0x1p-24F));                                         /* subnormal, 0 */
}

uint16_t half_from_float(float v)
{
    uint32_t bits = bits_of(v), magnitude = bits & 0x7fffffff;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (isnan(v)) return (uint16_t)(sign | 0x7e00 | (magnitude >> MANTISSA_SHIFT & 0x03ff));
    float size = float_of(magnitude);
    if (size >= 65520) return sign | 0x7c00;
    if (size < 0x1p-14F) return (uint16_t)(sign | (uint16_t)rintf(size * 0x1p24F));
    uint32_t half_of_last = (1u << (MANTISSA_SHIFT - 1)) - 1 + (magnitude >> MANTISSA_SHIFT & 1);
    return (uint16_t)(sign | (magnitude + half_of_last - (BIAS_STEP << 23)) >> MANTISSA_SHIFT);
}
