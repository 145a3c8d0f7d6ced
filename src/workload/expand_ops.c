/* What all files expand*.c add operators by. */
#include "workload/expand.h"

#include <dse/num.h>
#include <dse/units.h>

/* Sequences of a group of chips. */
static int64_t sequences_of_group(const struct dse_workload *w)
{
    return (int64_t)dse_ceil_div((uint64_t)w->batch, (uint64_t)dse_degree(w->data_parallel));
}

int64_t dse_workload_passes(const struct dse_workload *w)
{
    return dse_min_i64(dse_degree(w->pipeline_parallel), sequences_of_group(w));
}

int64_t dse_workload_sequences(const struct dse_workload *w)
{
    return (int64_t)dse_ceil_div((uint64_t)sequences_of_group(w), (uint64_t)dse_workload_passes(w));
}

int64_t expand_share(int64_t width, int64_t parts)
{
    return parts > 1 ? (width + parts - 1) / parts : width;
}

int64_t expand_layers(const struct expansion *x, int64_t layers)
{
    return expand_share(layers, x->stages) * x->times;
}

struct dse_op *expand_add(struct expansion *x, enum dse_op_role role, int64_t repeat, int64_t m, int64_t k, int64_t n)
{
    const struct expand_role *row = &expand_roles[role];
    if (x->list->n == DSE_OPS_MAX) {
        *x->ret_full = true;
        x->list->n--;
    }
    struct dse_op *op = &x->list->op[x->list->n++];
    op->name = x->draft ? row->draft : row->name;
    op->kind = row->kind;
    op->role = role;
    op->in_attention = false;
    op->is_draft = x->draft;
    op->follows_norm = row->follows_norm;
    op->has_gate = false;
    op->writes_cache = row->writes_cache;
    op->cached_columns = 0;
    op->is_per_head = row->is_per_head;
    op->is_first = op->is_last = false;
    op->attention = -1;
    op->repeat = repeat;
    op->copies = 1;
    op->m = m;
    op->k = k;
    op->n = n;
    op->rows = (double)m;
    op->weight_bits = op->activation_bits = 0;
    op->element_bytes = op->weight_bytes = op->held_bytes = op->kv_read_bytes = op->kv_write_bytes = op->ops = 0;
    op->choice.routed = op->choice.chosen = 0;
    op->exchange.kind = DSE_ALL_REDUCE; /* of what exchanges nothing: the same in all lists */
    op->exchange.devices = op->exchange.bytes = 0;
    return op;
}

static void take_format(const struct expansion *x, struct dse_op *op)
{
    const enum dse_weight_class class = expand_roles[op->role].class;
    op->element_bytes = x->element_bytes;
    op->weight_bits = (double)x->w->weight_bits;
    op->activation_bits = x->activation_bits;
    if (!x->by_class) return;
    const struct dse_held held = dse_workload_held(x->w, x->llm, class);
    op->element_bytes = dse_held_bytes(held);
    op->weight_bits = held.bits;
    op->activation_bits = dse_workload_activation_bits(x->w, x->llm, class);
}

struct dse_op *expand_linear(struct expansion *x, enum dse_op_role role, int64_t repeat, int64_t m, int64_t k, int64_t n)
{
    const double elements = (double)repeat * (double)k * (double)n;
    struct dse_op *op = expand_add(x, role, repeat, m, k, n);
    take_format(x, op);
    op->weight_bytes = op->held_bytes = elements * op->element_bytes;
    op->ops = DSE_OPS_PER_MAC * elements * (double)m;
    return op;
}

void expand_elementwise(struct expansion *x, enum dse_op_role role, int64_t repeat, int64_t m, int64_t n, double ops)
{
    expand_add(x, role, repeat, m, 1, n)->ops = ops;
}

static bool same_choice(const struct expand_drawn *last, struct dse_choice choice)
{
    return last->choice.routed == choice.routed && last->choice.chosen == choice.chosen;
}

struct experts_at_work expand_experts(const struct expansion *x, struct dse_choice choice, double tokens, double chips)
{
    struct expand_drawn *last = x->drawn;
    if (last->tokens != tokens || last->chips != chips || !same_choice(last, choice)) {
        *last = (struct expand_drawn){.choice = choice, .tokens = tokens, .chips = chips};
        last->work = x->draw ? experts_drawn(x->w, choice, tokens, chips, x->draw) : experts_at_work(x->w, choice, tokens, chips);
    }
    return last->work;
}
