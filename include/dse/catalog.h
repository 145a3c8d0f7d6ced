/* Named data a user can extend: LLMs, memories, technologies, attention profiles.
 *
 * A parameter of type DSE_TYPE_REF holds a pointer to one of these entries. Where an entry has a field of the same name as a
 * parameter of the model (a memory's `channels`), choosing the entry sets that parameter's default; a value given explicitly wins.
 */
#ifndef DSE_CATALOG_H
#define DSE_CATALOG_H

#include <dse/desc.h>
#include <stdbool.h>

/* What mixes the positions of a sequence in a layer. */
enum dse_mixer {
    DSE_FULL,          /* attention to all positions, grouped queries */
    DSE_WINDOW,        /* to the newest `attention_window` positions, itself included */
    DSE_CHUNK,         /* to the positions of its own chunk of `attention_window` (Llama 4): between 1 and so many of them */
    DSE_FULL_TOPK,     /* to the index_topk positions that an indexer chooses, grouped queries (MiniMax-M3) */
    DSE_LATENT,        /* latent attention (MLA): one latent vector a position, shared by all heads */
    DSE_LATENT_TOPK,   /* the same over the index_topk positions that an indexer chooses (DeepSeek-V3.2) */
    DSE_LATENT_SHARED, /* the same over those that the nearest layer with an indexer before it chose (GLM-5.2) */
    DSE_COMPRESSED, /* one key, which is the value, too, for all heads: to a window, and to positions made into one (DeepSeek-V4) */
    DSE_DELTA,      /* gated delta rule (Qwen3-Next): a state of key x value elements a value head */
    DSE_KDA,        /* Kimi delta attention: the same, with a decay for each channel of a key, of a low rank */
    DSE_LIGHTNING,  /* lightning attention (MiniMax-Text-01): the same state, without the delta */
    DSE_MAMBA,      /* Mamba-1 */
    DSE_MAMBA2,
    DSE_CONVOLUTION, /* a short convolution between gates (LFM2): its last inputs are all that it keeps */
    DSE_NO_MIXER,    /* a layer that is a feed-forward network alone (Nemotron-H) */
    DSE_MIXERS
};
extern const char *const dse_mixer_names[]; /* "full", "window", ..., NULL */

/* What works on each position by itself. */
enum dse_feed_forward { DSE_FFN_DENSE, DSE_FFN_EXPERTS, DSE_NO_FFN, DSE_FEED_FORWARDS };
extern const char *const dse_feed_forward_names[]; /* "dense", "experts", "none", NULL */

/* What the output of attention is multiplied by: a column for each of its elements, or one for each query head. */
enum dse_output_gate { DSE_NO_GATE, DSE_GATE_ELEMENT, DSE_GATE_HEAD };

enum dse_qk_norm { DSE_QK_NO_NORM, DSE_QK_NORM_HEAD, DSE_QK_NORM_FULL, DSE_QK_NORM_SHIFT };

/* Small things beside the matrices of attention; "no" where an entry says nothing. */
struct dse_llm_details {
    int32_t qkv_bias, output_bias; /* no, yes */
    /* enum dse_qk_norm: a vector of one head's width for q and for k, or of their whole width; of one head's, and a shift. */
    int32_t qk_norm;
    int32_t attention_sinks; /* one learned logit a query head */
    int32_t output_gate;     /* enum dse_output_gate */
    int32_t network_bias;    /* matrices of the dense network have biases */
    int64_t norms;           /* before and after a sublayer: 2; else 1, or 0 for the same */
    int32_t norm_bias;       /* a norm has a shift beside its scale */
    int32_t plain_norms;     /* norms have neither (OLMo-1) */
    int32_t shared_norm;     /* attention and network take one normed input, and are added to it together */
    int32_t head_bias;       /* the output head has a bias */
    int32_t embedding_norm;  /* a norm behind the embedding */
    int64_t positions;       /* rows of a table of learned positions; 0: there is none */
    int64_t mtp_layers;      /* multi-token-prediction layers of the checkpoint, in no count */
    int32_t approximate;     /* no, yes: imported without all keys that may change a count; every row says so */
};

/* Latent attention: DeepSeek-V2, arXiv:2405.04434, Sec. 2.1. */
struct dse_llm_latent {
    int64_t q_rank;                         /* 0: queries come from the hidden state directly */
    int64_t kv_rank;                        /* width of the latent that is kept; beside it rope_dim elements */
    int64_t nope_dim, rope_dim, v_head_dim; /* of a head, once expanded */
    int64_t index_heads, index_dim, index_topk;
};

/* Compressed attention (DeepSeek-V4): `compress_ratio` positions behind each other become one key, which is its value, too. A query
 * sees a window, and of these all, or the index_topk that an indexer chooses. Queries have a rank (q_rank), and so has the output,
 * in groups of heads. */
struct dse_llm_compression {
    int64_t compress_ratio;             /* 0: the window alone */
    int64_t compress_width;             /* keys of each position that are mixed into one: 2 where blocks overlap, else 1 */
    int64_t output_groups, output_rank; /* of the output projection */
};

struct dse_llm_experts {
    int64_t experts, experts_active; /* routed, of one layer; of them for a token */
    int64_t expert_ffn;              /* inner width of one */
    int64_t shared_ffn;              /* of all shared experts together; 0: none */
    int64_t expert_latent;           /* experts work on a projection of this width; 0: on the hidden state */
    int64_t zero_experts;            /* that the router chooses among, too, and that do nothing (LongCat) */
    int64_t expert_norms;            /* vectors as wide as the hidden state that norm what goes to experts and comes of them */
    int32_t shared_gate, router_bias, expert_bias;
    int32_t latent_norm; /* of what experts make of expert_latent numbers */
};

/* Inputs that each layer has of its own, by token (Gemma 3n and 4): a row of a table as wide as all of them, and a projection of
 * the embedding, are added, and every layer multiplies its part by a projection of its output. */
struct dse_llm_layer_inputs {
    int64_t layer_input;       /* width of a layer's; 0: there are none */
    int64_t layer_input_vocab; /* rows of the table */
};

/* Layers whose memory is a state: delta rule and lightning attention; Mamba. */
struct dse_llm_states {
    int64_t state_key_heads, state_key_dim, state_value_heads, state_value_dim;
    int64_t conv_kernel; /* taps of the short convolution, before the recurrence or by itself */
    int64_t ssm_inner, ssm_heads, ssm_state, ssm_groups, ssm_dt_rank;
    /* KDA: the gate of the output is a matrix, not two of a head's rank; so are the decays. */
    int32_t state_full_gate, state_full_decay;
    int32_t ssm_norms; /* Jamba: norms of dt, B and C */
    int32_t ssm_plain; /* Mamba-2 without a norm of what leaves it (Falcon-H1) */
};

/* Keys and values that a layer does not make as others do; "no" where an entry says nothing. */
struct dse_layer_cache {
    int32_t values_from_keys; /* values are made of the projected keys, without a matrix of their own (Gemma 4) */
    int32_t shares_cache;     /* keys and values are those of a layer before it: it makes and keeps none (Gemma 3n) */
    int32_t idle_keys;        /* of these: there are matrices for keys and values all the same, which nothing uses (Gemma 3n) */
};

/* What a layer is made of. An LLM has these numbers once, for all of its layers; kinds of layers of their own may have others. */
#define DSE_LAYER_SHAPE \
    int64_t heads, kv_heads, head_dim; /* 0 without attention of this kind */ \
    int64_t value_dim;                 /* elements of a value; 0: head_dim */ \
    int64_t ffn;                       /* inner width of the dense feed-forward network; 0: no layer has one */ \
    int64_t ffn_matrices;              /* 2: up, down; 3: gate, up, down */ \
    int64_t attention_window;          /* positions, of DSE_WINDOW and DSE_CHUNK */ \
    struct dse_layer_cache cache; \
    struct dse_llm_details details; \
    struct dse_llm_latent latent; \
    struct dse_llm_compression compression; \
    struct dse_llm_experts moe; \
    struct dse_llm_states states;
struct dse_layer_shape {
    DSE_LAYER_SHAPE
};

/* Layers that are alike, however they are spread over the depth. Row table of what an entry may say of a kind of its own:
 * dse_layer_kind_fields. */
struct dse_layer_kind {
    const char *name;     /* of the entry's own ([NAME.kinds.KIND]); NULL: made of `attention` and `feed_forward` */
    int32_t attention;    /* enum dse_mixer */
    int32_t beside;       /* enum dse_mixer: a recurrence that takes the same input; their outputs are added. DSE_NO_MIXER: none */
    int32_t feed_forward; /* enum dse_feed_forward */
    uint64_t own;         /* rows that the entry gives, as bits in the order of the table; the others are those of the LLM */
    struct dse_layer_shape shape;
    /* made by dse_llm_resolve */
    int64_t layers;
    /* The first kind whose projections of grouped queries, keys and values are as wide, whose latent attention is the same, whose
     * recurrences, whose network: operators of such layers are one. */
    uint8_t same_heads, same_latent, same_states, same_network;
    uint8_t same_shared; /* of its network with experts all but the experts: router, shared experts, what leads to the experts */
};
enum { DSE_LAYER_KINDS_MAX = 64 };
extern const struct dse_param dse_layer_kind_fields[];

/* Of an LLM that also sees: what decoding a text alone holds and does not use (Llama 3.2 Vision). */
struct dse_llm_seeing {
    int64_t
        cross_layers;   /* of cross attention to images, as wide as the others, which a text alone skips; in none of its numbers */
    int64_t input_rows; /* of the input embedding beside `vocab` */
};

/* Several streams of the residual: before and behind each sublayer a matrix of all streams mixes them (DeepSeek-V4); or around each
 * layer coefficients that a router makes of the stream that the layer works on (AltUp, Gemma 3n). */
struct dse_llm_residual {
    int64_t residual_streams; /* 0: one, without what mixes them */
    int32_t altup;            /* no, yes */
    int64_t residual_block;   /* layers whose sums sublayers behind them weigh (attention residuals, Kimi-K3); 0: one sum of all */
    int64_t residual_rank;    /* of two matrices beside attention, on its input (LAuReL, Gemma 3n); 0: there are none */
};

/* A decoder-only LLM. Row table: dse_llm_fields. */
/* Weights that checkpoints give formats of their own. */
enum dse_weight_class {
    DSE_WEIGHTS_ATTENTION, /* all projections of attention, low-rank ones included */
    DSE_WEIGHTS_INDEXER,
    DSE_WEIGHTS_RECURRENT,
    DSE_WEIGHTS_DENSE,   /* networks without experts */
    DSE_WEIGHTS_EXPERTS, /* routed */
    DSE_WEIGHTS_SHARED,  /* shared experts, and what takes the hidden state to the experts' width */
    DSE_WEIGHTS_ROUTER,  /* and the gate of shared experts */
    DSE_WEIGHTS_TABLES,  /* embeddings */
    DSE_WEIGHTS_HEAD,
    DSE_WEIGHTS_OTHER, /* inputs of layers, hyper-connections */
    DSE_WEIGHT_CLASSES
};
extern const char *const dse_weight_class_names[]; /* "attention", ..., "other", NULL */

/* How weights are held, class by class, and what they are multiplied with. Groups of weights share scales and zero points, which
 * count as a share of each weight: one of 16 bits for each 128 weights is 0.125. What is not given (NaN, 0) has in the checkpoint
 * of an LLM 16 bits and no scales, and in an entry of the formats what weight_bits and weight_scale_bits of the workload say.
 * Activations that are not given have activation_bits of the workload in both. */
struct dse_class_bits {
    double bits[DSE_WEIGHT_CLASSES], scale_bits[DSE_WEIGHT_CLASSES]; /* of a weight */
    double activation_bits[DSE_WEIGHT_CLASSES];                      /* of what it is multiplied with, where a machine can */
};

/* What weights of a workload are held in. Row table: dse_formats_fields. */
struct dse_format_origin {
    int32_t released; /* all classes as the checkpoint of the LLM has them */
};
struct dse_formats {
    struct dse_entry entry;
    struct dse_format_origin origin;
    struct dse_class_bits weights;
};
extern const struct dse_param dse_formats_fields[];
const char *dse_formats_check(const struct dse_formats *f);
/* Does it say all of them, so that weight_bits counts for nothing? Not without formats (NULL). */
bool dse_formats_complete(const struct dse_formats *f);
/* Have all weights weight_bits and weight_scale_bits? So it is without formats (NULL), too. */
bool dse_formats_uniform(const struct dse_formats *f);

struct dse_llm {
    struct dse_entry entry;
    int64_t layers, hidden;
    union {
        struct dse_layer_shape shape; /* of all layers, but for what kinds of the entry's own say */
        struct {
            DSE_LAYER_SHAPE
        };
    };
    struct dse_llm_layer_inputs inputs;
    struct dse_llm_residual residual;
    struct dse_llm_seeing seeing;
    int64_t vocab;
    int64_t embedding_tables;      /* vocab x hidden tables held: 2, or 1 when the output head is the input embedding (tied) */
    int64_t max_context;           /* longest context it was trained or extended for */
    int64_t dense_layers;          /* the first ones, which have no experts */
    struct dse_class_bits formats; /* of the released checkpoint */
    struct dse_pattern attention, feed_forward; /* enum dse_mixer, enum dse_feed_forward; as the entry has them */
    struct dse_pattern layer_kinds;             /* index into kinds; n = 0: kinds are made of the two above */
    struct dse_layer_kind kinds[DSE_LAYER_KINDS_MAX];
    size_t n_kinds;
    int64_t idle[DSE_WEIGHT_CLASSES]; /* made by dse_llm_resolve: weights that memory holds and no step uses */
};
extern const struct dse_param dse_llm_fields[];
/* The kind that layer i (from 0) is of, of a resolved LLM. */
const struct dse_layer_kind *dse_llm_layer(const struct dse_llm *llm, int64_t layer);
/* Count the layers of each kind. NULL when the rows of the entry fit together, else why not ("heads is not a multiple of
 * kv_heads"). Ranges are checked elsewhere. The text lives until the next call of this thread. */
const char *dse_llm_resolve(struct dse_llm *llm);
/* Is every layer full attention with grouped queries and a dense feed-forward network, all alike? */
bool dse_llm_is_plain(const struct dse_llm *llm);
/* Routed experts of the layer that has the fewest of those that have any; 0: no layer has. */
int64_t dse_llm_fewest_experts(const struct dse_llm *llm);
/* Have all layers with grouped queries the same keys and values? */
bool dse_llm_has_one_cache(const struct dse_llm *llm);

/* What decides how well a DRAM channel does at short accesses: the law of dse_dram_efficiency (hw.h) reads it. A channel is what
 * has a data bus of its own: an HBM pseudo channel, a GDDR6 channel, a DDR4 DIMM channel. Row table: dse_dram_timing_fields. */
struct dse_dram_timing {
    int64_t interleave_bytes; /* contiguous addresses in one row of one channel before the next channel's turn */
    int64_t row_bytes;        /* of one bank of one channel */
    int64_t banks, bank_groups;
    int64_t queue_depth; /* bursts that the controller holds for a channel and may reorder */
    double t_rcd_ns, t_rp_ns, t_ras_ns, t_rtp_ns;
    double t_ccd_ns;       /* column to column in one bank group (tCCD_L) */
    double t_rrd_ns;       /* activate to activate, other bank group (tRRD_S) */
    double t_faw_ns;       /* four activates */
    double row_command_ns; /* an activate and its precharge on the row-command bus, times the channels that share it */
    double t_rfc_ns;       /* refresh of all banks */
    double t_refi_ns;      /* between refreshes */
};
extern const struct dse_param dse_dram_timing_fields[]; /* an entry may have none of it: NaN and 0 then */

/* What the controller does with what waits for it. */
enum dse_dram_controller {
    DSE_DRAM_ROW_HITS,    /* one queue of reads, one of writes; first ready, first come; a row is not closed before older hits */
    DSE_DRAM_FIRST_READY, /* the same, but any command that is ready may go, the closing of a row that is still wanted, too */
    DSE_DRAM_BANK_QUEUES, /* a queue of reads and one of writes in front of a queue a bank, served in turn */
};
extern const char *const dse_dram_controller_names[]; /* "row-hits", "first-ready", "bank-queues", NULL */

/* What the event level needs beyond dse_dram_timing (src/sim/dram_spec.h). An entry may leave any of it out: a double is NaN
 * then, a count 0. Only the currents and `precharge_clocks` have a meaning then; without the others the event level refuses the
 * memory. Row table: dse_dram_detail_fields. */
struct dse_dram_detail {
    int32_t controller;    /* enum dse_dram_controller */
    int64_t bus_channels;  /* channels that share one command bus and one controller: the two pseudo channels of HBM */
    int64_t command_buses; /* 2: rows and columns have one each (HBM); 1: one for both */
    /* Command clocks that a burst takes on the data bus; sets the clock: burst_bytes / channel_gbs / burst_clocks. */
    int64_t burst_clocks;
    int64_t activate_clocks;       /* clocks that an activate takes on the command bus; a precharge takes one */
    int64_t bank_queue_depth;      /* bank-queues: commands a bank's queue holds */
    double t_cl_ns, t_cwl_ns;      /* column command to data, reads and writes */
    double t_rcd_wr_ns;            /* activate to write */
    double t_rrd_l_ns;             /* activate to activate in one bank group */
    double t_wr_ns;                /* end of write data to precharge */
    double t_wtr_s_ns, t_wtr_l_ns; /* end of write data to read, other and same bank group */
    double t_turn_ns;              /* data bus idle between a read and a write */
    double vdd_v, idd0_ma, idd2n_ma, idd3n_ma, idd4r_ma, idd4w_ma, idd5_ma; /* of one device */
    int64_t channel_devices;                                                /* that make up a channel */
};
extern const struct dse_param dse_dram_detail_fields[];

/* What it is made of: costs, areas, energies and carbon are found by it in the book of constants (costs.h). The order is that of
 * DSE_BY_KIND. */
enum dse_memory_kind {
    DSE_MEMORY_OTHER,
    DSE_HBM2,
    DSE_HBM2E,
    DSE_HBM3,
    DSE_HBM3E,
    DSE_HBM4,
    DSE_DDR4,
    DSE_DDR5,
    DSE_LPDDR4,
    DSE_LPDDR5,
    DSE_LPDDR6,
    DSE_GDDR5,
    DSE_GDDR6,
    DSE_GDDR6X,
    DSE_GDDR7,
    DSE_MEMORY_KINDS
};
extern const char *const dse_memory_kind_names[]; /* "other", "hbm2", ..., NULL */
struct dse_memory_make {
    int32_t kind; /* enum dse_memory_kind; DSE_MEMORY_OTHER: nothing is known of its costs */
};
extern const struct dse_param dse_memory_make_fields[]; /* an entry may leave it out */

/* A DRAM subsystem. Row table: dse_memory_fields. */
struct dse_memory {
    struct dse_entry entry;
    int64_t channels;
    double channel_gbs; /* peak of one channel */
    double dram_pj_per_bit;
    int64_t burst_bytes; /* smallest access */
    double capacity_gib; /* of all channels together */
    struct dse_dram_timing timing;
    struct dse_dram_detail detail;
    struct dse_memory_make make;
};
extern const struct dse_param dse_memory_fields[];
/* As dse_llm_check ("interleave_bytes is not a multiple of burst_bytes"). */
const char *dse_memory_check(const struct dse_memory *memory);

/* What few boards have a source for; an entry may leave it out: NaN then. Row table: dse_gpu_power_fields. */
struct dse_gpu_power {
    double idle_w; /* with no work */
};
extern const struct dse_param dse_gpu_power_fields[];

/* How its maker's library works on a GPU (E28, E29 of models/flashdecoding), fitted to measured kernels of its generation; an entry
 * may leave it out: NaN then. Row table: dse_gpu_kernel_fields. Cycles are of the SMs' clock. */
struct dse_gpu_kernels {
    double kernel_stream_share;                       /* of the peak bandwidth */
    double gemm_fixed_cycles;                         /* of a kernel, before and after its work */
    double attention_kernels;                         /* of decode: 3 writing, parts, their sum; 2 with the sum inside; 1 all */
    double gemm_tensor_share, attention_tensor_share; /* of the tensor cores' peak, at the clocks that they keep */
    double gemm_reach_bytes;                          /* a cycle into the tensor cores of an SM */
    double attention_block_cycles;                    /* of a block of prefill, besides its tiles */
    double gemm_narrow_share;                         /* of operands of 8 bits and fewer: over gemm_tensor_share */
    double l2_copies;                                 /* of a line that the partitions of the last-level cache may hold */
    double kernel_cache_bytes;                        /* a cycle from the last-level cache to an SM */
    double stream_fixed_cycles;     /* as gemm_fixed_cycles, of kernels that go over data once: norms, activations */
    double dram_piece_bytes;        /* that reading a piece of a row takes the DRAM as long as, at least */
    double gemm_four_share;         /* as gemm_narrow_share, which is of 8 bits, of 4 */
    double attention_head_blocks;   /* in decode, of all sequences, or of each (one kernel), at a KV head at most */
    double attention_narrow_cycles; /* before decode attention over a cache of 8 bits: queries become as narrow */
    double attention_narrow_work;   /* of a tile of such a cache: its products, over those at 16 bits */
    double attention_stream_share;  /* of the peak bandwidth, in attention */
    double kernel_fixed_cycles;     /* as gemm_fixed_cycles, of kernels other than the library's */
    double attention_rows;          /* query rows that a block of decode computes at least */
    double expert_tensor_share, expert_stream_share, expert_row_share,
        expert_scaled_share;   /* of what the maker's kernels reach, what those of experts do */
    double gemm_narrow_stream; /* of a GEMM of 8 or 4 bits: kernel_stream_share over its value at 16 */
};
extern const struct dse_param dse_gpu_kernel_fields[];

/* The GPU that the constants of each family of kernels were fitted to; an entry may leave it out: to none. Row table:
 * dse_gpu_origin_fields. */
enum dse_gpu_origin {
    DSE_FITTED_TO_NONE,
    DSE_FITTED_TO_ITSELF,
    DSE_FITTED_TO_A100,
    DSE_FITTED_TO_H100,
    DSE_FITTED_TO_B200,
    DSE_FITTED_TO_RTX_4090,
    DSE_GPU_ORIGINS
};
struct dse_gpu_origins {
    int32_t gemms_from, narrow_from, attention_from, experts_from; /* enum dse_gpu_origin; narrow: GEMMs below 16 bits */
};
extern const struct dse_param dse_gpu_origin_fields[];

/* How boards of a kind reach each other (E30 of models/flashdecoding); an entry may leave it out: NaN then. Row table:
 * dse_gpu_link_fields. */
struct dse_gpu_link {
    double link_gbs;        /* out of a device to all others that links join, one direction; of PCIe where there are no links */
    double link_share;      /* of a link's rate that NCCL counts on: protocol and packets */
    double multicast_share; /* of a link's rate at which switches add and spread; 0: they cannot */
    double linked_devices;  /* that links join; of more, some reach each other through the host */
    double host_path_gbs;   /* of the host, shared by all such hops */
    double system_devices;  /* of a server or rack, by links or the host: an island; others are beyond a network */
};
extern const struct dse_param dse_gpu_link_fields[];

/* Peaks of a GPU's tensor cores for narrow numbers: dense, Tflop/s, or 10^12 operations a second. An entry leaves out what it has
 * no units for, or what its maker does not publish: NaN then. Row table: dse_gpu_peak_fields. */
struct dse_gpu_peaks {
    double fp8_tflops, fp4_tflops; /* sums of 32 bits, where both are published */
    double int8_tops;
};
extern const struct dse_param dse_gpu_peak_fields[];

/* What a board is sold and let for: low, typical, high. An entry may leave any of it out: NaN then. Row table: dse_trade_fields. */
struct dse_trade {
    double low_usd, price_usd, high_usd;
    double low_usd_h, rent_usd_h, high_usd_h;
    double node_nm; /* that its dies are made in */
};
extern const struct dse_param dse_trade_fields[];

/* A GPU: what its maker publishes. Row table: dse_gpu_fields. */
struct dse_gpu {
    struct dse_entry entry;
    int64_t sms; /* streaming multiprocessors; compute units of AMD */
    double clock_ghz;
    double tensor_tflops; /* dense, fp16 in, fp32 accumulated */
    double vector_tflops; /* fp32 outside of the tensor cores */
    double bandwidth_gbs, capacity_gib;
    double l1_kib;    /* L1 data cache of one SM; NVIDIA's shared memory is in it, AMD's LDS is apart */
    double l2_mib;    /* last-level cache */
    int64_t l1_bytes; /* a cycle to or from what an SM keeps tiles in */
    double board_power_w, die_mm2;
    double dram_pj_per_bit;
    struct dse_gpu_peaks peaks;
    struct dse_gpu_power power;
    struct dse_gpu_kernels kernels;
    struct dse_gpu_origins origins;
    struct dse_gpu_link link;
    struct dse_memory_make make;
    struct dse_trade trade;
};
extern const struct dse_param dse_gpu_fields[];
/* NULL, or why its numbers do not fit together: links that join more devices than its system has. */
const char *dse_gpu_check(const struct dse_gpu *gpu);

/* An FPGA: what its maker publishes. Row table: dse_fpga_fields. */
struct dse_fpga {
    struct dse_entry entry;
    int64_t luts, ffs, brams, dsps; /* capacities; brams of 36 Kbit */
    double bandwidth_gbs, capacity_gib;
    struct dse_trade trade;
};
extern const struct dse_param dse_fpga_fields[];

/* What an engine takes of a device's memory before sequences get any; an entry may leave it out: NaN then. Row table:
 * dse_engine_memory_fields. */
struct dse_engine_memory {
    double memory_share;   /* of the memory, that it uses at all (vLLM's gpu_memory_utilization) */
    double reserved_gib;   /* contexts, libraries, graphs */
    double step_tokens;    /* of a step at most: their activations have room */
    double step_sequences; /* sampled in a step at most: their logits have room */
    double block_tokens;   /* positions of a block of the cache */
};
extern const struct dse_param dse_engine_memory_fields[];

/* An inference engine on a GPU: a preset of the GPU model's parameters of the same names. Row table: dse_engine_fields. */
struct dse_engine {
    struct dse_entry entry;
    int32_t softmax;                                /* dse_softmax_names */
    int32_t dataflow;                               /* dse_dataflow_names */
    int64_t pad_rows;                               /* rows of a flat GEMM are padded to a multiple of it */
    double attention_efficiency, linear_efficiency; /* shares of the peak bandwidth that attention and weights are read at */
    double compute_efficiency;                      /* share of the tensor cores' peak that prefill attention reaches */
    double exposed_share;                           /* of the shorter of loading and computing, in kernels with tiles */
    double sync_overhead;        /* synchronized softmax, over the rest of attention; 0 when in attention_efficiency */
    double launch_us;            /* between the launches of two kernels; 0 when in the efficiencies */
    int64_t elementwise_kernels; /* a layer, that are not fused into others */
    double host_us;              /* of a step in which devices wait for the host */
    int32_t launches;            /* dse_launches_names: whether the host runs ahead of the kernels */
    double sequence_us;          /* as host_us, of every sequence */
    double prompt_us;            /* of the host in a step with prompts, beside launches */
    double allocation_us;        /* as host_us, of every MiB of activations that the engine did not expect */
    int32_t collectives;         /* dse_collectives_names */
    int32_t kernel_losses; /* dse_losses_names: whether the event level adds fills, tails, latencies and gaps to the efficiencies */
    struct dse_engine_memory memory;
};
extern const struct dse_param dse_engine_fields[];
extern const char *const dse_softmax_names[];                                /* "synchronized", "asynchronous", NULL */
extern const char *const dse_dataflow_names[];                               /* "static", "heuristic", NULL */
extern const char *const dse_losses_names[], *const dse_collectives_names[]; /* "apart", "included", NULL */
extern const char *const dse_launches_names[];                               /* "waited", "queued", NULL */

/* A neural engine beside the CPU of a chip: a preset of the parameters of models/ane of the same names. Row table:
 * dse_npu_fields. */
struct dse_npu {
    struct dse_entry entry;
    double engine_tflops; /* fp16, of fused matrix products */
    double fill_rows;     /* rows that a layer's weights take as long as, before the first row of a (channels, 1, rows) tensor */
    double square_gain;   /* how much faster a layer is with (channels, height, width) tensors, while its weights take most of it */
    double narrow_gain;   /* how much faster weights of fewer bits stream than those of 16, at most */
    double dispatch_us;   /* least time of a program */
    double engine_base_w, engine_op_pj, engine_idle_w;
    double node_nm; /* that the chip is made in; NaN: not known */
};
extern const struct dse_param dse_npu_fields[];

/* How the devices that an interconnect joins reach each other. */
enum dse_link_topology {
    DSE_LINK_SWITCH,  /* through switches: all of a device's links to any other */
    DSE_LINK_MESH,    /* every device to every other, with as many links each as there are others */
    DSE_LINK_RING,    /* to two neighbours */
    DSE_LINK_TORUS_2, /* to four */
    DSE_LINK_TORUS_3, /* to six */
};
extern const char *const dse_link_topology_names[]; /* "switch", "mesh", "ring", "torus-2d", "torus-3d", NULL */

/* What a link is made of on the chip, as the book of constants knows it (costs.h). */
enum dse_link_phy_kind {
    DSE_LINK_PHY_OTHER,
    DSE_LINK_PHY_PCIE4,
    DSE_LINK_PHY_PCIE5,
    DSE_LINK_PHY_NVLINK3,
    DSE_LINK_PHY_NVLINK4,
    DSE_LINK_PHY_INFINITY_FABRIC,
    DSE_LINK_PHY_UCIE,
    DSE_LINK_PHY_SERDES, /* lanes of 112 Gb/s across boards */
    DSE_LINK_PHY_XSR,    /* the same within a package */
};
extern const char *const dse_link_phy_names[]; /* "other", "pcie4", ..., NULL */
struct dse_link_phy {
    int32_t link_phy;  /* enum dse_link_phy_kind; DSE_LINK_PHY_OTHER: its area is not known */
    double link_units; /* lanes, links or modules of it that make link_gbs */
};
extern const struct dse_param dse_link_phy_fields[]; /* an entry may leave it out */

/* Links between devices: chips of a board, boards of a server, servers. Row table: dse_interconnect_fields. */
struct dse_interconnect {
    struct dse_entry entry;
    double link_gbs;          /* peak out of a device, one direction, over all of its links of this kind */
    double link_share;        /* of it that messages reach: protocol, packets */
    double link_latency_us;   /* from a device to the next: both ends and the switch between them */
    double link_pj_per_bit;   /* of a bit that goes from a device to another, likewise */
    int64_t linked_devices;   /* that it joins */
    int32_t link_topology;    /* enum dse_link_topology */
    double link_reduce_share; /* of link_gbs at which switches add and spread; 0: they cannot */
    double link_reduce_us;    /* before they do */
    struct dse_link_phy phy;
};
extern const struct dse_param dse_interconnect_fields[];
/* NULL, or why its numbers do not fit together ("switches that add need link_topology = \"switch\""). */
const char *dse_interconnect_check(const struct dse_interconnect *link);

/* How often tokens choose each expert of an LLM, layer by layer. */
struct dse_expert_loads;
/* Layers that were measured, and experts of each. */
int64_t dse_expert_loads_layers(const struct dse_expert_loads *l);
int64_t dse_expert_loads_experts(const struct dse_expert_loads *l);
/* Of all choices in layer `layer` (from 0, of those that were measured) the share of an expert; their sum is 1. */
double dse_expert_loads_share(const struct dse_expert_loads *l, int64_t layer, int64_t expert);

/* What speculative decoding was measured to yield: tokens of a verified step, its own one included, by how many were drafted. NaN:
 * not measured. The entry "law" has none: acceptance and acceptance_decay say it. Row table: dse_drafts_fields. */
enum { DSE_DRAFTS_MAX = 8 };
struct dse_draft_lengths {
    double length_1, length_2, length_3, length_4, length_5, length_6, length_7, length_8;
};
struct dse_drafts {
    struct dse_entry entry;
    struct dse_draft_lengths lengths;
};
extern const struct dse_param dse_drafts_fields[];
/* With k >= 1 tokens drafted; NaN: not measured. */
double dse_drafts_length(const struct dse_drafts *d, int64_t k);
/* Was anything measured? */
bool dse_drafts_measured(const struct dse_drafts *d);

/* A technology node as one published method sees it. Ratios against another node of the same method scale area, energy, delay
 * and power; see dse_tech_ratio in hw.h. */
struct dse_technology {
    struct dse_entry entry;
    const char *method; /* "deepscale", "stillmaker-hp", ...: only nodes of one method can be compared */
    double node_nm, vdd_v;
    double area, energy, delay, power;    /* relative within the method; NaN when it has none */
    double sram_area;                     /* of SRAM; NaN: the method has none of its own, and SRAM goes by `area` */
    const struct dse_technology *sibling; /* next node of the same method, in a ring */
};

/* A table of SRAM macros (one node, cell type and port count) over capacity and word width; see dse_sram_at in hw.h. */
struct dse_sram_table;

/* What a file of measurements was made with, as its head says ("# settings:", docs/reference/catalog.md). What one does not say is
 * what the tool had fixed before it wrote it down. */
enum dse_setting {
    DSE_SET_KV_BITS,         /* of keys and values: 16; more is alike */
    DSE_SET_INTERVALS,       /* pieces of exp: 5 */
    DSE_SET_RECENT,          /* newest positions, always active: 16 */
    DSE_SET_SCORES,          /* intervals by way of the centers (0) or of the exact scores (1): 0 */
    DSE_SET_BOUNDARY,        /* enum dse_boundary: DSE_TOKEN, or DSE_BULK where there is a prompt_share */
    DSE_SET_PROMPT_SHARE,    /* of the positions that are a prompt: 0 */
    DSE_SET_THRESHOLD_A,     /* voting: 1 */
    DSE_SET_THRESHOLD_B,     /* 0.2 */
    DSE_SET_RESERVED_LENGTH, /* 32 */
    DSE_SET_COLLINEAR,       /* |cos| above which two keys share a center: 0.98 */
    DSE_SET_RECENT_SHARE,    /* h2o: of the cache, newest positions: 0.5 */
    DSE_SET_SINKS,           /* window: first positions that stay: 4 */
    DSE_SET_OBSERVED,        /* selection by the last so many queries of the prompt: 32 */
    DSE_SET_POOL,            /* positions that a score is pooled over: 7 */
    DSE_SET_PAGE,            /* positions of a page that is selected as one: 16 */
    DSE_SET_BETA,            /* how steeply budgets fall from layer to layer: 20 */
    DSE_SET_PHI,             /* partial softmax: the unified maximum: 0 */
    DSE_SET_LOW,             /* scores that it covers, around phi: -16.8 to 6.5 */
    DSE_SET_HIGH,
    DSE_SET_EXP_BITS,      /* fixed point: log2 of the entries of the exponential's table: 5 */
    DSE_SET_FRACTION_BITS, /* of a fixed-point number: 17 */
    DSE_SET_ROUNDING,      /* enum dse_rounding, of the exponential's shift */
    DSE_SET_SCALES,        /* enum dse_kv_scales, of quantised keys and values */
    DSE_SET_GROUP,         /* elements that share a scale: 64; 0: all of a token or channel */
    DSE_SET_RESIDUAL,      /* newest positions whose keys and values are not quantised: 0 */
    DSE_SET_POOLING,       /* what a score is pooled to: the largest (0) or the mean (1): 0 */
    DSE_SET_LAYER,         /* one layer alone; -1: the whole model */
    DSE_SETTINGS
};
enum dse_rounding { DSE_ROUND, DSE_TRUNCATE };
extern const char *const dse_rounding_names[]; /* "round", "truncate", NULL */
/* A scale a token, a scale a channel, or (KIVI) keys a channel and values a token. */
enum dse_kv_scales { DSE_SCALES_TOKEN, DSE_SCALES_CHANNEL, DSE_SCALES_KIVI };
extern const char *const dse_kv_scales_names[]; /* "token", "channel", "kivi", NULL */
/* The name of a setting in heads of files: "threshold_a". */
const char *dse_setting_name(enum dse_setting s);
/* How the cache is filled: token by token through as many positions as stay, or a prompt whole, whose surplus leaves when it ends.
 */
enum dse_boundary { DSE_TOKEN, DSE_BULK };
extern const char *const dse_boundary_names[]; /* "token", "bulk", NULL */

struct dse_measured;
/* NULL when it was made with this value; else a sentence: "profile mine holds for intervals = 5". It lives as long as the entry. */
const char *dse_measured_unlike(const struct dse_measured *m, enum dse_setting s, double value);
/* Is the LLM that it was measured on this one? False when the head names none. */
bool dse_measured_on(const struct dse_measured *m, const struct dse_llm *llm);

/* An attention profile: statistics of attention scores over the context, a head and a step. Interpolated with GSL
 * (Steffen's method: monotone between the points given, no overshoot). */
struct dse_profile;

/* The statistics at one context length. */
struct dse_locality {
    double centers;   /* |C|: directional centers among the keys */
    double large;     /* |M|: positions whose mode is near 0 and whose score is computed exactly */
    double active;    /* |J|: active positions, the newest ones included */
    double updates;   /* |U|: positions whose mode changes */
    double hit_ratio; /* share of the active positions that were active in the previous step */
};

/* Smallest and largest context the profile has data for. */
void dse_profile_range(const struct dse_profile *p, double *ret_min, double *ret_max);
const struct dse_measured *dse_profile_measured(const struct dse_profile *p);
/* A profile may be a law that goes on beyond what it was made from (`data` of its settings): then, for a context outside of that,
 * a sentence that says so and lives as long as the profile; else NULL. */
const char *dse_profile_beyond(const struct dse_profile *p, double context);
/* The statistics at `context` positions; requires context within the range. Pure, thread-safe, no allocation. */
struct dse_locality dse_profile_at(const struct dse_profile *p, double context);

/* What LAD's decoding does to the output under the same statistics. */
struct dse_locality_error {
    double attention_error; /* |o - exact| / |exact| */
    double
        false_negative; /* share of the active positions' classification that is missed: positions wrongly taken as in their mode */
};
/* As dse_profile_at; both NaN when the profile has no such columns. */
struct dse_locality_error dse_profile_error_at(const struct dse_profile *p, double context);

/* A retention profile: what KV eviction keeps of a step's attention, by policy ("voting"), context and ratio kept. */
struct dse_retention;

struct dse_retained {
    double mass;  /* of the full softmax, on the positions kept */
    double error; /* |o_kept - o_full| / |o_full| */
};

const struct dse_measured *dse_retention_measured(const struct dse_retention *r);
/* The i-th policy, or NULL behind the last. */
const char *dse_retention_policy(const struct dse_retention *r, size_t i);
/* Smallest and largest context that a policy was measured at; false when it was not. */
bool dse_retention_range(const struct dse_retention *r, const char *policy, double *ret_min, double *ret_max);
/* What a policy keeps at `context` positions with a cache of `ratio` times as many: monotone between the points measured. A ratio
 * of 1 or more keeps everything. False, and *ret untouched, outside of what was measured: another policy, a context below the
 * smallest or above the largest, a ratio below the smallest: nothing is extrapolated. Pure, thread-safe, no allocation. */
bool dse_retention_at(const struct dse_retention *r, const char *policy, double context, double ratio, struct dse_retained *ret);

/* A recording: what single steps of heads of a trace did, at several contexts: of every head the same few steps up to each context.
 */
struct dse_recording;

/* One step of one head: counts as in struct dse_locality. Whole numbers, but for what lies between two of the contexts recorded. */
struct dse_recorded {
    double centers, large, active, updates;
    double hits; /* active positions that were active in the step before */
};

const struct dse_measured *dse_recording_measured(const struct dse_recording *r);
/* Heads, and steps of each at every context; both at least 1. */
size_t dse_recording_heads(const struct dse_recording *r);
size_t dse_recording_steps(const struct dse_recording *r);
/* The contexts recorded, growing, *ret_n of them, at least one; the first and the last are the range. They live as long as the
 * recording. */
const double *dse_recording_contexts(const struct dse_recording *r, size_t *ret_n);
/* A step of a head at `context` positions, which must be within the range: as recorded, or on the line between the same steps of
 * the head at the contexts recorded below and above. head and step count from 0. Pure, thread-safe, no allocation. */
struct dse_recorded dse_recording_at(const struct dse_recording *r, double context, size_t head, size_t step);
/* Means over all heads and steps at `context`; the hit ratio is the hits over the active positions of all (0 without any).
 * *ret_active_cv: the spread of |J| over heads, each the mean of its steps: (population) standard deviation over mean. As
 * dse_recording_at. */
struct dse_locality dse_recording_mean(const struct dse_recording *r, double context, double *ret_active_cv);

#endif
