#include "sweep/kept.h"

#include "base/xalloc.h"

#include <omp.h>
#include <stdlib.h>

enum { CHUNK = 8192, AT_ONCE = 256 }; /* rows that are stored at a time; that a thread evaluates */

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t sort_distinct(uint64_t *points, size_t n)
{
    size_t kept = 0;
    if (n) qsort(points, n, sizeof *points, ascending);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || points[i] != points[i - 1]) points[kept++] = points[i];
    return kept;
}

/* One evaluator a thread, which live until the rows are stored: reasons are theirs. */
struct rows_maker {
    struct evaluator **evaluators;
    size_t n_columns;
    union cell *cells;
    struct row *rows;
};

static bool make_rows(const struct job *job, const struct rows_maker *r, const uint64_t *points, size_t n)
{
    bool ok = true;
#pragma omp parallel for num_threads(job->threads) schedule(dynamic, 1) reduction(&& : ok)
    for (size_t i = 0; i < n; i += AT_ONCE)
        ok = ok && evaluator_run_points(r->evaluators[omp_get_thread_num()], points + i, n - i < AT_ONCE ? n - i : AT_ONCE,
                                        r->cells + i * r->n_columns, r->rows + i);
    for (int t = 0; !ok && t < job->threads; t++)
        if (evaluator_error(r->evaluators[t])) return diags_runtime(job->diags, NULL, "%s", evaluator_error(r->evaluators[t]));
    return ok;
}

bool sweep_store_points(struct job *job, size_t m, uint64_t *points, size_t n)
{
    struct rows_maker r = {.evaluators = xcalloc((size_t)job->threads, sizeof(struct evaluator *))};
    space_columns(job->spaces[m], &r.n_columns);
    for (int t = 0; t < job->threads; t++) r.evaluators[t] = evaluator_new(job->spaces[m], FIDELITY_CLOSED_FORM, NULL);
    r.cells = xcalloc(CHUNK * r.n_columns, sizeof *r.cells);
    r.rows = xcalloc(CHUNK, sizeof *r.rows);
    n = sort_distinct(points, n);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i += CHUNK) {
        const size_t k = n - i < CHUNK ? n - i : CHUNK;
        ok = make_rows(job, &r, points + i, k) && store_write_points(job->store, m, points + i, r.cells, r.rows, k, job->diags);
        if (ok) job->result->done += k;
    }
    for (int t = 0; t < job->threads; t++) evaluator_free(r.evaluators[t]);
    free(r.evaluators);
    free(r.cells);
    free(r.rows);
    return ok;
}
