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

/* ---- a step at the ends -------------------------------------------------------------------------------------------------- */

/* E11: what an operator moves besides its weights. All devices read its inputs again, each for its tiles of the weights: an end of
 * more devices has fewer tiles of each; all together read no less than all weights take. */
static double beside_weights(const struct veda_end *e, const struct veda_end *other, const struct veda_linear *l)
{
    const double inputs = l->input_bytes * other->pt.devices;
    const bool least = other->pt.devices < e->pt.devices;
    return l->bytes - l->weight_bytes - l->input_bytes * e->pt.devices + (least ? dse_max(inputs, l->shared_input_bytes) : inputs);
}

/* E11: a batch shares weights until its activations do not fit, and from then on each row has some in the DRAM. What is least lies
 * at the most rows that fit, or at the most that there are. */
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
        veda_box_end(b, i == VEDA_FAST, &e->p);
        veda_box_cache(b, i == VEDA_FAST, &e->p);
        veda_point_init(&e->pt, &e->p);
        if (e->pt.array.tree) veda_box_trees(b, i == VEDA_FAST, &e->pt.array);
        veda_box_rows(b, i == VEDA_FAST, dse_iv(dse_kv_row_bytes(&b->lo.workload), dse_kv_row_bytes(&b->hi.workload)), &e->pt);
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

void veda_bound_machine(const struct veda_box *b, const struct veda_least *least, struct dse_totals_bound *t,
                        struct veda_metrics *f, struct veda_metrics *c)
{
    const iv devices = dse_iv_i64(b->lo.devices, b->hi.devices);
    const iv hz = dse_iv_scale(dse_iv(b->lo.clock_ghz, b->hi.clock_ghz), DSE_GIGA);
    const iv pes = dse_iv(b->end[VEDA_SLOW].pt.array.pes, b->end[VEDA_FAST].pt.array.pes);
    t->peak_ops = dse_iv_scale(dse_iv_mul(dse_iv_mul(devices, pes), hz), DSE_OPS_PER_MAC);
    t->peak_bytes = dse_iv_mul(devices, dse_dram_peak_bound(&b->lo.dram, &b->hi.dram));
    t->area_mm2 = dse_iv_mul(devices, b->chip.die.area_mm2);
    /* No product keeps PEs busier than all the time, nor a stream the DRAM. */
    const double busy = t->token_ops.hi / (DSE_OPS_PER_MAC * least->pe_cycles);
    t->compute_utilization = dse_iv(0, dse_min(1, busy) * (1 + rounding));
    t->dram_utilization = dse_iv(0, b->hi.dram.dram_efficiency * (1 + rounding));
    SET(core_mm2, dse_iv_mul(devices, b->chip.die.core_mm2));
    SET(phy_mm2, dse_iv_mul(devices, b->chip.die.phy_mm2));
    SET(noc_mm2, dse_iv_mul(devices, b->chip.die.noc_mm2));
    SET(links_mm2, dse_iv_mul(devices, b->chip.links_mm2));
}

static void totals_of(const struct veda_box *b, const struct veda_least *least, struct dse_totals_bound *t, struct veda_metrics *f,
                      struct veda_metrics *c)
{
    *t = dse_totals_unknown();
    t->tokens = ENDS(pt.tokens);
    t->seconds = ENDS(step.time_s);
    t->attention_s = ENDS(step.attention.time_s);
    t->bytes = ENDS(step.bytes);
    t->token_s = ENDS(token.time_s);
    t->token_bytes = ENDS(token.bytes);
    t->token_ops = ENDS(token.ops);
    veda_bound_machine(b, least, t, f, c);
    dse_totals_narrow(t);
}

/* The clock is in both. */
struct dse_interval veda_bound_utilization(const struct veda_box *b, iv ops, iv gemv_s)
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

bool veda_bound_same_attention(const struct veda_attention *a, const struct veda_attention *b)
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
    if (veda_bound_same_attention(fast, slow)) {
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
    if (veda_keeps_all(&b->lo)) return dse_iv_of(1);
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
    SET(array_utilization, veda_bound_utilization(b, ENDS(token.ops), ENDS(token.gemv_s)));
    SET(scores_utilization, veda_bound_utilization(b, half, OF_TOKEN(step.attention.scores.gemv_s)));
    SET(values_utilization, veda_bound_utilization(b, half, OF_TOKEN(step.attention.values.gemv_s)));
    set_exposed(b, f, c);
}

void veda_bound_quality(const struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c)
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
    const double room = b->hi.dram.capacity_gib * (1 + rounding);
    const iv footprint = dse_iv_div(dse_iv(veda_footprint(&fast->pt), veda_footprint(&slow->pt)), devices);
    SET(weights_mib,
        dse_iv_scale(dse_iv(fast->step.weight_bytes / slow->pt.tokens, slow->step.weight_bytes / fast->pt.tokens), 1 / DSE_MIB));
    SET(kv_mib, dse_iv_scale(OF_TOKEN(step.attention.kv_bytes), 1 / DSE_MIB));
    SET(vote_mib, dse_iv_scale(OF_TOKEN(step.attention.vote_bytes), 1 / DSE_MIB));
    SET(dram_footprint_gib, dse_iv_min(dse_iv_scale(footprint, 1 / DSE_GIB), dse_iv_of(room)));
}

/* Of a box that is all steps at a context, or all means of generations. */
static bool bound_alike(struct veda_box *b, struct veda_metrics *f, struct veda_metrics *c)
{
    struct dse_totals_bound t;
    if (!veda_box_contract(b) || !veda_bound_chip(&b->lo, &b->hi, &b->chip)) return false;
    ends_of(b);
    const struct veda_least least = veda_least_of(b);
    totals_of(b, &least, &t, f, c);
    veda_bound_energy(b, least.joules, &t, f, c);
    veda_bound_common(b, &least, &t, &f->common, &c->common);
    veda_bound_quality(b, f, c);
    set_attention(b, f, c);
    set_memory(b, f, c);
    return true;
}

/* All of struct veda_metrics is doubles but for what limits. */
void veda_bound_hull(struct veda_metrics *f, struct veda_metrics *c, const struct veda_metrics *other_f,
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

bool veda_bound_plain(const struct veda_params *lo, const struct veda_params *hi, struct veda_metrics *f, struct veda_metrics *c)
{
    struct veda_box box = {.lo = *lo, .hi = *hi};
    return bound_alike(&box, f, c);
}

/* Of a box that is all steps at a context, or all means of generations: of LLMs of all kinds the steps at their mean contexts. */
static bool bound_some(const struct veda_params *lo, const struct veda_params *hi, struct veda_metrics *f, struct veda_metrics *c)
{
    struct veda_params from = *lo, to = *hi;
    if (veda_is_simple(&lo->workload) && veda_is_simple(&hi->workload)) return veda_bound_plain(lo, hi, f, c);
    from.workload.context = veda_mean_context(lo);
    to.workload.context = veda_mean_context(hi);
    return dse_bound_parts(&dse_model_veda, offsetof(struct veda_params, workload), &from, &to, veda_bound_part, f, c);
}

/* E32 to E35: a single point is looked at as such. */
static bool bound_point(const struct veda_params *p, void *floor, void *ceiling)
{
    if (dse_model_veda.check(p)) return false;
    dse_model_veda.estimate(p, floor, NULL);
    memcpy(ceiling, floor, sizeof(struct veda_metrics));
    return true;
}

bool veda_bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    struct veda_params from = *(const struct veda_params *)lo, to = *(const struct veda_params *)hi, last = to;
    struct veda_metrics *f = floor, *c = ceiling, step_f = {0}, step_c = {0};
    if (!veda_is_simple(&from.workload) && dse_bound_same(lo, hi, sizeof from)) return bound_point(lo, floor, ceiling);
    if (!dse_workload_narrow(&from.workload, &to.workload, DSE_CAN_ALL & ~DSE_CAN_ACTIVATIONS)) return false;
    last.workload = to.workload;
    if (veda_generates(&from) == veda_generates(&to)) return bound_some(&from, &to, f, c);
    last.request.generate = 0;
    const bool steps = bound_some(&from, &last, &step_f, &step_c);
    from.request.generate = 1;
    const bool generations = bound_some(&from, &to, f, c);
    if (steps && generations) veda_bound_hull(f, c, &step_f, &step_c);
    if (steps && !generations) {
        *f = step_f;
        *c = step_c;
    }
    return steps || generations;
}
