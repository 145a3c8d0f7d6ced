#include "search/nsga2.h"

#include "analysis/front.h"
#include "base/random.h"
#include "base/xalloc.h"
#include "search/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 16,                /* at a child that was not evaluated before */
    RECENT = 1 << 20,          /* slots for points that are remembered */
    BARREN_GENERATIONS_MAX = 8 /* without a new child, before the search ends */
};

/* Parents at 0 to parents - 1, behind them their children. */
struct population {
    size_t n, parents;
    uint64_t *points;
    uint32_t *places; /* n * axes */
    double *values, *violations;
    uint32_t *rank; /* 0: on the first front; infeasible points behind all fronts */
    double *crowding;
};

/* What is sorted, and by what. */
struct keyed {
    double key;
    uint32_t i;
};

struct nsga2 {
    struct probe *probe;
    const struct search_options *options;
    size_t m, n_axes, size; /* size: of a population */
    const struct probe_axis *axes;
    struct population now, next;
    uint64_t *recent; /* 1 + a point, in the slot of its hash; 0: free */
    struct front *front;
    uint32_t *order, *left; /* 2 * size each */
    uint8_t *keep;
    double *scratch;
    struct keyed *sorted;
    uint64_t generation, evaluations;
    uint64_t child, drawn; /* the child at hand, and where its random numbers are */
    bool failed, stopped;
};

static void population_init(struct population *p, size_t n, size_t m, size_t axes)
{
    *p = (struct population){.points = xcalloc(n, sizeof *p->points),
                             .places = xcalloc(n * axes, sizeof *p->places),
                             .values = xcalloc(n * m, sizeof *p->values),
                             .violations = xcalloc(n, sizeof *p->violations),
                             .rank = xcalloc(n, sizeof *p->rank),
                             .crowding = xcalloc(n, sizeof *p->crowding)};
}

static void population_release(struct population *p)
{
    free(p->points);
    free(p->places);
    free(p->values);
    free(p->violations);
    free(p->rank);
    free(p->crowding);
}

static uint64_t *slot_of(const struct nsga2 *s, uint64_t point)
{
    return &s->recent[random_mix(point) % RECENT];
}

/* Note a point. False: it was met before, not long ago. */
static bool is_new(struct nsga2 *s, uint64_t point)
{
    uint64_t *slot = slot_of(s, point);
    if (*slot == point + 1) return false;
    *slot = point + 1;
    return true;
}

/* ---- variation -------------------------------------------------------------------------------------------------------------- */

static void begin_child(struct nsga2 *s)
{
    s->drawn = random_at(s->options->seed, s->generation, s->child);
}

static uint64_t draw(struct nsga2 *s)
{
    return random_mix(s->drawn++);
}

/* The better of two parents: by its front, then by how sparse its place is. */
static size_t tournament(struct nsga2 *s)
{
    const struct population *p = &s->now;
    const uint64_t bits = draw(s);
    const size_t a = random_below(bits, p->parents), b = random_below(bits << 32, p->parents);
    if (p->rank[a] != p->rank[b]) return p->rank[a] < p->rank[b] ? a : b;
    return p->crowding[a] >= p->crowding[b] ? a : b;
}

/* A place on an axis of numbers from the parents': either, or one between them and a quarter of their distance beyond. */
static uint32_t between(uint64_t n, uint32_t a, uint32_t b, uint64_t bits)
{
    const int64_t low = a < b ? a : b, high = a < b ? b : a, beyond = (high - low) / 4 + 1;
    const int64_t place = low - beyond + (int64_t)random_below(bits, (uint64_t)(high - low + 2 * beyond + 1));
    return (uint32_t)(place < 0 ? 0 : place >= (int64_t)n ? (int64_t)n - 1 : place);
}

static void recombine(struct nsga2 *s, const uint32_t *a, const uint32_t *b, uint32_t *child)
{
    uint64_t bits = draw(s);
    for (size_t i = 0; i < s->n_axes; i++) {
        if (i % 16 == 15) bits = draw(s);
        const unsigned way = bits & 3;
        bits >>= 4;
        child[i] = way & 1 ? a[i] : b[i];
        if (way == 3 && a[i] != b[i] && !s->axes[i].names) child[i] = between(s->axes[i].n, a[i], b[i], draw(s));
    }
}

/* Another place of an axis: of numbers a step up or down of 1, 2 to 3, 4 to 7, ... places, each of these as probable. */
static uint32_t mutated(const struct probe_axis *axis, uint32_t place, uint64_t bits)
{
    if (axis->names) return (uint32_t)((place + 1 + random_below(bits, axis->n - 1)) % axis->n);
    const int widest = 63 - __builtin_clzll(axis->n);
    const uint64_t least = UINT64_C(1) << random_below(bits << 8, (uint64_t)widest + 1);
    const uint64_t step = least + random_below(bits << 16, least);
    if (bits & 1) return place + step < axis->n ? place + (uint32_t)step : (uint32_t)(axis->n - 1);
    return place > step ? place - (uint32_t)step : 0;
}

static void mutate_axis(struct nsga2 *s, uint32_t *child, size_t i)
{
    if (s->axes[i].n > 1) child[i] = mutated(&s->axes[i], child[i], draw(s));
}

/* Mutate one axis in the mean, and `forced` ones for certain. */
static void mutate(struct nsga2 *s, uint32_t *child, size_t forced)
{
    enum { BITS = 16, A_DRAW = 64 / BITS };
    uint64_t bits = 0;
    for (size_t i = 0; i < s->n_axes; i++, bits >>= BITS) {
        if (i % A_DRAW == 0) bits = draw(s);
        if ((bits & ((1 << BITS) - 1)) * s->n_axes < 1 << BITS) mutate_axis(s, child, i);
    }
    for (; forced > 0; forced--) mutate_axis(s, child, random_below(draw(s), s->n_axes));
}

static uint64_t index_of(const struct nsga2 *s, const uint32_t *places)
{
    uint64_t wide[SPACE_AXES_MAX];
    for (size_t i = 0; i < s->n_axes; i++) wide[i] = places[i];
    return probe_index(s->probe, wide);
}

/* Make a child behind the parents, as number `child` of the generation. It may be a point that was evaluated before. */
static void make_child(struct nsga2 *s)
{
    struct population *p = &s->now;
    const size_t at = p->parents + s->child;
    uint32_t *child = p->places + at * s->n_axes;
    begin_child(s);
    const uint32_t *a = p->places + tournament(s) * s->n_axes, *b = p->places + tournament(s) * s->n_axes;
    recombine(s, a, b, child);
    mutate(s, child, 0);
    p->points[at] = index_of(s, child);
    __builtin_prefetch(slot_of(s, p->points[at]), 1); /* it is looked at when all children are made */
}

/* Take the child into the population, mutated until it is a new point. */
static void take_child(struct nsga2 *s)
{
    struct population *p = &s->now;
    const size_t at = p->parents + s->child;
    uint32_t *child = p->places + at * s->n_axes;
    s->child += s->size; /* random numbers of its own */
    begin_child(s);
    s->child -= s->size;
    for (size_t i = 1; !is_new(s, p->points[at]); i++) {
        if (i == TRIES) return;
        mutate(s, child, i);
        p->points[at] = index_of(s, child);
    }
    p->points[p->n] = p->points[at];
    if (p->n < at) memcpy(p->places + p->n * s->n_axes, child, s->n_axes * sizeof *child);
    p->n++;
}

/* Add a random point behind the parents, unless nothing new comes. */
static void add_random(struct nsga2 *s)
{
    struct population *p = &s->now;
    begin_child(s);
    for (size_t i = 0; i < TRIES; i++) {
        for (size_t a = 0; a < s->n_axes; a++) p->places[p->n * s->n_axes + a] = (uint32_t)random_below(draw(s), s->axes[a].n);
        p->points[p->n] = index_of(s, p->places + p->n * s->n_axes);
        if (!is_new(s, p->points[p->n])) continue;
        p->n++;
        return;
    }
}

/* ---- selection -------------------------------------------------------------------------------------------------------------- */

/* Sort a list of indices by keys[i * stride], ties by index; by gaps, as lists are short. */
static void sort_by(struct nsga2 *s, uint32_t *list, size_t n, const double *keys, size_t stride)
{
    static const size_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    struct keyed *sorted = s->sorted;
    for (size_t i = 0; i < n; i++) sorted[i] = (struct keyed){keys[list[i] * stride], list[i]};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (size_t i = gaps[g]; i < n; i++) {
            const struct keyed moving = sorted[i];
            size_t k = i;
            for (; k >= gaps[g]; k -= gaps[g]) {
                const struct keyed before = sorted[k - gaps[g]];
                if (before.key < moving.key || (before.key == moving.key && before.i < moving.i)) break;
                sorted[k] = before;
            }
            sorted[k] = moving;
        }
    for (size_t i = 0; i < n; i++) list[i] = sorted[i].i;
}

/* The crowding distances of the points of a front, and which of them: list[0..n). */
static void crowd(struct nsga2 *s, uint32_t *list, size_t n)
{
    struct population *p = &s->now;
    for (size_t i = 0; i < n; i++) p->crowding[list[i]] = 0;
    for (size_t j = 0; j < s->m; j++) {
        const double *values = p->values + j;
        sort_by(s, list, n, values, s->m);
        const double span = values[list[n - 1] * s->m] - values[list[0] * s->m];
        p->crowding[list[0]] = p->crowding[list[n - 1]] = INFINITY;
        for (size_t i = 1; i + 1 < n && span > 0; i++)
            p->crowding[list[i]] += (values[list[i + 1] * s->m] - values[list[i - 1] * s->m]) / span;
    }
}

static void sort_sparsest_first(struct nsga2 *s, uint32_t *list, size_t n)
{
    for (size_t i = 0; i < n; i++) s->scratch[list[i]] = -s->now.crowding[list[i]];
    sort_by(s, list, n, s->scratch, 1);
}

/* Peel fronts off the n feasible points of `left` until the next population is full, into s->order. */
static void take_fronts(struct nsga2 *s, size_t n)
{
    struct population *p = &s->now;
    for (uint32_t rank = 0; n > 0 && s->next.n < s->size; rank++) {
        for (size_t i = 0; i < n; i++) memcpy(s->scratch + i * s->m, p->values + s->left[i] * s->m, s->m * sizeof *s->scratch);
        front_compute(s->scratch, n, (int)s->m, s->keep);
        size_t on = 0, rest = 0;
        uint32_t *front = s->order + 2 * s->size; /* room behind */
        for (size_t i = 0; i < n; i++) {
            if (s->keep[i])
                front[on++] = s->left[i];
            else
                s->left[rest++] = s->left[i];
        }
        for (size_t i = 0; i < on; i++) p->rank[front[i]] = rank;
        crowd(s, front, on);
        const size_t room = s->size - s->next.n;
        if (on > room) sort_sparsest_first(s, front, on);
        memcpy(s->order + s->next.n, front, (on < room ? on : room) * sizeof *front);
        s->next.n += on < room ? on : room;
        n = rest;
    }
}

/* Fill what is left of the next population with infeasible points, the nearest to feasible ones first. */
static void take_infeasible(struct nsga2 *s)
{
    struct population *p = &s->now;
    uint32_t *list = s->order + 2 * s->size;
    size_t n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (p->violations[i] > 0) list[n++] = i;
    sort_by(s, list, n, p->violations, 1);
    for (size_t i = 0; i < n && s->next.n < s->size; i++) {
        p->rank[list[i]] = (uint32_t)(2 * s->size + i);
        p->crowding[list[i]] = 0;
        s->order[s->next.n++] = list[i];
    }
}

static void copy_individual(const struct nsga2 *s, const struct population *from, size_t i, struct population *to, size_t k)
{
    to->points[k] = from->points[i];
    memcpy(to->places + k * s->n_axes, from->places + i * s->n_axes, s->n_axes * sizeof *to->places);
    memcpy(to->values + k * s->m, from->values + i * s->m, s->m * sizeof *to->values);
    to->violations[k] = from->violations[i];
    to->rank[k] = from->rank[i];
    to->crowding[k] = from->crowding[i];
}

static void select_next(struct nsga2 *s)
{
    size_t feasible = 0;
    s->next.n = 0;
    for (uint32_t i = 0; i < s->now.n; i++)
        if (s->now.violations[i] == 0) s->left[feasible++] = i;
    take_fronts(s, feasible);
    take_infeasible(s);
    for (size_t k = 0; k < s->next.n; k++) copy_individual(s, &s->now, s->order[k], &s->next, k);
    const struct population old = s->now;
    s->now = s->next;
    s->next = old;
    s->now.parents = s->now.n;
}

/* ---- the search ------------------------------------------------------------------------------------------------------------- */

static void add_to_front(struct nsga2 *s, const uint64_t *points, const double *values, const double *violations, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (violations[i] == 0) front_add(s->front, points[i], values + i * s->m);
}

/* Evaluate n points. False: it is over. */
static bool evaluate(struct nsga2 *s, const uint64_t *points, double *values, double *violations, size_t n)
{
    const struct search_options *o = s->options;
    s->failed = !probe_evaluate(s->probe, points, n, values, violations);
    if (s->failed) return false;
    add_to_front(s, points, values, violations, n);
    s->evaluations += n;
    s->stopped = (o->visit && !o->visit(o->user, points, values, violations, n)) || (o->stop && *o->stop);
    return !s->stopped;
}

/* Evaluate what stands behind the parents, as far as evaluations are left, and choose the next parents. False: it is over. */
static bool evaluate_children(struct nsga2 *s)
{
    struct population *p = &s->now;
    const uint64_t left = s->options->evaluations - s->evaluations;
    if (p->n - p->parents > left) p->n = p->parents + left;
    if (!evaluate(s, p->points + p->parents, p->values + p->parents * s->m, p->violations + p->parents, p->n - p->parents))
        return false;
    select_next(s);
    return true;
}

static void evolve(struct nsga2 *s)
{
    for (s->child = 0; s->child < s->size; s->child++) add_random(s);
    bool going = evaluate_children(s);
    for (int barren = 0; going && s->evaluations < s->options->evaluations && barren < BARREN_GENERATIONS_MAX;) {
        s->generation++;
        for (s->child = 0; s->child < s->size; s->child++) make_child(s);
        for (s->child = 0; s->child < s->size; s->child++) take_child(s);
        barren = s->now.n > s->now.parents ? 0 : barren + 1;
        going = evaluate_children(s);
    }
}

/* Evaluate every point of a lattice that has few. */
static void evaluate_all(struct nsga2 *s, uint64_t count)
{
    uint64_t places[SPACE_AXES_MAX] = {0};
    for (uint64_t done = 0; done < count;) {
        size_t n = 0;
        for (; n < s->size && done < count; done++) {
            s->now.points[n++] = probe_index(s->probe, places);
            for (size_t a = s->n_axes; a-- > 0;) {
                if (++places[a] < s->axes[a].n) break;
                places[a] = 0;
            }
        }
        if (!evaluate(s, s->now.points, s->now.values, s->now.violations, n)) return;
    }
}

static void nsga2_init(struct nsga2 *s)
{
    s->axes = probe_axes(s->probe, &s->n_axes);
    population_init(&s->now, 2 * s->size, s->m, s->n_axes);
    population_init(&s->next, 2 * s->size, s->m, s->n_axes);
    s->recent = xcalloc(RECENT, sizeof *s->recent);
    s->order = xcalloc(4 * s->size, sizeof *s->order);
    s->left = xcalloc(2 * s->size, sizeof *s->left);
    s->keep = xcalloc(2 * s->size, sizeof *s->keep);
    s->scratch = xcalloc(2 * s->size * s->m, sizeof *s->scratch);
    s->sorted = xcalloc(2 * s->size, sizeof *s->sorted);
    const bool minimised[PROBE_OBJECTIVES_MAX] = {false};
    s->front = front_new((int)s->m, minimised);
}

static void nsga2_release(struct nsga2 *s)
{
    population_release(&s->now);
    population_release(&s->next);
    free(s->recent);
    front_free(s->front);
    free(s->order);
    free(s->left);
    free(s->keep);
    free(s->scratch);
    free(s->sorted);
}

static void result_of_front(struct nsga2 *s, struct search_result *ret)
{
    const uint64_t *points;
    const double *values;
    const size_t n = front_finish(s->front, &points, &values);
    struct archive *distinct = archive_new(s->m, SEARCH_TOLERANCE);
    for (size_t i = 0; i < n; i++) {
        archive_add(distinct, values + i * s->m, (struct lattice_point){.point = points[i]});
        archive_settle(distinct);
    }
    search_result_of(distinct, s->m, ret);
    archive_free(distinct);
}

bool nsga2_search(struct probe *p, size_t population, const struct search_options *options, struct search_result *ret)
{
    struct nsga2 s = {.probe = p, .options = options, .m = probe_objectives(p), .size = population};
    nsga2_init(&s);
    const uint64_t count = probe_count(p);
    if (count <= options->evaluations)
        evaluate_all(&s, count);
    else
        evolve(&s);
    result_of_front(&s, ret);
    ret->evaluations = s.evaluations;
    ret->ended = !s.failed && !s.stopped && s.evaluations == count;
    nsga2_release(&s);
    return !s.failed;
}
