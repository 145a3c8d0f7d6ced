#include "graph/program.h"

#include "base/xalloc.h"
#include "graph/solve.h"

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Codes of instructions are those of operations, and these. */
enum { CODE_END = GRAPH_OPS, CODE_MOVE, CODE_JUMP, CODE_JUMP_UNLESS };

/* Arguments of a SOLVE's instruction behind those of its node: how many instructions its body has, which follow. */
enum { BODY_LENGTH = 4 };

/* ---- slots ------------------------------------------------------------------------------------------------------------------- */

void slots_make(const struct graph *g, struct slots *ret)
{
    *ret = (struct slots){.of = xcalloc((size_t)g->n + 1, sizeof *ret->of)};
    for (int i = 0; i < g->n; i++) {
        const struct graph_node *n = &g->nodes[i];
        ret->of[i] = n->op == GRAPH_RESULT ? ret->of[n->args[0]] + n->what : ret->n;
        if (n->op != GRAPH_RESULT) ret->n += n->op == GRAPH_CALL ? primitives[n->what].n_results : 1;
    }
}

void slots_release(struct slots *s)
{
    free(s->of);
    *s = (struct slots){0};
}

double *slots_numbers(const struct slots *s, const struct graph *g)
{
    double *v = xcalloc((size_t)s->n + 1, sizeof *v);
    for (int i = 0; i < g->n; i++)
        if (g->nodes[i].op == GRAPH_CONSTANT) v[s->of[i]] = g->nodes[i].number;
    return v;
}

/* ---- regions ----------------------------------------------------------------------------------------------------------------- */

/* What is computed under the same choices: region 0 always, the others on one side of a choice, or once for each number that a
 * SOLVE tries. */
struct region {
    int above, depth;
    int unknown;  /* of a SOLVE; or -1 */
    int begin, n; /* of its nodes in `list` */
};

struct planning {
    const struct graph *g;
    const struct slots *slots;
    const bool *made;
    const int *inner; /* by node, graph_inner */
    int *region_of;   /* by node; -1: not needed */
    int *first_side;  /* by node that chooses: region of its yes; that of its no is behind it. Of a SOLVE: of what it tries */
    struct region *regions;
    int n_regions;
    int *list; /* nodes, region by region, in their order */
    struct program *out;
};

static int common_region(const struct planning *p, int a, int b)
{
    while (a != b) {
        if (p->regions[a].depth < p->regions[b].depth)
            b = p->regions[b].above;
        else
            a = p->regions[a].above;
    }
    return a;
}

static int new_region(struct planning *p, int above, int unknown)
{
    p->regions[p->n_regions] = (struct region){.above = above, .depth = p->regions[above].depth + 1, .unknown = unknown};
    return p->n_regions++;
}

/* The outermost region in which the node can be computed: what does not depend on the unknown is not computed for each number. */
static int outside_of(const struct planning *p, int node, int region)
{
    for (int r = region; r > 0; r = p->regions[r].above)
        if (p->regions[r].unknown >= 0 && p->inner[node] != p->regions[r].unknown) region = p->regions[r].above;
    return region;
}

static void need(struct planning *p, int node, int region)
{
    if (p->made && p->made[node]) return;
    int *of = &p->region_of[node];
    region = outside_of(p, node, region);
    *of = *of < 0 ? region : common_region(p, *of, region);
}

static void need_sides(struct planning *p, int choice, int region)
{
    const struct graph_node *n = &p->g->nodes[choice];
    need(p, n->args[0], region);
    p->first_side[choice] = new_region(p, region, -1);
    new_region(p, region, -1);
    need(p, n->args[1], p->first_side[choice]);
    need(p, n->args[2], p->first_side[choice] + 1);
}

static void need_body(struct planning *p, int solve, int region)
{
    const struct graph_node *n = &p->g->nodes[solve];
    need(p, n->args[0], region);
    need(p, n->args[1], region);
    p->first_side[solve] = new_region(p, region, n->args[3]);
    need(p, n->args[2], p->first_side[solve]);
}

static void find_regions(struct planning *p, const int *roots, int n)
{
    const struct graph *g = p->g;
    p->n_regions = 1;
    p->regions[0].unknown = -1;
    for (int i = 0; i < g->n; i++) p->region_of[i] = -1;
    for (int i = 0; i < n; i++)
        if (roots[i] >= 0) need(p, roots[i], 0);
    for (int i = g->n - 1; i >= 0; i--) {
        const int region = p->region_of[i];
        const struct graph_node *node = &g->nodes[i];
        if (region < 0) continue;
        if (node->op == GRAPH_CHOOSE)
            need_sides(p, i, region);
        else if (node->op == GRAPH_SOLVE)
            need_body(p, i, region);
        else
            for (int k = 0; k < node->n_args; k++) need(p, node->args[k], region);
    }
}

/* Does the node take an instruction? */
static bool is_computed(const struct planning *p, int i)
{
    const int op = p->g->nodes[i].op;
    return p->region_of[i] >= 0 && op != GRAPH_CONSTANT && op != GRAPH_INPUT && op != GRAPH_RESULT && op != GRAPH_UNKNOWN;
}

static void sort_by_region(struct planning *p)
{
    int at = 0;
    for (int i = 0; i < p->g->n; i++)
        if (is_computed(p, i)) p->regions[p->region_of[i]].n++;
    for (int r = 0; r < p->n_regions; r++) {
        p->regions[r].begin = at;
        at += p->regions[r].n;
        p->regions[r].n = 0;
    }
    for (int i = 0; i < p->g->n; i++) {
        if (!is_computed(p, i)) continue;
        struct region *r = &p->regions[p->region_of[i]];
        p->list[r->begin + r->n++] = i;
    }
}

/* ---- instructions ------------------------------------------------------------------------------------------------------------ */

static int add(struct program *p, struct instruction i)
{
    enum { FIRST = 64 };
    if ((p->n & (p->n - 1)) == 0 && (p->n == 0 || p->n >= FIRST))
        p->list = xrealloc(p->list, p->n ? 2 * (size_t)p->n : FIRST, sizeof *p->list);
    p->list[p->n] = i;
    return p->n++;
}

static struct instruction of_node(const struct planning *p, int i)
{
    const struct graph_node *n = &p->g->nodes[i];
    struct instruction ret = {.code = n->op, .primitive = (uint16_t)n->what, .to = p->slots->of[i]};
    for (int k = 0; k < n->n_args; k++) ret.args[k] = p->slots->of[n->args[k]];
    return ret;
}

static void move(struct planning *p, int to, int from)
{
    add(p->out, (struct instruction){.code = CODE_MOVE, .to = p->slots->of[to], .args = {p->slots->of[from]}});
}

/* A region that is being written: the side of a choice, the body of a SOLVE, or (choice = -1) the whole. */
struct writing {
    int region, at, choice;
    bool is_no;
    int jump; /* over this side; the instruction of a SOLVE */
};

static void land(struct program *p, int jump)
{
    p->list[jump].to = p->n - jump;
}

static bool is_plain(const struct planning *p, int choice)
{
    const int side = p->first_side[choice];
    return p->regions[side].n == 0 && p->regions[side + 1].n == 0;
}

/* What follows when a side of a choice is written. Returns whether the other side is to be written, in *next. */
static bool close_side(struct planning *p, const struct writing *w, struct writing *next)
{
    const struct graph_node *n = &p->g->nodes[w->choice];
    if (n->op == GRAPH_SOLVE) {
        add(p->out, (struct instruction){.code = CODE_END});
        p->out->list[w->jump].args[BODY_LENGTH] = p->out->n - w->jump - 1;
        return false;
    }
    move(p, w->choice, n->args[w->is_no ? 2 : 1]);
    if (w->is_no) {
        land(p->out, w->jump);
        return false;
    }
    const int over = add(p->out, (struct instruction){.code = CODE_JUMP});
    land(p->out, w->jump);
    *next = (struct writing){.region = w->region + 1, .choice = w->choice, .is_no = true, .jump = over};
    return true;
}

/* What comes before the first side of a choice, or the body of a SOLVE: where it is to jump, or the SOLVE itself. */
static int open_region(struct planning *p, int i)
{
    const struct graph_node *n = &p->g->nodes[i];
    return add(p->out, n->op == GRAPH_SOLVE ? of_node(p, i)
                                            : (struct instruction){.code = CODE_JUMP_UNLESS, .args = {p->slots->of[n->args[0]]}});
}

static void write_regions(struct planning *p)
{
    struct writing *stack = xcalloc((size_t)p->n_regions + 1, sizeof *stack);
    int depth = 0;
    stack[depth++] = (struct writing){.region = 0, .choice = -1};
    while (depth > 0) {
        struct writing *top = &stack[depth - 1];
        const struct region *r = &p->regions[top->region];
        if (top->at == r->n) {
            const struct writing done = *top;
            if (done.choice < 0 || !close_side(p, &done, top)) depth--;
            continue;
        }
        const int i = p->list[r->begin + top->at++];
        const int op = p->g->nodes[i].op;
        if (op != GRAPH_SOLVE && (op != GRAPH_CHOOSE || is_plain(p, i)))
            add(p->out, of_node(p, i));
        else
            stack[depth++] = (struct writing){.region = p->first_side[i], .choice = i, .jump = open_region(p, i)};
    }
    free(stack);
    add(p->out, (struct instruction){.code = CODE_END});
}

void program_make(const struct graph *g, const struct slots *s, const int *roots, int n, bool *made, struct program *ret)
{
    const size_t nodes = (size_t)g->n + 1;
    int *inner = graph_inner(g);
    *ret = (struct program){0};
    struct planning p = {.g = g,
                         .slots = s,
                         .made = made,
                         .inner = inner,
                         .region_of = xcalloc(nodes, sizeof *p.region_of),
                         .first_side = xcalloc(nodes, sizeof *p.first_side),
                         .regions = xcalloc(2 * nodes + 1, sizeof *p.regions),
                         .list = xcalloc(nodes, sizeof *p.list),
                         .out = ret};
    find_regions(&p, roots, n);
    sort_by_region(&p);
    write_regions(&p);
    for (int i = 0; made && i < g->n; i++) made[i] = made[i] || p.region_of[i] == 0;
    free(inner);
    free(p.region_of);
    free(p.first_side);
    free(p.regions);
    free(p.list);
}

void program_release(struct program *p)
{
    free(p->list);
    *p = (struct program){0};
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static void call(const struct instruction *i, double *v, const struct groups *g)
{
    double a[GRAPH_ARGUMENTS_MAX];
    for (int k = 0; k < GRAPH_ARGUMENTS_MAX; k++) a[k] = v[i->args[k]];
    primitives[i->primitive].of(g, a, &v[i->to]);
}

#define A v[i->args[0]]
#define B v[i->args[1]]

static void run(const struct instruction *i, double *v, const struct groups *g);

/* A SOLVE that runs its body. */
struct trying {
    const struct instruction *solve;
    double *v;
    const struct groups *g;
};

static double body_at(void *object, double x)
{
    const struct trying *t = object;
    t->v[t->solve->args[3]] = x;
    run(t->solve + 1, t->v, t->g);
    return t->v[t->solve->args[2]];
}

static double root(const struct instruction *i, double *v, const struct groups *g)
{
    struct trying t = {i, v, g};
    return solve_root(A, B, body_at, &t);
}

__attribute__((no_sanitize("undefined"))) static void run(const struct instruction *i, double *v, const struct groups *g)
{
    for (;; i++) {
        switch (i->code) {
        case CODE_END: return;
        case CODE_MOVE: v[i->to] = A; break;
        case CODE_JUMP: i += i->to - 1; break;
        case CODE_JUMP_UNLESS:
            if (A == 0) i += i->to - 1;
            break;
        case GRAPH_CALL: call(i, v, g); break;
        case GRAPH_SOLVE:
            v[i->to] = root(i, v, g);
            i += i->args[BODY_LENGTH];
            break;
        case GRAPH_ADD: v[i->to] = A + B; break;
        case GRAPH_SUB: v[i->to] = A - B; break;
        case GRAPH_MUL: v[i->to] = A * B; break;
        case GRAPH_DIV: v[i->to] = A / B; break;
        case GRAPH_LT: v[i->to] = A < B; break;
        case GRAPH_LE: v[i->to] = A <= B; break;
        case GRAPH_EQ: v[i->to] = A == B; break;
        case GRAPH_NE: v[i->to] = A != B; break;
        case GRAPH_AND: v[i->to] = A != 0 && B != 0; break;
        case GRAPH_OR: v[i->to] = A != 0 || B != 0; break;
        case GRAPH_MIN: v[i->to] = B < A ? B : A; break;
        case GRAPH_MAX: v[i->to] = B > A ? B : A; break;
        default: v[i->to] = graph_apply((enum graph_op)i->code, A, B, v[i->args[2]]); break;
        }
    }
}

void program_run(const struct program *p, double *v, const struct groups *g)
{
    run(p->list, v, g);
}
