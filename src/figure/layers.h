/* The plot command: an element for each layer and series, and the binary points that follow the command in the same order. */
#ifndef DSE_FIGURE_LAYERS_H
#define DSE_FIGURE_LAYERS_H

#include "figure/layout.h"
#include "figure/script.h"

struct plot {
    const struct scene *scene;
    const struct canvas *canvas;
    double width_mm, height_mm; /* of the area between the axes */
    struct text command, data;
};

/* Add a layer. A cloud of a terminal, and lines of a vector format, are thinned further. */
void plot_add_layer(struct plot *p, struct layer *l);
/* Add the entries of the legend, which have a sample and a text but no points. */
void plot_add_entries(struct plot *p, const struct entries *e);

#endif
