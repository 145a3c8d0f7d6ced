/* The plot command: an element for each layer and series, and the binary points that follow the command in the same order. */
#ifndef DSE_FIGURE_LAYERS_H
#define DSE_FIGURE_LAYERS_H

#include "figure/layout.h"
#include "figure/script.h"

struct plot {
    const struct scene *scene;
    const struct canvas *canvas;
    double width_mm, height_mm; /* of the area between the axes */
    double point_scale;         /* of point sizes, where the terminal has none of its own */
    struct text command, data;
};

/* The next element of the plot command, drawn from the binary points that begin at `offset` of the data: its options follow. */
void plot_begin_data(struct plot *p, size_t offset);
/* An image over the whole plot: RGBA of width x height cells, the lowest row first. */
void plot_add_image(struct plot *p, const unsigned char *rgba, int width, int height);
/* What stands for a series in a terminal. */
char plot_letter(size_t place);
/* Add a layer. A cloud in a terminal, and lines of very many points, are thinned further. */
void plot_add_layer(struct plot *p, struct layer *l);
/* Add the entries of gnuplot's own legend, for a terminal. */
void plot_add_entries(struct plot *p, const struct entries *e);
/* How a legend shows a layer and series: " lw ... lc ..." of a line, "left point ..." of a label that is only a marker. */
void plot_sample_colour(const struct plot *p, const struct layer *l, size_t place, struct text *ret);
void plot_sample_point(const struct plot *p, const struct layer *l, size_t place, struct text *ret);

#endif
