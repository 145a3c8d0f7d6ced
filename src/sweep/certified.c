#include "sweep/certified.h"

#include "base/threads.h"
#include "base/xalloc.h"
#include "search/lattice.h"
#include "sweep/sweep_internal.h"

#include <omp.h>
#include <stdlib.h>

/* Store the rows of space m, evaluated once more with all their columns. */
static bool store_rows(struct store *st, const struct space *sp, size_t m, const struct certificate_row *front, size_t n,
                       struct diags *diags)
{
    size_t n_columns;
    space_columns(sp, &n_columns);
    uint64_t *points = xcalloc(n, sizeof *points);
    struct row *rows = xcalloc(n, sizeof *rows);
    union cell *cells = xcalloc(n * n_columns, sizeof *cells);
    struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    for (size_t i = 0; i < n; i++) points[i] = front[i].at.point;
    bool ok = evaluator_run_points(e, points, n, cells, rows) || diags_runtime(diags, NULL, "%s", evaluator_error(e));
    ok = ok && store_write_points(st, m, points, cells, rows, n, diags);
    evaluator_free(e);
    free(cells);
    free(rows);
    free(points);
    return ok;
}

static bool store_result(struct store *st, const struct sweep_file *s, struct space *const *spaces, struct exact_result *found,
                         struct diags *diags)
{
    struct goal goal;
    size_t n_front;
    bool ok = true;
    for (size_t m = 0, first = 0, end; ok && m < s->n_models; m++, first = end) {
        for (end = first; end < found->n_front && found->front[end].at.space == m; end++) {
        }
        ok = store_rows(st, spaces[m], m, found->front + first, end - first, diags);
    }
    goal_of_sweep(&goal, s);
    ok = ok && store_plan_done(st, diags) && goal_front(st, &goal, &n_front, diags) &&
         certificate_store(st, s, spaces, &found->certificate, found->logs, found->n_logs, found->front, found->n_front, diags) &&
         store_finish(st, found->certificate.complete ? "done" : "interrupted", diags);
    goal_release(&goal);
    return ok;
}

static bool search_and_store(struct store *st, const struct sweep_file *s, struct space *const *spaces,
                             const struct certified_options *options, struct certified_result *ret, struct diags *diags)
{
    struct exact_options search = {.threads = threads_available(options->threads > 0 ? options->threads : omp_get_num_procs()),
                                   .seconds = options->seconds,
                                   .interrupt = options->interrupt,
                                   .keep_boxes = options->boxes,
                                   .progress = options->progress,
                                   .user = options->user};
    struct exact_result found;
    bool ok = exact_search(s, spaces, &search, &found, diags) && store_result(st, s, spaces, &found, diags);
    ret->interrupted = ok && options->interrupt && *options->interrupt && !found.certificate.complete;
    ret->certificate = found.certificate;
    ret->front = found.n_front;
    ret->points = found.points;
    ret->bounds = found.bounds;
    exact_result_release(&found);
    return ok;
}

bool certified_run(const struct sweep_file *s, const struct certified_options *options, struct certified_result *ret,
                   struct diags *diags)
{
    *ret = (struct certified_result){0};
    if (!exact_check(s, diags)) return false;
    struct space **spaces = sweep_make_spaces(s, LATTICE_POINTS_MAX, diags);
    if (!spaces) return false;
    const struct sweep_options sweep = {.db = options->db, .fresh = options->fresh};
    struct store *st = sweep_open_store(s, &sweep, "exact", false, spaces, diags);
    bool ok = st != NULL;
    if (st) ret->run = store_run(st);
    ret->was_complete = ok && store_complete(st);
    if (ok && !ret->was_complete) ok = search_and_store(st, s, spaces, options, ret, diags);
    store_close(st);
    sweep_free_spaces(spaces, s->n_models);
    return ok;
}
