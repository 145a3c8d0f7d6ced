/* A column's name as people read it, on the axes of figures and in reports. */
#ifndef DSE_DESC_LABEL_H
#define DSE_DESC_LABEL_H

#include "base/text.h"

/* The label of a column with its unit: "Energy [mJ]" of "energy_mj" in "mJ". The unit is taken out of the name. unit may be NULL.
 * The caller frees the label. */
char *label_of_column(const char *column, const char *unit);
/* The words of the label without the unit: "Energy"; "" when the name is nothing but the unit. The caller frees them. */
char *label_words(const char *column, const char *unit);
/* Add a number as an exponent: "⁻³". */
void label_add_superscript(struct text *t, int n);

#endif
