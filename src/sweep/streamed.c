#include "sweep/streamed.h"

#include "base/xalloc.h"
#include "sweep/keeper.h"
#include "sweep/kept.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* Points that are evaluated between two saves: some seconds of work. A mean over requests takes as long as all of them. */
enum { SPAN = 1 << 24 };

static uint64_t span_points(const struct space *sp)
{
    const struct request_mix *requests = space_requests(sp);
    const uint64_t blocks = SPAN / KEEPER_BLOCK / (requests ? requests->n : 1);
    return KEEPER_BLOCK * (blocks ? blocks : 1);
}

/* ---- one space --------------------------------------------------------------------------------------------------------------- */

struct stream {
    struct job *job;
    size_t m;
    struct keeper **keepers; /* one a thread; the first has what was kept before */
    struct stream_state state;
};

static bool has_failed(const struct stream *s)
{
    for (int t = 0; t < s->job->threads; t++)
        if (keeper_error(s->keepers[t])) return diags_runtime(s->job->diags, NULL, "%s", keeper_error(s->keepers[t])), true;
    return false;
}

/* The blocks of a span, claimed one after the other: what is claimed is evaluated. */
struct span {
    uint64_t claimed, end, reported;
};

/* The next block: its first point; UINT64_MAX when there is none, or the run is to stop. */
static uint64_t claim(const struct job *job, struct span *span)
{
    uint64_t first;
    if (sweep_interrupted(job)) return UINT64_MAX;
#pragma omp atomic capture
    {
        first = span->claimed;
        span->claimed += KEEPER_BLOCK;
    }
    return first < span->end ? first : UINT64_MAX;
}

static uint64_t reached(struct span *span)
{
    uint64_t claimed;
#pragma omp atomic read
    claimed = span->claimed;
    return claimed < span->end ? claimed : span->end;
}

/* Report how far the span is; the writing thread calls it. */
static void report(struct job *job, struct span *span)
{
    const uint64_t at = reached(span);
    sweep_advance(job, at - span->reported, false);
    span->reported = at;
}

/* Evaluate points from state.next on, `end` excluded, as far as it comes before it is interrupted. */
static bool evaluate_span(struct stream *s, uint64_t end)
{
    struct job *job = s->job;
    struct span span = {.claimed = s->state.next, .end = end, .reported = s->state.next};
    bool ok = true;
    double seconds = 0;
#pragma omp parallel num_threads(job->threads) reduction(&& : ok) reduction(+ : seconds)
    {
        const double started = sweep_now();
        for (uint64_t first; ok && (first = claim(job, &span)) != UINT64_MAX;) {
            const uint64_t left = end - first;
            ok = keeper_evaluate(s->keepers[omp_get_thread_num()], first, left < KEEPER_BLOCK ? (size_t)left : KEEPER_BLOCK);
            if (omp_get_thread_num() == 0) report(job, &span);
        }
        seconds = sweep_now() - started;
    }
    report(job, &span);
    job->result->evaluate_seconds += seconds;
    s->state.next = reached(&span);
    return ok;
}

/* Let the first keeper have what all of them have: it is the state. */
static bool gather(struct stream *s)
{
    struct job *job = s->job;
    size_t n;
    const uint64_t *points;
    for (int t = 0; t < job->threads; t++) {
        keeper_add_counts(s->keepers[t], &s->state);
        if (t == 0) continue;
        points = keeper_points(s->keepers[t], &n);
        for (size_t i = 0; i < n; i++)
            if (!keeper_take(s->keepers[0], points[i])) return false;
    }
    points = keeper_points(s->keepers[0], &n);
    s->state.points = xrealloc(s->state.points, n, sizeof *points);
    if (n) memcpy(s->state.points, points, n * sizeof *points);
    s->state.n = n;
    return true;
}

static bool save(struct stream *s)
{
    return gather(s) && store_stream_save(s->job->store, s->m, &s->state, s->job->diags);
}

static void add_keepers(const struct stream *s, const struct goal *goal, int from)
{
    const struct job *job = s->job;
    const size_t sample = job->sweep->keep == KEEP_SAMPLE ? job->sweep->keep_points : 0;
    for (int t = from; t < job->threads; t++) s->keepers[t] = keeper_new(job->spaces[s->m], goal, sample);
}

static void make_keepers(struct stream *s, const struct goal *goal)
{
    s->keepers = xcalloc((size_t)s->job->threads, sizeof(struct keeper *));
    add_keepers(s, goal, 0);
}

static void release(struct stream *s)
{
    for (int t = 0; s->keepers && t < s->job->threads; t++) keeper_free(s->keepers[t]);
    free(s->keepers);
    stream_state_release(&s->state);
}

static bool begin(struct stream *s, const struct goal *goal)
{
    struct job *job = s->job;
    make_keepers(s, goal);
    if (!store_stream_begin(job->store, s->m, &s->state, job->diags)) return false;
    for (size_t i = 0; i < s->state.n; i++)
        if (!keeper_take(s->keepers[0], s->state.points[i])) return false;
    return gather(s); /* of what several workers have kept, each of its blocks, not all is kept */
}

static bool run_space(struct stream *s)
{
    struct job *job = s->job;
    const uint64_t count = space_count(job->spaces[s->m]), span = span_points(job->spaces[s->m]);
    bool ok = true;
    job->result->resumed += s->state.next;
    sweep_advance(job, 0, false);
    while (ok && s->state.next < count && !sweep_interrupted(job)) {
        const uint64_t end = s->state.next - s->state.next % span + span;
        ok = evaluate_span(s, end < count ? end : count) && save(s);
    }
    if (!ok && !job->diags->errors && !has_failed(s)) diags_runtime(job->diags, NULL, "the stream ended");
    job->result->evaluations += s->state.next;
    if (s->state.next < count) job->result->interrupted = true;
    return ok;
}

/* ---- the run ----------------------------------------------------------------------------------------------------------------- */

static bool run_streams(struct job *job, struct stream *streams, const struct goal *goal)
{
    struct sweep_result *result = job->result;
    bool ok = true;
    uint64_t planned = 0, done = 0;
    for (size_t m = 0; ok && m < job->n_spaces; m++) {
        streams[m] = (struct stream){.job = job, .m = m};
        ok = begin(&streams[m], goal);
        planned += space_count(job->spaces[m]);
        done += streams[m].state.next;
    }
    sweep_phase(job, "", planned, done);
    for (size_t m = 0; ok && m < job->n_spaces; m++) ok = run_space(&streams[m]);
    sweep_advance(job, 0, true);
    for (size_t m = 0; ok && !result->interrupted && m < job->n_spaces; m++)
        ok = sweep_store_points(job, m, streams[m].state.points, streams[m].state.n);
    result->store_seconds = sweep_now() - job->started;
    if (!ok || result->interrupted) return ok && store_finish(job->store, "interrupted", job->diags);
    ok = store_plan_done(job->store, job->diags) && goal_front(job->store, goal, &result->front, job->diags) &&
         store_stream_end(job->store, job->diags) && store_finish(job->store, "done", job->diags);
    result->front_seconds = sweep_now() - job->started - result->store_seconds;
    return ok;
}

static bool run_store(struct job *job)
{
    struct stream *streams = xcalloc(job->n_spaces, sizeof *streams);
    struct goal goal;
    goal_of_sweep(&goal, job->sweep);
    const bool ok = run_streams(job, streams, &goal);
    for (size_t m = 0; m < job->n_spaces; m++) release(&streams[m]);
    goal_release(&goal);
    free(streams);
    return ok;
}

char *streamed_method(const struct sweep_file *s)
{
    return s->keep == KEEP_ALL      ? NULL
           : s->keep == KEEP_SAMPLE ? xasprintf("keep sample %llu", (unsigned long long)s->keep_points)
                                    : xstrdup("keep front");
}

bool streamed_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags)
{
    if (options->shards > 1)
        return diags_input(diags, (struct srcloc){.file = s->doc->file}, NULL, "leave --shard out, or keep = \"all\"",
                           "keep = \"%s\" needs the whole space: its parts cannot be joined", keep_names[s->keep]);
    struct space **spaces = sweep_make_spaces(s, options->max_points, diags);
    if (!spaces) return false;
    struct job job = sweep_job(s, options, ret, spaces, diags);
    char *method = streamed_method(s);
    job.store = sweep_open_store(s, options, method, true, spaces, diags);
    bool ok = job.store != NULL;
    if (ok) ret->run = store_run(job.store);
    ret->was_complete = ok && store_complete(job.store);
    if (ok && !ret->was_complete) ok = run_store(&job);
    free(method);
    store_close(job.store);
    sweep_free_spaces(spaces, s->n_models);
    return ok;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------------------ */

struct streamed_blocks {
    struct job *job;
    struct goal goal;
    struct stream *streams;
};

struct streamed_blocks *streamed_blocks_new(struct job *job)
{
    struct streamed_blocks *b = xcalloc(1, sizeof *b);
    b->job = job;
    goal_of_sweep(&b->goal, job->sweep);
    b->streams = xcalloc(job->n_spaces, sizeof *b->streams);
    return b;
}

void streamed_blocks_free(struct streamed_blocks *b)
{
    if (!b) return;
    for (size_t m = 0; m < b->job->n_spaces; m++)
        if (b->streams[m].job) release(&b->streams[m]);
    goal_release(&b->goal);
    free(b->streams);
    free(b);
}

bool streamed_blocks_run(struct streamed_blocks *b, size_t m, struct range block)
{
    struct job *job = b->job;
    struct stream *s = &b->streams[m];
    if (!s->job) {
        *s = (struct stream){.job = job, .m = m};
        make_keepers(s, &b->goal);
    }
    stream_state_release(&s->state);
    s->state.next = block.first;
    bool ok = evaluate_span(s, block.last + 1);
    if (ok && s->state.next <= block.last) job->result->interrupted = true;
    if (ok && !job->result->interrupted) {
        job->result->done += block.last - block.first + 1;
        ok = gather(s) && store_stream_save_block(job->store, m, block, &s->state, job->diags);
        for (int t = 1; t < job->threads; t++) keeper_free(s->keepers[t]); /* the first has all that they had */
        add_keepers(s, &b->goal, 1);
    }
    return ok || job->diags->errors || has_failed(s) ? ok : diags_runtime(job->diags, NULL, "the stream ended");
}
