/* The boxes of a certificate as they stand in the database: read, and counted. */
#include "search/check_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "3" or "0..3" at *at, which then stands behind it. */
static bool parse_ends(const char **at, uint32_t places, uint32_t *ret_lo, uint32_t *ret_hi)
{
    uint32_t *const ends[] = {ret_lo, ret_hi};
    for (int i = 0; i < 2; i++) {
        if (**at < '0' || **at > '9') return false;
        char *end;
        const unsigned long long v = strtoull(*at, &end, 10);
        if (v >= places) return false;
        *ends[i] = (uint32_t)v;
        *at = end;
        if (i == 0 && strncmp(end, "..", 2) != 0) {
            *ret_hi = *ret_lo;
            return true;
        }
        if (i == 0) *at += 2;
    }
    return *ret_lo <= *ret_hi;
}

static bool parse_places(const struct checked_space *s, const char *text, uint32_t *lo)
{
    const char *at = text;
    for (size_t a = 0; a < s->axes; a++) {
        if (!parse_ends(&at, s->places[a], &lo[a], &lo[s->axes + a])) return false;
        if (a + 1 < s->axes && *at++ != ' ') return false;
    }
    return *at == '\0';
}

static bool parse_best(const char *text, double *ret, size_t n)
{
    char *copy = xstrdup(text), *rest = copy, *word, *words = NULL;
    size_t i = 0;
    bool ok = true;
    for (; ok && (word = strtok_r(rest, " ", &words)) != NULL; i++, rest = NULL)
        ok = i < n && text_parse_f64(word, &ret[i]) && !isnan(ret[i]);
    free(copy);
    return ok && i == n;
}

static enum box_end parse_end(const char *why)
{
    int e = 0;
    while (box_end_names[e] && strcmp(box_end_names[e], why) != 0) e++;
    return (enum box_end)e;
}

/* Room for one more box; its ends stand at `ends` + 2 * axes * n. */
static void extend(struct checked_space *s)
{
    if (s->n < s->capacity) return;
    s->capacity = 2 * s->capacity + 1024;
    s->boxes = xrealloc(s->boxes, s->capacity, sizeof *s->boxes);
    s->ends = xrealloc(s->ends, s->capacity * 2 * (s->axes + 1), sizeof *s->ends);
}

static bool read_best(struct checking *c, const struct certificate_line *l, struct checked_box *b)
{
    const size_t n = c->sweep->n_objectives;
    if (c->n_best + n > c->best_capacity) {
        c->best_capacity = 2 * c->best_capacity + n + 1024;
        c->best = xrealloc(c->best, c->best_capacity, sizeof *c->best);
    }
    if (!l->best || !parse_best(l->best, c->best + c->n_best, n))
        return checking_wrong(c, "box %" PRIu64 " of %s has not %zu bounds, one for each objective: \"%s\"", l->box, l->model, n,
                              l->best ? l->best : "");
    b->best = c->n_best;
    c->n_best += n;
    return true;
}

/* The axis, and the place on it just below or just above the box. All boxes that are worse along it lie on the same side. */
static bool read_worse(struct checking *c, const struct certificate_line *l, struct checked_space *s, struct checked_box *b)
{
    const uint32_t *lo = s->ends + s->n * 2 * s->axes, *hi = lo + s->axes;
    size_t a = 0;
    while (a < s->axes && !(l->along && strcmp(space_axis_name(s->space, a), l->along) == 0)) a++;
    const bool is_below = a < s->axes && l->than + 1 == lo[a], is_above = a < s->axes && l->than == (int64_t)hi[a] + 1;
    if (a == s->axes || a >= LATTICE_MOVES_MAX || l->than < 0 || !(is_below || (is_above && l->than < s->places[a])))
        return checking_wrong(c, "box %" PRIu64 " of %s is said to be worse than place %lld of %s, which is not beside it", l->box,
                              l->model, (long long)l->than, l->along ? l->along : "no axis");
    *(is_below ? &s->downward : &s->upward) |= UINT32_C(1) << a;
    if (s->upward & s->downward)
        return checking_wrong(c, "boxes of %s are worse than places below them and above them along %s", l->model, l->along);
    if (lattice_axis_is_split(s->lattice, a) || checking_is_of_front(c, (size_t)(s - c->spaces), a))
        return checking_wrong(c, "box %" PRIu64 " of %s is said to be worse along %s, which has names or tells fronts apart",
                              l->box, l->model, l->along);
    b->along = (uint32_t)a;
    b->than = (uint32_t)l->than;
    return true;
}

/* What closed the box. */
static bool read_end(struct checking *c, const struct certificate_line *l, struct checked_space *s, struct checked_box *b)
{
    b->end = parse_end(l->why);
    b->best = SIZE_MAX;
    if (b->end == BOX_END_COUNT)
        return checking_wrong(c, "box %" PRIu64 " of %s is closed as \"%s\", which is none of the reasons", l->box, l->model,
                              l->why);
    if (b->end == BOX_REFUSED) {
        const size_t i = l->constraint ? sweep_constraint_find(c->sweep, l->constraint) : SIZE_MAX;
        if (i == SIZE_MAX)
            return checking_wrong(c, "box %" PRIu64 " of %s is refused by a constraint that the sweep has not", l->box, l->model);
        b->constraint = (uint32_t)i;
    }
    if (b->end == BOX_DOMINATED) {
        const size_t by = l->by_model ? checking_space(c, l->by_model) : SIZE_MAX;
        b->by = by == SIZE_MAX || l->by_point < 0 ? SIZE_MAX : checking_row(c, by, (uint64_t)l->by_point);
        if (b->by == SIZE_MAX)
            return checking_wrong(c, "box %" PRIu64 " of %s is dominated by point %lld of %s, which is no row of the front", l->box,
                                  l->model, (long long)l->by_point, l->by_model ? l->by_model : "no model");
    }
    if (b->end == BOX_WORSE) return read_worse(c, l, s, b);
    return (b->end != BOX_DOMINATED && b->end != BOX_OPEN) || read_best(c, l, b);
}

static bool visit_box(void *user, const struct certificate_line *l)
{
    struct checking *c = user;
    const size_t m = checking_space(c, l->model);
    if (m == SIZE_MAX) return checking_wrong(c, "box %" PRIu64 " is of a model \"%s\", which the sweep has not", l->box, l->model);
    struct checked_space *s = &c->spaces[m];
    extend(s);
    if (!parse_places(s, l->places, s->ends + s->n * 2 * s->axes))
        return checking_wrong(c, "box %" PRIu64 " of %s has places \"%s\", which the lattice has not", l->box, l->model, l->places);
    struct checked_box *b = &s->boxes[s->n];
    *b = (struct checked_box){.number = l->box};
    if (!read_end(c, l, s, b)) return false;
    s->n++;
    return !checking_stopped(c);
}

/* The counts of the certificate, and how many points its evaluated boxes have: no more than it evaluated. */
static void check_counts(struct checking *c)
{
    const struct certificate_head *h = &c->run.head;
    uint64_t counts[BOX_END_COUNT] = {0};
    double evaluated = 0;
    for (size_t m = 0; m < c->n_spaces; m++) {
        const struct checked_space *s = &c->spaces[m];
        for (size_t i = 0; i < s->n; i++) {
            const uint32_t *lo = s->ends + i * 2 * s->axes;
            counts[s->boxes[i].end]++;
            if (s->boxes[i].end == BOX_EVALUATED) evaluated += (double)lattice_volume(s->lattice, lo, lo + s->axes);
        }
    }
    for (int e = 0; e < BOX_END_COUNT; e++)
        if (counts[e] != h->boxes[e])
            checking_wrong(c, "there are %" PRIu64 " boxes that are %s; the certificate says %" PRIu64, counts[e], box_end_names[e],
                           h->boxes[e]);
    if (evaluated > (double)h->evaluations)
        checking_wrong(c, "the evaluated boxes have %.0f points; the certificate says that %" PRIu64 " were evaluated", evaluated,
                       h->evaluations);
    if (h->complete != (counts[BOX_OPEN] == 0))
        checking_wrong(c, "the certificate says that it is %s, and %" PRIu64 " boxes are open",
                       h->complete ? "complete" : "not complete", counts[BOX_OPEN]);
}

bool check_read_boxes(struct checking *c)
{
    checking_begin(c);
    bool ok = certificate_read_boxes(c->reader, c->run.run, visit_box, c, c->diags);
    if (checking_stopped(c)) return false;
    if (ok && c->wrong == 0) check_counts(c);
    if (!ok && !c->wrong) c->wrong = 1;
    if (c->wrong) checking_end(c, "counts", "what is stored of the boxes");
    return c->wrong == 0;
}
