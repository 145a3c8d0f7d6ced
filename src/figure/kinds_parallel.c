/* Parallel coordinates: an axis for each column, a line for each row. */
#include "figure/kinds_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 20000, SHOWN_MAX = 1500 };

/* The columns of the figure among those of the rows. */
struct reading {
    struct scene *scene;
    struct rows *rows;
    int column[AXES_MAX], by;
};

static bool open_columns(struct reading *r, struct diags *diags)
{
    const struct figure *f = r->scene->figure;
    bool ok = true;
    if (f->n_columns > AXES_MAX)
        return diags_input(diags, f->columns[0].loc, f->doc->text, NULL, "columns: more than %d axes", AXES_MAX);
    for (size_t i = 0; i < f->n_columns; i++) {
        if (!f->columns[i].column) return false;
        r->column[i] = rows_find(r->rows, f, "sql", "columns", f->columns[i].column, f->columns[i].loc, diags);
        ok = ok && r->column[i] >= 0;
    }
    r->by = -1;
    if (f->series.column) {
        r->by = rows_find(r->rows, f, "sql", "series", f->series.column, f->series.loc, diags);
        ok = ok && r->by >= 0;
    }
    return ok;
}

/* The row's values, on the scales of their axes. 1: done; 0: one is NULL; -1: an error. */
static int read_row(const struct reading *r, double *ret, struct diags *diags)
{
    const struct figure *f = r->scene->figure;
    for (size_t i = 0; i < f->n_columns; i++) {
        enum cell_type type = r->rows->type(r->rows, r->column[i]);
        if (type == CELL_NULL) return 0;
        double v = r->rows->f64(r->rows, r->column[i]);
        bool number = type == CELL_INTEGER || type == CELL_REAL;
        if (!number || !(fabs(v) < 1e300) || (f->columns[i].scale != SCALE_LINEAR && v <= 0)) {
            diags_input(diags, f->columns[i].loc, f->doc->text, NULL,
                        "columns: row %llu has a value in the column %s that its axis cannot show",
                        (unsigned long long)r->scene->n_rows, f->columns[i].column);
            return -1;
        }
        ret[i] = axis_scale(f->columns[i].scale, v);
    }
    return 1;
}

static int read_series(const struct reading *r, uint32_t *ret, struct diags *diags)
{
    const struct figure *f = r->scene->figure;
    struct series *s = &r->scene->names.series;
    *ret = 0;
    if (r->by < 0) return 1;
    enum cell_type type = r->rows->type(r->rows, r->by);
    if (type == CELL_NULL) return 0;
    bool number = type == CELL_INTEGER || type == CELL_REAL;
    int i = number ? series_number(s, r->rows->f64(r->rows, r->by)) : series_text(s, r->rows->text(r->rows, r->by));
    if (i < 0) {
        diags_input(diags, f->series.loc, f->doc->text, NULL, "series: the column %s has more than %d values", f->series.column,
                    SERIES_MAX);
        return -1;
    }
    *ret = (uint32_t)i;
    return 1;
}

bool build_parallel(struct scene *s, const struct inputs *in, struct diags *diags)
{
    const struct figure *f = s->figure;
    struct reading r = {.scene = s, .rows = in->query};
    struct layer *l = scene_add_layer(s, LAYER_PATHS, NULL);
    double row[AXES_MAX];
    int more;
    size_t capacity = 0;
    if (!open_columns(&r, diags)) return false;
    while ((more = in->query->next(in->query, diags)) > 0) {
        uint32_t series;
        s->n_rows++;
        int got = read_row(&r, row, diags), named = got > 0 ? read_series(&r, &series, diags) : got;
        if (got < 0 || named < 0) return false;
        if (got == 0 || named == 0) continue;
        if (++s->n_used > ROWS_MAX)
            return diags_input(diags, f->query.loc, f->doc->text, "choose some, the front for example",
                               "the query gives more than %d rows, the most that parallel coordinates can show", ROWS_MAX);
        if (l->n_path + f->n_columns > capacity) {
            capacity = 2 * capacity + 64 * f->n_columns;
            l->path = xrealloc(l->path, capacity, sizeof *l->path);
        }
        for (size_t i = 0; i < f->n_columns; i++)
            l->path[l->n_path++] = (struct path_point){.x = (double)i, .y = row[i], .series = series, .first = i == 0};
    }
    s->n_axes = f->n_columns;
    if (more == 0 && l->n_path == 0) return diags_input(diags, f->query.loc, f->doc->text, NULL, "sql: the query gives no rows");
    return more == 0;
}

void scene_fit_columns(struct scene *s, int ticks)
{
    struct layer *l = &s->layer[0];
    for (size_t i = 0; i < s->n_axes; i++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (size_t k = i; k < l->n_path; k += s->n_axes) {
            low = fmin(low, l->path[k].y);
            high = fmax(high, l->path[k].y);
        }
        axis_fit_exactly(&s->axes[i], &s->figure->columns[i], low, high, ticks < 6 ? ticks : 6);
        for (size_t k = i; k < l->n_path; k += s->n_axes) l->path[k].y = axis_position(&s->axes[i], l->path[k].y);
    }
    s->x = (struct axis){.low = -0.35, .high = (double)s->n_axes - 0.65};
    s->y = (struct axis){.low = 0, .high = 1};
    s->x.label = xstrdup("");
    s->y.label = xstrdup("");
}

void scene_label_column(struct scene *s, size_t i, const char *unit)
{
    axis_set_label(&s->axes[i], &s->figure->columns[i], unit);
    struct tick *t = &s->x.tick[s->x.n++];
    t->at = axis_position(&s->x, (double)i);
    tick_set_name(t, s->axes[i].label);
}
