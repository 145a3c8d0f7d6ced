/* Units: the papers' words for them, and those of the tables of parameters and metrics. */
#ifndef DSE_CLAIMS_UNITS_H
#define DSE_CLAIMS_UNITS_H

#include <stdbool.h>

/* May a field of unit `field` answer for `claim`? `stated`: the author has said that the unit is that, so only a known
 * contradiction counts. */
bool claims_units_agree(const char *field, const char *claim, bool stated);
bool claims_units_same(const char *a, const char *b);

#endif
