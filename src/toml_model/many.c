/* Blocks of points: the graph of a model over all of them at once. */
#include "toml_model/reads.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The code of one plan, and what it reads of operators. */
struct code {
    const struct plan *plan;
    struct wanted wanted;
    struct block_code *block;
    double *elements; /* by input and new combination of the workload: BLOCK_POINTS_MAX each */
};

enum { CODES_MAX = 64, FEW_POINTS = 8 };
/* Groups that the common metrics read, and without what it costs. */
enum { OF_TOKENS = 1 << GROUP_WORKLOAD, OF_BILLS = OF_TOKENS | 1 << GROUP_MEMORY | 1 << GROUP_ECONOMICS };

/* A metric of the model's own, and its numbers. */
struct own_column {
    const struct own_metric *own;
    const double *numbers;
    const struct block_shape *shape;
};

struct many_worker {
    const struct toml_model *m;
    struct reads reads;
    struct box_blocks *boxes; /* made when boxes are asked for first */
    struct code codes[CODES_MAX];
    int n_codes, next; /* next: code that makes room for another */
    struct dse_oplist ops;
    struct dse_workload steps[BLOCK_POINTS_MAX]; /* of generations */
    struct groups groups[BLOCK_POINTS_MAX];      /* of those points of the block that has_groups */
    bool has_groups[BLOCK_POINTS_MAX];
    const struct block_shape *like; /* of the groups that were asked for last, like_groups; or NULL */
    unsigned like_groups;
    struct dse_common common[BLOCK_POINTS_MAX];
    struct dse_bill bills[BLOCK_POINTS_MAX];
    struct dse_built built[BLOCK_POINTS_MAX];
    struct own_column *own;       /* those that are wanted */
    uint32_t of_board;            /* axes of the board that bills are of */
    struct block_table *plans_of; /* combinations of what decides the plan; NULL: too many for a table, or no lattice yet */
    const struct plan **plans;

    /* the block at hand */
    const struct many_points *points;
    struct wanted wanted;
    struct block *block; /* the points' own, or a part of them */
    int32_t *point_of;   /* of a part: which points; NULL of the whole */
    struct code *code;
    const struct block_shape *elements_of; /* combinations that the code's elements are of; NULL: not read yet */
    struct block part;
    int32_t points_of_part[BLOCK_POINTS_MAX];
};

/* ---- axes -------------------------------------------------------------------------------------------------------------------- */

static uint32_t of_input(void *object, int what, int element)
{
    (void)element;
    const struct many_worker *w = object;
    return w->reads.of_input[what];
}

static uint32_t of_groups(void *object, unsigned groups)
{
    const struct many_worker *w = object;
    return reads_groups(&w->reads, groups);
}

static uint32_t of_reference(void *object, size_t place)
{
    const struct many_worker *w = object;
    return reads_param(&w->reads, place);
}

/* ---- workers ----------------------------------------------------------------------------------------------------------------- */

static struct many_worker *worker_new(const void *object, const struct many_lattice *lattice)
{
    struct many_worker *w = xcalloc(1, sizeof *w);
    w->m = object;
    reads_init(&w->reads, w->m, lattice);
    w->own = xcalloc((size_t)w->m->n_own + 1, sizeof *w->own);
    w->of_board = w->m->board ? reads_param(&w->reads, w->m->board->offset) : 0;
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
    box_blocks_free(w->boxes);
    reads_release(&w->reads);
    free(w->own);
    block_table_free(w->plans_of);
    free(w->plans);
    free(w);
}

static struct block_code *code_of(struct many_worker *w, const struct plan *p)
{
    int n, *roots = wanted_roots(w->m, &w->wanted, p, &n);
    struct block_code *ret = block_code_new(&p->graph, roots, n, &(struct block_axes){w, of_input, of_groups, of_reference});
    free(roots);
    return ret;
}

static struct code *find_code(struct many_worker *w, const struct plan *p)
{
    for (int i = 0; i < w->n_codes; i++)
        if (w->codes[i].plan == p && wanted_same(&w->codes[i].wanted, &w->wanted)) return &w->codes[i];
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

/* Nothing is known of the points of this block. */
static void begin_block(struct many_worker *w, struct block *b)
{
    w->block = b;
    w->like = NULL;
    memset(w->has_groups, 0, (size_t)b->n * sizeof *w->has_groups);
}

/* Of the first point that has the same of these groups, so that the parameters of few points are made. Valid in this block. */
static struct groups read_groups(void *object, unsigned groups, int point)
{
    struct many_worker *w = object;
    int first = point;
    if (groups != BLOCK_PARAMS && (!w->like || w->like_groups != groups)) {
        w->like = block_shape(w->block, reads_groups(&w->reads, groups) & block_varying(w->block));
        w->like_groups = groups;
    }
    if (groups != BLOCK_PARAMS) first = w->like->point_of[w->like->of_point[point]];
    if (!w->has_groups[first]) w->groups[first] = groups_of_step(&w->m->groups, params_of(w, first), &w->steps[first]);
    w->has_groups[first] = true;
    return w->groups[first];
}

/* The operators of each combination of the workload: what the graph reads of them. */
static void read_elements(struct many_worker *w, const struct block_shape *s)
{
    const struct plan *p = w->code->plan;
    w->elements_of = s;
    for (int c = 0; c < block_new_ones(s); c++) {
        const void *params = params_of(w, s->point_of[c]);
        expand(w->m, read_groups(w, 1 << GROUP_WORKLOAD, s->point_of[c]).workload, &w->ops);
        for (int i = 0; i < p->n_inputs; i++)
            if (p->inputs[i].element >= 0)
                w->code->elements[(size_t)i * BLOCK_POINTS_MAX + (size_t)c] = point_input(w->m, &p->inputs[i], params, &w->ops);
    }
}

static void read_input(void *object, const struct block_shape *s, int what, int element, double *ret)
{
    struct many_worker *w = object;
    const size_t n = (size_t)block_new_ones(s);
    int at = 0;
    const struct plan_input direct = {0, what, element};
    if (element >= 0 && element_input_of(w, what, element, &at)) {
        if (w->elements_of != s) read_elements(w, s);
        memcpy(ret, w->code->elements + (size_t)at * BLOCK_POINTS_MAX, n * sizeof *ret);
        return;
    }
    for (size_t i = 0; i < n; i++) ret[i] = point_input(w->m, &direct, params_of(w, s->point_of[i]), NULL);
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

/* The first of the file's conditions that does not hold. */
static void fill_reasons(const struct many_worker *w, const struct answers *a, int from, int to)
{
    for (int i = to - 1; i >= from; i--) {
        const struct block_shape *s;
        const double *holds = numbers_of(w, w->m->check.list[i].equation, &s);
        bool all = true;
        for (int c = 0; c < s->n; c++) all = all && !isnan(holds[c]) && holds[c] != 0;
        for (int p = 0; p < w->block->n && !all; p++) {
            const double x = holds[s->of_point[p]];
            if (isnan(x) || x == 0) a->reasons[whole_of(w, p)] = w->m->check.list[i].reason;
        }
    }
}

/* What the groups refuse. */
static void fill_refusals(const struct many_worker *w, const struct answers *a)
{
    enum {
        GROUPS_ASKED =
            1 << GROUP_WORKLOAD | 1 << GROUP_REQUEST | 1 << GROUP_MEMORY | 1 << GROUP_CACHE | 1 << GROUP_LINKS | 1 << GROUP_LOCALITY
    };
    const uint32_t axes = reads_groups(&w->reads, GROUPS_ASKED) & block_varying(w->block);
    const struct block_shape *s = block_shape(w->block, axes);
    const char *why[BLOCK_POINTS_MAX];
    for (int c = 0; c < s->n; c++) {
        const struct groups g = groups_of(&w->m->groups, params_of(w, s->point_of[c]));
        why[c] = point_refusal(w->m, &g);
    }
    for (int p = 0; p < w->block->n; p++)
        if (why[s->of_point[p]]) a->reasons[whole_of(w, p)] = why[s->of_point[p]];
}

/* The totals that are asked for, and by which axes they differ. */
struct totals {
    int n;
    enum total which[TOTALS];
    const double *numbers[TOTALS];
    const struct block_shape *shapes[TOTALS];
    double at[TOTALS]; /* of a point; those that nobody asks for are none */
};

static void find_totals(const struct many_worker *w, struct totals *t)
{
    t->n = 0;
    for (int i = 0; i < TOTALS; i++) {
        t->at[i] = (double)NAN;
        if (w->m->totals[i] < 0 || !(w->wanted.totals >> i & 1)) continue;
        t->which[t->n] = (enum total)i;
        t->numbers[t->n] = numbers_of(w, w->m->totals[i], &t->shapes[t->n]);
        t->n++;
    }
}

static const double *read_totals(struct totals *t, int point)
{
    for (int i = 0; i < t->n; i++) t->at[t->which[i]] = t->numbers[i][t->shapes[i]->of_point[point]];
    return t->at;
}

static uint32_t axes_of(const struct totals *t, unsigned totals)
{
    uint32_t ret = 0;
    for (int i = 0; i < t->n; i++)
        if (totals >> t->which[i] & 1) ret |= t->shapes[i]->axes;
    return ret;
}

/* A point that has the same groups. */
static struct groups groups_like(const struct many_worker *w, const struct block_shape *alike, int point)
{
    return groups_of(&w->m->groups, params_of(w, alike->point_of[alike->of_point[point]]));
}

/* What is paid for, of each combination of what it depends on; NULL: nothing is asked. */
static const struct block_shape *fill_bills(struct many_worker *w, struct totals *t, const struct block_shape *alike)
{
    enum { ASKED = 1 << TOTAL_DIE | 1 << TOTAL_CHIPS | 1 << TOTAL_NODE };
    if (!w->wanted.bill || !has_bill(w->m)) return NULL;
    const struct block_shape *s = block_shape(w->block, alike->axes | axes_of(t, ASKED));
    for (int c = 0; c < s->n; c++) {
        const struct groups g = groups_like(w, alike, s->point_of[c]);
        w->bills[c] = point_bill(w->m, &g, read_totals(t, s->point_of[c]));
        dse_bill_build(&w->bills[c], &w->built[c]);
    }
    return s;
}

static void fill_common(struct many_worker *w, const struct answers *a)
{
    const struct toml_model *m = w->m;
    struct totals t;
    const uint32_t asked = reads_groups(&w->reads, w->wanted.bill ? OF_BILLS : OF_TOKENS) | (w->wanted.bill ? w->of_board : 0);
    const struct block_shape *alike = block_shape(w->block, asked & block_varying(w->block));
    find_totals(w, &t);
    const struct block_shape *bills = fill_bills(w, &t, alike), *s = block_shape(w->block, alike->axes | axes_of(&t, ~0u));
    struct groups g = groups_like(w, alike, 0);
    for (int c = 0; c < s->n; c++) {
        const int point = s->point_of[c], bill = bills ? bills->of_point[point] : 0;
        if (alike->n > 1) g = groups_like(w, alike, point);
        point_common_built(m, &g, read_totals(&t, point), bills ? &w->bills[bill] : NULL, bills ? &w->built[bill] : NULL,
                           &w->common[c]);
    }
    for (int p = 0; p < w->block->n; p++)
        memcpy(a->metrics + (size_t)whole_of(w, p) * a->stride, &w->common[s->of_point[p]], sizeof *w->common);
}

/* Point by point, so that metrics are written once they are at hand. */
static void fill_own(struct many_worker *w, const struct answers *a)
{
    int n = 0;
    for (int i = 0; i < w->m->n_own; i++) {
        struct own_column *c = &w->own[n];
        if (!wanted_own(w->m, &w->wanted, i)) continue;
        c->own = &w->m->own[i];
        c->numbers = numbers_of(w, c->own->equation, &c->shape);
        n++;
    }
    for (int p = 0; p < w->block->n; p++) {
        char *metrics = a->metrics + (size_t)whole_of(w, p) * a->stride;
        for (const struct own_column *c = w->own; c < w->own + n; c++)
            own_store(c->own, c->numbers[c->shape->of_point[p]], metrics);
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------------------ */

/* All points of the block have these operators and choices. */
static void run_alike(struct many_worker *w, const struct plan *plan, const struct answers *a)
{
    const struct block_source source = {w, read_input, read_groups};
    w->code = find_code(w, plan);
    w->elements_of = NULL;
    block_run(w->code->block, w->block, &source);
    fill_common(w, a);
    fill_own(w, a);
    fill_reasons(w, a, w->m->n_refuse, w->m->check.n); /* what comes first is written last */
    fill_refusals(w, a);
    fill_reasons(w, a, 0, w->m->n_refuse);
}

static const struct plan *plan_at(struct many_worker *w, int point)
{
    const void *params = params_of(w, point);
    struct signature s;
    if (w->m->expands) expand(w->m, read_groups(w, 1 << GROUP_WORKLOAD, point).workload, &w->ops);
    signature_of(w->m->expands ? &w->ops : NULL, &s);
    return plan_find_chosen(w->m, w->m->expands ? &w->ops : NULL, &s, params);
}

static void run_one(const struct many_worker *w, int point, const struct answers *a)
{
    const void *params = w->points->params(w->points->user, point);
    a->reasons[point] = point_check(w->m, params);
    if (!a->reasons[point]) point_estimate(w->m, params, a->metrics + (size_t)point * a->stride, NULL);
}

/* The points of one plan; few of them, and those that have none, one by one. */
static void run_part(struct many_worker *w, const struct plan *plan, const struct plan *const *plans, const struct answers *a)
{
    const struct block *all = w->points->block;
    struct block *part = &w->part;
    part->n = 0;
    part->n_axes = all->n_axes;
    part->is_lasting = all->is_lasting;
    memcpy(part->size, all->size, sizeof all->size);
    for (int p = 0; p < all->n; p++) {
        if (plans[p] != plan) continue;
        for (int axis = 0; axis < all->n_axes; axis++) part->at[axis][part->n] = all->at[axis][p];
        w->points_of_part[part->n++] = p;
    }
    if (!plan || part->n < FEW_POINTS) {
        for (int p = 0; p < part->n; p++) run_one(w, w->points_of_part[p], a);
        return;
    }
    block_begin(part);
    begin_block(w, part);
    w->point_of = w->points_of_part;
    run_alike(w, plan, a);
    w->point_of = NULL;
}

static bool any_chooses(const struct many_worker *w, int n)
{
    for (int p = 0; p < n && w->m->chosen.by; p++)
        if (chooses(w->m, w->points->params(w->points->user, p))) return true;
    return false;
}

/* The plan of each combination of what decides it. */
static const struct block_shape *find_plans(struct many_worker *w)
{
    struct block *b = w->block;
    if (!w->plans) {
        w->plans_of = block_table_new(b, reads_plan(&w->reads));
        const int most = w->plans_of ? w->plans_of->size : BLOCK_POINTS_MAX;
        w->plans = xcalloc((size_t)most, sizeof(struct plan *));
    }
    const struct block_shape *s =
        w->plans_of ? block_table_shape(w->plans_of, b) : block_shape(b, reads_plan(&w->reads) & block_varying(b));
    for (int c = 0; c < block_new_ones(s); c++) w->plans[s->from + c] = plan_at(w, s->point_of[c]);
    return s;
}

static void run(struct many_worker *w, const struct many_points *points, const char **reasons, void *metrics, size_t stride)
{
    const struct answers a = {reasons, metrics, stride};
    struct block *all = points->block;
    w->points = points;
    w->wanted = wanted_of(w->m, points->wanted);
    begin_block(w, all);
    w->point_of = NULL;
    const struct plan *plans[BLOCK_POINTS_MAX] = {NULL};
    bool alike = true;
    for (int p = 0; p < all->n; p++) reasons[p] = NULL;
    if (any_chooses(w, all->n)) { /* each takes another number */
        for (int p = 0; p < all->n; p++) run_one(w, p, &a);
        return;
    }
    const struct block_shape *s = find_plans(w);
    for (int p = 0; p < all->n; p++) {
        plans[p] = w->plans[s->of_point[p]];
        alike = alike && plans[p] == plans[0];
    }
    if (alike && plans[0] && all->n >= FEW_POINTS) {
        run_alike(w, plans[0], &a);
        return;
    }
    for (int p = 0; p < all->n; p++) {
        bool first = true;
        for (int q = 0; q < p && first; q++) first = plans[q] != plans[p];
        if (first) run_part(w, plans[p], plans, &a);
    }
}

/* Axes that the conditions of [beyond] and [unmeasured] and what [arithmetic] says depend on: of the nodes behind them. */
static uint32_t axes_beyond(const struct many_worker *w)
{
    const struct toml_model *m = w->m;
    uint32_t ret = 0;
    bool *needed = xcalloc((size_t)m->graph.n + 1, sizeof *needed);
    for (int i = 0; i < m->beyond.n; i++) needed[m->equations[m->beyond.list[i].equation].node] = true;
    for (int i = 0; i < INEXACT_NUMBERS && m->inexact[0] >= 0; i++) needed[m->equations[m->inexact[i]].node] = true;
    for (int i = 0; i < m->unmeasured.n; i++) needed[m->equations[m->unmeasured.list[i].equation].node] = true;
    for (int i = m->graph.n - 1; i >= 0; i--) {
        const struct graph_node *n = &m->graph.nodes[i];
        if (!needed[i]) continue;
        for (int k = 0; k < n->n_args; k++) needed[n->args[k]] = true;
        ret |= reads_node(&w->reads, n, m->graph.nodes);
    }
    free(needed);
    return ret;
}

static uint32_t standing(const struct many_worker *w)
{
    enum { OF_STANDING = 1 << GROUP_WORKLOAD | 1 << GROUP_REQUEST | 1 << GROUP_CACHE | 1 << GROUP_LOCALITY };
    return reads_groups(&w->reads, OF_STANDING) | axes_beyond(w);
}

static uint32_t axes_at(const struct many_worker *w, size_t offset)
{
    return reads_param(&w->reads, offset);
}

static void bound(struct many_worker *w, const struct many_boxes *boxes, bool *possible, void *floors, void *ceilings)
{
    if (!w->boxes) w->boxes = box_blocks_new(&w->reads);
    box_blocks_run(w->boxes, boxes, possible, floors, ceilings);
}

struct many many_of(const struct toml_model *m)
{
    return (struct many){worker_new, worker_free, run, axes_at, standing, bound, walk_moves, m};
}
