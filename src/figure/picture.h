/* The file a picture goes to: its format, whether it can be written, and writing it whole or not at all. */
#ifndef DSE_FIGURE_PICTURE_H
#define DSE_FIGURE_PICTURE_H

#include "base/text.h"
#include "figure/script.h"

/* The format that the ending of a path names; another ending is an error that lists them. */
bool picture_format(const char *path, enum format *ret, struct diags *diags);
/* Can a file of that path be made? To know it before hours of querying; the writing may fail all the same. */
bool picture_check(const char *path, struct diags *diags);
/* Does a picture have the beginning and the end of its format? An error if not. */
bool picture_check_whole(enum format format, const struct text *picture, struct diags *diags);
/* Tell in a PNG how many pixels make an inch, so that it is printed in the size of the figure. */
void picture_set_density(struct text *png, double dpi);

#endif
