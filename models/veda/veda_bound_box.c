/* Bounds: what a box is without the points that check() refuses, and its two ends (README, "Bounds"). */
#include "veda_bound.h"
#include "veda_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

typedef struct dse_interval iv;

static const double rounding = 1e-9;     /* more than that of sums in another order */
static const double last_digits = 1e-14; /* and that of a few operations */

/* ---- the box ------------------------------------------------------------------------------------------------------------- */

/* The most x such that fixed + x * each <= there, a little more where it is not whole. */
static int64_t at_most(double there, double fixed, double each, int64_t x)
{
    const double most = (there * (1 + rounding) - fixed) / each;
    return each > 0 && most < (double)x ? (int64_t)dse_max(most, 0) : x;
}

bool veda_generates(const struct veda_params *p)
{
    return p->workload.phase == DSE_DECODE && p->request.generate > 0;
}

bool veda_keeps_all(const struct veda_params *p)
{
    return dse_eviction_at(p->cache.eviction)->keeps_all;
}

/* The end that is fast, or slow. Of the cache the shorter way to say it, or the longer, and one position at least. */
void veda_box_end(const struct veda_box *b, bool fast, struct veda_params *ret)
{
    const struct veda_params *less = fast ? &b->lo : &b->hi, *more = fast ? &b->hi : &b->lo;
    *ret = *less;
    ret->devices = more->devices; /* E13 */
    ret->pe_rows = more->pe_rows; /* E2 */
    ret->pe_columns = more->pe_columns;
    ret->pe_copies = more->pe_copies;
    ret->clock_ghz = more->clock_ghz;
    ret->sfu_exp = more->sfu_exp; /* E9 */
    ret->sfu_div = more->sfu_div;
    ret->vote_lanes = more->vote_lanes; /* E10 */
    ret->buffer_kib = more->buffer_kib; /* E8, E11, A8 */
    ret->dram.bandwidth_gbs = more->dram.bandwidth_gbs;
    ret->dram.dram_efficiency = more->dram.dram_efficiency;
    ret->gather = VEDA_GATHER_STREAM; /* point_at has rows */
}

/* E6: the least, or most, positions that eviction leaves: of a ratio, or of a length that is given. */
void veda_box_cache(const struct veda_box *b, bool fast, struct veda_params *p)
{
    if (veda_keeps_all(p) || p->workload.phase == DSE_PREFILL) return;
    const double seen = (double)(veda_generates(p) ? p->request.prompt : p->workload.context);
    const bool by_ratio = b->lo.cache.cache_length == 0 && p->cache.eviction_ratio > 0, by_length = b->hi.cache.cache_length > 0;
    struct veda_params ratio = *p, length = *p;
    ratio.cache.cache_length = 0;
    length.cache.cache_length = fast ? dse_max_i64(1, b->lo.cache.cache_length) : dse_max_i64(1, b->hi.cache.cache_length);
    const bool shorter = dse_cache_target(&ratio.cache, seen) < dse_cache_target(&length.cache, seen);
    const bool take_ratio = by_ratio && (!by_length || shorter == fast) && dse_cache_target(&ratio.cache, seen) >= 1;
    p->cache.cache_length = take_ratio ? 0 : length.cache.cache_length;
}

/* Contexts that the LLM has, and that the voting engine holds. */
static void contract_lengths(struct veda_params *lo, struct veda_params *hi)
{
    const int64_t most = lo->workload.llm->max_context;
    const bool counted = dse_eviction_at(lo->cache.eviction)->counts && lo->cache.boundary != DSE_CACHE_STREAMED;
    const int64_t held = counted ? hi->vote_fifo : INT64_MAX;
    if (veda_generates(lo)) {
        hi->request.prompt = dse_min_i64(hi->request.prompt, dse_min_i64(held, most - lo->request.generate));
        hi->request.generate = dse_min_i64(hi->request.generate, most - lo->request.prompt);
    } else {
        hi->workload.context = dse_min_i64(hi->workload.context, dse_min_i64(held, most));
    }
}

/* What the clock and the buffer must be at least, or can be at most. */
static void contract_chip(struct veda_params *lo, struct veda_params *hi, double vectors_bytes)
{
    double from, to;
    struct dse_supply fastest;
    dse_sram_range(lo->sram, &from, &to);
    lo->buffer_kib = dse_max(lo->buffer_kib, vectors_bytes / DSE_KIB);
    lo->buffer_kib = dse_max(lo->buffer_kib, from * DSE_MIB / DSE_KIB * (1 - rounding));
    hi->buffer_kib = dse_min(hi->buffer_kib, to * DSE_MIB / DSE_KIB * (1 + rounding));
    if (lo->power == DSE_POWER_CONSTANT) return;
    if (dse_supply_at(lo->economics.costs, lo->technology, VEDA_TABLE1_NM, VEDA_PUBLISHED_GHZ, hi->clock_ghz, &fastest)) return;
    hi->clock_ghz = dse_min(hi->clock_ghz, fastest.max_ghz * (1 + rounding));
}

/* Of a box whose shortest caches are known: there must be room for them. */
static void contract_room(struct veda_params *lo, struct veda_params *hi, const struct veda_point *least)
{
    const double room = hi->dram.capacity_gib * DSE_GIB;
    struct veda_params none = *least->p;
    struct veda_point empty = *least;
    none.workload.batch = 0;
    empty.p = &none;
    const double weights = veda_footprint(&empty), all = veda_footprint(least), each = (all - weights) / least->batch;
    hi->workload.batch = at_most((double)hi->devices * room, weights, each, hi->workload.batch);
    lo->devices = dse_max_i64(lo->devices, (int64_t)ceil(all / room * (1 - rounding)));
    if (least->policy->counts) lo->vote_fifo = dse_max_i64(lo->vote_fifo, (int64_t)least->held);
}

static bool is_empty(const struct veda_params *lo, const struct veda_params *hi)
{
    return lo->workload.context > hi->workload.context || lo->request.prompt > hi->request.prompt ||
           lo->request.generate > hi->request.generate || lo->buffer_kib > hi->buffer_kib || lo->clock_ghz > hi->clock_ghz ||
           lo->workload.batch > hi->workload.batch || lo->devices > hi->devices || lo->vote_fifo > hi->vote_fifo;
}

static double vectors_of(const struct veda_box *b)
{
    const struct dse_llm *llm = b->lo.workload.llm;
    return b->part ? veda_vectors_bytes(&b->lo.workload) : VEDA_ACTIVATION_BYTES * (double)(llm->hidden + llm->ffn);
}

/* E34: the least that a chip holds. */
static bool has_room(const struct veda_box *b, const struct veda_point *least)
{
    struct veda_params p = *least->p;
    p.workload = b->part->least;
    p.workload.context = (int64_t)least->held;
    if (least->policy->counts && least->held > (double)b->hi.vote_fifo) return false;
    return dse_workload_footprint(&p.workload) <= b->hi.dram.capacity_gib * DSE_GIB * (1 + rounding);
}

bool veda_box_contract(struct veda_box *b)
{
    struct veda_params *lo = &b->lo, *hi = &b->hi, shortest;
    struct veda_point least;
    if (lo->dataflow == VEDA_ADDER_TREE && lo->softmax == VEDA_ELEMENT_SERIAL) return false;
    if (!veda_can(dse_eviction_at(lo->cache.eviction))) return false;
    contract_lengths(lo, hi);
    contract_chip(lo, hi, vectors_of(b));
    if (is_empty(lo, hi)) return false;
    const struct dse_cache_steps first = veda_cache_steps(lo), last = veda_cache_steps(hi);
    struct dse_interval stays, seen = dse_iv(first.before, last.before);
    if (lo->workload.phase == DSE_PREFILL) seen = dse_iv_i64(lo->workload.context, hi->workload.context);
    if (!dse_cache_target_bound(&lo->cache, &hi->cache, &lo->workload, seen, &stays)) return false;
    veda_box_end(b, true, &shortest);
    veda_box_cache(b, true, &shortest);
    veda_point_init(&least, &shortest);
    if (b->part) return has_room(b, &least);
    contract_room(lo, hi, &least);
    return !is_empty(lo, hi);
}

/* ---- a step at the ends -------------------------------------------------------------------------------------------------- */

/* E2, E3: of trees of some width, passes over the inputs fall with it, trees too, and cycles to issue the inputs grow. */
void veda_box_trees(const struct veda_box *b, bool fast, struct veda_array *a)
{
    const double narrow = (double)b->lo.tree_width, wide = (double)b->hi.tree_width;
    struct veda_params p = b->end[fast ? VEDA_FAST : VEDA_SLOW].p;
    struct veda_array other;
    p.tree_width = fast ? b->lo.tree_width : b->hi.tree_width;
    veda_array_init(&other, &p);
    a->width = fast ? wide : narrow;
    a->trees = other.trees;
    a->issue = other.issue;
}

void veda_box_rows(const struct veda_box *b, bool fast, struct dse_interval row, struct veda_point *pt)
{
    if (b->lo.gather != VEDA_GATHER_ROWS || row.hi <= 0) return;
    const struct dse_dram *lo = &b->lo.dram, *hi = &b->hi.dram;
    const iv one = dse_iv_of(1), seconds = dse_dram_seconds_bound(lo, hi, one, row), moved = dse_dram_moved_bound(lo, hi, one, row);
    pt->row_s = fast ? seconds.lo : seconds.hi;
    pt->row_factor = fast ? moved.lo : moved.hi;
    if (seconds.hi > seconds.lo * (1 + last_digits) || moved.hi > moved.lo * (1 + last_digits)) return;
    pt->row_s = dse_dram_seconds(lo, 1, row.lo); /* of one DRAM, both ends are the same to the last digit */
    pt->row_factor = dse_dram_moved(lo, 1, row.lo);
}
