/* The plot command's elements that are no points: boxes of bars and charts, cells of maps, paths, and what stands behind and upon
 * the data. */
#ifndef DSE_FIGURE_BOXES_H
#define DSE_FIGURE_BOXES_H

#include "figure/layers.h"

void plot_add_boxes(struct plot *p, const struct layer *l);
/* How gnuplot fills a box whose number is quoted: with lines, and what is behind it between them. */
#define BOXES_HATCHED "transparent pattern 4"
/* What fills it in a terminal: a small letter, where others have a capital. */
char plot_box_letter(size_t place, bool quoted);
void plot_add_cells(struct plot *p, const struct layer *l);
void plot_add_paths(struct plot *p, const struct layer *l);
/* Colour of a value, 0 to 1 along the axis of values: viridis. */
uint32_t value_colour(double at);
/* The same in a terminal: a character. */
enum { VALUE_CHARACTERS = 9 };
char value_character(double at);

/* Commands before the plot: bands, rules, annotations. */
void notes_write(struct text *t, const struct scene *s, const struct canvas *c, double width_mm);

#endif
