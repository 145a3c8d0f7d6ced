#include "figure/rows.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/catalog.h"
#include "figure/kinds.h"
#include "model/registry.h"

#include <dse/model.h>
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

void names_init(struct names *n)
{
    series_init(&n->series);
    categories_init(&n->x);
    categories_init(&n->y);
    series_init(&n->group);
}

void names_release(struct names *n)
{
    series_release(&n->series);
    series_release(&n->x);
    series_release(&n->y);
    series_release(&n->group);
}

/* What a text of the column is called in the picture: a model or a format by its title, where the column is `model` or `format`; an
 * LLM of the catalog by its title, alone or among other words. */
static char *shown_text(const struct figure *f, const char *column, const char *s)
{
    static const char between[] = " ,;()";
    const struct model *m = strcmp(column, "model") == 0 ? registry_find(s) : NULL;
    if (m) return xstrndup(m->desc->title, strcspn(m->desc->title, ":"));
    const enum dse_kind kind = strcmp(column, "format") == 0 ? DSE_KIND_FORMATS : DSE_KIND_LLM;
    struct text t;
    text_init(&t);
    for (size_t n; *s; s += n) {
        n = strcspn(s, between);
        char *word = xstrndup(s, n);
        const struct dse_entry *e = n && f->catalog ? catalog_find(f->catalog, kind, word) : NULL;
        text_add(&t, e && e->title ? e->title : word);
        free(word);
        s += n;
        n = strspn(s, between);
        text_add_bytes(&t, s, n);
    }
    return text_detach(&t);
}

/* The place of a model among those of the registry, which its colour and mark go by in every picture. */
static int slot_of(const char *model)
{
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(models[i].desc->name, model) == 0) return (int)i;
    return -1;
}

static void show_series(struct series *s, const struct figure *f, const struct column_spec *c)
{
    for (size_t i = 0; c->column && i < s->n; i++) {
        if (!isnan(s->value[i].number)) continue;
        if (strcmp(c->column, "model") == 0) s->value[i].slot = slot_of(s->value[i].name);
        char *shown = shown_text(f, c->column, s->value[i].name);
        free(s->value[i].name);
        s->value[i].name = shown;
    }
}

void names_show(struct names *n, const struct figure *f)
{
    show_series(&n->series, f, &f->series);
    show_series(&n->x, f, &f->x);
    show_series(&n->y, f, &f->y);
    show_series(&n->group, f, &f->group);
}

int rows_find(const struct rows *r, const struct figure *f, const char *which, const char *key, const char *column,
              struct srcloc loc, struct diags *diags)
{
    for (int i = 0; i < r->n_columns; i++)
        if (strcmp(r->name(r, i), column) == 0) return i;
    const char **names = xcalloc((size_t)r->n_columns + 1, sizeof *names);
    struct text hint;
    text_init(&hint);
    for (int i = 0; i < r->n_columns; i++) names[i] = r->name(r, i);
    const char *near = text_nearest(column, names, (size_t)r->n_columns);
    if (near) text_addf(&hint, "did you mean %s? ", near);
    text_add(&hint, "its columns are");
    for (int i = 0; i < r->n_columns; i++) text_addf(&hint, "%s %s", i ? "," : "", names[i]);
    diags_input(diags, loc, f->doc->text, hint.s, "%s: the query of %s gives no column %s", key, which, column);
    text_release(&hint);
    free(names);
    return -1;
}

/* The key of the query that the points are read from. */
static const char *which(const struct points *p)
{
    return p->query == &p->figure->front ? "front_sql" : p->query == &p->figure->reference ? "reference_sql" : "sql";
}

static int find_column(const struct points *p, const struct column_spec *c, const char *key, struct diags *diags)
{
    return rows_find(p->rows, p->figure, which(p), key, c->column, c->loc, diags);
}

bool points_open(struct points *p, const struct figure *f, const struct query_spec *query, struct rows *rows, struct names *names,
                 struct diags *diags)
{
    *p = (struct points){
        .figure = f, .query = query, .rows = rows, .names = names, .z = -1, .by = -1, .group = -1, .quoted = -1, .quality = -1};
    p->z_spec = f->kind->z ? (const struct column_spec *)((const char *)f + f->kind->z_at) : NULL;
    p->x = find_column(p, &f->x, "x", diags);
    p->y = find_column(p, &f->y, "y", diags);
    if (p->z_spec) p->z = find_column(p, p->z_spec, f->kind->z, diags);
    if (f->series.column && query != &f->reference) p->by = find_column(p, &f->series, "series", diags);
    if (f->group.column) p->group = find_column(p, &f->group, "group", diags);
    const bool has_quoted = f->quoted.column && query == &f->query;
    if (has_quoted) p->quoted = find_column(p, &f->quoted, "quoted", diags);
    for (int i = 0; i < rows->n_columns && query != &f->reference; i++)
        if (strcmp(rows->name(rows, i), "quality") == 0) p->quality = i;
    if (query == &f->reference && f->series.column) /* of a published point it may be left out */
        for (int i = 0; i < rows->n_columns; i++)
            if (strcmp(rows->name(rows, i), f->series.column) == 0) p->by = i;
    return p->x >= 0 && p->y >= 0 && (p->z >= 0 || !p->z_spec) && (p->by >= 0 || !f->series.column || query == &f->reference) &&
           (p->group >= 0 || !f->group.column) && (p->quoted >= 0 || !has_quoted);
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

/* The number of the value of a column among names. 1: done; 0: NULL; -1: an error. */
static int read_name(const struct points *p, const struct column_spec *c, int column, const char *key, struct series *names,
                     uint32_t *ret, struct diags *diags)
{
    const struct rows *r = p->rows;
    *ret = 0;
    if (column < 0) return 1;
    enum cell_type type = r->type(r, column);
    if (type == CELL_NULL) return 0;
    bool number = type == CELL_INTEGER || type == CELL_REAL;
    int i = number ? series_number(names, r->f64(r, column)) : series_text(names, r->text(r, column));
    if (i < 0) {
        diags_input(diags, c->loc, p->figure->doc->text, "choose some of its values in the query, with WHERE",
                    "%s: the column %s has more than %zu values, the most that can be told apart", key, c->column, names->max);
        return -1;
    }
    *ret = (uint32_t)i;
    return 1;
}

/* A coordinate: a number on its scale, or the number of a category. */
static int read_axis(struct points *p, const struct column_spec *c, int column, const char *key, bool is_category,
                     struct series *names, double *ret, struct diags *diags)
{
    if (!is_category) return read_value(p, c, column, key, ret, diags);
    uint32_t i;
    int got = read_name(p, c, column, key, names, &i, diags);
    *ret = i;
    return got;
}

/* Does the row lose information? One that does not say what it loses does not count as lossy. */
static bool is_lossy(const struct points *p)
{
    const char *quality =
        p->quality >= 0 && p->rows->type(p->rows, p->quality) == CELL_TEXT ? p->rows->text(p->rows, p->quality) : NULL;
    return quality && strcmp(quality, dse_quality_names[DSE_QUALITY_EXACT]) != 0 &&
           strcmp(quality, dse_quality_names[DSE_QUALITY_ROUNDED]) != 0;
}

int points_next(struct points *p, struct point *ret, struct diags *diags)
{
    const struct figure *f = p->figure;
    for (;;) {
        int more = p->rows->next(p->rows, diags);
        if (more <= 0) return more;
        p->n_rows++;
        *ret = (struct point){0};
        int got[5] = {1, 1, 1, 1, 1};
        got[0] = read_axis(p, &f->x, p->x, "x", f->kind->names_x, &p->names->x, &ret->x, diags);
        got[1] = read_axis(p, &f->y, p->y, "y", f->kind->names_y, &p->names->y, &ret->y, diags);
        if (p->z_spec) got[2] = read_value(p, p->z_spec, p->z, f->kind->z, &ret->z, diags);
        bool failed = false, null = false;
        for (int i = 0; i < 3; i++) {
            failed |= got[i] < 0;
            null |= got[i] == 0;
        }
        if (failed) return -1;
        if (null) continue;
        got[3] = read_name(p, &f->series, p->by, "series", &p->names->series, &ret->series, diags);
        got[4] = read_name(p, &f->group, p->group, "group", &p->names->group, &ret->group, diags);
        if (got[3] < 0 || got[4] < 0) return -1;
        if (got[3] == 0 || got[4] == 0) continue;
        double quoted = 0;
        if (p->quoted >= 0 && read_value(p, &f->quoted, p->quoted, "quoted", &quoted, diags) < 0) return -1;
        ret->quoted = quoted != 0;
        ret->lossy = is_lossy(p);
        p->n_used++;
        return 1;
    }
}

bool points_finish(const struct points *p, struct diags *diags)
{
    if (p->n_used) return true;
    const char *text = p->figure->doc->text;
    if (p->n_rows == 0) return diags_input(diags, p->query->loc, text, NULL, "%s: the query gives no rows", which(p));
    return diags_input(diags, p->query->loc, text, NULL,
                       "%s: all %llu rows of the query have NULL in a column that the figure needs", which(p),
                       (unsigned long long)p->n_rows);
}
