/* What kinds of figures make their layers with. */
#include "figure/kinds_internal.h"

#include "base/xalloc.h"

#include <assert.h>

struct layer *scene_add_layer(struct scene *s, enum layer_style style, const char *legend)
{
    assert(s->n_layers < LAYERS_MAX);
    struct layer *l = &s->layer[s->n_layers++];
    *l = (struct layer){.style = style, .legend = legend};
    return l;
}

struct cloud *scene_add_cloud(struct scene *s, enum layer_style style, size_t max_marks, const char *legend)
{
    struct layer *l = scene_add_layer(s, style, legend);
    cloud_init(&l->points, max_marks);
    s->main = s->n_layers - 1;
    return &l->points;
}

bool scene_collect(struct scene *s, struct rows *rows, const struct query_spec *query, struct point_list *ret, struct diags *diags)
{
    struct points points;
    struct point p;
    int more;
    *ret = (struct point_list){0};
    if (!points_open(&points, s->figure, query, rows, &s->names, diags)) return false;
    size_t capacity = 0;
    while ((more = points_next(&points, &p, diags)) > 0) {
        if (ret->n == COLLECT_MAX) {
            diags_input(diags, query->loc, s->figure->doc->text, "aggregate them in the query",
                        "the query gives more than %d rows, the most that a figure of kind \"%s\" can show", COLLECT_MAX,
                        s->figure->kind->name);
            return false;
        }
        if (ret->n == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            ret->point = xrealloc(ret->point, capacity, sizeof *ret->point);
        }
        ret->point[ret->n++] = p;
    }
    if (query == &s->figure->query) {
        s->n_rows = points.n_rows;
        s->n_used = points.n_used;
    }
    return more == 0 && points_finish(&points, diags);
}

const char *scene_published(const struct figure *f)
{
    return f->reference_label ? f->reference_label : "published";
}
