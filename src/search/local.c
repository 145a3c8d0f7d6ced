#include "search/local.h"

#include "base/random.h"
#include "base/xalloc.h"
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

/* ---- the archive ------------------------------------------------------------------------------------------------------------ */

struct archive {
    size_t m, n, capacity;
    uint64_t *members;
    double *values;   /* n * m */
    double *limits;   /* the same with the tolerance: what is at or above all of a row is no better */
    size_t near, far; /* all members before have been looked around so far */
    size_t last;      /* the member that was as good as the point asked for last: it often is again */
};

/* What is no better than v by more than a relative 1e-9 is at or above this. */
static double limit_of(double v)
{
    const double tolerance = 1e-9;
    return v - tolerance * fabs(v);
}

static bool at_or_above(const double *point, const double *limits, size_t m)
{
    for (size_t j = 0; j < m; j++)
        if (point[j] < limits[j]) return false;
    return true;
}

/* Is a member as good as the point in all objectives? */
static bool covered(struct archive *a, const double *point)
{
    if (a->last < a->n && at_or_above(point, a->limits + a->last * a->m, a->m)) return true;
    for (size_t i = 0; i < a->n; i++) {
        if (!at_or_above(point, a->limits + i * a->m, a->m)) continue;
        a->last = i;
        return true;
    }
    return false;
}

/* Drive out the members that the point is as good as. */
static void drive_out(struct archive *a, const double *point)
{
    size_t kept = 0, near = 0, far = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (at_or_above(a->values + i * a->m, point, a->m)) continue;
        near += i < a->near;
        far += i < a->far;
        if (kept < i) {
            a->members[kept] = a->members[i];
            memcpy(a->values + kept * a->m, a->values + i * a->m, a->m * sizeof *a->values);
            memcpy(a->limits + kept * a->m, a->limits + i * a->m, a->m * sizeof *a->limits);
        }
        kept++;
    }
    a->n = kept;
    a->near = near;
    a->far = far;
}

static void add(struct archive *a, uint64_t point, const double *values)
{
    if (a->n == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : STARTS;
        a->members = xrealloc(a->members, a->capacity, sizeof *a->members);
        a->values = xrealloc(a->values, a->capacity, a->m * sizeof *a->values);
        a->limits = xrealloc(a->limits, a->capacity, a->m * sizeof *a->limits);
    }
    a->members[a->n] = point;
    for (size_t j = 0; j < a->m; j++) {
        a->values[a->n * a->m + j] = values[j];
        a->limits[a->n * a->m + j] = limit_of(values[j]);
    }
    a->n++;
}

/* ---- the search ------------------------------------------------------------------------------------------------------------- */

struct descent {
    uint64_t point;
    double violation;
    bool looked;
};

struct local {
    struct probe *probe;
    const struct search_options *options;
    struct archive archive;
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

static void take(struct local *l)
{
    for (size_t i = 0; i < l->n; i++) {
        const double *values = l->values + i * l->archive.m;
        if (l->violations[i] > 0) {
            if (!l->archive.n) add_descent(l, l->points[i], l->violations[i]);
        } else if (!covered(&l->archive, values)) {
            drive_out(&l->archive, values);
            add(&l->archive, l->points[i], values);
        }
    }
}

/* Evaluate the batch, and take what is good. False: it is over. */
static bool evaluate(struct local *l)
{
    const struct search_options *o = l->options;
    if (o->evaluations && l->n > o->evaluations - l->evaluations) l->n = o->evaluations - l->evaluations;
    l->values = xrealloc(l->values, l->capacity, l->archive.m * sizeof *l->values);
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
    struct archive *a = &l->archive;
    bool some = false, far = a->near == a->n;
    size_t *next = far ? &a->far : &a->near;
    for (size_t i = 0; i < MEMBERS && *next < a->n; i++, some = true) {
        const uint64_t member = a->members[(*next)++];
        propose_around(l, member, far);
        if (far) propose_askew(l, member);
    }
    for (size_t i = 0; !a->n && i < l->n_descents; i++) {
        if (l->descents[i].looked) continue;
        some = l->descents[i].looked = true;
        propose_around(l, l->descents[i].point, false);
        propose_around(l, l->descents[i].point, true);
    }
    return some;
}

bool local_search(struct probe *p, const struct search_options *options, struct search_result *ret)
{
    struct local l = {.probe = p, .options = options, .archive = {.m = probe_objectives(p)}};
    for (uint64_t i = 0; i < STARTS; i++) propose(&l, probe_random(p, options->seed, i));
    bool going = evaluate(&l);
    while (going && propose_batch(&l)) going = !l.n || evaluate(&l);
    *ret = (struct search_result){.points = xcalloc(l.archive.n, sizeof *ret->points),
                                  .values = l.archive.values,
                                  .n = l.archive.n,
                                  .evaluations = l.evaluations,
                                  .ended = !l.failed && !l.stopped};
    for (size_t i = 0; i < l.archive.n; i++) ret->points[i] = l.archive.members[i];
    free(l.archive.members);
    free(l.archive.limits);
    seen_release(&l.seen);
    free(l.points);
    free(l.values);
    free(l.violations);
    return !l.failed;
}

void search_result_release(struct search_result *r)
{
    free(r->points);
    free(r->values);
    *r = (struct search_result){0};
}
