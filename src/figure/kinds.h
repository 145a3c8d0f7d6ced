/* Kinds of figures. A kind is a row of the table in kinds.c: a name and a function that reads rows into the layers of a scene.
 *
 * A scene is everything that is drawn, thinned and in memory, before any gnuplot: script.h writes it out. Layers stand in the order of
 * drawing; the last is on top.
 */
#ifndef DSE_FIGURE_KINDS_H
#define DSE_FIGURE_KINDS_H

#include "figure/axis.h"
#include "figure/cloud.h"
#include "figure/rows.h"
#include "figure/series.h"

enum layer_style {
    LAYER_TINT,  /* a cloud in the background: light dots, or a raster when there are many */
    LAYER_MARKS, /* the same in full colour, a marker for each series */
    LAYER_FRONT, /* outlined markers, all of them */
    LAYER_STEPS, /* the same, joined by the steps of a front of two objectives */
    LAYER_LINES, /* points of a series joined in the order of x */
};

struct layer {
    enum layer_style style;
    const char *legend; /* what its points are called in a figure without series; NULL: it has no entry */
    struct cloud points;
};

enum { LAYERS_MAX = 4 };

struct scene {
    const struct figure *figure;
    struct series series;
    struct layer layer[LAYERS_MAX];
    size_t n_layers;
    enum better better_x, better_y; /* as the file or the database says */
    struct axis x, y;
    uint64_t n_rows, n_used; /* of the query: read, and drawn or thinned away */
};

/* Rows of the figure's queries; front is NULL when the file gives none. */
struct inputs {
    struct rows *query, *front;
};

struct kind {
    const char *name;
    bool has_front; /* front_sql makes sense */
    bool (*build)(struct scene *s, const struct inputs *in, struct diags *diags);
};

enum { KINDS_MAX = 16 };
size_t kinds_names(const char **ret); /* ret holds KINDS_MAX */
const struct kind *kinds_at(size_t i);

/* The scene of a figure. The axes are not fitted yet (that needs the size of the picture): scene_fit_axes. better_x and better_y: what
 * the database says of the columns; the figure file wins. Release also after a failure. */
bool scene_build(struct scene *ret, const struct figure *f, const struct inputs *in, enum better better_x, enum better better_y,
                 struct diags *diags);
/* Ranges and ticks over all layers; units are those of the columns, or NULL. */
void scene_fit_axes(struct scene *s, int ticks_x, int ticks_y, const char *unit_x, const char *unit_y);
void scene_release(struct scene *s);

#endif
