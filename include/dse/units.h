/* Conversions between the units that designers speak and SI, and bytes. Formulas use these names, never bare powers of ten. */
#ifndef DSE_UNITS_H
#define DSE_UNITS_H

#define DSE_GIGA 1e9 /* GHz, GB/s -> Hz, B/s */
#define DSE_US_PER_S 1e6
#define DSE_MJ_PER_J 1e3
#define DSE_MW_PER_W 1e3
#define DSE_PICO 1e-12 /* pJ -> J */
#define DSE_KIB 1024.0
#define DSE_MIB 1048576.0
#define DSE_GIB 1073741824.0
#define DSE_BITS_PER_BYTE 8.0
#define DSE_OPS_PER_MAC 2.0

#endif
