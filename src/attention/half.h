/* IEEE 754 half precision (binary16) to float and back, without compiler support: all 65536 values, with subnormals, infinities
 * and NaNs. */
#ifndef DSE_ATTENTION_HALF_H
#define DSE_ATTENTION_HALF_H

#include <stdint.h>

/* The value of a half: exact. A NaN keeps its sign and payload. */
float half_to_float(uint16_t half);
/* The nearest half, ties to even. From 65520 on it is infinity; a NaN stays a NaN. */
uint16_t half_from_float(float v);

#endif
