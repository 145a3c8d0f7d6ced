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
        feasible = 0;
        for (size_t i = 0; i < n; i++) feasible += single.rows[i].reason == NULL;
        rows_release(&single);
    }
    close_search(&b);
    return feasible;
}

#endif
