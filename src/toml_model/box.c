/* Bounds over a box of design points: the graph of the model over intervals. */
#include "toml_model/internal.h"

#include "base/xalloc.h"
#include "graph/solve.h"

#include <dse/bound.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* One part of a box: all its points have the same operators. */
struct box {
    const struct toml_model *m;
    struct groups_box groups;
    unsigned same; /* groups whose parameters are the same at both ends: 1 << enum group, or-ed */
    const struct plan *plan;
    struct dse_oplist least, most;
    struct graph_range *range; /* by slot */
};

/* ---- the graph --------------------------------------------------------------------------------------------------------------- */

static void load(const struct box *b)
{
    for (int i = 0; i < b->plan->n_main; i++) {
        const struct plan_input *in = &b->plan->inputs[i];
        b->range[in->slot] = box_input(box_end(b->m, in, b->groups.lo.params, &b->least, false),
                                       box_end(b->m, in, b->groups.hi.params, &b->most, true));
    }
}

static void call(const struct box *b, const struct graph_node *n, int to)
{
    struct graph_range a[GRAPH_ARGUMENTS_MAX] = {{0}};
    const struct primitive *p = &primitives[n->what];
    bool single = (p->groups & ~b->same) == 0;
    for (int k = 0; k < n->n_args; k++) {
        a[k] = b->range[b->plan->slots.of[n->args[k]]];
        single = single && range_is_exact(a[k]);
    }
    if (single)
        primitive_at(p, &b->groups.lo, a, &b->range[to]);
    else
        p->bound(&b->groups, a, &b->range[to]);
}

/* Most numbers are at least 0, finite and there: of these no operation needs more than its ends. */
static inline bool is_plain(struct graph_range a)
{
    return a.lo >= 0 && a.hi < (double)INFINITY && !a.none && !a.minus_zero;
}

static inline struct graph_range ends(double lo, double hi)
{
    return (struct graph_range){lo, hi, false, false};
}

static struct graph_range operate(enum graph_op op, struct graph_range a, struct graph_range b, struct graph_range c)
{
    if (!is_plain(a) || !is_plain(b)) return range_apply(op, a, b, c);
    switch (op) {
    case GRAPH_ADD: return ends(a.lo + b.lo, a.hi + b.hi);
    case GRAPH_MUL: return ends(a.lo * b.lo, a.hi * b.hi);
    case GRAPH_DIV: return b.lo > 0 ? ends(a.lo / b.hi, a.hi / b.lo) : range_apply(op, a, b, c);
    case GRAPH_MIN: return ends(dse_min(a.lo, b.lo), dse_min(a.hi, b.hi));
    case GRAPH_MAX: return ends(dse_max(a.lo, b.lo), dse_max(a.hi, b.hi));
    default: return range_apply(op, a, b, c);
    }
}

static void solve(const struct box *b, int node)
{
    struct solve_body s;
    solve_body_make(&b->plan->graph, node, &s);
    b->range[b->plan->slots.of[node]] = solve_body_range(&s, &b->plan->graph, &b->plan->slots, &b->groups, b->same, b->range);
    solve_body_release(&s);
}

static void run(const struct box *b)
{
    const int32_t *slot = b->plan->slots.of;
    struct graph_range *r = b->range;
    for (int k = 0; k < b->plan->n_nodes; k++) {
        const int i = b->plan->main[k];
        const struct graph_node *n = &b->plan->graph.nodes[i];
        if (n->op == GRAPH_CONSTANT) {
            r[slot[i]] = range_of(n->number);
        } else if (n->op == GRAPH_CALL) {
            call(b, n, slot[i]);
        } else if (n->op == GRAPH_SOLVE) {
            solve(b, i);
        } else {
            const struct graph_range x = r[slot[n->args[0]]], y = n->n_args > 1 ? r[slot[n->args[1]]] : x;
            r[slot[i]] = operate((enum graph_op)n->op, x, y, n->n_args > 2 ? r[slot[n->args[2]]] : x);
        }
    }
}

static struct graph_range range_at(void *object, int equation)
{
    const struct box *b = object;
    return b->range[b->plan->slots.of[b->plan->equations[equation]]];
}

/* ---- metrics ----------------------------------------------------------------------------------------------------------------- */

/* What the common metrics follow from. */
struct step {
    const struct toml_model *m;
    const struct groups_box *groups;
    const struct graph_range *totals;
};

bool box_is_one_part(const struct toml_model *m, const void *lo, const void *hi, struct dse_workload_part *ret_part)
{
    const size_t at = m->groups.offset[GROUP_WORKLOAD];
    const struct dse_workload *from = (const void *)((const char *)lo + at), *to = (const void *)((const char *)hi + at);
    struct dse_workload_parts parts;
    struct dse_workload_part more;
    return dse_workload_parts_begin(&parts, from, to) && dse_workload_parts_next(&parts, ret_part) && ret_part->is_followed &&
           !dse_workload_parts_next(&parts, &more);
}

/* Of the points that have a number; what is no number is not stored, and neither is what is infinite. */
static struct dse_interval numbers(struct graph_range r)
{
    return range_is_nothing(r) ? dse_unbounded : dse_iv(r.lo, r.hi);
}

static struct dse_interval total(const struct step *s, enum total t, double scale)
{
    const struct dse_interval v = numbers(s->totals[t]);
    return scale == 1 ? v : dse_iv_scale(v, scale);
}

/* What the model says of a token. Where it is one number it is that of the totals, but for the last digit. */
static bool varies(const struct step *s, enum total t)
{
    return s->m->totals[t] >= 0 && s->totals[t].lo < s->totals[t].hi;
}

static struct dse_interval tokens_of(const struct step *s)
{
    return s->m->totals[TOTAL_TOKENS] < 0 ? dse_workload_part_tokens(s->groups->part) : total(s, TOTAL_TOKENS, 1);
}

/* The end of a number that [step] may say; NaN: it does not. */
static double end_of(const struct step *s, enum total t, bool hi)
{
    const struct graph_range r = s->totals[t];
    return s->m->totals[t] < 0 || r.none ? (double)NAN : hi ? r.hi : r.lo;
}

/* The bills of both ends. False: nothing is known of them. */
static bool bills(const struct step *s, struct dse_bill *lo, struct dse_bill *hi)
{
    if (!has_bill(s->m)) return false;
    struct dse_interval chips = total(s, TOTAL_CHIPS, 1);
    if (s->m->totals[TOTAL_CHIPS] < 0 && s->groups->part)
        chips = dse_iv((double)dse_workload_chips(&s->groups->part->lo), (double)dse_workload_chips(&s->groups->part->hi));
    else if (s->m->totals[TOTAL_CHIPS] < 0)
        chips = dse_iv_of(1);
    const struct dse_entry *board = point_board(s->m, &s->groups->lo);
    if (isinf(chips.hi) || board != point_board(s->m, &s->groups->hi)) return false;
    const struct graph_range node = s->totals[TOTAL_NODE];
    const struct dse_interval die = total(s, TOTAL_DIE, 1e6);
    if (!board && (node.none || node.lo != node.hi || (s->m->sold_usd < 0 && isinf(die.hi)))) return false;
    const double nm = board ? (double)NAN : nm_of_metres(node.lo);
    struct bill_numbers n = {.chips = chips.lo,
                             .die_mm2 = die.lo,
                             .nm = nm,
                             .peak_w = end_of(s, TOTAL_PEAK_W, false),
                             .idle_w = end_of(s, TOTAL_IDLE_W, false)};
    *lo = bill_of(s->m, &s->groups->lo, &n);
    n = (struct bill_numbers){.chips = chips.hi,
                              .die_mm2 = die.hi,
                              .nm = nm,
                              .peak_w = end_of(s, TOTAL_PEAK_W, true),
                              .idle_w = end_of(s, TOTAL_IDLE_W, true)};
    *hi = bill_of(s->m, &s->groups->hi, &n);
    return true;
}

void box_common(const struct toml_model *m, const struct groups_box *g, const struct graph_range *totals, bool with_bill,
                struct dse_common *floor, struct dse_common *ceiling)
{
    const struct step s = {m, g, totals};
    struct dse_totals_bound t = dse_totals_unknown();
    struct dse_bill lo, hi;
    t.tokens = tokens_of(&s);
    t.seconds = total(&s, TOTAL_TIME, 1);
    t.attention_s = total(&s, TOTAL_ATTENTION, 1);
    t.joules = total(&s, TOTAL_ENERGY, 1);
    t.bytes = total(&s, TOTAL_BYTES, 1);
    t.ops = total(&s, TOTAL_OPS, 1);
    t.peak_ops = total(&s, TOTAL_PEAK_OPS, 1);
    t.peak_bytes = total(&s, TOTAL_PEAK_BYTES, 1);
    t.area_mm2 = total(&s, TOTAL_AREA, 1e6);
    if (varies(&s, TOTAL_TOKEN_TIME)) t.token_s = total(&s, TOTAL_TOKEN_TIME, 1);
    if (varies(&s, TOTAL_TOKEN_ENERGY)) t.token_joules = total(&s, TOTAL_TOKEN_ENERGY, 1);
    if (with_bill && bills(&s, &lo, &hi)) {
        t.bill_lo = &lo;
        t.bill_hi = &hi;
    }
    dse_totals_narrow(&t);
    dse_common_bound(&t, floor, ceiling);
}

void box_own(const struct own_metric *own, struct graph_range r, void *floor, void *ceiling)
{
    double *lo = (double *)(void *)((char *)floor + own->offset), *hi = (double *)(void *)((char *)ceiling + own->offset);
    if (own->choices) return;
    const struct dse_interval known = range_is_nothing(r) ? dse_unbounded : dse_iv(r.lo / own->scale, r.hi / own->scale);
    dse_bound_set(lo, hi, known);
}

bool box_refuses(struct graph_range holds)
{
    return range_is_nothing(holds) || (holds.lo == 0 && holds.hi == 0);
}

/* ---- boxes ------------------------------------------------------------------------------------------------------------------- */

bool box_metrics(const struct box_ranges *b, void *floor, void *ceiling)
{
    struct graph_range totals[TOTALS];
    for (int i = 0; i < b->m->check.n; i++)
        if (box_refuses(b->at(b->object, b->m->check.list[i].equation))) return false;
    for (int i = 0; i < TOTALS; i++) totals[i] = b->m->totals[i] < 0 ? range_unknown : b->at(b->object, b->m->totals[i]);
    box_common(b->m, b->groups, totals, true, floor, ceiling);
    for (int i = 0; i < b->m->n_own; i++) box_own(&b->m->own[i], b->at(b->object, b->m->own[i].equation), floor, ceiling);
    return true;
}

static bool bound_part(const struct toml_model *m, const void *lo, const void *hi, const struct dse_workload_part *part,
                       void *floor, void *ceiling)
{
    struct box *b = xmalloc(sizeof *b); /* its lists are long, and written before they are read */
    struct signature s;
    b->m = m;
    b->groups = (struct groups_box){groups_of(&m->groups, lo), groups_of(&m->groups, hi), part};
    b->same = groups_same(&b->groups.lo, &b->groups.hi, ~0u);
    if (m->expands) expand_part(m, part, &b->least, &b->most);
    signature_of(m->expands ? &b->least : NULL, &s);
    b->plan = plan_find_chosen(m, m->expands ? &b->least : NULL, &s, lo);
    if (!b->plan) b->plan = plan_find(m, m->expands ? &b->least : NULL, &s);
    b->range = xmalloc(((size_t)b->plan->slots.n + 1) * sizeof *b->range);
    load(b);
    run(b);
    const struct box_ranges r = {m, &b->groups, b, range_at};
    const bool some = box_metrics(&r, floor, ceiling);
    plan_let_go(b->plan);
    free(b->range);
    free(b);
    return some;
}

/* dse_bound_parts calls back without a word of whose model it is, and how it is bounded. */
static _Thread_local struct {
    const struct toml_model *m;
    bool walked;
    bool generates; /* the box has generations: its workload has contexts of mean steps, and these are those of the parameters */
    double context[2];
} bounded;

double box_end(const struct toml_model *m, const struct plan_input *i, const void *params, const struct dse_oplist *list, bool hi)
{
    const struct input *in = &m->inputs[i->what];
    const size_t context = m->groups.offset[GROUP_WORKLOAD] + offsetof(struct dse_workload, context);
    if (in->kind == INPUT_AUTO) return hi || !auto_is_open(m, in->offset, params);
    if (bounded.generates && in->kind == INPUT_FIELD && in->offset == context) return bounded.context[hi];
    return point_input(m, i, params, list);
}

bool box_generates(const struct toml_model *m, const void *lo, const void *hi)
{
    const struct groups l = groups_of(&m->groups, lo), h = groups_of(&m->groups, hi);
    return l.workload && l.request && l.workload->phase == DSE_DECODE && h.request->generate > 0;
}

/* The contexts of the steps of a box with generations: of single steps those of the parameters, of others the means. */
static void set_contexts(const struct groups *lo, const struct groups *hi, struct dse_workload *w_lo, struct dse_workload *w_hi)
{
    struct dse_request first = *lo->request;
    const bool all = first.generate > 0;
    bounded.context[0] = (double)w_lo->context;
    bounded.context[1] = (double)w_hi->context;
    first.generate = dse_max_i64(1, first.generate);
    w_lo->context = all ? mean_context(&first) : dse_min_i64(w_lo->context, mean_context(&first));
    w_hi->context = all ? mean_context(hi->request) : dse_max_i64(w_hi->context, mean_context(hi->request));
}

static bool bound_bounded(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling)
{
    return (bounded.walked ? walk_part : bound_part)(bounded.m, lo, hi, part, floor, ceiling);
}

static bool bound_parts(const struct toml_model *m, const void *lo, const void *hi, void *floor, void *ceiling)
{
    return dse_bound_parts(&m->desc, m->groups.offset[GROUP_WORKLOAD], lo, hi, bound_bounded, floor, ceiling);
}

static bool bound_given(const struct toml_model *m, bool walked, const void *lo, const void *hi, void *floor, void *ceiling)
{
    const struct groups l = groups_of(&m->groups, lo), h = groups_of(&m->groups, hi);
    bounded.m = m;
    bounded.walked = walked;
    bounded.generates = box_generates(m, lo, hi);
    if (!l.workload) return bound_bounded(lo, hi, NULL, floor, ceiling);
    if (!bounded.generates) return bound_parts(m, lo, hi, floor, ceiling);
    char *ends = xmalloc(2 * m->desc.params_size), *own_hi = ends + m->desc.params_size;
    const size_t at = m->groups.offset[GROUP_WORKLOAD];
    memcpy(ends, lo, m->desc.params_size);
    memcpy(own_hi, hi, m->desc.params_size);
    set_contexts(&l, &h, (struct dse_workload *)(void *)(ends + at), (struct dse_workload *)(void *)(own_hi + at));
    const bool some = bound_parts(m, ends, own_hi, floor, ceiling);
    free(ends);
    return some;
}

/* Is it one point, but for what the event level alone reads? `room`: for parameters. */
static bool is_one_point(const struct toml_model *m, const void *lo, const void *hi, void *room)
{
    memcpy(room, lo, m->desc.params_size);
    for (size_t i = 0; i < m->schema.n; i++) {
        const struct field *f = &m->schema.fields[i];
        const enum group g = group_of_param(m, f->offset);
        if (f->reader == READ_BY_EVENT_LEVEL || g == GROUP_EVENTS || g == GROUP_SAMPLING) field_set(f, room, field_get(f, hi));
    }
    return memcmp(room, hi, m->desc.params_size) == 0;
}

/* Of what a model chooses it may take any, up to what is asked for. */
static bool bound(const struct toml_model *m, bool walked, const void *lo, const void *hi, void *floor, void *ceiling)
{
    if (!chooses(m, lo)) return bound_given(m, walked, lo, hi, floor, ceiling);
    const size_t size = m->desc.params_size;
    void *least = xmalloc(size);
    bool some;
    if (is_one_point(m, lo, hi, least)) {
        point_chosen(m, lo, least);
        some = bound_given(m, walked, least, least, floor, ceiling);
    } else {
        memcpy(least, lo, size);
        chosen_set(m, least, 1);
        some = bound_given(m, walked, least, hi, floor, ceiling);
    }
    free(least);
    return some;
}

bool point_bound(const struct toml_model *m, const void *lo, const void *hi, void *floor, void *ceiling)
{
    return bound(m, false, lo, hi, floor, ceiling);
}

bool walk_bound(const struct toml_model *m, const void *lo, const void *hi, void *floor, void *ceiling)
{
    return bound(m, true, lo, hi, floor, ceiling);
}

void walk_moves(const void *model, const void *lo, const void *hi, const struct graph_moves *params, struct graph_moves *ret)
{
    const struct toml_model *m = model;
    const bool has_workload = m->groups.has[GROUP_WORKLOAD];
    const size_t size = m->desc.params_size, at = m->groups.offset[GROUP_WORKLOAD];
    struct dse_workload_part part;
    for (size_t i = 0; i <= m->n_common + (size_t)m->n_own; i++) ret[i] = moves_any(~0u);
    if (chooses(m, lo) || box_generates(m, lo, hi) || (has_workload && !box_is_one_part(m, lo, hi, &part))) return;
    char *own_lo = xmalloc(2 * size), *own_hi = own_lo + size;
    memcpy(own_lo, lo, size);
    memcpy(own_hi, hi, size);
    if (has_workload) {
        memcpy(own_lo + at, &part.lo, sizeof part.lo);
        memcpy(own_hi + at, &part.hi, sizeof part.hi);
    }
    bounded.generates = false;
    walk_part_moves(m, own_lo, own_hi, has_workload ? &part : NULL, params, ret);
    free(own_lo);
}
