/* Blocks of boxes: bounds by the graph of a model over all of them at once. */
#include "toml_model/moves.h"
#include "toml_model/reads.h"

#include "base/xalloc.h"
#include "graph/boxes.h"

#include <dse/bound.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The code of one plan. */
struct code {
    const struct plan *plan;
    struct wanted wanted;
    struct boxes_code *boxes;
};

/* A workload of boxes and their choices, and what follows from these alone: kept, since a search meets the same again. */
struct work {
    char *key;
    uint64_t block;          /* that it was met in last */
    const struct plan *plan; /* NULL: it has several parts (dse/workload_box.h) or generations, or nothing is known */
    struct dse_workload_part part;
    struct graph_range *elements; /* by input of the plan */
};

enum { CODES_MAX = 64, WORKS = 1024, WORK_TRIES = 8 };

struct box_blocks {
    const struct reads *reads;
    const struct toml_model *m;
    uint32_t deciding; /* axes */
    struct code *codes[CODES_MAX];
    int n_codes, next; /* next: code that makes room for another */
    struct dse_oplist least, most;
    int *choices, n_choices; /* inputs */
    size_t key_size;
    char *key;
    struct work works[WORKS]; /* by a hash of their keys */
    uint64_t n_blocks;
    const struct graph_moves *params; /* that the moves of inputs were made of; NULL: none yet */
    struct input_moves moves;

    /* the block at hand */
    const struct many_boxes *boxes;
    const struct block_shape *works_of; /* which work a box of the whole block has: */
    const struct work *work[BLOCK_POINTS_MAX];
    struct code *codes_of[BLOCK_POINTS_MAX]; /* by work; NULL: its boxes are bounded one by one */
    struct wanted wanted;
    struct block *block; /* the caller's, or a part of it */
    int32_t *box_of;     /* of a part: which boxes; NULL of the whole */
    struct code *code;
    struct block part;
    int32_t boxes_of_part[BLOCK_POINTS_MAX];
    bool *possible;
    char *floors, *ceilings;
};

/* ---- axes -------------------------------------------------------------------------------------------------------------------- */

/* What a part's workload is at its ends follows from all of the box's workload. */
static uint32_t of_input(void *object, int what, int element)
{
    const struct box_blocks *b = object;
    const bool of_workload =
        element >= 0 || (b->m->inputs[what].kind == INPUT_FIELD && reads_in_group(b->m, GROUP_WORKLOAD, b->m->inputs[what].offset));
    return of_workload ? b->reads->of_group[GROUP_WORKLOAD] : b->reads->of_input[what];
}

static uint32_t of_groups(void *object, unsigned groups)
{
    const struct box_blocks *b = object;
    return reads_groups(b->reads, groups);
}

static uint32_t of_reference(void *object, size_t place)
{
    const struct box_blocks *b = object;
    return reads_param(b->reads, place);
}

/* ---- codes ------------------------------------------------------------------------------------------------------------------- */

struct box_blocks *box_blocks_new(const struct reads *reads)
{
    struct box_blocks *b = xcalloc(1, sizeof *b);
    const struct toml_model *m = reads->m;
    b->reads = reads;
    b->m = m;
    b->deciding = reads_plan(reads) | (m->groups.has[GROUP_WORKLOAD] ? reads->of_group[GROUP_WORKLOAD] : 0);
    b->choices = xcalloc((size_t)m->n_inputs + 1, sizeof *b->choices);
    for (int i = 0; i < m->n_inputs; i++)
        if (m->inputs[i].kind < INPUT_ELEMENT && m->inputs[i].type == DSE_TYPE_ENUM) b->choices[b->n_choices++] = i;
    b->key_size =
        (m->groups.has[GROUP_WORKLOAD] ? 2 * sizeof(struct dse_workload) : 0) + (size_t)(b->n_choices + 1) * sizeof(int32_t);
    b->key = xcalloc(1, b->key_size + 1);
    block_init(&b->part);
    return b;
}

static void code_free(struct code *c)
{
    if (!c) return;
    boxes_code_free(c->boxes);
    free(c);
}

void box_blocks_free(struct box_blocks *b)
{
    if (!b) return;
    for (int i = 0; i < b->n_codes; i++) code_free(b->codes[i]);
    for (int i = 0; i < WORKS; i++) free(b->works[i].key), free(b->works[i].elements);
    block_release(&b->part);
    input_moves_release(&b->moves);
    free(b->choices);
    free(b->key);
    free(b);
}

/* The hull of parts, and what bound() narrows by, are of the tokens, too. */
static struct wanted wanted_of_boxes(const struct toml_model *m, const bool *metrics)
{
    enum { PER_TOKEN = 1 << TOTAL_TIME | 1 << TOTAL_ENERGY | 1 << TOTAL_BYTES | 1 << TOTAL_OPS };
    struct wanted w = wanted_of(m, metrics);
    if (w.totals & PER_TOKEN) w.totals |= 1u << TOTAL_TOKENS;
    if (w.totals >> TOTAL_TIME & 1) w.totals |= 1u << TOTAL_TOKEN_TIME;
    if (w.totals >> TOTAL_ENERGY & 1) w.totals |= 1u << TOTAL_TOKEN_ENERGY;
    return w;
}

static struct code *code_new(struct box_blocks *b, const struct plan *p)
{
    struct code *c = xcalloc(1, sizeof *c);
    int n, *roots = wanted_roots(b->m, &b->wanted, p, &n);
    *c = (struct code){.plan = p, .wanted = b->wanted};
    c->boxes = boxes_code_new(&p->graph, roots, n, &(struct block_axes){b, of_input, of_groups, of_reference});
    free(roots);
    return c;
}

/* Works of the block at hand hold codes: their room is not taken. */
static bool is_held(const struct box_blocks *b, const struct code *c, int works)
{
    for (int i = 0; i < works; i++)
        if (b->codes_of[i] == c) return true;
    return false;
}

/* The code of a plan, for work number `work`; NULL: there is no room for it. */
static struct code *find_code(struct box_blocks *b, const struct plan *p, int work)
{
    for (int i = 0; i < b->n_codes; i++)
        if (b->codes[i]->plan == p && wanted_same(&b->codes[i]->wanted, &b->wanted)) return b->codes[i];
    if (b->n_codes < CODES_MAX) return b->codes[b->n_codes++] = code_new(b, p);
    struct code **c = &b->codes[b->next++ % CODES_MAX];
    if (is_held(b, *c, work)) return NULL;
    code_free(*c);
    return *c = code_new(b, p);
}

/* ---- workloads --------------------------------------------------------------------------------------------------------------- */

static void read_elements(const struct box_blocks *b, struct work *w, const void *lo, const void *hi)
{
    w->elements = xcalloc((size_t)w->plan->n_inputs + 1, sizeof *w->elements);
    for (int i = 0; i < w->plan->n_inputs; i++) {
        const struct plan_input *in = &w->plan->inputs[i];
        if (in->element >= 0) w->elements[i] = box_input(point_input(b->m, in, lo, &b->least), point_input(b->m, in, hi, &b->most));
    }
}

static void make_work(struct box_blocks *b, struct work *w, const void *lo, const void *hi)
{
    struct signature s;
    if (!w->key) w->key = xmalloc(b->key_size + 1);
    memcpy(w->key, b->key, b->key_size);
    free(w->elements);
    w->elements = NULL;
    w->plan = NULL;
    if (box_generates(b->m, lo, hi)) return; /* whose steps have other contexts than the parameters */
    if (chooses(b->m, lo)) return;           /* point_bound */
    if (b->m->groups.has[GROUP_WORKLOAD] && !box_is_one_part(b->m, lo, hi, &w->part)) return;
    if (b->m->expands) expand_part(b->m, &w->part, &b->least, &b->most);
    signature_of(b->m->expands ? &b->least : NULL, &s);
    w->plan = plan_find_chosen(b->m, b->m->expands ? &b->least : NULL, &s, lo);
    if (b->m->expands && w->plan) read_elements(b, w, lo, hi);
}

/* What tells one work from another: the workload at both ends, the choices, and whether there are generations. */
static void make_key(struct box_blocks *b, const void *lo, const void *hi)
{
    const size_t at = b->m->groups.offset[GROUP_WORKLOAD], size = sizeof(struct dse_workload);
    char *to = b->key;
    if (b->m->groups.has[GROUP_WORKLOAD]) {
        memcpy(to, (const char *)lo + at, size);
        memcpy(to + size, (const char *)hi + at, size);
        to += 2 * size;
    }
    for (int i = 0; i <= b->n_choices; i++) {
        const bool last = i == b->n_choices;
        const int32_t x =
            last ? box_generates(b->m, lo, hi) : (int32_t)point_input(b->m, &(struct plan_input){0, b->choices[i], -1}, lo, NULL);
        memcpy(to + (size_t)i * sizeof(int32_t), &x, sizeof x);
    }
}

static size_t hash_of(const char *key, size_t n)
{
    uint64_t h = 0, word;
    for (size_t i = 0; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, key + i, sizeof word);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    for (size_t i = n / sizeof word * sizeof word; i < n; i++) h = (h ^ (unsigned char)key[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32);
}

/* The work of a box of the block; NULL: there is no room for it beside the others of this block. */
static const struct work *work_at(struct box_blocks *b, int box)
{
    const void *lo, *hi;
    struct work *room = NULL;
    b->boxes->ends(b->boxes->user, box, &lo, &hi);
    make_key(b, lo, hi);
    const size_t hash = hash_of(b->key, b->key_size);
    for (size_t i = 0; i < WORK_TRIES; i++) {
        struct work *w = &b->works[(hash + i) % WORKS];
        if (w->key && memcmp(w->key, b->key, b->key_size) == 0) {
            w->block = b->n_blocks;
            return w;
        }
        if (w->block != b->n_blocks && (!room || w->block < room->block)) room = w;
    }
    if (!room) return NULL;
    make_work(b, room, lo, hi);
    room->block = b->n_blocks;
    return room;
}

static void find_works(struct box_blocks *b)
{
    b->n_blocks++;
    for (int i = 0; i < b->works_of->n; i++) {
        b->work[i] = work_at(b, b->works_of->point_of[i]);
        b->codes_of[i] = b->work[i] && b->work[i]->plan ? find_code(b, b->work[i]->plan, i) : NULL;
    }
}

/* ---- what the graph reads ---------------------------------------------------------------------------------------------------- */

static int whole_of(const struct box_blocks *b, int box)
{
    return b->box_of ? b->box_of[box] : box;
}

static const struct work *work_of(const struct box_blocks *b, int box)
{
    return b->work[b->works_of->of_point[whole_of(b, box)]];
}

static int place_of_input(const struct plan *p, int what, int element)
{
    int i = 0;
    while (p->inputs[i].what != what || p->inputs[i].element != element) i++;
    return i;
}

static void read_input(void *object, const struct block_shape *s, int what, int element, struct graph_range *ret)
{
    struct box_blocks *b = object;
    const struct plan_input direct = {0, what, element};
    const struct input *in = &b->m->inputs[what];
    if (element >= 0) {
        const int at = place_of_input(b->code->plan, what, element);
        for (int i = 0; i < s->n; i++) ret[i] = work_of(b, s->point_of[i])->elements[at];
        return;
    }
    const bool of_workload = in->kind == INPUT_FIELD && reads_in_group(b->m, GROUP_WORKLOAD, in->offset);
    for (int i = 0; i < s->n; i++) {
        const struct dse_workload_part *part = &work_of(b, s->point_of[i])->part;
        const void *lo, *hi;
        b->boxes->ends(b->boxes->user, whole_of(b, s->point_of[i]), &lo, &hi);
        ret[i] = of_workload ? box_input(point_workload_input(b->m, what, &part->lo), point_workload_input(b->m, what, &part->hi))
                             : box_input(box_end(b->m, &direct, lo, NULL, false), box_end(b->m, &direct, hi, NULL, true));
    }
}

static struct groups_box groups_at(const struct box_blocks *b, int box)
{
    const void *lo, *hi;
    b->boxes->ends(b->boxes->user, whole_of(b, box), &lo, &hi);
    struct groups_box g = {groups_of(&b->m->groups, lo), groups_of(&b->m->groups, hi), NULL};
    if (b->m->groups.has[GROUP_WORKLOAD]) {
        g.part = &work_of(b, box)->part;
        g.lo.workload = &g.part->lo;
        g.hi.workload = &g.part->hi;
    }
    return g;
}

static bool read_groups(void *object, unsigned groups, int box, struct groups_box *ret)
{
    *ret = groups_at(object, box);
    return groups_same(&ret->lo, &ret->hi, groups) == groups;
}

static struct graph_moves read_moves(void *object, int what, int element)
{
    (void)element; /* of any the same is known */
    const struct box_blocks *b = object;
    return b->moves.inputs[what];
}

static uint32_t read_group_moves(void *object, enum group g)
{
    const struct box_blocks *b = object;
    return b->moves.groups[g];
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

static void *floor_of(const struct box_blocks *b, int box)
{
    return b->floors + (size_t)whole_of(b, box) * b->boxes->stride;
}

static void *ceiling_of(const struct box_blocks *b, int box)
{
    return b->ceilings + (size_t)whole_of(b, box) * b->boxes->stride;
}

static void fill_possible(const struct box_blocks *b)
{
    for (int box = 0; box < b->block->n; box++) b->possible[whole_of(b, box)] = true;
    for (int i = 0; i < b->m->check.n; i++) {
        const int node = b->code->plan->equations[b->m->check.list[i].equation];
        const struct block_shape *s = boxes_shape(b->code->boxes, node);
        bool refuses[BLOCK_POINTS_MAX], any = false;
        for (int c = 0; c < s->n; c++) any |= refuses[c] = box_refuses(boxes_range_of(b->code->boxes, node, c));
        for (int box = 0; box < b->block->n && any; box++)
            if (refuses[s->of_point[box]]) b->possible[whole_of(b, box)] = false;
    }
}

/* The node of a total that is asked for; -1: it is not. */
static int node_of_total(const struct box_blocks *b, int total)
{
    const int equation = b->m->totals[total];
    return equation < 0 || !(b->wanted.totals >> total & 1) ? -1 : b->code->plan->equations[equation];
}

/* The combinations of boxes that the common metrics differ in. */
static const struct block_shape *shape_of_common(const struct box_blocks *b)
{
    enum { OF_BILLS = 1 << GROUP_WORKLOAD | 1 << GROUP_MEMORY | 1 << GROUP_ECONOMICS };
    uint32_t axes = reads_groups(b->reads, b->wanted.bill ? OF_BILLS : 1 << GROUP_WORKLOAD) & block_varying(b->block);
    for (int i = 0; i < TOTALS; i++) {
        const int node = node_of_total(b, i);
        if (node >= 0) axes |= boxes_shape(b->code->boxes, node)->axes;
    }
    return block_shape(b->block, axes);
}

static void fill_common(struct box_blocks *b)
{
    const struct block_shape *s = shape_of_common(b);
    struct graph_range totals[TOTALS];
    int nodes[TOTALS];
    for (int i = 0; i < TOTALS; i++) nodes[i] = node_of_total(b, i);
    for (int c = 0; c < s->n; c++) {
        const int first = s->point_of[c];
        const struct groups_box g = groups_at(b, first);
        for (int i = 0; i < TOTALS; i++) totals[i] = nodes[i] < 0 ? range_unknown : boxes_range(b->code->boxes, nodes[i], first);
        box_common(b->m, &g, totals, b->wanted.bill, floor_of(b, first), ceiling_of(b, first));
    }
    for (int box = 0; box < b->block->n && s->n < b->block->n; box++) {
        const int first = s->point_of[s->of_point[box]];
        if (first == box) continue;
        memcpy(floor_of(b, box), floor_of(b, first), sizeof(struct dse_common));
        memcpy(ceiling_of(b, box), ceiling_of(b, first), sizeof(struct dse_common));
    }
}

static void fill_own(const struct box_blocks *b)
{
    for (int i = 0; i < b->m->n_own; i++) {
        const struct own_metric *own = &b->m->own[i];
        if (!wanted_own(b->m, &b->wanted, i)) continue;
        const int node = b->code->plan->equations[own->equation];
        for (int box = 0; box < b->block->n; box++)
            box_own(own, boxes_range(b->code->boxes, node, box), floor_of(b, box), ceiling_of(b, box));
    }
}

/* Of a box of the block, for moves_of_metrics. */
struct at_box {
    const struct box_blocks *b;
    int box;
};

static struct graph_range range_at(void *object, int equation)
{
    const struct at_box *at = object;
    const int node = at->b->code->plan->equations[equation];
    struct graph_range ret = boxes_range(at->b->code->boxes, node, at->box);
    ret.moves = boxes_moves(at->b->code->boxes, node, at->box);
    return ret;
}

static struct graph_moves *moves_at(const struct box_blocks *b, int box)
{
    return b->boxes->moves + (size_t)whole_of(b, box) * (b->m->n_common + (size_t)b->m->n_own + 1);
}

static void fill_moves(const struct box_blocks *b)
{
    for (int box = 0; box < b->block->n; box++) {
        struct at_box at = {b, box};
        const struct dse_workload_part *part = b->m->groups.has[GROUP_WORKLOAD] ? &work_of(b, box)->part : NULL;
        moves_of_metrics(&(struct box_moves){b->m, &b->moves, part, &at, range_at}, b->boxes->wanted, moves_at(b, box));
    }
}

/* ---- blocks ------------------------------------------------------------------------------------------------------------------ */

/* All boxes of the block have this code. */
static void run_alike(struct box_blocks *b, struct code *code)
{
    const bool moved = b->boxes->params != NULL;
    const struct boxes_source source = {b, read_input, read_groups, moved ? read_moves : NULL, read_group_moves};
    b->code = code;
    boxes_run(code->boxes, b->block, &source);
    fill_possible(b);
    fill_common(b);
    fill_own(b);
    if (moved) fill_moves(b);
}

static void run_one(struct box_blocks *b, int box)
{
    const void *lo, *hi;
    b->boxes->ends(b->boxes->user, box, &lo, &hi);
    dse_bound_nothing(b->m->metrics, floor_of(b, box), ceiling_of(b, box));
    b->possible[box] = point_bound(b->m, lo, hi, floor_of(b, box), ceiling_of(b, box));
    for (size_t i = 0; b->boxes->params && i <= b->m->n_common + (size_t)b->m->n_own; i++) moves_at(b, box)[i] = moves_any(~0u);
}

static void run_part(struct box_blocks *b, struct code *code)
{
    const struct block *all = b->boxes->block;
    struct block *part = &b->part;
    part->n = 0;
    part->n_axes = all->n_axes;
    memcpy(part->size, all->size, sizeof all->size);
    for (int box = 0; box < all->n; box++) {
        if (b->codes_of[b->works_of->of_point[box]] != code) continue;
        for (int axis = 0; axis < all->n_axes; axis++) part->at[axis][part->n] = all->at[axis][box];
        b->boxes_of_part[part->n++] = box;
    }
    block_begin(part);
    b->block = part;
    b->box_of = b->boxes_of_part;
    run_alike(b, code);
    b->box_of = NULL;
}

void box_blocks_run(struct box_blocks *b, const struct many_boxes *boxes, bool *possible, void *floors, void *ceilings)
{
    struct block *all = boxes->block;
    b->boxes = boxes;
    if (boxes->params && boxes->params != b->params) {
        input_moves_release(&b->moves);
        input_moves_make(b->m, boxes->params, &b->moves);
        b->params = boxes->params;
    }
    b->wanted = wanted_of_boxes(b->m, boxes->wanted);
    b->block = all;
    b->box_of = NULL;
    b->possible = possible;
    b->floors = floors;
    b->ceilings = ceilings;
    b->works_of = block_shape(all, b->deciding & block_varying(all));
    find_works(b);
    bool alike = b->codes_of[0] != NULL;
    for (int i = 1; i < b->works_of->n; i++) alike = alike && b->codes_of[i] == b->codes_of[0];
    if (alike) {
        run_alike(b, b->codes_of[0]);
        return;
    }
    for (int box = 0; box < all->n; box++)
        if (!b->codes_of[b->works_of->of_point[box]]) run_one(b, box);
    for (int i = 0; i < b->works_of->n; i++) {
        bool first = b->codes_of[i] != NULL;
        for (int k = 0; k < i && first; k++) first = b->codes_of[k] != b->codes_of[i];
        if (first) run_part(b, b->codes_of[i]);
    }
}
