/* Internal to the kinds of figures: what they share, and their functions. */
#ifndef DSE_FIGURE_KINDS_INTERNAL_H
#define DSE_FIGURE_KINDS_INTERNAL_H

#include "figure/kinds.h"

struct layer *scene_add_layer(struct scene *s, enum layer_style style, const char *legend);
/* Add a layer of points, which becomes the main one. */
struct cloud *scene_add_cloud(struct scene *s, enum layer_style style, size_t max_marks, const char *legend);

/* Collect all points of a query, for kinds that need them together. The caller frees `point`, also after a failure. */
enum { COLLECT_MAX = 200000 };
struct point_list {
    struct point *point;
    size_t n;
};
bool scene_collect(struct scene *s, struct rows *rows, const struct query_spec *query, struct point_list *ret, struct diags *diags);
/* Divide each y by that of the series `normalize` at the same x and group; points without one are left out. False with an error
 * when there is no such series. */
bool scene_normalize(const struct scene *s, struct point_list *list, struct diags *diags);

/* The name of published points in the legend. */
const char *scene_published(const struct figure *f);
/* Read annotations and bands. */
bool scene_add_notes(struct scene *s, const struct inputs *in, struct diags *diags);

bool build_bars(struct scene *s, const struct inputs *in, struct diags *diags);
bool build_grouped_bars(struct scene *s, const struct inputs *in, struct diags *diags);
bool build_stacked_bars(struct scene *s, const struct inputs *in, struct diags *diags);
bool build_heatmap(struct scene *s, const struct inputs *in, struct diags *diags);
bool build_contour(struct scene *s, const struct inputs *in, struct diags *diags);
bool build_interval_map(struct scene *s, const struct inputs *in, struct diags *diags);
bool build_gantt(struct scene *s, const struct inputs *in, struct diags *diags);
bool build_parallel(struct scene *s, const struct inputs *in, struct diags *diags);

/* Lines of equal value at the ticks of z, as a layer of paths with notes. */
void add_contours(struct scene *s);
/* The axis of categories of bars, with the names of groups where there are any. */
void scene_fit_categories(struct scene *s);
/* The axes of parallel coordinates; their paths come to lie between 0 and 1. */
void scene_fit_columns(struct scene *s, int ticks);

#endif
