/* Units by dimension: "GB/s" is 1e9 bytes a second. What a formula calculates with is in the units of the dimensions; what it reads
 * and gives is in the unit of the name ("_gbs"). Counts, cycles, tokens and operations have no dimension. */
#ifndef DSE_FORMULA_MEASURE_H
#define DSE_FORMULA_MEASURE_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIM_BYTE, DIM_SECOND, DIM_JOULE, DIM_METRE, DIM_VOLT, DIM_USD, DIM_KGCO2, DIMS };

/* Powers of the units B, s, J, m, V, usd and kgCO2e, in halves: those of a square root are whole numbers of them. */
struct dimension {
    int16_t half[DIMS];
};
struct measure {
    double scale; /* how much of the dimension's own unit it is */
    struct dimension dim;
};

bool dimension_same(struct dimension a, struct dimension b);
bool dimension_none(struct dimension d);
/* a + sign * b of the powers. */
struct dimension dimension_times(struct dimension a, struct dimension b, int sign);
/* "B/s", "s", "1/s"; of none "a pure number". */
void dimension_text(struct dimension d, struct text *ret);

/* A unit as people write it: "GHz", "pJ/bit", "mm2", "1/s", "usd/h". False: there is no such. */
bool measure_parse(const char *s, size_t n, struct measure *ret);
/* The unit that a name ends in, by the suffixes of all models (dse_units) and "_s", "_j", "_hz", "_bytes_per_s", "_ops_per_s";
 * *ret_unit is its name. False: it ends in none. */
bool measure_of_name(const char *name, struct measure *ret, const char **ret_unit);

#endif
