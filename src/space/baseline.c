#include "space/baseline.h"

#include "base/xalloc.h"
#include "space/space_internal.h"

#include <dse/bound.h>
#include <dse/model.h>
#include <dse/workload.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- metrics that ratios are made of ----------------------------------------------------------------------------------- */

enum { TOKENS_PER_S, LATENCY_US, ATTENTION_US, ENERGY_MJ, MEASURED };

/* The fields of a model's metrics; NULL where it has none. */
struct measured_fields {
    const struct field *field[MEASURED];
};

static struct measured_fields measured_fields(const struct model *m)
{
    static const char *const names[MEASURED] = {"tokens_per_s", "latency_us", "attention_us", "energy_mj"};
    struct measured_fields f;
    for (int i = 0; i < MEASURED; i++) {
        f.field[i] = schema_find(&m->metrics, names[i]);
        if (f.field[i] && f.field[i]->without) f.field[i] = NULL;
    }
    return f;
}

static double number(const struct field *f, const void *metrics)
{
    return f ? field_number(f, metrics) : (double)NAN;
}

static struct measured measure(const struct measured_fields *f, const void *metrics)
{
    return (struct measured){.tokens_per_s = number(f->field[TOKENS_PER_S], metrics),
                             .latency_us = number(f->field[LATENCY_US], metrics),
                             .attention_us = number(f->field[ATTENTION_US], metrics),
                             .energy_mj = number(f->field[ENERGY_MJ], metrics)};
}

static const struct measured nothing = {.tokens_per_s = NAN, .latency_us = NAN, .attention_us = NAN, .energy_mj = NAN};

struct measured measured_presence(const struct model *m)
{
    struct measured_fields f = measured_fields(m);
    return (struct measured){.tokens_per_s = f.field[TOKENS_PER_S] ? 1 : (double)NAN,
                             .latency_us = f.field[LATENCY_US] ? 1 : (double)NAN,
                             .attention_us = f.field[ATTENTION_US] ? 1 : (double)NAN,
                             .energy_mj = f.field[ENERGY_MJ] ? 1 : (double)NAN};
}

/* ---- the workload ------------------------------------------------------------------------------------------------------ */

static const struct dse_param *const workload_tables[] = {dse_workload_params, dse_request_params};

/* A parameter that the baseline takes from the point. */
struct taken {
    const struct field *from, *to;
    struct follow_list follows; /* what a catalog name sets in the baseline */
};

struct baseline {
    const struct binding *binding;
    const struct model *model, *of_points;
    void *start; /* parameters before what is taken and resolve() */
    struct taken *taken;
    size_t n_taken;
    const struct field *generate; /* of the points, when the baseline knows no requests; or NULL */
    struct mix *mix;              /* the requests that it serves as the points do; or NULL */
};

/* Activations are as wide as a machine's arithmetic has them: SwiftKV's 8 bits are none of an A100's. */
static bool is_the_machines(const char *name)
{
    return strcmp(name, "activation_bits") == 0;
}

static void take(struct baseline *b, const char *name)
{
    if (is_the_machines(name) || (b->mix && request_mix_sets(name))) return;
    const struct field *to = schema_find(&b->model->params, name), *from = schema_find(&b->of_points->params, name);
    if (!to || !from || to->type != from->type || to->kind != from->kind || binding_gives(b->binding, to)) return;
    b->taken = xrealloc(b->taken, b->n_taken + 1, sizeof *b->taken);
    struct taken *t = &b->taken[b->n_taken++];
    *t = (struct taken){.from = from, .to = to};
    t->follows = follow_list_new(b->binding, to);
}

/* Match how the two models take requests, which one of them may not know. */
static void match_requests(struct baseline *b)
{
    const struct field *own = schema_find(&b->model->params, "generate");
    const struct field *other = schema_find(&b->of_points->params, "generate");
    if (other && !own) b->generate = other;
    if (own && !other && !binding_gives(b->binding, own)) field_set(own, b->start, (struct value){.i64 = 0});
}

struct baseline *baseline_new(const struct sweep_file *s, const struct model *of_points)
{
    if (!s->baseline) return NULL;
    struct baseline *b = xcalloc(1, sizeof *b);
    b->binding = s->baseline;
    b->model = s->baseline->model;
    b->of_points = of_points;
    b->start = space_start(s->baseline);
    b->mix = mix_new(s, b->model);
    for (size_t t = 0; t < sizeof workload_tables / sizeof *workload_tables; t++)
        for (const struct dse_param *p = workload_tables[t]; p->type != DSE_TYPE_END; p++) take(b, p->name);
    if (!b->mix) match_requests(b);
    return b;
}

void baseline_free(struct baseline *b)
{
    if (!b) return;
    for (size_t i = 0; i < b->n_taken; i++) free(b->taken[i].follows.follows);
    mix_free(b->mix);
    free(b->taken);
    free(b->start);
    free(b);
}

bool baseline_takes(const struct baseline *b, size_t param)
{
    for (size_t i = 0; i < b->n_taken; i++)
        if (b->taken[i].to == &b->model->params.fields[param]) return true;
    return false;
}

struct value baseline_value(const struct baseline *b, size_t param)
{
    return field_get(&b->model->params.fields[param], b->start);
}

/* ---- at a point -------------------------------------------------------------------------------------------------------- */

enum { CACHE = 256 }; /* workloads; a power of two */

struct known {
    bool filled;
    struct measured measured;
};

struct comparer {
    const struct baseline *baseline;
    struct runner *runner;
    struct measured_fields own, points;
    struct mixer *mixer;    /* NULL: no requests */
    void *params, *metrics; /* the baseline's */
    void *upper, *ceiling;  /* the same of the other corner of a box */
    struct known cache[CACHE];
    uint64_t *workloads; /* a word a parameter that is taken: of each entry of the cache, and of the point at hand behind them */
};

struct comparer *comparer_new(const struct baseline *b, struct runner *runner)
{
    struct comparer *c = xcalloc(1, sizeof *c);
    c->baseline = b;
    c->runner = runner;
    c->own = measured_fields(b->model);
    c->points = measured_fields(b->of_points);
    if (b->mix) c->mixer = mixer_new(b->mix, runner, NULL, false);
    c->params = xcalloc(1, b->model->desc->params_size);
    c->metrics = xcalloc(1, b->model->desc->metrics_size);
    c->upper = xcalloc(1, b->model->desc->params_size);
    c->ceiling = xcalloc(1, b->model->desc->metrics_size);
    c->workloads = xcalloc(CACHE + 1, (b->n_taken + 1) * sizeof *c->workloads);
    return c;
}

void comparer_free(struct comparer *c)
{
    if (!c) return;
    mixer_free(c->mixer);
    free(c->params);
    free(c->metrics);
    free(c->upper);
    free(c->ceiling);
    free(c->workloads);
    free(c);
}

/* The workload of a point, a word for each value, and where it stands in the cache. */
static size_t read_workload(const struct baseline *b, const void *params, uint64_t *ret)
{
    uint64_t h = TEXT_HASH_INIT;
    for (size_t i = 0; i < b->n_taken; i++) {
        struct value v = field_get(b->taken[i].from, params);
        memcpy(&ret[i], &v, sizeof ret[i]);
        h = (h ^ ret[i]) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 29;
    }
    return h & (CACHE - 1);
}
_Static_assert(sizeof(struct value) == sizeof(uint64_t), "a value is a word, whose unused part is 0");

static bool in_range(const struct field *f, struct value v)
{
    return f->type != DSE_TYPE_I64 || ((double)v.i64 >= f->min && (double)v.i64 <= f->max);
}

/* Carry the baseline out with c->params, before resolve(): its metrics, unless *ret_reason tells why there are none. */
static enum run_end run_baseline(struct comparer *c, const char **ret_reason)
{
    const struct dse_model *model = c->baseline->model->desc;
    if (c->mixer) return mixer_run(c->mixer, c->params, c->metrics, NULL, ret_reason);
    if (model->resolve) model->resolve(c->params);
    *ret_reason = model->check ? model->check(c->params) : NULL;
    return *ret_reason ? RUN_DONE : runner_run(c->runner, model, c->params, c->metrics, NULL);
}

/* Give `params` the workload of a point, before resolve(). False: out of range. */
static bool take_workload(const struct baseline *b, const void *point, void *params)
{
    memcpy(params, b->start, b->model->desc->params_size);
    for (size_t i = 0; i < b->n_taken; i++) {
        const struct taken *t = &b->taken[i];
        struct value v = field_get(t->from, point);
        if (!in_range(t->to, v)) return false;
        field_set(t->to, params, v);
        if (t->follows.n) follow_list_apply(&t->follows, v.ref, params);
    }
    return true;
}

/* What is known of the baseline with these parameters, which it can run. */
static struct budget_row budget_row_of(const struct model *m, const void *params, const void *metrics)
{
    struct dse_standing standing = {0};
    struct budget_row row = {0};
    if (m->desc->stand) m->desc->stand(params, &standing);
    row.quality = m->desc->stand ? dse_quality_names[standing.quality] : NULL;
    for (int i = 0; i < BUDGET_METRICS; i++) {
        const struct field *f = schema_find(&m->metrics, budget_metrics[i]);
        row.has[i] = f != NULL;
        row.value[i] = f ? field_number(f, metrics) : (double)NAN;
    }
    return row;
}

char *baseline_over_budget(const struct baseline *b, const struct budget *budget, const void *point)
{
    const struct dse_model *model = b->model->desc;
    void *params = xcalloc(1, model->params_size), *metrics = xcalloc(1, model->metrics_size);
    char *why = NULL;
    bool runs = !b->mix && take_workload(b, point, params);
    if (runs && model->resolve) model->resolve(params);
    runs = runs && !(model->check && model->check(params));
    if (runs) {
        model->estimate(params, metrics, NULL);
        const struct budget_row row = budget_row_of(b->model, params, metrics);
        const unsigned fronts = budget_fronts(budget, &row);
        char buf[TEXT_NUMBER_MAX];
        if (fronts == BUDGET_UNKNOWN)
            why = xstrdup("nobody measured what it loses");
        else if (fronts == 0)
            why = xasprintf("it loses more than the sweep's budget (%s %s)", budget_metrics[budget->named],
                            text_short_number(buf, row.value[budget->named]));
    }
    free(params);
    free(metrics);
    return why;
}

/* The baseline's metrics at the workload of a point. */
static enum run_end evaluate(struct comparer *c, const void *params, struct measured *ret)
{
    *ret = nothing;
    if (!take_workload(c->baseline, params, c->params)) return RUN_DONE;
    const char *reason;
    enum run_end end = run_baseline(c, &reason);
    if (end == RUN_DONE && !reason) *ret = measure(&c->own, c->metrics);
    return end == RUN_STOPPED || end == RUN_BROKEN ? end : RUN_DONE;
}

/* The baseline's metrics at the workload of a point, from the cache if they are there. */
static enum run_end find_measured(struct comparer *c, const void *params, struct measured *ret)
{
    const size_t words = c->baseline->n_taken;
    uint64_t *workload = &c->workloads[CACHE * words];
    const size_t at = read_workload(c->baseline, params, workload);
    struct known *k = &c->cache[at];
    if (!k->filled || memcmp(&c->workloads[at * words], workload, words * sizeof *workload) != 0) {
        memcpy(&c->workloads[at * words], workload, words * sizeof *workload);
        enum run_end end = evaluate(c, params, &k->measured);
        k->filled = end == RUN_DONE;
        if (!k->filled) return end;
    }
    *ret = k->measured;
    return RUN_DONE;
}

enum run_end comparer_ratios(struct comparer *c, const void *params, const void *metrics, struct ratios *ret)
{
    const struct baseline *b = c->baseline;
    struct measured measured;
    enum run_end end = find_measured(c, params, &measured);
    if (end != RUN_DONE) return end;
    bool comparable = !b->generate || field_get(b->generate, params).i64 == 0;
    struct measured point = measure(&c->points, metrics);
    *ret = ratios_of(&point, comparable ? &measured : &nothing);
    return RUN_DONE;
}

/* ---- over a box -------------------------------------------------------------------------------------------------------- */

static bool is_taken(const struct baseline *b, const struct field *to)
{
    for (size_t i = 0; i < b->n_taken; i++)
        if (b->taken[i].to == to) return true;
    return false;
}

/* The workloads of the box lie between those of its corners, if the corners differ in nothing but numbers that are taken. */
static bool corners_enclose(const struct baseline *b, const void *lo, const void *hi)
{
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        if (field_same(f, lo, hi)) continue;
        if (!field_is_number(f) || !is_taken(b, f) || field_number(f, lo) > field_number(f, hi)) return false;
    }
    return true;
}

/* The baseline's metrics over the box, from its model's bound. */
static bool bound_measured(struct comparer *c, const struct comparer_box *box, struct measured *ret_floor,
                           struct measured *ret_ceiling)
{
    const struct baseline *b = c->baseline;
    if (!b->model->desc->bound || b->mix || !take_workload(b, box->lo, c->params) || !take_workload(b, box->hi, c->upper))
        return false;
    if (b->model->desc->resolve) {
        b->model->desc->resolve(c->params);
        b->model->desc->resolve(c->upper);
    }
    if (!corners_enclose(b, c->params, c->upper)) return false;
    memset(c->metrics, 0, b->model->desc->metrics_size);
    memset(c->ceiling, 0, b->model->desc->metrics_size);
    dse_bound_nothing(b->model->desc->metrics, c->metrics, c->ceiling);
    if (!b->model->desc->bound(c->params, c->upper, c->metrics, c->ceiling)) return false;
    *ret_floor = measure(&c->own, c->metrics);
    *ret_ceiling = measure(&c->own, c->ceiling);
    return true;
}

static bool same_workload(const struct baseline *b, const void *lo, const void *hi)
{
    for (size_t i = 0; i < b->n_taken; i++)
        if (!field_same(b->taken[i].from, lo, hi)) return false;
    return true;
}

void comparer_bounds(struct comparer *c, const struct comparer_box *box, struct ratios *ret_floor, struct ratios *ret_ceiling)
{
    struct measured floor = nothing, ceiling = nothing;
    if (same_workload(c->baseline, box->lo, box->hi)) {
        if (find_measured(c, box->lo, &floor) != RUN_DONE) floor = nothing;
        ceiling = floor;
    } else if (!bound_measured(c, box, &floor, &ceiling)) {
        floor = ceiling = nothing;
    }
    const struct measured_bounds own = {floor, ceiling},
                                 points = {measure(&c->points, box->floor), measure(&c->points, box->ceiling)};
    ratios_between(&points, &own, ret_floor, ret_ceiling);
}
