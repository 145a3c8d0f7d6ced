/* What the workload says. */
#include "graph/primitive_internal.h"

#include <dse/units.h>

POINT(tokens)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_tokens(g->workload);
}

BOX(tokens_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_workload_part_tokens(g->part));
}

POINT(chips)
{
    NO_ARGUMENTS;
    ret[0] = (double)dse_workload_chips(g->workload);
}

BOX(chips_box)
{
    NO_ARGUMENTS;
    ret[0] = hull((double)dse_workload_chips(&g->part->lo), (double)dse_workload_chips(&g->part->hi));
}

POINT(passes)
{
    NO_ARGUMENTS;
    ret[0] = (double)dse_workload_passes(g->workload);
}

BOX(passes_box)
{
    NO_ARGUMENTS;
    ret[0] = hull((double)dse_workload_passes(&g->part->least), (double)dse_workload_passes(&g->part->most));
}

POINT(widest)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_weight_bits(g->workload).widest / DSE_BITS_PER_BYTE;
}

BOX(widest_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_workload_weight_bits(&g->part->lo).widest / DSE_BITS_PER_BYTE,
                  dse_workload_weight_bits(&g->part->hi).widest / DSE_BITS_PER_BYTE);
}

POINT(tables)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_table_bytes(g->workload);
}

BOX(tables_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_workload_table_bytes(&g->part->least), dse_workload_table_bytes(&g->part->most));
}

POINT(footprint)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_footprint(g->workload);
}

BOX(footprint_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_workload_footprint(&g->part->least), dse_workload_footprint(&g->part->most));
}

/* The width of numbers makes it no other one. */
enum { PLAIN = DSE_CAN_SCALES | DSE_CAN_ACTIVATIONS | DSE_CAN_FORMATS };

POINT(plain)
{
    NO_ARGUMENTS;
    ret[0] = !dse_workload_unknown(g->workload, PLAIN);
    ret[1] = dse_llm_is_plain(g->workload->llm);
}

/* Nothing that makes it another one comes and goes between the ends of a part. */
BOX(plain_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(!dse_workload_unknown(&g->part->lo, PLAIN), !dse_workload_unknown(&g->part->hi, PLAIN));
    ret[1] = range_of(dse_llm_is_plain(g->part->lo.llm));
}

POINT(row)
{
    NO_ARGUMENTS;
    ret[0] = dse_kv_row_bytes(g->workload);
}

BOX(row_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_kv_row_bytes(&g->part->lo), dse_kv_row_bytes(&g->part->hi));
}

static double footprint_with(const struct dse_workload *with, double positions)
{
    struct dse_workload w = *with;
    w.context = (int64_t)(positions >= 0 && positions < positions_most ? positions : positions_most);
    return dse_workload_footprint(&w);
}

POINT(footprint_at)
{
    ret[0] = footprint_with(g->workload, a[0]);
}

/* It grows with the positions; what is no number, and what is below 0, counts as the most. */
BOX(footprint_at_box)
{
    const bool odd = a[0].none || !(a[0].lo >= 0);
    ret[0] =
        hull(footprint_with(&g->part->least, odd ? 0 : a[0].lo), footprint_with(&g->part->most, odd ? (double)INFINITY : a[0].hi));
}

/* Rows of a step that choose among the routed experts. */
static bool is_rows(double rows)
{
    return rows >= 0 && rows <= positions_most;
}

/* Whole numbers of experts, of which a token chooses no more than there are. */
static bool is_choice(double routed, double chosen)
{
    return routed >= 0 && routed <= positions_most && chosen >= 0 && chosen <= routed && routed == floor(routed) &&
           chosen == floor(chosen);
}

POINT(experts)
{
    const bool known = is_rows(a[0]) && is_choice(a[1], a[2]);
    ret[0] = known ? dse_experts_at_work(g->workload, (struct dse_choice){(int64_t)a[1], (int64_t)a[2]}, a[0]) : (double)NAN;
}

/* They grow with the rows. Loads of a power law of which the exponent varies are not known to do one thing. */
BOX(experts_box)
{
    const bool alike = g->part->lo.routing_exponent == g->part->hi.routing_exponent || g->part->lo.routing != DSE_ROUTING_POWER_LAW;
    ret[0] = range_unknown;
    const bool fixed = is_one(&a[1]) && is_one(&a[2]) && is_choice(a[1].lo, a[2].lo);
    if (!alike || !fixed || a[0].none || !is_rows(a[0].lo) || !is_rows(a[0].hi)) return;
    const struct dse_choice choice = {(int64_t)a[1].lo, (int64_t)a[2].lo};
    ret[0] = hull(dse_experts_at_work(&g->part->lo, choice, a[0].lo), dse_experts_at_work(&g->part->hi, choice, a[0].hi));
}

/* Numbers of a token that one layer has at once, on a chip: four vectors of the hidden state, and the widest of what attention and
 * networks make of it. */
static double widest_vectors(const struct dse_workload *w)
{
    enum { VECTORS = 4 };
    const struct dse_llm *llm = w->llm;
    const double tensor = (double)dse_degree(w->tensor_parallel);
    double most = 0;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_shape *s = &llm->kinds[i].shape;
        const double matrices = (double)s->ffn_matrices, active = (double)s->moe.experts_active;
        const double dense = matrices * (double)s->ffn / tensor;
        const double experts = active * (matrices * (double)s->moe.expert_ffn + (double)llm->hidden) / tensor;
        const double heads = (double)((s->heads + 2 * s->kv_heads) * s->head_dim) / tensor;
        most = dse_max(most, dse_max(heads, llm->kinds[i].feed_forward == DSE_FFN_EXPERTS ? experts : dense));
    }
    return VECTORS * (double)llm->hidden + most;
}

static double plain_weights(const struct dse_workload *w)
{
    return dse_llm_is_plain(w->llm) ? dse_workload_plain_weights(w) : (double)NAN;
}

POINT(on_device)
{
    NO_ARGUMENTS;
    ret[0] = plain_weights(g->workload);
    ret[1] = widest_vectors(g->workload);
}

BOX(on_device_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(plain_weights(&g->part->least), plain_weights(&g->part->most));
    if (!dse_llm_is_plain(g->part->lo.llm)) ret[0] = range_nothing;
    ret[1] = hull(widest_vectors(&g->part->lo), widest_vectors(&g->part->hi));
}

static double kept_of(const struct dse_workload *w)
{
    struct dse_oplist ops;
    dse_workload_expand(w, &ops);
    return dse_workload_kept_bytes(w, &ops);
}

POINT(kept)
{
    NO_ARGUMENTS;
    ret[0] = kept_of(g->workload);
}

BOX(kept_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(kept_of(&g->part->least), kept_of(&g->part->most));
}

/* Norms, residuals and the like as one chip would do them: they are not shared. */
static double scalars_of(const struct dse_workload *w)
{
    struct dse_workload whole = *w;
    struct dse_oplist ops;
    double sum = 0;
    whole.tensor_parallel = 1;
    dse_workload_expand(&whole, &ops);
    for (int i = 0; i < ops.n; i++)
        if (ops.op[i].role == DSE_ROLE_ELEMENTWISE && !ops.op[i].is_draft) sum += ops.op[i].ops;
    return sum;
}

POINT(scalars)
{
    NO_ARGUMENTS;
    ret[0] = scalars_of(g->workload);
}

BOX(scalars_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(scalars_of(&g->part->least), scalars_of(&g->part->most));
}
