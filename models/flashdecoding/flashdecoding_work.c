/* What the blocks of a kernel do: E20 to E23. */
#include "flashdecoding_events.h"

#include <dse/cache.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

enum { TILE_N_MIN = 8, LIBRARY_ROWS_MAX = 128 /* its largest tile */, AGAIN_ROWS = 512 };
static const double ns_per_s = 1e9;

static double tile_n_of(int tile)
{
    return ldexp(TILE_N_MIN, tile);
}

/* The flat GEMM at each B_N. */
static void try_tiles(struct fd_site *at)
{
    struct dse_closed_at *tile = dse_closed_at(at->closed, &flashdecoding_tile, at->list);
    struct flashdecoding_tile_gives *one = dse_sim_alloc(at->sim, 1, sizeof *one);
    at->tiles = dse_sim_alloc(at->sim, FD_TILES, sizeof *at->tiles);
    one->ghz = at->ghz;
    one->looked_m = at->point->looked_m;
    one->looked_n = at->point->looked_n;
    one->looked_extra = at->point->looked_extra;
    for (int t = 0; t < FD_TILES; t++) {
        one->looked_flat_tile = tile_n_of(t);
        for (int i = 0; i < at->list->n; i++) one->op.flat_tile[i] = tile_n_of(t);
        dse_closed_run(tile, one, &at->tiles[t]);
    }
}

struct fd_site *fd_site_new(struct dse_sim *sim, struct dse_closed *closed, const struct dse_oplist *list,
                            const struct flashdecoding_events_reads *point)
{
    const struct flashdecoding_run_gives given = {.ghz = point->used_ghz * DSE_GIGA,
                                                  .looked_m = point->looked_m,
                                                  .looked_n = point->looked_n,
                                                  .looked_extra = point->looked_extra};
    struct fd_site *at = dse_sim_alloc(sim, 1, sizeof *at);
    *at = (struct fd_site){.sim = sim,
                           .closed = closed,
                           .list = list,
                           .point = point,
                           .ghz = given.ghz,
                           .pairs = dse_closed_at(closed, &flashdecoding_pairs, list),
                           .ahead = dse_sim_ideal(sim, DSE_IDEAL_FIFOS),
                           .flat_memory = dse_sim_ideal(sim, DSE_IDEAL_DRAM),
                           .mean = dse_sim_ideal(sim, DSE_IDEAL_DRAWS),
                           .even = dse_sim_ideal(sim, DSE_IDEAL_SYNC)};
    struct flashdecoding_run_reads *r = &at->r;
    dse_closed_run(dse_closed_at(closed, &flashdecoding_run, list), &given, r);
    at->whole = r->whole != 0;
    at->profiled = r->lookup == 0 && !at->whole && !at->even;
    at->memory_s = at->flat_memory ? 0 : r->memory_latency_ns / ns_per_s;
    at->l2_s = at->flat_memory ? 0 : r->l2_latency_ns / ns_per_s;
    at->l2_stream = at->flat_memory ? (double)INFINITY : r->l2_path;
    if (at->profiled && r->tile_n == 0) try_tiles(at);
    return at;
}

/* ---- linear operators ---------------------------------------------------------------------------------------------------- */

#define OF_OPERATOR(number) r->op.number[op]
#define LOOKED_AT(number) r->looked_##number
#define GEMV_OF(X) \
    (struct fd_cost) \
    { \
        .kernel = FD_GEMV, .seconds = X(gemv_s), .load_s = X(gemv_load_s), .sm_s = X(gemv_sm_s) \
    }
#define FLAT_OF(X, tile) \
    (struct fd_cost) \
    { \
        .kernel = FD_FLAT, .seconds = X(flat_tiled_s), .load_s = X(flat_load_s), .sm_s = X(flat_sm_s), .bytes = X(flat_bytes), \
        .rows = X(flat_rows), .tile_n = tile, .blocks = X(flat_blocks), .passes = X(flat_passes), .depth = X(flat_depth), \
        .resident = X(flat_resident), .two_buffers = X(flat_two_buffers) != 0 \
    }
#define LIBRARY_OF(X) \
    (struct fd_cost) \
    { \
        .kernel = FD_LIBRARY, .seconds = X(library_s), .load_s = X(gemv_load_s), .sm_s = X(library_sm_s), .bytes = X(gemm_moved), \
        .rows = X(library_rows), .tile_n = X(library_tile_n), .blocks = X(library_blocks) \
    }

static struct fd_cost vendor_of(const struct flashdecoding_run_reads *r, int op)
{
    return (struct fd_cost){.kernel = FD_VENDOR,
                            .seconds = r->op.each_s[op] - r->op.beside_s[op],
                            .load_s = r->op.vendor_load_s[op],
                            .sm_s = r->op.vendor_sm_s[op],
                            .bytes = r->op.vendor_bytes[op],
                            .blocks = r->op.vendor_blocks[op],
                            .waves = r->op.vendor_waves[op],
                            .splits = r->op.vendor_splits[op],
                            .apart_s = r->op.vendor_apart_s[op],
                            .kept = r->op.vendor_kept[op] != 0};
}

/* Depth and weights of the GEMM. */
static struct fd_cost with_gemm(const struct fd_site *at, int op, struct fd_cost cost)
{
    cost.k = op == FD_LOOKED_AT ? at->r.looked_k : at->r.op.deep[op];
    cost.weight_bytes = op == FD_LOOKED_AT ? at->r.looked_eb : at->list->op[op].element_bytes;
    return cost;
}

struct fd_cost fd_cost_of(const struct fd_site *at, int op, enum fd_kernel kernel)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const bool looked_at = op == FD_LOOKED_AT;
    struct fd_cost cost = {0};
    switch (kernel) {
    case FD_GEMV: cost = looked_at ? GEMV_OF(LOOKED_AT) : GEMV_OF(OF_OPERATOR); break;
    case FD_FLAT: cost = looked_at ? FLAT_OF(LOOKED_AT, r->looked_flat_tile) : FLAT_OF(OF_OPERATOR, r->op.flat_tile[op]); break;
    case FD_LIBRARY: cost = looked_at ? LIBRARY_OF(LOOKED_AT) : LIBRARY_OF(OF_OPERATOR); break;
    case FD_VENDOR: cost = vendor_of(r, op); break;
    case FD_KERNELS: break;
    }
    return with_gemm(at, op, cost);
}

static struct fd_cost flat_at(const struct fd_site *at, int op, int tile)
{
    const struct flashdecoding_tile_reads *r = &at->tiles[tile];
    return with_gemm(at, op, op == FD_LOOKED_AT ? FLAT_OF(LOOKED_AT, tile_n_of(tile)) : FLAT_OF(OF_OPERATOR, tile_n_of(tile)));
}
#undef OF_OPERATOR
#undef LOOKED_AT
#undef GEMV_OF
#undef FLAT_OF
#undef LIBRARY_OF

/* Blocks of the flat GEMM: one for B_N columns, K in steps of B_K. Every block loads all rows of the activations, from the
 * last-level cache. */
static void flat_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_cost *c)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const double steps = at->even ? dse_max(c->k / c->depth, 1) : dse_ceil(c->k / c->depth), rows = c->rows / c->passes;
    const double dram = c->bytes / c->passes / (c->blocks * steps);
    ret->blocks = (struct fd_blocks){.count = c->blocks,
                                     .steps = c->passes * steps,
                                     .dram = dram,
                                     .l2 = dram + rows * c->k / steps * FD_ACTIVATION_BYTES,
                                     .sm_s = c->sm_s / (c->passes * dse_ceil(c->blocks / r->sms) * steps),
                                     .latency_s = at->memory_s,
                                     .exposed = r->exposed_share,
                                     .buffers = c->two_buffers ? FD_TWO_BUFFERS : FD_ONE_BUFFER};
    ret->grid = (struct fd_grid_spec){
        .sms = r->sms, .resident = c->resident, .stream = r->stream, .block_stream = r->block_stream, .l2_stream = at->l2_stream};
    if (!at->even) return;
    /* All blocks in one: those of the fullest SM compute while all load, as E7 and E8 have them. */
    ret->blocks.count = 1;
    ret->blocks.dram *= c->blocks;
    ret->blocks.l2 = 0;
    ret->blocks.sm_s = c->sm_s / ret->blocks.steps;
    ret->grid = (struct fd_grid_spec){
        .sms = 1, .resident = 1, .stream = c->bytes / c->load_s, .block_stream = (double)INFINITY, .l2_stream = at->l2_stream};
}

/* The library: one block on every SM, which all go through the same number of steps, wherever tiles end. */
static void library_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_cost *c)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const double tile_k = r->library_tile_k, tile_rows = dse_min(c->rows, LIBRARY_ROWS_MAX);
    double steps = c->blocks * c->k / (tile_k * r->sms);
    if (!at->even) steps = dse_ceil(steps);
    steps = dse_max(steps, 1);
    ret->blocks = (struct fd_blocks){.count = r->sms,
                                     .steps = steps,
                                     .dram = c->bytes / (r->sms * steps),
                                     .l2 = tile_k * (tile_rows * FD_ACTIVATION_BYTES + c->tile_n * c->weight_bytes),
                                     .sm_s = c->sm_s / steps,
                                     .latency_s = at->memory_s,
                                     .exposed = r->exposed_share,
                                     .buffers = at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
    ret->grid = (struct fd_grid_spec){
        .sms = r->sms, .resident = 1, .stream = r->stream, .block_stream = (double)INFINITY, .l2_stream = at->l2_stream};
}

/* E28 at event level: its blocks, two buffers each, in the order of the tiles; what is fixed comes once, whatever the waves are. */
static void vendor_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_cost *c)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const double steps = dse_ceil(c->k / (c->splits * r->library_tile_k));
    const double longer = dse_max(c->load_s, c->sm_s), shorter = dse_min(c->load_s, c->sm_s);
    const double work_s = c->kept ? longer + r->gemm_exposed_share * shorter : c->sm_s; /* all of it on SMs */
    ret->blocks = (struct fd_blocks){.count = c->blocks,
                                     .steps = steps,
                                     .dram = c->bytes / (c->blocks * steps),
                                     .sm_s = work_s / (c->waves * steps),
                                     .latency_s = c->apart_s / c->waves,
                                     .exposed = r->gemm_exposed_share,
                                     .buffers = at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
    ret->grid = (struct fd_grid_spec){.sms = r->sms,
                                      .resident = 1,
                                      .stream = r->vendor_stream,
                                      .block_stream = r->vendor_block_stream,
                                      .l2_stream = (double)INFINITY};
}

void fd_linear_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_cost *c)
{
    *ret = (struct fd_kernel_run){.seconds = c->seconds};
    if (at->whole || (c->kernel == FD_VENDOR && at->even)) return;
    switch (c->kernel) {
    case FD_GEMV: ret->seconds = dse_max(c->load_s, c->sm_s) + at->memory_s; return;
    case FD_FLAT: flat_run(ret, at, c); break;
    case FD_LIBRARY: library_run(ret, at, c); break;
    case FD_VENDOR: vendor_run(ret, at, c); break;
    case FD_KERNELS: return;
    }
    ret->grid.blocks = &ret->blocks;
    ret->grid.n = 1;
}

double fd_linear_seconds(const struct fd_site *at, const struct fd_cost *cost)
{
    struct fd_kernel_run r;
    fd_linear_run(&r, at, cost);
    return r.grid.n == 0 ? r.seconds : fd_grid_seconds(at->sim, &r.grid);
}

/* As the decision flow of Sec. 5 does with the machine itself. Of tiles as fast, the larger (E12). */
static struct fd_cost best_flat(const struct fd_site *at, int op)
{
    struct fd_cost best = {.seconds = (double)INFINITY};
    for (int t = 0; t < FD_TILES; t++) {
        struct fd_cost c = flat_at(at, op, t);
        c.seconds = fd_linear_seconds(at, &c);
        if (c.seconds <= best.seconds) best = c;
    }
    return best;
}

void fd_profile(const struct fd_site *at, int op, struct fd_cost three[FD_VENDOR])
{
    for (int i = 0; i < FD_VENDOR; i++) {
        three[i] = fd_cost_of(at, op, (enum fd_kernel)i);
        three[i].seconds = fd_linear_seconds(at, &three[i]);
    }
    if (at->tiles) three[FD_FLAT] = best_flat(at, op);
}

struct fd_cost fd_chosen(const struct fd_site *at, int op)
{
    const enum fd_kernel kernel = (enum fd_kernel)at->r.op.kernel[op];
    struct fd_cost three[FD_VENDOR];
    if (at->r.heuristic == 0 || !at->profiled) {
        struct fd_cost own = fd_cost_of(at, op, kernel);
        own.seconds = fd_linear_seconds(at, &own);
        return own;
    }
    fd_profile(at, op, three);
    int best = FD_GEMV;
    for (int i = FD_FLAT; i < FD_VENDOR; i++)
        if (three[i].seconds < three[best].seconds) best = i;
    return three[best];
}

/* It reads and writes the activations of all rows, in the last-level cache. */
double fd_scalars_seconds(const struct fd_site *at, int op)
{
    const struct dse_workload *w = dse_closed_workload(at->closed);
    const double tokens = (double)dse_workload_sequences(w) * (w->phase == DSE_PREFILL ? (double)w->context : 1);
    const double bytes = 2 * tokens * (double)w->llm->hidden * FD_ACTIVATION_BYTES;
    return at->l2_s + dse_max(at->r.op.each_s[op] / at->r.op.kernels[op], bytes / (at->l2_stream * at->r.sms));
}

/* ---- attention ----------------------------------------------------------------------------------------------------------- */

/* Seconds of an SM for `pairs` of a query vector and a position, and beside tensor cores for the numbers that are made of keys and
 * values of so many positions of a KV head (E34). */
static double pairs_seconds(const struct fd_attention *a, double pairs, double made)
{
    struct flashdecoding_pairs_gives some = {.ghz = a->at->ghz};
    struct flashdecoding_pairs_reads ret;
    for (int i = 0; i < a->at->list->n_attentions; i++) {
        some.group.all_pairs[i] = pairs;
        some.group.widened[i] = a->widened_each * made;
    }
    dse_closed_run(a->at->pairs, &some, &ret);
    return ret.group.compute_s[a->group] * a->at->r.sms;
}

static struct fd_blocks blocks_of(const struct fd_attention *a, double count, double steps)
{
    const struct flashdecoding_run_reads *r = &a->at->r;
    return (struct fd_blocks){.count = count,
                              .steps = steps,
                              .latency_s = a->at->memory_s,
                              .update = r->asynchronous != 0 ? 0 : r->sync_overhead,
                              .buffers = a->at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
}

/* Decode: a block goes through `positions` of a KV head for all query heads of it. */
static struct fd_blocks decode_blocks(const struct fd_attention *a, double count, double positions, double steps)
{
    struct fd_blocks b = blocks_of(a, count, steps);
    const double queries = a->at->r.group.met[a->group] / a->n; /* that meet a position */
    b.dram = b.l2 = positions * a->row_bytes / steps;
    b.sm_s = pairs_seconds(a, positions * a->heads / a->kv_heads * queries, positions) / steps;
    return b;
}

/* The last split of a KV head has what is left. */
static void decode_init(struct fd_attention *a)
{
    const struct flashdecoding_run_reads *r = &a->at->r;
    const double groups = a->sequences * a->kv_heads;
    const double each = r->split_positions > 0 ? dse_ceil(dse_min(r->split_positions, a->n) / a->tile)
                                               : dse_ceil(a->tiles / r->group.flash_splits[a->group]);
    a->splits = dse_ceil(a->tiles / each);
    a->blocks = dse_sim_alloc(a->at->sim, 2, sizeof *a->blocks);
    a->first.blocks = a->blocks;
    if (a->at->even) {
        a->blocks[a->first.n++] = decode_blocks(a, groups * a->splits, a->n / a->splits, a->tiles / a->splits);
        return;
    }
    if (a->splits > 1) a->blocks[a->first.n++] = decode_blocks(a, groups * (a->splits - 1), each * a->tile, each);
    const double before = (a->splits - 1) * each;
    a->blocks[a->first.n++] = decode_blocks(a, groups, a->n - before * a->tile, a->tiles - before);
}

/* E37, a prompt that does not meet all positions before it, or other positions besides: blocks alike, each with the mean of the
 * tiles. */
static void limited_init(struct fd_attention *a)
{
    const struct dse_attention *of = &a->at->list->attention[a->group];
    const double queries = (double)of->queries, bytes = a->at->r.group.bytes[a->group], pairs = a->at->r.group.met[a->group];
    const double heads = a->sequences * a->heads, tiles = dse_max(1, queries / a->tile), rows = queries / tiles;
    const double steps = dse_max(1, pairs / (queries * a->tile)), count = heads * tiles;
    a->splits = tiles;
    a->blocks = dse_sim_alloc(a->at->sim, 1, sizeof *a->blocks);
    a->blocks[0] = blocks_of(a, count, steps);
    a->blocks[0].dram = bytes / (count * steps);
    a->blocks[0].l2 = a->at->even ? a->blocks[0].dram : dse_max(a->blocks[0].dram, rows * a->row_bytes);
    a->blocks[0].sm_s = pairs_seconds(a, pairs / (tiles * steps), a->n * a->kv_heads / (a->heads * tiles * steps));
    a->first.blocks = a->blocks;
    a->first.n = 1;
}

/* Prefill: a block has a tile of rows of one query head, and goes through the positions up to its last row. A tile on the
 * diagonal is computed whole. The longest blocks first. K and V come from DRAM once, and from the cache for all other blocks. */
static void prefill_init(struct fd_attention *a)
{
    if (a->at->r.group.limited[a->group] != 0) {
        limited_init(a);
        return;
    }
    const bool even = a->at->even;
    const double heads = a->sequences * a->heads, rows = dse_min(a->n, a->tile);
    const double all = a->sequences * a->kv_heads * a->n * a->row_bytes, steps = heads * a->tiles * (a->tiles + 1) / 2;
    const size_t kinds = even ? 1 : (size_t)a->tiles;
    const double tile_s =
        even ? pairs_seconds(a, heads * a->n * (a->n + 1) / 2 / steps, 0) : pairs_seconds(a, a->tile * a->tile, 0);
    a->splits = a->tiles;
    a->blocks = dse_sim_alloc(a->at->sim, kinds, sizeof *a->blocks);
    a->first.blocks = a->blocks;
    a->first.n = kinds;
    for (size_t i = 0; i < kinds; i++) {
        struct fd_blocks b = even ? blocks_of(a, heads * a->tiles, (a->tiles + 1) / 2) : blocks_of(a, heads, a->tiles - (double)i);
        b.dram = all / steps;
        b.l2 = dse_max(b.dram, rows * a->row_bytes);
        b.sm_s = tile_s;
        a->blocks[i] = b;
    }
}

static struct fd_grid_spec attention_grid(const struct fd_attention *a)
{
    const struct flashdecoding_run_reads *r = &a->at->r;
    const double load_s = r->group.load_s[a->group];
    const bool drawn = a->at->even && load_s > 0; /* 0: all in the cache */
    return (struct fd_grid_spec){.sms = r->sms,
                                 .resident = r->resident_blocks,
                                 .stream = drawn ? r->group.law_bytes[a->group] / load_s : r->attention_draw,
                                 .block_stream = a->at->even ? (double)INFINITY : r->attention_block_draw,
                                 .l2_stream = a->at->l2_stream,
                                 .even = a->at->even};
}

void fd_attention_init(struct fd_attention *a, const struct fd_site *at, int group)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const struct dse_attention *of = &at->list->attention[group];
    *a = (struct fd_attention){.at = at,
                               .group = group,
                               .prefill = r->group.prompt[group] != 0,
                               .n = r->group.read[group],
                               .sequences = (double)of->sequences,
                               .heads = r->group.shape_heads[group],
                               .kv_heads = r->group.shape_kv_heads[group],
                               .row_bytes = r->group.row_bytes[group],
                               .tile = r->attention_tile};
    a->widened_each = r->group.widened[group] / (a->sequences * a->kv_heads * a->n);
    a->tiles = dse_ceil(a->n / a->tile);
    a->in_cache = a->sequences * a->kv_heads * a->n * a->row_bytes <= r->l2;
    a->first = attention_grid(a);
    a->again_s = dse_sim_alloc(at->sim, AGAIN_ROWS, sizeof *a->again_s);
    for (int i = 0; i < AGAIN_ROWS; i++) a->again_s[i] = (double)NAN;
    if (a->prefill)
        prefill_init(a);
    else
        decode_init(a);
    /* Even blocks are E13's: what is fixed comes once, whatever part of a wave they are. */
    if (at->even) a->blocks[0].latency_s = r->group.fixed_s[group] * a->first.sms * a->first.resident / a->blocks[0].count;
    if (a->prefill) return;
    /* fp32: what a partial result has of a head, its sum of exponents and its maximum */
    const double partial = ((double)of->value_dim + 2) * 4, vectors = a->sequences * a->heads * (double)of->queries;
    a->reduce_s = at->l2_s + vectors * a->splits * partial / (dse_min(vectors, r->sms) * at->l2_stream);
}

double fd_attention_seconds(const struct fd_attention *a, bool updated)
{
    struct fd_grid_spec spec = a->first;
    struct fd_blocks *blocks = dse_sim_alloc(a->at->sim, spec.n, sizeof *blocks);
    for (size_t i = 0; i < spec.n; i++) {
        blocks[i] = spec.blocks[i];
        if (!updated) blocks[i].update = 0;
    }
    spec.blocks = blocks;
    return fd_grid_seconds(a->at->sim, &spec);
}

/* ---- the technique of a cache ---------------------------------------------------------------------------------------------- */

/* A block has a tile of what is counted, or of bounds, of one head and sequence. */
double fd_technique_run(struct fd_kernel_run *ret, const struct fd_site *at)
{
    const struct flashdecoding_run_reads *r = &at->r;
    const struct dse_workload *w = dse_closed_workload(at->closed);
    *ret = (struct fd_kernel_run){0};
    if (r->technique_kernels <= 0) return 0;
    ret->seconds = r->technique_each_s / r->technique_kernels;
    if (at->whole || at->even) return r->technique_kernels;
    const double of = (double)(r->pages > 0 ? w->llm->kv_heads : w->llm->heads);
    const double heads = (double)w->batch * dse_ceil(of / (double)w->tensor_parallel);
    const double count = heads * dse_ceil((r->pages > 0 ? 2 * r->pages : r->read) / r->attention_tile);
    const double dram = r->technique_bytes / (r->technique_kernels * count);
    ret->blocks = (struct fd_blocks){.count = count,
                                     .steps = 1,
                                     .dram = dram,
                                     .l2 = dram,
                                     .sm_s = r->technique_compute_s * r->sms / (r->technique_kernels * count),
                                     .latency_s = at->memory_s,
                                     .buffers = at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
    ret->grid = (struct fd_grid_spec){.sms = r->sms,
                                      .resident = r->resident_blocks,
                                      .stream = r->attention_draw,
                                      .block_stream = r->attention_block_draw,
                                      .l2_stream = at->l2_stream,
                                      .blocks = &ret->blocks,
                                      .n = 1};
    return r->technique_kernels;
}

/* ---- again --------------------------------------------------------------------------------------------------------------- */

double fd_group_vectors(const struct fd_attention *a)
{
    return a->prefill ? a->n : a->heads / a->kv_heads;
}

double fd_groups(const struct fd_attention *a)
{
    return a->sequences * (a->prefill ? a->heads : a->kv_heads);
}

/* Whole rows are asked for again and again. */
static double again_seconds(const struct fd_attention *a, double rows)
{
    const double pairs = rows * a->n / a->tiles, made = a->n / a->tiles;
    if (rows >= AGAIN_ROWS || rows != floor(rows)) return pairs_seconds(a, pairs, made);
    double *known = &a->again_s[(int)rows];
    if (isnan(*known)) *known = pairs_seconds(a, pairs, made);
    return *known;
}

struct fd_blocks fd_again_blocks(const struct fd_attention *a, double rows, double count)
{
    const struct flashdecoding_run_reads *r = &a->at->r;
    struct fd_blocks b = blocks_of(a, count, a->tiles);
    const double bytes = a->n * a->row_bytes / a->tiles;
    b.update = r->sync_overhead;
    b.l2 = bytes;
    b.dram = a->in_cache && !a->at->flat_memory ? 0 : bytes;
    b.latency_s = a->in_cache ? a->at->l2_s : a->at->memory_s;
    if (a->prefill) rows = dse_min(dse_ceil_to(rows, r->pad_rows), a->tile);
    b.sm_s = again_seconds(a, rows);
    return b;
}
