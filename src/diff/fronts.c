/* The fronts of two runs: which points are on one alone. */
#include "diff/diff_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>

static bool read_front(const struct diff_side *s, const char *model, uint64_t **ret, uint64_t *ret_n, struct diags *diags)
{
    struct text sql;
    text_init(&sql);
    text_addf(&sql, "SELECT point FROM main.front WHERE run = %lld AND model = ", (long long)s->run);
    sql_add_string(&sql, model);
    text_add(&sql, " ORDER BY point");
    struct query *q = query_new(s->reader, sql.s, (struct srcloc){0}, diags);
    text_release(&sql);
    size_t n = 0, capacity = 0;
    int rc = q ? 1 : -1;
    while (rc > 0 && (rc = query_step(q, diags)) > 0) {
        if (n == capacity) *ret = xrealloc(*ret, capacity = capacity ? 2 * capacity : 64, sizeof **ret);
        (*ret)[n++] = (uint64_t)query_i64(q, 0);
    }
    query_free(q);
    *ret_n = n;
    return rc == 0;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool has_number(const uint64_t *list, size_t n, uint64_t v)
{
    return n && bsearch(&v, list, n, sizeof *list, by_number);
}

/* The points of B that are matched with points of a sorted list of A's, sorted. */
static uint64_t *matched_of(const uint64_t *list, size_t n, const uint64_t *pairs, uint64_t n_pairs, size_t *ret_n)
{
    uint64_t *to = xcalloc(n + 1, sizeof *to);
    *ret_n = 0;
    for (uint64_t i = 0; pairs && i < n_pairs; i++)
        if (*ret_n < n && has_number(list, n, pairs[2 * i])) to[(*ret_n)++] = pairs[2 * i + 1];
    for (size_t i = 0; !pairs && i < n; i++) to[(*ret_n)++] = list[i];
    qsort(to, *ret_n, sizeof *to, by_number);
    return to;
}

/* What the first list has and the second has not. */
static uint64_t *without(const uint64_t *list, size_t n, const uint64_t *other, size_t n_other, size_t *ret_n)
{
    uint64_t *rest = xcalloc(n + 1, sizeof *rest);
    *ret_n = 0;
    for (size_t i = 0; i < n; i++)
        if (!has_number(other, n_other, list[i])) rest[(*ret_n)++] = list[i];
    return rest;
}

/* Points of A whose matched point is not on B's front, or that have none. */
static uint64_t *lost_of(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, const uint64_t *pairs, uint64_t n_pairs,
                         size_t *ret_n)
{
    if (!pairs) return without(a, n_a, b, n_b, ret_n);
    uint64_t *stayed = xcalloc(n_a + 1, sizeof *stayed);
    size_t n = 0;
    for (uint64_t i = 0; i < n_pairs; i++)
        if (n < n_a && has_number(b, n_b, pairs[2 * i + 1]) && has_number(a, n_a, pairs[2 * i])) stayed[n++] = pairs[2 * i];
    uint64_t *lost = without(a, n_a, stayed, n, ret_n); /* pairs ascend in A's points */
    free(stayed);
    return lost;
}

bool compare_fronts(const struct diff *d, struct diff_model *m, const uint64_t *pairs, uint64_t n_pairs, struct diags *diags)
{
    uint64_t *front[2] = {0};
    bool ok = read_front(&d->side[0], m->name, &front[0], &m->front[0], diags) &&
              read_front(&d->side[1], m->name, &front[1], &m->front[1], diags);
    if (ok) {
        size_t n;
        uint64_t *there = matched_of(front[0], m->front[0], pairs, n_pairs, &n);
        m->gained = without(front[1], m->front[1], there, n, &m->n_gained);
        m->lost = lost_of(front[0], m->front[0], front[1], m->front[1], pairs, n_pairs, &m->n_lost);
        free(there);
    }
    free(front[0]);
    free(front[1]);
    return ok;
}
