/* The rows of an LLM of the catalog. */
#include <dse/catalog.h>

#include <stddef.h>

const struct dse_param dse_llm_fields[] = {
    DSE_PARAM_I64(struct dse_llm, layers, 1, 1024, "transformer layers", ""),
    DSE_PARAM_I64(struct dse_llm, hidden, 1, 262144, "width of the residual stream", ""),
    DSE_PARAM_I64(struct dse_llm, heads, 1, 4096, "query heads", ""),
    DSE_PARAM_I64(struct dse_llm, kv_heads, 1, 4096, "key and value heads; fewer than heads: grouped-query attention", ""),
    DSE_PARAM_I64(struct dse_llm, head_dim, 1, 4096, "elements of one head", ""),
    DSE_PARAM_I64(struct dse_llm, ffn, 1, 1048576, "inner width of the feed-forward network", ""),
    DSE_PARAM_I64(struct dse_llm, ffn_matrices, 2, 3, "2: up and down; 3: gate, up and down", ""),
    DSE_PARAM_I64(struct dse_llm, vocab, 1, 4194304, "rows of the embedding table", ""),
    DSE_PARAM_I64(struct dse_llm, embedding_tables, 1, 2, "2, or 1 when the output head is the input embedding", ""),
    DSE_PARAM_I64(struct dse_llm, max_context, 1, 16777216, "longest context it was trained or extended for", ""),
    DSE_PARAM_END,
};

const char *dse_llm_check(const struct dse_llm *llm)
{
    if (llm->kv_heads > llm->heads) return "kv_heads is greater than heads";
    if (llm->heads % llm->kv_heads != 0) return "heads is not a multiple of kv_heads";
    return NULL;
}
