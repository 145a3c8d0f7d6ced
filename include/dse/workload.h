/* The workload: an LLM's shape, a phase, a batch and a context, and the operators they expand to.
 *
 * Every model embeds struct dse_workload, so one sweep can put all systems on one axis:
 *     DSE_EMBED(struct lad_params, workload, struct dse_workload, dse_workload_params)
 */
#ifndef DSE_WORKLOAD_H
#define DSE_WORKLOAD_H

#include <dse/catalog.h>
#include <dse/desc.h>
#include <dse/interconnect.h>
#include <dse/llm.h>
#include <dse/units.h>

enum dse_phase { DSE_DECODE, DSE_PREFILL };

/* Where the tokens of a step go: to all experts alike, to experts chosen at random, or at random with loads of a power law or as
 * measured. */
enum dse_routing { DSE_ROUTING_BALANCED, DSE_ROUTING_UNIFORM, DSE_ROUTING_POWER_LAW, DSE_ROUTING_PROFILE, DSE_ROUTINGS };
extern const char *const dse_routing_names[]; /* "balanced", "uniform", "power-law", "profile", NULL */

/* What proposes tokens for the LLM to verify: heads beside its own (Medusa), a layer of its kind with its output head (EAGLE,
 * multi-token prediction), or a smaller LLM. */
enum dse_drafter { DSE_DRAFT_HEADS, DSE_DRAFT_LAYER, DSE_DRAFT_LLM };

/* Speculative decoding: k tokens are drafted, and one step verifies them and the token before them. */
struct dse_speculation {
    int64_t draft_tokens;            /* k; 0: none */
    int32_t drafter;                 /* enum dse_drafter */
    const struct dse_llm *draft;     /* of DSE_DRAFT_LLM */
    double acceptance;               /* probability that the first drafted token is accepted */
    double acceptance_decay;         /* of that from one drafted token to the next, which is accepted only after it */
    double accepted_length;          /* tokens a verified step yields, as measured; 0: by `drafts` */
    const struct dse_drafts *drafts; /* measured by draft_tokens; NULL or "law": by acceptance */
};

struct dse_workload {
    const struct dse_llm *llm;
    int32_t phase;         /* enum dse_phase */
    int64_t batch;         /* sequences processed together */
    int64_t context;       /* decode: positions in the KV cache; prefill: length of the prompt */
    double context_spread; /* decode: standard deviation of the sequences' contexts over their mean, `context` */
    int64_t chunk_tokens,
        chunk_context;                /* decode: of a prompt that is worked on in the same step, and positions of it before these */
    const struct dse_formats *format; /* NULL: uniform */
    int64_t weight_bits, kv_bits, activation_bits;
    double weight_scale_bits; /* of scales and zero points, a weight: one of 16 bits for each 128 weights is 0.125 */
    /* Of scales and zero points, a key or value element: two of fp16 for each 32 elements are 1; 0: none counted. */
    double kv_scale_bits;
    double exchange_bits;           /* of a number that chips exchange; NaN or 0 ("auto"): activation_bits */
    int64_t index_bits, state_bits; /* of a stored key of an indexer, and of an element of a recurrent state; 0: 8 and 32 */
    double value_bits;              /* of a stored value element; NaN or 0 ("auto"): kv_bits, and then kv_bits is the keys' alone */
    int32_t latent_form;            /* enum dse_latent_form */
    int32_t routing;                /* enum dse_routing */
    double routing_exponent;
    const struct dse_expert_loads *expert_loads; /* of DSE_ROUTING_PROFILE */
    struct dse_speculation speculation;
    int64_t tensor_parallel, pipeline_parallel, data_parallel, expert_parallel; /* degrees, as below; 0 counts as 1 */
};
extern const struct dse_param dse_workload_params[];

/* ---- several chips ---------------------------------------------------------------------------------------------------------
 * tensor x pipeline x data chips hold the LLM. `tensor` chips share the heads and the inner widths of each layer; `pipeline` stages
 * share the layers; `data` groups share the sequences. Routed experts are dealt out to `expert` of the tensor x data chips of a
 * stage: up to `tensor`, tokens need not move, since all chips of a group have them; beyond, they go to their experts and back.
 * With fewer expert groups than tensor chips each expert is split, too.
 *
 * The sequences of a group pass through a pipeline as up to `pipeline` micro-batches. A step, as a user waits for it, is `pipeline`
 * passes of a micro-batch through a stage; of these dse_workload_passes do work on a chip, the others are the bubble. */
int64_t dse_workload_chips(const struct dse_workload *w);
/* Passes of a step in which a chip works: the micro-batches that there are. */
int64_t dse_workload_passes(const struct dse_workload *w);
/* Sequences of one micro-batch on a chip. */
int64_t dse_workload_sequences(const struct dse_workload *w);
static inline int64_t dse_degree(int64_t degree)
{
    return degree > 1 ? degree : 1;
}

/* What a model may not know of workloads. A point that needs it is refused by dse_workload_check. */
enum dse_workload_can {
    DSE_CAN_LAYERS = 1 << 0,      /* layers of other kinds than full attention with a dense network */
    DSE_CAN_PARALLEL = 1 << 1,    /* degrees of parallelism */
    DSE_CAN_SPECULATE = 1 << 2,   /* draft_tokens */
    DSE_CAN_MIX = 1 << 3,         /* context_spread, chunk_tokens */
    DSE_CAN_ACTIVATIONS = 1 << 4, /* activation_bits below 16 */
    DSE_CAN_SCALES = 1 << 5,      /* weight_scale_bits */
    DSE_CAN_FORMATS = 1 << 6,     /* weights of several formats */
    DSE_CAN_ALL = (1 << 7) - 1
};

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
    DSE_OP_SCORES,      /* q K^T of all query heads of an attention */
    DSE_OP_VALUES,      /* softmax(scores) V of all query heads of an attention */
    DSE_OP_ELEMENTWISE, /* softmax, norms, rotary embedding, residuals, activation functions */
    DSE_OP_RECURRENCE,  /* a state is read, changed and written, and read by the query; with the short convolution before it */
    DSE_OP_COLLECTIVE,  /* chips exchange activations */
};

/* What an operator is for. A role has one name for operators of the LLM, and the same with "draft_" before it for those that draft
 * (docs/explanation/llms.md). Models ask the roles and traits of operators, never their names. */
enum dse_op_role {
    /* Full, window and chunk attention. Latent attention has the last four, too. */
    DSE_ROLE_QUERY_KEY_VALUE, /* and the output gate, in LLMs that have one */
    DSE_ROLE_ATTENTION_SCORES,
    DSE_ROLE_SOFTMAX,
    DSE_ROLE_ATTENTION_VALUES,
    DSE_ROLE_ATTENTION_OUTPUT, /* from all heads back to the hidden state */
    /* Latent attention. */
    DSE_ROLE_QUERY_DOWN,  /* the hidden state to the rank of queries */
    DSE_ROLE_QUERY_UP,    /* to the queries of all heads */
    DSE_ROLE_LATENT_DOWN, /* the hidden state to the latent that is cached */
    DSE_ROLE_LATENT_UP,   /* expanded: cached latents to keys and values of all heads */
    DSE_ROLE_ABSORB_QUERIES,
    DSE_ROLE_ABSORB_VALUES, /* absorbed: queries into the latent space, and sums of latents out of it */
    /* Compressed attention. */
    DSE_ROLE_COMPRESS,    /* the hidden state to what blocks of positions become */
    DSE_ROLE_OUTPUT_DOWN, /* a group of heads to its rank */
    /* An indexer: which positions latent attention reads. */
    DSE_ROLE_INDEX_QUERIES,
    DSE_ROLE_INDEX_KEYS,
    DSE_ROLE_INDEX_SCORES,
    DSE_ROLE_INDEX_CHOICE,
    /* Recurrent layers. */
    DSE_ROLE_STATE_PROJECTION, /* the hidden state to all that the recurrence takes */
    DSE_ROLE_STATE_PARAMETERS, /* Mamba: what the recurrence takes of its channels */
    DSE_ROLE_STATE_STEPS,      /* Mamba: step sizes of all channels */
    DSE_ROLE_RECURRENCE,
    DSE_ROLE_STATE_OUTPUT,
    /* Networks. */
    DSE_ROLE_FFN_UP,
    DSE_ROLE_FFN_DOWN,
    DSE_ROLE_ROUTER,
    DSE_ROLE_EXPERT_UP,
    DSE_ROLE_EXPERT_DOWN, /* of the routed experts */
    DSE_ROLE_EXPERT_LATENT_DOWN,
    DSE_ROLE_EXPERT_LATENT_UP, /* of experts that work on fewer numbers than the hidden state has: into these and back */
    DSE_ROLE_SHARED_UP,
    DSE_ROLE_SHARED_DOWN, /* of the experts of every token */
    /* The rest. */
    DSE_ROLE_ELEMENTWISE,      /* norms, rotary embedding, residuals, activation functions of all layers */
    DSE_ROLE_HYPER_CONNECTION, /* how streams of the residual are mixed */
    DSE_ROLE_STREAM_ROUTER,    /* AltUp: coefficients of the streams, of what goes into a layer and of what comes out of it */
    DSE_ROLE_STREAM_IN,
    DSE_ROLE_STREAM_OUT, /* AltUp: the embedding to the other streams, and these back behind the last layer */
    DSE_ROLE_RESIDUAL_DOWN,
    DSE_ROLE_RESIDUAL_UP,     /* a low rank beside attention, and back */
    DSE_ROLE_LAYER_INPUTS,    /* the embedding to the inputs that all layers have of their own */
    DSE_ROLE_LAYER_INPUT_IN,  /* of a layer: its output to the width of its input */
    DSE_ROLE_LAYER_INPUT_OUT, /* and back */
    DSE_ROLE_OUTPUT_HEAD,
    DSE_ROLE_HEAD_LAYER, /* of heads that draft: the hidden layer before their output head */
    DSE_ROLE_JOIN,       /* of a layer that drafts: the last hidden state and the new token become one input */
    /* Several chips. */
    DSE_ROLE_ALL_REDUCE,
    DSE_ROLE_DISPATCH,
    DSE_ROLE_COMBINE, /* tokens to experts of other chips, and back */
    DSE_ROLE_GATHER_LOGITS,
    DSE_ROLE_NEXT_STAGE,
    DSE_OP_ROLES
};
extern const char *const dse_op_role_names[]; /* "query-key-value", ..., NULL: as the constants, without DSE_ROLE_ */

/* Experts of a layer: how many there are, on all chips, and how many of them a token chooses. */
struct dse_choice {
    int64_t routed, chosen;
};

/* One operator, summed over `repeat` identical instances (the layers). Bytes and operations are totals of one pass (of one step
 * where there is no pipeline), of one chip: the fullest. */
struct dse_op {
    const char
        *name; /* a string constant: docs/explanation/llms.md has them. Of an LLM with full attention and a dense network, in order:
                              "qkv_projection", "attention_scores", "softmax", "attention_values", "output_projection", "ffn_up"
                              (with the gate, if there is one), "ffn_down", "elementwise", "lm_head" */
    enum dse_op_kind kind;
    enum dse_op_role role;
    /* Traits. */
    bool in_attention;      /* the scores, their softmax, the values */
    bool is_draft;          /* of what proposes tokens, not of the LLM */
    bool follows_norm;      /* a norm makes its input: of the products that share this input, as router and experts do, one alone */
    bool has_gate;          /* half of its columns are a gate, by which the other half is multiplied: networks of three matrices */
    bool writes_cache;      /* what it makes is appended to the cache: keys and values, latents, keys of an indexer */
    bool is_per_head;       /* a matrix for each head: `repeat` counts heads, of all layers */
    bool is_first, is_last; /* of operators with something to do: the first of its role, drafts apart; the last of its kind */
    int8_t attention;       /* of SCORES, VALUES and their softmax: index into dse_oplist.attention; else -1 */
    int8_t collective;      /* enum dse_collective */
    int64_t repeat;         /* instances: layers, or 1 */
    double copies;          /* matrices of an instance that work on different rows: experts with work (a mean); else 1 */
    int64_t cached_columns; /* of n: keys and values of grouped queries, which go to the cache */
    int64_t m, k, n; /* of one instance, of one copy. LINEAR: (m x k) x (k x n). SCORES, VALUES: of one query head and sequence.
                              m of experts is the mean, rounded up: `rows` is the mean */
    double rows;     /* of one copy */
    double element_bytes;                /* of one stored weight, with its share of scales and zero points; 0: no weights */
    double weight_bits, activation_bits; /* of a weight without its scales, and of what it is multiplied with; 0: no weights */
    double weight_bytes;                 /* read once a pass, whatever the batch */
    double held_bytes;                   /* of weights in this chip's memory: more than weight_bytes where experts have no work */
    double
        kv_read_bytes; /* of the whole batch; K and V apart (SCORES reads K, VALUES reads V); grouped-query heads share. RECURRENCE:
                              the states */
    double kv_write_bytes;        /* keys and values appended in this pass; states */
    double ops;                   /* multiply-adds count two */
    struct dse_choice choice;     /* of routed experts: among how many tokens choose; else 0 and 0 */
    struct dse_exchange exchange; /* COLLECTIVE: of one instance */
};

/* Attention of one kind: what a machine does `layers` times. Of one chip. */
struct dse_attention {
    enum dse_mixer mixer;
    int16_t projection; /* index into dse_oplist.op: what makes the queries, keys and values of grouped queries; else -1 */
    bool is_draft;
    bool is_index;              /* an indexer: scores without values, and a choice among them */
    bool is_made;               /* keys and values of all positions are made from latents in this pass ("latent_up"), not cached */
    int64_t layers;             /* instances, with those of repeated draft steps */
    int64_t heads, kv_heads;    /* query heads; heads of keys and values. heads is a multiple of kv_heads */
    int64_t key_dim, value_dim; /* elements a head; value_dim 0: an indexer */
    bool values_in_keys;        /* latent attention, absorbed: a value is the first value_dim elements of its key, read once */
    int64_t sequences, queries; /* queries: positions of one sequence worked on in this pass */
    int64_t reach;              /* positions that a query sees at most: of windows, chunks and indexers' choices; 0: all */
    int64_t positions;          /* that the pass reads of a sequence: what any of its queries sees */
    int64_t context;            /* positions that there are, the newest included */
    int64_t kept;               /* positions of the cache that stay */
    double pairs;               /* (query, key) positions that meet in one head of one sequence */
    double key_bytes, value_bytes; /* of one position that are read from the cache, all kv_heads of this chip, one layer */
    double cached_bytes;           /* of one position that are kept: the same, or the latents that keys and values are made of */
    double cached_elements;        /* of these, the numbers */
};

enum { DSE_OPS_MAX = 184, DSE_ATTENTIONS_MAX = 28 };

struct dse_oplist {
    int n, n_attentions;
    struct dse_op op[DSE_OPS_MAX];
    struct dse_attention attention[DSE_ATTENTIONS_MAX];
};

/* Expand one decode step, or one prefill of `context` tokens (causal: half the square), into operators in execution order. Pure.
 * - Decode reads the K and V of all positions that a layer sees, the newest included. Prefill reads each position once (blocked
 *   attention whose query block holds the prompt); a machine with less room reads more and must say so itself.
 * - The output head works on the last position of a prompt only, and on every drafted position of a step.
 * - Keys and values are appended by the projection that makes them.
 * - Operations of elementwise operators are counts of scalar operations (exp, division, square root: one each); norms' and biases'
 *   weights (under 0.01 % of all) are left out.
 * - Layers that are alike are one operator with `repeat`; full, window and chunk layers of one LLM share their projections. */
void dse_workload_expand(const struct dse_workload *w, struct dse_oplist *ret);
/* The operators of one row: those of a decode step of one sequence with one position, without a chunk of a prompt; behind those of
 * the LLM, those that draft, which run as often as in a step with drafts. What a program of fixed shapes does is this for each of
 * its rows, whatever the phase and the contexts are; but for experts with work (dse_experts_at_work). */
void dse_workload_expand_row(const struct dse_workload *w, struct dse_oplist *ret);
/* Routed experts of one chip that have work when `tokens` choose among those of a layer: a mean. */
double dse_experts_at_work(const struct dse_workload *w, struct dse_choice choice, double tokens);
/* The same where a technique leaves fewer positions to read in layers that keep all of them (full and latent attention): `read` of
 * them in a decode step. */
void dse_workload_expand_reading(const struct dse_workload *w, int64_t read, struct dse_oplist *ret);

/* Experts as the event level draws them, layer by layer, where the closed form has means: of layers `layer` to `layer` + `layers` -
 * 1 of those with experts, of which an expansion takes the mean; layers = 0: not drawn. dse_draw_of (program.h) makes one. */
struct dse_draw {
    uint64_t seed;
    int64_t layer, layers;
};
/* The same as dse_workload_expand_reading, with `copies`, `rows`, bytes and operations of experts, and the imbalance of what is
 * sent to them, as drawn. Their mean over many layers is what dse_workload_expand_reading says. */
void dse_workload_expand_drawn(const struct dse_workload *w, int64_t read, const struct dse_draw *draw, struct dse_oplist *ret);
/* Rows of each expert of one layer, ret[0 .. choice.routed - 1], when `tokens` choose among them. The first ceil(experts /
 * chips) of them lie on the first chip, and so on. False, and nothing is drawn: balanced routing, no experts, or more than
 * DSE_EXPERTS_DRAWN_MAX. Of more than DSE_TOKENS_DRAWN tokens so many are drawn, and how far they are from their mean is scaled to
 * all; which have none is drawn apart. */
enum { DSE_EXPERTS_DRAWN_MAX = 4096, DSE_TOKENS_DRAWN = 512 };
bool dse_experts_draw(const struct dse_workload *w, struct dse_choice choice, double tokens, uint64_t seed, int64_t layer,
                      double *ret);
/* The chip with the most rows of `chips` that share `routed` experts: its first expert. *ret_n: how many it holds. */
int64_t dse_experts_fullest(int64_t routed, const double *rows, double chips, int64_t *ret_n);

/* What weights of a class are held in: by `format`, or weight_bits and weight_scale_bits. The output head of an LLM that has it in
 * common with the embedding is held as that is. */
struct dse_held dse_workload_held(const struct dse_workload *w, const struct dse_llm *llm, enum dse_weight_class class);
/* Bits of what weights of a class are multiplied with, on a machine that can: by `format`, or activation_bits; no fewer than 16
 * with weights of 16 bits or more. */
double dse_workload_activation_bits(const struct dse_workload *w, const struct dse_llm *llm, enum dse_weight_class class);
/* Has the format activations of fewer bits than activation_bits? */
bool dse_workload_narrows(const struct dse_workload *w);
/* Bits of the narrowest and of the widest weights that are multiplied in a step, scales not included, and of the narrowest that the
 * LLM has: a table may be looked up alone. */
struct dse_weight_bits {
    double narrowest, widest, least;
};
struct dse_weight_bits dse_workload_weight_bits(const struct dse_workload *w);

/* Weight elements of one layer (attention projections and FFN) and of the output head. */
double dse_llm_layer_weights(const struct dse_llm *llm);
double dse_llm_head_weights(const struct dse_llm *llm);
/* Fills in what is left "auto". What a model does not resolve counts the same. */
void dse_workload_resolve(struct dse_workload *w);
/* Bits of a stored value element; kv_bits are those of a key. */
static inline double dse_value_bits(const struct dse_workload *w)
{
    return w->value_bits > 0 ? w->value_bits : (double)w->kv_bits;
}
/* Have keys and values different widths? */
static inline bool dse_kv_apart(const struct dse_workload *w)
{
    return dse_value_bits(w) < (double)w->kv_bits || dse_value_bits(w) > (double)w->kv_bits;
}
/* Have both caches keys of the same width, values, and scales? */
static inline bool dse_kv_same(const struct dse_workload *a, const struct dse_workload *b)
{
    return a->kv_bits == b->kv_bits && dse_value_bits(a) == dse_value_bits(b) && a->kv_scale_bits == b->kv_scale_bits;
}
/* The narrower of both. */
static inline double dse_kv_narrowest(const struct dse_workload *w)
{
    const double value = dse_value_bits(w);
    return value < (double)w->kv_bits ? value : (double)w->kv_bits;
}
/* Bytes of the cache a key element and a value element, with their share of scales and zero points; and the mean of both. */
static inline double dse_key_bytes(const struct dse_workload *w)
{
    return ((double)w->kv_bits + w->kv_scale_bits) / DSE_BITS_PER_BYTE;
}
static inline double dse_value_bytes(const struct dse_workload *w)
{
    return (dse_value_bits(w) + w->kv_scale_bits) / DSE_BITS_PER_BYTE;
}
static inline double dse_kv_bits(const struct dse_workload *w)
{
    return ((double)w->kv_bits + dse_value_bits(w)) / 2 + w->kv_scale_bits;
}
/* Bytes of a number that chips exchange. */
static inline double dse_exchange_bytes(const struct dse_workload *w)
{
    enum { USUAL_BITS = 16 };
    const double computed = w->activation_bits > 0 ? (double)w->activation_bits : USUAL_BITS;
    return (w->exchange_bits > 0 ? w->exchange_bits : computed) / DSE_BITS_PER_BYTE;
}
/* Bytes of a stored key element of an indexer, and of an element of a recurrent state. */
static inline double dse_index_bytes(const struct dse_workload *w)
{
    return w->index_bits > 0 ? (double)w->index_bits / DSE_BITS_PER_BYTE : DSE_INDEX_BYTES;
}
static inline double dse_state_bytes(const struct dse_workload *w)
{
    return w->state_bits > 0 ? (double)w->state_bits / DSE_BITS_PER_BYTE : DSE_STATE_BYTES;
}
/* Has the cache numbers of fewer than 16 bits, with scales? */
static inline bool dse_kv_scaled(const struct dse_workload *w)
{
    enum { FULL_BITS = 16 };
    return w->kv_bits < FULL_BITS && dse_value_bits(w) < FULL_BITS && w->kv_scale_bits > 0;
}
/* Bytes of K and V of one token over all layers; kv_bits: dse_kv_bits. */
double dse_kv_bytes_per_token(const struct dse_llm *llm, double kv_bits);
/* Bytes of one key or value, of one position, layer and KV head: the mean of both. */
double dse_kv_row_bytes(const struct dse_workload *w);
/* Why a model that knows nothing but full attention and dense networks cannot run this LLM; NULL when it can. To be asked before
 * anything is derived of its shape, which may have no heads. */
const char *dse_llm_unlike_plain(const struct dse_llm *llm);
/* NULL when a model that can what `can` says (enum dse_workload_can, or-ed) can run the workload, or why it cannot: what it does
 * not know, a context longer than the LLM was made for, degrees that do not divide. */
const char *dse_workload_check(const struct dse_workload *w, unsigned can);
/* Of these, what such a model does not know: to be asked before anything is derived of the LLM's shape, which may have no heads. */
const char *dse_workload_unknown(const struct dse_workload *w, unsigned can);
/* For dse_model.bound: leave of a box the points that such a model does not refuse by dse_workload_unknown. False: there are
 * none. */
bool dse_workload_narrow(struct dse_workload *lo, struct dse_workload *hi, unsigned can);
/* NULL, or why there is no such cache: one of 16 bits or more has no scales. For dse_model.check alone: bytes of such a cache stay
 * monotone in both widths, so that bounds may ask for it. */
const char *dse_kv_format_check(const struct dse_workload *w);
/* Bytes of all weights of an LLM with full attention and dense networks, on one chip. */
double dse_workload_plain_weights(const struct dse_workload *w);
/* Bytes of tables that no operator has, on the fullest chip: the embedding beside the output head, learned positions, inputs of
 * layers. */
double dse_workload_table_bytes(const struct dse_workload *w);
/* Bytes that the workload occupies in the DRAM of the fullest chip: its weights (input embedding included), and the KV cache and
 * the states of its sequences. */
double dse_workload_footprint(const struct dse_workload *w);
/* The same, where what dse_workload_expand makes of it is at hand. */
double dse_workload_footprint_of(const struct dse_workload *w, const struct dse_oplist *list);
/* Of these, what the sequences keep: positions of the cache, and states. And all, where that is known. */
double dse_workload_kept_bytes(const struct dse_workload *w, const struct dse_oplist *list);
double dse_workload_footprint_beside(const struct dse_workload *w, const struct dse_oplist *list, double kept);
/* Tokens that one step yields, of all chips: batch (decode), batch * context (prefill), batch * dse_accepted (with drafts). The
 * chunk of a prompt yields none. */
double dse_workload_tokens(const struct dse_workload *w);
/* Tokens that a verified step yields for one sequence: accepted_length; else as measured (drafts); else 1 + the accepted ones.
 * Leviathan et al., arXiv:2211.17192, Eq. 1, with a probability that falls from one drafted token to the next: 1 + sum over i of
 * the product of a d^(j-1), j = 1..i. */
double dse_accepted(const struct dse_speculation *s);

#endif
