#include "search/local.h"

#include "base/random.h"
#include "base/xalloc.h"
#include "search/result.h"
#include "search/seen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STARTS = 256,  /* random points to begin with */
    MEMBERS = 32,  /* that are looked around in a batch */
    DESCENTS = 8,  /* infeasible points that are followed towards feasible ones */
    ASKEW = 32,    /* points beside a member on two axes */
    NEAR_STEPS = 2 /* places up and down an axis that are near; far ones are twice as far each: 4, 8, 16, ... */
};

/* ---- the search ------------------------------------------------------------------------------------------------------------- */

/* A point that became a member of the archive, and may have been driven out since. */
struct candidate {
    uint64_t point;
    double values[PROBE_OBJECTIVES_MAX];
};

struct descent {
    uint64_t point;
    double violation;
    bool looked;
};

struct local {
    struct probe *probe;
    const struct search_options *options;
    size_t m;
    struct archive *archive;
    struct candidate *candidates; /* all that ever became members, in the order in which they came */
    size_t n_candidates, room;
    size_t near, far; /* all candidates before have been looked around so far, or are members no more */
    struct seen seen;
    struct descent descents[DESCENTS]; /* the infeasible points that are nearest to feasible ones, while there are none of these */
    size_t n_descents;
    uint64_t *points; /* of the batch */
    double *values, *violations;
    size_t n, capacity;
    uint64_t evaluations;
    bool failed, stopped;
};

static void propose(struct local *l, uint64_t point)
{
    if (!seen_add(&l->seen, point)) return;
    if (l->n == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 1024;
        l->points = xrealloc(l->points, l->capacity, sizeof *l->points);
    }
    l->points[l->n++] = point;
}

/* Propose the point with another place on axis a, if there is that place. */
static void propose_step(struct local *l, size_t a, uint64_t *places, uint64_t place)
{
    size_t n;
    const uint64_t here = places[a];
    if (place >= probe_axes(l->probe, &n)[a].n || place == here) return;
    places[a] = place;
    propose(l, probe_index(l->probe, places));
    places[a] = here;
}

/* Propose the points beside a point: near ones and, on axes of names, all; or those that are far. */
static void propose_around(struct local *l, uint64_t point, bool far)
{
    size_t n;
    const struct probe_axis *axes = probe_axes(l->probe, &n);
    uint64_t places[SPACE_NEIGHBOURS_MAX];
    probe_places(l->probe, point, places);
    for (size_t a = 0; a < n; a++) {
        if (axes[a].n == 1 || (axes[a].names && far)) continue;
        for (uint64_t place = 0; axes[a].names && place < axes[a].n; place++) propose_step(l, a, places, place);
        for (uint64_t step = 1; !axes[a].names && !far && step <= NEAR_STEPS; step++) {
            propose_step(l, a, places, places[a] - step); /* below 0 it is beyond the last place */
            propose_step(l, a, places, places[a] + step);
        }
        for (uint64_t step = (uint64_t)2 * NEAR_STEPS; far && step < axes[a].n; step *= 2) {
            propose_step(l, a, places, places[a] - step);
            propose_step(l, a, places, places[a] + step);
        }
    }
}

/* Propose a few points beside a point on two axes, a place or two up or down each: what no walk along single axes comes to. */
static void propose_askew(struct local *l, uint64_t point)
{
    size_t n;
    const struct probe_axis *axes = probe_axes(l->probe, &n);
    for (uint64_t i = 0; n > 1 && i < ASKEW; i++) {
        uint64_t places[SPACE_NEIGHBOURS_MAX];
        probe_places(l->probe, point, places);
        for (uint64_t k = 0; k < 2; k++) {
            const uint64_t bits = random_at(l->options->seed, point, 2 * i + k), a = random_below(bits << 8, n);
            const uint64_t step = 1 + (bits >> 1 & 1), there = axes[a].names ? random_below(bits << 24, axes[a].n)
                                                               : bits & 1    ? places[a] + step
                                                                             : places[a] - step;
            if (there < axes[a].n) places[a] = there;
        }
        propose(l, probe_index(l->probe, places));
    }
}

/* Keep the infeasible points that are nearest to feasible ones, in that order. */
static void add_descent(struct local *l, uint64_t point, double violation)
{
    if (l->n_descents == DESCENTS && violation >= l->descents[DESCENTS - 1].violation) return;
    size_t i = l->n_descents < DESCENTS ? l->n_descents++ : DESCENTS - 1;
    for (; i > 0 && l->descents[i - 1].violation > violation; i--) l->descents[i] = l->descents[i - 1];
    l->descents[i] = (struct descent){.point = point, .violation = violation};
}

static void add_candidate(struct local *l, uint64_t point, const double *values)
{
    if (l->n_candidates == l->room) {
        l->room = l->room ? 2 * l->room : STARTS;
        l->candidates = xrealloc(l->candidates, l->room, sizeof *l->candidates);
    }
    struct candidate *c = &l->candidates[l->n_candidates++];
    c->point = point;
    memcpy(c->values, values, l->m * sizeof *values);
}

static void take(struct local *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const double *values = l->values + i * l->m;
        if (l->violations[i] == 0) {
            if (archive_add(l->archive, values, (struct lattice_point){.point = l->points[i]}))
                add_candidate(l, l->points[i], values);
        } else if (!l->n_candidates) {
            add_descent(l, l->points[i], l->violations[i]);
        }
    }
    archive_settle(l->archive);
}

/* The next candidate that is a member still and was not looked around so far; false: there is none. */
static bool next_member(struct local *l, size_t *next, uint64_t *ret)
{
    while (*next < l->n_candidates) {
        const struct candidate *c = &l->candidates[(*next)++];
        const size_t by = archive_cover(l->archive, c->values, SIZE_MAX);
        if (by == SIZE_MAX || archive_at(l->archive, by).point != c->point) continue;
        *ret = c->point;
        return true;
    }
    return false;
}

/* Evaluate the batch, and take what is good. False: it is over. */
static bool evaluate(struct local *l)
{
    const struct search_options *o = l->options;
    if (o->evaluations && l->n > o->evaluations - l->evaluations) l->n = o->evaluations - l->evaluations;
    l->values = xrealloc(l->values, l->capacity, l->m * sizeof *l->values);
    l->violations = xrealloc(l->violations, l->capacity, sizeof *l->violations);
    l->failed = !probe_evaluate(l->probe, l->points, l->n, l->values, l->violations);
    if (l->failed) return false;
    take(l);
    l->evaluations += l->n;
    l->stopped = (o->visit && !o->visit(o->user, l->points, l->values, l->violations, l->n)) || (o->stop && *o->stop) ||
                 (o->evaluations && l->evaluations >= o->evaluations);
    l->n = 0;
    return !l->stopped;
}

/* Propose the next batch: what is near members that were not looked around; when there are none, what is far from those. As long
 * as there is no member, what is near the infeasible points that are nearest to feasible ones. False: there is nothing left. */
static bool propose_batch(struct local *l)
{
    uint64_t member;
    size_t n = 0;
    for (; n < MEMBERS && next_member(l, &l->near, &member); n++) propose_around(l, member, false);
    const bool far = n == 0;
    for (; far && n < MEMBERS && next_member(l, &l->far, &member); n++) {
        propose_around(l, member, true);
        propose_askew(l, member);
    }
    for (size_t i = 0; !l->n_candidates && i < l->n_descents; i++) {
        if (l->descents[i].looked) continue;
        n++;
        l->descents[i].looked = true;
        propose_around(l, l->descents[i].point, false);
        propose_around(l, l->descents[i].point, true);
    }
    return n > 0;
}

bool local_search(struct probe *p, const struct search_options *options, struct search_result *ret)
{
    struct local l = {.probe = p, .options = options, .m = probe_objectives(p)};
    l.archive = archive_new(l.m, SEARCH_TOLERANCE);
    for (uint64_t i = 0; i < STARTS; i++) propose(&l, probe_random(p, options->seed, i));
    bool going = evaluate(&l);
    while (going && propose_batch(&l)) going = !l.n || evaluate(&l);
    search_result_of(l.archive, l.m, ret);
    ret->evaluations = l.evaluations;
    ret->ended = !l.failed && !l.stopped;
    archive_free(l.archive);
    seen_release(&l.seen);
    free(l.candidates);
    free(l.points);
    free(l.values);
    free(l.violations);
    return !l.failed;
}
