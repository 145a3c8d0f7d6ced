#include "figure/rows.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "figure/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a query as rows -------------------------------------------------------------------------------------------------- */

static struct query *query_of(const struct rows *r)
{
    return ((const struct query_rows *)r)->query;
}

static const char *query_rows_name(const struct rows *r, int column)
{
    return query_column_name(query_of(r), column);
}

static int query_rows_next(struct rows *r, struct diags *diags)
{
    return query_step(query_of(r), diags);
}

static enum cell_type query_rows_type(const struct rows *r, int column)
{
    return query_type(query_of(r), column);
}

static double query_rows_f64(const struct rows *r, int column)
{
    return query_f64(query_of(r), column);
}

static const char *query_rows_text(const struct rows *r, int column)
{
    return query_text(query_of(r), column);
}

void rows_of_query(struct query_rows *ret, struct query *q)
{
    *ret = (struct query_rows){
        .rows = {.n_columns = query_columns(q),
                 .name = query_rows_name,
                 .next = query_rows_next,
                 .type = query_rows_type,
                 .f64 = query_rows_f64,
                 .text = query_rows_text},
        .query = q,
    };
}

/* ---- columns ---------------------------------------------------------------------------------------------------------- */

/* The column of that name, or -1 with an error. */
static int find_column(const struct points *p, const struct column_spec *c, const char *key, struct diags *diags)
{
    const struct rows *r = p->rows;
    for (int i = 0; i < r->n_columns; i++)
        if (strcmp(r->name(r, i), c->column) == 0) return i;
    const char **names = xcalloc((size_t)r->n_columns + 1, sizeof *names);
    struct text hint;
    text_init(&hint);
    for (int i = 0; i < r->n_columns; i++) names[i] = r->name(r, i);
    const char *near = text_nearest(c->column, names, (size_t)r->n_columns);
    if (near) text_addf(&hint, "did you mean %s? ", near);
    text_add(&hint, "its columns are");
    for (int i = 0; i < r->n_columns; i++) text_addf(&hint, "%s %s", i ? "," : "", names[i]);
    const char *which = p->query == &p->figure->front ? "front_sql" : "sql";
    diags_input(diags, c->loc, p->figure->doc->text, hint.s, "%s: the query of %s gives no column %s", key, which, c->column);
    text_release(&hint);
    free(names);
    return -1;
}

bool points_open(struct points *p, const struct figure *f, const struct query_spec *query, struct rows *rows, struct series *series,
                 struct diags *diags)
{
    *p = (struct points){.figure = f, .query = query, .rows = rows, .series = series, .by = -1};
    p->x = find_column(p, &f->x, "x", diags);
    p->y = find_column(p, &f->y, "y", diags);
    if (f->series.column) p->by = find_column(p, &f->series, "series", diags);
    return p->x >= 0 && p->y >= 0 && (p->by >= 0 || !f->series.column);
}

/* ---- values ----------------------------------------------------------------------------------------------------------- */

/* The value of one axis, on its scale. 1: done; 0: NULL; -1: an error. */
static int read_value(const struct points *p, const struct column_spec *c, int column, const char *key, double *ret,
                      struct diags *diags)
{
    const struct rows *r = p->rows;
    const char *text = p->figure->doc->text;
    unsigned long long row = p->n_rows;
    enum cell_type type = r->type(r, column);
    if (type == CELL_NULL) return 0;
    if (type == CELL_TEXT || type == CELL_BLOB) {
        if (type == CELL_TEXT)
            diags_input(diags, c->loc, text, NULL, "%s: row %llu has the text \"%s\" in the column %s, a number is needed", key,
                        row, r->text(r, column), c->column);
        else
            diags_input(diags, c->loc, text, NULL, "%s: row %llu has a blob in the column %s, a number is needed", key, row,
                        c->column);
        return -1;
    }
    double v = r->f64(r, column);
    char number[TEXT_NUMBER_MAX];
    if (c->scale != SCALE_LINEAR && v <= 0) {
        diags_input(diags, c->loc, text, "draw it on a linear scale, or leave such rows out with WHERE",
                    "%s: row %llu has %s in the column %s, which a logarithmic axis cannot show", key, row, text_number(number, v),
                    c->column);
        return -1;
    }
    if (!(fabs(v) < 1e300)) {
        diags_input(diags, c->loc, text, NULL, "%s: row %llu has %s in the column %s, which cannot be drawn", key, row,
                    text_number(number, v), c->column);
        return -1;
    }
    *ret = axis_scale(c->scale, v);
    return 1;
}

static int read_series(struct points *p, uint32_t *ret, struct diags *diags)
{
    const struct rows *r = p->rows;
    *ret = 0;
    if (p->by < 0) return 1;
    enum cell_type type = r->type(r, p->by);
    if (type == CELL_NULL) return 0;
    bool number = type == CELL_INTEGER || type == CELL_REAL;
    int i = number ? series_number(p->series, r->f64(r, p->by)) : series_text(p->series, r->text(r, p->by));
    if (i < 0) {
        diags_input(diags, p->figure->series.loc, p->figure->doc->text, "choose some of its values in the query, with WHERE",
                    "series: the column %s has more than %d values, the most that can be told apart", p->figure->series.column,
                    SERIES_MAX);
        return -1;
    }
    *ret = (uint32_t)i;
    return 1;
}

int points_next(struct points *p, struct point *ret, struct diags *diags)
{
    for (;;) {
        int more = p->rows->next(p->rows, diags);
        if (more <= 0) return more;
        p->n_rows++;
        int x = read_value(p, &p->figure->x, p->x, "x", &ret->x, diags);
        int y = read_value(p, &p->figure->y, p->y, "y", &ret->y, diags);
        if (x < 0 || y < 0) return -1;
        if (x == 0 || y == 0) continue;
        int s = read_series(p, &ret->series, diags);
        if (s < 0) return -1;
        if (s == 0) continue;
        p->n_used++;
        return 1;
    }
}

bool points_finish(const struct points *p, struct diags *diags)
{
    if (p->n_used) return true;
    const char *which = p->query == &p->figure->front ? "front_sql" : "sql";
    const char *text = p->figure->doc->text;
    if (p->n_rows == 0) return diags_input(diags, p->query->loc, text, NULL, "%s: the query gives no rows", which);
    return diags_input(diags, p->query->loc, text, NULL,
                       "%s: all %llu rows of the query have NULL in a column that the figure needs", which,
                       (unsigned long long)p->n_rows);
}
