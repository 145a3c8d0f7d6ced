/* One call of the static-shape program: its rows, its memory operations, the time of each operator; and the model that slides. */
#include "ane.h"

#include <dse/num.h>
#include <dse/units.h>

#include <assert.h>

static const double reshapes = 2; /* a layer, of its input and of what attention gives */

struct ane_request ane_request_of(const struct ane_params *p)
{
    struct ane_request r = {.prompt = (double)p->workload.context, .last = (double)p->workload.context};
    if (p->request.generate > 0) {
        r.prompt = (double)p->request.prompt;
        r.generate = (double)p->request.generate;
        r.last = r.prompt + r.generate;
    }
    r.kept = dse_min(r.last, dse_cache_target(&p->kept, r.prompt));
    if (ane_is_mixed(&p->workload)) r.kept = ane_llms_positions(p, &r);
    return r;
}

struct dse_cache_steps ane_cache_steps(const struct ane_params *p)
{
    return dse_cache_steps_of(&p->kept, &p->workload, &p->request);
}

bool ane_is_slid(const struct ane_params *p)
{
    return p->cache == ANE_TWO_MODEL || p->cache == ANE_STACKED || p->cache == ANE_LATE_TRANSPOSE;
}

const char *ane_cache_check(const struct ane_params *p)
{
    const struct dse_eviction *policy = dse_eviction_at(p->kept.eviction);
    if (p->kept.kv_format != DSE_KV_TOKEN) return "a static-shape program has one width for its whole cache (kv_format)";
    if (policy->keeps_all) return NULL;
    if (policy->reads_part) return "a static-shape program reads its whole cache and cannot select pages (eviction)";
    if (policy->selects || p->kept.boundary != DSE_CACHE_STREAMED)
        return "eviction needs a streamed prompt: prompt and generation share one static shape (eviction, boundary)";
    if (!ane_is_slid(p)) return "eviction needs a cache that a second model slides (eviction, cache)";
    return dse_cache_check(&p->kept, &p->workload, ane_cache_steps(p).before);
}

void ane_count_bytes(const struct ane_params *p, double *ret_pair, double *ret_row)
{
    const struct dse_eviction *policy = dse_eviction_at(p->kept.eviction);
    const struct dse_llm *llm = p->workload.llm;
    const double passes = policy->drained ? 2 : 1, sets = policy->per_head ? (double)llm->kv_heads : 1;
    *ret_pair = policy->counts ? passes * (double)llm->heads * ANE_ACTIVATION_BYTES : 0;
    *ret_row = policy->counts ? 2 * sets * (double)p->kept.vote_bits / DSE_BITS_PER_BYTE : 0;
}

double ane_stages(const struct ane_params *p)
{
    return (double)dse_degree(p->workload.pipeline_parallel);
}

double ane_group_sequences(const struct ane_params *p)
{
    return dse_ceil((double)p->workload.batch / (double)dse_degree(p->workload.data_parallel));
}

/* E1, E2. */
void ane_shape_init(struct ane_shape *ret, const struct ane_params *p, double query_rows, double last)
{
    const struct dse_llm *llm = p->workload.llm;
    bool cached = p->cache != ANE_NONE;
    double window = (double)p->window, multiple = (double)p->row_multiple;
    if (window <= 0) window = cached ? dse_ceil(last / query_rows) * query_rows : last;
    double rows = cached ? query_rows : window;
    const double layers = dse_ceil((double)llm->layers / ane_stages(p));
    *ret = (struct ane_shape){.rows = rows,
                              .computed = dse_ceil(rows / multiple) * multiple,
                              .window = window,
                              .cached = dse_max(window - rows, 0),
                              .layers = layers,
                              .matrices = 2 * layers,
                              .row_bytes = (double)(llm->kv_heads * llm->head_dim) * dse_kv_bits(&p->workload) / DSE_BITS_PER_BYTE,
                              .simple = ane_is_simple(&p->workload)};
}

bool ane_forgets(const struct ane_params *p, const struct ane_shape *s, double last)
{
    if (p->cache == ANE_NONE) return last > s->window;
    return dse_ceil(last / s->rows) * s->rows > s->window;
}

bool ane_fits(const struct ane_params *p, const struct ane_shape *s, double last)
{
    return p->overflow == ANE_DISCARD || !ane_forgets(p, s, last);
}

/* Rows written to join `pieces` tensors of `rows` rows each, `total` in all: the last piece may be shorter. */
static double joined(const struct ane_params *p, double pieces, double rows, double total)
{
    if (pieces <= 1) return 0;
    if (p->joining == ANE_AT_ONCE) return total;
    return rows * (pieces * (pieces + 1) / 2 - 1) - (pieces * rows - total);
}

/* E3. */
struct ane_memory_ops ane_memory_ops_of(const struct ane_params *p, const struct ane_shape *s)
{
    struct ane_memory_ops k = {.transposed_rows = s->rows};
    double chunks = dse_ceil(s->window / s->rows);
    if (p->cache == ANE_LATE_TRANSPOSE || p->cache == ANE_NONE) k.transposed_rows = s->window;
    if (s->cached <= 0) return k;
    if (p->cache == ANE_LAZY_SOFTMAX) {
        k.additions = chunks - 1;
        k.added_tensors = chunks + 2 * chunks + 3 * (chunks - 1);
    } else {
        k.concats = 1;
        k.pieces = p->cache == ANE_CHUNKS ? chunks : 2;
        k.joined_rows = p->cache == ANE_CHUNKS ? joined(p, chunks, s->rows, s->window) : s->window;
    }
    if (p->cache == ANE_CHUNKS || p->cache == ANE_LAZY_SOFTMAX) k.chunk_inputs = chunks - 1;
    if (p->cache == ANE_SLID_OUTPUT) {
        k.concats++;
        k.copied_rows = s->cached;
    }
    if (p->cache == ANE_STACKED) k.copied_rows = s->cached + joined(p, s->matrices, s->rows, s->matrices * s->rows) / s->matrices;
    return k;
}

/* ---- the operators ------------------------------------------------------------------------------------------------------ */

void ane_append(struct ane_call *c, struct ane_op op)
{
    assert(c->n_ops < ANE_OPS_MAX);
    c->op[c->n_ops++] = op;
    c->time_s += op.time_s;
    c->bytes += op.bytes;
    c->ops += op.ops;
}

/* E4: what a layer's weights cost before its first row is a number of rows, at the rate of (channels, 1, rows) tensors. */
double ane_filled_rows(const struct ane_params *p, double rows, bool squared)
{
    if (p->layout == ANE_EVEN) return rows;
    double filled = rows + p->fill_rows;
    return p->layout == ANE_SQUARE && squared ? dse_max(rows, filled / p->square_gain) : filled;
}

double ane_expanding(const struct ane_params *p)
{
    enum { WIDE_BITS = 16 };
    return dse_max(1, WIDE_BITS / ((double)p->workload.weight_bits + p->workload.weight_scale_bits) / p->narrow_gain);
}

double ane_widening_of(const struct ane_params *p)
{
    struct dse_workload call = p->workload;
    call.phase = DSE_DECODE; /* a call is the same whatever it is used for */
    return p->cache == ANE_NONE ? 0 : dse_cache_widening(&call);
}

double ane_widening(const struct ane_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    return ane_widening_of(p) * (double)(llm->kv_heads * llm->head_dim);
}

void ane_append_work(struct ane_call *c, const struct ane_params *p, const struct ane_work *work)
{
    double bytes = work->weight_bytes + work->kv_bytes, compute_s = work->ops / (p->engine_tflops * ANE_TERA);
    const double weights = work->weight_bytes > 0 ? work->weight_bytes * ane_expanding(p) : 0;
    double dram_s = dse_dram_stream_seconds(&p->dram, weights + work->kv_bytes);
    if (work->rows > 0) compute_s *= ane_filled_rows(p, work->rows, work->place == ANE_AFTERWARDS) / work->rows;
    ane_append(c, (struct ane_op){.name = work->name,
                                  .place = work->place,
                                  .times = work->times,
                                  .bound = compute_s > dram_s ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM,
                                  .attention = work->place == ANE_ATTENDING,
                                  .once = work->once,
                                  .experts = work->experts,
                                  .time_s = p->overlap == ANE_SUM ? compute_s + dram_s : dse_max(compute_s, dram_s),
                                  .bytes = bytes,
                                  .ops = work->ops,
                                  .load_s = dram_s,
                                  .compute_s = compute_s});
    c->weight_bytes += work->weight_bytes;
    c->kv_bytes += work->kv_bytes;
}

/* E5: bytes are read and written. */
static void append_memory_op(struct ane_call *c, const struct ane_params *p, const char *name, enum ane_place place, double gbs,
                             double bytes, double times)
{
    double rate = dse_min(gbs * DSE_GIGA, dse_dram_stream_rate(&p->dram));
    if (bytes > 0)
        ane_append(c, (struct ane_op){.name = name,
                                      .place = place,
                                      .times = times,
                                      .bound = DSE_BOUND_DRAM,
                                      .attention = true,
                                      .time_s = bytes / rate,
                                      .bytes = bytes});
}

/* The operators that `computed` rows and a window of K expand to: those of a decode step of as many sequences, but for what they
 * read of the cache, which is one and the same for all rows. From the scores to the values they work on (row, position) pairs. */
static void append_operators(struct ane_call *c, const struct ane_params *p)
{
    const struct ane_shape *s = &c->shape;
    struct dse_workload w = p->workload;
    struct dse_oplist list;
    bool pairs = false;
    w.phase = DSE_DECODE;
    w.batch = (int64_t)s->computed;
    w.context = (int64_t)s->window;
    dse_workload_expand(&w, &list);
    for (int i = 0; i < list.n; i++) {
        const struct dse_op *o = &list.op[i];
        bool reads = o->kind == DSE_OP_SCORES || o->kind == DSE_OP_VALUES, head = o->kind == DSE_OP_LINEAR && o->repeat == 1;
        pairs = pairs || o->kind == DSE_OP_SCORES;
        double kv = reads ? s->layers * s->window * s->row_bytes : o->kv_write_bytes / s->computed * s->rows;
        double a_row = o->ops / s->computed;
        enum ane_place place = pairs ? ANE_ATTENDING : i == 0 ? ANE_PROJECTING : ANE_AFTERWARDS;
        const double widened = reads ? s->layers * s->window * ane_widening(p) : 0;
        const double ops = head && p->head_rows == ANE_LAST_ROW ? a_row : o->ops + widened;
        const struct ane_work work = {.name = o->name,
                                      .place = place,
                                      .times = (double)o->repeat,
                                      .weight_bytes = o->weight_bytes,
                                      .kv_bytes = kv,
                                      .ops = ops,
                                      .rows = o->kind == DSE_OP_LINEAR ? ops / a_row : 0,
                                      .once = head};
        ane_append_work(c, p, &work);
        if (head)
            c->head_ops += a_row;
        else if (pairs)
            c->pair_ops += a_row / s->window;
        else
            c->row_ops += a_row;
        pairs = pairs && o->kind != DSE_OP_VALUES;
    }
}

void ane_append_joining(struct ane_call *c, const struct ane_params *p, const struct ane_memory_ops *k,
                        const struct ane_joining_work *work)
{
    const double joined_bytes = work->both_bytes * k->joined_rows, copied = work->both_bytes * k->copied_rows,
                 added = work->layers * k->added_tensors * work->tensor_bytes, transposed = work->key_bytes * k->transposed_rows;
    c->concat_bytes += joined_bytes + copied + added + work->reshaped_bytes;
    c->transpose_bytes += transposed;
    append_memory_op(c, p, "transpose", ANE_JOINING_ROWS, p->transpose_gbs, transposed, work->layers);
    append_memory_op(c, p, "concat", ANE_JOINING_ROWS, p->concat_gbs, joined_bytes, work->layers);
    append_memory_op(c, p, p->cache == ANE_STACKED ? "stack" : "slid_output", ANE_JOINING_ROWS, p->concat_gbs, copied,
                     work->layers);
    append_memory_op(c, p, "reshape", ANE_JOINING_ROWS, p->concat_gbs, work->reshaped_bytes, work->layers);
    append_memory_op(c, p, "partial_sums", ANE_ADDING_PARTS, p->concat_gbs, added, work->layers);
}

double ane_reshaped_bytes(const struct ane_params *p, const struct ane_shape *s)
{
    if (p->layout != ANE_SQUARE) return 0;
    return reshapes * 2 * s->layers * s->computed * (double)p->workload.llm->hidden * ANE_ACTIVATION_BYTES;
}

/* E1 to E5, E14, E15. */
static void call_simple(struct ane_call *ret, const struct ane_params *p)
{
    const struct ane_shape *s = &ret->shape;
    const double both = 2 * s->layers * 2 * s->row_bytes; /* K and V, read and written, all layers */
    const struct ane_joining_work work = {
        .layers = s->layers,
        .both_bytes = both,
        .key_bytes = both / 2,
        .tensor_bytes = s->computed * (double)(p->workload.llm->heads * p->workload.llm->head_dim) * ANE_ACTIVATION_BYTES,
        .reshaped_bytes = ane_reshaped_bytes(p, s)};
    double pair, row;
    ane_count_bytes(p, &pair, &row);
    append_operators(ret, p);
    ane_append_joining(ret, p, &ret->k, &work);
    ret->count_bytes = s->layers * (s->computed * s->window * pair + s->window * row);
    append_memory_op(ret, p, "counts", ANE_ADDING_PARTS, p->concat_gbs, ret->count_bytes, s->layers);
}

/* E22. Stages of a group stand behind each other, groups side by side. */
static struct dse_exchange sending_of(const struct ane_params *p, const struct ane_shape *s)
{
    return (struct dse_exchange){.kind = DSE_POINT_TO_POINT,
                                 .devices = ane_stages(p),
                                 .stride = (double)dse_degree(p->workload.data_parallel),
                                 .bytes = s->rows * (double)p->workload.llm->hidden * ANE_ACTIVATION_BYTES,
                                 .imbalance = 1};
}

static void add_sending(struct ane_call *c, const struct ane_params *p)
{
    const struct dse_exchange sending = sending_of(p, &c->shape);
    struct dse_exchange_cost cost;
    dse_exchange_at(&p->links, &sending, &cost);
    c->send_s = cost.seconds;
    c->send_joules = cost.joules;
}

void ane_call_init(struct ane_call *ret, const struct ane_params *p, const struct ane_shape *s)
{
    ane_call_drawn(ret, p, s, NULL);
}

void ane_call_drawn(struct ane_call *ret, const struct ane_params *p, const struct ane_shape *s, const struct dse_draw *draw)
{
    ret->shape = *s;
    ret->k = ane_memory_ops_of(p, s);
    ret->n_ops = ret->n_groups = ret->drafts_from = ret->drafts_to = 0;
    ret->dispatch_s = (double)p->programs * p->dispatch_us / DSE_US_PER_S;
    ret->time_s = ret->dispatch_s;
    ret->bytes = ret->ops = ret->row_ops = ret->pair_ops = ret->head_ops = ret->draft_ops = ret->weight_bytes = ret->kv_bytes = 0;
    ret->concat_bytes = ret->transpose_bytes = ret->count_bytes = 0;
    ret->row_bytes = ret->state_bytes = ret->held_bytes = 0;
    ret->send_s = ret->send_joules = 0;
    if (ane_stages(p) > 1) add_sending(ret, p);
    if (s->simple)
        call_simple(ret, p);
    else
        ane_llms_call(ret, p, draw);
}

/* ---- sliding ------------------------------------------------------------------------------------------------------------ */

static double slid_bytes(const struct ane_params *p, const struct ane_call *c)
{
    const struct ane_shape *s = &c->shape;
    if (!ane_is_slid(p)) return 0;
    return s->simple ? 2 * s->layers * 2 * s->cached * s->row_bytes : ane_llms_slid_bytes(c);
}

/* E6. */
struct ane_slide_run ane_slide_of(const struct ane_params *p, const struct ane_call *c)
{
    struct ane_slide_run run = {.bytes = slid_bytes(p, c)};
    if (run.bytes <= 0) return run;
    double rate = dse_min(p->concat_gbs * DSE_GIGA, dse_dram_stream_rate(&p->dram)), gap = p->host_gap_us / DSE_US_PER_S;
    run.time_s = (double)p->slide_programs * p->dispatch_us / DSE_US_PER_S + run.bytes / rate;
    run.exposed_s = p->slide == ANE_HIDDEN ? dse_max(run.time_s - gap, 0) : run.time_s;
    run.per_prefill_call = 1;
    run.per_generate_call = p->slide_each == ANE_EACH_CALL ? 1 : 1 / c->shape.rows;
    if (p->workload.speculation.draft_tokens > 0) run.per_generate_call = ane_llms_slides(p, &c->shape);
    return run;
}
