/* Matching rows of two runs whose points are not in the same order: by a hash of their keys, sorted and merged. */
#include "diff/diff_internal.h"

#include "base/text.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct keyed {
    uint64_t hash, point;
};

/* The same for the same value, whether it is stored as a whole number or not. */
static uint64_t hash_cell(uint64_t h, struct run_rows *rows, size_t i)
{
    const enum cell_type type = run_rows_type(rows, i);
    if (type == CELL_INTEGER || type == CELL_REAL) {
        double v = run_rows_f64(rows, i);
        if (v == 0) v = 0; /* -0 */
        return text_hash(h, &v, sizeof v);
    }
    const char *s = type == CELL_TEXT ? run_rows_text(rows, i) : NULL;
    return s ? text_hash(h, s, strlen(s) + 1) : text_hash(h, "null", sizeof "null");
}

static int by_hash(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

/* All rows of a side, sorted by hash, then point. */
static struct keyed *read_keys(const struct reading *r, int side, uint64_t *ret_n, struct diags *diags)
{
    const struct diff_side *s = &r->diff->side[side];
    struct run_rows *rows = run_rows_new(s->reader, r->model->name, s->run, r->names, r->model->n_keys, diags);
    struct keyed *list = NULL;
    size_t n = 0, capacity = 0;
    int rc = rows ? run_rows_at(rows, 0, diags) : -1;
    for (; rc > 0; rc = run_rows_next(rows, diags)) {
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            list = xrealloc(list, capacity, sizeof *list);
        }
        uint64_t h = TEXT_HASH_INIT;
        for (size_t i = 0; i < r->model->n_keys; i++) h = hash_cell(h, rows, i);
        list[n++] = (struct keyed){h, run_rows_point(rows)};
    }
    run_rows_free(rows);
    *ret_n = n;
    if (n) qsort(list, n, sizeof *list, by_hash);
    if (rc == 0) return list ? list : xcalloc(1, sizeof *list);
    free(list);
    return NULL;
}

static int by_first(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Both sides at once, each through its own connection. */
static bool read_both(const struct reading *r, struct keyed *ret[2], uint64_t ret_n[2], struct diags *diags)
{
    struct diags said[2];
#pragma omp parallel for num_threads(threads_available(2)) schedule(static, 1)
    for (int s = 0; s < 2; s++) {
        diags_init(&said[s]);
        ret[s] = read_keys(r, s, &ret_n[s], &said[s]);
    }
    for (int s = 0; s < 2; s++) diags_move(diags, &said[s]);
    return ret[0] && ret[1];
}

uint64_t *match_rows(const struct reading *r, uint64_t *ret_n, struct diags *diags)
{
    uint64_t n[2] = {0}, i = 0, k = 0;
    struct keyed *lists[2], *a, *b;
    uint64_t *pairs = NULL;
    *ret_n = 0;
    if (read_both(r, lists, n, diags)) pairs = xcalloc(n[0] < n[1] ? n[0] + 1 : n[1] + 1, 2 * sizeof *pairs);
    a = lists[0], b = lists[1];
    while (pairs && i < n[0] && k < n[1]) {
        if (a[i].hash < b[k].hash)
            i++;
        else if (a[i].hash > b[k].hash)
            k++;
        else { /* a point that a sample has twice is matched in order */
            pairs[2 * *ret_n] = a[i++].point;
            pairs[2 * (*ret_n)++ + 1] = b[k++].point;
        }
    }
    if (*ret_n) qsort(pairs, *ret_n, 2 * sizeof *pairs, by_first);
    r->model->rows[0] = n[0];
    r->model->rows[1] = n[1];
    free(a);
    free(b);
    return pairs;
}
