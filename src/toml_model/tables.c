/* The descriptor: rows of metrics and equations, plans, and functions that know whose model it is. */
#include "toml_model/internal.h"

#include "base/xalloc.h"
#include "model/registry.h"

#include <dse/units.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static enum dse_better better_of(const struct toml_model *m, const char *name)
{
    const struct toml_node *n = toml_get(toml_get(toml_get(&m->doc->root, "metrics"), name), "better");
    return !n ? DSE_NEITHER : strcmp(n->string, "less") == 0 ? DSE_LESS : DSE_MORE;
}

static void make_metrics(struct toml_model *m)
{
    while (dse_common_metrics[m->n_common].type != DSE_TYPE_END) m->n_common++;
    m->metrics = xcalloc((size_t)m->n_own + 2, sizeof *m->metrics);
    m->metrics[0] = (struct dse_metric){.type = DSE_TYPE_EMBED, .name = "common", .embed = dse_common_metrics};
    m->desc.metrics_size = sizeof(struct dse_common);
    for (int i = 0; i < m->n_own; i++) {
        const struct equation *e = &m->equations[m->own[i].equation];
        m->own[i].offset = m->desc.metrics_size;
        m->own[i].scale = e->has_measure ? e->measure.scale : 1;
        m->desc.metrics_size += sizeof(double);
        m->metrics[i + 1] = (struct dse_metric){.type = DSE_TYPE_F64,
                                                .name = e->name,
                                                .unit = e->unit ? e->unit : "",
                                                .doc = e->doc,
                                                .source = e->source,
                                                .offset = m->own[i].offset,
                                                .better = better_of(m, e->name),
                                                .mean = m->own[i].mean,
                                                .flags = DSE_METRIC_MAY_BE_NULL};
        if (!m->own[i].choices) continue;
        m->metrics[i + 1].type = DSE_TYPE_ENUM;
        m->metrics[i + 1].choices = m->own[i].choices;
        m->metrics[i + 1].flags = 0;
    }
    m->metrics[m->n_own + 1] = (struct dse_metric){.type = DSE_TYPE_END};
}

/* Equations with a doc, in a unit that rows may have. */
static bool is_shown(const struct toml_model *m, int i)
{
    const struct equation *e = &m->equations[i];
    for (int k = 0; k < m->n_own; k++)
        if (m->own[k].equation == i) return false;
    return e->is_public && e->kind == EQUATION_SCALAR && e->doc &&
           (e->unit ? unit_find(NULL, e->unit) != NULL : dimension_none(e->measure.dim));
}

static void make_equations(struct toml_model *m)
{
    m->equation_rows = xcalloc((size_t)m->n_equations + 1, sizeof *m->equation_rows);
    m->shown = xcalloc((size_t)m->n_equations + 1, sizeof *m->shown);
    for (int i = 0; i < m->n_equations; i++) {
        if (!is_shown(m, i)) continue;
        const struct equation *e = &m->equations[i];
        const size_t offset = (size_t)m->n_shown * sizeof(double);
        m->shown[m->n_shown] = (struct own_metric){.equation = i, .scale = e->unit ? e->measure.scale : 1, .offset = offset};
        m->equation_rows[m->n_shown++] = (struct dse_metric){.type = DSE_TYPE_F64,
                                                             .name = e->name,
                                                             .unit = e->unit ? e->unit : "",
                                                             .doc = e->doc,
                                                             .source = e->source,
                                                             .offset = offset,
                                                             .flags = DSE_METRIC_MAY_BE_NULL};
    }
    m->equation_rows[m->n_shown] = (struct dse_metric){.type = DSE_TYPE_END};
    m->desc.equations_size = (size_t)m->n_shown * sizeof(double);
}

static bool lacks(const struct toml_model *m, enum total t)
{
    return t == TOTAL_DIE ? !has_bill(m) : m->totals[t] < 0;
}

/* Common metrics that nothing in [step] says. */
static void make_without(struct toml_model *m)
{
    static const struct {
        enum total of, and;
        const char *metric;
    } rows[] = {
        {TOTAL_ATTENTION, TOTAL_ATTENTION, "attention_us"},
        {TOTAL_ENERGY, TOTAL_ENERGY, "energy_mj"},
        {TOTAL_ENERGY, TOTAL_ENERGY, "power_w"},
        {TOTAL_AREA, TOTAL_AREA, "area_mm2"},
        {TOTAL_BYTES, TOTAL_BYTES, "dram_mib"},
        {TOTAL_OPS, TOTAL_PEAK_OPS, "compute_utilization"},
        {TOTAL_BYTES, TOTAL_PEAK_BYTES, "dram_utilization"},
        {TOTAL_DIE, TOTAL_DIE, "dollars"},
        {TOTAL_DIE, TOTAL_DIE, "die_usd"},
        {TOTAL_DIE, TOTAL_DIE, "design_usd"},
        {TOTAL_DIE, TOTAL_DIE, "system_usd"},
        {TOTAL_DIE, TOTAL_ENERGY, "usd_per_mtoken"},
        {TOTAL_DIE, TOTAL_DIE, "embodied_kgco2"},
        {TOTAL_DIE, TOTAL_ENERGY, "gco2_per_mtoken"},
    };
    size_t n = 0;
    m->without = xcalloc(sizeof rows / sizeof *rows + 1, sizeof *m->without);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (lacks(m, rows[i].of) || lacks(m, rows[i].and)) m->without[n++] = rows[i].metric;
}

/* What a technique of the cache alone reads is not known of equations, which may read any parameter, unless the file says so. */
static const struct dse_technique *techniques_of(struct toml_model *m)
{
    static const struct dse_technique of_cache = {"eviction", "none", NULL}, of_plain_cache = DSE_CACHE_TECHNIQUE,
                                      of_decoding = DSE_LOCAL_TECHNIQUE, none = {NULL, NULL, NULL};
    int n = 0;
    if (m->off_by_decoding) m->techniques[n++] = of_decoding;
    if (m->groups.has[GROUP_CACHE]) m->techniques[n++] = m->off_by_eviction ? of_plain_cache : of_cache;
    m->techniques[n] = none;
    return m->techniques;
}

void make_tables(struct toml_model *m)
{
    make_metrics(m);
    make_equations(m);
    make_without(m);
    m->desc.params = m->params;
    m->desc.metrics = m->metrics;
    m->desc.without = m->without;
    m->desc.trends = m->trends;
    if (m->groups.has[GROUP_CACHE] || m->off_by_decoding) m->desc.techniques = techniques_of(m);
    if (m->n_shown) m->desc.equations = m->equation_rows;
}

/* ---- functions without a model among their arguments ------------------------------------------------------------------------- */

/* A descriptor's functions are told nothing but a point. So there is a set of them for each of these places, and a model takes
 * one. There are as many as the registry has room for, and 16 for models of the tree. */
#define PLACES_4(X, i) X(i##0) X(i##1) X(i##2) X(i##3)
#define PLACES_16(X, i) PLACES_4(X, i##0) PLACES_4(X, i##1) PLACES_4(X, i##2) PLACES_4(X, i##3)
#define PLACES_64(X, i) PLACES_16(X, i##0) PLACES_16(X, i##1) PLACES_16(X, i##2) PLACES_16(X, i##3)
#define PLACES(X) PLACES_64(X, 0) PLACES_64(X, 1) PLACES_64(X, 2) PLACES_64(X, 3) PLACES_16(X, 4)

enum {
#define COUNT(i) PLACE_##i,
    PLACES(COUNT)
#undef COUNT
        N_PLACES
};
_Static_assert((int)N_PLACES >= (int)REGISTRY_ADDED_MAX + 16, "a model that the registry takes has a place");

static struct toml_model *placed[N_PLACES];

#define FUNCTIONS(i) \
    static void resolve_##i(void *p) \
    { \
        point_resolve(placed[PLACE_##i], p); \
    } \
    static bool bound_##i(const void *lo, const void *hi, void *floor, void *ceiling) \
    { \
        return point_bound(placed[PLACE_##i], lo, hi, floor, ceiling); \
    } \
    static bool walk_bound_##i(const void *lo, const void *hi, void *floor, void *ceiling) \
    { \
        return walk_bound(placed[PLACE_##i], lo, hi, floor, ceiling); \
    } \
    static const char *walk_check_##i(const void *p) \
    { \
        return walk_check(placed[PLACE_##i], p); \
    } \
    static void walk_estimate_##i(const void *p, void *metrics, struct dse_breakdown *breakdown) \
    { \
        walk_estimate(placed[PLACE_##i], p, metrics, breakdown); \
    } \
    static const char *check_##i(const void *p) \
    { \
        return point_check(placed[PLACE_##i], p); \
    } \
    static bool shortage_##i(const void *p, const char *reason, struct dse_shortage *ret) \
    { \
        return point_shortage(placed[PLACE_##i], p, reason, ret); \
    } \
    static void estimate_##i(const void *p, void *metrics, struct dse_breakdown *breakdown) \
    { \
        point_estimate(placed[PLACE_##i], p, metrics, breakdown); \
    } \
    static bool simulate_##i(const void *p, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown) \
    { \
        return closed_simulate(placed[PLACE_##i], p, sim, metrics, breakdown); \
    } \
    static void stand_##i(const void *p, struct dse_standing *ret) \
    { \
        point_stand(placed[PLACE_##i], p, ret); \
    } \
    static const char *why_null_##i(const void *p, const char *metric) \
    { \
        return point_why_null(placed[PLACE_##i], p, metric); \
    } \
    static void equate_##i(const void *p, void *equations) \
    { \
        point_equate(placed[PLACE_##i], p, equations); \
    }
PLACES(FUNCTIONS)
#undef FUNCTIONS

static const struct dse_model functions[N_PLACES] = {
#define ROW(i) \
    {.resolve = resolve_##i, \
     .check = check_##i, \
     .shortage = shortage_##i, \
     .estimate = estimate_##i, \
     .bound = bound_##i, \
     .simulate = simulate_##i, \
     .stand = stand_##i, \
     .why_null = why_null_##i, \
     .equate = equate_##i},
    PLACES(ROW)
#undef ROW
};

static const struct dse_model walks[N_PLACES] = {
#define ROW(i) {.check = walk_check_##i, .estimate = walk_estimate_##i, .bound = walk_bound_##i},
    PLACES(ROW)
#undef ROW
};

bool toml_model_place(struct toml_model *m)
{
    int i = 0;
    while (i < N_PLACES && placed[i]) i++;
    if (i == N_PLACES) return false;
    placed[i] = m;
    m->desc.resolve = functions[i].resolve;
    m->desc.check = functions[i].check;
    m->desc.shortage = functions[i].shortage;
    m->desc.estimate = functions[i].estimate;
    m->desc.bound = functions[i].bound;
    if (m->built_in && m->built_in->simulate) m->desc.simulate = functions[i].simulate;
    m->desc.stand = functions[i].stand;
    m->desc.why_null = functions[i].why_null;
    if (m->n_shown) m->desc.equate = functions[i].equate;
    m->plain = m->desc;
    m->plain.check = walks[i].check;
    m->plain.estimate = walks[i].estimate;
    m->plain.bound = walks[i].bound;
    return true;
}

const struct toml_model *toml_model_placed(const struct dse_closed_model *built_in)
{
    for (int i = 0; i < N_PLACES && placed[i]; i++)
        if (placed[i]->built_in == built_in) return placed[i];
    return NULL;
}
