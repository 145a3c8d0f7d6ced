/* What an LLM of the catalog holds and does, in whole numbers: parameters, elements kept a token, multiply-adds a token. Nothing
 * here depends on a machine. docs/explanation/llms.md has every count with its equation.
 *
 * A "multiply-add" is one of a matrix product, of scores and values, of a recurrence or a short convolution. Norms, softmax, rotary
 * embedding, activation functions and decay are not counted; dse_workload_expand has them as operators of their own.
 */
#ifndef DSE_LLM_H
#define DSE_LLM_H

#include <dse/catalog.h>

struct dse_llm_counts {
    int64_t params;                   /* all, norms and biases included; multi-token-prediction layers and vision encoders not */
    int64_t params_active;            /* that one token uses: output head in, input embedding out (a look-up reads one row) */
    int64_t params_active_with_input; /* with the input embedding; the same when it is the output head */
    int64_t params_tables;            /* embedding tables held */
    int64_t params_routed;            /* of all routed experts, with their biases */
    int64_t params_idle;              /* that are held, and that no token uses */
    int64_t params_small;             /* norms, biases, convolutions, sinks: all that is no matrix */
    int64_t linear_macs;              /* a token, of all matrices, output head included */
    int64_t kv_elements;              /* kept a token for as long as the context grows: full and latent attention */
    int64_t kv_window_elements;       /* kept a token until the window or chunk is full */
    int64_t index_elements;           /* kept a token by indexers, DSE_INDEX_BYTES each */
    int64_t state_elements;           /* a sequence: recurrent states, DSE_STATE_BYTES each */
    /* Elements of all matrices by class. Those of the head are among the tables where the two are one. */
    int64_t matrices[DSE_WEIGHT_CLASSES];
    int64_t idle[DSE_WEIGHT_CLASSES]; /* of these, what no token uses */
    int64_t conv_state_elements;      /* a sequence: past inputs of short convolutions, DSE_CONVOLUTION_BYTES each */
};
void dse_llm_count(const struct dse_llm *llm, struct dse_llm_counts *ret);
/* Bits of a weight, and its share of scales and zero points. */
struct dse_held {
    double bits, scale_bits;
};
static inline double dse_held_bytes(struct dse_held of)
{
    enum { BITS_PER_BYTE = 8 };
    return (of.bits + of.scale_bits) / BITS_PER_BYTE;
}
/* Of a weight of this class in the released checkpoint. */
struct dse_held dse_llm_held(const struct dse_llm *llm, enum dse_weight_class class);
/* Bytes of all weights as the checkpoint stores them: matrices in the format of their class, all else in 16 bits. */
double dse_llm_checkpoint_bytes(const struct dse_llm *llm);

/* A matrix as files of transformers have it: `rows` outputs of `columns` inputs. */
struct dse_llm_matrix {
    enum dse_weight_class class;
    const char *part; /* of its module: "q_proj", "gate_proj" */
    int kind;         /* of the layers that have it; -1: it is of no layer */
    int64_t rows, columns;
    int64_t times; /* in each of these layers */
};
typedef void dse_llm_matrix_fn(void *arg, const struct dse_llm_matrix *m);
/* Call fn for all matrices: queries, keys and values apart, gate and up apart, experts by themselves. Those of layers' own inputs
 * and of hyper-connections (DSE_WEIGHTS_OTHER) are not among them. */
void dse_llm_each_matrix(const struct dse_llm *llm, dse_llm_matrix_fn *fn, void *arg);

/* What is kept beside keys, values and latents has widths of its own: keys of indexers 8 bits (DeepSeek-V3.2), states 32, as
 * runtimes keep them, and the inputs of convolutions 16. */
enum { DSE_INDEX_BYTES = 1, DSE_STATE_BYTES = 4, DSE_CONVOLUTION_BYTES = 2 };
/* Bytes that a cached token takes until windows and chunks are full, with `kv_bytes` an element of keys, values and latents. */
double dse_llm_token_bytes(const struct dse_llm *llm, double kv_bytes);
/* Bytes of states and inputs of convolutions, of one sequence. */
double dse_llm_state_bytes(const struct dse_llm *llm);
/* All that one sequence keeps at `context` positions. */
double dse_llm_cache_bytes(const struct dse_llm *llm, int64_t context, double kv_bytes);

/* Elements of keys, values and latents kept at `context` positions, of one sequence; states and indexers not included. */
int64_t dse_llm_kv_elements(const struct dse_llm *llm, int64_t context);

/* How latent attention is computed: queries are taken into the latent space, or the keys and values of all cached positions are
 * made from their latents again in each step. */
enum dse_latent_form { DSE_LATENT_ABSORBED, DSE_LATENT_EXPANDED, DSE_LATENT_BY_PHASE /* decode absorbed, prompts expanded */ };
/* Multiply-adds of the token at position `context` (itself included): linear_macs, and scores, values, recurrences, convolutions
 * and indexers. */
int64_t dse_llm_macs(const struct dse_llm *llm, int64_t context, enum dse_latent_form form);

/* NULL where every layer that mixes positions is full attention with keys and values, own or grouped: what a technique loses,
 * measured on heads of such an LLM, may then stand for this one. Else why not: windows, chunks, latents, indexers and recurrent
 * layers attend to other positions, or keep something else of them, and no head of such a layer was measured.
 * docs/explanation/quality.md has the numbers that grouped queries were decided by. */
const char *dse_llm_unlike_measured(const struct dse_llm *llm);

/* Has it a layer that keeps one vector of a position for keys and values (DSE_LATENT, ..., DSE_COMPRESSED)? */
bool dse_llm_keys_hold_values(const struct dse_llm *llm);
/* Is it latent attention, of any kind? */
bool dse_llm_is_latent(enum dse_mixer mixer);
/* Cached positions that the token at `context` attends to in a layer of this kind; 0 where nothing attends. */
int64_t dse_llm_positions_seen(const struct dse_layer_kind *kind, int64_t context);
/* Positions that such a layer keeps, or that the layer keeps whose cache it shares. */
int64_t dse_llm_positions_kept(const struct dse_layer_kind *kind, int64_t context);

#endif
