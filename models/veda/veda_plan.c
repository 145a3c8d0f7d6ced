/* Attention of one kind at event level: which lengths and units stand for all, and what all take (E25 to E27). */
#include "veda_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

enum { UNITS_MIN = 8 /* of attention simulated at least, where there are so many */ };

static const double wide_group = 8; /* query heads of a group, beyond which fewer rows are simulated */

/* ---- the kind -------------------------------------------------------------------------------------------------------------- */

/* The equations of one query that meets so many positions. */
static void unit_at(const struct veda_plan *plan, double length, double queries, struct veda_unit_reads *ret)
{
    const struct veda_kind *k = &plan->kind;
    struct veda_unit_gives one = {.prefill = 0, .counts = k->policy->counts, .drained = k->policy->drained};
    one.group.from[0] = one.group.to[0] = 0;
    one.group.flat[0] = one.group.mean_of[0] = 1;
    one.group.length[0] = length;
    one.group.longest[0] = k->longest;
    one.group.asked[0] = queries;
    one.group.stays[0] = 0;
    dse_closed_run(plan->unit, &one, ret);
}

static void set_kind(struct veda_kind *k, const struct veda_events_reads *r, const struct dse_attention *a, int i)
{
    *k = (struct veda_kind){
        .prefill = r->prefill != 0,
        .stays = r->group.stays[i] != 0,
        .from = r->group.from[i],
        .to = r->group.to[i],
        .flat = r->group.flat[i],
        .length = r->group.length[i],
        .mean_of = r->group.mean_of[i],
        .longest = r->group.longest[i],
        .held = r->held,
        .layers = (double)a->layers,
        .sequences = (double)a->sequences,
        .queries = r->group.asked[i],
        .shared = r->group.shared[i],
        .device_kv = r->group.device_kv[i],
        .share = r->group.share[i],
        .dim = {(double)a->key_dim, (double)a->value_dim},
        .cycles = {r->group.key_cycles[i], r->group.value_cycles[i]},
        .at_once = {r->group.key_at_once[i], r->group.value_at_once[i]},
        .row_bytes = {r->group.key_row[i], r->group.value_row[i]},
        .value_pass = r->group.value_pass[i],
    };
}

static void keep_all(struct veda_kind *k, const struct veda_events_reads *r, bool own)
{
    k->held = r->whole;
    if (!own) return;
    k->to = r->whole_to;
    k->flat = r->whole_flat;
    k->length = k->longest = r->whole;
}

/* E26: the lengths that stand for those of the span. */
static void plan_lengths(struct veda_plan *plan)
{
    const struct veda_kind *k = &plan->kind;
    const double all = k->to - k->from + k->flat;
    const int64_t flat = (int64_t)dse_ceil(k->length); /* as E4 has it */
    if (k->to > k->from)
        dse_lengths_plan(&plan->lengths, &plan->sampling, UNITS_MIN, (int64_t)k->from + 1, (int64_t)k->to, (k->to - k->from) / all);
    if (k->flat > 0) dse_lengths_plan(&plan->lengths, &plan->sampling, UNITS_MIN, flat, flat, k->flat / all);
}

void veda_plan_init(struct veda_plan *ret, const struct veda_run *run, const struct dse_oplist *list, int place, bool whole,
                    const struct dse_eviction *policy, struct dse_closed_at *unit)
{
    struct veda_unit_reads flags;
    struct veda_kind *k = &ret->kind;
    ret->run = run;
    ret->unit = unit;
    ret->place = place;
    set_kind(k, run->closed, &list->attention[place], place);
    if (whole) keep_all(k, run->closed, run->closed->group.own[place] != 0);
    k->policy = policy;
    unit_at(ret, 1, k->queries, &flags);
    k->scores_leave = flags.group.scores_leave[0] != 0;
    k->vectors_leave[0] = flags.group.key_vectors_leave[0] != 0;
    k->vectors_leave[1] = flags.group.value_vectors_leave[0] != 0;
    ret->sampling = *run->sampling;
    const double heads = veda_group_shares(run, k) ? k->shared : 1;
    ret->sampling.rows_simulated =
        ret->sampling.rows_simulated > 0
            ? dse_max_i64(1, (int64_t)((double)ret->sampling.rows_simulated / dse_max(1, heads / wide_group)))
            : 0;
    plan_lengths(ret);
}

/* ---- the closed form of a unit ------------------------------------------------------------------------------------------- */

/* E26: of one unit at one length, what the samples are compared with. */
static void closed_unit(const struct veda_plan *plan, double length, struct veda_tally *ret)
{
    const struct veda_kind *k = &plan->kind;
    struct veda_unit_reads r;
    unit_at(plan, length, 1, &r);
    const double units = k->layers * veda_units(plan->run, k) / k->queries;
    memset(ret, 0, sizeof *ret);
    ret->at[VEDA_SCORES_S] = r.group.scores_s[0] / units;
    ret->at[VEDA_SOFTMAX_S] = r.group.softmax_s[0] / units;
    ret->at[VEDA_VALUES_S] = r.group.values_s[0] / units;
    ret->at[VEDA_SCORES_WORK_S] = r.group.scores_gemv_s[0] / units;
    ret->at[VEDA_VALUES_WORK_S] = r.group.values_gemv_s[0] / units;
}

static void add_tally(struct veda_tally *to, const struct veda_tally *what, double weight)
{
    for (int i = 0; i < VEDA_COUNTS; i++) to->at[i] += weight * what->at[i];
}

/* E26: the mean over all lengths of the span. */
static void closed_mean(const struct veda_plan *plan, struct veda_tally *ret)
{
    const struct veda_kind *k = &plan->kind;
    struct veda_tally unit;
    const double each = 1 / (k->to - k->from + k->flat);
    memset(ret, 0, sizeof *ret);
    const int64_t lengths = (int64_t)(k->to - k->from);
    for (int64_t i = 1; i <= lengths; i++) {
        closed_unit(plan, k->from + (double)i, &unit);
        add_tally(ret, &unit, each);
    }
    if (k->flat <= 0) return;
    closed_unit(plan, k->length, &unit);
    add_tally(ret, &unit, each * k->flat);
}

/* ---- what is simulated --------------------------------------------------------------------------------------------------- */

/* E25. */
struct veda_heads *veda_plan_begin(const struct veda_plan *plan, const struct veda_run *run, const struct dse_length *length,
                                   int64_t layer, double times, uint32_t actor)
{
    const double all = veda_units(run, &plan->kind);
    struct veda_heads_spec spec = {.kind = &plan->kind, .length = length->positions, .layer = layer, .actor = actor};
    const int64_t least = dse_lengths_heads(&plan->lengths, &plan->sampling, spec.length, 1, UNITS_MIN, all);
    spec.simulated = (int64_t)dse_min(times * (double)least, all);
    return veda_heads_new(run, &spec);
}

/* E26: what is seen, as a difference from the closed form. */
void veda_plan_end(struct veda_plan *plan, const struct dse_length *length, const struct veda_heads_result *r, double layers)
{
    struct veda_tally closed;
    const double share = length->weight / layers;
    closed_unit(plan, (double)length->positions, &closed);
    add_tally(&plan->sum, &r->unit, share);
    add_tally(&plan->sum, &closed, -share);
    add_tally(&plan->ends, &r->ends, share);
}

double veda_plan_layer(const struct veda_plan *plan, const struct veda_heads *heads, double *ret_error_s)
{
    const struct veda_heads_result r = veda_heads_result(heads);
    const double rest = veda_units(plan->run, &plan->kind) - (double)veda_heads_units(heads);
    double unit_s = 0;
    for (int i = VEDA_SCORES_S; i <= VEDA_DRAIN_S; i++) unit_s += r.unit.at[i];
    *ret_error_s = rest * r.rest_error_s;
    return r.time_s + rest * unit_s;
}

double veda_dram_s(const struct veda_run *run, double time_s, double data_s, double bytes)
{
    static const double fill = 0.01; /* of the time: the first bytes are always waited for */
    return data_s > fill * time_s ? time_s : bytes / dse_dram_peak(run->dram);
}

/* E25: a layer is its units and what happens at its ends. What is written at the end of a layer is on the bus when the next begins:
 * no product ends before its bytes can have passed, nor before the array has made it. */
static void tally_all(const struct veda_plan *plan, struct veda_tally *ret)
{
    const struct veda_kind *k = &plan->kind;
    struct veda_tally mean;
    const double units = k->layers * veda_units(plan->run, k), peak = dse_dram_peak(plan->run->dram);
    closed_mean(plan, &mean);
    add_tally(&mean, &plan->sum, 1);
    /* E26: a wait that falls with the length may come out below 0 on the straight line to lengths that are not simulated. */
    for (int i = 0; i < VEDA_COUNTS; i++) ret->at[i] = dse_max(0, units * mean.at[i] + k->layers * plan->ends.at[i]);
    const double scores_s = dse_max(ret->at[VEDA_SCORES_WORK_S], ret->at[VEDA_SCORES_BYTES] / peak),
                 values_s = dse_max(ret->at[VEDA_VALUES_WORK_S], (ret->at[VEDA_VALUES_BYTES] + ret->at[VEDA_VOTE_BYTES]) / peak);
    ret->at[VEDA_SCORES_S] = dse_max(ret->at[VEDA_SCORES_S], scores_s);
    ret->at[VEDA_VALUES_S] = dse_max(ret->at[VEDA_VALUES_S], values_s);
}

double veda_plan_seconds(const struct veda_plan *plan)
{
    struct veda_tally t;
    tally_all(plan, &t);
    return t.at[VEDA_SCORES_S] + t.at[VEDA_VALUES_S] + t.at[VEDA_SOFTMAX_S] + t.at[VEDA_DRAIN_S];
}

void veda_plan_seen(const struct veda_plan *plan, struct veda_seen_gives *ret)
{
    const struct veda_kind *k = &plan->kind;
    const double vote_share = k->policy->per_head ? k->share : 1 / plan->run->closed->devices;
    const int i = plan->place;
    struct veda_tally t;
    tally_all(plan, &t);
    const double *at = t.at;
    ret->group.scores_s[i] = at[VEDA_SCORES_S];
    ret->group.values_s[i] = at[VEDA_VALUES_S];
    ret->group.scores_gemv_s[i] = at[VEDA_SCORES_WORK_S];
    ret->group.values_gemv_s[i] = at[VEDA_VALUES_WORK_S];
    ret->group.scores_dram_s[i] = veda_dram_s(plan->run, at[VEDA_SCORES_S], at[VEDA_SCORES_DATA_S], at[VEDA_SCORES_BYTES]);
    ret->group.values_dram_s[i] = veda_dram_s(plan->run, at[VEDA_VALUES_S], at[VEDA_VALUES_DATA_S], at[VEDA_VALUES_BYTES]);
    ret->group.softmax_s[i] = at[VEDA_SOFTMAX_S];
    ret->group.drain_s[i] = at[VEDA_DRAIN_S];
    ret->group.exposed_s[i] = at[VEDA_SOFTMAX_S] + at[VEDA_SFU_WAIT_S];
    ret->group.vote_exposed_s[i] = at[VEDA_VOTE_WAIT_S];
    ret->group.kv_bytes[i] = at[VEDA_KV_BYTES] / k->share;
    ret->group.vote_bytes[i] = at[VEDA_VOTE_BYTES] / vote_share;
    ret->group.scores_bytes[i] = at[VEDA_SCORES_BYTES] / k->share;
    ret->group.values_bytes[i] = at[VEDA_VALUES_BYTES] / k->share + ret->group.vote_bytes[i];
}
