#include "sweep/searched.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "search/lattice.h"
#include "search/nsga2.h"
#include "search/reservoir.h"
#include "search/seen.h"
#include "sweep/certified.h"
#include "sweep/kept.h"
#include "sweep/sweep_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- the points of one model ------------------------------------------------------------------------------------------------ */

/* What is to be stored of a model's points. */
struct found {
    struct job *job;
    struct seen seen; /* with KEEP_ALL */
    struct reservoir *sample;
    uint64_t *points;
    size_t n, capacity;
};

static void add_point(struct found *f, uint64_t point)
{
    if (f->n == f->capacity) {
        f->capacity = f->capacity ? 2 * f->capacity : 1024;
        f->points = xrealloc(f->points, f->capacity, sizeof *f->points);
    }
    f->points[f->n++] = point;
}

static bool visit(void *user, const uint64_t *points, const double *values, const double *violations, size_t n)
{
    (void)values, (void)violations;
    struct found *f = user;
    for (size_t i = 0; i < n; i++) {
        if (f->sample) reservoir_add(f->sample, points[i]);
        if (f->job->sweep->keep == KEEP_ALL && seen_add(&f->seen, points[i])) add_point(f, points[i]);
    }
    f->job->result->evaluations += n;
    sweep_advance(f->job, n, false);
    return true;
}

static bool search_lattice(struct found *f, struct probe *p)
{
    const struct search_section *section = &f->job->sweep->search;
    const struct search_options options = {
        .seed = section->seed, .evaluations = section->evaluations, .stop = f->job->options->interrupt, .visit = visit, .user = f};
    struct search_result r;
    const bool ok =
        section->method == SEARCH_NSGA2 ? nsga2_search(p, section->population, &options, &r) : local_search(p, &options, &r);
    for (size_t i = 0; i < r.n; i++) add_point(f, r.points[i]);
    search_result_release(&r);
    return ok || diags_runtime(f->job->diags, NULL, "%s", probe_error(p));
}

/* ---- a front for each value of `per` ---------------------------------------------------------------------------------------- */

static bool is_axis(const struct space *sp, const struct probe *p, const char *name)
{
    size_t n;
    (void)probe_axes(p, &n);
    for (size_t a = 0; a < n; a++)
        if (strcmp(space_axis_name(sp, a), name) == 0) return true;
    return false;
}

/* What `per` names must be an axis, or stand still: values that follow from others cannot be held. */
static bool check_held(const struct job *job, const struct space *sp, const struct probe *p)
{
    const struct sweep_file *s = job->sweep;
    const struct schema *params = &space_model(sp)->params;
    for (size_t k = 0; k < s->n_per; k++) {
        const struct field *f = schema_find(params, s->per[k]);
        if (!f || !space_varies(sp, schema_index(params, f)) || is_axis(sp, p, f->name)) continue;
        return diags_input(job->diags, s->search.loc, s->doc->text, "per = the parameter that it follows from",
                           "per: %s is no axis of %s; [search] method = \"%s\" looks for a front at each value of an axis", f->name,
                           space_model(sp)->desc->name, search_names[s->search.method]);
    }
    return true;
}

/* The axes of the space that `per` names. */
static size_t find_held(const struct job *job, const struct space *sp, const struct probe *p, size_t *ret)
{
    size_t n_axes, n = 0;
    (void)probe_axes(p, &n_axes);
    for (size_t a = 0; a < n_axes; a++)
        for (size_t k = 0; k < job->sweep->n_per; k++)
            if (strcmp(space_axis_name(sp, a), job->sweep->per[k]) == 0) ret[n++] = a;
    return n;
}

static bool search_space(struct found *f, const struct space *sp)
{
    const struct sweep_file *s = f->job->sweep;
    const char *columns[SWEEP_OBJECTIVES_MAX];
    bool maximise[SWEEP_OBJECTIVES_MAX];
    for (size_t j = 0; j < s->n_objectives; j++) {
        columns[j] = s->objectives[j].column;
        maximise[j] = s->objectives[j].maximise;
    }
    bool ok = true, more = true;
    uint64_t digits[SPACE_AXES_MAX] = {0};
    while (ok && more && !sweep_interrupted(f->job)) {
        struct probe *p = probe_new(sp, columns, maximise, s->n_objectives, f->job->threads);
        size_t held[SPACE_AXES_MAX], n_axes;
        const size_t n = find_held(f->job, sp, p, held);
        uint64_t sizes[SPACE_AXES_MAX];
        for (size_t k = 0; k < n; k++) {
            sizes[k] = probe_axes(p, &n_axes)[held[k]].n;
            probe_hold(p, held[k], digits[k]);
        }
        ok = check_held(f->job, sp, p) && search_lattice(f, p);
        probe_free(p);
        more = false;
        for (size_t k = 0; k < n && !more; k++) {
            more = ++digits[k] < sizes[k];
            if (!more) digits[k] = 0;
        }
    }
    return ok;
}

/* ---- the run ---------------------------------------------------------------------------------------------------------------- */

static bool search_model(struct job *job, size_t m)
{
    struct found f = {.job = job, .sample = job->sweep->keep == KEEP_SAMPLE ? reservoir_new(job->sweep->keep_points) : NULL};
    bool ok = search_space(&f, job->spaces[m]);
    size_t n = 0;
    const uint64_t *sample = f.sample ? reservoir_points(f.sample, &n) : NULL;
    for (size_t i = 0; i < n; i++) add_point(&f, sample[i]);
    ok = ok && sweep_store_points(job, m, f.points, f.n);
    reservoir_free(f.sample);
    seen_release(&f.seen);
    free(f.points);
    return ok;
}

/* The searches of a run: one for each model and each combination of values. */
static uint64_t planned_evaluations(const struct job *job)
{
    return job->sweep->search.evaluations && !job->sweep->n_per ? job->sweep->search.evaluations * job->n_spaces : 0;
}

static bool run_searches(struct job *job)
{
    struct sweep_result *result = job->result;
    bool ok = true;
    sweep_phase(job, search_names[job->sweep->search.method], planned_evaluations(job), 0);
    for (size_t m = 0; ok && m < job->n_spaces; m++) ok = search_model(job, m);
    sweep_advance(job, 0, true);
    if (!ok) return false;
    result->interrupted = sweep_interrupted(job);
    result->store_seconds = sweep_now() - job->started;
    struct goal goal;
    goal_of_sweep(&goal, job->sweep);
    ok = store_plan_done(job->store, job->diags) && goal_front(job->store, &goal, &result->front, job->diags) &&
         store_finish(job->store, result->interrupted ? "interrupted" : "done", job->diags);
    goal_release(&goal);
    result->front_seconds = sweep_now() - job->started - result->store_seconds;
    return ok;
}

/* "nsga2, 100000 evaluations, population 128, seed 1, keep front": what the run is besides its space. The caller frees it. */
static char *method_text(const struct sweep_file *s)
{
    const struct search_section *o = &s->search;
    struct text t;
    text_init(&t);
    text_add(&t, search_names[o->method]);
    if (o->evaluations) text_addf(&t, ", %llu evaluations", (unsigned long long)o->evaluations);
    if (o->method == SEARCH_NSGA2) text_addf(&t, ", population %llu", (unsigned long long)o->population);
    text_addf(&t, ", seed %llu, keep %s", (unsigned long long)o->seed, keep_names[s->keep]);
    if (s->keep == KEEP_SAMPLE) text_addf(&t, " %llu", (unsigned long long)s->keep_points);
    return text_detach(&t);
}

static bool run_exact(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret,
                      struct diags *diags)
{
    const struct certified_options certified = {
        .db = options->db, .threads = options->threads, .fresh = options->fresh, .interrupt = options->interrupt};
    struct certified_result r;
    const bool ok = certified_run(s, &certified, &r, diags);
    ret->run = r.run;
    ret->was_complete = r.was_complete;
    ret->interrupted = r.interrupted;
    ret->planned = ret->done = ret->front = r.front;
    ret->evaluations = r.certificate.evaluations;
    ret->store_seconds = r.certificate.seconds;
    return ok;
}

bool searched_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags)
{
    if (options->shards > 1)
        return diags_input(diags, s->search.loc, s->doc->text, "leave --shard out",
                           "[search] method = \"%s\" looks at the whole space and cannot search a part of it",
                           search_names[s->search.method]);
    if (s->search.method == SEARCH_EXACT) return run_exact(s, options, ret, diags);
    struct space **spaces = sweep_make_spaces(s, LATTICE_POINTS_MAX, diags);
    if (!spaces) return false;
    struct job job = sweep_job(s, options, ret, spaces, diags);
    char *method = method_text(s);
    job.store = sweep_open_store(s, options, method, false, spaces, diags);
    bool ok = job.store != NULL;
    if (ok) ret->run = store_run(job.store);
    ret->was_complete = ok && store_complete(job.store);
    if (ok && !ret->was_complete) ok = run_searches(&job);
    free(method);
    store_close(job.store);
    sweep_free_spaces(spaces, s->n_models);
    return ok;
}
