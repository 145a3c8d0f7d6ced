/* Rows of points that are evaluated at once, against those of points one by one. */
#ifndef DSE_TESTS_MANY_ROWS_H
#define DSE_TESTS_MANY_ROWS_H

#include "search_bed.h"

#include "space/many_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct rows {
    union cell *cells;
    struct row *rows;
    struct evaluator *evaluator; /* which reasons and notes live as long as */
};

/* `step` points at a time. */
static inline struct rows rows_of(const struct space *sp, size_t n, size_t step)
{
    size_t columns;
    space_columns(sp, &columns);
    struct rows r = {xcalloc(n * columns, sizeof *r.cells), xcalloc(n, sizeof *r.rows),
                     evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL)};
    for (size_t i = 0; i < n; i += step)
        assert_true(evaluator_run(r.evaluator, i, step < n - i ? step : n - i, r.cells + i * columns, r.rows + i));
    return r;
}

static inline void rows_release(struct rows *r)
{
    free(r->cells);
    free(r->rows);
    evaluator_free(r->evaluator);
}

static inline bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline bool same_cell(const struct column *c, union cell a, union cell b)
{
    if (c->type == DSE_TYPE_F64) return a.f64 == b.f64 || (isnan(a.f64) && isnan(b.f64));
    return c->type == DSE_TYPE_I64 ? a.i64 == b.i64 : same_text(a.text, b.text);
}

static inline void assert_same_rows(const struct space *sp, size_t n, const struct rows *a, const struct rows *b, const char *sweep)
{
    size_t columns;
    const struct column *c = space_columns(sp, &columns);
    for (size_t i = 0; i < n; i++) {
        if (!same_text(a->rows[i].reason, b->rows[i].reason) || a->rows[i].fronts != b->rows[i].fronts)
            fail_msg("point %zu: %s, and one by one: %s\n%s", i, a->rows[i].reason, b->rows[i].reason, sweep);
        for (size_t k = 0; k < columns; k++)
            if (!same_cell(&c[k], a->cells[i * columns + k], b->cells[i * columns + k]))
                fail_msg("point %zu: %s is %.17g, and one by one %.17g\n%s", i, c[k].name, a->cells[i * columns + k].f64,
                         b->cells[i * columns + k].f64, sweep);
    }
}

/* Points of a grid in another order, with their rows and without: every seventh from somewhere in the middle. */
static inline void compare_listed(const struct space *sp, size_t n, const struct rows *single, const char *sweep)
{
    enum { APART = 7, METRICS = 2 };
    size_t n_columns;
    const struct column *c = space_columns(sp, &n_columns);
    const size_t columns[METRICS] = {space_column(sp, "tokens_per_s"), space_column(sp, "energy_mj")};
    uint64_t *points = xcalloc(n, sizeof *points);
    double *values = xcalloc(n * METRICS, sizeof *values), *violations = xcalloc(n, sizeof *violations);
    for (size_t i = 0, at = n / 2; i < n; i++, at = (at + APART) % n) points[i] = at;
    struct rows r = {xcalloc(n * n_columns, sizeof *r.cells), xcalloc(n, sizeof *r.rows),
                     evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL)};
    struct evaluator *alone = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    assert_true(evaluator_run_points(r.evaluator, points, n, r.cells, r.rows));
    for (size_t i = 0; i < n; i++) {
        const union cell *is = r.cells + i * n_columns, *wanted = single->cells + points[i] * n_columns;
        if (!same_text(r.rows[i].reason, single->rows[points[i]].reason)) fail_msg("point %zu\n%s", (size_t)points[i], sweep);
        for (size_t k = 0; k < n_columns; k++)
            if (!same_cell(&c[k], is[k], wanted[k])) fail_msg("point %zu: %s\n%s", (size_t)points[i], c[k].name, sweep);
    }
    assert_true(evaluator_probe_many(r.evaluator, points, n, columns, METRICS, values, violations));
    for (size_t i = 0; i < n; i++) {
        double value[METRICS], violation;
        assert_true(evaluator_probe(alone, points[i], columns, METRICS, value, &violation));
        bool same = violation == violations[i];
        for (size_t k = 0; k < METRICS; k++)
            same = same && (value[k] == values[i * METRICS + k] || (isnan(value[k]) && isnan(values[i * METRICS + k])));
        if (!same)
            fail_msg("point %zu: violation %.17g, and one by one %.17g\n%s", (size_t)points[i], violations[i], violation, sweep);
    }
    evaluator_free(alone);
    rows_release(&r);
    free(points);
    free(values);
    free(violations);
}

/* How many of the points are feasible; -1: there is no such sweep. */
static inline long compare_many(const char *text)
{
    struct search_bed b;
    long feasible = -1;
    if (open_search(&b, catalog_data_dir(), text)) {
        const struct space *sp = b.spaces[0];
        const size_t n = (size_t)space_count(sp), steps[] = {n, 100, MANY_POINTS_MIN};
        struct rows single = rows_of(sp, n, 1);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            struct rows many = rows_of(sp, n, steps[i]);
            assert_same_rows(sp, n, &many, &single, text);
            rows_release(&many);
        }
        if (!sp->sampler) compare_listed(sp, n, &single, text);
        feasible = 0;
        for (size_t i = 0; i < n; i++) feasible += single.rows[i].reason == NULL;
        rows_release(&single);
    }
    close_search(&b);
    return feasible;
}

#endif
