/* The workload's parameters and the expansion of a step into operators. */
#include <dse/units.h>
#include <dse/workload.h>

#include <assert.h>
#include <stddef.h>

static const char *const phases[] = {[DSE_DECODE] = "decode", [DSE_PREFILL] = "prefill", NULL};

static const char the_workload[] = "the workload";

const struct dse_param dse_workload_params[] = {
    DSE_PARAM_REF(struct dse_workload, llm, struct dse_llm, DSE_KIND_LLM, "the model that is run", "catalog/llms.toml"),
    DSE_PARAM_ENUM(struct dse_workload, phase, phases, "one decode step, or the prefill of a prompt", the_workload),
    DSE_PARAM_I64(struct dse_workload, batch, 1, 4096, "sequences processed together", the_workload),
    DSE_PARAM_I64(struct dse_workload, context, 1, 1048576,
                  "decode: positions in the KV cache, the newest included; prefill: length of the prompt", the_workload),
    DSE_PARAM_I64_UNIT(struct dse_workload, weight_bits, "bit", 2, 32, "width of a stored weight", the_workload),
    DSE_PARAM_I64_UNIT(struct dse_workload, kv_bits, "bit", 2, 32, "width of a stored key or value element", the_workload),
    DSE_PARAM_F64(struct dse_workload, kv_scale_bits, "bit", 0, 16,
                  "scales and zero points a key or value element: 32 / group; 0: not counted, nor what rounding loses",
                  "Liu et al., KIVI, arXiv:2402.02750, Sec. 3"),
    DSE_PARAM_END,
};

const struct dse_param dse_request_params[] = {
    DSE_PARAM_I64(struct dse_request, prompt, 1, 1048576, "tokens of the prompt of a request", the_workload),
    DSE_PARAM_I64(struct dse_request, generate, 0, 1048576, "tokens generated after the prompt; 0: one step at context",
                  the_workload),
    DSE_PARAM_END,
};

/* Operations of the small operators, as scalar operations an element. */
enum {
    OPS_SOFTMAX = 5,   /* maximum, subtract, exp, sum, divide: a score */
    OPS_NORM = 4,      /* square, sum, scale, weight: an element of a normalised vector */
    OPS_ROTARY = 3,    /* two multiplies and an add an element of q and k */
    OPS_RESIDUAL = 1,  /* an add */
    OPS_GATED = 5,     /* SiLU (exp, add, divide, multiply) and the product with the gate */
    OPS_ACTIVATION = 1 /* ReLU */
};

double dse_llm_layer_weights(const struct dse_llm *llm)
{
    double hidden = (double)llm->hidden, q = (double)(llm->heads * llm->head_dim), kv = (double)(llm->kv_heads * llm->head_dim);
    return hidden * (2 * q + 2 * kv) + (double)llm->ffn_matrices * hidden * (double)llm->ffn;
}

double dse_llm_head_weights(const struct dse_llm *llm)
{
    return (double)llm->vocab * (double)llm->hidden;
}

/* Bytes of K and V of one token in one layer. */
static double kv_bytes_per_layer(const struct dse_llm *llm, double kv_bits)
{
    return 2 * (double)(llm->kv_heads * llm->head_dim) * kv_bits / DSE_BITS_PER_BYTE;
}

double dse_kv_bytes_per_token(const struct dse_llm *llm, double kv_bits)
{
    return (double)llm->layers * kv_bytes_per_layer(llm, kv_bits);
}

double dse_kv_row_bytes(const struct dse_workload *w)
{
    return (double)w->llm->head_dim * dse_kv_bits(w) / DSE_BITS_PER_BYTE;
}

const char *dse_workload_check(const struct dse_workload *w)
{
    const char *unlike = dse_llm_unlike_plain(w->llm);
    if (unlike) return unlike;
    if (w->context > w->llm->max_context) return "the context is longer than the LLM was made for (max_context)";
    return NULL;
}

const char *dse_kv_format_check(const struct dse_workload *w)
{
    return w->kv_scale_bits > 0 && !dse_kv_scaled(w) ? "keys and values of 16 bits or more have no scales (kv_scale_bits, kv_bits)"
                                                     : NULL;
}

double dse_workload_footprint(const struct dse_workload *w)
{
    double weights =
        (double)w->llm->layers * dse_llm_layer_weights(w->llm) + (double)w->llm->embedding_tables * dse_llm_head_weights(w->llm);
    return weights * (double)w->weight_bits / DSE_BITS_PER_BYTE +
           (double)w->batch * (double)w->context * dse_kv_bytes_per_token(w->llm, dse_kv_bits(w));
}

double dse_workload_tokens(const struct dse_workload *w)
{
    return w->phase == DSE_PREFILL ? (double)w->batch * (double)w->context : (double)w->batch;
}

static void add(struct dse_oplist *list, struct dse_op op)
{
    assert(list->n < DSE_OPS_MAX);
    list->op[list->n++] = op;
}

/* A matrix of k x n weights, in each of `repeat` layers, applied to m rows. */
static void add_linear(struct dse_oplist *list, const char *name, int64_t repeat, int64_t m, int64_t k, int64_t n,
                       double weight_bytes, double kv_write_bytes)
{
    double elements = (double)repeat * (double)k * (double)n;
    add(list, (struct dse_op){.name = name,
                              .kind = DSE_OP_LINEAR,
                              .repeat = repeat,
                              .m = m,
                              .k = k,
                              .n = n,
                              .weight_bytes = elements * weight_bytes,
                              .kv_write_bytes = kv_write_bytes,
                              .ops = DSE_OPS_PER_MAC * elements * (double)m});
}

static void add_elementwise(struct dse_oplist *list, const char *name, int64_t repeat, int64_t m, int64_t n, double ops)
{
    add(list, (struct dse_op){.name = name, .kind = DSE_OP_ELEMENTWISE, .repeat = repeat, .m = m, .k = 1, .n = n, .ops = ops});
}

/* Scores, softmax and values: `pairs` is how many (query, key) positions meet in one head of one sequence. */
static void add_attention(struct dse_oplist *list, const struct dse_workload *w, int64_t queries, double pairs)
{
    const struct dse_llm *llm = w->llm;
    double instances = (double)llm->layers * (double)llm->heads * (double)w->batch;
    double read = (double)w->batch * (double)w->context * dse_kv_bytes_per_token(llm, dse_kv_bits(w)) / 2;
    struct dse_op scores = {.name = "attention_scores",
                            .kind = DSE_OP_SCORES,
                            .repeat = llm->layers,
                            .m = queries,
                            .k = llm->head_dim,
                            .n = w->context,
                            .kv_read_bytes = read,
                            .ops = DSE_OPS_PER_MAC * instances * pairs * (double)llm->head_dim};
    struct dse_op values = scores;
    values.name = "attention_values";
    values.kind = DSE_OP_VALUES;
    values.k = w->context;
    values.n = llm->head_dim;
    add(list, scores);
    add_elementwise(list, "softmax", llm->layers, queries, w->context, OPS_SOFTMAX * instances * pairs);
    add(list, values);
    for (int i = list->n - 3; i < list->n; i++) list->op[i].in_attention = true;
}

/* Norms, rotary embedding, residuals and activation functions of all layers, for `rows` tokens. */
static double elementwise_ops(const struct dse_llm *llm, double rows)
{
    double rotary = OPS_ROTARY * (double)((llm->heads + llm->kv_heads) * llm->head_dim);
    double around = 2 * (OPS_NORM + OPS_RESIDUAL) * (double)llm->hidden;
    double activation = (llm->ffn_matrices == 3 ? OPS_GATED : OPS_ACTIVATION) * (double)llm->ffn;
    return rows * (double)llm->layers * (rotary + around + activation);
}

void dse_workload_expand(const struct dse_workload *w, struct dse_oplist *ret)
{
    const struct dse_llm *llm = w->llm;
    double n = (double)w->context, bytes = (double)w->weight_bits / DSE_BITS_PER_BYTE;
    int64_t queries = w->phase == DSE_PREFILL ? w->context : 1; /* positions of one sequence worked on in this step */
    int64_t rows = w->batch * queries;
    int64_t q = llm->heads * llm->head_dim, kv = llm->kv_heads * llm->head_dim;
    double pairs = w->phase == DSE_PREFILL ? n * (n + 1) / 2 : n; /* causal: position i sees i positions */
    double written = (double)rows * dse_kv_bytes_per_token(llm, dse_kv_bits(w));

    ret->n = 0;
    add_linear(ret, "qkv_projection", llm->layers, rows, llm->hidden, q + 2 * kv, bytes, written);
    add_attention(ret, w, queries, pairs);
    add_linear(ret, "output_projection", llm->layers, rows, q, llm->hidden, bytes, 0);
    add_linear(ret, "ffn_up", llm->layers, rows, llm->hidden, (llm->ffn_matrices - 1) * llm->ffn, bytes, 0);
    add_linear(ret, "ffn_down", llm->layers, rows, llm->ffn, llm->hidden, bytes, 0);
    add_elementwise(ret, "elementwise", llm->layers, rows, llm->hidden, elementwise_ops(llm, (double)rows));
    add_linear(ret, "lm_head", 1, w->batch, llm->hidden, llm->vocab, bytes, 0);
}
