/* What speculative decoding was measured to yield. */
#include <dse/catalog.h>

#include <math.h>
#include <stdio.h>

#define L struct dse_draft_lengths
#define LENGTH(k) \
    DSE_PARAM_F64(L, length_##k, "", 1, 1 + (k), "tokens per verified step with " #k " drafted, the LLM's own token included", "")
static const struct dse_param lengths[] = {LENGTH(1), LENGTH(2), LENGTH(3), LENGTH(4),    LENGTH(5),
                                           LENGTH(6), LENGTH(7), LENGTH(8), DSE_PARAM_END};
#undef LENGTH
#undef L

const struct dse_param dse_drafts_fields[] = {
    DSE_EMBED_OPTIONAL(struct dse_drafts, lengths, struct dse_draft_lengths, lengths),
    DSE_PARAM_END,
};

double dse_drafts_length(const struct dse_drafts *d, int64_t k)
{
    const struct dse_draft_lengths *l = &d->lengths;
    const double all[DSE_DRAFTS_MAX] = {l->length_1, l->length_2, l->length_3, l->length_4,
                                        l->length_5, l->length_6, l->length_7, l->length_8};
    return k >= 1 && k <= DSE_DRAFTS_MAX ? all[k - 1] : (double)NAN;
}

bool dse_drafts_measured(const struct dse_drafts *d)
{
    for (int k = 1; k <= DSE_DRAFTS_MAX; k++)
        if (!isnan(dse_drafts_length(d, k))) return true;
    return false;
}
