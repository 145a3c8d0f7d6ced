/* What the tests of a step's operators share: the catalog, and a decode step. */
#ifndef EXPAND_TEST_H
#define EXPAND_TEST_H

#include "base/diag.h"
#include "config/catalog.h"

#include <dse/workload.h>

enum { BITS = 16, BYTES = 2 };

static struct catalog *catalog;

static inline const struct dse_llm *nth(size_t i)
{
    return (const struct dse_llm *)(const void *)catalog_at(catalog, DSE_KIND_LLM, i);
}

static inline const struct dse_llm *find(const char *name)
{
    const struct dse_entry *e = catalog_find(catalog, DSE_KIND_LLM, name);
    if (!e) fail_msg("no LLM %s", name);
    return (const struct dse_llm *)(const void *)e;
}

static inline struct dse_workload decode(const struct dse_llm *llm, int64_t batch, int64_t context)
{
    return (struct dse_workload){.llm = llm,
                                 .phase = DSE_DECODE,
                                 .batch = batch,
                                 .context = context,
                                 .weight_bits = BITS,
                                 .kv_bits = BITS,
                                 .latent_form = DSE_LATENT_BY_PHASE,
                                 .routing = DSE_ROUTING_UNIFORM,
                                 .speculation = {.drafter = DSE_DRAFT_LAYER, .acceptance = 0.8, .acceptance_decay = 1}};
}

static inline int set_up(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    catalog = catalog_open(&diags);
    diags_release(&diags);
    return catalog ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    return 0;
}

#endif
