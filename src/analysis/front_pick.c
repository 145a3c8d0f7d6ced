#include "analysis/front_pick.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point, by its turn: what is picked first has the least. */
struct turn {
    size_t point, group;
    double rank; /* in its group: 0 the knee, then the extremes, then the others, evenly spread first */
    uint32_t extremes;
    bool knee;
};

struct scale {
    double best, worst; /* of a group, as to be minimised */
};

static double less(double v, bool maximise)
{
    return maximise ? -v : v;
}

static struct scale *scales_of(const double *values, const size_t *group, size_t n, size_t groups, size_t objectives,
                               const bool *maximise)
{
    struct scale *scales = xcalloc(groups * objectives, sizeof *scales);
    for (size_t i = 0; i < groups * objectives; i++) scales[i] = (struct scale){HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < objectives; j++) {
            struct scale *s = &scales[group[i] * objectives + j];
            double v = less(values[i * objectives + j], maximise[j]);
            s->best = fmin(s->best, v);
            s->worst = fmax(s->worst, v);
        }
    return scales;
}

/* Square of the distance to the ideal point of its front. */
static double distance(const double *v, const struct scale *scales, size_t objectives, const bool *maximise)
{
    double sum = 0;
    for (size_t j = 0; j < objectives; j++) {
        double range = scales[j].worst - scales[j].best;
        double d = range > 0 ? (less(v[j], maximise[j]) - scales[j].best) / range : 0;
        sum += d * d;
    }
    return sum;
}

/* Mark the knee and the extremes of every group. */
static void mark(struct turn *turns, const double *values, size_t n, size_t groups, size_t objectives, const bool *maximise)
{
    size_t *group = xcalloc(n, sizeof *group);
    for (size_t i = 0; i < n; i++) group[i] = turns[i].group;
    struct scale *scales = scales_of(values, group, n, groups, objectives, maximise);
    const size_t kinds = objectives + 1; /* the knee is the last */
    size_t *chosen = xcalloc(groups * kinds, sizeof *chosen);
    double *nearest = xcalloc(groups * kinds, sizeof *nearest);
    for (size_t i = 0; i < groups * kinds; i++) nearest[i] = HUGE_VAL;
    for (size_t i = 0; i < n; i++) {
        const struct scale *s = &scales[group[i] * objectives];
        const double *v = values + i * objectives, d = distance(v, s, objectives, maximise);
        for (size_t j = 0; j < kinds; j++) {
            size_t at = group[i] * kinds + j;
            bool may = j == objectives || less(v[j], maximise[j]) <= s[j].best;
            if (may && d < nearest[at]) nearest[at] = d, chosen[at] = i;
        }
    }
    for (size_t g = 0; g < groups; g++)
        for (size_t j = kinds; j-- > 0;) {
            if (!isfinite(nearest[g * kinds + j])) continue; /* an empty group */
            struct turn *t = &turns[chosen[g * kinds + j]];
            if (j == objectives)
                t->knee = true, t->rank = 0;
            else
                t->extremes |= UINT32_C(1) << j, t->rank = t->knee ? 0 : (double)(j + 1);
        }
    free(nearest);
    free(chosen);
    free(scales);
    free(group);
}

/* The digits of i behind the point and the other way round: 1/2, 1/4, 3/4, 1/8, ... */
static double van_der_corput(size_t i)
{
    double v = 0;
    for (double digit = 0.5; i; i >>= 1, digit /= 2)
        if (i & 1) v += digit;
    return v;
}

static int by_turn(const void *a, const void *b)
{
    const struct turn *s = a, *t = b;
    if (s->rank != t->rank) return s->rank < t->rank ? -1 : 1;
    if (s->group != t->group) return s->group < t->group ? -1 : 1;
    return (s->point > t->point) - (s->point < t->point);
}

static int by_point(const void *a, const void *b)
{
    const struct picked *s = a, *t = b;
    return (s->point > t->point) - (s->point < t->point);
}

/* Ranks of those that are neither knee nor extreme: along the front as its points come, in ever smaller steps. */
static void spread(struct turn *turns, size_t n, size_t groups, size_t objectives)
{
    size_t *first = xcalloc(groups + 1, sizeof *first), *others = xcalloc(n + 1, sizeof *others);
    for (size_t i = 0; i < n; i++) first[turns[i].group + 1] += !turns[i].knee && !turns[i].extremes;
    for (size_t g = 0; g < groups; g++) first[g + 1] += first[g];
    size_t *at = xcalloc(groups + 1, sizeof *at);
    for (size_t i = 0; i < n; i++)
        if (!turns[i].knee && !turns[i].extremes) others[first[turns[i].group] + at[turns[i].group]++] = i;
    for (size_t g = 0; g < groups; g++) {
        size_t count = first[g + 1] - first[g], rank = objectives + 1;
        for (size_t i = 1; count > 0 && rank <= objectives + count; i++) {
            struct turn *t = &turns[others[first[g] + (size_t)(van_der_corput(i) * (double)count)]];
            if (t->rank < 0) t->rank = (double)rank++;
        }
    }
    free(at);
    free(first);
    free(others);
}

size_t front_pick(const double *values, const size_t *group, size_t n, size_t groups, size_t objectives, const bool *maximise,
                  size_t room, struct picked *ret)
{
    struct turn *turns = xcalloc(n + 1, sizeof *turns);
    for (size_t i = 0; i < n; i++) turns[i] = (struct turn){.point = i, .group = group[i], .rank = -1};
    mark(turns, values, n, groups, objectives, maximise);
    spread(turns, n, groups, objectives);
    qsort(turns, n, sizeof *turns, by_turn);
    size_t picked = room < n ? room : n, knees = 0;
    while (knees < n && turns[knees].rank == 0) knees++;
    for (size_t i = 0; i < picked; i++) {
        size_t at = knees > room ? i * knees / room : i;
        ret[i] = (struct picked){turns[at].point, turns[at].extremes, turns[at].knee};
    }
    qsort(ret, picked, sizeof *ret, by_point);
    free(turns);
    return picked;
}
