/* What the blocks of a kernel do: E20 to E23. */
#include "flashdecoding_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

struct fd_site fd_site_of(struct dse_sim *sim, const struct fd_machine *m)
{
    const struct fd_params *p = m->p;
    struct fd_site at = {.sim = sim,
                         .m = m,
                         .whole = p->kernel_losses != FD_APART,
                         .ahead = dse_sim_ideal(sim, DSE_IDEAL_FIFOS),
                         .flat_memory = dse_sim_ideal(sim, DSE_IDEAL_DRAM),
                         .mean = dse_sim_ideal(sim, DSE_IDEAL_DRAWS),
                         .even = dse_sim_ideal(sim, DSE_IDEAL_SYNC)};
    at.profiled = p->lookup == FD_PROFILED && !at.whole && !at.even;
    at.memory_s = at.flat_memory ? 0 : p->memory_latency_ns / FD_NS_PER_S;
    at.l2_s = at.flat_memory ? 0 : p->l2_latency_ns / FD_NS_PER_S;
    at.l2_stream = at.flat_memory ? (double)INFINITY : p->l2_bytes * p->clock_ghz * DSE_GIGA;
    return at;
}

/* ---- linear operators ---------------------------------------------------------------------------------------------------- */

/* Blocks of the flat GEMM: one for B_N columns, K in steps of B_K. Every block loads all rows of the activations, from the
 * last-level cache. */
static void flat_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_gemm *g, const struct fd_cost *cost)
{
    const struct fd_machine *m = at->m;
    struct fd_layout l = fd_flat_layout(m, g, cost->tile_n);
    double steps = at->even ? dse_max(g->k / l.tile_k, 1) : dse_ceil(g->k / l.tile_k), rows = cost->rows / l.passes;
    double dram = cost->bytes / l.passes / (cost->blocks * steps);
    ret->blocks = (struct fd_blocks){.count = cost->blocks,
                                     .steps = l.passes * steps,
                                     .dram = dram,
                                     .l2 = dram + rows * g->k / steps * FD_ACTIVATION_BYTES,
                                     .sm_s = cost->sm_s / (l.passes * dse_ceil(cost->blocks / m->sms) * steps),
                                     .latency_s = at->memory_s,
                                     .exposed = m->p->exposed_share,
                                     .buffers = cost->double_buffered ? FD_TWO_BUFFERS : FD_ONE_BUFFER};
    ret->grid = (struct fd_grid_spec){
        .sms = m->sms, .resident = l.resident, .stream = m->stream, .block_stream = m->block_stream, .l2_stream = at->l2_stream};
    if (!at->even) return;
    /* All blocks in one: those of the fullest SM compute while all load, as E7 and E8 have them. */
    ret->blocks.count = 1;
    ret->blocks.dram *= cost->blocks;
    ret->blocks.l2 = 0;
    ret->blocks.sm_s = cost->sm_s / ret->blocks.steps;
    ret->grid = (struct fd_grid_spec){.sms = 1,
                                      .resident = 1,
                                      .stream = cost->bytes / cost->load_s,
                                      .block_stream = (double)INFINITY,
                                      .l2_stream = at->l2_stream};
}

/* The library: one block on every SM, which all go through the same number of steps, wherever tiles end. */
static void library_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_gemm *g, const struct fd_cost *cost)
{
    const struct fd_machine *m = at->m;
    double tile_k = (double)m->p->library_tile_k, tile_rows = dse_min(cost->rows, FD_LIBRARY_ROWS_MAX);
    double steps = cost->blocks * g->k / (tile_k * m->sms);
    if (!at->even) steps = dse_ceil(steps);
    steps = dse_max(steps, 1);
    ret->blocks = (struct fd_blocks){.count = m->sms,
                                     .steps = steps,
                                     .dram = cost->bytes / (m->sms * steps),
                                     .l2 = tile_k * (tile_rows * FD_ACTIVATION_BYTES + cost->tile_n * m->weight_bytes),
                                     .sm_s = cost->sm_s / steps,
                                     .latency_s = at->memory_s,
                                     .exposed = m->p->exposed_share,
                                     .buffers = at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
    ret->grid = (struct fd_grid_spec){
        .sms = m->sms, .resident = 1, .stream = m->stream, .block_stream = (double)INFINITY, .l2_stream = at->l2_stream};
}

/* E28 at event level: its blocks, two buffers each, in the order of the tiles; what is fixed comes once, whatever the waves are. */
static void vendor_run(struct fd_kernel_run *ret, const struct fd_site *at, const struct fd_gemm *g, const struct fd_cost *cost)
{
    const struct fd_machine *m = at->m;
    const struct fd_vendor_rates *v = &m->vendor;
    const double steps = dse_ceil(g->k / (cost->splits * (double)m->p->library_tile_k));
    const double work_s = cost->kept ? fd_overlapped(cost->load_s, cost->sm_s, v->exposed) : cost->sm_s; /* all of it on SMs */
    ret->blocks = (struct fd_blocks){.count = cost->blocks,
                                     .steps = steps,
                                     .dram = cost->bytes / (cost->blocks * steps),
                                     .sm_s = work_s / (cost->waves * steps),
                                     .latency_s = cost->apart_s / cost->waves,
                                     .exposed = v->exposed,
                                     .buffers = at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
    ret->grid = (struct fd_grid_spec){
        .sms = m->sms, .resident = 1, .stream = v->stream, .block_stream = v->block_stream, .l2_stream = (double)INFINITY};
}

void fd_linear_run(struct fd_kernel_run *ret, const struct fd_site *site, const struct fd_gemm *g, enum fd_kernel kernel,
                   const struct fd_cost *cost)
{
    struct fd_machine own;
    struct fd_site held = *site;
    const struct fd_site *at = &held;
    held.m = fd_machine_for(site->m, g, &own);
    *ret = (struct fd_kernel_run){.seconds = cost->seconds};
    if (at->whole || (kernel == FD_VENDOR && at->even)) return;
    if (kernel == FD_VENDOR)
        vendor_run(ret, at, g, cost);
    else if (kernel == FD_GEMV)
        ret->seconds = dse_max(cost->load_s, cost->sm_s) + at->memory_s;
    else if (kernel == FD_FLAT)
        flat_run(ret, at, g, cost);
    else
        library_run(ret, at, g, cost);
    ret->grid.blocks = &ret->blocks;
    ret->grid.n = kernel == FD_GEMV ? 0 : 1;
}

double fd_linear_seconds(const struct fd_site *at, const struct fd_gemm *g, enum fd_kernel kernel, const struct fd_cost *cost)
{
    struct fd_kernel_run r;
    fd_linear_run(&r, at, g, kernel, cost);
    return r.grid.n == 0 ? r.seconds : fd_grid_seconds(at->sim, &r.grid);
}

/* As the decision flow of Sec. 5 does with the machine itself. Of tiles as fast, the larger (E12). */
static struct fd_cost best_flat(const struct fd_site *at, const struct fd_gemm *g)
{
    struct fd_cost best = {.seconds = (double)INFINITY};
    for (int64_t tile_n = FD_TILE_N_MIN; tile_n <= FD_TILE_N_MAX; tile_n *= 2) {
        struct fd_cost c = fd_flat_at(at->m, g, (double)tile_n);
        c.seconds = fd_linear_seconds(at, g, FD_FLAT, &c);
        if (c.seconds <= best.seconds) best = c;
    }
    return best;
}

void fd_profile(const struct fd_site *at, const struct fd_gemm *g, struct fd_cost three[FD_KERNELS])
{
    fd_three(at->m, g, three);
    for (int i = 0; i < FD_KERNELS; i++)
        if (i == FD_FLAT && at->profiled && at->m->p->tile_n == 0)
            three[i] = best_flat(at, g);
        else
            three[i].seconds = fd_linear_seconds(at, g, (enum fd_kernel)i, &three[i]);
}

/* ---- attention ----------------------------------------------------------------------------------------------------------- */

/* Seconds of an SM for `pairs` of a query vector and a position, and beside tensor cores for the numbers that are made of keys and
 * values of so many positions of a KV head (E34). */
static double pairs_seconds(const struct fd_attention *a, double pairs, double made)
{
    return fd_pairs_seconds(a->at->m, &a->shape, pairs, a->widened_each * made);
}

static double update_of(const struct fd_attention *a)
{
    const struct fd_params *p = a->at->m->p;
    return p->softmax == FD_SYNCHRONIZED ? p->sync_overhead : 0;
}

static struct fd_blocks blocks_of(const struct fd_attention *a, double count, double steps)
{
    return (struct fd_blocks){.count = count,
                              .steps = steps,
                              .latency_s = a->at->memory_s,
                              .update = update_of(a),
                              .buffers = a->at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
}

/* Decode: a block goes through `positions` of a KV head for all query heads of it. */
static struct fd_blocks decode_blocks(const struct fd_attention *a, double count, double positions, double steps)
{
    struct fd_blocks b = blocks_of(a, count, steps);
    b.dram = b.l2 = positions * a->row_bytes / steps;
    b.sm_s = pairs_seconds(a, positions * a->heads / a->kv_heads * (a->shape.pairs / a->n), positions) / steps;
    return b;
}

/* The last split of a KV head has what is left. */
static void decode_init(struct fd_attention *a)
{
    const struct fd_params *p = a->at->m->p;
    double groups = a->sequences * a->kv_heads, slots = a->first.sms * a->first.resident;
    double each = p->split_positions > 0 ? dse_ceil(dse_min((double)p->split_positions, a->n) / a->tile)
                                         : dse_ceil(a->tiles / fd_flash2_splits(groups, slots, a->tiles));
    a->splits = dse_ceil(a->tiles / each);
    a->blocks = dse_sim_alloc(a->at->sim, 2, sizeof *a->blocks);
    a->first.blocks = a->blocks;
    if (a->at->even) {
        a->blocks[a->first.n++] = decode_blocks(a, groups * a->splits, a->n / a->splits, a->tiles / a->splits);
        return;
    }
    if (a->splits > 1) a->blocks[a->first.n++] = decode_blocks(a, groups * (a->splits - 1), each * a->tile, each);
    double before = (a->splits - 1) * each;
    a->blocks[a->first.n++] = decode_blocks(a, groups, a->n - before * a->tile, a->tiles - before);
}

/* E37, a prompt that does not meet all positions before it, or other positions besides: blocks alike, each with the mean of the
 * tiles. */
static void limited_init(struct fd_attention *a)
{
    const struct fd_attention_shape *s = &a->shape;
    const double heads = a->sequences * a->heads, tiles = dse_max(1, s->queries / a->tile), rows = s->queries / tiles;
    const double steps = dse_max(1, s->pairs / (s->queries * a->tile)), count = heads * tiles;
    a->splits = tiles;
    a->blocks = dse_sim_alloc(a->at->sim, 1, sizeof *a->blocks);
    a->blocks[0] = blocks_of(a, count, steps);
    a->blocks[0].dram = s->bytes / (count * steps);
    a->blocks[0].l2 = a->at->even ? a->blocks[0].dram : dse_max(a->blocks[0].dram, rows * a->row_bytes);
    a->blocks[0].sm_s = pairs_seconds(a, s->pairs / (tiles * steps), a->n * a->kv_heads / (a->heads * tiles * steps));
    a->first.blocks = a->blocks;
    a->first.n = 1;
}

/* Prefill: a block has a tile of rows of one query head, and goes through the positions up to its last row. A tile on the
 * diagonal is computed whole. The longest blocks first. K and V come from DRAM once, and from the cache for all other blocks. */
static void prefill_init(struct fd_attention *a)
{
    if (a->shape.limited) {
        limited_init(a);
        return;
    }
    double heads = a->sequences * a->heads, rows = dse_min(a->n, a->tile), all = a->sequences * a->kv_heads * a->n * a->row_bytes;
    a->splits = a->tiles;
    size_t kinds = a->at->even ? 1 : (size_t)a->tiles;
    double steps = heads * a->tiles * (a->tiles + 1) / 2;
    a->blocks = dse_sim_alloc(a->at->sim, kinds, sizeof *a->blocks);
    a->first.blocks = a->blocks;
    a->first.n = kinds;
    for (size_t i = 0; i < kinds; i++) {
        struct fd_blocks b =
            a->at->even ? blocks_of(a, heads * a->tiles, (a->tiles + 1) / 2) : blocks_of(a, heads, a->tiles - (double)i);
        b.dram = all / steps;
        b.l2 = dse_max(b.dram, rows * a->row_bytes);
        b.sm_s = a->at->even ? pairs_seconds(a, heads * a->n * (a->n + 1) / 2 / steps, 0) : pairs_seconds(a, a->tile * a->tile, 0);
        a->blocks[i] = b;
    }
}

void fd_attention_init(struct fd_attention *a, const struct fd_site *at)
{
    struct fd_attention_shape shape;
    fd_attention_shape(&shape, at->m->p);
    fd_attention_init_of(a, at, &shape);
}

void fd_attention_init_of(struct fd_attention *a, const struct fd_site *at, const struct fd_attention_shape *shape)
{
    const struct fd_machine *m = at->m;
    const struct fd_params *p = m->p;
    *a = (struct fd_attention){.at = at,
                               .shape = *shape,
                               .prefill = shape->prompt,
                               .n = shape->positions,
                               .sequences = shape->sequences,
                               .heads = shape->heads,
                               .kv_heads = shape->kv_heads,
                               .row_bytes = shape->row_bytes,
                               .tile = (double)p->attention_tile};
    struct fd_attention_law law;
    fd_attention_law_of(&law, m, shape);
    a->fixed_s = law.fixed_s;
    a->widened_each = shape->widened / (a->sequences * a->kv_heads * a->n);
    a->tiles = dse_ceil(a->n / a->tile);
    a->in_cache = a->sequences * a->kv_heads * a->n * a->row_bytes <= m->l2;
    double share = p->attention_efficiency / p->linear_efficiency; /* of a block's rate for weights */
    a->first = (struct fd_grid_spec){.sms = m->sms,
                                     .resident = (double)p->resident_blocks,
                                     .stream = at->even && law.load_s > 0 ? law.bytes / law.load_s /* 0: all in the cache */
                                                                          : m->bandwidth * p->attention_efficiency,
                                     .block_stream = at->even ? (double)INFINITY : m->block_stream * share,
                                     .l2_stream = at->l2_stream,
                                     .even = at->even};
    if (a->prefill)
        prefill_init(a);
    else
        decode_init(a);
    /* Even blocks are E13's: what is fixed comes once, whatever part of a wave they are. */
    if (at->even) a->blocks[0].latency_s = law.fixed_s * a->first.sms * a->first.resident / a->blocks[0].count;
    if (a->prefill) return;
    /* fp32: what a partial result has of a head, its sum of exponents and its maximum */
    double partial = (shape->value_dim + 2) * 4, vectors = a->sequences * a->heads * shape->queries;
    a->reduce_s = at->l2_s + vectors * a->splits * partial / (dse_min(vectors, m->sms) * at->l2_stream);
}

/* ---- the technique of a cache ---------------------------------------------------------------------------------------------- */

/* A block has a tile of what is counted, or of bounds, of one head and sequence. */
double fd_technique_run(struct fd_kernel_run *ret, const struct fd_site *at)
{
    const struct fd_machine *m = at->m;
    const struct fd_params *p = m->p;
    const struct dse_cache_step s = fd_cache_step(p);
    struct fd_technique t;
    fd_technique(&t, p, m, p->attention_efficiency, p->compute_efficiency);
    *ret = (struct fd_kernel_run){0};
    if (t.kernels <= 0) return 0;
    ret->seconds = t.seconds / t.kernels;
    if (at->whole || at->even) return t.kernels;
    const double of = (double)(s.pages > 0 ? p->workload.llm->kv_heads : p->workload.llm->heads);
    const double heads = (double)p->workload.batch * dse_ceil(of / (double)p->workload.tensor_parallel);
    const double count = heads * dse_ceil((s.pages > 0 ? 2 * s.pages : s.read) / (double)p->attention_tile);
    const double dram = t.bytes / (t.kernels * count);
    ret->blocks = (struct fd_blocks){.count = count,
                                     .steps = 1,
                                     .dram = dram,
                                     .l2 = dram,
                                     .sm_s = t.compute_s * m->sms / (t.kernels * count),
                                     .latency_s = at->memory_s,
                                     .buffers = at->ahead ? FD_AHEAD : FD_TWO_BUFFERS};
    ret->grid = (struct fd_grid_spec){.sms = m->sms,
                                      .resident = (double)p->resident_blocks,
                                      .stream = m->bandwidth * p->attention_efficiency,
                                      .block_stream = m->block_stream * (p->attention_efficiency / p->linear_efficiency),
                                      .l2_stream = at->l2_stream,
                                      .blocks = &ret->blocks,
                                      .n = 1};
    return t.kernels;
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

struct fd_blocks fd_again_blocks(const struct fd_attention *a, double rows, double count)
{
    const struct fd_params *p = a->at->m->p;
    struct fd_blocks b = blocks_of(a, count, a->tiles);
    double bytes = a->n * a->row_bytes / a->tiles;
    b.update = p->sync_overhead;
    b.l2 = bytes;
    b.dram = a->in_cache && !a->at->flat_memory ? 0 : bytes;
    b.latency_s = a->in_cache ? a->at->l2_s : a->at->memory_s;
    if (a->prefill) rows = dse_min(dse_ceil_to(rows, (double)p->pad_rows), a->tile);
    b.sm_s = pairs_seconds(a, rows * a->n / a->tiles, a->n / a->tiles);
    return b;
}
