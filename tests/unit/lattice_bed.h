/* For tests of searches without bounds: a lattice of LAD from the [params] of a sweep, and its front by evaluating all of it. */
#ifndef DSE_TESTS_LATTICE_BED_H
#define DSE_TESTS_LATTICE_BED_H

#include "analysis/front.h"
#include "bed.h"
#include "search/probe.h"

enum { M = 3 };
static const char *const columns[M] = {"tokens_per_s", "area_mm2", "energy_mj"};
static const bool maximise[M] = {true, false, false};
static const bool minimised[M] = {false};

/* 57,600 LADs, of which a fifth has no room for the memory's interfaces. */
#define LAD_PARAMS \
    "[params]\ndraws = 'profile'\nintervals = 5\nllm = 'llama2-7b'\ncontext = 2048\ntiles = { from = 2, to = 16, step = 2 }\n" \
    "sram_mib = { from = 0.5, to = 4, step = 0.5 }\nvpu_width = [64, 16, 32]\nvpu_md = [1, 2, 4]\nbatch = [1, 2, 4, 8]\n" \
    "clock_ghz = { from = 0.5, to = 1.5, points = 5 }\nbandwidth_gbs = { from = 256, to = 2048, points = 5, scale = 'log' }\n"

struct lattice_bed {
    struct bed *bed;
    struct space *space;
    struct probe *probe;
};

static inline struct lattice_bed open_lattice(const char *sections, int threads)
{
    struct lattice_bed l = {0};
    char *text = xasprintf("%s\n[quality]\nexact = false\ntrust = 'unknown'\n[objectives]\ntokens_per_s = 'max'\n", sections);
    l.bed = open_bed_in(catalog_data_dir(), "'lad'", text);
    free(text);
    l.space = space_new(l.bed->sweep, 0, UINT64_MAX / 2, &l.bed->diags);
    if (!l.space) {
        diags_print(&l.bed->diags, stderr, false);
        fail_msg("no space");
    }
    l.probe = probe_new(l.space, columns, maximise, M, threads);
    return l;
}

static inline void close_lattice(struct lattice_bed *l)
{
    probe_free(l->probe);
    space_free(l->space);
    close_bed(l->bed);
}

static inline bool same_values(const double *a, const double *b)
{
    for (int j = 0; j < M; j++)
        if (!(fabs(a[j] - b[j]) <= 1e-9 * fabs(b[j]))) return false; /* NaN is no value */
    return true;
}

static inline bool have(const double *values, size_t n, const double *v)
{
    for (size_t i = 0; i < n; i++)
        if (same_values(values + i * M, v)) return true;
    return false;
}

/* The distinct values of the front of all points, minimised. The caller frees them. */
static inline double *true_front(struct lattice_bed *l, size_t *ret_n)
{
    const size_t n = (size_t)probe_count(l->probe);
    uint64_t *points = xcalloc(n, sizeof *points);
    double *values = xcalloc(n * M, sizeof *values), *violations = xcalloc(n, sizeof *violations);
    for (size_t i = 0; i < n; i++) points[i] = i;
    if (!probe_evaluate(l->probe, points, n, values, violations)) fail_msg("%s", probe_error(l->probe));
    struct front *f = front_new(M, minimised);
    for (size_t i = 0; i < n; i++)
        if (violations[i] == 0) front_add(f, i, values + i * M);
    const uint64_t *ids;
    const double *all;
    const size_t k = front_finish(f, &ids, &all);
    double *distinct = xcalloc(k * M, sizeof *distinct);
    *ret_n = 0;
    for (size_t i = 0; i < k; i++)
        if (!have(distinct, *ret_n, all + i * M)) memcpy(distinct + (*ret_n)++ * M, all + i * M, sizeof(double[M]));
    front_free(f);
    free(points);
    free(values);
    free(violations);
    return distinct;
}

static inline double share_found(const double *truth, size_t n, const double *found, size_t n_found)
{
    size_t there = 0;
    for (size_t i = 0; i < n; i++) there += have(found, n_found, truth + i * M);
    return (double)there / (double)n;
}

#endif
