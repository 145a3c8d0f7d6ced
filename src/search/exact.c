#include "search/exact.h"

#include "base/threads.h"
#include "base/xalloc.h"
#include "search/local.h"
#include "search/missing.h"
#include "search/roots.h"

#include <assert.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum {
    SAMPLE = 256,      /* random points of each root box, for incumbents; fewer where there are many boxes */
    SAMPLES = 65536,   /* of all root boxes together */
    LOCAL = 30000,     /* evaluations of local searches, all together */
    LOCAL_LEAST = 500, /* of each; where that is more, there are none */
    ROUND = 128,       /* boxes searched at a time */
    FEW = 256,         /* waiting boxes below which walks are short, so that they become more */
    WALK_FIRST = 16,   /* boxes looked at from each, while few wait */
    WALK = 128,        /* and later */
    CROWD = 1 << 20,   /* waiting boxes above which walks are longer, so that they become fewer */
    WALK_LONG = 65536
};

/* A box that waits, the widest gap first, of equal ones the oldest. */
struct waiting {
    double gap;
    uint64_t serial;
    struct box *box;
};

struct search {
    struct walk_frame frame;
    const struct exact_options *options;
    struct diags *diags;
    struct lattice **lattices;
    struct archive **archives;
    size_t **columns;
    struct walk_guides *guides;
    struct roots roots;
    bool maximise[FRONT_OBJECTIVES_MAX];
    struct walker **walkers;
    int threads;
    struct waiting *heap;
    size_t n_heap, heap_capacity;
    uint64_t serial, rounds;
    uint64_t evaluations; /* of the local searches */
    double started, reported;
};

/* ---- what waits ------------------------------------------------------------------------------------------------------------ */

static bool comes_before(const struct waiting *a, const struct waiting *b)
{
    return a->gap != b->gap ? a->gap > b->gap : a->serial < b->serial;
}

static void put(struct search *s, struct box *b)
{
    if (s->n_heap == s->heap_capacity) {
        s->heap_capacity = s->heap_capacity ? 2 * s->heap_capacity : 1024;
        s->heap = xrealloc(s->heap, s->heap_capacity, sizeof *s->heap);
    }
    const struct waiting w = {archive_gap(s->archives[b->group], b->costs), s->serial++, b};
    size_t i = s->n_heap++;
    for (; i > 0 && comes_before(&w, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = w;
}

static struct box *take(struct search *s)
{
    struct box *first = s->heap[0].box;
    const struct waiting w = s->heap[--s->n_heap];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < s->n_heap; i = child) {
        if (child + 1 < s->n_heap && comes_before(&s->heap[child + 1], &s->heap[child])) child++;
        if (!comes_before(&s->heap[child], &w)) break;
        s->heap[i] = s->heap[child];
    }
    s->heap[i] = w;
    return first;
}

static bool is_stopped(const struct search *s)
{
    const struct walk_frame *f = &s->frame;
    return (f->interrupt && *f->interrupt) || (f->deadline > 0 && walk_now() > f->deadline);
}

/* ---- incumbents ------------------------------------------------------------------------------------------------------------ */

/* Random points of every root box. */
static void sample(struct search *s)
{
    const size_t n = s->roots.n > SAMPLES / SAMPLE ? SAMPLES / s->roots.n + 1 : SAMPLE;
    uint32_t at[SPACE_AXES_MAX];
    uint64_t state = 4;
    double costs[FRONT_OBJECTIVES_MAX];
    for (size_t r = 0; r < s->roots.n; r++) {
        struct box *b = s->roots.boxes[r];
        const struct lattice *l = s->lattices[b->space];
        for (size_t i = 0; i < n; i++) {
            for (size_t a = 0; a < lattice_axes(l); a++)
                at[a] = box_lo(b)[a] + (uint32_t)(roots_draw(&state) % (box_hi(&s->frame, b)[a] - box_lo(b)[a] + 1));
            const struct lattice_point p = {b->space, lattice_index(l, at)};
            if (walker_evaluate(s->walkers[0], b->space, p.point, costs)) archive_add(s->archives[b->group], costs, p);
        }
    }
    for (size_t g = 0; g < s->roots.n_groups; g++) archive_settle(s->archives[g]);
}

/* Hold the axes on which the box is a single place. */
static void hold(const struct search *s, struct box *b, struct probe *p)
{
    const struct lattice *l = s->lattices[b->space];
    uint64_t digits[SPACE_AXES_MAX];
    space_digits(s->frame.spaces[b->space], lattice_index(l, box_lo(b)), digits);
    for (size_t a = 0; a < lattice_axes(l); a++)
        if (box_lo(b)[a] == box_hi(&s->frame, b)[a]) probe_hold(p, a, digits[a]);
}

/* Search a root box for incumbents. */
static bool search_around(struct search *s, struct box *b, const char *const *columns, uint64_t evaluations)
{
    struct probe *p = probe_new(s->frame.spaces[b->space], columns, s->maximise, s->frame.objectives, s->threads);
    const struct search_options options = {.seed = 1, .evaluations = evaluations, .stop = s->frame.interrupt};
    struct search_result found;
    hold(s, b, p);
    const bool ok = local_search(p, &options, &found);
    if (!ok) diags_runtime(s->diags, NULL, "%s", probe_error(p));
    for (size_t i = 0; ok && i < found.n; i++)
        archive_add(s->archives[b->group], found.values + i * s->frame.objectives,
                    (struct lattice_point){b->space, found.points[i]});
    if (ok) s->evaluations += found.evaluations;
    archive_settle(s->archives[b->group]);
    search_result_release(&found);
    probe_free(p);
    return ok;
}

static bool search_locally(struct search *s)
{
    const struct sweep_file *sweep = s->frame.sweep;
    const uint64_t each = s->roots.n ? LOCAL / s->roots.n : 0;
    const char *columns[FRONT_OBJECTIVES_MAX];
    for (size_t j = 0; j < sweep->n_objectives; j++) columns[j] = sweep->objectives[j].column;
    for (size_t r = 0; r < s->roots.n && each >= LOCAL_LEAST && !is_stopped(s); r++)
        if (!search_around(s, s->roots.boxes[r], columns, each)) return false;
    return true;
}

/* ---- rounds ---------------------------------------------------------------------------------------------------------------- */

static struct walk_counts all_counts(const struct search *s)
{
    struct walk_counts sum = {.evaluations = s->evaluations};
    for (int t = 0; t < s->threads; t++) {
        const struct walk_counts c = walker_counts(s->walkers[t]);
        sum.evaluations += c.evaluations;
        sum.bounds += c.bounds;
        sum.closed += c.closed;
        for (int e = 0; e < BOX_END_COUNT; e++) sum.boxes[e] += c.boxes[e];
    }
    return sum;
}

static double all_points(const struct search *s)
{
    double sum = 0;
    for (size_t i = 0; i < s->frame.n_spaces; i++) sum += (double)space_count(s->frame.spaces[i]);
    return sum;
}

static size_t incumbents(const struct search *s)
{
    size_t n = 0;
    for (size_t g = 0; g < s->roots.n_groups; g++) n += archive_size(s->archives[g]);
    return n;
}

static const char *bug(const struct search *s)
{
    for (int t = 0; t < s->threads; t++)
        if (walker_error(s->walkers[t])) return walker_error(s->walkers[t]);
    return NULL;
}

static bool is_over(const struct search *s)
{
    const uint64_t rounds = s->options->rounds;
    return s->n_heap == 0 || bug(s) || is_stopped(s) || (rounds && s->rounds >= rounds);
}

static void report(struct search *s)
{
    const double now = walk_now();
    if (!s->options->progress || now - s->reported < 0.1) return;
    const struct walk_counts c = all_counts(s);
    uint64_t boxes = 0;
    for (int e = 0; e < BOX_END_COUNT; e++) boxes += c.boxes[e];
    s->reported = now;
    const struct exact_progress p = {.points = all_points(s),
                                     .closed = c.closed,
                                     .front = incumbents(s),
                                     .boxes = boxes,
                                     .epsilon = s->n_heap ? s->heap[0].gap : 0,
                                     .seconds = now - s->started};
    s->options->progress(s->options->user, &p);
}

/* Put together what the walks of a round have left, in the order of their boxes. */
static void gather(struct search *s, const uint32_t *groups, struct walk_result *results, size_t n)
{
    const size_t m = s->frame.objectives;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < results[i].n; k++) archive_add(s->archives[groups[i]], results[i].costs + k * m, results[i].at[k]);
    for (size_t i = 0; i < n; i++) archive_tend(s->archives[groups[i]]);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < results[i].n_left; k++) put(s, results[i].left[k]);
        results[i].n_left = 0;
        walk_result_release(&results[i]);
    }
}

/* How many boxes of a round a thread takes at a time: enough that bounds are asked for together, and that each thread has some. */
static int boxes_at_a_time(const struct search *s, int n)
{
    const int most = (int)walker_width(s->walkers[0]), share = n / (2 * s->threads);
    return share < 1 ? 1 : share < most ? share : most;
}

static void do_round(struct search *s)
{
    struct box *boxes[ROUND];
    struct walk_result results[ROUND];
    uint32_t groups[ROUND];
    const size_t walk = s->n_heap > CROWD ? WALK_LONG : s->n_heap < FEW ? WALK_FIRST : WALK;
    int n = 0;
    s->rounds++;
    while (n < ROUND && s->n_heap) {
        boxes[n] = take(s);
        groups[n] = boxes[n]->group;
        n++;
    }
    const int width = boxes_at_a_time(s, n);
#pragma omp parallel for num_threads(s->threads) schedule(dynamic, 1)
    for (int i = 0; i < n; i += width)
        walker_run(s->walkers[omp_get_thread_num()], boxes + i, (size_t)(n - i < width ? n - i : width), walk, results + i);
    for (int i = 0; i < n; i++) free(boxes[i]);
    gather(s, groups, results, (size_t)n);
}

/* ---- the end --------------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct certificate_row *x = a, *y = b;
    if (x->at.space != y->at.space) return (x->at.space > y->at.space) - (x->at.space < y->at.space);
    return (x->at.point > y->at.point) - (x->at.point < y->at.point);
}

static void make_front(const struct search *s, struct exact_result *ret)
{
    const size_t m = s->frame.objectives, all = incumbents(s);
    size_t *members = xcalloc(all, sizeof *members);
    ret->front = xcalloc(all, sizeof *ret->front);
    ret->values = xcalloc(all * m, sizeof *ret->values);
    for (size_t g = 0; g < s->roots.n_groups; g++) {
        const size_t n = archive_front(s->archives[g], members);
        for (size_t i = 0; i < n; i++) {
            const double *costs = archive_costs(s->archives[g], members[i]);
            double *values = ret->values + ret->n_front * m;
            for (size_t j = 0; j < m; j++) values[j] = s->maximise[j] ? -costs[j] : costs[j];
            ret->front[ret->n_front++] = (struct certificate_row){archive_at(s->archives[g], members[i]), values, g};
        }
    }
    if (ret->n_front) qsort(ret->front, ret->n_front, sizeof *ret->front, by_place);
    free(members);
}

static int by_group(const void *a, const void *b)
{
    const struct waiting *x = a, *y = b;
    return (x->box->group > y->box->group) - (x->box->group < y->box->group);
}

/* What the boxes that wait can still add, the mean over all groups. */
static double hypervolume_left(const struct search *s)
{
    const double **costs = xcalloc(s->n_heap, sizeof(double *));
    double sum = 0;
    if (s->n_heap) qsort(s->heap, s->n_heap, sizeof *s->heap, by_group);
    for (size_t first = 0, end; first < s->n_heap; first = end) {
        const uint32_t group = s->heap[first].box->group;
        for (end = first; end < s->n_heap && s->heap[end].box->group == group; end++) costs[end] = s->heap[end].box->costs;
        sum += missing_hypervolume(s->archives[group], s->frame.objectives, costs + first, end - first);
    }
    free(costs);
    return sum / (double)s->roots.n_groups;
}

/* Drop boxes that incumbents from after their time cover: they are closed. The heap is no heap any more. */
static void close_covered(struct search *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->n_heap; i++) {
        const struct waiting w = s->heap[i];
        const size_t by = archive_cover(s->archives[w.box->group], w.box->costs, SIZE_MAX);
        if (by != SIZE_MAX) {
            walker_close(s->walkers[0], w.box, archive_at(s->archives[w.box->group], by));
            continue;
        }
        s->heap[i] = s->heap[kept];
        s->heap[kept++] = w;
    }
    for (size_t i = kept; i < s->n_heap; i++) free(s->heap[i].box);
    s->n_heap = kept;
}

static void leave_open(struct search *s, struct certificate *c)
{
    close_covered(s);
    c->complete = s->n_heap == 0;
    c->hypervolume_left = hypervolume_left(s);
    for (size_t i = 0; i < s->n_heap; i++) {
        struct box *b = s->heap[i].box;
        c->epsilon = fmax(c->epsilon, archive_gap(s->archives[b->group], b->costs));
        walker_leave(s->walkers[0], b);
    }
}

static void finish(struct search *s, struct exact_result *ret)
{
    ret->certificate = (struct certificate){.tolerance = CERTIFICATE_TOLERANCE, .threads = s->threads};
    for (size_t g = 0; g < s->roots.n_groups; g++) archive_settle(s->archives[g]);
    leave_open(s, &ret->certificate);
    make_front(s, ret);
    const struct walk_counts c = all_counts(s);
    memcpy(ret->certificate.boxes, c.boxes, sizeof c.boxes);
    ret->certificate.evaluations = c.evaluations;
    ret->certificate.seconds = walk_now() - s->started;
    ret->bounds = c.bounds;
    ret->points = all_points(s);
    ret->n_logs = (size_t)s->threads;
    ret->logs = xcalloc(ret->n_logs, sizeof(struct box_log *));
    for (int t = 0; t < s->threads; t++) ret->logs[t] = walker_log(s->walkers[t]);
}

/* ---- the beginning --------------------------------------------------------------------------------------------------------- */

/* Refuse what a key of the sweep says, or a table of it. */
static bool refuse_key(const struct sweep_file *s, const char *table, const char *key, const char *hint, const char *why,
                       struct diags *diags)
{
    const struct toml_node *node = s->doc ? toml_get(&s->doc->root, table) : NULL;
    if (node && key) node = toml_get(node, key);
    const struct srcloc loc = node ? (key ? toml_loc(s->doc, node) : toml_key_loc(s->doc, node)) : (struct srcloc){0};
    return diags_input(diags, loc, node ? s->doc->text : NULL, hint, "%s", why);
}

bool exact_check(const struct sweep_file *s, struct diags *diags)
{
    if (s->n_objectives == 0)
        return refuse_key(s, "objectives", NULL, "name what is best: tokens_per_s = \"max\", area_mm2 = \"min\"",
                          "a front needs objectives", diags);
    if (s->averages)
        return refuse_key(s, "requests", NULL, "leave [requests] out and give context, or prompt and generate",
                          "there is no exact front of means over requests: they have no bounds", diags);
    if (s->fidelity != FIDELITY_CLOSED_FORM)
        return refuse_key(s, "sweep", "fidelity", "fidelity = \"closed-form\"", "an exact front is one of the closed form", diags);
    if (s->budget.n > 1)
        return refuse_key(s, "quality", budget_metrics[s->budget.named],
                          "give one value; a sweep over the grid has a front for each",
                          "a search looks for the front of one budget", diags);
    if (s->sample.method != SAMPLE_GRID)
        return refuse_key(s, "sample", "method", "leave [sample] out", "an exact front is one of a grid, not of a sample of it",
                          diags);
    return true;
}

static bool make_lattices(struct search *s, const struct sweep_file *sweep)
{
    struct walk_frame *f = &s->frame;
    s->lattices = xcalloc(f->n_spaces, sizeof(struct lattice *));
    f->lattices = s->lattices;
    for (size_t i = 0; i < f->n_spaces; i++) {
        s->lattices[i] = lattice_new(f->spaces[i], s->diags);
        if (!s->lattices[i]) return false;
        if (lattice_axes(s->lattices[i]) > f->axes_max) f->axes_max = lattice_axes(s->lattices[i]);
    }
    f->objectives = sweep->n_objectives;
    for (size_t j = 0; j < f->objectives; j++) s->maximise[j] = sweep->objectives[j].maximise;
    return true;
}

/* The columns of the objectives in each space, which must have them all. */
static bool make_columns(struct search *s, const struct sweep_file *sweep)
{
    const struct walk_frame *f = &s->frame;
    s->columns = xcalloc(f->n_spaces, sizeof(size_t *));
    s->guides = xcalloc(f->n_spaces, sizeof *s->guides);
    for (size_t i = 0; i < f->n_spaces; i++) {
        s->columns[i] = xcalloc(f->objectives, sizeof(size_t));
        for (size_t j = 0; j < f->objectives; j++) {
            s->columns[i][j] = space_column(f->spaces[i], sweep->objectives[j].column);
            if (s->columns[i][j] == SIZE_MAX)
                return diags_input(s->diags, sweep->objectives[j].loc, sweep->doc ? sweep->doc->text : NULL, "leave the model out",
                                   "model %s has no %s", space_model(f->spaces[i])->desc->name, sweep->objectives[j].column);
        }
    }
    return true;
}

static bool begin(struct search *s, const struct sweep_file *sweep)
{
    struct walk_frame *f = &s->frame;
    if (!exact_check(sweep, s->diags) || !make_lattices(s, sweep) || !make_columns(s, sweep)) return false;
    f->maximise = s->maximise;
    f->columns = s->columns;
    f->guides = s->guides;
    if (!roots_make(f, &s->roots, s->diags)) return false;
    s->archives = xcalloc(s->roots.n_groups, sizeof(struct archive *));
    f->archives = s->archives;
    for (size_t g = 0; g < s->roots.n_groups; g++) s->archives[g] = archive_new(f->objectives, WALK_TOLERANCE);
    s->walkers = xcalloc((size_t)s->threads, sizeof(struct walker *));
    for (int t = 0; t < s->threads; t++) s->walkers[t] = walker_new(f);
    bool ok = true;
    for (size_t i = 0; i < f->n_spaces; i++) ok = columns_find(f, i, s->walkers[0], s->columns[i], &s->guides[i], s->diags) && ok;
    for (size_t i = 0; ok && i < f->n_spaces; i++) roots_find_worse(f, &s->roots, i, s->walkers[0], &s->guides[i]);
    return ok;
}

static void release(struct search *s)
{
    for (int t = 0; s->walkers && t < s->threads; t++) walker_free(s->walkers[t]);
    for (size_t g = 0; s->archives && g < s->roots.n_groups; g++) archive_free(s->archives[g]);
    for (size_t i = 0; i < s->n_heap; i++) free(s->heap[i].box);
    roots_release(&s->roots);
    for (size_t i = 0; i < s->frame.n_spaces; i++) {
        if (s->lattices) lattice_free(s->lattices[i]);
        if (s->columns) free(s->columns[i]);
    }
    free(s->walkers);
    free(s->archives);
    free(s->heap);
    free(s->lattices);
    free(s->columns);
    free(s->guides);
}

bool exact_search(const struct sweep_file *sweep, struct space *const *spaces, const struct exact_options *options,
                  struct exact_result *ret, struct diags *diags)
{
    *ret = (struct exact_result){0};
    struct search s = {.options = options, .diags = diags, .threads = options->threads, .started = walk_now()};
    s.frame = (struct walk_frame){.sweep = sweep,
                                  .spaces = spaces,
                                  .n_spaces = sweep->n_models,
                                  .interrupt = options->interrupt,
                                  .deadline = options->seconds > 0 ? s.started + options->seconds : 0,
                                  .keep_boxes = options->keep_boxes};
    bool ok = begin(&s, sweep);
    if (ok) sample(&s);
    ok = ok && search_locally(&s);
    if (ok) {
        for (size_t i = 0; i < s.roots.n; i++) {
            put(&s, s.roots.boxes[i]);
            s.roots.boxes[i] = NULL;
        }
        for (; !is_over(&s); report(&s)) do_round(&s);
        if (bug(&s)) ok = diags_runtime(diags, NULL, "%s", bug(&s));
    }
    if (ok) finish(&s, ret);
    release(&s);
    return ok;
}

void exact_result_release(struct exact_result *r)
{
    for (size_t i = 0; i < r->n_logs; i++) box_log_free(r->logs[i]);
    free(r->logs);
    free(r->front);
    free(r->values);
    *r = (struct exact_result){0};
}
