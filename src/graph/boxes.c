#include "graph/boxes.h"

#include "base/xalloc.h"
#include "graph/block_order.h"
#include "graph/solve.h"

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is known of the ends of all ranges of a room: the more, the faster is an operation. */
enum kind {
    KIND_PLAIN,  /* at least 0 and finite, there is a number, and no zero is a negative one */
    KIND_FINITE, /* the same, but it may be below 0 */
    KIND_OPEN,   /* as plain, but the upper end may be infinite */
    KIND_ANY
};

/* The ranges of a node, one for each combination of its shape. They stand behind it. */
struct room {
    enum kind kind;
    bool has_none;  /* at some points of some boxes there may be no number */
    bool is_moved;  /* some of them move */
    bool is_single; /* it has space for one */
    double *lo, *hi;
    uint64_t *moves;  /* where is_moved: struct graph_moves, `down` in the upper half */
    bool *none;       /* where has_none */
    bool *minus_zero; /* of KIND_ANY */
};

struct node {
    const struct block_shape *shape;
    struct room *v[PRIMITIVE_RESULTS_MAX]; /* of a call, of each of its answers */
};

struct boxes_code {
    const struct graph *g;
    struct slots slots; /* where there is a SOLVE */
    struct solve_body *solves;
    int n_solves;
    struct graph_range *ranges; /* by slot */
    struct block_order order;
    struct block_sides sides;
    struct node *nodes;
    int n_fixed; /* so many nodes of the order, the first ones, depend on no axis: they are computed in the first run alone */
    bool is_fixed_known;
    int *kept, n_kept; /* nodes that are not let go within a run: roots, and calls of which one is an answer */
    uint32_t *axes;    /* the different sets of axes that nodes depend on */
    int *axes_of;      /* by node: which of them */
    const struct block_shape **shapes;
    int n_axes;
    struct block_rooms rooms, singles; /* struct room */
    struct room *gathered[3];
    struct block_places_kept places;
};

/* ---- rooms ------------------------------------------------------------------------------------------------------------------- */

static size_t room_bytes(size_t n)
{
    return sizeof(struct room) + n * (2 * sizeof(double) + sizeof(uint64_t) + 2 * sizeof(bool));
}

/* Of n ranges, or of more. */
static struct room *take_room(struct boxes_code *c, int n)
{
    const size_t space = n == 1 ? 1 : BOXES_MAX;
    struct room *r = block_rooms_take(n == 1 ? &c->singles : &c->rooms);
    r->is_single = n == 1;
    r->is_moved = false;
    r->lo = (double *)(r + 1);
    r->hi = r->lo + space;
    r->moves = (uint64_t *)(r->hi + space);
    r->none = (bool *)(r->moves + space);
    r->minus_zero = r->none + space;
    return r;
}

static void give_room(struct boxes_code *c, struct room *r)
{
    if (r) block_rooms_give(r->is_single ? &c->singles : &c->rooms, r);
}

static struct graph_range get(const struct room *r, int i)
{
    return (struct graph_range){r->lo[i], r->hi[i], r->has_none && r->none[i], r->kind == KIND_ANY && r->minus_zero[i]};
}

static struct graph_moves moves_at(const struct room *r, int i)
{
    return r->is_moved ? (struct graph_moves){(uint32_t)r->moves[i], (uint32_t)(r->moves[i] >> 32)} : moves_any(0);
}

static uint64_t packed(struct graph_moves m)
{
    return m.up | (uint64_t)m.down << 32;
}

static struct graph_range get_moved(const struct room *r, int i)
{
    struct graph_range ret = get(r, i);
    ret.moves = moves_at(r, i);
    return ret;
}

static void set(struct room *r, int i, struct graph_range v)
{
    r->lo[i] = v.lo;
    r->hi[i] = v.hi;
    r->none[i] = v.none;
    r->minus_zero[i] = v.minus_zero;
}

/* Of ranges that were set one by one. */
static void find_kind(struct room *r, int n)
{
    bool none = false, any = false, negative = false, open = false;
    for (int i = 0; i < n; i++) {
        none |= r->none[i];
        any |= r->minus_zero[i] | !(r->lo[i] <= r->hi[i]) | !(fabs(r->lo[i]) < (double)INFINITY);
        open |= !(r->hi[i] < (double)INFINITY);
        negative |= r->lo[i] < 0;
    }
    r->has_none = none;
    r->kind = any || (open && negative) ? KIND_ANY : open ? KIND_OPEN : negative ? KIND_FINITE : KIND_PLAIN;
}

/* Of ranges that an operation on finite or open ones has given: so many have no finite upper end, so many none below, and so many
 * may be below 0. */
static void set_kind(struct room *r, int n, double open, double endless, double negative)
{
    r->has_none = false;
    const enum kind kind = negative > 0 ? KIND_FINITE : KIND_PLAIN;
    r->kind = endless > 0 || (open > 0 && negative > 0) ? KIND_ANY : open > 0 ? KIND_OPEN : kind;
    if (r->kind == KIND_ANY) memset(r->minus_zero, 0, (size_t)n * sizeof *r->minus_zero);
}

/* ---- code -------------------------------------------------------------------------------------------------------------------- */

static int find_axes(struct boxes_code *c, uint32_t axes)
{
    for (int i = 0; i < c->n_axes; i++)
        if (c->axes[i] == axes) return i;
    c->axes[c->n_axes] = axes;
    return c->n_axes++;
}

static void add_solve(struct boxes_code *c, int node)
{
    if (!c->slots.of) slots_make(c->g, &c->slots);
    if (!c->ranges) c->ranges = xcalloc((size_t)c->slots.n + 1, sizeof *c->ranges);
    c->solves = xrealloc(c->solves, (size_t)c->n_solves + 1, sizeof *c->solves);
    solve_body_make(c->g, node, &c->solves[c->n_solves++]);
}

struct boxes_code *boxes_code_new(const struct graph *g, const int *roots, int n, const struct block_axes *axes)
{
    struct boxes_code *c = xcalloc(1, sizeof *c);
    c->g = g;
    c->nodes = xcalloc((size_t)g->n + 1, sizeof *c->nodes);
    c->kept = xcalloc((size_t)g->n + 1, sizeof *c->kept);
    c->axes = xcalloc((size_t)g->n + 1, sizeof *c->axes);
    c->axes_of = xcalloc((size_t)g->n + 1, sizeof *c->axes_of);
    c->shapes = xcalloc((size_t)g->n + 1, sizeof(struct block_shape *));
    c->rooms.size = room_bytes(BOXES_MAX);
    c->singles.size = room_bytes(1);
    for (int k = 0; k < 3; k++) c->gathered[k] = take_room(c, BOXES_MAX);
    block_order_make(g, roots, n, axes, &c->order);
    c->n_fixed = block_order_fix(g, &c->order);
    block_sides_make(g, &c->order, c->n_fixed, roots, n, &c->sides);
    for (int i = 0; i < c->order.n; i++) {
        const int node = c->order.list[i];
        if (i >= c->n_fixed && c->order.last[node] == g->n && g->nodes[node].op != GRAPH_RESULT) c->kept[c->n_kept++] = node;
        c->axes_of[node] = find_axes(c, c->order.axes[node]);
        if (g->nodes[node].op == GRAPH_SOLVE) add_solve(c, node);
    }
    return c;
}

static void let_go(struct boxes_code *c, int node)
{
    struct node *n = &c->nodes[node];
    const struct graph_node *of = &c->g->nodes[node];
    if (of->op == GRAPH_RESULT) return; /* its ranges are the call's */
    for (int k = 0; k < block_results(of); k++) {
        give_room(c, n->v[k]);
        n->v[k] = NULL;
    }
}

void boxes_code_free(struct boxes_code *c)
{
    if (!c) return;
    for (int i = 0; i < c->n_kept; i++) let_go(c, c->kept[i]);
    for (int i = 0; i < c->n_fixed; i++) let_go(c, c->order.list[i]);
    for (int k = 0; k < 3; k++) give_room(c, c->gathered[k]);
    for (int i = 0; i < c->n_solves; i++) solve_body_release(&c->solves[i]);
    free(c->solves);
    free(c->ranges);
    slots_release(&c->slots);
    block_rooms_release(&c->rooms);
    block_rooms_release(&c->singles);
    block_order_release(&c->order);
    block_sides_release(&c->sides);
    free(c->kept);
    free(c->axes);
    free(c->axes_of);
    free(c->shapes);
    free(c->nodes);
    free(c);
}

/* ---- operations -------------------------------------------------------------------------------------------------------------- */

/* One range for all combinations of a shape. */
static struct room *spread(const struct room *from, int n, struct room *to)
{
    const struct graph_range one = get(from, 0);
    to->kind = from->kind;
    to->has_none = from->has_none;
    _Pragma("omp simd") for (int i = 0; i < n; i++)
    {
        to->lo[i] = one.lo;
        to->hi[i] = one.hi;
    }
    for (int i = 0; i < n && to->has_none; i++) to->none[i] = one.none;
    for (int i = 0; i < n && to->kind == KIND_ANY; i++) to->minus_zero[i] = one.minus_zero;
    to->is_moved = from->is_moved;
    for (int i = 0; i < n && to->is_moved; i++) to->moves[i] = from->moves[0];
    return to;
}

/* The ranges of an argument at the combinations of a shape: as they stand, or gathered into `to`. */
static struct room *argument(struct boxes_code *c, int node, const struct block_shape *s, struct room *to)
{
    const struct node *n = &c->nodes[node];
    struct room *from = n->v[0];
    if (n->shape == s) return from;
    if (n->shape->n == 1) return spread(from, s->n, to);
    const uint16_t *at = block_places(&c->places, n->shape, s)->at;
    to->kind = from->kind;
    to->has_none = from->has_none;
    for (int i = 0; i < s->n; i++) to->lo[i] = from->lo[at[i]], to->hi[i] = from->hi[at[i]];
    for (int i = 0; i < s->n && from->has_none; i++) to->none[i] = from->none[at[i]];
    for (int i = 0; i < s->n && from->kind == KIND_ANY; i++) to->minus_zero[i] = from->minus_zero[at[i]];
    to->is_moved = from->is_moved;
    for (int i = 0; i < s->n && from->is_moved; i++) to->moves[i] = from->moves[at[i]];
    return to;
}

/* The least and the most of each. */
#define ENDS(least, most) \
    _Pragma("omp simd reduction(+: open, endless, negative)") for (int i = 0; i < n; i++) \
    { \
        r->lo[i] = least; \
        r->hi[i] = most; \
        open += r->hi[i] < (double)INFINITY ? 0.0 : 1.0; \
        endless += fabs(r->lo[i]) < (double)INFINITY ? 0.0 : 1.0; \
        negative += r->lo[i] < 0 ? 1.0 : 0.0; \
    } \
    break

/* The same of what is finite where its arguments are. */
#define FINITE(least, most) \
    _Pragma("omp simd reduction(+: negative)") for (int i = 0; i < n; i++) \
    { \
        r->lo[i] = least; \
        r->hi[i] = most; \
        negative += r->lo[i] < 0 ? 1.0 : 0.0; \
    } \
    break

static bool is_above_0(const struct room *r, int n)
{
    double others = 0;
    _Pragma("omp simd reduction(+: others)") for (int i = 0; i < n; i++) others += r->lo[i] > 0 ? 0.0 : 1.0;
    return others == 0;
}

/* Of plain ranges. False: it is none of these operations. */
BLOCK_WIDE static bool operate_plain(enum graph_op op, int n, const struct room *restrict a, const struct room *restrict b,
                                     struct room *restrict r)
{
    double open = 0, endless = 0, negative = 0;
    switch (op) {
    case GRAPH_MUL: ENDS(a->lo[i] * b->lo[i], a->hi[i] * b->hi[i]);
    case GRAPH_DIV:
        if (!is_above_0(b, n)) return false;
        ENDS(a->lo[i] / b->hi[i], a->hi[i] / b->lo[i]);
    case GRAPH_SQRT: ENDS(sqrt(a->lo[i]), sqrt(a->hi[i]));
    case GRAPH_CEIL: FINITE(ceil(a->lo[i]), ceil(a->hi[i]));
    case GRAPH_FLOOR: FINITE(floor(a->lo[i]), floor(a->hi[i]));
    default: return false;
    }
    set_kind(r, n, open, endless, negative);
    return true;
}

#define IS_TRUE(r) ((r->lo[i] != 0) | (r->hi[i] != 0))
#define IS_FALSE(r) ((r->lo[i] <= 0) & (r->hi[i] >= 0))
#define IS_EQUAL ((a->lo[i] == a->hi[i]) & (b->lo[i] == b->hi[i]) & (a->lo[i] == b->lo[i]))
#define IS_APART ((a->hi[i] < b->lo[i]) | (b->hi[i] < a->lo[i]))
#define TRUTH(surely, maybe) FINITE((surely) ? 1.0 : 0.0, (maybe) ? 1.0 : 0.0)

/* Of finite ranges. */
BLOCK_WIDE static bool operate_finite(enum graph_op op, int n, const struct room *restrict a, const struct room *restrict b,
                                      struct room *restrict r)
{
    double open = 0, endless = 0, negative = 0;
    switch (op) {
    case GRAPH_ADD: ENDS(a->lo[i] + b->lo[i], a->hi[i] + b->hi[i]);
    case GRAPH_SUB: ENDS(a->lo[i] - b->hi[i], a->hi[i] - b->lo[i]);
    case GRAPH_MIN: FINITE(dse_min(a->lo[i], b->lo[i]), dse_min(a->hi[i], b->hi[i]));
    case GRAPH_MAX: FINITE(dse_max(a->lo[i], b->lo[i]), dse_max(a->hi[i], b->hi[i]));
    case GRAPH_LT: TRUTH(a->hi[i] < b->lo[i], a->lo[i] < b->hi[i]);
    case GRAPH_LE: TRUTH(a->hi[i] <= b->lo[i], a->lo[i] <= b->hi[i]);
    case GRAPH_EQ: TRUTH(IS_EQUAL, !IS_APART);
    case GRAPH_NE: TRUTH(IS_APART, !IS_EQUAL);
    case GRAPH_AND: TRUTH(!(IS_FALSE(a) | IS_FALSE(b)), IS_TRUE(a) & IS_TRUE(b));
    case GRAPH_OR: TRUTH(!(IS_FALSE(a) & IS_FALSE(b)), IS_TRUE(a) | IS_TRUE(b));
    default: return false;
    }
    set_kind(r, n, open, endless, negative);
    return true;
}

/* Is anywhere one of both 0, or (`both`) infinite, where the other is infinite? */
static bool meets_infinity(const struct room *a, const struct room *b, int n, bool both)
{
    const double infinite = (double)INFINITY;
    double met = 0;
    _Pragma("omp simd reduction(+: met)") for (int i = 0; i < n; i++)
    {
        const bool a_open = !(a->hi[i] < infinite), b_open = !(b->hi[i] < infinite);
        met += (both ? a_open & b_open : (a_open & (b->lo[i] <= 0)) | (b_open & (a->lo[i] <= 0))) ? 1.0 : 0.0;
    }
    return met > 0;
}

/* Of plain and open ranges. False: it is none of these operations, or there may be no number. */
BLOCK_WIDE static bool operate_open(enum graph_op op, int n, const struct room *restrict a, const struct room *restrict b,
                                    struct room *restrict r)
{
    double open = 0, endless = 0, negative = 0;
    switch (op) {
    case GRAPH_ADD: ENDS(a->lo[i] + b->lo[i], a->hi[i] + b->hi[i]);
    case GRAPH_MIN: ENDS(dse_min(a->lo[i], b->lo[i]), dse_min(a->hi[i], b->hi[i]));
    case GRAPH_MAX: ENDS(dse_max(a->lo[i], b->lo[i]), dse_max(a->hi[i], b->hi[i]));
    case GRAPH_MUL:
        if (meets_infinity(a, b, n, false)) return false;
        ENDS(a->lo[i] * b->lo[i], a->hi[i] * b->hi[i]);
    case GRAPH_DIV:
        if (!is_above_0(b, n) || meets_infinity(a, b, n, true)) return false;
        ENDS(a->lo[i] / b->hi[i], a->hi[i] / b->lo[i]);
    default: return false;
    }
    set_kind(r, n, open, endless, negative);
    return true;
}

static void choose_finite(int n, const struct room *restrict a, const struct room *restrict b, const struct room *restrict c,
                          struct room *restrict r)
{
    double open = 0, negative = 0;
    for (int i = 0; i < n; i++) {
        const bool yes = !IS_FALSE(a), no = !IS_TRUE(a);
        r->lo[i] = yes ? b->lo[i] : no ? c->lo[i] : dse_min(b->lo[i], c->lo[i]);
        r->hi[i] = yes ? b->hi[i] : no ? c->hi[i] : dse_max(b->hi[i], c->hi[i]);
        open += !(r->hi[i] < (double)INFINITY);
        negative += r->lo[i] < 0;
    }
    set_kind(r, n, open, 0, negative);
}

/* Arithmetic on what may be no number gives what it gives on numbers, and may give none. */
static void add_none(int n, const struct room *a, const struct room *b, struct room *r)
{
    for (int i = 0; i < n; i++) r->none[i] = (a->has_none && a->none[i]) || (b->has_none && b->none[i]);
    r->has_none = true;
}

static bool is_from_0(const struct room *r)
{
    return r->kind == KIND_PLAIN || r->kind == KIND_OPEN;
}

static bool is_arithmetic(enum graph_op op)
{
    return op == GRAPH_ADD || op == GRAPH_SUB || op == GRAPH_MUL || op == GRAPH_DIV || op == GRAPH_SQRT || op == GRAPH_CEIL ||
           op == GRAPH_FLOOR;
}

static bool is_usual(const struct room *r, int i)
{
    return r->lo[i] >= 0 && r->lo[i] <= r->hi[i] && r->hi[i] < (double)INFINITY;
}

static bool is_none(const struct room *r, int i)
{
    return r->has_none && r->none[i];
}

static bool is_minus(const struct room *r, int i)
{
    return r->kind == KIND_ANY && r->minus_zero[i];
}

static bool is_one(const struct room *r, int i)
{
    return r->lo[i] == 1 && r->hi[i] == 1 && !is_none(r, i);
}

/* Then the result is what the operation gives, zeros and all. */
static bool are_exact(const struct room *a, const struct room *b, int i)
{
    return range_is_exact(get(a, i)) && range_is_exact(get(b, i));
}

/* One after the other, as range_apply says it (range.c): without a call where both are numbers from 0 on, as most are. */
#define EACH(usual, least, most, is_minus_zero) \
    for (int i = 0; i < n; i++) { \
        if (is_usual(a, i) && is_usual(b, i) && (usual)) \
            set(r, i, (struct graph_range){least, most, is_none(a, i) || is_none(b, i), (is_minus_zero) && !are_exact(a, b, i)}); \
        else \
            set(r, i, range_apply(op, get(a, i), get(b, i), get(b, i))); \
    } \
    return true

/* False: it is none of these operations. */
static bool operate_each(enum graph_op op, int n, const struct room *a, const struct room *b, struct room *r)
{
#define MINUS(r) (is_minus(r, i) && (r)->lo[i] <= 0)
    switch (op) {
    case GRAPH_ADD: EACH(true, a->lo[i] + b->lo[i], a->hi[i] + b->hi[i], is_minus(a, i) && is_minus(b, i));
    case GRAPH_MUL: EACH(!is_one(a, i) && !is_one(b, i), a->lo[i] * b->lo[i], a->hi[i] * b->hi[i], MINUS(a) || MINUS(b));
    case GRAPH_DIV: EACH(b->lo[i] > 0 && !is_one(b, i), a->lo[i] / b->hi[i], a->hi[i] / b->lo[i], MINUS(a));
    case GRAPH_MIN:
        EACH(!is_none(a, i) && !is_none(b, i), dse_min(a->lo[i], b->lo[i]), dse_min(a->hi[i], b->hi[i]),
             is_minus(a, i) || is_minus(b, i));
    case GRAPH_MAX:
        EACH(!is_none(a, i) && !is_none(b, i), dse_max(a->lo[i], b->lo[i]), dse_max(a->hi[i], b->hi[i]),
             is_minus(a, i) || is_minus(b, i));
    default: return false;
    }
#undef MINUS
}

static void operate(enum graph_op op, int n, const struct room *a, const struct room *b, const struct room *c, struct room *r)
{
    const enum kind most = a->kind > b->kind ? a->kind : b->kind;
    const bool none = a->has_none || b->has_none || c->has_none;
    if (op == GRAPH_CHOOSE && most < KIND_ANY && c->kind < KIND_ANY && !none) {
        choose_finite(n, a, b, c, r);
        return;
    }
    if ((!none || is_arithmetic(op)) &&
        ((most <= KIND_FINITE && operate_finite(op, n, a, b, r)) || (most == KIND_PLAIN && operate_plain(op, n, a, b, r)) ||
         (is_from_0(a) && is_from_0(b) && operate_open(op, n, a, b, r)))) {
        if (none) add_none(n, a, b, r);
        return;
    }
    if (!operate_each(op, n, a, b, r))
        for (int i = 0; i < n; i++) set(r, i, range_apply(op, get(a, i), get(b, i), get(c, i)));
    find_kind(r, n);
}

/* ---- moves ------------------------------------------------------------------------------------------------------------------- */

static bool is_fixed(const struct room *r, int i)
{
    return r->lo[i] == r->hi[i] && range_is_exact(get(r, i));
}

/* Those of a shape's ranges that are not one number move as told. */
static void set_moves(struct room *r, int n, struct graph_moves m)
{
    r->is_moved = moves_all(m) != 0;
    for (int i = 0; i < n && r->is_moved; i++) r->moves[i] = is_fixed(r, i) ? 0 : packed(m);
}

/* As moves_of says it, of ranges that are numbers everywhere; none is a negative zero. */
#define MOVES(like, of_args) \
    if (moves_like(op) == (like)) { \
        _Pragma("omp simd") for (int i = 0; i < n; i++) r->moves[i] = r->lo[i] != r->hi[i] ? (of_args) : 0; \
        return true; \
    }
#define TURNED_ROUND(moves) ((moves) << 32 | (moves) >> 32)
#define TURNED(r) TURNED_ROUND((r)->moves[i])
#define ONE_OR_BOTH(a_alone, b_alone) ((a_alone) ? a->moves[i] : (b_alone) ? b->moves[i] : a->moves[i] | b->moves[i])

/* The operation whose result moves in the same way. */
static enum graph_op moves_like(enum graph_op op)
{
    switch (op) {
    case GRAPH_MUL:
    case GRAPH_AND:
    case GRAPH_OR: return GRAPH_ADD;
    case GRAPH_DIV: return GRAPH_SUB;
    case GRAPH_NE: return GRAPH_EQ;
    case GRAPH_LE: return GRAPH_LT;
    case GRAPH_FLOOR:
    case GRAPH_SQRT: return GRAPH_CEIL;
    default: return op;
    }
}

/* False: it is another operation, or other ranges. */
BLOCK_WIDE static bool move_finite(enum graph_op op, int n, const struct room *restrict a, const struct room *restrict b,
                                   struct room *restrict r)
{
    const bool plain = a->kind == KIND_PLAIN && b->kind == KIND_PLAIN;
    if (!plain && (op == GRAPH_MUL || op == GRAPH_DIV || op == GRAPH_AND || op == GRAPH_OR)) return false;
    if (op == GRAPH_DIV && !is_above_0(b, n)) return false;
    MOVES(GRAPH_ADD, a->moves[i] | b->moves[i])
    MOVES(GRAPH_SUB, a->moves[i] | TURNED(b))
    MOVES(GRAPH_EQ, a->moves[i] | TURNED(a) | b->moves[i] | TURNED(b))
    MOVES(GRAPH_LT, TURNED(a) | b->moves[i])
    MOVES(GRAPH_CEIL, a->moves[i])
    MOVES(GRAPH_MAX, ONE_OR_BOTH(a->lo[i] >= b->hi[i], b->lo[i] >= a->hi[i]))
    MOVES(GRAPH_MIN, ONE_OR_BOTH(a->hi[i] <= b->lo[i], b->hi[i] <= a->lo[i]))
    return false;
}

/* Of a choice between such. */
static void move_choice(int n, const struct room *a, const struct room *b, const struct room *c, struct room *r)
{
    for (int i = 0; i < n; i++) {
        const bool yes = !IS_FALSE(a), no = !IS_TRUE(a);
        const uint64_t moves = yes ? b->moves[i] : no ? c->moves[i] : a->moves[i] | TURNED(a) | b->moves[i] | c->moves[i];
        r->moves[i] = r->lo[i] != r->hi[i] ? moves : 0;
    }
}

static bool is_finite(const struct room *r)
{
    return !r->has_none && r->kind <= KIND_FINITE;
}

/* Of an operation on ranges. What does not move has no numbers here: it gets zeros. */
static void move(enum graph_op op, int n, struct room *a, struct room *b, struct room *c, struct room *r)
{
    struct room *const args[] = {a, b, c};
    r->is_moved = a->is_moved || b->is_moved || c->is_moved;
    if (!r->is_moved) return;
    for (int k = 0; k < 3; k++) {
        if (!args[k]->is_moved) memset(args[k]->moves, 0, (size_t)n * sizeof *args[k]->moves);
    }
    const bool finite = is_finite(a) && is_finite(b) && is_finite(c) && is_finite(r);
    if (finite && op == GRAPH_CHOOSE) {
        move_choice(n, a, b, c, r);
        return;
    }
    if (finite && move_finite(op, n, a, b, r)) return;
    for (int i = 0; i < n; i++) {
        if (r->has_none && r->none[i]) {
            const uint64_t all = a->moves[i] | b->moves[i] | c->moves[i];
            r->moves[i] = all | TURNED_ROUND(all);
            continue;
        }
        const struct graph_range x = get_moved(a, i), y = get_moved(b, i), z = get_moved(c, i), ret = get(r, i);
        r->moves[i] = packed(moves_of(op, &x, &y, &z, &ret));
    }
}

static void move_call(struct boxes_code *c, int node, const struct boxes_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    const struct node *to = &c->nodes[node];
    const struct primitive *p = &primitives[n->what];
    uint32_t of_groups = 0;
    for (int g = 0; g < GROUPS; g++)
        if (p->groups >> g & 1) of_groups |= source->moves_of_group(source->object, (enum group)g);
    for (int k = 0; k < p->n_results; k++) to->v[k]->is_moved = true;
    for (int i = 0; i < to->shape->n; i++) {
        struct graph_moves args[GRAPH_ARGUMENTS_MAX];
        for (int k = 0; k < n->n_args; k++) args[k] = boxes_moves(c, n->args[k], to->shape->point_of[i]);
        for (int k = 0; k < p->n_results; k++) {
            struct graph_moves m = primitive_moves(p, k, args, of_groups);
            if (to->v[k]->has_none && to->v[k]->none[i]) m = moves_any(moves_all(m));
            to->v[k]->moves[i] = is_fixed(to->v[k], i) ? 0 : packed(m);
        }
    }
}

static void move_node(struct boxes_code *c, int node, const struct boxes_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    const struct node *to = &c->nodes[node];
    switch (n->op) {
    case GRAPH_CONSTANT: to->v[0]->is_moved = false; return;
    case GRAPH_INPUT: set_moves(to->v[0], to->shape->n, source->moves(source->object, n->what, n->element1 - 1)); return;
    case GRAPH_CALL: move_call(c, node, source); return;
    default: set_moves(to->v[0], to->shape->n, moves_any(~0u)); return; /* SOLVE: of it nothing is followed */
    }
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static void call(struct boxes_code *c, int node, const struct boxes_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    struct node *to = &c->nodes[node];
    const struct primitive *p = &primitives[n->what];
    for (int i = 0; i < to->shape->n; i++) {
        const int box = to->shape->point_of[i];
        struct graph_range a[GRAPH_ARGUMENTS_MAX] = {{0}}, ret[PRIMITIVE_RESULTS_MAX];
        struct groups_box g;
        bool single = source->groups(source->object, p->groups, box, &g);
        for (int k = 0; k < n->n_args; k++) {
            a[k] = boxes_range(c, n->args[k], box);
            single = single && range_is_exact(a[k]);
        }
        if (single)
            primitive_at(p, &g.lo, a, ret);
        else
            p->bound(&g, a, ret);
        for (int k = 0; k < p->n_results; k++) set(to->v[k], i, ret[k]);
    }
    for (int k = 0; k < p->n_results; k++) find_kind(to->v[k], to->shape->n);
}

/* Groups of these that are the same at both ends of a box; and the box's. */
static unsigned same_groups(const struct boxes_source *source, unsigned groups, int box, struct groups_box *ret)
{
    unsigned same = 0;
    for (unsigned g = 0; groups >> g; g++)
        if (groups >> g & 1 && source->groups(source->object, 1U << g, box, ret)) same |= 1U << g;
    source->groups(source->object, groups, box, ret);
    return same;
}

static void solve(struct boxes_code *c, int node, const struct boxes_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    const struct node *to = &c->nodes[node];
    const struct solve_body *s = c->solves;
    while (s->node != node) s++;
    for (int i = 0; i < to->shape->n; i++) {
        const int box = to->shape->point_of[i];
        struct groups_box g;
        const unsigned same = same_groups(source, s->groups, box, &g);
        for (int k = 0; k < 2; k++) c->ranges[c->slots.of[n->args[k]]] = boxes_range(c, n->args[k], box);
        for (int k = 0; k < s->n_outside; k++) c->ranges[c->slots.of[s->outside[k]]] = boxes_range(c, s->outside[k], box);
        set(to->v[0], i, solve_body_range(s, c->g, &c->slots, &g, same, c->ranges));
    }
    find_kind(to->v[0], to->shape->n);
    for (int k = 0; k < s->n_outside; k++)
        if (c->order.last[block_holder(c->g, s->outside[k])] == node) let_go(c, block_holder(c->g, s->outside[k]));
}

static void load(struct node *to, const struct graph_node *n, const struct boxes_source *source)
{
    struct graph_range ret[BOXES_MAX];
    source->input(source->object, to->shape, n->what, n->element1 - 1, ret);
    for (int i = 0; i < to->shape->n; i++) set(to->v[0], i, ret[i]);
    find_kind(to->v[0], to->shape->n);
}

/* What is no operation on ranges. */
static bool read_node(struct boxes_code *c, int node, const struct boxes_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    struct node *to = &c->nodes[node];
    switch (n->op) {
    case GRAPH_CONSTANT: set(to->v[0], 0, range_of(n->number)), find_kind(to->v[0], 1); return true;
    case GRAPH_INPUT: load(to, n, source); return true;
    case GRAPH_CALL: call(c, node, source); return true;
    case GRAPH_SOLVE: solve(c, node, source); return true;
    default: return false;
    }
}

/* May some box take the side? Of a condition that has its ranges. */
static bool is_taken(void *object, int condition, bool yes)
{
    const struct boxes_code *c = object;
    const struct node *n = &c->nodes[condition];
    bool ret = false;
    for (int i = 0; i < n->shape->n && !ret; i++) {
        const struct graph_range r = get(n->v[0], i);
        ret = yes ? r.none || r.lo != 0 || r.hi != 0 : r.lo <= 0 && r.hi >= 0;
    }
    return ret;
}

static void compute(struct boxes_code *c, int node, const struct boxes_source *source)
{
    const struct graph_node *n = &c->g->nodes[node];
    struct node *to = &c->nodes[node];
    struct room *args[3] = {c->gathered[0], c->gathered[0], c->gathered[0]};
    if (n->op == GRAPH_RESULT) {
        to->v[0] = c->nodes[n->args[0]].v[n->what];
        return;
    }
    for (int k = 0; k < block_results(n); k++) to->v[k] = take_room(c, to->shape->n);
    if (read_node(c, node, source)) {
        if (source->moves) move_node(c, node, source);
        return;
    }
    for (int k = 0; k < n->n_args; k++)
        args[k] = c->nodes[n->args[k]].v[0] ? argument(c, n->args[k], to->shape, c->gathered[k]) : NULL;
    for (int k = n->n_args; k < 3; k++) args[k] = args[0];
    for (int k = 1; k < 3; k++)
        if (!args[k]) args[k] = args[3 - k]; /* of a choice whose other side all boxes take */
    operate((enum graph_op)n->op, to->shape->n, args[0], args[1], args[2], to->v[0]);
    if (source->moves) move((enum graph_op)n->op, to->shape->n, args[0], args[1], args[2], to->v[0]);
}

void boxes_run(struct boxes_code *c, struct block *b, const struct boxes_source *source)
{
    const uint32_t varying = block_varying(b);
    for (int i = 0; i < c->n_kept; i++) let_go(c, c->kept[i]); /* of the last run */
    block_sides_begin(&c->sides);
    for (int i = 0; i < c->n_axes; i++) c->shapes[i] = block_shape(b, c->axes[i] & varying);
    for (int i = 0; i < c->n_fixed; i++) c->nodes[c->order.list[i]].shape = c->shapes[c->axes_of[c->order.list[i]]];
    for (int i = c->is_fixed_known ? c->n_fixed : 0; i < c->order.n; i++) {
        const int node = c->order.list[i];
        const struct graph_node *n = &c->g->nodes[node];
        c->nodes[node].shape = c->shapes[c->axes_of[node]];
        if (block_is_taken(&c->sides, c->sides.of[node], is_taken, c))
            compute(c, node, source);
        else
            c->nodes[node].v[0] = NULL;
        for (int k = 0; k < n->n_args && n->op != GRAPH_RESULT; k++) {
            const int arg = block_holder(c->g, n->args[k]);
            if (c->order.last[arg] == node) let_go(c, arg);
        }
    }
    c->is_fixed_known = true;
}

const struct block_shape *boxes_shape(const struct boxes_code *c, int node)
{
    return c->nodes[node].shape;
}

struct graph_range boxes_range_of(const struct boxes_code *c, int node, int combination)
{
    return get(c->nodes[node].v[0], combination);
}

struct graph_range boxes_range(const struct boxes_code *c, int node, int box)
{
    return boxes_range_of(c, node, c->nodes[node].shape->of_point[box]);
}

struct graph_moves boxes_moves(const struct boxes_code *c, int node, int box)
{
    return moves_at(c->nodes[node].v[0], c->nodes[node].shape->of_point[box]);
}
