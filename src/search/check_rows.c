/* The lattices of a certificate, and the rows of its front. */
#include "search/check_internal.h"

#include "analysis/front.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "search/row_groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- lattices -------------------------------------------------------------------------------------------------------------- */

static bool visit_space(void *user, const struct certificate_space *s)
{
    struct checking *c = user;
    const size_t m = checking_space(c, s->model);
    if (m == SIZE_MAX) return !checking_wrong(c, "the sweep has no model \"%s\"", s->model);
    const struct space *sp = c->spaces[m].space;
    const int version = space_model(sp)->desc->version;
    char hash[TEXT_NUMBER_MAX];
    snprintf(hash, sizeof hash, "%016" PRIx64, space_hash(sp));
    if (s->version != version) {
        checking_wrong(c, "the certificate is of version %lld of model %s; this dse has version %d", (long long)s->version,
                       s->model, version);
    } else if (s->points != space_count(sp)) {
        checking_wrong(c, "the lattice of %s has %" PRIu64 " points; the certificate says %" PRIu64, s->model, space_count(sp),
                       s->points);
    } else if (strcmp(s->hash, hash) != 0) {
        checking_wrong(c, "the inputs of the rows of %s (sweep, catalog, defaults) have changed since the certificate was made",
                       s->model);
    }
    return true;
}

/* The objectives that the run tells its readers are those of its sweep. */
static void check_objectives(struct checking *c)
{
    struct text t;
    text_init(&t);
    const struct sweep_file *s = c->sweep;
    for (size_t j = 0; j < s->n_objectives; j++)
        text_addf(&t, "%s%s %s", j ? ", " : "", s->objectives[j].maximise ? "max" : "min", s->objectives[j].column);
    for (size_t i = 0; i < s->n_per; i++) text_addf(&t, "%s%s", i ? ", " : " per ", s->per[i]);
    budget_add_within(&s->budget, &t);
    if (strcmp(t.s, c->run.objectives) != 0)
        checking_wrong(c, "the run says that its front is of \"%s\"; its sweep says \"%s\"", c->run.objectives, t.s);
    text_release(&t);
}

/* What the places of the lattice are held against, in the order of models, axes and places. */
struct places {
    struct checking *c;
    uint64_t n;
    void *params;
    uint32_t *at;
};

static bool same_value(const struct field *f, const void *params, const struct certificate_place *p)
{
    const struct value v = field_get(f, params);
    char buf[TEXT_NUMBER_MAX];
    switch (f->type) {
    case DSE_TYPE_F64:
        return p->type == DSE_TYPE_F64 ? v.f64 == p->value.f64 : p->type == DSE_TYPE_I64 && v.f64 == (double)p->value.i64;
    case DSE_TYPE_I64: return p->type == DSE_TYPE_I64 && v.i64 == p->value.i64;
    default: return p->type == DSE_TYPE_ENUM && strcmp(value_text(f, v, buf), p->value.text) == 0;
    }
}

static bool visit_place(void *user, const struct certificate_place *p)
{
    struct places *w = user;
    struct checking *c = w->c;
    const size_t m = checking_space(c, p->model);
    if (m == SIZE_MAX) return !checking_wrong(c, "the sweep has no model \"%s\"", p->model);
    const struct checked_space *s = &c->spaces[m];
    uint32_t n = 0;
    size_t a = 0;
    while (a < s->axes && strcmp(lattice_axis(s->lattice, a, &n)->name, p->axis) != 0) a++;
    if (a == s->axes || p->place < 0 || p->place >= (int64_t)n)
        return !checking_wrong(c, "the lattice of %s has no place %lld on an axis %s", p->model, (long long)p->place, p->axis);
    const struct field *f = lattice_axis(s->lattice, a, &n);
    memset(w->at, 0, s->axes * sizeof *w->at);
    w->at[a] = (uint32_t)p->place;
    space_point(s->space, lattice_index(s->lattice, w->at), w->params);
    if (!same_value(f, w->params, p))
        checking_wrong(c, "place %lld of axis %s of %s is not what the sweep has there", (long long)p->place, p->axis, p->model);
    w->n++;
    return true;
}

/* Room for the parameters of any model, and for a place on each axis of any. */
static size_t largest_params(const struct checking *c, size_t *ret_axes)
{
    size_t size = 1;
    *ret_axes = 1;
    for (size_t m = 0; m < c->n_spaces; m++) {
        const size_t of_model = space_model(c->spaces[m].space)->desc->params_size;
        if (of_model > size) size = of_model;
        if (c->spaces[m].axes > *ret_axes) *ret_axes = c->spaces[m].axes;
    }
    return size;
}

bool check_lattices(struct checking *c)
{
    size_t axes;
    struct places w = {.c = c, .params = xmalloc(largest_params(c, &axes))};
    w.at = xcalloc(axes, sizeof *w.at);
    double points = 0;
    uint64_t places = 0;
    checking_begin(c);
    if (!(c->run.head.tolerance >= 0 && c->run.head.tolerance <= CERTIFICATE_TOLERANCE))
        checking_wrong(c, "the tolerance of run %lld is %g; a certificate has at most %g", (long long)c->run.run,
                       c->run.head.tolerance, CERTIFICATE_TOLERANCE);
    check_objectives(c);
    bool ok = certificate_read_spaces(c->reader, c->run.run, visit_space, c, c->diags) &&
              certificate_read_places(c->reader, c->run.run, visit_place, &w, c->diags);
    for (size_t m = 0; m < c->n_spaces; m++) {
        points += (double)space_count(c->spaces[m].space);
        for (size_t a = 0; a < c->spaces[m].axes; a++) places += c->spaces[m].places[a];
    }
    if (ok && w.n != places) checking_wrong(c, "the certificate has %" PRIu64 " places of %" PRIu64 " on the axes", w.n, places);
    char of[TEXT_NUMBER_MAX], n[TEXT_NUMBER_MAX];
    checking_end(c, "lattice", "%s points, %s values on the axes of %zu model%s, versions %s", text_about_count(of, points),
                 text_count(n, places), c->n_spaces, c->n_spaces == 1 ? "" : "s", c->run.models);
    free(w.params);
    free(w.at);
    return ok && c->wrong == 0;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

struct row_reading {
    struct checking *c;
    size_t space;
    struct evaluator *evaluator;
    union cell *cells;
    void *params;
    struct text group;
};

static bool same_cell(const struct column *column, union cell a, union cell b)
{
    if (column->type == DSE_TYPE_F64) return a.f64 == b.f64 || (isnan(a.f64) && isnan(b.f64));
    if (column->type == DSE_TYPE_I64) return a.i64 == b.i64;
    return a.text == b.text || (a.text && b.text && strcmp(a.text, b.text) == 0);
}

static size_t group_number(struct checking *c, const char *name)
{
    for (size_t g = 0; g < c->n_groups; g++)
        if (strcmp(c->groups[g], name) == 0) return g;
    c->groups = xrealloc(c->groups, c->n_groups + 1, sizeof *c->groups);
    c->groups[c->n_groups] = xstrdup(name);
    return c->n_groups++;
}

static void add_row(struct row_reading *w, uint64_t point)
{
    struct checking *c = w->c;
    const struct checked_space *s = &c->spaces[w->space];
    struct checked_row row = {.space = w->space, .point = point};
    size_t n;
    const struct column *columns = space_columns(s->space, &n);
    for (size_t j = 0; j < c->sweep->n_objectives; j++) {
        const size_t k = s->columns[j];
        row.values[j] = k == SIZE_MAX ? (double)NAN : columns[k].type == DSE_TYPE_F64 ? w->cells[k].f64 : (double)w->cells[k].i64;
        if (!isfinite(row.values[j])) {
            checking_wrong(c, "point %" PRIu64 " of %s is on the front and has no %s", point, space_model(s->space)->desc->name,
                           c->sweep->objectives[j].column);
            return;
        }
    }
    space_point(s->space, point, w->params);
    row.group = group_number(c, row_group(c->sweep, space_model(s->space), w->params, &w->group));
    c->rows = xrealloc(c->rows, c->n_rows + 1, sizeof *c->rows);
    c->rows[c->n_rows++] = row;
}

static bool visit_row(void *user, int64_t point, const char *status, const union cell *cells)
{
    struct row_reading *w = user;
    struct checking *c = w->c;
    const struct space *sp = c->spaces[w->space].space;
    const char *model = space_model(sp)->desc->name;
    struct row row;
    size_t n;
    const struct column *columns = space_columns(sp, &n);
    if (point < 0 || (uint64_t)point >= space_count(sp))
        return !checking_wrong(c, "point %lld on the front is none of the lattice of %s", (long long)point, model);
    if (!cells) return !checking_wrong(c, "point %lld of %s is on the front and has no row", (long long)point, model);
    if (!evaluator_run(w->evaluator, (uint64_t)point, 1, w->cells, &row))
        return checking_wrong(c, "%s", evaluator_error(w->evaluator));
    if (!row_is_within(&row) || strcmp(status, "ok") != 0) {
        checking_wrong(c, "point %lld of %s is on the front and not feasible: %s", (long long)point, model,
                       row.reason             ? row.reason
                       : !row_is_within(&row) ? "nobody knows what it loses"
                                              : status);
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        if (same_cell(&columns[i], w->cells[i], cells[i])) continue;
        checking_wrong(c, "the row of point %lld of %s is not what the model gives: %s was changed", (long long)point, model,
                       columns[i].name);
        return true;
    }
    add_row(w, (uint64_t)point);
    return !checking_stopped(c);
}

static bool read_rows(struct checking *c, size_t m)
{
    struct space *sp = c->spaces[m].space;
    size_t n, axes;
    const struct column *columns = space_columns(sp, &n);
    struct row_reading w = {.c = c,
                            .space = m,
                            .evaluator = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL),
                            .cells = xcalloc(n, sizeof *w.cells),
                            .params = xmalloc(largest_params(c, &axes))};
    bool ok = certificate_read_front(c->reader, c->run.run, space_model(sp)->desc->name, columns, n, visit_row, &w, c->diags);
    evaluator_free(w.evaluator);
    free(w.cells);
    free(w.params);
    text_release(&w.group);
    return ok;
}

/* No row of a front is better than another one of it. */
static void check_order(struct checking *c, size_t group)
{
    const size_t objectives = c->sweep->n_objectives;
    size_t n = 0;
    double *values = xcalloc(c->n_rows * objectives + 1, sizeof *values);
    uint8_t *keep = xcalloc(c->n_rows + 1, 1);
    for (size_t i = 0; i < c->n_rows; i++) {
        if (c->rows[i].group != group) continue;
        for (size_t j = 0; j < objectives; j++)
            values[n * objectives + j] = c->maximise[j] ? -c->rows[i].values[j] : c->rows[i].values[j];
        n++;
    }
    const size_t on_front = front_compute(values, n, (int)objectives, keep);
    if (on_front != n)
        checking_wrong(c, "%zu of %zu rows of the front%s%s are dominated by other rows of it", n - on_front, n,
                       *c->groups[group] ? " of " : "", c->groups[group]);
    free(values);
    free(keep);
}

bool check_rows(struct checking *c)
{
    bool ok = true;
    checking_begin(c);
    for (size_t m = 0; ok && m < c->n_spaces; m++) ok = read_rows(c, m);
    for (size_t g = 0; g < c->n_groups; g++) check_order(c, g);
    char n[TEXT_NUMBER_MAX], fronts[TEXT_NUMBER_MAX];
    checking_end(c, "front", "%s rows on %s front%s, evaluated again; none is better than another", text_count(n, c->n_rows),
                 text_count(fronts, c->n_groups), c->n_groups == 1 ? "" : "s");
    return ok;
}
