/* The plot command: an element for each layer and series, and the binary points that follow the command in the same order.
 *
 * layers.c draws what consists of points and lines; boxes.c what does not: the boxes of bars and charts, the cells of maps, paths,
 * and what stands behind and upon the data. */
#ifndef DSE_FIGURE_LAYERS_H
#define DSE_FIGURE_LAYERS_H

#include "figure/layout.h"
#include "figure/kinds.h"
#include "figure/script_text.h"

struct plot {
    const struct scene *scene;
    const struct canvas *canvas;
    double width_mm, height_mm; /* of the area between the axes */
    double point_scale;         /* of point sizes, where the terminal has none of its own */
    struct text command, data;
};

/* Begin the next element of the command. */
void plot_begin_element(struct plot *p);
/* Begin the next element of the plot command, which is drawn from the binary points from `offset` of the data on. Its options
 * follow. */
void plot_begin_data(struct plot *p, size_t offset);
/* Add an image over the whole plot: width x height cells in RGBA, the lowest row first. */
void plot_add_image(struct plot *p, const unsigned char *rgba, int width, int height);
/* The letter of a series in a terminal; in a box whose number is quoted a small one. */
char plot_letter(size_t place);
char plot_box_letter(size_t place, bool quoted);
/* Add a layer of any style. A cloud in a terminal, and lines of very many points, are thinned further. */
void plot_add_layer(struct plot *p, struct layer *l);
/* Add the entries of gnuplot's own legend, for a terminal. */
void plot_add_entries(struct plot *p, const struct entries *e);
/* How a legend shows a layer and series: " lw ... lc ..." of a line, "left point ..." of a label that is only a marker. */
void plot_sample_colour(const struct plot *p, const struct layer *l, size_t place, struct text *ret);
void plot_sample_point(const struct plot *p, const struct layer *l, size_t place, struct text *ret);

/* Layers of one style, which plot_add_layer chooses. */
void plot_add_boxes(struct plot *p, const struct layer *l);
void plot_add_cells(struct plot *p, const struct layer *l);
void plot_add_paths(struct plot *p, const struct layer *l);
/* How gnuplot fills a box whose number is quoted: with lines, and between them what is behind it. */
#define BOXES_HATCHED "transparent pattern 4"
/* The colour of a value from 0 to 1 along the axis of values, in viridis; and the character that stands for it in a terminal. */
uint32_t value_colour(double at);
enum { VALUE_CHARACTERS = 9 };
char value_character(double at);

/* Commands before the plot for bands, rules and annotations. */
void notes_write(struct text *t, const struct scene *s, const struct canvas *c, double width_mm);

#endif
