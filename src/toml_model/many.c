/* Blocks of points: the graph of a model over all of them at once. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What of the answers is read. */
struct wanted {
    unsigned totals; /* 1 << enum total, or-ed */
    bool bill;
    const bool *own; /* by metric of the schema; NULL: all */
};

/* The code of one plan, and what it reads of operators. */
struct code {
    const struct plan *plan;
    struct wanted wanted;
    struct block_code *block;
    double *elements; /* by input and combination of the workload: BLOCK_POINTS_MAX each */
};

enum { CODES_MAX = 64, FEW_POINTS = 8 };

struct many_worker {
    const struct toml_model *m;
    uint32_t *of_input;        /* axes */
    uint32_t of_group[GROUPS]; /* axes */
    const struct many_lattice *lattice;
    struct code codes[CODES_MAX];
    int n_codes, next; /* next: code that makes room for another */
    struct dse_oplist ops;
    struct dse_common common[BLOCK_POINTS_MAX];

    /* the block at hand */
    const struct many_points *points;
    struct wanted wanted;
    struct block *block; /* the points' own, or a part of them */
    int32_t *point_of;   /* of a part: which points; NULL of the whole */
    struct code *code;
    struct block part;
    int32_t points_of_part[BLOCK_POINTS_MAX];
};

/* ---- axes -------------------------------------------------------------------------------------------------------------------- */

static uint32_t axes_at(const struct many_worker *w, size_t offset)
{
    const enum group g = group_of_param(w->m, offset);
    if (group_is_resolved(g)) return w->of_group[g];
    for (size_t i = 0; i < w->m->schema.n; i++)
        if (w->m->schema.fields[i].offset == offset) return w->lattice->axes[i];
    return 0;
}

static void find_axes(struct many_worker *w)
{
    const struct toml_model *m = w->m;
    for (size_t i = 0; i < m->schema.n; i++) {
        const enum group g = group_of_param(m, m->schema.fields[i].offset);
        if (g != GROUPS) w->of_group[g] |= w->lattice->axes[i];
    }
    for (int i = 0; i < m->n_inputs; i++) {
        const struct input *in = &m->inputs[i];
        w->of_input[i] =
            in->kind >= INPUT_ELEMENT ? w->of_group[GROUP_WORKLOAD] : axes_at(w, in->kind == INPUT_ENTRY ? in->ref : in->offset);
    }
}

static uint32_t of_input(void *object, int what, int element)
{
    (void)element;
    const struct many_worker *w = object;
    return w->of_input[what];
}

static uint32_t axes_of_groups(const struct many_worker *w, unsigned groups)
{
    uint32_t ret = 0;
    for (int g = 0; g < GROUPS; g++)
        if (groups >> g & 1) ret |= w->of_group[g];
    return ret;
}

static uint32_t of_groups(void *object, unsigned groups)
{
    return axes_of_groups(object, groups);
}

static uint32_t of_reference(void *object, size_t place)
{
    return axes_at(object, place);
}

/* ---- workers ----------------------------------------------------------------------------------------------------------------- */

static struct many_worker *worker_new(const void *object, const struct many_lattice *lattice)
{
    struct many_worker *w = xcalloc(1, sizeof *w);
    w->m = object;
    w->of_input = xcalloc((size_t)w->m->n_inputs + 1, sizeof *w->of_input);
    w->lattice = lattice;
    find_axes(w);
    block_init(&w->part);
    return w;
}

static void code_release(struct code *c)
{
    block_code_free(c->block);
    free(c->elements);
}

static void worker_free(struct many_worker *w)
{
    if (!w) return;
    for (int i = 0; i < w->n_codes; i++) code_release(&w->codes[i]);
    block_release(&w->part);
    free(w->of_input);
    free(w);
}

/* Own metrics stand behind the common ones. */
static bool is_wanted(const struct many_worker *w, int own)
{
    const size_t first = w->m->n_common;
    return !w->wanted.own || w->wanted.own[first + (size_t)own];
}

static struct block_code *code_of(struct many_worker *w, const struct plan *p)
{
    const struct toml_model *m = w->m;
    const size_t most = (size_t)m->n_conditions + TOTALS + (size_t)m->n_own;
    int *roots = xcalloc(most + 1, sizeof *roots), n = 0;
    for (int i = 0; i < m->n_conditions; i++) roots[n++] = p->equations[m->conditions[i].equation];
    for (int i = 0; i < TOTALS; i++)
        if (m->totals[i] >= 0 && w->wanted.totals >> i & 1) roots[n++] = p->equations[m->totals[i]];
    for (int i = 0; i < m->n_own; i++)
        if (is_wanted(w, i)) roots[n++] = p->equations[m->own[i].equation];
    struct block_code *ret = block_code_new(&p->graph, roots, n, &(struct block_axes){w, of_input, of_groups, of_reference});
    free(roots);
    return ret;
}

static bool same_wanted(const struct wanted *a, const struct wanted *b)
{
    return a->totals == b->totals && a->bill == b->bill && a->own == b->own;
}

static struct code *find_code(struct many_worker *w, const struct plan *p)
{
    for (int i = 0; i < w->n_codes; i++)
        if (w->codes[i].plan == p && same_wanted(&w->codes[i].wanted, &w->wanted)) return &w->codes[i];
    struct code *c = &w->codes[w->n_codes < CODES_MAX ? w->n_codes++ : w->next++ % CODES_MAX];
    code_release(c);
    *c = (struct code){.plan = p, .wanted = w->wanted, .block = code_of(w, p)};
    c->elements = xcalloc((size_t)p->n_inputs * BLOCK_POINTS_MAX + 1, sizeof *c->elements);
    return c;
}

/* ---- what the graph reads ---------------------------------------------------------------------------------------------------- */

static const void *params_of(const struct many_worker *w, int point)
{
    return w->points->params(w->points->user, w->point_of ? w->point_of[point] : point);
}

static const struct plan_input *element_input_of(const struct many_worker *w, int what, int element, int *ret_i)
{
    const struct plan *p = w->code->plan;
    for (int i = 0; i < p->n_inputs; i++)
        if (p->inputs[i].what == what && p->inputs[i].element == element) {
            *ret_i = i;
            return &p->inputs[i];
        }
    return NULL;
}

static void read_input(void *object, const struct block_shape *s, int what, int element, double *ret)
{
    struct many_worker *w = object;
    int at = 0;
    const struct plan_input direct = {0, what, element};
    if (element >= 0 && element_input_of(w, what, element, &at)) {
        memcpy(ret, w->code->elements + (size_t)at * BLOCK_POINTS_MAX, (size_t)s->n * sizeof *ret);
        return;
    }
    for (int i = 0; i < s->n; i++) ret[i] = point_input(w->m, &direct, params_of(w, s->point_of[i]), NULL);
}

static struct groups read_groups(void *object, unsigned groups, int point)
{
    (void)groups;
    const struct many_worker *w = object;
    return groups_of(&w->m->groups, params_of(w, point));
}

/* The operators of each combination of the workload: what the graph reads of them. */
static void read_elements(struct many_worker *w, const struct block_shape *s)
{
    const struct plan *p = w->code->plan;
    for (int c = 0; c < s->n; c++) {
        const void *params = params_of(w, s->point_of[c]);
        const struct groups g = groups_of(&w->m->groups, params);
        dse_workload_expand(g.workload, &w->ops);
        for (int i = 0; i < p->n_inputs; i++)
            if (p->inputs[i].element >= 0)
                w->code->elements[(size_t)i * BLOCK_POINTS_MAX + (size_t)c] = point_input(w->m, &p->inputs[i], params, &w->ops);
    }
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

struct answers {
    const char **reasons;
    char *metrics;
    size_t stride;
};

static int whole_of(const struct many_worker *w, int point)
{
    return w->point_of ? w->point_of[point] : point;
}

static const double *numbers_of(const struct many_worker *w, int equation, const struct block_shape **ret_shape)
{
    return block_numbers(w->code->block, w->code->plan->equations[equation], ret_shape);
}

/* The first condition of the file that does not hold. */
static void fill_reasons(const struct many_worker *w, const struct answers *a)
{
    for (int i = w->m->n_conditions - 1; i >= 0; i--) {
        const struct block_shape *s;
        const double *holds = numbers_of(w, w->m->conditions[i].equation, &s);
        bool all = true;
        for (int c = 0; c < s->n; c++) all = all && !isnan(holds[c]) && holds[c] != 0;
        for (int p = 0; p < w->block->n && !all; p++) {
            const double x = holds[s->of_point[p]];
            if (isnan(x) || x == 0) a->reasons[whole_of(w, p)] = w->m->conditions[i].reason;
        }
    }
}

/* What the groups refuse comes before. */
static void fill_refusals(const struct many_worker *w, const struct answers *a)
{
    enum { GROUPS_ASKED = 1 << GROUP_WORKLOAD | 1 << GROUP_REQUEST | 1 << GROUP_MEMORY | 1 << GROUP_CACHE };
    const uint32_t axes = axes_of_groups(w, GROUPS_ASKED) & block_varying(w->block);
    const struct block_shape *s = block_shape(w->block, axes);
    const char *why[BLOCK_POINTS_MAX];
    for (int c = 0; c < s->n; c++) {
        const struct groups g = groups_of(&w->m->groups, params_of(w, s->point_of[c]));
        why[c] = point_refusal(w->m, &g);
    }
    for (int p = 0; p < w->block->n; p++)
        if (why[s->of_point[p]]) a->reasons[whole_of(w, p)] = why[s->of_point[p]];
}

static void fill_common(struct many_worker *w, const struct answers *a)
{
    const struct toml_model *m = w->m;
    const double *numbers[TOTALS] = {NULL};
    const struct block_shape *shapes[TOTALS];
    enum { GROUPS_ASKED = 1 << GROUP_WORKLOAD | 1 << GROUP_MEMORY | 1 << GROUP_ECONOMICS };
    uint32_t axes = axes_of_groups(w, GROUPS_ASKED) & block_varying(w->block);
    for (int i = 0; i < TOTALS; i++)
        if (m->totals[i] >= 0 && w->wanted.totals >> i & 1)
            numbers[i] = numbers_of(w, m->totals[i], &shapes[i]), axes |= shapes[i]->axes;
    const struct block_shape *s = block_shape(w->block, axes);
    for (int c = 0; c < s->n; c++) {
        const int point = s->point_of[c];
        const struct groups g = groups_of(&m->groups, params_of(w, point));
        double totals[TOTALS];
        for (int i = 0; i < TOTALS; i++) totals[i] = numbers[i] ? numbers[i][shapes[i]->of_point[point]] : (double)NAN;
        point_common(m, &g, totals, w->wanted.bill, &w->common[c]);
    }
    for (int p = 0; p < w->block->n; p++)
        memcpy(a->metrics + (size_t)whole_of(w, p) * a->stride, &w->common[s->of_point[p]], sizeof *w->common);
}

static void fill_own(const struct many_worker *w, const struct answers *a)
{
    for (int i = 0; i < w->m->n_own; i++) {
        const struct own_metric *own = &w->m->own[i];
        const struct block_shape *s;
        if (!is_wanted(w, i)) continue;
        const double *numbers = numbers_of(w, own->equation, &s);
        for (int p = 0; p < w->block->n; p++) {
            const double x = numbers[s->of_point[p]] / own->scale;
            char *to = a->metrics + (size_t)whole_of(w, p) * a->stride + own->offset;
            *(double *)(void *)to = isfinite(x) ? x : (double)NAN;
        }
    }
}

/* ---- what is wanted ---------------------------------------------------------------------------------------------------------- */

static struct wanted wanted_of(const struct toml_model *m, const bool *metrics)
{
#define T(t) (1u << TOTAL_##t)
    enum { STEP = T(TIME) | T(TOKENS), COSTS = STEP | T(ENERGY) | T(DIE) | T(NODE) | T(CHIPS) };
    static const unsigned needs[] = {
        STEP,                  /* tokens_per_s */
        T(TIME),               /* latency_us */
        T(ATTENTION),          /* attention_us */
        T(ENERGY) | T(TOKENS), /* energy_mj */
        T(ENERGY) | T(TIME),   /* power_w */
        T(AREA),               /* area_mm2 */
        T(BYTES) | T(TOKENS),  /* dram_mib */
        T(OPS) | T(PEAK_OPS) | T(TIME) /* compute_utilization */,
        T(BYTES) | T(PEAK_BYTES) | T(TIME) /* dram_utilization */,
        T(OPS) | T(PEAK_OPS) | T(BYTES) | T(PEAK_BYTES) | T(COMPUTE) | T(DRAM) | T(LATENCY) /* bound */,
    };
#undef T
    enum { NEEDS = sizeof needs / sizeof *needs };
    struct wanted w = {.own = metrics};
    for (size_t i = 0; i < m->n_common; i++) {
        if (metrics && !metrics[i]) continue;
        w.totals |= i < NEEDS ? needs[i] : COSTS;
        w.bill = w.bill || i >= NEEDS;
    }
    return w;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------------------ */

/* All points of the block have these operators and choices. */
static void run_alike(struct many_worker *w, const struct plan *plan, const struct answers *a)
{
    const struct block_source source = {w, read_input, read_groups};
    w->code = find_code(w, plan);
    if (w->m->expands) read_elements(w, block_shape(w->block, w->of_group[GROUP_WORKLOAD] & block_varying(w->block)));
    block_run(w->code->block, w->block, &source);
    fill_common(w, a);
    fill_own(w, a);
    fill_reasons(w, a);
    fill_refusals(w, a);
}

static const struct plan *plan_at(struct many_worker *w, int point)
{
    const void *params = params_of(w, point);
    const struct groups g = groups_of(&w->m->groups, params);
    struct signature s;
    if (w->m->expands) dse_workload_expand(g.workload, &w->ops);
    signature_of(w->m->expands ? &w->ops : NULL, &s);
    return plan_find_chosen(w->m, w->m->expands ? &w->ops : NULL, &s, params);
}

/* The axes that decide the plan: of the workload, and of choices. */
static uint32_t deciding(const struct many_worker *w)
{
    uint32_t ret = w->m->expands ? w->of_group[GROUP_WORKLOAD] : 0;
    for (int i = 0; i < w->m->n_inputs; i++)
        if (w->m->inputs[i].kind == INPUT_FIELD && w->m->inputs[i].type == DSE_TYPE_ENUM) ret |= w->of_input[i];
    return ret;
}

static void run_one(const struct many_worker *w, int point, const struct answers *a)
{
    const void *params = w->points->params(w->points->user, point);
    a->reasons[point] = point_check(w->m, params);
    if (!a->reasons[point]) point_estimate(w->m, params, a->metrics + (size_t)point * a->stride, NULL);
}

/* The points of one plan; few of them one by one. */
static void run_part(struct many_worker *w, const struct plan *plan, const struct plan *const *plans, const struct answers *a)
{
    const struct block *all = w->points->block;
    struct block *part = &w->part;
    part->n = 0;
    part->n_axes = all->n_axes;
    memcpy(part->size, all->size, sizeof all->size);
    for (int p = 0; p < all->n; p++) {
        if (plans[p] != plan) continue;
        for (int axis = 0; axis < all->n_axes; axis++) part->at[axis][part->n] = all->at[axis][p];
        w->points_of_part[part->n++] = p;
    }
    if (part->n < FEW_POINTS) {
        for (int p = 0; p < part->n; p++) run_one(w, w->points_of_part[p], a);
        return;
    }
    block_begin(part);
    w->block = part;
    w->point_of = w->points_of_part;
    run_alike(w, plan, a);
    w->point_of = NULL;
}

static void run(struct many_worker *w, const struct many_points *points, const char **reasons, void *metrics, size_t stride)
{
    const struct answers a = {reasons, metrics, stride};
    struct block *all = points->block;
    w->points = points;
    w->wanted = wanted_of(w->m, points->wanted);
    w->block = all;
    w->point_of = NULL;
    const struct block_shape *s = block_shape(all, deciding(w) & block_varying(all));
    const struct plan *of_combination[BLOCK_POINTS_MAX], *plans[BLOCK_POINTS_MAX];
    bool alike = true;
    for (int p = 0; p < all->n; p++) reasons[p] = NULL;
    for (int c = 0; c < s->n; c++) {
        of_combination[c] = plan_at(w, s->point_of[c]);
        alike = alike && of_combination[c] == of_combination[0];
    }
    if (alike && all->n >= FEW_POINTS) {
        run_alike(w, of_combination[0], &a);
        return;
    }
    for (int p = 0; p < all->n; p++) plans[p] = of_combination[s->of_point[p]];
    for (int p = 0; p < all->n; p++) {
        bool first = true;
        for (int q = 0; q < p && first; q++) first = plans[q] != plans[p];
        if (first) run_part(w, plans[p], plans, &a);
    }
}

static uint32_t standing(const struct many_worker *w)
{
    enum { OF_STANDING = 1 << GROUP_WORKLOAD | 1 << GROUP_REQUEST | 1 << GROUP_CACHE };
    return axes_of_groups(w, OF_STANDING);
}

struct many many_of(const struct toml_model *m)
{
    return (struct many){worker_new, worker_free, run, axes_at, standing, m};
}
