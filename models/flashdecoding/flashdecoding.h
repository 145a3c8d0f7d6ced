/* FlashDecoding++ on GPUs, inside: parameters, metrics, and the steps of the closed form. README.md holds the equations (E..) and
 * assumptions (A..) that the comments name.
 *
 * A point is evaluated in this order: fd_machine_init turns the parameters into rates; fd_step_init lists the operators of one
 * device and times each; fd_point_init does both, and again at a lower clock where the board's limit asks for it; the metrics and
 * the breakdown are sums over them.
 *
 * Units inside: seconds, bytes, operations. Only struct fd_params, struct fd_metrics and struct fd_equations carry the units of
 * their names.
 */
#ifndef FLASHDECODING_H
#define FLASHDECODING_H

#include <dse/chip.h>
#include <dse/cache.h>
#include <dse/cost.h>
#include <dse/model.h>
#include <dse/num.h>
#include <dse/power.h>
#include <dse/sim.h>
#include <dse/workload.h>

#include <stdbool.h>

enum fd_softmax { FD_SYNCHRONIZED, FD_ASYNCHRONOUS };
enum fd_dataflow { FD_STATIC, FD_HEURISTIC, FD_BY_VENDOR };
enum fd_switch { FD_OFF, FD_ON };
/* The implementations of a linear operator: ImplA, ImplB, ImplC of Sec. 5. */
enum fd_kernel { FD_GEMV, FD_FLAT, FD_LIBRARY, FD_KERNELS, FD_VENDOR = FD_KERNELS /* E28 */ };
/* Whether the efficiencies hold what the event level shows by itself; which blocks do a vector again; where the lookup
 * table of the heuristic dataflow comes from. */
enum fd_losses { FD_APART, FD_INCLUDED, FD_MEASURED /* E28, E29 */ };
enum fd_cache { FD_COLD, FD_WARM };
/* How a GEMM gets activations of fewer than 16 bits: from the kernel before it, or by kernels of their own. */
enum fd_quantizing { FD_QUANTIZED, FD_BY_KERNEL, FD_BY_OPERATORS };
enum fd_collectives { FD_RING, FD_NCCL, FD_ONE_SHOT };
enum fd_launches { FD_WAITED, FD_QUEUED };
enum fd_expert_tiles { FD_SEARCHED, FD_DEFAULT, FD_SCALED, FD_MAKERS };
enum fd_expert_ties { FD_SPREAD, FD_NEIGHBOURS };
enum fd_collective { FD_ALL_REDUCE, FD_ALL_GATHER, FD_REDUCE_SCATTER, FD_ALL_TO_ALL, FD_POINT_TO_POINT };
enum fd_latent_prefill { FD_EXPANDED, FD_ABSORBED };
enum fd_numbers { FD_FLOATS, FD_INTEGERS };
enum fd_again { FD_ONE_BLOCK, FD_SPLIT };
enum fd_lookup { FD_PROFILED, FD_CLOSED_FORM };
/* The GEMM that the metrics of one GEMM are of. */
enum fd_gemm_choice { FD_QKV, FD_OUTPUT, FD_FFN_UP, FD_FFN_DOWN, FD_LM_HEAD, FD_GIVEN };
enum { FD_LINEARS = FD_GIVEN };

enum { FD_EXPERTS_MAX = 1024 };

#define FD_NS_PER_S 1e9

/* What kernels stream from the last-level cache of an A100, whose peak l2_bytes is. */
#define FD_A100_CACHE_BYTES 15.5

enum fd_errors { FD_ERRORS_IGNORED, FD_ERRORS_MEASURED };

struct fd_params {
    struct dse_workload workload;
    struct dse_cache kept; /* which positions stay; `cache` says whether the last-level cache is warm */
    struct dse_economics economics;

    const struct dse_gpu *gpu;
    int64_t sms;
    double clock_ghz, tensor_tflops, vector_tflops, bandwidth_gbs, capacity_gib, l1_kib, l2_mib, board_power_w, die_mm2,
        dram_pj_per_bit;
    struct dse_gpu_peaks peaks; /* "auto" before resolve; 0: none */
    int32_t narrow_numbers;     /* enum fd_numbers */
    int64_t l1_bytes;
    double block_share;

    int32_t power;                 /* enum dse_power */
    double idle_w, way_pj_per_bit; /* "auto" before resolve */
    double awake_share, active_share, tensor_share;

    double link_gbs, link_latency_us, link_pj_per_bit;
    const struct dse_interconnect *outer_interconnect;

    const struct dse_engine *engine;
    int32_t softmax, dataflow;
    int64_t pad_rows;
    double attention_efficiency, linear_efficiency, compute_efficiency, exposed_share, sync_overhead, launch_us;
    int64_t elementwise_kernels;
    int32_t kernel_losses;    /* enum fd_losses */
    int32_t collectives;      /* enum fd_collectives */
    struct dse_gpu_link link; /* "auto" before resolve */

    struct dse_engine_memory memory; /* "auto" before resolve */

    int32_t launches; /* enum fd_launches */
    double host_us, sequence_us, prompt_us, allocation_us, sampling_ns;
    double recompute_percent, score_low, score_high, unified_max;
    int32_t arithmetic_error; /* enum fd_errors */
    int64_t tile_n, tile_k, resident_blocks;
    int32_t double_buffering; /* enum fd_switch */
    double gemv_efficiency;
    struct dse_gpu_kernels kernels; /* "auto" before resolve */
    double gemm_exposed_share;
    double nccl_start_cycles, nccl_pair_waits, own_start_us, own_device_us, own_half_us; /* E30 */
    int32_t cache;                                                                       /* enum fd_cache */
    int64_t cache_turns;
    int32_t quantizing; /* enum fd_quantizing */
    int64_t gemm_splits;

    int32_t gemm; /* enum fd_gemm_choice */
    int64_t gemm_m, gemm_k, gemm_n;

    /* Kernels and layers that only equations have: E31, E32, E43, E44. */
    double stream_bytes, collective_bytes;
    int32_t collective; /* enum fd_collective */
    int64_t experts, experts_active, moe_intermediate, expert_devices, expert_activation_bits;
    int32_t expert_tiles; /* enum fd_expert_tiles */
    int32_t expert_ties;  /* enum fd_expert_ties */
    int64_t kv_rank, rope_dim, latent_heads;
    int32_t latent_prefill; /* enum fd_latent_prefill */

    double memory_latency_ns, l2_latency_ns, l2_bytes, kernel_gap_us;
    int64_t library_tile_k, attention_tile, split_positions;
    int32_t recompute_blocks, lookup; /* enum fd_again, enum fd_lookup */
    struct dse_events events;
};

struct fd_metrics {
    struct dse_common common;
    double linear_us, sync_us, launch_wait_us, communication_us;
    double cached_positions, technique_us, technique_mib;
    double retained_mass, attention_error, attention_error_sd; /* NaN where nobody measured it */
    struct dse_score task;
    double attention_share, energy_dram_mj, energy_links_mj, tokens_per_j, dram_footprint_gib;
    double power_demand_w, used_clock_ghz;
    double fitting_tokens, fitting_sequences;

    double gemv_us, flat_gemm_us, library_gemm_us, vendor_gemm_us;
    double flat_utilization, padding_utilization;
    int64_t flat_tile_n, flat_blocks, flat_waves;
    int32_t gemm_kernel; /* enum fd_kernel */
};

/* ---- the machine -------------------------------------------------------------------------------------------------------- */

/* Tiles that the maker's library chooses from (E28). */
enum { FD_VENDOR_TILES = 5 };

/* What a GEMM computes in: the narrowest format of the tensor cores that holds both of its operands. Weights that are narrower than
 * that become as wide on their way. */
enum fd_format { FD_BITS_16, FD_BITS_8, FD_BITS_4, FD_FORMATS };
/* The two operands of a GEMM. Weights of 16 bits multiply activations of no fewer. */
struct fd_operands {
    double weight_bytes; /* of a stored weight, with its share of scales */
    double weight_bits,
        activation_bits; /* of a weight without them, and of an activation; 0, with weight_bytes 0: the workload's */
};

/* One device as rates: bytes and operations a second. */
struct fd_machine {
    const struct fd_params *p;
    struct fd_operands uniform;      /* by weight_bits and activation_bits */
    struct fd_operands held;         /* those that it is set for: fd_machine_set */
    double weight_bytes;             /* of a weight of these */
    double bandwidth;                /* peak of the DRAM */
    double stream;                   /* of weights */
    double block_stream;             /* what one block of a tile kernel can draw */
    double sm_ops, sm_path;          /* of one SM: tensor cores; bytes to and from its L1 */
    double tensor_peak, vector_peak; /* of the device */
    double gemv_ops;                 /* of the device: vector units as GEMV uses them */
    double sms, l1, l2;
    struct fd_vendor_rates {
        double tile_s[FD_VENDOR_TILES], tile_sum_s[FD_VENDOR_TILES]; /* of one SM, a tile: a step of its depth; the sum of parts */
        double stream, gemm_stream, block_stream;                    /* of the DRAM: all blocks, those of a GEMM, and one */
        double sm_ops, sm_path;                                      /* of one SM: tensor cores; operands into them */
        double generated_ops;                                        /* as sm_ops, by format_peak: of kernels not the maker's */
        double attention_ops, attention_stream;                      /* in attention: of one SM; of the DRAM */
        double tile_path;           /* of one SM: pieces of tiles out of the last-level cache (E31) */
        double l2_path, cache_path; /* of one SM, through the last-level cache: at its peak, as kernels stream from it */
        double stream_fixed_s;      /* of kernels that go over their data once */
        double fixed_s, kernel_fixed_s, gemm_fixed_s; /* of the library's kernels, of others, of a GEMM */
        double attention_kernels, block_s, exposed, narrow_s;
        double activation_bytes;    /* of an element that a GEMM reads */
        double kept_bytes, l2_near; /* weights of a GEMM that a warm cache keeps; what one SM's part of the cache has room for */
        double splits_max;
        enum fd_quantizing quantizing;    /* FD_QUANTIZED at 16 bits */
        enum fd_quantizing narrowing;     /* `quantizing` of fewer bits */
        double format_ops[FD_FORMATS];    /* sm_ops by format; a format without a peak has that of 16 bits */
        double format_peak[FD_FORMATS];   /* the same, did GEMMs of fewer bits reach as much of their peak as those of 16 */
        double format_stream[FD_FORMATS]; /* gemm_stream likewise */
    } vendor;                             /* E28, E29 */
};
void fd_machine_init(struct fd_machine *ret, const struct fd_params *p);
void fd_vendor_rates(struct fd_machine *ret, const struct fd_params *p);

/* ---- formats: flashdecoding_formats.c ------------------------------------------------------------------------------------ */

enum fd_format fd_format_of(const struct fd_operands *of);
/* What matrices of the workload are, in the classes of weights or as an operator has them. Activations that the format has narrow
 * are so only with dataflow = "vendor", and where the tensor cores have a peak of them. */
struct fd_operands fd_operands_uniform(const struct fd_params *p);
struct fd_operands fd_operands_of_class(const struct fd_params *p, enum dse_weight_class class);
struct fd_operands fd_operands_of(const struct fd_params *p, const struct dse_op *op);
/* Tflop/s; 0: the tensor cores do not have the format. */
double fd_peak_tflops(const struct fd_params *p, enum fd_format format);
/* Energy of an operation over that of one in 16 bits: cores at their peak draw the same in each format (E26). */
double fd_op_share(const struct fd_params *p, enum fd_format format);
/* NULL, or why GEMMs of the workload cannot be computed. */
const char *fd_formats_check(const struct fd_params *p);
/* What is said of a point whose activations are narrow, or would be by its format. */
void fd_formats_stand(const struct fd_params *p, struct dse_standing *ret);
/* What is said of constants that the gpu's entry borrows, of the kernels that measured engines run at this point. */
void fd_origins_stand(const struct fd_params *p, struct dse_standing *ret);
/* The machine as it multiplies such operands. */
void fd_machine_set(struct fd_machine *m, const struct fd_operands *of);
/* Of a GEMM's kernel: the library's at 16 bits, the engine's own at fewer. */
double fd_gemm_fixed_s(const struct fd_machine *m, enum fd_format format);
/* tile_s and tile_sum_s from the other rates: whoever changes these calls it. */
void fd_vendor_tiles(struct fd_machine *m);

/* ---- linear operators: E5 to E12 ---------------------------------------------------------------------------------------- */

enum { FD_WIDE_BITS = 16, FD_ACTIVATION_BYTES = 2, FD_TILE_N_MIN = 8, FD_TILE_N_MAX = 512 };
/* The library: what it pads rows to, its largest tile of rows, the columns of its tiles for few and many rows. */
enum { FD_LIBRARY_ROWS = 64, FD_LIBRARY_ROWS_MAX = 128, FD_LIBRARY_TILE_N_FEW = 128, FD_LIBRARY_TILE_N_MANY = 256 };

/* (m x k) x (k x n), on one device. extra_bytes: written to DRAM by the same kernel. */
struct fd_gemm {
    double m, k, n, extra_bytes;
    struct fd_operands operands;
};
/* The machine as it holds the weights of this GEMM, and multiplies them: `m`, or *own where they have a format of their own. */
const struct fd_machine *fd_machine_as(const struct fd_machine *m, const struct fd_operands *of, struct fd_machine *own);
static inline const struct fd_machine *fd_machine_for(const struct fd_machine *m, const struct fd_gemm *g, struct fd_machine *own)
{
    const struct fd_operands *of = g->operands.weight_bytes > 0 ? &g->operands : &m->uniform, *is = &m->held;
    const bool same =
        of->weight_bytes == is->weight_bytes && of->weight_bits == is->weight_bits && of->activation_bits == is->activation_bits;
    return same ? m : fd_machine_as(m, of, own);
}

/* What a kernel costs. */
struct fd_cost {
    double seconds, bytes;              /* bytes: moved to and from DRAM */
    double load_s, sm_s;                /* E7, E8; their shorter one is exposed in part */
    double rows, tile_n, blocks, waves; /* tile kernels: padded rows, of E28 those of a tile; 0 for GEMV */
    double splits;                      /* E28: blocks that share a tile's depth */
    double apart_s;                     /* E28: before and after the work of tiles */
    bool double_buffered;
    bool kept; /* E28: weights come from the last-level cache */
    bool compute_bound;
};

/* E10: ImplA. */
struct fd_cost fd_gemv(const struct fd_machine *m, const struct fd_gemm *g);
/* E6 to E9: ImplB, at p->tile_n or at its best tile. */
struct fd_cost fd_flat(const struct fd_machine *m, const struct fd_gemm *g);
/* The same at a B_N. */
struct fd_cost fd_flat_at(const struct fd_machine *m, const struct fd_gemm *g, double tile_n);
/* E11: ImplC, its rows padded to a multiple of pad_rows. */
struct fd_cost fd_library(const struct fd_machine *m, const struct fd_gemm *g, double pad_rows);
/* The same of so many padded rows. */
struct fd_cost fd_library_of(const struct fd_machine *m, const struct fd_gemm *g, double rows);
/* E8: seconds of an SM for a tile of rows x tile_n of the result. */
double fd_tile_seconds(const struct fd_machine *m, double k, double rows, double tile_n);
/* E9. */
static inline double fd_overlapped(double load_s, double sm_s, double exposed)
{
    return dse_max(load_s, sm_s) + exposed * dse_min(load_s, sm_s);
}
/* All three, and the fastest of them; of equally fast ones the first. */
void fd_three(const struct fd_machine *m, const struct fd_gemm *g, struct fd_cost ret[FD_KERNELS]);
enum fd_kernel fd_fastest(const struct fd_cost three[FD_KERNELS]);
/* E28: the maker's library. */
struct fd_cost fd_vendor(const struct fd_machine *m, const struct fd_gemm *g);
/* The same with as many blocks that draw as another GEMM has: more of them draw faster, so a bound takes those of the other end. */
struct fd_cost fd_vendor_of(const struct fd_machine *m, const struct fd_gemm *g, const struct fd_gemm *drawn);
/* Bytes between a GEMM and the DRAM: E18. */
double fd_gemm_bytes(const struct fd_machine *m, const struct fd_gemm *g);
/* E12: what the engine runs. */
struct fd_cost fd_linear(const struct fd_machine *m, const struct fd_gemm *g, enum fd_kernel *ret_kernel);
/* How the flat GEMM of one B_N is laid out (E6): a block goes through k `passes` times, tile_k columns at a time; `resident`
 * blocks share an SM. */
struct fd_layout {
    double passes, tile_k, resident;
};
struct fd_layout fd_flat_layout(const struct fd_machine *m, const struct fd_gemm *g, double tile_n);
/* E6: bytes of L1 that a block of the flat GEMM needs for `buffers` tiles of `rows` x tile_k and tile_k x tile_n. */
double fd_tile_bytes(const struct fd_machine *m, double rows, double tile_n, double buffers);
/* E12: the smallest number of rows at which `other` is faster than `one`, by bracketing and root finding; NaN when there is none
 * up to FD_ROWS_MAX. k and n are of one device. */
enum { FD_ROWS_MAX = 16384 };
double fd_inflection(const struct fd_machine *m, double k, double n, enum fd_kernel one, enum fd_kernel other);

/* ---- a step -------------------------------------------------------------------------------------------------------------- */

struct fd_linear_op {
    const char *name;
    struct fd_gemm gemm;                /* of one device */
    double count;                       /* kernels of this shape in a step */
    struct fd_cost cost;                /* of one of them */
    double seconds, bytes, ops, wait_s; /* of all of them; seconds with the time waited for launches */
    double charged;                     /* as many operations of 16 bits take their time at the peak, and their energy */
    bool compute_bound;
    enum fd_kernel kernel;
};

/* E13: attention of one layer on one device, nothing done again. */
struct fd_attention_law {
    double bytes, products;   /* of K and V; operations of the products */
    double load_s, compute_s; /* T_load, T_sm: they overlap */
    double fixed_s;           /* latencies, the first and the last tile, the sum of partial results */
};
void fd_attention_law(struct fd_attention_law *ret, const struct fd_machine *m);

enum { FD_SOFTMAX_OPS = 5, FD_OWN_SUM = 3 /* attention_kernels of FlashAttention-2 */ };
/* What of one kind of attention a device does in a layer. */
struct fd_attention_shape {
    bool prompt;  /* rows of queries in tiles, over keys that they share; else a few queries, and positions split over blocks */
    bool tensor;  /* the latter, its products on tensor cores all the same: latents, and several queries of a sequence (E37) */
    bool limited; /* not all positions before a query meet it */
    bool latent;  /* latents or an indexer's keys: other kernels than those of keys and values */
    double sequences, queries, positions, pairs; /* queries and positions of a sequence; pairs of them in a head */
    double heads, kv_heads, key_dim, value_dim;
    double bytes;         /* of keys and values, of all sequences */
    double row_bytes;     /* of one position of a KV head */
    double exponents;     /* operations of a pair besides its products */
    double widened;       /* operations that make numbers of a cache with scales (E34) */
    double written_bytes; /* of the kernel that writes the cache (E29) */
};
void fd_attention_law_of(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_attention_shape *s);
/* Seconds of an SM for so many pairs of a query vector and a position. */
double fd_pairs_seconds(const struct fd_machine *m, const struct fd_attention_shape *s, double pairs, double widened);
/* Of an LLM with full attention in all layers. */
void fd_attention_shape(struct fd_attention_shape *ret, const struct fd_params *p);

/* E33: what the technique of a cache takes beside attention, of one layer on one device. */
struct fd_technique {
    double kernels, bytes, compute_s;
    double seconds; /* without launches */
};
/* At a share of the peak bandwidth, and of the tensor cores' peak. It grows with all that there is to do, and falls with rates. */
void fd_technique(struct fd_technique *ret, const struct fd_params *p, const struct fd_machine *m, double stream_share,
                  double efficiency);
/* Positions whose keys and values attention reads; all of a prompt. */
double fd_read(const struct fd_params *p);
struct dse_cache_step fd_cache_step(const struct fd_params *p);
/* E33: with the partial softmax of E3, where it counts; *ret_arithmetic outlives it. */
struct dse_cache_steps fd_cache_steps(const struct fd_params *p, struct dse_arithmetic *ret_arithmetic);
/* NULL, or why no such cache is kept. */
const char *fd_cache_check(const struct fd_params *p);
/* Bytes of a layer on the fullest device besides keys and values. */
double fd_kept_bytes(const struct fd_params *p);

/* E29: what a measured kernel has to do. Names in pairs are of the same number, but in a bound: a tile's rows are counted by
 * `count_tile` and its work is that of `tile`; positions are split over `splits` blocks, of which as few as `fewest_splits` take
 * part. */
struct fd_measured_work {
    bool prefill, warm;
    double n, groups, vectors, head_dim; /* positions; KV heads and query heads of all sequences */
    double rows, pairs;     /* prefill: query rows of a sequence, 0: n; pairs of them and positions, 0: all positions before each */
    double bytes, products; /* of keys and values */
    double widened_s;       /* decode: numbers made of them, of a cache with scales (E34) */
    double beside_bytes, write_bytes; /* query rows and results; prefill: what the kernel moves that writes the cache */
    double tile, count_tile, resident, memory_s, l2_s;
    /* Decode. */
    double splits, fewest_splits;
    double full;           /* share of blocks in waves before the last one */
    double block_rows;     /* query rows that a block computes */
    double work, narrow_s; /* of a tile's products; before attention: of a narrow cache, else 1 and 0 */
    bool copied;           /* results are brought into order by a kernel of their own, if kernels are apart */
};
/* Read and written by the kernel that writes keys and values of so many tokens of a layer to the cache. */
double fd_written_bytes(const struct fd_params *p, double tokens);
/* What FlashAttention-2 splits the positions of each of `groups` KV heads over: without need no split; else the fewest that use the
 * slots to 85 % as well as the best number does. */
double fd_flash2_splits(double groups, double slots, double tiles);
/* Blocks that kernels as they were measured split the positions of a KV head over, in decode. */
struct fd_splitting {
    double groups, slots, tiles;
    double kernels, head_blocks; /* attention_kernels, attention_head_blocks */
};
double fd_measured_splits(const struct fd_splitting *s, const struct fd_attention_shape *shape);
/* Share of so many blocks that runs in waves before the last one. */
double fd_full_waves(double blocks, double slots);
/* Query rows of a KV head, as many as a block computes. */
double fd_block_rows(const struct fd_attention_shape *s, double least);
/* Is a result, of more than one sequence and KV head, brought into order by a kernel of its own? */
bool fd_is_copied(const struct fd_attention_shape *s);
/* Are its keys and values narrower than 16 bits, and its queries made so? */
bool fd_is_narrow(const struct fd_params *p, const struct fd_attention_shape *s);

/* Sets load_s, compute_s, fixed_s, and the bytes that come from the DRAM. */
void fd_attention_measured(struct fd_attention_law *ret, const struct fd_machine *m, const struct fd_measured_work *w);

/* What exchanges go over: bytes and seconds. Within a system the time of all-reduces falls with all rates and with `joined`, and
 * grows with all waits. */
struct fd_link {
    enum fd_collectives how;
    double peak, rate;           /* of a link, and what of it NCCL counts on */
    double multicast, host_path; /* of switches that add, 0: none; of the host, which hops without a link share */
    double joined;               /* devices that links join */
    struct dse_boards boards;    /* the same, for exchanges that leave a system, and those that are no all-reduces */
    struct fd_waits {
        double latency_s, started_s, pair;      /* of a hop; before and after NCCL's work; of two devices over others */
        double own_s, own_device_s, own_half_s; /* of an engine's kernel: its work, each device, between its halves */
        double launch_s;                        /* between two launches */
    } waits;
};
void fd_link_init(struct fd_link *ret, const struct fd_params *p);
/* NULL, or why so many devices cannot be joined. */
const char *fd_links_check(const struct fd_params *p);
/* E15, E30: seconds of an all-reduce of so many bytes on each of `devices` of a system. */
double fd_allreduce(const struct fd_link *l, double devices, double bytes);
/* E15, E30, E40: any exchange; `joules` of a device. */
void fd_exchange_at(const struct fd_link *l, const struct dse_exchange *x, struct dse_exchange_cost *ret);
/* E44: seconds of any of them by NCCL, an all-reduce as above. */
double fd_collective(const struct fd_link *l, enum fd_collective what, double devices, double bytes);

/* Kernels of an LLM with layers of several kinds, or on several chips in more ways than one, all alike: E36 to E40. */
enum fd_part_kind { FD_PART_LINEAR, FD_PART_EXPERTS, FD_PART_ATTENTION, FD_PART_STATE, FD_PART_SCALARS, FD_PART_EXCHANGE };
struct fd_part {
    const char *name; /* of the operator, as are these two */
    enum dse_op_role role;
    bool is_draft;
    enum fd_part_kind kind;
    double count, kernels; /* of a pass; launches of each */
    struct fd_gemm gemm;   /* of FD_PART_LINEAR, and of FD_PART_EXPERTS as one GEMM */
    struct fd_cost cost;
    enum fd_kernel kernel;
    struct fd_attention_shape shape; /* of FD_PART_ATTENTION, with its law */
    struct fd_attention_law law;
    double each_s;                                       /* of one of them: without launches */
    double seconds, wait_s, sync_s, again_s, bytes, ops; /* of all of them; seconds with the time waited for launches */
    double charged; /* as many operations of 16 bits take their time at the peak, and their energy */
    bool compute_bound;
};
enum { FD_PARTS_MAX = 96 };

/* One step of one device; bytes and ops too. */
struct fd_step {
    struct fd_linear_op linear[FD_LINEARS];
    double linear_s, linear_bytes;
    double attention_s, attention_bytes, attention_ops;     /* E13 */
    double stream_s, sync_s, recompute_s, attention_wait_s; /* parts of attention_s; stream_s with what is fixed */
    double technique_s, technique_bytes, technique_wait_s;  /* E33: in attention_s, attention_bytes, wait_s */
    bool attention_compute_bound;
    double elementwise_s, elementwise_ops, elementwise_wait_s, allreduce_s;
    double footprint, kept;   /* of parts: bytes on a device, and what sequences keep of them */
    double link_j;            /* of bytes that leave a device for others */
    double state_s, bubble_s; /* states of recurrent layers; waiting for other stages */
    double host_s, seconds, wait_s;
    double other_ops, launches; /* charged, of operators in part[]; kernels launched */
    int n_parts;                /* 0: an LLM with full attention and dense networks, whose operators are linear[] */
    struct fd_part part[FD_PARTS_MAX];
};
/* Is it that: on one device, or on several by tensor_parallel, one token a sequence? */
bool fd_is_plain(const struct dse_workload *w);
/* All else: parts and their sums. flashdecoding_llms.c */
void fd_step_parts(struct fd_step *ret, const struct fd_machine *m);
/* The same with experts as drawn; NULL: the mean. */
void fd_step_parts_drawn(struct fd_step *ret, const struct fd_machine *m, const struct dse_draw *draw);
/* A pass becomes a step: `pipeline_parallel` passes, of which a device works in those that there are micro-batches for (E40). */
void fd_step_passes(struct fd_step *s, const struct fd_params *p);
/* The GEMM that the metrics of one GEMM are of. */
struct fd_gemm fd_gemm_of_parts(const struct fd_step *s, const struct fd_params *p, enum fd_gemm_choice which);
/* Operations of the step, as many of 16 bits as take their time at the peak, and their energy. */
double fd_step_ops(const struct fd_step *s);
/* Devices of all: chips of the workload. */
static inline double fd_devices(const struct fd_params *p)
{
    return (double)dse_workload_chips(&p->workload);
}
/* E14: of a step in which devices wait for the host, or sample, whatever kernels take. */
double fd_host_s(const struct fd_params *p);
/* E14: the host's time for the launches of a step that it runs ahead with; 0: kernels wait for theirs. */
double fd_launched_s(const struct fd_params *p);
/* Seconds of the step, of the host and waited, once the parts have theirs. */
void fd_step_sum(struct fd_step *s, const struct fd_params *p);
/* looked_at: the kernels of the GEMM that p->gemm names, which are costed once; NULL: nobody did. */
void fd_step_init(struct fd_step *ret, const struct fd_machine *m, const struct fd_cost looked_at[FD_KERNELS]);
/* The GEMM of an operator on one device, as the engine runs it (E1); FD_GIVEN: gemm_m, gemm_k, gemm_n. */
struct fd_gemm fd_gemm_of(const struct fd_params *p, enum fd_gemm_choice which);
/* E14: operations of element-wise kernels. */
double fd_elementwise_ops(const struct dse_workload *w);
/* E16: bytes on the fullest device. */
double fd_footprint(const struct fd_params *p);
/* E42: of these, what an LLM with full attention and dense networks keeps for its sequences. */
double fd_kept(const struct fd_params *p);
/* The whole footprint of such an LLM, where that is known. */
double fd_footprint_beside(const struct fd_params *p, double kept);
/* Of keys and values of a position, in one layer on the fullest device. */
double fd_row_bytes(const struct fd_params *p);
/* E42: bytes of a device that the engine leaves for weights and sequences. */
double fd_room(const struct fd_params *p);
/* E42: what of sequences of this context fits. */
struct fd_fitting {
    double tokens, sequences;
};
struct fd_fitting fd_fitting_of(const struct fd_params *p, double footprint, double kept);

/* ---- power: E17, E26, E27 ------------------------------------------------------------------------------------------------ */

/* The clock below which the limit is kept by waiting, over the board's own. */
#define FD_LOWEST_CLOCK 0.1
/* What the board's own limit leaves of the energy of active units and operations: that at half the voltage. */
#define FD_LEAST_HELD 0.25

/* What one device draws. */
struct fd_power {
    struct dse_power_law law; /* at the clock that the limit leaves, with what it leaves; nothing with constant power */
    double held;              /* share of active_w and op_j that the limit leaves: in law already */
    double demand_w;          /* without the limit, at clock_ghz */
};

/* A point in closed form, its step as it comes out at that clock. machine.p may point into it: not to be copied. */
struct fd_point {
    struct fd_params slowed; /* at the clock that the limit leaves, where that is below clock_ghz */
    struct fd_machine machine;
    struct fd_gemm gemm; /* that is looked at, and its kernels */
    struct fd_cost three[FD_KERNELS];
    struct fd_step step;
    struct fd_power power;
};
void fd_point_init(struct fd_point *ret, const struct fd_params *p);
/* Keep the limit for the times and bytes that the step has now: less energy of active units, else a longer step. */
void fd_settle(struct fd_point *at);
/* Watts of a device below which no clock brings it. */
double fd_least_power(const struct fd_params *p);
/* Joules of one device: of a part of the step, and of all of it. */
double fd_joules(const struct fd_point *at, const struct dse_activity *a);
double fd_step_joules(const struct fd_point *at);
/* The causes of a breakdown; none with constant power. */
void fd_break_energy(const struct fd_point *at, struct dse_breakdown *out);

void fd_break_down(const struct fd_point *at, struct dse_breakdown *out);
/* What must be bought for it: borrows p. */
struct dse_bill fd_bill_of(const struct fd_params *p);
/* The metrics of a step, and of the GEMM that is looked at. */
void fd_fill(struct fd_metrics *ret, const struct fd_point *at);
/* E19 to E25: the model's simulate. */
bool fd_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);

/* ---- softmax: E2 to E4 --------------------------------------------------------------------------------------------------- */

/* Attention time over that of its bytes and operations alone. */
double fd_sync_factor(const struct fd_params *p);
double fd_async_factor(const struct fd_params *p);
/* NULL, or why the unified maximum cannot be used with float32 sums over the context. */
const char *fd_range_check(const struct fd_params *p);

/* ---- equations ----------------------------------------------------------------------------------------------------------- */

struct fd_equations {
    double async_speedup, sync_percent, inside_percent, recompute_at_9999_percent, exponent_range, headroom;

    double eq5_ratio, eq5_tiles, eq5_parallelism, gemm_rows, gemm_columns, gemm_depth;
    double flat_load_us, flat_sm_us, flat_exposed, library_load_us, library_sm_us;
    double underused_percent, flat_underused_percent, tile_l1_kib, tile_fits;

    double shapes;
    double qkv_n, qkv_k, qkv_m1, qkv_m2;
    double output_n, output_k, output_m1, output_m2;
    double ffn_up_n, ffn_up_k, ffn_up_m1, ffn_up_m2;
    double ffn_down_n, ffn_down_k, ffn_down_m1, ffn_down_m2;

    double moe_us, moe_gemm_us, moe_elementwise_us, moe_touched, moe_rows, moe_weights_mib;
    double mla_us, mla_expanding_us, mla_cache_mib, mla_gflop;
    double stream_us, collective_us;
};
extern const struct dse_metric fd_equations_table[];
void fd_equate(const void *params, void *equations);

extern const struct dse_model dse_model_flashdecoding;

#endif
