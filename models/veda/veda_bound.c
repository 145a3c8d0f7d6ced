/* Bounds of the metrics over a box: the box, a step at its ends, the metrics (README, "Bounds").
 *
 * Each time, each number of bytes and of operations of E2 to E13 grows or falls with each parameter, and all that depend on one go
 * the same way: what makes a part of a step longer makes none shorter. So the step with the least of what costs time and the most
 * of what saves it has the least of each in the box, and the opposite step the most: with correctly rounded operations to the last
 * digit. The exceptions are taken apart: the width of adder trees, the exchange between devices, activations that all devices read
 * again, whether a cache is given as a length, whether a step is the mean of a generation; and tokens, for which weights and
 * exchanges fall with the batch while the rest does not. */
#include "veda_bound.h"
#include "veda_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>
#include <stddef.h>

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

static bool generates(const struct veda_params *p)
{
    return p->workload.phase == DSE_DECODE && p->request.generate > 0;
}

static bool keeps_all(const struct veda_params *p)
{
    return dse_eviction_at(p->cache.eviction)->keeps_all;
}

/* The end that is fast, or slow. Of the cache the shorter way to say it, or the longer, and one position at least. */
static void set_end(const struct veda_box *b, bool fast, struct veda_params *ret)
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
static void set_cache(const struct veda_box *b, bool fast, struct veda_params *p)
{
    if (keeps_all(p) || p->workload.phase == DSE_PREFILL) return;
    const double seen = (double)(generates(p) ? p->request.prompt : p->workload.context);
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
    if (generates(lo)) {
        hi->request.prompt = dse_min_i64(hi->request.prompt, dse_min_i64(held, most - lo->request.generate));
        hi->request.generate = dse_min_i64(hi->request.generate, most - lo->request.prompt);
    } else {
        hi->workload.context = dse_min_i64(hi->workload.context, dse_min_i64(held, most));
    }
}

/* What the clock and the buffer must be at least, or can be at most. */
static void contract_chip(struct veda_params *lo, struct veda_params *hi)
{
    const struct dse_llm *llm = lo->workload.llm;
    double from, to;
    struct dse_supply fastest;
    dse_sram_range(lo->sram, &from, &to);
    lo->buffer_kib = dse_max(lo->buffer_kib, VEDA_ACTIVATION_BYTES * (double)(llm->hidden + llm->ffn) / DSE_KIB);
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

/* Takes from the box what no point that check() accepts has. False: nothing is left. */
static bool contract(struct veda_box *b)
{
    struct veda_params *lo = &b->lo, *hi = &b->hi, shortest;
    struct veda_point least;
    if (lo->dataflow == VEDA_ADDER_TREE && lo->softmax == VEDA_ELEMENT_SERIAL) return false;
    if (!veda_can(dse_eviction_at(lo->cache.eviction))) return false;
    contract_lengths(lo, hi);
    contract_chip(lo, hi);
    if (is_empty(lo, hi)) return false;
    const struct dse_cache_steps first = veda_cache_steps(lo), last = veda_cache_steps(hi);
    struct dse_interval stays, seen = dse_iv(first.before, last.before);
    if (lo->workload.phase == DSE_PREFILL) seen = dse_iv_i64(lo->workload.context, hi->workload.context);
    if (!dse_cache_target_bound(&lo->cache, &hi->cache, &lo->workload, seen, &stays)) return false;
    set_end(b, true, &shortest);
    set_cache(b, true, &shortest);
    veda_point_init(&least, &shortest);
    contract_room(lo, hi, &least);
    return !is_empty(lo, hi);
}

/* ---- a step at the ends -------------------------------------------------------------------------------------------------- */

/* E2, E3: of trees of some width, passes over the inputs fall with it, trees too, and cycles to issue the inputs grow. */
static void set_trees(const struct veda_box *b, bool fast, struct veda_array *a)
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

/* E8: rows of keys and values that come one by one. */
static void set_rows(const struct veda_box *b, bool fast, struct veda_point *pt)
{
    if (b->lo.gather != VEDA_GATHER_ROWS) return;
    const struct dse_dram *lo = &b->lo.dram, *hi = &b->hi.dram;
    const iv one = dse_iv_of(1), row = dse_iv(dse_kv_row_bytes(&b->lo.workload), dse_kv_row_bytes(&b->hi.workload));
    const iv seconds = dse_dram_seconds_bound(lo, hi, one, row), moved = dse_dram_moved_bound(lo, hi, one, row);
    pt->row_s = fast ? seconds.lo : seconds.hi;
    pt->row_factor = fast ? moved.lo : moved.hi;
    if (seconds.hi > seconds.lo * (1 + last_digits) || moved.hi > moved.lo * (1 + last_digits)) return;
    pt->row_s = dse_dram_seconds(lo, 1, row.lo); /* of one DRAM, both ends are the same to the last digit */
    pt->row_factor = dse_dram_moved(lo, 1, row.lo);
}

/* E11: what an operator moves besides its weights. All devices read its inputs again, each for its tiles of the weights: an end of
 * more devices has fewer tiles of each; all together read no less than all weights take. */
static double beside_weights(const struct veda_end *e, const struct veda_end *other, const struct veda_linear *l)
{
    const double inputs = l->input_bytes * other->pt.devices;
    const bool least = other->pt.devices < e->pt.devices;
    return l->bytes - l->weight_bytes - l->input_bytes * e->pt.devices + (least ? dse_max(inputs, l->shared_input_bytes) : inputs);
}

/* E11: a batch shares weights until its activations do not fit, and from then on each row has some in the DRAM. What is least lies at
 * the most rows that fit, or at the most that there are. */
static void share_weights(const struct veda_end *e, const struct veda_end *other, int which, double rows, struct veda_linear *l)
{
    const struct veda_linear *crowd = &e->crowded.linear[which];
    if (e->crowded.n_linear == 0 || crowd->output_bytes <= 0 || e->step.linear[which].output_bytes > 0) return;
    const double most = other->pt.batch * (which == VEDA_LM_HEAD ? 1 : other->pt.queries);
    const double fit = dse_max(1, dse_floor(e->pt.buffer_bytes / (4 * crowd->row_elements) * (1 + rounding)));
    const double crowd_rows = rows * e->pt.batch / other->pt.batch, again = most / dse_min(most, fit) - 1;
    const double beside = beside_weights(e, other, crowd);
    l->dram_s = dse_min(l->dram_s + again * l->weights_s, (crowd->dram_s - crowd->weights_s) * crowd_rows + l->weights_s);
    l->bytes = dse_min(l->bytes + again * l->weight_bytes, beside * crowd_rows + l->weight_bytes);
}

/* E11 to E13 of a token: what goes with the rows, over those of this end; weights, over the tokens of the other. Inputs that all
 * devices read again are those of this end, which has more of them but fewer tiles or the other way round. */
static void linear_of_token(const struct veda_end *e, const struct veda_end *other, int which, struct veda_linear *ret)
{
    const struct veda_linear *l = &e->step.linear[which];
    const double rows = 1 / (e->pt.batch * (which == VEDA_LM_HEAD ? other->pt.queries : e->pt.queries));
    const double steps = 1 / other->pt.tokens;
    const double beside = beside_weights(e, other, l);
    *ret = *l;
    ret->gemv_s = l->gemv_s * rows;
    ret->norm_s = l->norm_s * rows;
    ret->weights_s = l->weights_s * steps;
    ret->dram_s = (l->dram_s - l->weights_s) * rows + ret->weights_s;
    ret->weight_bytes = l->weight_bytes * steps;
    ret->bytes = beside * rows + ret->weight_bytes;
    ret->ops = l->ops * rows;
    share_weights(e, other, which, rows, ret);
    ret->time_s = dse_max(ret->gemv_s, ret->dram_s);
}

/* E12, E13: with the norm before a product, which hides it or does not. */
static double with_norm(const struct veda_params *p, const struct veda_linear *l)
{
    return p->softmax == VEDA_STAGE ? l->time_s + l->norm_s : dse_max(l->time_s, l->norm_s);
}

static void token_of(const struct veda_end *e, const struct veda_end *other, struct veda_token *ret)
{
    const struct veda_attention *a = &e->step.attention;
    const struct veda_point *pt = &e->pt;
    const double each = 1 / pt->tokens;
    const struct veda_work w = veda_attention_work(pt, a);
    struct veda_token k = {.attention_s = a->time_s * each,
                           .exchange_s = e->step.exchange_s / other->pt.tokens,
                           .gemv_s = (a->scores.gemv_s + a->values.gemv_s) * each,
                           .bytes = a->bytes * each,
                           .ops = a->ops * each,
                           .votes = w.votes * each,
                           .widened = a->widened * each};
    k.other_s = k.exchange_s;
    for (int i = 0; i < VEDA_LINEARS; i++) {
        struct veda_linear *l = &k.linear[i];
        linear_of_token(e, other, i, l);
        k.other_s += with_norm(&e->p, l);
        k.linear_s += l->time_s;
        k.gemv_s += l->gemv_s;
        k.bytes += l->bytes;
        k.ops += l->ops;
    }
    k.time_s = k.attention_s + k.other_s;
    k.sfu_ops = w.sfu_ops * each + (2 * pt->layers + 1 / other->pt.queries) * (double)pt->llm->hidden; /* E12: veda_norm_work */
    *ret = k;
}

/* The step of an end, whose sums are those of its parts as a box has them. */
static void step_of(const struct veda_box *b, int end, struct veda_step *ret)
{
    const struct veda_end *e = &b->end[end], *other = &b->end[VEDA_ENDS - 1 - end];
    const int64_t devices = end == VEDA_FAST ? b->lo.devices : b->hi.devices;
    double bytes = 0;
    veda_step_at(&e->pt, ret);
    ret->exchange_s = devices > 1 ? 2 * e->pt.layers * e->p.exchange_us / DSE_US_PER_S : 0;
    ret->time_s = ret->attention.time_s + ret->exchange_s;
    for (int i = 0; i < VEDA_LINEARS; i++) {
        ret->time_s += with_norm(&e->p, &ret->linear[i]);
        bytes += ret->linear[i].weight_bytes + beside_weights(e, other, &ret->linear[i]);
    }
    ret->bytes = bytes + ret->attention.bytes;
}

/* The step of the fast end, but of the largest batch: only where that has activations that a smaller one keeps on chip. */
static void crowd_of(const struct veda_box *b, struct veda_end *fast)
{
    struct veda_params p = fast->p;
    struct veda_point crowd = fast->pt;
    bool leaves = false;
    fast->crowded.n_linear = 0;
    for (int i = 0; i < VEDA_LINEARS; i++)
        leaves = leaves || (fast->step.linear[i].output_bytes <= 0 && b->end[VEDA_SLOW].step.linear[i].output_bytes > 0);
    if (!leaves) return;
    p.workload.batch = b->hi.workload.batch;
    crowd.p = &p;
    crowd.batch = (double)p.workload.batch;
    veda_step_at(&crowd, &fast->crowded);
}

static void ends_of(struct veda_box *b)
{
    for (int i = 0; i < VEDA_ENDS; i++) {
        struct veda_end *e = &b->end[i];
        set_end(b, i == VEDA_FAST, &e->p);
        set_cache(b, i == VEDA_FAST, &e->p);
        veda_point_init(&e->pt, &e->p);
        if (e->pt.array.tree) set_trees(b, i == VEDA_FAST, &e->pt.array);
        set_rows(b, i == VEDA_FAST, &e->pt);
    }
    for (int i = 0; i < VEDA_ENDS; i++) step_of(b, i, &b->end[i].step);
    crowd_of(b, &b->end[VEDA_FAST]);
    b->end[VEDA_SLOW].crowded.n_linear = 0;
    for (int i = 0; i < VEDA_ENDS; i++) token_of(&b->end[i], &b->end[VEDA_ENDS - 1 - i], &b->end[i].token);
}

/* ---- metrics ------------------------------------------------------------------------------------------------------------- */

#define SET(metric, v) dse_bound_set(&f->metric, &c->metric, v)
#define ENDS(number) dse_iv(b->end[VEDA_FAST].number, dse_max(b->end[VEDA_FAST].number, b->end[VEDA_SLOW].number))
/* A number of attention, which is as much of a step as its tokens are. */
#define OF_TOKEN(number) \
    dse_iv(b->end[VEDA_FAST].number / b->end[VEDA_FAST].pt.tokens, b->end[VEDA_SLOW].number / b->end[VEDA_SLOW].pt.tokens)

static void totals_of(const struct veda_box *b, const struct veda_least *least, struct dse_totals_bound *t)
{
    const iv devices = dse_iv_i64(b->lo.devices, b->hi.devices);
    const iv hz = dse_iv_scale(dse_iv(b->lo.clock_ghz, b->hi.clock_ghz), DSE_GIGA);
    const iv pes = dse_iv(b->end[VEDA_SLOW].pt.array.pes, b->end[VEDA_FAST].pt.array.pes);
    *t = dse_totals_unknown();
    t->tokens = ENDS(pt.tokens);
    t->seconds = ENDS(step.time_s);
    t->attention_s = ENDS(step.attention.time_s);
    t->bytes = ENDS(step.bytes);
    t->token_s = ENDS(token.time_s);
    t->token_bytes = ENDS(token.bytes);
    t->token_ops = ENDS(token.ops);
    t->peak_ops = dse_iv_scale(dse_iv_mul(dse_iv_mul(devices, pes), hz), DSE_OPS_PER_MAC);
    t->peak_bytes = dse_iv_mul(devices, dse_dram_peak_bound(&b->lo.dram, &b->hi.dram));
    t->area_mm2 = dse_iv_mul(devices, b->chip.die.area_mm2);
    /* No product keeps PEs busier than all the time, nor a stream the DRAM. */
    const double busy = t->token_ops.hi / (DSE_OPS_PER_MAC * least->pe_cycles);
    t->compute_utilization = dse_iv(0, dse_min(1, busy) * (1 + rounding));
    t->dram_utilization = dse_iv(0, b->hi.dram.dram_efficiency * (1 + rounding));
    dse_totals_narrow(t);
}

/* Useful multiply-adds over those that the PEs of all devices could do: the clock is in both. */
static iv utilization(const struct veda_box *b, iv ops, iv gemv_s)
{
    const struct veda_end *fast = &b->end[VEDA_FAST], *slow = &b->end[VEDA_SLOW];
    const iv cycles = dse_iv(gemv_s.lo * fast->pt.clock_hz, gemv_s.hi * slow->pt.clock_hz);
    const iv pes = dse_iv_mul(dse_iv_i64(b->lo.devices, b->hi.devices), dse_iv(slow->pt.array.pes, fast->pt.array.pes));
    const iv share = dse_iv_div(dse_iv_scale(ops, 1 / DSE_OPS_PER_MAC), dse_iv_mul(pes, cycles));
    return dse_iv_min(share, dse_iv_of(1 + rounding));
}

static bool same_period(const struct veda_period *a, const struct veda_period *b)
{
    return a->gemv_s == b->gemv_s && a->dram_s == b->dram_s && a->sfu_s == b->sfu_s && a->vote_s == b->vote_s;
}

static bool same_attention(const struct veda_attention *a, const struct veda_attention *b)
{
    return same_period(&a->scores, &b->scores) && same_period(&a->values, &b->values) && a->softmax_s == b->softmax_s &&
           a->drain_s == b->drain_s;
}

/* How much longer the first of two takes than the longest of others, of one period. */
static iv longer(iv one, iv others)
{
    return dse_iv(dse_max(0, one.lo - others.hi), dse_max(0, one.hi - others.lo));
}

#define PERIOD(which, number) dse_iv(fast->which.number, slow->which.number)

/* E9, E10: what nothing hides. The estimate takes it from sums, whose rounding is that of the whole. */
static void set_exposed(const struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c)
{
    const struct veda_attention *fast = &b->end[VEDA_FAST].step.attention, *slow = &b->end[VEDA_SLOW].step.attention;
    const iv slack = dse_iv(-last_digits * slow->time_s, last_digits * slow->time_s);
    const iv scores = dse_iv_max(PERIOD(scores, gemv_s), PERIOD(scores, dram_s)),
             values = dse_iv_max(PERIOD(values, gemv_s), PERIOD(values, dram_s));
    const iv scores_sfu = PERIOD(scores, sfu_s), values_sfu = PERIOD(values, sfu_s);
    iv softmax =
        dse_iv_add(dse_iv(fast->softmax_s, slow->softmax_s), dse_iv_add(longer(scores_sfu, scores), longer(values_sfu, values)));
    iv votes = dse_iv_add(longer(PERIOD(scores, vote_s), dse_iv_max(scores, scores_sfu)),
                          longer(PERIOD(values, vote_s), dse_iv_max(values, values_sfu)));
    softmax = dse_iv_positive(dse_iv_add(softmax, slack));
    votes = dse_iv_positive(dse_iv_add(votes, slack));
    if (same_attention(fast, slow)) {
        softmax = dse_iv_of(fast->softmax_exposed_s);
        votes = dse_iv_of(fast->vote_exposed_s);
    }
    SET(softmax_exposed_us, dse_iv_scale(softmax, DSE_US_PER_S));
    SET(vote_exposed_us, dse_iv_scale(votes, DSE_US_PER_S));
}

/* Attention of a token as if nothing left the cache, over what it is. */
static iv speedup(const struct veda_box *b)
{
    double whole[VEDA_ENDS];
    if (keeps_all(&b->lo)) return dse_iv_of(1);
    for (int i = 0; i < VEDA_ENDS; i++) {
        struct veda_point all = b->end[i].pt;
        struct veda_attention a;
        veda_point_keep_all(&all);
        veda_attention_at(&all, &a);
        whole[i] = a.time_s / all.tokens;
    }
    return dse_iv_div(dse_iv(whole[VEDA_FAST], whole[VEDA_SLOW]), ENDS(token.attention_s));
}

static void set_attention(const struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c)
{
    const iv attention = ENDS(token.attention_s);
    const iv half = dse_iv_scale(OF_TOKEN(step.attention.ops), 0.5);
    const struct veda_end *fast = &b->end[VEDA_FAST], *slow = &b->end[VEDA_SLOW];
    SET(cached_positions, dse_iv(fast->pt.positions / fast->pt.queries, slow->pt.positions / slow->pt.queries));
    SET(linear_us, dse_iv_scale(ENDS(step.linear_s), DSE_US_PER_S));
    SET(communication_us, dse_iv_scale(ENDS(step.exchange_s), DSE_US_PER_S));
    SET(attention_share, dse_iv_inv(dse_iv_add(dse_iv_of(1), dse_iv_div(ENDS(token.other_s), attention))));
    SET(eviction_speedup, speedup(b));
    SET(array_utilization, utilization(b, ENDS(token.ops), ENDS(token.gemv_s)));
    SET(scores_utilization, utilization(b, half, OF_TOKEN(step.attention.scores.gemv_s)));
    SET(values_utilization, utilization(b, half, OF_TOKEN(step.attention.values.gemv_s)));
    set_exposed(b, f, c);
}

static void set_quality(const struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c)
{
    struct dse_kept_bound kept;
    const struct dse_cache_steps lo = veda_cache_steps(&b->lo), hi = veda_cache_steps(&b->hi);
    dse_cache_quality_bound(&lo, &hi, dse_iv(b->end[VEDA_FAST].pt.target, b->end[VEDA_SLOW].pt.target), &kept);
    SET(retained_mass, kept.mass);
    SET(attention_error, kept.error);
    SET(attention_error_sd, kept.error_sd);
    struct dse_interval score, loss;
    dse_cache_score_bound(&lo, &hi, &score, &loss);
    SET(task.task_score, score);
    SET(task.task_loss, loss);
}

static void set_memory(const struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c)
{
    const struct veda_end *fast = &b->end[VEDA_FAST], *slow = &b->end[VEDA_SLOW];
    const iv devices = dse_iv_i64(b->lo.devices, b->hi.devices);
    const iv room = dse_iv_scale(devices, b->hi.dram.capacity_gib * (1 + rounding));
    const iv footprint = dse_iv(veda_footprint(&fast->pt), veda_footprint(&slow->pt));
    SET(weights_mib,
        dse_iv_scale(dse_iv(fast->step.weight_bytes / slow->pt.tokens, slow->step.weight_bytes / fast->pt.tokens), 1 / DSE_MIB));
    SET(kv_mib, dse_iv_scale(OF_TOKEN(step.attention.kv_bytes), 1 / DSE_MIB));
    SET(vote_mib, dse_iv_scale(OF_TOKEN(step.attention.vote_bytes), 1 / DSE_MIB));
    SET(core_mm2, dse_iv_mul(devices, b->chip.die.core_mm2));
    SET(phy_mm2, dse_iv_mul(devices, b->chip.die.phy_mm2));
    SET(noc_mm2, dse_iv_mul(devices, b->chip.die.noc_mm2));
    SET(dram_footprint_gib, dse_iv_min(dse_iv_scale(footprint, 1 / DSE_GIB), dse_iv_of(room.hi)));
}

/* Of a box that is all steps at a context, or all means of generations. */
static bool bound_alike(struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c)
{
    struct dse_totals_bound t;
    if (!contract(b) || !veda_bound_chip(&b->lo, &b->hi, &b->chip)) return false;
    ends_of(b);
    const struct veda_least least = veda_least_of(b);
    totals_of(b, &least, &t);
    veda_bound_energy(b, least.joules, &t, f, c);
    veda_bound_common(b, &least, &t, &f->common, &c->common);
    set_quality(b, f, c);
    set_attention(b, f, c);
    set_memory(b, f, c);
    return true;
}

/* The bounds of both; all of struct veda_metrics is doubles but for what limits. */
static void hull(struct veda_metrics *f, struct veda_metrics *c, const struct veda_metrics *other_f,
                 const struct veda_metrics *other_c)
{
    enum { NUMBERS = sizeof *f / sizeof(double), LIMIT = offsetof(struct veda_metrics, common.bound) / sizeof(double) };
    _Static_assert(sizeof *f % sizeof(double) == 0, "metrics are doubles");
    double *floor = (double *)f, *ceiling = (double *)c;
    const double *least = (const double *)other_f, *most = (const double *)other_c;
    for (size_t i = 0; i < NUMBERS; i++) {
        if (i == LIMIT) continue;
        floor[i] = isnan(floor[i]) || isnan(least[i]) ? (double)NAN : dse_min(floor[i], least[i]);
        ceiling[i] = isnan(ceiling[i]) || isnan(most[i]) ? (double)NAN : dse_max(ceiling[i], most[i]);
    }
}

/* E32 to E35: a single point is looked at as such. */
static bool bound_layers(const struct veda_params *p, void *floor, void *ceiling)
{
    if (dse_model_veda.check(p)) return false;
    dse_model_veda.estimate(p, floor, NULL);
    memcpy(ceiling, floor, sizeof(struct veda_metrics));
    return true;
}

bool veda_bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    struct veda_box box = {.lo = *(const struct veda_params *)lo, .hi = *(const struct veda_params *)hi}, step;
    struct veda_metrics *f = floor, *c = ceiling, step_f = {0}, step_c = {0};
    if (!veda_is_simple(&box.lo.workload) || !veda_is_simple(&box.hi.workload)) {
        if (memcmp(lo, hi, sizeof box.lo) == 0) return bound_layers(lo, floor, ceiling);
        dse_bound_nothing(dse_model_veda.metrics, floor, ceiling);
        return true;
    }
    step = box;
    if (generates(&box.lo) == generates(&box.hi)) return bound_alike(&box, f, c);
    step.hi.request.generate = 0;
    box.lo.request.generate = 1;
    const bool steps = bound_alike(&step, &step_f, &step_c), generations = bound_alike(&box, f, c);
    if (steps && generations) hull(f, c, &step_f, &step_c);
    if (steps && !generations) {
        *f = step_f;
        *c = step_c;
    }
    return steps || generations;
}
