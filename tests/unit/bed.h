/* For tests: a sweep from memory and the rows of its models. */
#ifndef DSE_TESTS_BED_H
#define DSE_TESTS_BED_H

#include "scratch.h"
#include "space/space_internal.h"

#include <math.h>

struct bed {
    struct catalog *catalog;
    struct sweep_file *sweep;
    struct diags diags;
};

/* A sweep of these models with these sections, over the catalog and the defaults of data_dir; read with or without errors. */
static inline struct bed *try_bed(const char *data_dir, const char *models, const char *sections)
{
    struct bed *b = xcalloc(1, sizeof *b);
    diags_init(&b->diags);
    char *text = xasprintf("sweep = { name = 't', models = [%s] }\n%s\n", models, sections);
    b->catalog = catalog_new(data_dir, &b->diags);
    b->sweep = sweep_file_read_text("t.toml", text, strlen(text), b->catalog, data_dir, &b->diags);
    free(text);
    return b;
}

static inline struct bed *open_bed_in(const char *data_dir, const char *models, const char *sections)
{
    struct bed *b = try_bed(data_dir, models, sections);
    if (b->diags.errors) {
        diags_print(&b->diags, stderr, false);
        fail_msg("refused");
    }
    return b;
}

static inline void close_bed(struct bed *b)
{
    sweep_file_free(b->sweep);
    catalog_free(b->catalog);
    diags_release(&b->diags);
    free(b);
}

/* Every row of a model's space, in blocks of so many points, by one evaluator or a fresh one for each. Reasons are the last one's.
 */
struct rows {
    struct space *space;
    struct evaluator *evaluator;
    size_t n, columns;
    union cell *cells;
    struct row *rows;
};

static inline struct rows rows_at(enum fidelity fidelity, struct bed *b, size_t m, size_t block, bool fresh)
{
    struct rows r = {.space = space_new(b->sweep, m, 1000000, &b->diags)};
    if (!r.space) {
        diags_print(&b->diags, stderr, false);
        fail_msg("no space");
    }
    space_columns(r.space, &r.columns);
    r.n = (size_t)space_count(r.space);
    r.cells = xcalloc(r.n * r.columns, sizeof *r.cells);
    r.rows = xcalloc(r.n, sizeof *r.rows);
    r.evaluator = evaluator_new(r.space, fidelity, NULL);
    for (size_t i = 0; i < r.n; i += block) {
        if (fresh) {
            evaluator_free(r.evaluator);
            r.evaluator = evaluator_new(r.space, fidelity, NULL);
        }
        evaluator_run(r.evaluator, i, i + block <= r.n ? block : r.n - i, r.cells + i * r.columns, r.rows + i);
    }
    return r;
}

static inline struct rows rows_of(struct bed *b, size_t m, size_t block, bool fresh)
{
    return rows_at(FIDELITY_CLOSED_FORM, b, m, block, fresh);
}

static inline void rows_release(struct rows *r)
{
    evaluator_free(r->evaluator);
    space_free(r->space);
    free(r->cells);
    free(r->rows);
}

static inline double number(const struct rows *r, size_t row, const char *column)
{
    size_t c = space_column(r->space, column), n;
    if (c == SIZE_MAX) fail_msg("no column %s", column);
    union cell cell = r->cells[row * r->columns + c];
    return space_columns(r->space, &n)[c].type == DSE_TYPE_I64 ? (double)cell.i64 : cell.f64;
}

static inline void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

#endif
