/* What all ways to run a sweep share: its spaces, its database, and how far it is. */
#include "sweep/sweep_internal.h"

#include "base/threads.h"
#include "base/xalloc.h"
#include "dse_config.h"
#include "sweep/compared.h"
#include "sweep/pool.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double sweep_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void sweep_phase(struct job *job, const char *name, uint64_t planned, uint64_t done)
{
    job->phase_started = sweep_now();
    job->progress = (struct sweep_progress){.planned = planned, .done = done};
    snprintf(job->progress.phase, sizeof job->progress.phase, "%s", name);
}

void sweep_advance(struct job *job, uint64_t points, bool last)
{
    double t = sweep_now();
    job->progress.done += points;
    job->progress.this_time += points;
    if (!job->options->progress || (!last && t - job->reported < 0.1)) return;
    job->reported = t;
    job->progress.seconds = t - job->phase_started;
    job->progress.total_seconds = t - job->started;
    job->options->progress(job->options->user, &job->progress);
}

bool sweep_interrupted(const struct job *job)
{
    return job->options->interrupt && *job->options->interrupt;
}

bool sweep_end_pool(struct job *job, struct pool *pool)
{
    const char *bug = pool_error(pool);
    const bool ok = !bug || diags_runtime(job->diags, NULL, "%s", bug);
    job->result->evaluate_seconds += pool_seconds(pool);
    pool_free(pool);
    return ok;
}

struct range sweep_shard(uint64_t count, uint64_t shard, uint64_t shards)
{
    if (shards < 2) return (struct range){0, count};
    __uint128_t c = count;
    return (struct range){(uint64_t)(c * (shard - 1) / shards), (uint64_t)(c * shard / shards)};
}

static uint64_t run_hash(const struct sweep_file *sweep, const char *objectives, const char *method, struct space *const *spaces,
                         size_t n)
{
    uint64_t h = text_hash(TEXT_HASH_INIT, DSE_VERSION, sizeof DSE_VERSION);
    h = text_hash(h, objectives, strlen(objectives));
    if (sweep->fidelity != FIDELITY_CLOSED_FORM || sweep->refine) {
        const char *fidelity = sweep_fidelity_text(sweep);
        h = text_hash(h, fidelity, strlen(fidelity));
    }
    if (method) h = text_hash(h, method, strlen(method));
    if (sweep->refine) h = text_hash(h, &sweep->refine_runs, sizeof sweep->refine_runs);
    if (sweep->refine && !sweep->refine_neighbours) h = text_hash(h, "alone", sizeof "alone");
    for (size_t i = 0; i < n; i++) {
        uint64_t s = space_hash(spaces[i]);
        h = text_hash(h, &s, sizeof s);
    }
    return h;
}

uint64_t sweep_run_hash(const struct sweep_file *s, const char *method, struct space *const *spaces)
{
    struct goal goal;
    goal_of_sweep(&goal, s);
    char *objectives = goal_text(&goal);
    const uint64_t hash = run_hash(s, objectives, method, spaces, s->n_models);
    free(objectives);
    goal_release(&goal);
    return hash;
}

static uint64_t planned_points(struct space *const *spaces, size_t n, const struct sweep_options *options)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        struct range s = sweep_shard(space_count(spaces[i]), options->shard, options->shards);
        sum += s.last - s.first;
    }
    return sum;
}

void sweep_free_spaces(struct space **spaces, size_t n)
{
    for (size_t i = 0; i < n; i++) space_free(spaces[i]);
    free(spaces);
}

/* A baseline that no front would have makes ratios that no front should be read by. */
static void warn_of_baseline(const struct sweep_file *s, const struct space *sp, struct diags *diags)
{
    char *why = space_baseline_over_budget(sp);
    const struct toml_node *node = why && s->doc ? toml_get(&s->doc->root, "baseline") : NULL;
    if (why)
        diags_warn(diags, node ? toml_key_loc(s->doc, node) : (struct srcloc){0}, node ? s->doc->text : NULL,
                   "the baseline would be on no front: %s; ratios to it compare designs with a machine of less quality", why);
    free(why);
}

struct space **sweep_make_spaces(const struct sweep_file *s, uint64_t max_points, struct diags *diags)
{
    struct space **spaces = xcalloc(s->n_models, sizeof(struct space *));
    bool ok = true;
    for (size_t m = 0; m < s->n_models; m++) {
        spaces[m] = space_new(s, m, max_points, diags);
        if (!spaces[m]) ok = false;
    }
    if (ok) warn_of_baseline(s, spaces[0], diags);
    if (ok) return spaces;
    sweep_free_spaces(spaces, s->n_models);
    return NULL;
}

/* "llm, tiles": the axes of all models, each once. The caller frees it. */
static char *axis_names(const struct sweep_file *s)
{
    struct text names;
    text_init(&names);
    for (size_t m = 0; m < s->n_models; m++) {
        const struct binding *b = s->bindings[m];
        for (size_t i = 0; i < b->model->params.n; i++) {
            const char *name = b->model->params.fields[i].name;
            bool before = false;
            for (size_t k = 0; k < m && !before; k++) {
                const struct field *f = schema_find(&s->bindings[k]->model->params, name);
                before = f && s->bindings[k]->given[schema_index(&s->bindings[k]->model->params, f)].n > 1;
            }
            if (b->given[i].n > 1 && !before) text_addf(&names, "%s%s", names.n ? ", " : "", name);
        }
    }
    return text_detach(&names);
}

/* "2/4", STORE_LEASED, or NULL for a sweep that is run as a whole. The caller frees it. */
static char *shard_text(const struct sweep_options *o)
{
    if (o->lease) return xstrdup(STORE_LEASED);
    return o->shards > 1 ? xasprintf("%llu/%llu", (unsigned long long)o->shard, (unsigned long long)o->shards) : NULL;
}

struct store *sweep_open_store(const struct sweep_file *s, const struct sweep_options *options, const char *method, bool resumes,
                               struct space *const *spaces, struct diags *diags)
{
    const unsigned flags = (options->fresh ? STORE_FRESH : 0) | (resumes ? 0 : STORE_WHOLE) | (options->lease ? STORE_PRIVATE : 0);
    struct goal goal;
    goal_of_sweep(&goal, s);
    char *shard = shard_text(options), *objectives = goal_text(&goal), *axes = axis_names(s), *baseline = sweep_baseline_text(s);
    char *requests = sweep_requests_description(s), *ends = sweep_axis_ends(s), *unequal = sweep_unequal(s, spaces),
         *catalog = sweep_entries(s, spaces);
    struct run_info info = {.sweep = s->name,
                            .sweep_text = s->doc->text,
                            .hash = run_hash(s, objectives, method, spaces, s->n_models),
                            .fidelity = sweep_fidelity_text(s),
                            .axes = axes,
                            .objectives = objectives,
                            .baseline = baseline,
                            .requests = requests,
                            .axis_ends = ends,
                            .unequal = unequal,
                            .catalog = catalog,
                            .method = method,
                            .planned = planned_points(spaces, s->n_models, options),
                            .shard = shard};
    struct store *store = store_open(options->db, &info, spaces, s->n_models, flags, diags);
    char *const texts[] = {shard, objectives, axes, baseline, requests, ends, unequal, catalog};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
    goal_release(&goal);
    return store;
}

struct job sweep_job(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret,
                     struct space *const *spaces, struct diags *diags)
{
    return (struct job){.sweep = s,
                        .options = options,
                        .result = ret,
                        .spaces = spaces,
                        .n_spaces = s->n_models,
                        .diags = diags,
                        .threads = threads_available(options->threads > 0 ? options->threads : omp_get_num_procs()),
                        .started = sweep_now()};
}
