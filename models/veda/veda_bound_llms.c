/* Bounds of steps of any LLM, on any number of chips (E32 to E35), over a part of a box: the operators at their least on the fast
 * end of the machine, at their most on the slow one. Each term of E11 to E13 and E7 to E10 grows with what the lists have of it;
 * what does not is the mean length that several queries meet, where there are as many of them at one end as at the other. */
#include "veda_bound.h"
#include "veda_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

typedef struct dse_interval iv;

static const double rounding = 1e-13; /* of sums in another order than the estimate's */

/* Both ends of a part. */
struct sides {
    struct veda_box box;
    struct dse_oplist list[VEDA_ENDS];
    struct veda_layers step[VEDA_ENDS];
    double whole_s[VEDA_ENDS]; /* attention if nothing were evicted, of all passes */
    double pass_attention_s[VEDA_ENDS], pass_other_s[VEDA_ENDS];
    iv tokens;
};

/* ---- the ends ------------------------------------------------------------------------------------------------------------- */

static void set_end(struct sides *s, int end)
{
    struct veda_box *b = &s->box;
    struct veda_end *e = &b->end[end];
    const bool fast = end == VEDA_FAST;
    veda_box_end(b, fast, &e->p);
    e->p.workload = fast ? b->part->least : b->part->most;
    e->p.devices = 1;
    veda_box_cache(b, fast, &e->p);
    veda_point_init(&e->pt, &e->p);
    if (e->pt.array.tree) veda_box_trees(b, fast, &e->pt.array);
}

/* Several queries, as many at one end as at the other: each meets the same number of positions, in the mean. */
static bool same_queries(const struct dse_attention *lo, const struct dse_attention *hi)
{
    return lo->queries == hi->queries;
}

static bool triangle(const struct dse_attention *a)
{
    const double n = (double)a->positions;
    return a->pairs == n * (n + 1) / 2;
}

/* What sums over lengths are at least or at most: sum of ceil(length / q) lies between pairs / q and that and a cycle for each
 * query. */
static void free_lengths(const struct sides *s, int end, const struct dse_attention *lo, const struct dse_attention *hi,
                         struct veda_point *pt)
{
    static const double unlike = 0x1p40; /* a length of which nothing is left over */
    const double queries = (double)hi->queries;
    const bool prompt = pt->prefill;
    if (prompt && triangle(lo) && triangle(hi)) return;
    if (same_queries(lo, hi) && !prompt) return;
    if (same_queries(lo, hi) && triangle(lo) == triangle(hi)) return;
    const bool square = prompt && s->box.lo.causal == VEDA_COMPUTED;
    const double most = square ? queries * (double)hi->positions : hi->pairs;
    if (end == VEDA_FAST)
        pt->span = (struct veda_span){.flat = lo->pairs / unlike * (1 - 1e-9), .flat_length = unlike, .mean_of = 1};
    else
        pt->span = (struct veda_span){.to = 1, .flat = 1, .flat_length = most / queries, .mean_of = 1 / queries};
    pt->positions = veda_span_sum(&pt->span, 1);
}

static void kind_of(const struct sides *s, int end, int i, const struct veda_point *pt, struct veda_kind *ret)
{
    const struct dse_attention *lo = &s->list[VEDA_FAST].attention[i], *hi = &s->list[VEDA_SLOW].attention[i];
    const bool fast = end == VEDA_FAST;
    struct veda_kind other; /* rows of the other end */
    veda_kind_init(ret, pt, fast ? lo : hi);
    veda_kind_init(&other, pt, fast ? hi : lo);
    if (hi->queries > 1) free_lengths(s, end, lo, hi, &ret->keys);
    if (!ret->alike) {
        ret->values.span = ret->keys.span;
        ret->values.positions = ret->keys.positions;
        veda_box_rows(&s->box, fast, dse_iv_hull(dse_iv_of(ret->values.row_bytes), dse_iv_of(other.values.row_bytes)),
                      &ret->values);
    }
    veda_box_rows(&s->box, fast, dse_iv_hull(dse_iv_of(ret->keys.row_bytes), dse_iv_of(other.keys.row_bytes)), &ret->keys);
}

static double attention_of(const struct sides *s, int end, const struct veda_point *pt, struct veda_layers *sum)
{
    double seconds = 0;
    for (int i = 0; i < s->list[end].n_attentions; i++) {
        struct veda_kind kind;
        struct veda_attention a;
        struct veda_work w;
        kind_of(s, end, i, pt, &kind);
        veda_kind_at(&kind, &a, &w);
        if (sum) veda_layers_add_attention(sum, &a, &w);
        seconds += a.time_s;
    }
    return seconds;
}

static void add_collective(struct sides *s, int end, int i)
{
    const struct veda_box *b = &s->box;
    const struct dse_op *lo = &s->list[VEDA_FAST].op[i], *hi = &s->list[VEDA_SLOW].op[i];
    struct dse_exchange_bound cost;
    struct veda_layers *sum = &s->step[end];
    const double times = (double)s->list[end].op[i].repeat;
    dse_exchange_bound(&b->lo.links, &b->hi.links, &lo->exchange, &hi->exchange, &cost);
    sum->communication_s += times * (end == VEDA_FAST ? cost.seconds.lo : cost.seconds.hi);
    sum->link_joules += times * (end == VEDA_FAST ? cost.joules.lo : cost.joules.hi);
}

static void step_of(struct sides *s, int end)
{
    struct veda_end *e = &s->box.end[end];
    struct veda_layers *sum = &s->step[end];
    veda_layers_begin(sum);
    for (int i = 0; i < s->list[end].n; i++) {
        const struct dse_op *op = &s->list[end].op[i];
        if (op->kind == DSE_OP_LINEAR || op->kind == DSE_OP_RECURRENCE) veda_layers_linear(&e->pt, sum, op);
        if (op->kind == DSE_OP_COLLECTIVE) add_collective(s, end, i);
    }
    s->pass_attention_s[end] = attention_of(s, end, &e->pt, sum);
    s->pass_other_s[end] = sum->sum.linear_s + sum->sum.norm_s + sum->communication_s;
    s->whole_s[end] = sum->sum.attention.time_s;
    if (!veda_keeps_all(&e->p)) {
        struct veda_point all = e->pt;
        veda_point_keep_all(&all);
        s->whole_s[end] = attention_of(s, end, &all, NULL);
    }
    s->whole_s[end] *= (double)dse_workload_passes(&e->p.workload);
    e->pt.devices = (double)(end == VEDA_FAST ? s->box.lo.devices : s->box.hi.devices);
    e->pt.tokens = end == VEDA_FAST ? s->tokens.lo : s->tokens.hi;
    veda_layers_total(&e->pt, sum);
}

/* ---- what is drawn at least ------------------------------------------------------------------------------------------------- */

static void add_linear_part(const struct sides *s, const struct veda_linear *l, struct veda_least *sum)
{
    const struct veda_end *e = &s->box.end[VEDA_FAST];
    const bool beside = e->p.softmax == VEDA_ELEMENT_SERIAL; /* E12 */
    const double each = 1 / s->tokens.hi, norm_s = l->norm_s * each;
    const double seconds = (beside ? dse_max(l->time_s, l->norm_s) : l->time_s) * each;
    const double gemv_s = (beside ? dse_max(l->gemv_s, l->norm_s) : l->gemv_s) * each;
    static const double rows_rounding = 1e-9; /* the rows of an expert, of which cycles are counted, may be rounded to whole ones */
    const struct veda_part product = {.seconds = seconds,
                                      .cycles = gemv_s * e->pt.clock_hz,
                                      .macs = l->ops / DSE_OPS_PER_MAC * each * (1 - rows_rounding),
                                      .all_dram_s = l->bytes * e->pt.stream_s * each};
    const struct veda_part norm = {.seconds = norm_s, .cycles = norm_s * e->pt.clock_hz};
    veda_least_add(&s->box, &product, sum);
    if (!beside) veda_least_add(&s->box, &norm, sum);
}

static struct veda_least least_of(const struct sides *s)
{
    const struct veda_layers *step = &s->step[VEDA_FAST];
    const struct veda_attention *a = &step->sum.attention;
    const struct veda_end *e = &s->box.end[VEDA_FAST];
    const double each = 1 / s->tokens.hi, hz = e->pt.clock_hz;
    struct veda_least sum = {0};
    for (int i = 0; i < step->n; i++) add_linear_part(s, &step->op[i], &sum);
    const struct veda_part parts[] = {
        {.seconds = a->scores.time_s * each,
         .cycles = a->scores.gemv_s * hz * each,
         .all_dram_s = a->scores.bytes * e->pt.stream_s * each},
        {.seconds = a->values.time_s * each,
         .cycles = a->values.gemv_s * hz * each,
         .all_dram_s = a->values.bytes * e->pt.stream_s * each},
        {.seconds = (a->softmax_s + a->drain_s) * each, .cycles = (a->softmax_s + a->drain_s) * hz * each},
        {.seconds = (step->communication_s + step->bubble_s) * each},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) veda_least_add(&s->box, &parts[i], &sum);
    sum.joules *= 1 - rounding;
    sum.device_s *= 1 - rounding;
    sum.pe_cycles *= 1 - rounding;
    return sum;
}

/* ---- metrics ----------------------------------------------------------------------------------------------------------------- */

#define SET(metric, v) dse_bound_set(&f->metric, &c->metric, v)
#define STEP(number) widened(s->step[VEDA_FAST].number, s->step[VEDA_SLOW].number)

static iv widened(double lo, double hi)
{
    return dse_iv(lo * (1 - rounding), dse_max(lo, hi) * (1 + rounding));
}

/* A step's over a token's. */
static iv of_token(const struct sides *s, iv v)
{
    return dse_iv_div(v, s->tokens);
}

static struct veda_work work_of(const struct sides *s, int end, const struct dse_totals_bound *t)
{
    const struct veda_work *w = &s->step[end].work;
    const bool fast = end == VEDA_FAST;
    const double each = 1 / (fast ? s->tokens.hi : s->tokens.lo);
    return (struct veda_work){.seconds = fast ? t->token_s.lo : t->token_s.hi,
                              .macs = w->macs * each,
                              .bytes = fast ? t->token_bytes.lo : t->token_bytes.hi,
                              .sfu_ops = w->sfu_ops * each,
                              .votes = w->votes * each,
                              .link_joules = w->link_joules * each};
}

static void totals_of(const struct sides *s, struct dse_totals_bound *t)
{
    *t = dse_totals_unknown();
    t->tokens = s->tokens;
    t->seconds = STEP(sum.time_s);
    t->attention_s = STEP(sum.attention.time_s);
    t->bytes = STEP(sum.bytes);
    t->token_s = of_token(s, t->seconds);
    t->token_bytes = of_token(s, t->bytes);
    t->token_ops = of_token(s, STEP(sum.ops));
}

/* A pass's share; of a step, bubbles are in neither. */
static iv attention_share(const struct sides *s)
{
    const struct dse_workload *w = &s->box.part->lo;
    const iv passes = dse_iv((double)dse_workload_passes(&s->box.part->least), (double)dse_workload_passes(&s->box.part->most));
    const iv working = dse_iv_scale(passes, 1 / (double)dse_degree(w->pipeline_parallel));
    const iv attention = widened(s->pass_attention_s[VEDA_FAST], s->pass_attention_s[VEDA_SLOW]);
    const iv other = widened(s->pass_other_s[VEDA_FAST], s->pass_other_s[VEDA_SLOW]);
    if (attention.hi <= 0) return dse_iv(0, 0);
    if (attention.lo <= 0) return dse_iv(0, 1 + rounding);
    return dse_iv_mul(working, dse_iv_inv(dse_iv_add(dse_iv_of(1), dse_iv_div(other, attention))));
}

/* Of attention that is the same at both ends it is known, else no more than that it is part of the time. */
static void set_exposed(const struct sides *s, struct veda_metrics *f, struct veda_metrics *c)
{
    const struct veda_attention *fast = &s->step[VEDA_FAST].sum.attention, *slow = &s->step[VEDA_SLOW].sum.attention;
    const bool same = veda_bound_same_attention(fast, slow);
    const iv some = dse_iv(0, slow->time_s * (1 + rounding));
    SET(softmax_exposed_us, dse_iv_scale(same ? dse_iv_of(fast->softmax_exposed_s) : some, DSE_US_PER_S));
    SET(vote_exposed_us, dse_iv_scale(same ? dse_iv_of(fast->vote_exposed_s) : some, DSE_US_PER_S));
}

static void set_attention(const struct sides *s, struct veda_metrics *f, struct veda_metrics *c)
{
    const struct veda_point *fast = &s->box.end[VEDA_FAST].pt, *slow = &s->box.end[VEDA_SLOW].pt;
    const iv ops = STEP(sum.attention.ops), value_ops = STEP(sum.attention.value_ops), time = STEP(sum.attention.time_s);
    const iv whole = widened(s->whole_s[VEDA_FAST], s->whole_s[VEDA_SLOW]);
    SET(cached_positions, dse_iv(fast->positions / fast->queries, slow->positions / slow->queries));
    SET(linear_us, dse_iv_scale(STEP(sum.linear_s), DSE_US_PER_S));
    SET(communication_us, dse_iv_scale(STEP(communication_s), DSE_US_PER_S));
    SET(attention_share, attention_share(s));
    SET(array_utilization, veda_bound_utilization(&s->box, STEP(sum.ops), STEP(sum.gemv_s)));
    set_exposed(s, f, c);
    if (time.lo <= 0) {
        const bool none = time.hi <= 0;
        SET(eviction_speedup, none ? dse_iv_of(1) : dse_unbounded);
        SET(scores_utilization, none ? dse_iv(0, 0) : dse_unbounded);
        SET(values_utilization, none ? dse_iv(0, 0) : dse_unbounded);
        return;
    }
    SET(eviction_speedup, veda_keeps_all(&s->box.lo) ? dse_iv_of(1) : dse_iv_div(whole, time));
    SET(scores_utilization,
        veda_bound_utilization(&s->box, dse_iv_positive(dse_iv_sub(ops, value_ops)), STEP(sum.attention.scores.gemv_s)));
    if (s->step[VEDA_FAST].sum.attention.values.gemv_s > 0)
        SET(values_utilization, veda_bound_utilization(&s->box, value_ops, STEP(sum.attention.values.gemv_s)));
    else
        SET(values_utilization, dse_unbounded);
}

static void set_memory(const struct sides *s, struct veda_metrics *f, struct veda_metrics *c)
{
    const struct veda_box *b = &s->box;
    double held[VEDA_ENDS];
    for (int i = 0; i < VEDA_ENDS; i++) {
        struct dse_workload w = i == VEDA_FAST ? b->part->least : b->part->most;
        w.context = (int64_t)b->end[i].pt.held;
        held[i] = dse_workload_footprint(&w);
    }
    SET(weights_mib, of_token(s, dse_iv_scale(STEP(sum.weight_bytes), 1 / DSE_MIB)));
    SET(kv_mib, of_token(s, dse_iv_scale(STEP(sum.attention.kv_bytes), 1 / DSE_MIB)));
    SET(vote_mib, of_token(s, dse_iv_scale(STEP(sum.attention.vote_bytes), 1 / DSE_MIB)));
    SET(dram_footprint_gib, dse_iv_scale(widened(held[VEDA_FAST], held[VEDA_SLOW]), 1 / DSE_GIB));
}

/* What check() refuses of all points of a part: veda_layers_check. */
static bool is_refused(const struct veda_params *lo, const struct dse_workload_part *part)
{
    const bool drafts = part->lo.speculation.draft_tokens > 0, chunk = part->lo.chunk_tokens > 0,
               spread = part->lo.context_spread > 0;
    if (lo->devices > 1) return true;
    return (!veda_keeps_all(lo) && (drafts || chunk || spread)) || (veda_generates(lo) && (chunk || spread));
}

static bool bound_layers(const struct veda_params *lo, const struct veda_params *hi, const struct dse_workload_part *of,
                         struct veda_metrics *f, struct veda_metrics *c)
{
    struct dse_workload_part part = *of;
    struct sides s;
    struct veda_box *b = &s.box;
    struct dse_totals_bound t;
    if (is_refused(lo, &part)) return false;
    s.tokens = dse_workload_part_tokens(&part);
    *b = (struct veda_box){.lo = *lo, .hi = *hi, .part = &part};
    b->hi.devices = 1;
    if (!veda_box_contract(b)) return false;
    b->lo.devices = dse_workload_chips(&part.lo);
    b->hi.devices = dse_workload_chips(&part.hi);
    if (!veda_bound_chip(&b->lo, &b->hi, &b->chip)) return false;
    for (int i = 0; i < VEDA_ENDS; i++) set_end(&s, i);
    dse_workload_part_expand(&part, -1, -1, &s.list[VEDA_FAST], &s.list[VEDA_SLOW]);
    for (int i = 0; i < VEDA_ENDS; i++) step_of(&s, i);
    const struct veda_least least = least_of(&s);
    totals_of(&s, &t);
    veda_bound_machine(b, &least, &t, f, c);
    dse_totals_narrow(&t);
    const struct veda_spent spent = {
        .least = work_of(&s, VEDA_FAST, &t), .most = work_of(&s, VEDA_SLOW, &t), .drawn = least.joules, .ops = t.token_ops};
    veda_bound_joules(&b->chip, &spent, &t, f, c);
    veda_bound_common(b, &least, &t, &f->common, &c->common);
    veda_bound_quality(b, f, c);
    set_attention(&s, f, c);
    set_memory(&s, f, c);
    return true;
}

/* One group of sequences may be the paper's machine, several are not. */
static bool bound_both(const struct veda_params *lo, const struct veda_params *hi, const struct dse_workload_part *part,
                       struct veda_metrics *f, struct veda_metrics *c)
{
    struct veda_params one = *hi;
    struct veda_params two = *lo;
    struct dse_workload_part rest = *part;
    struct veda_metrics other_f = {0}, other_c = {0};
    one.workload.data_parallel = 1;
    two.workload.data_parallel = rest.lo.data_parallel = rest.most.data_parallel = 2;
    const bool plain = veda_bound_plain(lo, &one, f, c), more = bound_layers(&two, hi, &rest, &other_f, &other_c);
    if (plain && more) veda_bound_hull(f, c, &other_f, &other_c);
    if (!plain && more) {
        *f = other_f;
        *c = other_c;
    }
    return plain || more;
}

bool veda_bound_part(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling)
{
    if (!veda_is_simple(&part->lo)) return bound_layers(lo, hi, part, floor, ceiling);
    if (veda_is_simple(&part->hi)) return veda_bound_plain(lo, hi, floor, ceiling);
    return bound_both(lo, hi, part, floor, ceiling);
}
