/* Bounds of steps of any LLM, on any number of chips (E26 to E29), over a part of a box: the operators at their least on the fast
 * end of the machine, and at their most on the slow one. Every term grows with what the lists have of it (swiftkv_bound.c); what
 * does not is how often weights of experts are read, and how many blocks of flash attention are begun. */
#include "swiftkv_bound.h"

#include <dse/units.h>

#include <math.h>

static const double hz_per_mhz = 1e6;

struct ends {
    struct swiftkv_box *b;
    int end;
    const struct dse_oplist *least, *most, *own; /* own: one of these */
    double attention_ops[DSE_ATTENTIONS_MAX];
    double tree_j; /* of a pass */
};

static struct swiftkv_step *step_of(const struct ends *e)
{
    return &e->b->end[e->end].step;
}

static const struct swiftkv_params *params_of(const struct ends *e)
{
    return &e->b->end[e->end].p;
}

static void add_tree(struct ends *e, double seconds, double cycles, double dsp_cycles)
{
    if (e->end == SWIFTKV_FAST) e->tree_j += swiftkv_tree_joules(e->b, seconds, cycles, dsp_cycles);
}

/* E4, E27: how often weights are read. Between one copy, read a whole number of times, and several, whose rows are a mean, both
 * laws may hold. */
static double reads_of(const struct ends *e, int i)
{
    const struct dse_op *op = &e->own->op[i];
    const double lo = e->least->op[i].copies, hi = e->most->op[i].copies, reuse = (double)params_of(e)->weight_reuse;
    const double law = swiftkv_reads(params_of(e), op), all = op->rows / reuse;
    if ((lo == 1 && hi == 1) || hi < 1 || lo > 1) return law;
    return e->end == SWIFTKV_FAST ? dse_max(1, all) : dse_max(dse_max(1, law), ceil(all));
}

/* Rows of all copies together. What is whole but for rounding is made whole before it is multiplied by them. */
static double rows_of(const struct ends *e, int i)
{
    const struct dse_op *lo = &e->least->op[i], *hi = &e->most->op[i], *op = &e->own->op[i];
    const double rounded = e->end == SWIFTKV_FAST ? 1 - 1e-9 : 1 + 1e-9;
    if (op->copies == 1) return op->rows;
    if (lo->copies == hi->copies && lo->rows == hi->rows) return op->copies * op->rows;
    return rounded * op->ops / (DSE_OPS_PER_MAC * (double)op->repeat * (double)op->k * (double)op->n);
}

static void add_linear(struct ends *e, int i)
{
    const struct swiftkv_params *p = params_of(e);
    struct swiftkv_step *s = step_of(e);
    struct dse_op op = e->own->op[i];
    const double reads = reads_of(e, i), rows = rows_of(e, i);
    op.copies = 1; /* all together */
    swiftkv_add_linear(s, p, &op, rows, reads);
    const struct swiftkv_op *o = &s->op[s->n_ops - 1];
    const double cycles = (double)op.repeat * swiftkv_gemv_cycles(p, rows, (double)op.k, (double)op.n);
    add_tree(e, o->time_s, cycles / p->gemv_efficiency, o->dsp_products / p->gemv_efficiency);
}

/* E26. */
static void add_recurrence(struct ends *e, const struct dse_op *op)
{
    const struct swiftkv_params *p = params_of(e);
    struct swiftkv_step *s = step_of(e);
    swiftkv_add_recurrence(s, p, op);
    const struct swiftkv_op *o = &s->op[s->n_ops - 1];
    const double width = (double)p->processors * swiftkv_fxp_lanes(p);
    add_tree(e, o->time_s, op->ops / DSE_OPS_PER_MAC / width, o->dsp_products);
}

/* E28. */
static void add_collective(struct ends *e, int i)
{
    const struct swiftkv_box *b = e->b;
    struct dse_exchange_bound cost;
    struct swiftkv_step *s = step_of(e);
    const bool fast = e->end == SWIFTKV_FAST;
    const double times = (double)e->own->op[i].repeat;
    dse_exchange_bound(&b->lo.links, &b->hi.links, &e->least->op[i].exchange, &e->most->op[i].exchange, &cost);
    const double seconds = times * (fast ? cost.seconds.lo : cost.seconds.hi);
    s->communication_s += seconds;
    s->link_joules += times * (fast ? cost.joules.lo : cost.joules.hi);
    add_tree(e, seconds, 0, 0);
}

/* Queries of one position each begin as many blocks as that has; so do all that are alike. */
static bool same_blocks(const struct ends *e, int i)
{
    const struct dse_attention *lo = &e->least->attention[i], *hi = &e->most->attention[i];
    const bool alike = lo->queries == hi->queries && lo->positions == hi->positions && lo->pairs == hi->pairs;
    return hi->queries == 1 || (alike && e->b->lo.block == e->b->hi.block);
}

/* E5 to E8. Of several queries each begins blocks of its own: what pairs and queries are between them is not known. */
static void add_attention(struct ends *e, int i)
{
    const struct swiftkv_params *p = params_of(e);
    const struct dse_attention *a = &e->own->attention[i];
    struct swiftkv_step *s = step_of(e);
    struct swiftkv_dealt dealt;
    const double block = (double)p->block;
    swiftkv_deal(p, a, &dealt);
    if (!same_blocks(e, i)) {
        const bool fast = e->end == SWIFTKV_FAST;
        dealt.blocks =
            fast ? dse_min(dealt.blocks, a->pairs / block) : dse_max(dealt.blocks, a->pairs / block + (double)a->queries);
    }
    swiftkv_add_attention(s, p, a, &dealt, (double)a->sequences, e->attention_ops[i]);
    const struct swiftkv_attention *of = &s->group[s->n_groups - 1];
    const double arrays = p->value_update == SWIFTKV_UPDATE_OWN ? 2 : 1, hz = p->clock_mhz * hz_per_mhz;
    const double latency_s = of->rope_s + of->overhead_s;
    add_tree(e, of->stream_s, of->compute_s * hz, of->dsp_products / arrays);
    add_tree(e, latency_s, latency_s * hz, 0);
}

static void add_operator(struct ends *e, int i)
{
    const struct dse_op *op = &e->own->op[i];
    if (op->kind == DSE_OP_SCORES || op->kind == DSE_OP_VALUES) step_of(e)->ops += op->ops;
    if (op->in_attention)
        e->attention_ops[op->attention] += op->ops;
    else if (swiftkv_counts(params_of(e), op))
        add_linear(e, i);
    else if (op->kind == DSE_OP_RECURRENCE)
        add_recurrence(e, op);
    else if (op->kind == DSE_OP_COLLECTIVE)
        add_collective(e, i);
}

/* What a token has of a step, least where most tokens share it. */
static void share_out(struct swiftkv_step *token, const struct swiftkv_step *step, double tokens)
{
    swiftkv_step_start(token);
    token->tokens = 1;
    token->time_s = step->time_s / tokens;
    token->linear_s = step->linear_s / tokens;
    token->communication_s = step->communication_s / tokens;
    token->link_joules = step->link_joules / tokens;
    token->bytes = step->bytes / tokens;
    token->ops = step->ops / tokens;
    token->dsp_products = step->dsp_products / tokens;
    token->attention.time_s = step->attention.time_s / tokens;
    token->attention.technique_bytes = step->attention.technique_bytes / tokens;
}

static int64_t read_at(const struct swiftkv_params *p)
{
    const struct dse_cache_step cache = swiftkv_cache_step(p);
    return cache.prefill ? -1 : (int64_t)cache.read;
}

void swiftkv_end_of_part(struct swiftkv_box *b, int end)
{
    struct dse_workload_part part = *b->part;
    struct dse_oplist least, most;
    struct swiftkv_end *at = &b->end[end];
    struct swiftkv_params few = b->lo, many = b->hi;
    struct ends e = {.b = b, .end = end, .least = &least, .most = &most, .own = end == SWIFTKV_FAST ? &least : &most};
    part.hi.batch = part.most.batch = b->hi.workload.batch;
    few.workload = part.least;
    many.workload = part.most;
    dse_workload_part_expand(&part, read_at(&few), read_at(&many), &least, &most);
    const struct dse_interval tokens = dse_workload_part_tokens(&part);
    swiftkv_step_start(&at->step);
    for (int i = 0; i < least.n; i++) add_operator(&e, i);
    for (int i = 0; i < least.n_attentions; i++) add_attention(&e, i);
    swiftkv_step_end(&at->step, &at->p);
    at->step.tokens = end == SWIFTKV_FAST ? tokens.lo : tokens.hi;
    share_out(&at->token, &at->step, end == SWIFTKV_FAST ? tokens.hi : tokens.lo);
    if (end == SWIFTKV_SLOW) return;
    const double rounded = 1 - 2e-9; /* rows of experts are made whole, their products are not */
    b->tree_j = rounded * (double)dse_workload_passes(&at->p.workload) * e.tree_j / tokens.hi;
}
