/* The bound of LAD: the box, and the metrics of it. The step is in lad_bound_step.c and lad_bound_attention.c, energy in
 * lad_energy.c, the chip in lad_chip.c. */
#include "lad_bound.h"
#include "lad_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- the box ------------------------------------------------------------------------------------------------------------- */

/* The contexts that check accepts. */
static bool narrow_context(struct lad_params *lo, struct lad_params *hi, bool locality_aware)
{
    double from = 1, to = (double)lo->workload.llm->max_context;
    if (locality_aware && lo->draws == LAD_REPLAY) {
        size_t n;
        const double *contexts = dse_recording_contexts(lo->recording, &n);
        from = contexts[0];
        to = dse_min(to, contexts[n - 1]);
    } else if (locality_aware) {
        double last;
        if (lo->draws != LAD_SURFACE)
            dse_profile_range(lo->profile, &from, &last);
        else if (!lad_surface_range(lo, &from, &last))
            return false;
        to = dse_min(to, last);
    }
    lo->workload.context = dse_max_i64(lo->workload.context, (int64_t)ceil(from));
    hi->workload.context = dse_min_i64(hi->workload.context, (int64_t)floor(to));
    return lo->workload.context <= hi->workload.context;
}

/* Both ends of a point's quantities. False: the context has no statistics. Those of more than one context are of all between. */
static bool init_ends(struct lad_box *b)
{
    const int32_t gather = b->lo.gather;
    b->lo.gather = b->hi.gather = LAD_GATHER_STREAM; /* rows: gather_bound */
    const char *(*const init)(struct lad_point * ret, const struct lad_params *p) =
        b->lo.draws == LAD_SURFACE ? lad_point_begin : lad_point_init;
    const bool ok = !init(&b->at_lo, &b->lo) && !init(&b->at_hi, &b->hi);
    b->lo.gather = b->hi.gather = gather;
    if (!ok) return false;
    b->locality_aware = b->at_lo.locality_aware;
    b->prefill = b->lo.workload.phase == DSE_PREFILL;
    b->n = dse_iv(b->at_lo.n, b->at_hi.n);
    b->at_lo.newest = (double)b->hi.recent; /* what a group reads falls with them */
    b->at_hi.newest = (double)b->lo.recent;
    const bool surface = b->locality_aware && b->lo.draws == LAD_SURFACE;
    if (surface) {
        b->at_lo.active_cv = b->lo.active_cv;
        b->at_hi.active_cv = b->hi.active_cv;
    }
    b->active_cv = dse_iv(b->at_lo.active_cv, b->at_hi.active_cv);
    if (!b->locality_aware || (dse_iv_is_point(b->n) && !surface)) return true;
    struct dse_locality_bound at;
    if (surface) {
        if (!lad_surface_bound(&b->lo, &b->hi, b->n, &at)) return false;
    } else if (b->lo.draws == LAD_REPLAY) {
        dse_recording_bound(b->lo.recording, b->n, &at, &b->active_cv);
    } else {
        dse_profile_bound(b->lo.profile, b->n, &at);
    }
    b->at_lo.at = (struct dse_locality){at.centers.lo, at.large.lo, at.active.lo, at.updates.lo, at.hit_ratio.lo};
    b->at_hi.at = (struct dse_locality){at.centers.hi, at.large.hi, at.active.hi, at.updates.hi, at.hit_ratio.hi};
    lad_adjust(&b->at_lo, &b->at_lo.at); /* grows with all it takes */
    lad_adjust(&b->at_hi, &b->at_hi.at);
    return true;
}

/* Sequences that room allows at most, of which each takes `a_sequence` and none `empty`. */
static double most_sequences(double room, double empty, double a_sequence)
{
    const double rounding = 1 + 1e-9;
    return a_sequence > 0 ? floor(dse_max(0, room - empty) / a_sequence * rounding) : (double)INFINITY;
}

/* E17, E18: batches that fit, and SRAM that holds the pipeline's data. The working set grows with all it is made of. */
static bool narrow_room(struct lad_box *b)
{
    const bool fixed = b->lo.batch_policy == LAD_BATCH_FIXED;
    const double least = fixed ? (double)b->lo.workload.batch : 1, room = b->hi.dram.capacity_gib * DSE_GIB;
    double most = (double)b->hi.workload.batch;
    if (lad_dram_footprint(&b->at_lo, least) > room) return false;
    if (fixed) most = dse_min(most, most_sequences(room, b->at_lo.weights_bytes, b->at_lo.sequence_bytes));
    if (!b->prefill) {
        const double empty = lad_sram_resident(&b->at_lo, 0), needed = lad_sram_resident(&b->at_lo, least);
        if (needed > b->at_hi.sram_bytes) return false;
        if (fixed) most = dse_min(most, most_sequences(b->at_hi.sram_bytes, empty, lad_sram_resident(&b->at_lo, 1) - empty));
        b->lo.sram_mib = dse_max(b->lo.sram_mib, needed / DSE_MIB);
        b->at_lo.sram_bytes = b->lo.sram_mib * DSE_MIB;
    }
    b->hi.workload.batch = (int64_t)dse_max(most, least);
    return most >= least;
}

/* Sequences that fit at least. Where nothing that they depend on varies, it is the model's own quotient, which may be whole. */
static double fewest_sequences(struct dse_interval room, struct dse_interval empty, struct dse_interval a_sequence)
{
    const bool varies = !dse_iv_is_point(room) || !dse_iv_is_point(empty) || !dse_iv_is_point(a_sequence);
    return floor((room.lo - empty.hi) / a_sequence.hi * (varies ? 1 - 1e-9 : 1));
}

/* E18: the sequences that fit, for policies that ask. */
static struct dse_interval most_bound(const struct lad_box *b)
{
    if (b->lo.batch_policy == LAD_BATCH_FIXED) return dse_iv_i64(b->lo.workload.batch, b->hi.workload.batch);
    const struct dse_interval capacity = dse_iv(b->lo.dram.capacity_gib * DSE_GIB, b->hi.dram.capacity_gib * DSE_GIB);
    double least = fewest_sequences(capacity, dse_iv(b->at_lo.weights_bytes, b->at_hi.weights_bytes),
                                    dse_iv(b->at_lo.sequence_bytes, b->at_hi.sequence_bytes));
    double most = most_sequences(b->hi.dram.capacity_gib * DSE_GIB, b->at_lo.weights_bytes, b->at_lo.sequence_bytes);
    if (!b->prefill) {
        const double empty = lad_sram_resident(&b->at_lo, 0), full = lad_sram_resident(&b->at_hi, 0);
        const double small = lad_sram_resident(&b->at_lo, 1) - empty, large = lad_sram_resident(&b->at_hi, 1) - full;
        const struct dse_interval sram = dse_iv(b->at_lo.sram_bytes, b->at_hi.sram_bytes);
        least = dse_min(least, fewest_sequences(sram, dse_iv(empty, full), dse_iv(small, large)));
        most = dse_min(most, most_sequences(b->at_hi.sram_bytes, empty, small));
    }
    return dse_iv(dse_min((double)b->lo.workload.batch, dse_max(1, least)),
                  dse_min((double)b->hi.workload.batch, dse_max(1, most)));
}

/* What a policy makes of them. A multiple of the tiles grows with them, and is less than one round, and less than half, below. */
static struct dse_interval policy_bound(const struct lad_box *b)
{
    const double tiles = b->tiles.hi;
    if (b->lo.batch_policy == LAD_BATCH_BEST_THROUGHPUT) return dse_iv(1, b->most.hi);
    if (b->lo.batch_policy != LAD_BATCH_TILE_MULTIPLE) return b->most;
    if (!dse_iv_is_point(b->tiles)) return dse_iv(dse_max(1, dse_max(b->most.lo - tiles + 1, ceil(b->most.lo / 2))), b->most.hi);
    return dse_iv(b->most.lo < tiles ? b->most.lo : floor(b->most.lo / tiles) * tiles,
                  b->most.hi < tiles ? b->most.hi : floor(b->most.hi / tiles) * tiles);
}

static void set_batch(struct lad_box *b, struct dse_interval batch)
{
    const struct dse_interval one = dse_iv_of(1);
    b->batch = batch;
    b->each = dse_iv_inv(b->batch);
    b->rounds = dse_iv_ceil_div(b->batch, b->tiles);
    /* ceil(b / t) / b is 1 / t at least, and (b + t - 1) / (b t) at most. */
    const struct dse_interval a_tile = dse_iv_inv(b->tiles);
    const struct dse_interval most = dse_iv_add(a_tile, dse_iv_mul(dse_iv_sub(one, a_tile), b->each));
    b->rounds_each = dse_iv_mul(b->rounds, b->each);
    if (!(dse_iv_is_point(b->batch) && dse_iv_is_point(b->tiles)))
        b->rounds_each = dse_iv(dse_max(b->rounds_each.lo, a_tile.lo), dse_min(b->rounds_each.hi, most.hi));
    b->resident = dse_iv(lad_sram_resident(&b->at_lo, b->batch.lo), lad_sram_resident(&b->at_hi, b->batch.hi));
}

/* E13: rows that are gathered, against streams. */
static void gather_bound(struct lad_box *b)
{
    const struct dse_interval one = dse_iv_of(1);
    b->gather = b->gather_slower = one;
    if (!b->locality_aware || b->lo.gather != LAD_GATHER_ROWS) return;
    const struct dse_interval efficiency = dse_dram_efficiency_bound(&b->lo.dram, &b->hi.dram, b->row);
    const struct dse_interval stream = dse_iv(b->lo.dram.dram_efficiency, b->hi.dram.dram_efficiency);
    b->gather = dse_dram_moved_bound(&b->lo.dram, &b->hi.dram, one, b->row);
    b->gather_slower = dse_iv_div(dse_iv_div(stream, efficiency), b->gather);
}

/* E40: keys grow with positions, centers and large modes. The share of an active position grows with n and falls with the newest.
 * Over |J| it is a concave count over a line, which is least at an end; and most with the fewest behind the newest and these the
 * smallest part. */
static void group_bound(struct lad_box *b)
{
    enum { ROUNDINGS = 256 };
    const int64_t group = b->at_lo.group;
    b->keys_read = dse_iv_add(b->at.centers, b->at.large);
    b->active_share = dse_iv_of(1);
    if (group == 1) return;
    const double few = dse_min(b->n.lo, b->at.active.lo), many = dse_min(b->n.lo, b->at.active.hi);
    const double least =
        dse_min(lad_union_share(b->n.lo, few, b->at_lo.newest, group), lad_union_share(b->n.lo, many, b->at_lo.newest, group));
    const double newest = dse_min(b->at_hi.newest, b->at.active.lo), behind = b->at.active.lo - newest;
    const double apart = lad_union_share(b->n.hi - newest, behind, 0, group);
    const double alike = newest > 0 ? newest / b->at.active.hi : 0, most = apart - alike * (apart - 1 / (double)group);
    b->keys_read = dse_widened(lad_keys_read(&b->at_lo), lad_keys_read(&b->at_hi), ROUNDINGS);
    b->active_share = dse_widened(least, most, ROUNDINGS);
}

/* E38. */
static bool set_cache(struct lad_box *b)
{
    const struct dse_interval seen = dse_iv_i64(b->lo.workload.context, b->hi.workload.context);
    b->asked_lo = b->lo.cache;
    b->asked_hi = b->hi.cache;
    if (b->lo.decoding == LAD_LOCALITY_AWARE && !dse_eviction_at(b->lo.cache.eviction)->keeps_all) return false;
    return dse_cache_ends(&b->lo.cache, &b->hi.cache, &b->lo.workload, seen, &b->target);
}

bool lad_box_init(struct lad_box *ret, const struct lad_params *lo, const struct lad_params *hi)
{
    struct lad_box *b = ret;
    b->lo = *lo;
    b->hi = *hi;
    const bool aware = lo->decoding == LAD_LOCALITY_AWARE && lo->workload.phase == DSE_DECODE;
    if (!narrow_context(&b->lo, &b->hi, aware) || !set_cache(b) || !init_ends(b) || !narrow_room(b)) return false;
    b->d = b->at_lo.d;
    b->head_samples = b->at_lo.head_samples;
    b->most = most_bound(b);
    b->tiles = dse_iv_i64(lo->tiles, hi->tiles);
    set_batch(b, policy_bound(b));
    b->eas = dse_iv_i64(lo->vpu_eas, hi->vpu_eas);
    b->md = dse_iv_i64(lo->vpu_md, hi->vpu_md);
    b->ac = dse_iv_i64(lo->vpu_ac, hi->vpu_ac);
    b->vpus = dse_iv_i64(lo->vpu_eas + lo->vpu_md + lo->vpu_ac, hi->vpu_eas + hi->vpu_md + hi->vpu_ac);
    b->width = dse_iv_i64(lo->vpu_width, hi->vpu_width);
    b->apid = dse_iv_i64(lo->apid_width, hi->apid_width);
    b->clock_hz = dse_iv(b->at_lo.clock_hz, b->at_hi.clock_hz);
    b->pass_s = dse_iv(b->at_hi.pass_s, b->at_lo.pass_s);
    b->stream_s = dse_iv(b->at_hi.stream_s, b->at_lo.stream_s);
    b->stream_rate = dse_dram_stream_rate_bound(&lo->dram, &hi->dram);
    b->sram_bytes = dse_iv(b->at_lo.sram_bytes, b->at_hi.sram_bytes);
    b->row = dse_iv(b->at_lo.row_bytes, b->at_hi.row_bytes);
    b->cache = dse_iv(b->at_lo.cache_bytes, b->at_hi.cache_bytes);
    b->position = dse_iv(b->at_lo.position_bytes, b->at_hi.position_bytes);
    b->at = (struct dse_locality_bound){
        dse_iv(b->at_lo.at.centers, b->at_hi.at.centers), dse_iv(b->at_lo.at.large, b->at_hi.at.large),
        dse_iv(b->at_lo.at.active, b->at_hi.at.active), dse_iv(b->at_lo.at.updates, b->at_hi.at.updates),
        dse_iv(b->at_lo.at.hit_ratio, b->at_hi.at.hit_ratio)};
    b->sequence_bytes = dse_iv(b->at_lo.sequence_bytes, b->at_hi.sequence_bytes);
    gather_bound(b);
    group_bound(b);
    return true;
}

/* ---- metrics ------------------------------------------------------------------------------------------------------------- */

/* Where the metrics of a box go. */
struct sink {
    struct lad_metrics *floor, *ceiling;
    struct dse_interval a_token; /* of a sequence's quantities: 1, or 1 / n of a prefill */
};

#define SET(metric, value) dse_bound_set(&to->floor->metric, &to->ceiling->metric, value)

static struct dse_interval token(const struct sink *to, struct dse_interval of_sequence, double unit)
{
    return dse_iv_scale(dse_iv_mul(of_sequence, to->a_token), unit);
}

static void set_common(const struct sink *to, const struct lad_box *b, const struct lad_chip_bound *chip,
                       const struct lad_step_bound *s, const struct lad_energy_bound *e)
{
    const struct dse_interval lanes = dse_iv_mul(dse_iv_mul(b->tiles, b->vpus), b->width);
    const double node_nm = b->lo.technology->node_nm;
    const struct dse_bill cheap = dse_bill_of_chip(&b->lo.economics, 1, chip->die.area_mm2.lo, node_nm, &b->lo.dram),
                          dear = dse_bill_of_chip(&b->hi.economics, 1, chip->die.area_mm2.hi, node_nm, &b->hi.dram);
    struct dse_totals_bound t = dse_totals_unknown();
    t.tokens = b->prefill ? dse_iv_mul(b->batch, b->n) : b->batch;
    t.seconds = s->step_s;
    t.token_s = dse_iv_mul(s->time_s, to->a_token);
    t.attention_s = s->attention.step_s;
    t.token_joules = dse_iv_mul(e->step.all, to->a_token);
    t.token_bytes = dse_iv_mul(s->bytes, to->a_token);
    t.token_ops = dse_iv_mul(s->vpu_ops, to->a_token);
    t.peak_ops = dse_iv_scale(dse_iv_mul(lanes, b->clock_hz), DSE_OPS_PER_MAC);
    t.peak_bytes = dse_dram_peak_bound(&b->lo.dram, &b->hi.dram);
    t.area_mm2 = chip->die.area_mm2;
    t.bill_lo = &cheap;
    t.bill_hi = &dear;
    dse_totals_narrow(&t);
    dse_common_bound(&t, &to->floor->common, &to->ceiling->common);
}

static void set_attention(const struct sink *to, const struct lad_box *b, const struct lad_step_bound *s)
{
    const struct lad_attention_bound *a = &s->attention;
    const struct dse_interval none = dse_iv_of(0), rest = dse_iv_positive(dse_iv_sub(s->time_s, a->time_s));
    SET(eas_cycles, a->eas);
    SET(apid_cycles, a->apid);
    SET(md_cycles, a->md);
    SET(ac_cycles, a->ac);
    SET(compute_cycles, a->compute_cycles);
    SET(memory_cycles, a->memory_cycles);
    SET(slot_cycles, a->slot_cycles);
    SET(centers, b->locality_aware ? dse_iv_add(b->at.centers, b->at.large) : none);
    SET(active, a->active);
    SET(prefetched, a->prefetched);
    SET(hit_ratio, a->active.hi > 0 ? dse_iv_clamp(dse_iv_div(a->hits, a->active), 0, 1) : none);
    SET(centers_mib, token(to, a->centers_bytes, 1 / DSE_MIB));
    SET(active_mib, token(to, a->active_bytes, 1 / DSE_MIB));
    SET(others_mib, token(to, a->others_bytes, 1 / DSE_MIB));
    SET(prefetch_mib, token(to, a->prefetch_bytes, 1 / DSE_MIB));
    /* x / (x + y) grows with x and falls with y. */
    const double least = a->time_s.lo / (a->time_s.lo + rest.hi), most = a->time_s.hi / (a->time_s.hi + rest.lo);
    SET(attention_share, a->time_s.hi > 0 ? dse_widened(dse_max(0, least), most, 8) : none);
}

/* Of the method "lad": a number where nothing varies that it was scored under. */
static void lad_score_bound(const struct lad_box *b, struct dse_interval *ret_score, struct dse_interval *ret_loss)
{
    const struct lad_params *lo = &b->lo, *hi = &b->hi;
    struct dse_score score;
    const bool same = lo->intervals == hi->intervals && lo->recent == hi->recent && dse_kv_same(&lo->workload, &hi->workload) &&
                      lo->workload.kv_scale_bits == hi->workload.kv_scale_bits;
    *ret_score = *ret_loss = dse_unbounded;
    if (!same || lad_score(lo, &score)) return;
    *ret_score = dse_iv_of(score.task_score);
    if (!isnan(score.task_loss)) *ret_loss = dse_iv_of(score.task_loss);
}

/* E38: of a prompt, counts and bounds are of all its tokens. */
static void set_cache_metrics(const struct sink *to, const struct lad_box *b)
{
    const struct dse_cache_steps lo = dse_cache_steps_of(&b->asked_lo, &b->lo.workload, NULL),
                                 hi = dse_cache_steps_of(&b->asked_hi, &b->hi.workload, NULL);
    const struct dse_cache_step *least = &b->at_lo.cache, *most = &b->at_hi.cache;
    const struct dse_interval moved = dse_iv(dse_cache_moved(least), dse_cache_moved(most));
    struct dse_kept_bound kept;
    dse_cache_quality_bound(&lo, &hi, b->target, &kept);
    SET(cached_positions, b->prefill ? dse_iv((b->n.lo + 1) / 2, (b->n.hi + 1) / 2) : dse_iv(least->read, most->read));
    SET(technique_mib, token(to, dse_iv_scale(moved, (double)b->at_lo.llm->layers), 1 / DSE_MIB));
    SET(retained_mass, kept.mass);
    SET(attention_error_sd, b->locality_aware ? dse_unbounded : kept.error_sd);
    if (b->lo.decoding != LAD_LOCALITY_AWARE) SET(attention_error, kept.error);
    struct dse_interval score, loss;
    dse_cache_score_bound(&lo, &hi, &score, &loss);
    if (b->locality_aware) lad_score_bound(b, &score, &loss);
    SET(task.task_score, score);
    SET(task.task_loss, loss);
}

/* E24: known where nothing that it was measured with varies. */
static void set_quality(const struct sink *to, const struct lad_box *b)
{
    const struct lad_params *lo = &b->lo, *hi = &b->hi;
    const bool same = lo->workload.context == hi->workload.context && lo->intervals == hi->intervals && lo->recent == hi->recent &&
                      dse_kv_same(&lo->workload, &hi->workload) && lo->cache_bits == hi->cache_bits &&
                      lo->center_scale == hi->center_scale;
    const struct dse_locality_error unknown = {(double)NAN, (double)NAN};
    const struct dse_locality_error e = same || !b->locality_aware ? lad_quality(lo) : unknown;
    to->floor->attention_error = to->ceiling->attention_error = e.attention_error;
    to->floor->false_negative = to->ceiling->false_negative = e.false_negative;
}

static void set_energy(const struct sink *to, const struct lad_box *b, const struct lad_energy_bound *e)
{
    const struct lad_joules_bound *j = &e->step;
    const bool apart = b->lo.power == DSE_POWER_ACTIVITY;
    const struct dse_interval none = dse_unbounded;
    SET(attention_energy_mj, token(to, e->attention, DSE_MJ_PER_J));
    SET(energy_dram_mj, token(to, j->dram, DSE_MJ_PER_J));
    SET(energy_sram_mj, token(to, j->sram, DSE_MJ_PER_J));
    SET(energy_modules_mj, token(to, j->modules, DSE_MJ_PER_J));
    SET(energy_clock_mj, apart ? token(to, j->clock, DSE_MJ_PER_J) : none);
    SET(energy_leakage_mj, apart ? token(to, j->leakage, DSE_MJ_PER_J) : none);
    SET(energy_interface_mj, apart ? token(to, j->interface, DSE_MJ_PER_J) : none);
    SET(tokens_per_j, dse_iv_inv(token(to, j->all, 1)));
    SET(chip_power_w, e->chip_w);
}

static void set_chip(const struct sink *to, const struct lad_box *b, const struct lad_chip_bound *chip)
{
    SET(supply_v, b->lo.power == DSE_POWER_ACTIVITY ? chip->supply.volts : dse_unbounded);
    SET(tile_area_mm2, chip->tile_mm2);
    SET(sram_area_share, dse_iv_div(chip->sram_mm2, chip->tile_mm2));
    SET(core_mm2, chip->die.core_mm2);
    SET(phy_mm2, chip->die.phy_mm2);
    SET(noc_mm2, chip->die.noc_mm2);
    SET(links_mm2, chip->links_mm2);
}

/* Slots that tiles have for a sequence: one when all are full. */
static struct dse_interval idle_bound(const struct lad_box *b)
{
    const struct dse_interval slots = dse_iv_mul(b->tiles, b->rounds_each);
    if (dse_iv_is_point(b->batch) && dse_iv_is_point(b->tiles)) return dse_iv_of(1 - b->batch.lo / (b->tiles.lo * b->rounds.lo));
    return dse_iv_clamp(dse_iv_sub(dse_iv_of(1), dse_iv_inv(dse_iv(dse_max(1, slots.lo), slots.hi))), 0, 1);
}

static void set_rest(const struct sink *to, const struct lad_box *b, const struct lad_step_bound *s)
{
    const double kv_lo = dse_kv_bytes_per_token(b->at_lo.llm, dse_kv_bits(&b->lo.workload)),
                 kv_hi = dse_kv_bytes_per_token(b->at_lo.llm, dse_kv_bits(&b->hi.workload));
    dse_bound_set_i64(&to->floor->batch_used, &to->ceiling->batch_used, b->batch);
    SET(idle_slots, idle_bound(b));
    SET(communication_us, dse_iv_of(0));
    SET(linear_us, dse_iv_scale(s->linear_s, DSE_US_PER_S));
    SET(sram_resident_mib, dse_iv_scale(b->resident, 1 / DSE_MIB));
    SET(dram_footprint_gib,
        dse_iv(lad_dram_footprint(&b->at_lo, b->batch.lo) / DSE_GIB, lad_dram_footprint(&b->at_hi, b->batch.hi) / DSE_GIB));
    SET(weights_mib, token(to, dse_iv_mul(s->weight_bytes, b->each), 1 / DSE_MIB));
    SET(full_cache_mib, token(to, dse_iv_mul(b->n, dse_iv(kv_lo, kv_hi)), 1 / DSE_MIB));
}
#undef SET

/* A box of one point. */
static bool bound_point(const struct lad_params *p, void *floor, void *ceiling)
{
    if (dse_model_lad.check(p)) return false;
    dse_model_lad.estimate(p, floor, NULL);
    memcpy(ceiling, floor, sizeof(struct lad_metrics));
    return true;
}

static void bound_batch(const struct lad_box *box, const struct lad_chip_bound *chip, struct lad_metrics *floor,
                        struct lad_metrics *ceiling)
{
    struct lad_step_bound step;
    struct lad_energy_bound energy;
    lad_step_bound(box, &step);
    lad_energy_bound(box, chip, &step, &energy);
    const struct sink to = {floor, ceiling, box->prefill ? dse_iv_inv(box->n) : dse_iv_of(1)};
    set_common(&to, box, chip, &step, &energy);
    set_attention(&to, box, &step);
    set_quality(&to, box);
    set_cache_metrics(&to, box);
    set_energy(&to, box, &energy);
    set_chip(&to, box, chip);
    set_rest(&to, box, &step);
}

/* Widen the bound of the metrics of a table by another one. */
static void hull(const struct dse_metric *rows, void *floor, void *ceiling, const void *other_floor, const void *other_ceiling)
{
    for (const struct dse_metric *r = rows; r->type != DSE_TYPE_END; r++) {
        char *lo = (char *)floor + r->offset, *hi = (char *)ceiling + r->offset;
        const char *least = (const char *)other_floor + r->offset, *most = (const char *)other_ceiling + r->offset;
        if (r->type == DSE_TYPE_EMBED) {
            hull(r->embed, lo, hi, least, most);
        } else if (r->type == DSE_TYPE_F64) {
            *(double *)lo = fmin(*(double *)lo, *(const double *)least);
            *(double *)hi = fmax(*(double *)hi, *(const double *)most);
        } else if (r->type == DSE_TYPE_I64) {
            *(int64_t *)lo = dse_min_i64(*(int64_t *)lo, *(const int64_t *)least);
            *(int64_t *)hi = dse_max_i64(*(int64_t *)hi, *(const int64_t *)most);
        }
    }
}

/* The batch of highest throughput, where it is one of a few for all points of the box: any of those that none is faster than. */
static void bound_best(struct lad_box *box, const struct lad_chip_bound *chip, struct lad_metrics *floor,
                       struct lad_metrics *ceiling)
{
    double batch[LAD_BATCHES], best = 0;
    struct lad_metrics lo[LAD_BATCHES] = {0}, hi[LAD_BATCHES] = {0};
    const int n = lad_batches(box->tiles.lo, box->most.lo, batch);
    bool is_first = true;
    for (int i = 0; i < n; i++) {
        set_batch(box, dse_iv_of(batch[i]));
        bound_batch(box, chip, &lo[i], &hi[i]);
        best = dse_max(best, lo[i].common.tokens_per_s);
    }
    for (int i = 0; i < n; i++) {
        if (hi[i].common.tokens_per_s < best) continue;
        if (is_first) {
            *floor = lo[i];
            *ceiling = hi[i];
        }
        hull(dse_model_lad.metrics, floor, ceiling, &lo[i], &hi[i]);
        is_first = false;
    }
    floor->common.tokens_per_s = best;
}

/* Of simple points. */
static bool bound_simple(const struct lad_params *lo, const struct lad_params *hi, void *floor, void *ceiling)
{
    struct lad_box box;
    struct lad_chip_bound chip;
    if (!lad_box_init(&box, lo, hi) || !lad_chip_bound(&box.lo, &box.hi, &chip)) return false;
    const bool few = box.lo.batch_policy == LAD_BATCH_BEST_THROUGHPUT && dse_iv_is_point(box.most) && dse_iv_is_point(box.tiles);
    if (few)
        bound_best(&box, &chip, floor, ceiling);
    else
        bound_batch(&box, &chip, floor, ceiling);
    return true;
}

static bool bound_part(const void *lo, const void *hi, const struct dse_workload_part *part, void *floor, void *ceiling)
{
    if (lad_is_simple(&part->lo) && lad_is_simple(&part->hi)) return bound_simple(lo, hi, floor, ceiling);
    return lad_llms_bound(lo, hi, part, floor, ceiling);
}

bool lad_bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    struct lad_params least = *(const struct lad_params *)lo, most = *(const struct lad_params *)hi;
    if (!dse_workload_narrow(&least.workload, &most.workload, LAD_CAN)) return false;
    most.events = least.events; /* the event level's own: no bound asks for them */
    if (dse_bound_same(&least, &most, sizeof least)) return bound_point(&least, floor, ceiling);
    if (lad_is_simple(&least.workload) && lad_is_simple(&most.workload)) return bound_simple(&least, &most, floor, ceiling);
    return dse_bound_parts(&dse_model_lad, offsetof(struct lad_params, workload), &least, &most, bound_part, floor, ceiling);
}
