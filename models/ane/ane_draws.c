#include "ane_draws.h"

#include <dse/num.h>
#include <dse/program.h>

#include <string.h>

/* Layers of a stage that have experts. */
static int64_t expert_layers(const struct dse_llm *llm, double stages)
{
    int64_t layers = 0;
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].feed_forward == DSE_FFN_EXPERTS) layers += llm->kinds[i].layers;
    return (int64_t)dse_ceil((double)layers / stages);
}

/* Experts with work in a layer of a call, a mean over the layers of the draw. */
static double experts_drawn(const struct dse_workload *rows, const struct dse_draw *draw, struct dse_oplist *list)
{
    dse_workload_expand_drawn(rows, -1, draw, list);
    for (int i = 0; i < list->n; i++)
        if (list->op[i].role == DSE_ROLE_EXPERT_UP) return list->op[i].copies;
    return 0;
}

/* A sequence of each row that is computed, in each pass of a stage. */
static struct dse_workload rows_of(const struct ane_events_reads *closed, const struct dse_workload *w)
{
    struct dse_workload rows = *w;
    rows.phase = DSE_DECODE;
    rows.batch = (int64_t)(closed->computed * closed->stages);
    rows.data_parallel = 1;
    rows.context = (int64_t)closed->rows_k;
    rows.context_spread = 0;
    rows.chunk_tokens = rows.speculation.draft_tokens = 0;
    return rows;
}

int64_t ane_draw_experts(struct dse_sim *sim, const struct ane_events_reads *closed, const struct dse_workload *w,
                         const struct dse_oplist *list, double *experts, const double **ret_share)
{
    const struct dse_draw draw = dse_draw_of(sim, 0, expert_layers(w->llm, closed->stages));
    memcpy(experts, closed->op.experts, sizeof closed->op.experts);
    *ret_share = NULL;
    if (draw.layers == 0 || closed->all_experts > 0) return 0;
    const struct dse_workload rows = rows_of(closed, w);
    struct dse_oplist *drawn = dse_sim_alloc(sim, 1, sizeof *drawn);
    double *share = dse_sim_alloc(sim, (size_t)draw.layers, sizeof *share);
    const double mean = experts_drawn(&rows, &draw, drawn);
    for (int64_t layer = 0; layer < draw.layers; layer++)
        share[layer] = experts_drawn(&rows, &(struct dse_draw){draw.seed, draw.layer + layer, 1}, drawn) / mean;
    for (int i = 0; i < list->n; i++)
        if (list->op[i].kind == DSE_OP_LINEAR && closed->op.is_expert[i] > 0) experts[i] = mean;
    *ret_share = share;
    return draw.layers;
}
