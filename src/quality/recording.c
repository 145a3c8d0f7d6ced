/* Recordings: single steps of heads at several contexts. A table with three indices, context, head and step; between two contexts
 * each step lies on the line between the same step of the head at both, so that means over heads and steps lie on the line
 * between the means.
 */
#include "quality/recording.h"

#include "base/xalloc.h"

#include <assert.h>
#include <dse/bound.h>
#include <math.h>
#include <stdlib.h>

struct dse_recording {
    struct dse_entry entry;
    char *name, *source; /* owned; entry borrows them */
    double *context;     /* n of them, growing */
    size_t n, heads, steps;
    struct dse_recorded *at;   /* by context, head, step */
    struct dse_recorded *mean; /* over the steps: by context, head */
    struct dse_measured *measured;
};

/* ---- building ------------------------------------------------------------------------------------------------------------ */

enum { CONTEXT_MAX = 1 << 24, HEAD_MAX = 1 << 20 };

/* Check the numbers of the i-th row. */
static bool check_row(const struct recording_row *rows, size_t i, struct row_fault *ret)
{
    const struct recording_row *r = &rows[i];
    const struct {
        const char *name;
        double value, max;
        const char *of;
    } counts[] = {
        {"head", r->head, HEAD_MAX, "heads count from 0"},
        {"step", r->step, r->context, "the context"},
        {"centers", r->at.centers, r->step, "the positions of the step"},
        {"large", r->at.large, r->step, "the positions of the step"},
        {"active", r->at.active, r->step, "the positions of the step"},
        {"updates", r->at.updates, r->at.active, "active"},
        {"hits", r->at.hits, r->at.active, "active"},
    };
    if (!(r->context >= 1 && r->context <= CONTEXT_MAX && r->context == floor(r->context)))
        return row_fault(ret, i, "context", "context %g is not a whole number from 1 to %d", r->context, (int)CONTEXT_MAX);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        if (!(counts[k].value >= 0 && counts[k].value <= counts[k].max && counts[k].value == floor(counts[k].value)))
            return row_fault(ret, i, counts[k].name, "%s %g is not a whole number from 0 to %g (%s)", counts[k].name,
                             counts[k].value, counts[k].max, counts[k].of);
    return true;
}

/* Heads and steps are those of the first context, at least one. */
static void find_shape(const struct recording_row *rows, size_t n, size_t *ret_heads, size_t *ret_steps)
{
    size_t steps = 1, at_first = 1;
    while (steps < n && rows[steps].context == rows[0].context && rows[steps].head == rows[0].head) steps++;
    while (at_first < n && rows[at_first].context == rows[0].context) at_first++;
    *ret_steps = steps;
    *ret_heads = (at_first + steps - 1) / steps;
}

/* Check that the i-th row stands where it should. */
static bool check_place(const struct recording_row *rows, size_t i, size_t heads, size_t steps, struct row_fault *ret)
{
    const struct recording_row *r = &rows[i];
    size_t in_context = i % (heads * steps), head = in_context / steps, step = in_context % steps;
    double context = in_context ? rows[i - in_context].context : r->context;
    if (in_context == 0 && i > 0 && r->context <= rows[i - 1].context)
        return row_fault(ret, i, "context", "context %g does not grow (the rows before have %g)", r->context, rows[i - 1].context);
    if (context < (double)steps)
        return row_fault(ret, i, "context", "context %g has no %zu steps; each context has as many as the first head", context,
                         steps);
    double wanted = context - (double)(steps - 1 - step);
    if (r->context == context && r->head == (double)head && r->step == wanted) return true;
    const char *column = r->context != context ? "context" : r->head != (double)head ? "head" : "step";
    return row_fault(
        ret, i, column,
        "context %g, head %g, step %g stand where %g, %zu, %g should: all contexts have the heads 0 to %zu of the first and, of "
        "each, the %zu steps up to the context",
        r->context, r->head, r->step, context, head, wanted, heads - 1, steps);
}

static bool check_rows(const struct recording_row *rows, size_t n, size_t heads, size_t steps, struct row_fault *ret)
{
    for (size_t i = 0; i < n; i++)
        if (!check_row(rows, i, ret) || !check_place(rows, i, heads, steps, ret)) return false;
    if (n == 0) return row_fault(ret, ROW_NONE, NULL, "no rows");
    if (n % (heads * steps))
        return row_fault(ret, n - 1, "context", "ends inside of context %g, which needs %zu rows (heads: %zu, steps of each: %zu)",
                         rows[n - 1].context, heads * steps, heads, steps);
    return true;
}

static void add(struct dse_recorded *sum, const struct dse_recorded *at, double weight)
{
    sum->centers += weight * at->centers;
    sum->large += weight * at->large;
    sum->active += weight * at->active;
    sum->updates += weight * at->updates;
    sum->hits += weight * at->hits;
}

struct dse_recording *recording_new(const char *name, const char *source, const struct recording_row *rows, size_t n,
                                    struct row_fault *ret_fault)
{
    size_t heads, steps;
    find_shape(rows, n, &heads, &steps);
    if (!check_rows(rows, n, heads, steps, ret_fault)) return NULL;
    struct dse_recording *r = xcalloc(1, sizeof *r);
    r->entry.name = r->name = xstrdup(name);
    r->entry.source = r->source = xstrdup(source);
    r->heads = heads;
    r->steps = steps;
    r->n = n / (heads * steps);
    r->context = xcalloc(r->n, sizeof *r->context);
    r->at = xcalloc(n, sizeof *r->at);
    r->mean = xcalloc(r->n * heads, sizeof *r->mean);
    for (size_t i = 0; i < n; i++) {
        r->context[i / (heads * steps)] = rows[i].context;
        r->at[i] = rows[i].at;
        add(&r->mean[i / steps], &rows[i].at, 1 / (double)steps);
    }
    recording_set_measured(r, measured_new(NULL, &ret_fault->why));
    return r;
}

void recording_set_measured(struct dse_recording *r, struct dse_measured *m)
{
    measured_free(r->measured);
    r->measured = m;
    measured_name(m, "recording", r->name);
}

const struct dse_measured *dse_recording_measured(const struct dse_recording *r)
{
    return r->measured;
}

void recording_free(struct dse_recording *r)
{
    if (!r) return;
    measured_free(r->measured);
    free(r->mean);
    free(r->at);
    free(r->context);
    free(r->source);
    free(r->name);
    free(r);
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

size_t dse_recording_heads(const struct dse_recording *r)
{
    return r->heads;
}

size_t dse_recording_steps(const struct dse_recording *r)
{
    return r->steps;
}

const double *dse_recording_contexts(const struct dse_recording *r, size_t *ret_n)
{
    *ret_n = r->n;
    return r->context;
}

/* The context recorded at or below, and the share of the one above it. */
static size_t find_context(const struct dse_recording *r, double context, double *ret_share)
{
    assert(context >= r->context[0] && context <= r->context[r->n - 1]);
    size_t i = r->n - 1;
    while (r->context[i] > context) i--;
    *ret_share = r->context[i] == context ? 0 : (context - r->context[i]) / (r->context[i + 1] - r->context[i]);
    return i;
}

/* Interpolate in a table by context that has `size` entries for each context. */
static struct dse_recorded on_line(const struct dse_recorded *table, size_t size, size_t context, double share, size_t entry)
{
    const struct dse_recorded *below = &table[context * size + entry];
    struct dse_recorded ret = *below;
    if (share == 0) return ret;
    ret = (struct dse_recorded){0};
    add(&ret, below, 1 - share);
    add(&ret, below + size, share);
    return ret;
}

struct dse_recorded dse_recording_at(const struct dse_recording *r, double context, size_t head, size_t step)
{
    double share;
    size_t i = find_context(r, context, &share);
    assert(head < r->heads && step < r->steps);
    return on_line(r->at, r->heads * r->steps, i, share, head * r->steps + step);
}

struct dse_locality dse_recording_mean(const struct dse_recording *r, double context, double *ret_active_cv)
{
    double share, squares = 0, each = 1 / (double)r->heads;
    size_t i = find_context(r, context, &share);
    struct dse_recorded sum = {0};
    for (size_t h = 0; h < r->heads; h++) {
        struct dse_recorded head = on_line(r->mean, r->heads, i, share, h);
        add(&sum, &head, each);
    }
    double mean = sum.active;
    for (size_t h = 0; h < r->heads; h++) {
        double apart = on_line(r->mean, r->heads, i, share, h).active - mean;
        squares += each * apart * apart;
    }
    *ret_active_cv = mean > 0 ? sqrt(squares) / mean : 0;
    return (struct dse_locality){.centers = sum.centers,
                                 .large = sum.large,
                                 .active = mean,
                                 .updates = sum.updates,
                                 .hit_ratio = mean > 0 ? sum.hits / mean : 0};
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

static void include_mean(const struct dse_recording *r, double context, bool is_first, struct dse_locality_bound *ret,
                         double *most_apart, double *least_active)
{
    double cv;
    const struct dse_locality at = dse_recording_mean(r, context, &cv);
    const struct dse_locality_bound v = {dse_iv_of(at.centers), dse_iv_of(at.large), dse_iv_of(at.active), dse_iv_of(at.updates),
                                         dse_iv_of(at.hit_ratio)};
    *most_apart = fmax(is_first ? 0 : *most_apart, cv * at.active);
    *least_active = fmin(is_first ? (double)INFINITY : *least_active, at.active);
    *ret = is_first ? v
                    : (struct dse_locality_bound){dse_iv_hull(ret->centers, v.centers), dse_iv_hull(ret->large, v.large),
                                                  dse_iv_hull(ret->active, v.active), dse_iv_hull(ret->updates, v.updates),
                                                  dse_iv_hull(ret->hit_ratio, v.hit_ratio)};
}

/* Between two contexts recorded the counts are lines, and the hit ratio, a line over another, is monotone; the deviation among
 * heads is the length of a vector on a line: it is convex. Without any active position there are no hits. */
void dse_recording_bound(const struct dse_recording *r, struct dse_interval context, struct dse_locality_bound *ret,
                         struct dse_interval *ret_active_cv)
{
    enum { ROUNDING = 64 };
    double apart, least;
    include_mean(r, context.lo, true, ret, &apart, &least);
    if (dse_iv_is_point(context)) {
        double cv;
        dse_recording_mean(r, context.lo, &cv);
        *ret_active_cv = dse_iv_of(cv);
        return;
    }
    include_mean(r, context.hi, false, ret, &apart, &least);
    for (size_t i = 0; i < r->n; i++)
        if (r->context[i] > context.lo && r->context[i] < context.hi) include_mean(r, r->context[i], false, ret, &apart, &least);
    struct dse_interval *const range[] = {&ret->centers, &ret->large, &ret->active, &ret->updates, &ret->hit_ratio};
    for (size_t i = 0; i < sizeof range / sizeof *range; i++)
        *range[i] = dse_iv_positive(dse_widened(range[i]->lo, range[i]->hi, ROUNDING));
    if (least == 0) ret->hit_ratio = dse_iv(0, 1);
    const double most_cv = sqrt((double)r->heads); /* one head has it all */
    *ret_active_cv = dse_iv(0, least > 0 ? fmin(most_cv, apart / least * (1 + 1e-12)) : most_cv);
}
