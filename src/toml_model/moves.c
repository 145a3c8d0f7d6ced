/* How metrics move over a box of a lattice: along which axes they may grow, and fall, from how the equations do (graph/range.h). */
#include "toml_model/moves.h"

#include "base/xalloc.h"

#include <dse/units.h>

#include <stddef.h>
#include <stdlib.h>

static struct graph_moves of_field(const struct toml_model *m, const struct input_moves *moves, const struct graph_moves *params,
                                   size_t offset)
{
    if (group_of_param(m, offset) == GROUP_WORKLOAD) return moves_any(moves->groups[GROUP_WORKLOAD]);
    for (size_t i = 0; i < m->schema.n; i++)
        if (m->schema.fields[i].offset == offset) return params[i];
    return moves_any(~0u);
}

/* Axes that what is known of the output (point_stand) follows from: of the nodes behind its equations, and of the groups. */
static uint32_t axes_of_standing(const struct toml_model *m, const struct input_moves *moves)
{
    uint32_t ret = moves->groups[GROUP_WORKLOAD] | moves->groups[GROUP_CACHE] | moves->groups[GROUP_LOCALITY];
    bool *needed = xcalloc((size_t)m->graph.n + 1, sizeof *needed);
    for (int i = 0; i < INEXACT_NUMBERS && m->inexact[0] >= 0; i++) needed[m->equations[m->inexact[i]].node] = true;
    for (int i = 0; i < m->unmeasured.n; i++) needed[m->equations[m->unmeasured.list[i].equation].node] = true;
    for (int i = m->graph.n - 1; i >= 0; i--) {
        const struct graph_node *n = &m->graph.nodes[i];
        if (!needed[i]) continue;
        for (int k = 0; k < n->n_args; k++) needed[n->args[k]] = true;
        if (n->op == GRAPH_INPUT) ret |= moves_all(moves->inputs[n->what]);
        for (int g = 0; g < GROUPS && n->op == GRAPH_CALL; g++)
            if (primitives[n->what].groups >> g & 1) ret |= moves->groups[g];
    }
    free(needed);
    return ret;
}

void input_moves_make(const struct toml_model *m, const struct graph_moves *params, struct input_moves *ret)
{
    *ret = (struct input_moves){.inputs = xcalloc((size_t)m->n_inputs + 1, sizeof *ret->inputs)};
    for (size_t i = 0; i < m->schema.n; i++) {
        const enum group g = group_of_param(m, m->schema.fields[i].offset);
        if (g < GROUPS) ret->groups[g] |= moves_all(params[i]);
    }
    ret->groups[GROUP_WORKLOAD] |= ret->groups[GROUP_REQUEST]; /* the step of a generation */
    for (int i = 0; i < m->n_inputs; i++) {
        const struct input *in = &m->inputs[i];
        ret->inputs[i] = in->kind >= INPUT_ELEMENT ? moves_any(ret->groups[GROUP_WORKLOAD])
                         : in->kind == INPUT_FIELD ? of_field(m, ret, params, in->offset)
                                                   : moves_any(~0u);
    }
    ret->standing = axes_of_standing(m, ret);
}

void input_moves_release(struct input_moves *i)
{
    free(i->inputs);
    i->inputs = NULL;
}

/* A total of [step]; of one that the file does not say nothing is known. */
static struct graph_range total(const struct box_moves *b, enum total t)
{
    if (b->m->totals[t] >= 0) return b->at(b->object, b->m->totals[t]);
    struct graph_range ret = range_unknown;
    ret.moves = moves_any(t == TOTAL_TOKENS ? b->inputs->groups[GROUP_WORKLOAD] : ~0u);
    if (t == TOTAL_TOKENS && b->part) {
        const struct dse_interval tokens = dse_workload_part_tokens(b->part);
        ret = (struct graph_range){tokens.lo, tokens.hi, false, false, ret.moves};
        if (range_is_exact(ret)) ret.moves = moves_any(0);
    }
    return ret;
}

static struct graph_range times(struct graph_range a, double by)
{
    return range_moved(GRAPH_MUL, a, range_of(by), a);
}

static struct graph_range product(struct graph_range a, struct graph_range b)
{
    return range_moved(GRAPH_MUL, a, b, b);
}

static struct graph_range over(struct graph_range a, struct graph_range b)
{
    return range_moved(GRAPH_DIV, a, b, b);
}

/* What is bought, and what of it a token pays for. */
static uint32_t axes_of_bill(const struct box_moves *b)
{
    static const enum total totals[] = {TOTAL_TIME, TOTAL_ENERGY, TOTAL_TOKENS, TOTAL_DIE, TOTAL_NODE, TOTAL_CHIPS};
    static const enum group groups[] = {GROUP_WORKLOAD, GROUP_MEMORY, GROUP_ECONOMICS};
    uint32_t ret = 0;
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        if (b->m->totals[totals[i]] >= 0) ret |= moves_all(total(b, totals[i]).moves);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) ret |= b->inputs->groups[groups[i]];
    return ret;
}

/* A common metric by its place among them, as dse_common_built makes it of the totals. */
static struct graph_range common_at(const struct box_moves *b, size_t i)
{
#define T(t) total(b, TOTAL_##t)
    switch (i) {
    case 0: return over(T(TOKENS), T(TIME));
    case 1: return times(T(TIME), DSE_US_PER_S);
    case 2: return times(T(ATTENTION), DSE_US_PER_S);
    case 3: return over(times(T(ENERGY), DSE_MJ_PER_J), T(TOKENS));
    case 4: return over(T(ENERGY), T(TIME));
    case 5: return T(AREA);
    case 6: return over(T(BYTES), times(T(TOKENS), DSE_MIB));
    case 7: return over(T(OPS), product(T(PEAK_OPS), T(TIME)));
    case 8: return over(T(BYTES), product(T(PEAK_BYTES), T(TIME)));
    default: break;
    }
#undef T
    enum { BOUND = 9, DOLLARS }; /* which are names */
    struct graph_range ret = range_unknown;
    ret.moves = moves_any(i == BOUND || i == DOLLARS ? ~0u : axes_of_bill(b));
    return ret;
}

/* Whether a point can be built is 0 or 1. */
static struct graph_moves moves_of_condition(struct graph_range holds)
{
    if (!holds.none && (holds.lo > 0 || holds.hi < 0)) return moves_any(0); /* it is true everywhere */
    return holds.lo >= 0 && !holds.none ? holds.moves : moves_any(moves_all(holds.moves));
}

/* What the groups refuse by themselves (point_refusal), and what a sweep refuses since its output is not known, is asked at points
 * alone. */
static struct graph_moves moves_of_refusal(const struct box_moves *b)
{
    const uint32_t *groups = b->inputs->groups;
    return moves_any(groups[GROUP_WORKLOAD] | groups[GROUP_MEMORY] | groups[GROUP_CACHE] | groups[GROUP_LINKS] |
                     b->inputs->standing);
}

void moves_of_metrics(const struct box_moves *b, const bool *wanted, struct graph_moves *ret)
{
    const struct toml_model *m = b->m;
    struct graph_moves there = moves_of_refusal(b);
    for (size_t i = 0; i < m->n_common; i++)
        if (!wanted || wanted[i]) ret[i] = common_at(b, i).moves;
    for (int i = 0; i < m->n_own; i++)
        if (!wanted || wanted[m->n_common + (size_t)i]) ret[m->n_common + (size_t)i] = b->at(b->object, m->own[i].equation).moves;
    for (int i = 0; i < m->check.n; i++) {
        const struct graph_moves c = moves_of_condition(b->at(b->object, m->check.list[i].equation));
        there = (struct graph_moves){there.up | c.up, there.down | c.down};
    }
    ret[m->n_common + (size_t)m->n_own] = there;
}
