/* Boxes of workloads: dse/workload_box.h. What grows with what:
 *
 * - Sequences of a pass grow with the batch and fall with data_parallel; rows grow with sequences, drafted tokens, the chunk, and
 *   of a prompt with its length; bytes with bits and scales; exchanges with rows and exchange_bits. Widths, layers and experts of
 *   a chip depend on the degrees, which a part has one of.
 * - Experts with work, and rows of the fullest chip, grow with the tokens; rows over experts need not, where several chips share
 *   them.
 * - Positions and pairs grow with context and queries, but for chunked attention, which begins anew at each chunk, and for a cache
 *   that reads a part of the positions, whose drafted tokens meet all of them.
 */
#include "workload/llm.h"

#include <dse/num.h>
#include <dse/workload_box.h>

#include <assert.h>
#include <math.h>

/* ---- parts ----------------------------------------------------------------------------------------------------------------- */

static bool tensor_fits(const struct dse_llm *llm, int64_t t)
{
    for (size_t i = 0; i < llm->n_kinds && t > 1; i++) {
        const struct dse_layer_shape *s = &llm->kinds[i].shape;
        if (!llm_divides(t, s->heads) || !llm_shares_keys(s, t) || !llm_shares_states(s, t)) return false;
    }
    return true;
}

static bool expert_fits(int64_t tensor, int64_t expert)
{
    return expert % tensor == 0 || tensor % expert == 0;
}

/* Groups of data chips that experts need, as a divisor of data_parallel. */
static int64_t joined(int64_t tensor, int64_t expert)
{
    return expert > tensor ? expert / tensor : 1;
}

/* data_parallel of a part: one group, or several. False: none is a multiple. */
static bool fit_data(const struct dse_workload_parts *p, int64_t *ret_lo, int64_t *ret_hi)
{
    const int64_t by = joined(p->tensor, p->expert);
    const int64_t lo = p->groups ? dse_max_i64(2, p->lo.data_parallel) : p->lo.data_parallel,
                  hi = p->groups ? p->hi.data_parallel : 1;
    *ret_lo = (lo + by - 1) / by * by;
    *ret_hi = hi / by * by;
    return *ret_lo <= *ret_hi;
}

static bool degrees_fit(const struct dse_workload_parts *p)
{
    int64_t data_lo, data_hi;
    return tensor_fits(p->lo.llm, p->tensor) && expert_fits(p->tensor, p->expert) && fit_data(p, &data_lo, &data_hi);
}

/* To several groups behind one; false: there is no more, and they begin anew. */
static bool step_groups(struct dse_workload_parts *p)
{
    const int first = p->lo.data_parallel > 1 ? 1 : 0;
    if (p->groups == 0 && p->hi.data_parallel > 1) {
        p->groups = 1;
        return true;
    }
    p->groups = first;
    return false;
}

/* To the next degrees, whatever they are. False: there are none. */
static bool step_degrees(struct dse_workload_parts *p)
{
    if (step_groups(p)) return true;
    if (++p->expert <= p->hi.expert_parallel) return true;
    p->expert = p->lo.expert_parallel;
    if (++p->pipeline <= p->hi.pipeline_parallel) return true;
    p->pipeline = p->lo.pipeline_parallel;
    do p->tensor++;
    while (p->tensor <= p->hi.tensor_parallel && !tensor_fits(p->lo.llm, p->tensor));
    return p->tensor <= p->hi.tensor_parallel;
}

static void first_degrees(struct dse_workload_parts *p)
{
    p->tensor = p->lo.tensor_parallel;
    p->pipeline = p->lo.pipeline_parallel;
    p->expert = p->lo.expert_parallel;
    while (p->tensor <= p->hi.tensor_parallel && !tensor_fits(p->lo.llm, p->tensor)) p->tensor++;
}

static int64_t count_parts(const struct dse_workload_parts *of)
{
    enum { LOOKED_AT = 4096 };
    struct dse_workload_parts p = *of;
    int64_t n = 0, looked_at = 0;
    if (p.tensor > p.hi.tensor_parallel || p.expert > p.hi.expert_parallel || p.pipeline > p.hi.pipeline_parallel) return 0;
    do {
        n += degrees_fit(&p) ? 1 : 0;
        if (n > DSE_WORKLOAD_PARTS || ++looked_at > LOOKED_AT) return INT64_MAX;
    } while (step_degrees(&p));
    const int64_t drafts = p.lo.speculation.draft_tokens == 0 && p.hi.speculation.draft_tokens > 0 ? 2 : 1;
    const int64_t chunk = p.lo.chunk_tokens == 0 && p.hi.chunk_tokens > 0 ? 2 : 1;
    const int64_t spread = p.lo.context_spread <= 0 && p.hi.context_spread > 0 ? 2 : 1;
    return n * drafts * chunk * spread;
}

/* What no point that dse_workload_check accepts has. */
static bool contract(struct dse_workload *lo, struct dse_workload *hi)
{
    const struct dse_llm *llm = lo->llm;
    int64_t *const degrees[] = {&lo->tensor_parallel, &lo->pipeline_parallel, &lo->data_parallel, &lo->expert_parallel,
                                &hi->tensor_parallel, &hi->pipeline_parallel, &hi->data_parallel, &hi->expert_parallel};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) *degrees[i] = dse_degree(*degrees[i]);
    hi->context = dse_min_i64(hi->context, llm->max_context);
    if (llm->heads > 0) hi->tensor_parallel = dse_min_i64(hi->tensor_parallel, llm->heads);
    hi->pipeline_parallel = dse_min_i64(hi->pipeline_parallel, dse_max_i64(1, llm->layers));
    hi->expert_parallel = dse_min_i64(hi->expert_parallel, dse_max_i64(1, dse_llm_fewest_experts(llm)));
    if (lo->phase == DSE_PREFILL) {
        const bool any = lo->speculation.draft_tokens == 0 && lo->chunk_tokens == 0 && lo->context_spread <= 0;
        hi->speculation.draft_tokens = hi->chunk_tokens = 0;
        hi->context_spread = 0;
        if (!any) return false;
    }
    return lo->context <= hi->context;
}

bool dse_workload_parts_begin(struct dse_workload_parts *ret, const struct dse_workload *lo, const struct dse_workload *hi)
{
    *ret = (struct dse_workload_parts){.lo = *lo, .hi = *hi};
    const bool any = contract(&ret->lo, &ret->hi);
    first_degrees(ret);
    ret->groups = ret->lo.data_parallel > 1 ? 1 : 0;
    ret->drafts = ret->lo.speculation.draft_tokens > 0 ? 1 : 0;
    ret->chunk = ret->lo.chunk_tokens > 0 ? 1 : 0;
    ret->spread = ret->lo.context_spread > 0 ? 1 : 0;
    if (!any) ret->tensor = INT64_MAX;
    return !any || count_parts(ret) <= DSE_WORKLOAD_PARTS;
}

/* Drafts, chunk and spread of the next part; false: all of them were there, and they begin anew. */
static bool step_features(struct dse_workload_parts *p)
{
    if (p->drafts == 0 && p->hi.speculation.draft_tokens > 0) {
        p->drafts = 1;
        return true;
    }
    p->drafts = p->lo.speculation.draft_tokens > 0 ? 1 : 0;
    if (p->chunk == 0 && p->hi.chunk_tokens > 0) {
        p->chunk = 1;
        return true;
    }
    p->chunk = p->lo.chunk_tokens > 0 ? 1 : 0;
    if (p->spread == 0 && p->hi.context_spread > 0) {
        p->spread = 1;
        return true;
    }
    p->spread = p->lo.context_spread > 0 ? 1 : 0;
    return false;
}

static void set_features(const struct dse_workload_parts *p, struct dse_workload *lo, struct dse_workload *hi)
{
    if (p->drafts == 0)
        hi->speculation.draft_tokens = 0;
    else
        lo->speculation.draft_tokens = dse_max_i64(1, lo->speculation.draft_tokens);
    if (p->chunk == 0)
        hi->chunk_tokens = 0;
    else
        lo->chunk_tokens = dse_max_i64(1, lo->chunk_tokens);
    if (p->spread == 0) hi->context_spread = 0;
}

/* Unequal contexts saw in nearly all that they depend on; loads of a power law are not known to do one thing as it grows
 * steeper. */
static bool is_followed(const struct dse_workload_part *part)
{
    const struct dse_workload *lo = &part->lo, *hi = &part->hi;
    const bool alike = lo->batch == hi->batch && lo->data_parallel == hi->data_parallel && lo->context == hi->context &&
                       lo->speculation.draft_tokens == hi->speculation.draft_tokens && lo->context_spread >= hi->context_spread;
    if (hi->context_spread > 0 && !alike) return false;
    const bool law = dse_llm_fewest_experts(lo->llm) > 0 && lo->routing == DSE_ROUTING_POWER_LAW;
    return !law || lo->routing_exponent >= hi->routing_exponent;
}

static void make_part(const struct dse_workload_parts *p, struct dse_workload_part *ret)
{
    ret->lo = p->lo;
    ret->hi = p->hi;
    set_features(p, &ret->lo, &ret->hi);
    ret->lo.tensor_parallel = ret->hi.tensor_parallel = p->tensor;
    ret->lo.pipeline_parallel = ret->hi.pipeline_parallel = p->pipeline;
    ret->lo.expert_parallel = ret->hi.expert_parallel = p->expert;
    fit_data(p, &ret->lo.data_parallel, &ret->hi.data_parallel);
    ret->least = ret->lo;
    ret->most = ret->hi;
    ret->least.data_parallel = ret->hi.data_parallel;
    ret->most.data_parallel = ret->lo.data_parallel;
    ret->is_followed = is_followed(ret);
}

bool dse_workload_parts_next(struct dse_workload_parts *p, struct dse_workload_part *ret)
{
    const bool empty = p->expert > p->hi.expert_parallel || p->pipeline > p->hi.pipeline_parallel;
    if (p->tensor > p->hi.tensor_parallel || empty) return false;
    bool more = true;
    while (more && !degrees_fit(p)) more = step_degrees(p);
    if (!more) return false;
    make_part(p, ret);
    if (!step_features(p) && !step_degrees(p)) p->tensor = INT64_MAX;
    return true;
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

static void scale_attention(struct dse_oplist *list, int at, double positions, double pairs)
{
    struct dse_attention *a = &list->attention[at];
    const double of_positions = positions / (double)a->positions, of_pairs = pairs / a->pairs;
    for (int i = 0; i < list->n; i++) {
        struct dse_op *op = &list->op[i];
        if (op->attention != at) continue;
        op->kv_read_bytes *= of_positions;
        op->ops *= of_pairs;
        if (op->kind == DSE_OP_VALUES)
            op->k = (int64_t)positions;
        else
            op->n = (int64_t)positions;
    }
    a->positions = (int64_t)positions;
    a->pairs = pairs;
}

/* Chunked attention of a decode step: from one position after a chunk's first to a whole chunk. */
static void free_chunks(struct dse_oplist *least, struct dse_oplist *most, int at, int64_t chunk)
{
    const struct dse_attention *lo = &least->attention[at], *hi = &most->attention[at];
    const bool prompt = lo->context == lo->queries && hi->context == hi->queries;
    if (prompt || (lo->context == hi->context && lo->queries == hi->queries)) return;
    const bool one = lo->queries == 1 && hi->queries == 1;
    if (one && (lo->context - 1) / chunk == (hi->context - 1) / chunk) return;
    const double queries = (double)lo->queries, seen = (double)dse_min_i64(hi->context, chunk),
                 positions = (double)dse_min_i64(hi->context, hi->queries + chunk - 1);
    scale_attention(least, at, queries, queries);
    scale_attention(most, at, positions, (double)hi->queries * seen);
}

/* Of a cache that reads a part: drafted tokens meet each other in part, where it reads all, else as all others. */
static void free_drafts(struct dse_oplist *least, struct dse_oplist *most, int at)
{
    const struct dse_attention *lo = &least->attention[at], *hi = &most->attention[at];
    const bool same = lo->positions == hi->positions && lo->context == hi->context && lo->queries == hi->queries;
    if (same || hi->queries == 1) return;
    const double queries = (double)lo->queries, positions = (double)lo->positions,
                 few = dse_max(queries, queries * positions - queries * (queries - 1) / 2);
    scale_attention(least, at, positions, dse_min(lo->pairs, few));
    scale_attention(most, at, (double)hi->positions, dse_max(hi->pairs, (double)(hi->queries * hi->positions)));
}

/* Rows of an expert with work grow with the tokens, but for those of the fullest of several chips. */
static void order_experts(struct dse_op *lo, struct dse_op *hi, bool one_chip)
{
    if (one_chip || (lo->copies == hi->copies && lo->rows == hi->rows)) return;
    const double rows_lo = lo->copies * lo->rows, rows_hi = hi->copies * hi->rows;
    lo->rows = dse_min(lo->rows, rows_lo / hi->copies);
    hi->rows = dse_max(hi->rows, rows_hi / lo->copies);
    lo->m = dse_min_i64(lo->m, (int64_t)dse_ceil(lo->rows));
    hi->m = dse_max_i64(hi->m, (int64_t)dse_ceil(hi->rows));
}

static void order_exchange(struct dse_exchange *lo, struct dse_exchange *hi)
{
    const double stride_lo = dse_min(lo->stride, hi->stride), stride_hi = dse_max(lo->stride, hi->stride);
    const double even = dse_min(lo->imbalance, hi->imbalance), uneven = dse_max(lo->imbalance, hi->imbalance);
    lo->stride = stride_lo;
    hi->stride = stride_hi;
    lo->imbalance = even;
    hi->imbalance = uneven;
}

void dse_workload_part_expand(const struct dse_workload_part *part, int64_t read_lo, int64_t read_hi, struct dse_oplist *ret_least,
                              struct dse_oplist *ret_most)
{
    dse_workload_expand_reading(&part->least, read_lo, ret_least);
    dse_workload_expand_reading(&part->most, read_hi, ret_most);
    assert(ret_least->n == ret_most->n && ret_least->n_attentions == ret_most->n_attentions);
    for (int i = 0; i < ret_least->n_attentions; i++) {
        const struct dse_attention *a = &ret_least->attention[i];
        if (a->mixer == DSE_CHUNK) free_chunks(ret_least, ret_most, i, a->reach);
        if (read_lo >= 0) free_drafts(ret_least, ret_most, i);
    }
    for (int i = 0; i < ret_least->n; i++) {
        struct dse_op *lo = &ret_least->op[i], *hi = &ret_most->op[i];
        if (lo->copies != 1 || hi->copies != 1) order_experts(lo, hi, part->lo.expert_parallel == 1);
        if (lo->kind == DSE_OP_COLLECTIVE) order_exchange(&lo->exchange, &hi->exchange);
    }
}

/* Of one row nothing depends on lengths: what drafts repeats, bytes grow with bits. */
void dse_workload_part_expand_row(const struct dse_workload_part *part, struct dse_oplist *ret_least, struct dse_oplist *ret_most)
{
    dse_workload_expand_row(&part->least, ret_least);
    dse_workload_expand_row(&part->most, ret_most);
    for (int i = 0; i < ret_least->n; i++)
        if (ret_least->op[i].kind == DSE_OP_COLLECTIVE) order_exchange(&ret_least->op[i].exchange, &ret_most->op[i].exchange);
}

/* Lengths that were measured may fall as more is drafted; where none was, there are no points. */
static struct dse_interval measured_tokens(const struct dse_workload *lo, const struct dse_workload *hi)
{
    struct dse_interval all = {(double)INFINITY, -(double)INFINITY};
    const int64_t last = dse_min_i64(hi->speculation.draft_tokens, DSE_DRAFTS_MAX);
    for (int64_t k = lo->speculation.draft_tokens; k <= last; k++) {
        const double length = k > 0 ? dse_drafts_length(lo->speculation.drafts, k) : 1;
        if (length > 0) all = dse_iv_hull(all, dse_iv((double)lo->batch * length, (double)hi->batch * length));
    }
    return all.lo <= all.hi ? all : dse_iv((double)lo->batch, (double)hi->batch);
}

/* A length that was measured counts for the law where it is above 0. */
struct dse_interval dse_workload_part_tokens(const struct dse_workload_part *part)
{
    struct dse_workload lo = part->lo, hi = part->hi;
    const struct dse_drafts *drafts = lo.speculation.drafts;
    if (hi.phase == DSE_DECODE && drafts && dse_drafts_measured(drafts)) return measured_tokens(&lo, &hi);
    const double measured = hi.speculation.accepted_length, least = dse_max(1, lo.speculation.accepted_length);
    if (hi.phase == DSE_PREFILL || hi.speculation.draft_tokens == 0 || measured <= 0 || lo.speculation.accepted_length > 0)
        return dse_iv(dse_workload_tokens(&lo), dse_workload_tokens(&hi));
    lo.speculation.accepted_length = hi.speculation.accepted_length = 0;
    return dse_iv_hull(dse_iv(dse_workload_tokens(&lo), dse_workload_tokens(&hi)),
                       dse_iv((double)lo.batch * least, (double)hi.batch * measured));
}
