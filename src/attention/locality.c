#include "attention/locality.h"

#include "attention/locality_state.h"
#include "base/xalloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct locality_options locality_defaults = {.intervals = 5, .edges = {-10, -6, -3, -1, 0}, .recent = 16, .collinear = 0.98};

/* ---- life ------------------------------------------------------------------------------------------------------------------- */

bool locality_check(size_t d, const struct locality_options *o, struct diags *diags)
{
    struct srcloc nowhere = {0};
    if (d == 0) return diags_input(diags, nowhere, NULL, NULL, "a head of dimension 0");
    if (o->intervals < 3 || o->intervals > LOCALITY_INTERVALS_MAX)
        return diags_input(diags, nowhere, NULL, NULL, "intervals: %zu is outside of 3 to %d", o->intervals,
                           LOCALITY_INTERVALS_MAX);
    for (size_t i = 0; i < o->intervals; i++) {
        if (!isfinite(o->edges[i]))
            return diags_input(diags, nowhere, NULL, NULL, "edge %zu: %g is not finite", i + 1, o->edges[i]);
        if (i > 0 && o->edges[i] <= o->edges[i - 1])
            return diags_input(diags, nowhere, NULL, "right edges of the intervals from left to right",
                               "edge %zu: %g does not grow from %g", i + 1, o->edges[i], o->edges[i - 1]);
    }
    if (o->edges[o->intervals - 1] < 0 || o->edges[o->intervals - 1] > 0)
        return diags_input(diags, nowhere, NULL, NULL, "edge %zu: the last edge is 0, not %g", o->intervals,
                           o->edges[o->intervals - 1]);
    if (o->recent < 1)
        return diags_input(diags, nowhere, NULL, NULL, "recent: at least the newest position is always active, not 0");
    if (!(o->collinear >= 0 && o->collinear <= 1))
        return diags_input(diags, nowhere, NULL, NULL, "collinear: %g is not a cosine of 0 to 1", o->collinear);
    return true;
}

struct locality *locality_new(size_t d, const struct locality_options *o, struct diags *diags)
{
    if (!locality_check(d, o, diags)) return NULL;
    struct locality *l = xcalloc(1, sizeof *l);
    l->options = *o;
    l->d = d;
    dse_pieces_init(&l->pieces, o->edges, o->intervals);
    if (o->lines) {
        memcpy(l->pieces.slope, o->lines->slope, sizeof l->pieces.slope);
        memcpy(l->pieces.offset, o->lines->offset, sizeof l->pieces.offset);
        l->options.lines = NULL;
    }
    locality_centers_init(&l->centers, d, o->collinear);
    locality_caches_init(&l->caches, d);
    l->q = xcalloc(d, sizeof *l->q);
    l->q_float = xcalloc(d, sizeof *l->q_float);
    l->numerator = xcalloc(d, sizeof *l->numerator);
    return l;
}

void locality_free(struct locality *l)
{
    if (!l) return;
    locality_centers_release(&l->centers);
    locality_caches_release(&l->caches);
    void *const owned[] = {l->k,
                           l->v,
                           l->score,
                           l->exact,
                           l->low,
                           l->high,
                           l->mode,
                           l->count,
                           l->counted,
                           l->active_until,
                           l->large_at,
                           l->large,
                           l->by_centers.position,
                           l->exactly.position,
                           l->active,
                           l->q,
                           l->q_float,
                           l->numerator};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(l);
}

static void reserve(struct locality *l)
{
    if (l->n < l->capacity) return;
    size_t n = l->capacity = l->capacity ? 2 * l->capacity : 256;
    l->k = xrealloc(l->k, n * l->d, sizeof *l->k);
    l->v = xrealloc(l->v, n * l->d, sizeof *l->v);
    l->score = xrealloc(l->score, n, sizeof *l->score);
    l->exact = xrealloc(l->exact, n, sizeof *l->exact);
    l->low = xrealloc(l->low, n, sizeof *l->low);
    l->high = xrealloc(l->high, n, sizeof *l->high);
    l->mode = xrealloc(l->mode, n, sizeof *l->mode);
    l->count = xrealloc(l->count, n * l->options.intervals, sizeof *l->count);
    l->counted = xrealloc(l->counted, n, sizeof *l->counted);
    l->active_until = xrealloc(l->active_until, n, sizeof *l->active_until);
    l->large_at = xrealloc(l->large_at, n, sizeof *l->large_at);
    l->large = xrealloc(l->large, n, sizeof *l->large);
    l->by_centers.position = xrealloc(l->by_centers.position, n + 1, sizeof *l->by_centers.position);
    l->exactly.position = xrealloc(l->exactly.position, n + 1, sizeof *l->exactly.position);
    l->active = xrealloc(l->active, n, sizeof *l->active);
}

/* ---- scores and intervals --------------------------------------------------------------------------------------------------- */

/* Eight sums side by side: the compiler makes vectors of them. */
static double exact_score(const struct locality *l, size_t i)
{
    enum { LANES = 8 };
    const float *k = l->k + i * l->d;
    const double *q = l->q;
    double s[LANES] = {0};
    size_t j = 0;
    for (; j + LANES <= l->d; j += LANES)
        for (size_t x = 0; x < LANES; x++) s[x] += q[j + x] * (double)k[j + x];
    double sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; j < l->d; j++) sum += q[j] * (double)k[j];
    return sum;
}

/* Exact scores of positions from..n-1; returns the largest of them and of `max`. */
static double score_exactly(struct locality *l, size_t from, double max)
{
    for (size_t i = from; i < l->n; i++) {
        l->exact[i] = exact_score(l, i);
        max = l->exact[i] > max ? l->exact[i] : max;
    }
    return max;
}

static void find_exactly(struct locality *l)
{
    struct locality_found *f = &l->exactly;
    double max = score_exactly(l, 0, (double)-INFINITY);
    size_t n = 0;
    for (size_t i = 0; i < l->cached; i++) {
        f->position[n] = i;
        n += dse_pieces_find(&l->pieces, l->exact[i] - max) != l->mode[i];
    }
    f->n = n;
    f->maximum = max;
}

/* EAS.2, EAS.3 and the module after it: rescale, overwrite M, compare with the edges of the mode. Streams of floats, no branches.
 */
static void find_by_centers(struct locality *l)
{
    struct locality_found *f = &l->by_centers;
    const struct locality_centers *c = &l->centers;
    float *score = l->score, max = -INFINITY;
    for (size_t i = 0; i < l->cached; i++) score[i] = c->score[c->cid[i]] * c->dnorm[i];
    for (size_t i = 0; i < l->n_large; i++) {
        size_t at = l->large[i];
        l->exact[at] = exact_score(l, at);
        score[at] = (float)l->exact[at];
    }
    for (size_t i = 0; i < l->cached; i++) max = score[i] > max ? score[i] : max;
    f->maximum = score_exactly(l, l->cached, (double)max);
    max = (float)f->maximum;
    size_t n = 0;
    for (size_t i = 0; i < l->cached; i++) {
        float x = score[i] - max;
        f->position[n] = i;
        n += (size_t)((x <= l->low[i]) | (x > l->high[i]));
    }
    f->n = n;
}

/* ---- modes ------------------------------------------------------------------------------------------------------------------ */

static bool is_large(const struct locality *l, size_t mode)
{
    return mode + 2 >= l->options.intervals;
}

/* Put a cached position's mode where the passes over positions see it. */
static void publish_mode(struct locality *l, size_t i, size_t mode)
{
    l->mode[i] = (uint8_t)mode;
    l->low[i] = mode > 0 ? (float)l->pieces.edge[mode - 1] : -INFINITY;
    l->high[i] = mode + 1 < l->options.intervals ? (float)l->pieces.edge[mode] : INFINITY;
}

static void enter_large(struct locality *l, size_t i)
{
    l->large_at[i] = l->n_large;
    l->large[l->n_large++] = i;
}

static void change_mode(struct locality *l, size_t i, size_t mode)
{
    bool was = is_large(l, l->mode[i]), is = is_large(l, mode);
    publish_mode(l, i, mode);
    if (is && !was) enter_large(l, i);
    if (was && !is) {
        size_t last = l->large[--l->n_large];
        l->large[l->large_at[i]] = last;
        l->large_at[last] = l->large_at[i];
    }
}

uint32_t locality_count(const struct locality *l, size_t i, size_t interval)
{
    uint32_t quiet = interval == l->mode[i] ? (uint32_t)l->n - l->counted[i] : 0;
    return l->count[i * l->options.intervals + interval] + quiet;
}

/* Count one step of position i in `interval`. True when that interval is its mode from now on. */
static bool count_step(struct locality *l, size_t i, size_t interval)
{
    uint32_t *count = l->count + i * l->options.intervals, step = (uint32_t)(l->n - 1);
    count[l->mode[i]] += step - l->counted[i];
    l->counted[i] = step + 1;
    return ++count[interval] > count[l->mode[i]];
}

/* ---- a step ----------------------------------------------------------------------------------------------------------------- */

static void take(struct locality *l, const float *q, const float *k, const float *v)
{
    reserve(l);
    size_t i = l->n++, d = l->d;
    memcpy(l->k + i * d, k, d * sizeof *k);
    memcpy(l->v + i * d, v, d * sizeof *v);
    memset(l->count + i * l->options.intervals, 0, l->options.intervals * sizeof *l->count);
    l->counted[i] = (uint32_t)i;
    l->active_until[i] = 0;
    l->mode[i] = 0;
    for (size_t j = 0; j < d; j++) {
        l->q[j] = (double)q[j] / sqrt((double)d);
        l->q_float[j] = (float)l->q[j];
    }
    locality_centers_step(&l->centers, l->k, l->q_float);
}

/* The found positions as J, with what the mode discrepancy module finds out about them. */
static size_t list_active(struct locality *l, const struct locality_found *f)
{
    uint32_t step = (uint32_t)(l->n - 1);
    size_t kept = 0;
    for (size_t j = 0; j < f->n; j++) {
        size_t i = f->position[j];
        if (!l->options.exact_scores) l->exact[i] = exact_score(l, i);
        struct locality_active *a = &l->active[j];
        *a = (struct locality_active){.position = i, .score = l->exact[i], .mode = l->mode[i]};
        a->interval = (unsigned)dse_pieces_find(&l->pieces, a->score - f->maximum);
        a->kept = step > 0 && l->active_until[i] == step;
        kept += a->kept;
        l->active_until[i] = step + 1;
    }
    l->n_active = f->n;
    return kept;
}

/* Weights of values that wait to be added, four at a time: the sums are read and written a fourth as often. */
struct pending {
    const float *v[4];
    double weight[4];
    size_t n;
};

static void flush(struct locality *l, struct pending *p)
{
    double *restrict sum = l->numerator;
    for (; p->n < 4; p->n++) {
        p->v[p->n] = l->v;
        p->weight[p->n] = 0;
    }
    const float *v0 = p->v[0], *v1 = p->v[1], *v2 = p->v[2], *v3 = p->v[3];
    double w0 = p->weight[0], w1 = p->weight[1], w2 = p->weight[2], w3 = p->weight[3];
    for (size_t j = 0; j < l->d; j++)
        sum[j] += (w0 * (double)v0[j] + w1 * (double)v1[j]) + (w2 * (double)v2[j] + w3 * (double)v3[j]);
    p->n = 0;
}

static void add_value(struct locality *l, struct pending *p, size_t i, double weight)
{
    p->v[p->n] = l->v + i * l->d;
    p->weight[p->n++] = weight;
    if (p->n == 4) flush(l, p);
}

/* Eq. 4 and step 5 of Sec. III-E: caches, corrections of J, the newest. Returns the denominator. */
static double attend(struct locality *l, double m)
{
    const struct dse_pieces *p = &l->pieces;
    struct pending pending = {0};
    double denominator = locality_caches_read(&l->caches, l->q, m, l->numerator);
    for (size_t j = 0; j < l->n_active; j++) {
        const struct locality_active *a = &l->active[j];
        double alpha = p->slope[a->interval] - p->slope[a->mode], beta = p->offset[a->interval] - p->offset[a->mode];
        double correction = alpha * (a->score - m) + beta;
        denominator += correction;
        add_value(l, &pending, a->position, correction);
    }
    for (size_t i = l->cached; i < l->n; i++) {
        double weight = dse_pieces_exp(p, l->exact[i] - m);
        denominator += weight;
        add_value(l, &pending, i, weight);
    }
    flush(l, &pending);
    return denominator;
}

/* Count the step, change modes and caches (Eq. 6), let the oldest of the newest in (Eq. 5). Returns |U|. */
static size_t maintain(struct locality *l, double m)
{
    const struct dse_pieces *p = &l->pieces;
    size_t updates = 0;
    for (size_t j = 0; j < l->n_active; j++) {
        struct locality_active *a = &l->active[j];
        a->updated = count_step(l, a->position, a->interval);
        if (!a->updated) continue;
        updates++;
        change_mode(l, a->position, a->interval);
        locality_caches_add(&l->caches, l->k + a->position * l->d, l->v + a->position * l->d,
                            p->slope[a->interval] - p->slope[a->mode], p->offset[a->interval] - p->offset[a->mode]);
    }
    for (size_t i = l->cached; i < l->n; i++) {
        size_t interval = dse_pieces_find(p, l->exact[i] - m);
        if (count_step(l, i, interval)) l->mode[i] = (uint8_t)interval;
    }
    if (l->n < l->options.recent) return updates;
    size_t i = l->cached++, mode = l->mode[i];
    publish_mode(l, i, mode);
    if (is_large(l, mode)) enter_large(l, i);
    if (mode > 0) locality_caches_add(&l->caches, l->k + i * l->d, l->v + i * l->d, p->slope[mode], p->offset[mode]);
    return updates;
}

void locality_step(struct locality *l, const float *q, const float *k, const float *v, double *output, struct locality_step *ret)
{
    assert(l->n < UINT32_MAX);
    take(l, q, k, v);
    bool exact = l->options.exact_scores;
    if (exact || l->audit) find_exactly(l);
    if (!exact || l->audit) find_by_centers(l);
    const struct locality_found *found = exact ? &l->exactly : &l->by_centers;
    size_t kept = list_active(l, found);
    double denominator = attend(l, found->maximum);
    for (size_t j = 0; j < l->d; j++) output[j] = denominator > 0 ? l->numerator[j] / denominator : 0;
    struct locality_step done = {.positions = l->n,
                                 .cached = l->cached,
                                 .centers = l->centers.n,
                                 .large = l->n_large,
                                 .active = l->active,
                                 .n_active = l->n_active,
                                 .n_kept = kept,
                                 .maximum = found->maximum,
                                 .denominator = denominator};
    done.updates = maintain(l, found->maximum);
    if (ret) *ret = done;
}
