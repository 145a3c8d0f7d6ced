/* Where things stand in a picture: margins in millimetres that hold ticks, labels, title and legend, so that none of them covers
 * another, and none the data. Widths of texts are those of face.h. */
#ifndef DSE_FIGURE_LAYOUT_H
#define DSE_FIGURE_LAYOUT_H

#include "figure/kinds.h"

enum { ENTRIES_MAX = SERIES_MAX + LAYERS_MAX + 3 };

struct layout {
    double width, height;            /* of the picture [mm]: as the file says, but never too low for the legend and a plot */
    double left, right, bottom, top; /* margins [mm] */
    char *title, *label_x, *label_y; /* broken into lines */
    double title_x, title_y, label_x_x, label_x_y, label_y_x, label_y_y; /* centre of the first line [mm] */
    bool tilted;                          /* texts of the ticks of x, because they are long; upright below groups of bars */
    char (*tick_x)[AXIS_TEXT_MAX];        /* texts of the ticks of x, broken into lines; NULL: as the axis has them */
    double names_y;                       /* of the names of categories below those of groups */
    double bar_x, bar_width, bar_label_x; /* the colours of values, right of the plot; 0 wide: none */
    char *label_z;
    const char *ink; /* colour of texts; set by script.c */
    /* The legend: rows of entries, the first row's centre at legend_y, the heading before or above them. 0 columns: none. */
    int legend_columns, legend_rows;
    double legend_x, legend_y, legend_width, entry_height, sample_width, gap_width, heading_x, heading_y; /* [mm] */
    double column_x[ENTRIES_MAX]; /* of the legend, from legend_x */
};

/* The entries of the legend, and its heading or NULL. All borrowed from the scene. */
struct entries {
    size_t n;
    const char *name[ENTRIES_MAX];
    size_t place[ENTRIES_MAX];              /* in the order of the series: colour and marker; or PLACE_ANY */
    const struct layer *layer[ENTRIES_MAX]; /* whose style its sample has */
    char *heading, *lossy;                  /* freed by entries_release */
};
#define PLACE_ANY SIZE_MAX          /* of no series: the sample is grey */
#define PLACE_QUOTED (SIZE_MAX - 1) /* the same, hatched */
#define PLACE_LOSSY (SIZE_MAX - 2)  /* the same, hollow */
void entries_init(struct entries *ret, const struct scene *s);
void entries_release(struct entries *e);

void layout_init(struct layout *ret, const struct scene *s, const struct entries *e);
void layout_release(struct layout *l);

#endif
