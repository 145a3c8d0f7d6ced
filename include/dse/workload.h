/* The workload: an LLM's shape, a phase, a batch and a context, and the operators they expand to.
 *
 * Every model embeds struct dse_workload, so one sweep can put all systems on one axis:
 *     DSE_EMBED(struct lad_params, workload, struct dse_workload, dse_workload_params)
 */
#ifndef DSE_WORKLOAD_H
#define DSE_WORKLOAD_H

#include <dse/catalog.h>
#include <dse/desc.h>

enum dse_phase { DSE_DECODE, DSE_PREFILL };

struct dse_workload {
    const struct dse_llm *llm;
    int32_t phase;   /* enum dse_phase */
    int64_t batch;   /* sequences processed together */
    int64_t context; /* decode: positions in the KV cache; prefill: length of the prompt */
    int64_t weight_bits, kv_bits;
    double
        kv_scale_bits; /* of scales and zero points, a key or value element: two of fp16 for each 32 elements are 1; 0: none counted */
};
extern const struct dse_param dse_workload_params[];

/* A request: a prompt, then tokens generated one by one. Models that average over a generation embed it beside the workload:
 *     DSE_EMBED(struct veda_params, request, struct dse_request, dse_request_params)
 * With generate = 0 a model gives the one step at `context` and `prompt` counts for nothing but what the model says it does; with
 * generate > 0 it gives the mean step over the positions prompt + 1 .. prompt + generate, and `context` counts for nothing. */
struct dse_request {
    int64_t prompt, generate; /* tokens */
};
extern const struct dse_param dse_request_params[];

enum dse_op_kind {
    DSE_OP_LINEAR,      /* activations (m x k) times weights (k x n) */
    DSE_OP_SCORES,      /* q K^T of all query heads */
    DSE_OP_VALUES,      /* softmax(scores) V of all query heads */
    DSE_OP_ELEMENTWISE, /* softmax, norms, rotary embedding, residuals, activation functions */
};

/* One operator, summed over `repeat` identical instances (the layers). Bytes and operations are totals of one step. In order: */
struct dse_op {
    const char *name; /* "qkv_projection", "attention_scores", "softmax", "attention_values", "output_projection", "ffn_up"
                              (with the gate, if there is one), "ffn_down", "elementwise", "lm_head" */
    enum dse_op_kind kind;
    bool in_attention;     /* the scores, their softmax, the values */
    int64_t repeat;        /* instances: layers, or 1 */
    int64_t m, k, n;       /* of one instance. LINEAR: (m x k) x (k x n). SCORES, VALUES: of one query head and sequence */
    double weight_bytes;   /* read once a step, whatever the batch */
    double kv_read_bytes;  /* of the whole batch; K and V apart (SCORES reads K, VALUES reads V); grouped-query heads share */
    double kv_write_bytes; /* keys and values appended in this step */
    double ops;            /* multiply-adds count two */
};

enum { DSE_OPS_MAX = 16 };

struct dse_oplist {
    int n;
    struct dse_op op[DSE_OPS_MAX];
};

/* Expand one decode step, or one prefill of `context` tokens (causal: half the square), into operators in execution order. Pure.
 * - Decode reads the K and V of all `context` positions, the newest included. Prefill reads each position once (blocked attention
 *   whose query block holds the prompt); a machine with less room reads more and must say so itself.
 * - The output head works on the last position of a prompt only.
 * - Keys and values are appended by qkv_projection.
 * - Operations of elementwise operators are counts of scalar operations (exp, division, square root: one each); norms' and biases'
 *   weights (under 0.01 % of all) are left out. */
void dse_workload_expand(const struct dse_workload *w, struct dse_oplist *ret);

/* Weight elements of one layer (attention projections and FFN) and of the output head. */
double dse_llm_layer_weights(const struct dse_llm *llm);
double dse_llm_head_weights(const struct dse_llm *llm);
/* Bits of the cache a key or value element, with its share of scales and zero points. */
static inline double dse_kv_bits(const struct dse_workload *w)
{
    return (double)w->kv_bits + w->kv_scale_bits;
}
/* Has the cache numbers of fewer than 16 bits, with scales? */
static inline bool dse_kv_scaled(const struct dse_workload *w)
{
    enum { FULL_BITS = 16 };
    return w->kv_bits < FULL_BITS && w->kv_scale_bits > 0;
}
/* Bytes of K and V of one token over all layers; kv_bits: dse_kv_bits. */
double dse_kv_bytes_per_token(const struct dse_llm *llm, double kv_bits);
/* Bytes of one key or value, of one position, layer and KV head. */
double dse_kv_row_bytes(const struct dse_workload *w);
/* Why a model that knows nothing but full attention and dense networks cannot run this LLM; NULL when it can. To be asked before
 * anything is derived of its shape, which may have no heads. */
const char *dse_llm_unlike_plain(const struct dse_llm *llm);
/* NULL when the LLM can run the workload, or why it cannot: the context is longer than the LLM was made for. */
const char *dse_workload_check(const struct dse_workload *w);
/* NULL, or why there is no such cache: one of 16 bits or more has no scales. For dse_model.check alone: bytes of such a cache stay
 * monotone in both widths, so that bounds may ask for it. */
const char *dse_kv_format_check(const struct dse_workload *w);
/* Bytes that the workload occupies in DRAM: all weights (input embedding included) and the KV cache of the batch. */
double dse_workload_footprint(const struct dse_workload *w);
/* Tokens that one step yields: batch (decode) or batch * context (prefill). */
double dse_workload_tokens(const struct dse_workload *w);

#endif
