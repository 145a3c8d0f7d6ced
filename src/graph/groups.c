/* The groups of shared parameters. */
#include "graph/primitive.h"

#include <string.h>

const struct group_row group_rows[GROUPS] = {
    [GROUP_WORKLOAD] = {"workload", sizeof(struct dse_workload), dse_workload_params, NULL},
    [GROUP_REQUEST] = {"request", sizeof(struct dse_request), dse_request_params, NULL},
    [GROUP_MEMORY] = {"memory", sizeof(struct dse_dram), dse_dram_params, dse_dram_refuse},
    [GROUP_CACHE] = {"cache", sizeof(struct dse_cache), dse_cache_params, NULL},
    [GROUP_ECONOMICS] = {"economics", sizeof(struct dse_economics), dse_economics_params, NULL},
    [GROUP_LINKS] = {"links", sizeof(struct dse_links), dse_links_params, NULL},
    [GROUP_LOCALITY] = {"locality", sizeof(struct dse_local), dse_local_params, NULL},
    [GROUP_EVENTS] = {"events", sizeof(struct dse_events), dse_events_params, NULL},
    [GROUP_SAMPLING] = {"sampling", sizeof(struct dse_sampling), dse_sampling_params, NULL},
};

static const void *group_at(const struct group_places *g, enum group which, const void *params)
{
    return g->has[which] ? (const char *)params + g->offset[which] : NULL;
}

struct groups groups_of(const struct group_places *g, const void *params)
{
    return (struct groups){
        .params = params,
        .workload = group_at(g, GROUP_WORKLOAD, params),
        .request = group_at(g, GROUP_REQUEST, params),
        .memory = group_at(g, GROUP_MEMORY, params),
        .cache = group_at(g, GROUP_CACHE, params),
        .economics = group_at(g, GROUP_ECONOMICS, params),
        .links = group_at(g, GROUP_LINKS, params),
        .local = group_at(g, GROUP_LOCALITY, params),
    };
}

struct groups groups_of_step(const struct group_places *g, const void *params, struct dse_workload *ret_step)
{
    struct groups ret = groups_of(g, params);
    if (!ret.workload || !ret.request || ret.workload->phase != DSE_DECODE || ret.request->generate == 0) return ret;
    *ret_step = *ret.workload;
    ret_step->context = mean_context(ret.request);
    ret.workload = ret_step;
    return ret;
}

bool groups_has(const struct group_places *g, unsigned groups)
{
    for (int i = 0; i < GROUPS; i++)
        if (groups >> i & 1 && !g->has[i] && i != GROUP_REQUEST) return false;
    return true;
}

unsigned groups_same(const struct groups *a, const struct groups *b, unsigned groups)
{
    const void *const of_a[GROUPS] = {a->workload, a->request, a->memory, a->cache, a->economics, a->links, a->local};
    const void *const of_b[GROUPS] = {b->workload, b->request, b->memory, b->cache, b->economics, b->links, b->local};
    unsigned ret = 0;
    for (int i = 0; i < GROUPS; i++)
        if (groups >> i & 1 && (!of_a[i] || memcmp(of_a[i], of_b[i], group_rows[i].size) == 0)) ret |= 1u << i;
    return ret;
}
