#include "space/idle.h"

#include "base/xalloc.h"
#include "space/space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A grid of at most ALL points is looked at whole (of a mix of requests: TRIED_OF_MIX); of another one so many pairs are tried. */
enum { ALL = 4096, TRIED = 256, ENOUGH = 64, LEAST = 8, TRIED_OF_MIX = 16 };
#define GOLDEN 0.61803398874989484820 /* multiples of it, mod 1, are spread evenly */

/* A point's row, and what it needs. */
struct look {
    struct evaluator *evaluator;
    union cell *cells;
    struct row row;
};

static void look_init(struct look *l, const struct space *sp)
{
    size_t n;
    space_columns(sp, &n);
    *l = (struct look){.evaluator = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL), .cells = xcalloc(n, sizeof *l->cells)};
}

static void look_release(struct look *l)
{
    evaluator_free(l->evaluator);
    free(l->cells);
}

static bool look_at(struct look *l, uint64_t index)
{
    return evaluator_run(l->evaluator, index, 1, l->cells, &l->row);
}

static bool cell_same(enum dse_type type, union cell a, union cell b)
{
    if (type == DSE_TYPE_F64 || type == DSE_TYPE_I64) return a.i64 == b.i64; /* bit by bit: NULL is NaN */
    return a.text == b.text || (a.text && b.text && strcmp(a.text, b.text) == 0);
}

/* Are both feasible, or both infeasible for the same reason? */
static bool reason_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Do the rows say the same but for the parameters? */
static bool rows_same(const struct space *sp, const struct look *a, const struct look *b)
{
    size_t n;
    const struct column *columns = space_columns(sp, &n);
    if (!reason_same(a->row.reason, b->row.reason)) return false;
    for (size_t i = 0; i < n; i++)
        if (columns[i].role != COLUMN_PARAM && !cell_same(columns[i].type, a->cells[i], b->cells[i])) return false;
    return true;
}

bool space_points_equal(const struct space *a, const struct space *b)
{
    struct look of_a, of_b;
    look_init(&of_a, a);
    look_init(&of_b, b);
    const bool same = look_at(&of_a, 0) && look_at(&of_b, 0) && !of_a.row.reason && rows_same(a, &of_a, &of_b);
    look_release(&of_a);
    look_release(&of_b);
    return same;
}

/* The k-th of points that are spread over all. */
static uint64_t spread(uint64_t count, size_t k)
{
    const uint64_t at = (uint64_t)((double)count * fmod((double)(k + 1) * GOLDEN, 1));
    return at < count ? at : count - 1;
}

/* The point that stands `steps` values further along the axis, around its end. */
static uint64_t along(const struct space *sp, size_t axis, uint64_t point, uint64_t steps)
{
    uint64_t digits[SPACE_AXES_MAX];
    space_digits(sp, point, digits);
    digits[axis] = (digits[axis] + steps) % space_axis(sp, axis).n;
    return space_index(sp, digits);
}

enum idle space_axis_idle(const struct space *sp, size_t axis, size_t *ret_pairs)
{
    const uint64_t values = space_axis(sp, axis).n, count = space_count(sp);
    *ret_pairs = 0;
    if (space_is_sample(sp) || values < 2) return IDLE_UNKNOWN;
    const bool mix = space_requests(sp) != NULL, all = count <= (uint64_t)(mix ? TRIED_OF_MIX : ALL);
    const size_t tried = all ? (size_t)count : mix ? TRIED_OF_MIX : TRIED, least = all ? 1 : LEAST;
    struct look a, b;
    look_init(&a, sp);
    look_init(&b, sp);
    size_t feasible = 0, k = 0;
    bool same = true;
    for (; k < tried && (all || feasible < ENOUGH) && same; k++) {
        const uint64_t at = all ? k : spread(count, k);
        if (!look_at(&a, at) || !look_at(&b, along(sp, axis, at, all ? 1 : 1 + k % (values - 1)))) break;
        same = rows_same(sp, &a, &b);
        feasible += !a.row.reason && !b.row.reason;
    }
    look_release(&a);
    look_release(&b);
    if (!all) *ret_pairs = k;
    return !same ? IDLE_NO : feasible >= least ? IDLE_YES : IDLE_UNKNOWN;
}

/* ---- another value ------------------------------------------------------------------------------------------------------- */

static bool may_be(const struct field *f, struct value v)
{
    if (f->type == DSE_TYPE_F64) return v.f64 >= f->min && v.f64 <= f->max;
    if (f->type == DSE_TYPE_I64) return (double)v.i64 >= f->min && (double)v.i64 <= f->max;
    return true;
}

/* The metrics of the parameters, which are resolved; of infeasible ones all 0, and why they are. */
static const char *metrics_of(const struct dse_model *desc, const void *params, void *ret)
{
    const char *reason = desc->check ? desc->check(params) : NULL;
    memset(ret, 0, desc->metrics_size);
    if (!reason) desc->estimate(params, ret, NULL);
    return reason;
}

static bool all_same(const struct schema *metrics, const void *a, const void *b)
{
    for (size_t i = 0; i < metrics->n; i++)
        if (!field_same(&metrics->fields[i], a, b)) return false;
    return true;
}

enum idle space_value_idle(const struct space *sp, const struct field *f, struct value v)
{
    const struct dse_model *desc = sp->model->desc;
    if (!may_be(f, v)) return IDLE_UNKNOWN;
    struct follow_list follows = follow_list_new(sp->binding, f);
    void *params = xcalloc(1, desc->params_size), *own = xcalloc(1, desc->metrics_size), *other = xcalloc(1, desc->metrics_size);
    bool idle = true;
    for (size_t k = 0; k < TRIED_OF_MIX && idle; k++) {
        const uint64_t at = spread(space_count(sp), k);
        space_point(sp, at, params);
        const char *reason = metrics_of(desc, params, own);
        space_start_of(sp, at, params);
        field_set(f, params, v);
        if (follows.n) follow_list_apply(&follows, v.ref, params);
        if (desc->resolve) desc->resolve(params);
        idle = reason_same(reason, metrics_of(desc, params, other)) && all_same(&sp->model->metrics, own, other);
    }
    free(follows.follows);
    free(params);
    free(own);
    free(other);
    return idle ? IDLE_YES : IDLE_NO;
}
