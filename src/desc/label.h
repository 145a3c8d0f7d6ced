/* A column's name as people read it, on the axes of figures and in reports. */
#ifndef DSE_DESC_LABEL_H
#define DSE_DESC_LABEL_H

#include "base/text.h"

/* "Energy [mJ]" of "energy_mj" in "mJ": said once, the unit leaves the name. unit may be NULL. The caller frees it. */
char *label_of_column(const char *column, const char *unit);
/* The words alone: "Energy"; "" when the name is the unit. The caller frees them. */
char *label_words(const char *column, const char *unit);
/* An exponent: "⁻³". */
void label_add_superscript(struct text *t, int n);

#endif
