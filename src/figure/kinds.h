/* Kinds of figures. A kind is a row of the table in kinds.c: its keys, what its axes are, and the functions that read rows into
 * the layers of a scene and fit the axes. Nothing else knows a kind by its name.
 *
 * A scene is everything that is drawn, thinned and in memory, before any gnuplot: script.h writes it out. Layers stand in the
 * order of drawing; the last is on top.
 */
#ifndef DSE_FIGURE_KINDS_H
#define DSE_FIGURE_KINDS_H

#include "figure/axis.h"
#include "figure/cloud.h"
#include "figure/rows.h"

enum layer_style {
    LAYER_TINT,      /* a cloud in the background: light dots, or a raster when there are many */
    LAYER_MARKS,     /* the same in full colour, a marker for each series */
    LAYER_FRONT,     /* outlined markers, all of them */
    LAYER_STEPS,     /* the same, joined by the steps of a front of two objectives */
    LAYER_LINES,     /* points of a series joined in the order of x */
    LAYER_BOXES,     /* boxes in the colours of their series */
    LAYER_CELLS,     /* boxes in the colours of their values */
    LAYER_PATHS,     /* lines of any shape: contours, the rows of parallel coordinates */
    LAYER_PUBLISHED, /* open diamonds: what the paper says */
};

/* A box on the scales of the axes. A side that is infinite reaches as far as the axis. */
struct box {
    double x0, x1, y0, y1;
    double value; /* of a cell */
    uint32_t series;
    bool quoted; /* hatched */
};

/* Points of lines; a line ends where `series` of the next point is another, or `first` is set. */
struct path_point {
    double x, y;
    uint32_t series;
    bool first;
};

struct layer {
    enum layer_style style;
    const char *legend; /* what its points are called in a figure without series; NULL: it has no entry */
    struct cloud points;
    struct box *boxes;
    size_t n_boxes;
    struct path_point *path;
    size_t n_path;
};

/* A text at a place of the plot, or, with one coordinate NaN, a rule across it. */
struct note {
    double x, y; /* on the scales of the axes */
    char *text;
};

/* A shaded range of x. */
struct band {
    double from, to;
    uint32_t name; /* in scene.bands_names */
};

enum { LAYERS_MAX = 6, NOTES_MAX = 256, BANDS_MAX = 64, AXES_MAX = 16 };

struct scene {
    const struct figure *figure;
    struct names names;
    struct layer layer[LAYERS_MAX];
    size_t n_layers;
    size_t main;                    /* the layer whose style the legend shows for the series */
    enum better better_x, better_y; /* as the file or the database says */
    struct axis x, y, z;            /* z: of the values of cells */
    struct axis axes[AXES_MAX];     /* of parallel coordinates, left to right */
    size_t n_axes;
    bool grid;     /* the boxes are cells of one */
    size_t groups; /* bars side by side in a category whose names stand below them; 0: none */
    struct note note[NOTES_MAX];
    size_t n_notes;
    struct band band[BANDS_MAX];
    size_t n_bands;
    struct series band_names;
    bool lossy;              /* some marks are of designs that lose information */
    char *budget;            /* what these lose at most, in words: "attention_error 0.1"; NULL: not known, or none is there */
    uint64_t n_rows, n_used; /* of the query: read, and drawn or thinned away */
};

/* Rows of the figure's queries; NULL when the file gives none. */
struct inputs {
    struct rows *query, *front, *reference, *annotation, *band;
};

/* What the data of a scene span, on the scales of the axes; low above high: there are none. */
struct extent {
    double low, high;
};
struct extents {
    struct extent x, y, z;
};

struct kind {
    const char *name;
    const char *const *needs, *const
                                  *takes; /* keys of [figure]: that must be given, and may be; beside those that every kind takes */
    bool names_x, names_y;                /* the axis is of names instead of numbers */
    const char *z;                        /* key of the column that is read beside x and y; NULL: none */
    size_t z_at;                          /* its struct column_spec in struct figure */
    bool colours_values;                  /* z has a scale of colours beside the plot */
    bool own_published;                   /* `build` places the points of reference_sql itself */
    /* Rows into layers. False with errors. */
    bool (*build)(struct scene *s, const struct inputs *in, struct diags *diags);
    /* Ranges and ticks of the axes. */
    void (*fit)(struct scene *s, const struct extents *e, int ticks_x, int ticks_y);
};
/* Is the key among those that the kind needs or takes? */
bool kind_takes(const struct kind *k, const char *key);

enum { KINDS_MAX = 16 };
size_t kinds_names(const char **ret); /* ret holds KINDS_MAX */
const struct kind *kinds_at(size_t i);

/* The scene of a figure. The axes are not fitted yet (that needs the size of the picture): scene_fit_axes. better_x and better_y:
 * what the database says of the columns; the figure file wins. Release also after a failure. */
bool scene_build(struct scene *ret, const struct figure *f, const struct inputs *in, enum better better_x, enum better better_y,
                 struct diags *diags);
/* Ranges and ticks over all layers; units are those of the columns, or NULL. */
void scene_fit_axes(struct scene *s, int ticks_x, int ticks_y, const char *unit_x, const char *unit_y);
/* Warn of annotations and bands that lie outside of the fitted axes, where the file's min and max leave them no place: they are
 * not drawn. */
void scene_check_notes(const struct scene *s, struct diags *diags);
/* Labels of the other axes: of values (unit may be NULL), and of column i of parallel coordinates. */
void scene_label_value(struct scene *s, const char *unit);
void scene_label_column(struct scene *s, size_t i, const char *unit);
void scene_release(struct scene *s);

#endif
