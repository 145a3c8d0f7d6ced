/* Matching rows of two runs whose points are not in the same order: by a hash of their keys, sorted and merged. */
#include "diff/diff_internal.h"

#include "base/text.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Lists of pairs of numbers, one behind the other: a hash and a point, or A's point and B's. */
enum { PAIR = 2 };

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

/* Sort pairs by their first number, those of one in the order in which they stand: byte by byte, from the lowest on. Bytes that all
 * have are passed over. */
static void sort_pairs(uint64_t *pairs, size_t n)
{
    enum { BYTES = sizeof(uint64_t), VALUES = 256 };
    uint64_t *from = pairs, *own = xmalloc((n + 1) * PAIR * sizeof *own), *to = own;
    for (int shift = 0; shift < 8 * BYTES; shift += 8) {
        size_t at[VALUES + 1] = {0};
        for (size_t i = 0; i < n; i++) at[(from[PAIR * i] >> shift & (VALUES - 1)) + 1]++;
        if (n == 0 || at[(from[0] >> shift & (VALUES - 1)) + 1] == n) continue;
        for (size_t v = 1; v < VALUES; v++) at[v] += at[v - 1];
        for (size_t i = 0; i < n; i++)
            memcpy(to + PAIR * at[from[PAIR * i] >> shift & (VALUES - 1)]++, from + PAIR * i, PAIR * sizeof *to);
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != pairs) memcpy(pairs, from, n * PAIR * sizeof *pairs);
    free(own);
}

/* All rows of a side as pairs of hash and point, sorted by hash, then point. */
static uint64_t *read_keys(const struct reading *r, int side, uint64_t *ret_n, struct diags *diags)
{
    const struct diff_side *s = &r->diff->side[side];
    struct run_rows *rows = run_rows_new(s->reader, r->model->name, s->run, r->names, r->model->n_keys, diags);
    uint64_t *list = NULL;
    size_t n = 0, capacity = 0;
    int rc = rows ? run_rows_at(rows, 0, diags) : -1;
    for (; rc > 0; rc = run_rows_next(rows, diags)) {
        if (n == capacity) {
            capacity = capacity ? 2 * capacity : 1024;
            list = xrealloc(list, capacity, PAIR * sizeof *list);
        }
        uint64_t h = TEXT_HASH_INIT;
        for (size_t i = 0; i < r->model->n_keys; i++) h = hash_cell(h, rows, i);
        list[PAIR * n] = h;
        list[PAIR * n++ + 1] = run_rows_point(rows); /* they ascend */
    }
    run_rows_free(rows);
    *ret_n = n;
    sort_pairs(list, n);
    if (rc == 0) return list ? list : xcalloc(PAIR, sizeof *list);
    free(list);
    return NULL;
}

/* Both sides at once, each through its own connection. */
static bool read_both(const struct reading *r, uint64_t *ret[2], uint64_t ret_n[2], struct diags *diags)
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
    uint64_t *lists[2], *a, *b, *pairs = NULL;
    *ret_n = 0;
    if (read_both(r, lists, n, diags)) pairs = xcalloc(n[0] < n[1] ? n[0] + 1 : n[1] + 1, PAIR * sizeof *pairs);
    a = lists[0], b = lists[1];
    while (pairs && i < n[0] && k < n[1]) {
        if (a[PAIR * i] < b[PAIR * k])
            i++;
        else if (a[PAIR * i] > b[PAIR * k])
            k++;
        else { /* a point that a sample has twice is matched in order */
            pairs[PAIR * *ret_n] = a[PAIR * i++ + 1];
            pairs[PAIR * (*ret_n)++ + 1] = b[PAIR * k++ + 1];
        }
    }
    if (pairs) sort_pairs(pairs, *ret_n);
    r->model->rows[0] = n[0];
    r->model->rows[1] = n[1];
    free(a);
    free(b);
    return pairs;
}
