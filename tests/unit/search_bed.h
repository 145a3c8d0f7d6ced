/* Sweeps whose exact front is sought, and the same front from every point. For tests and for ./dev bench. */
#ifndef DSE_TESTS_SEARCH_BED_H
#define DSE_TESTS_SEARCH_BED_H

#include "analysis/front.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/sweep_file.h"
#include "search/exact.h"
#include "space/space.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search_bed {
    struct catalog *catalog;
    struct sweep_file *sweep;
    struct space **spaces;
    struct diags diags;
};

static inline void close_search(struct search_bed *b)
{
    for (size_t m = 0; b->sweep && b->spaces && m < b->sweep->n_models; m++) space_free(b->spaces[m]);
    free(b->spaces);
    sweep_file_free(b->sweep);
    catalog_free(b->catalog);
    diags_release(&b->diags);
    *b = (struct search_bed){0};
}

/* Open the sweep of this text. False with diags: close it all the same. */
static inline bool open_search(struct search_bed *b, const char *data_dir, const char *text)
{
    *b = (struct search_bed){0};
    diags_init(&b->diags);
    b->catalog = catalog_new(data_dir, &b->diags);
    b->sweep = b->catalog ? sweep_file_read_text("t.toml", text, strlen(text), b->catalog, data_dir, &b->diags) : NULL;
    if (!b->sweep || b->diags.errors) return false;
    b->spaces = xcalloc(b->sweep->n_models, sizeof(struct space *));
    for (size_t m = 0; m < b->sweep->n_models; m++) {
        b->spaces[m] = space_new(b->sweep, m, UINT64_MAX, &b->diags);
        if (!b->spaces[m]) return false;
    }
    return true;
}

/* ---- brute force ----------------------------------------------------------------------------------------------------------- */

/* Vectors of costs, each of a group. */
struct vectors {
    double *costs;
    uint64_t *groups;
    size_t n, capacity, m;
};

static inline void vectors_release(struct vectors *v)
{
    free(v->costs);
    free(v->groups);
    *v = (struct vectors){0};
}

static inline void vectors_add(struct vectors *v, const double *costs, uint64_t group)
{
    if (v->n == v->capacity) {
        v->capacity = v->capacity ? 2 * v->capacity : 1024;
        v->costs = xrealloc(v->costs, v->capacity * v->m, sizeof *v->costs);
        v->groups = xrealloc(v->groups, v->capacity, sizeof *v->groups);
    }
    memcpy(v->costs + v->n * v->m, costs, v->m * sizeof *costs);
    v->groups[v->n++] = group;
}

static inline double cell_cost(const struct column *c, union cell cell, bool maximise)
{
    const double v = c->type != DSE_TYPE_I64 ? cell.f64 : cell.i64 == INT64_MIN ? (double)NAN : (double)cell.i64;
    return maximise ? -v : v;
}

/* The costs of a row; false: it is infeasible, or lacks one. */
static inline bool row_costs(const struct sweep_file *s, const struct space *sp, const union cell *cells, const struct row *row,
                             double *ret)
{
    size_t n;
    const struct column *columns = space_columns(sp, &n);
    for (size_t j = 0; j < s->n_objectives; j++) {
        const size_t c = space_column(sp, s->objectives[j].column);
        ret[j] = !row_is_within(row) ? (double)NAN : cell_cost(&columns[c], cells[c], s->objectives[j].maximise);
        if (!isfinite(ret[j])) return false;
    }
    return true;
}

/* The values of `per` at a point, hashed. */
static inline uint64_t point_group(const struct sweep_file *s, const struct space *sp, uint64_t point, void *params)
{
    uint64_t h = TEXT_HASH_INIT;
    char buf[TEXT_NUMBER_MAX];
    if (s->n_per) space_point(sp, point, params);
    for (size_t i = 0; i < s->n_per; i++) {
        const struct field *f = schema_find(&space_model(sp)->params, s->per[i]);
        const char *text = f ? value_text(f, field_get(f, params), buf) : "";
        h = text_hash(h, text, strlen(text) + 1);
    }
    return h;
}

static inline void add_all(const struct search_bed *b, size_t m, struct vectors *ret)
{
    enum { BLOCK = 256 };
    const struct space *sp = b->spaces[m];
    size_t n_columns;
    space_columns(sp, &n_columns);
    union cell *cells = xcalloc(BLOCK * n_columns, sizeof *cells);
    struct row rows[BLOCK];
    void *params = xcalloc(1, space_model(sp)->desc->params_size);
    struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    for (uint64_t first = 0; first < space_count(sp); first += BLOCK) {
        const uint64_t left = space_count(sp) - first;
        const size_t n = left < BLOCK ? (size_t)left : BLOCK;
        if (!evaluator_run(e, first, n, cells, rows)) abort();
        for (size_t i = 0; i < n; i++) {
            double costs[FRONT_OBJECTIVES_MAX];
            if (row_costs(b->sweep, sp, cells + i * n_columns, &rows[i], costs))
                vectors_add(ret, costs, point_group(b->sweep, sp, first + i, params));
        }
    }
    evaluator_free(e);
    free(params);
    free(cells);
}

/* Keep the front of each group. */
static inline void keep_fronts(struct vectors *v)
{
    double *costs = xcalloc(v->n * v->m, sizeof *costs);
    size_t *at = xcalloc(v->n, sizeof *at), kept = 0;
    uint8_t *keep = xcalloc(v->n, 1), *done = xcalloc(v->n, 1), *on = xcalloc(v->n, 1);
    for (size_t first = 0; first < v->n; first++) {
        if (done[first]) continue;
        size_t n = 0;
        for (size_t i = first; i < v->n; i++) {
            if (v->groups[i] != v->groups[first]) continue;
            done[i] = 1;
            memcpy(costs + n * v->m, v->costs + i * v->m, v->m * sizeof *costs);
            at[n++] = i;
        }
        front_compute(costs, n, (int)v->m, keep);
        for (size_t i = 0; i < n; i++) on[at[i]] = keep[i];
    }
    for (size_t i = 0; i < v->n; i++) {
        if (!on[i]) continue;
        memmove(v->costs + kept * v->m, v->costs + i * v->m, v->m * sizeof *v->costs);
        v->groups[kept++] = v->groups[i];
    }
    v->n = kept;
    free(on);
    free(done);
    free(keep);
    free(at);
    free(costs);
}

/* The fronts of all points. The caller releases them. */
static inline void brute_force(const struct search_bed *b, struct vectors *ret)
{
    *ret = (struct vectors){.m = b->sweep->n_objectives};
    for (size_t m = 0; m < b->sweep->n_models; m++) add_all(b, m, ret);
    if (ret->n) keep_fronts(ret);
}

/* ---- comparing ------------------------------------------------------------------------------------------------------------- */

/* The rows of a front as vectors; the caller releases them. */
static inline void row_vectors(const struct search_bed *b, const struct exact_result *r, struct vectors *ret)
{
    *ret = (struct vectors){.m = b->sweep->n_objectives};
    for (size_t i = 0; i < r->n_front; i++) {
        const struct space *sp = b->spaces[r->front[i].at.space];
        void *params = xcalloc(1, space_model(sp)->desc->params_size);
        double costs[FRONT_OBJECTIVES_MAX];
        for (size_t j = 0; j < ret->m; j++)
            costs[j] = b->sweep->objectives[j].maximise ? -r->front[i].values[j] : r->front[i].values[j];
        vectors_add(ret, costs, point_group(b->sweep, sp, r->front[i].at.point, params));
        free(params);
    }
}

static inline bool is_no_worse(const double *a, const double *b, size_t m, double tolerance)
{
    for (size_t j = 0; j < m; j++)
        if (!(a[j] <= b[j] + tolerance * fabs(b[j]))) return false;
    return true;
}

static inline bool is_better_somewhere(const double *a, const double *b, size_t m, double tolerance)
{
    for (size_t j = 0; j < m; j++)
        if (a[j] < b[j] - tolerance * fabs(b[j])) return true;
    return false;
}

/* What is wrong with a front that was found, held against the true one: a text for the caller to free; NULL: nothing. */
static inline char *compare_fronts(const struct vectors *found, const struct vectors *truth)
{
    const size_t m = truth->m;
    for (size_t t = 0; t < truth->n; t++) {
        size_t i = 0;
        while (i < found->n && !(found->groups[i] == truth->groups[t] &&
                                 is_no_worse(found->costs + i * m, truth->costs + t * m, m, CERTIFICATE_TOLERANCE)))
            i++;
        if (i == found->n) return xasprintf("point %zu of %zu of the true front is missing among %zu rows", t, truth->n, found->n);
    }
    for (size_t i = 0; i < found->n; i++)
        for (size_t t = 0; t < truth->n; t++) {
            const double *f = found->costs + i * m, *x = truth->costs + t * m;
            if (found->groups[i] == truth->groups[t] && is_no_worse(x, f, m, 0) &&
                is_better_somewhere(x, f, m, 3 * CERTIFICATE_TOLERANCE))
                return xasprintf("row %zu of %zu is not on the true front", i, found->n);
        }
    return NULL;
}

/* Is a row what the evaluator says of its point? */
static inline bool rows_are_true(const struct search_bed *b, const struct exact_result *r)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->n_front; i++) {
        const struct space *sp = b->spaces[r->front[i].at.space];
        size_t n_columns;
        space_columns(sp, &n_columns);
        union cell *cells = xcalloc(n_columns, sizeof *cells);
        struct row row;
        double costs[FRONT_OBJECTIVES_MAX];
        struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
        ok = evaluator_run(e, r->front[i].at.point, 1, cells, &row) && row_costs(b->sweep, sp, cells, &row, costs);
        for (size_t j = 0; ok && j < b->sweep->n_objectives; j++) ok = fabs(costs[j]) == fabs(r->front[i].values[j]);
        evaluator_free(e);
        free(cells);
    }
    return ok;
}

#endif
