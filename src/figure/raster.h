/* A cloud as a picture element of fixed size: however many points, a raster of coloured cells with opacity by density. */
#ifndef DSE_FIGURE_RASTER_H
#define DSE_FIGURE_RASTER_H

#include "figure/kinds.h"

/* RGBA of width x height cells over the ranges of the scene's axes, the lowest row first. Where series overlap their colours mix by
 * number of points. Opacity goes from `faint` (a single point) to `dense` with the logarithm of the density. The caller frees it.
 */
unsigned char *raster_paint(const struct scene *s, const struct cloud *c, int width, int height, double faint, double dense);

#endif
