/* What a step keeps of attention: a retention profile, or a surface, read at the positions that it sees and the share of them that
 * stays, where it was measured under the settings of the cache. */
#include <dse/cache.h>
#include <dse/num.h>

#include <math.h>
#include <string.h>

static bool listed(const struct dse_cache *c)
{
    return c->boundary == DSE_CACHE_AS_LISTED && !dse_eviction_at(c->eviction)->reads_part;
}

static double stays_of(const struct dse_cache_steps *s)
{
    return listed(s->cache) ? s->before : dse_cache_target(s->cache, s->before);
}

bool dse_cache_loses(const struct dse_cache_steps *s)
{
    if (dse_eviction_at(s->cache->eviction)->keeps_all || s->workload->phase == DSE_PREFILL) return false;
    return stays_of(s) < s->before + s->generate;
}

bool dse_cache_rounds(const struct dse_cache_steps *s)
{
    return dse_kv_scaled(s->workload) && s->workload->phase != DSE_PREFILL && !dse_cache_loses(s);
}

/* The settings that a policy may depend on, but for how its prompt ends. */
enum { SETTINGS = 10 };
struct said {
    enum dse_setting setting;
    double value;
};

static void said_of(const struct dse_cache_steps *s, struct said ret[SETTINGS])
{
    const struct dse_cache *c = s->cache;
    const struct said said[SETTINGS] = {{DSE_SET_KV_BITS, (double)s->workload->kv_bits},
                                        {DSE_SET_THRESHOLD_A, c->threshold_a},
                                        {DSE_SET_THRESHOLD_B, c->threshold_b},
                                        {DSE_SET_RESERVED_LENGTH, (double)c->reserved_length},
                                        {DSE_SET_RECENT_SHARE, c->recent_share},
                                        {DSE_SET_SINKS, (double)c->sinks},
                                        {DSE_SET_OBSERVED, (double)c->observed},
                                        {DSE_SET_POOL, (double)c->pool},
                                        {DSE_SET_BETA, c->beta},
                                        {DSE_SET_PAGE, (double)c->page}};
    for (int i = 0; i < SETTINGS; i++) ret[i] = said[i];
}

/* ---- whose heads ---------------------------------------------------------------------------------------------------------- */

static bool counts_arithmetic(const struct dse_cache_steps *s)
{
    return s->arithmetic && s->workload->phase != DSE_PREFILL;
}

static bool surface_on(const struct dse_cache_steps *s)
{
    return dse_quality_on(s->cache->surface, s->workload->llm);
}

/* What says what leaving positions, or few bits, lose. */
static bool cache_on(const struct dse_cache_steps *s)
{
    const bool by_profile = dse_cache_loses(s) && s->cache->quality_from == DSE_FROM_RETENTION;
    return by_profile ? dse_measured_on(dse_retention_measured(s->cache->retention), s->workload->llm) : surface_on(s);
}

bool dse_cache_measured_on(const struct dse_cache_steps *s)
{
    const bool of_cache = dse_cache_loses(s) || dse_cache_rounds(s);
    return (!of_cache || cache_on(s)) && (!counts_arithmetic(s) || surface_on(s));
}

/* Numbers of the very LLM are its own; those of another stand for it where its attention is of the same kind. */
static const char *not_carried(bool own, const struct dse_workload *w)
{
    return own ? NULL : dse_llm_unlike_measured(w->llm);
}

/* The same for all points of a box, whichever of the two it would be. */
static bool may_carry(const struct dse_cache_steps *s)
{
    const bool surface = s->cache->quality_from == DSE_FROM_SURFACE;
    return !not_carried(surface ? surface_on(s) : dse_measured_on(dse_retention_measured(s->cache->retention), s->workload->llm),
                        s->workload);
}

/* ---- retention profiles -------------------------------------------------------------------------------------------------- */

/* How the prompt ends. A prompt that the cache holds whole is streamed. */
static const char *unlike_boundary(const struct dse_cache_steps *s, const struct dse_measured *m)
{
    if (s->cache->boundary != DSE_CACHE_BULK) return dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_TOKEN);
    const char *why = dse_measured_unlike(m, DSE_SET_BOUNDARY, DSE_BULK);
    if (!why && s->generate > 0)
        return "the prompt's share of a generation falls, and a retention profile holds for one prompt_share (quality_from)";
    return why ? why : dse_measured_unlike(m, DSE_SET_PROMPT_SHARE, 1);
}

static const char *unlike_settings(const struct dse_cache_steps *s, const struct dse_eviction *policy)
{
    const struct dse_measured *m = dse_retention_measured(s->cache->retention);
    struct said said[SETTINGS];
    said_of(s, said);
    const char *why = dse_eviction_depends(policy, DSE_SET_BOUNDARY) ? unlike_boundary(s, m) : NULL;
    for (size_t i = 0; i < SETTINGS && !why; i++)
        if (dse_eviction_depends(policy, (int)said[i].setting)) why = dse_measured_unlike(m, said[i].setting, said[i].value);
    return why;
}

/* S positions stand for every ratio that rounds to them: the smallest ratio measured is known, though S / n may be a little below.
 */
static const char *profile_at(const struct dse_cache *c, double seen, double stays, struct dse_kept *ret)
{
    const char *policy = dse_eviction_at(c->eviction)->name;
    struct dse_retained at;
    if (!dse_retention_at(c->retention, policy, seen, stays / seen, &at) &&
        !dse_retention_at(c->retention, policy, seen, (stays + 0.5) / seen, &at))
        return "the retention profile does not cover this context and ratio (retention)";
    *ret = (struct dse_kept){.mass = at.mass, .error = at.error, .error_sd = stays >= seen ? 0 : (double)NAN};
    return NULL;
}

/* ---- surfaces ------------------------------------------------------------------------------------------------------------ */

enum { FULL_BITS = 16 };

enum { GROUP_BITS = 32 /* a scale and a zero point */, NO_GROUP = -1, OTHERWISE = 64 };

/* How the workload's keys and values are held in few bits: groups whose scale and zero point are fp16. Without scales nobody
 * measured them; of 16 bits it is what a file without a word on it means. */
static void ask_format(const struct dse_cache_steps *s, unsigned *ret_given, double ret_value[DSE_SETTINGS])
{
    const bool kivi = s->cache->kv_format == DSE_KV_KIVI, few = dse_kv_narrowest(s->workload) < FULL_BITS;
    const double scaled = dse_kv_scaled(s->workload) ? GROUP_BITS / s->workload->kv_scale_bits : NO_GROUP;
    *ret_given |= 1u << DSE_SET_KV_BITS | 1u << DSE_SET_SCALES | 1u << DSE_SET_GROUP | 1u << DSE_SET_RESIDUAL;
    ret_value[DSE_SET_KV_BITS] = (double)s->workload->kv_bits;
    ret_value[DSE_SET_SCALES] = kivi ? DSE_SCALES_KIVI : DSE_SCALES_TOKEN;
    ret_value[DSE_SET_GROUP] = few ? scaled : OTHERWISE;
    ret_value[DSE_SET_RESIDUAL] = kivi ? (double)s->cache->kv_residual : 0;
}

/* The settings of a step at `seen` positions: of a prompt that ended before it, that has its share of them; `format`: with those of
 * few bits. */
static void ask(const struct dse_cache_steps *s, double seen, bool format, unsigned *ret_given, double ret_value[DSE_SETTINGS])
{
    const struct dse_eviction *policy = dse_eviction_at(s->cache->eviction);
    const bool bulk = s->cache->boundary == DSE_CACHE_BULK;
    struct said said[SETTINGS];
    said_of(s, said);
    *ret_given = 0;
    for (int i = 0; i < SETTINGS; i++) {
        if (!dse_eviction_depends(policy, (int)said[i].setting)) continue;
        *ret_given |= 1u << said[i].setting;
        ret_value[said[i].setting] = said[i].value;
    }
    if (format && dse_eviction_depends(policy, DSE_SET_KV_BITS)) ask_format(s, ret_given, ret_value);
    if (!dse_eviction_depends(policy, DSE_SET_BOUNDARY)) return;
    *ret_given |= 1u << DSE_SET_BOUNDARY | 1u << DSE_SET_PROMPT_SHARE;
    ret_value[DSE_SET_BOUNDARY] = bulk ? DSE_BULK : DSE_TOKEN;
    ret_value[DSE_SET_PROMPT_SHARE] = bulk ? s->before / seen : 0;
}

static const char *surface_at(const struct dse_cache_steps *s, double seen, double stays, struct dse_kept *ret)
{
    struct dse_quality_query q = {.method = dse_eviction_at(s->cache->eviction)->name, .context = seen};
    struct dse_quality_place place;
    q.ratio = dse_min(1, stays / seen);
    ask(s, seen, dse_kv_narrowest(s->workload) < FULL_BITS, &q.given, q.setting);
    const char *why = dse_quality_find(s->cache->surface, &q, &place);
    if (why) return why;
    *ret = (struct dse_kept){.mass = dse_quality_mean(&place, DSE_Q_RETAINED_MASS),
                             .error = dse_quality_mean(&place, DSE_Q_ATTENTION_ERROR),
                             .error_sd = dse_quality_stat(&place, DSE_Q_ATTENTION_ERROR, DSE_Q_SD),
                             .extended = place.extended};
    return NULL;
}

/* ---- formats ------------------------------------------------------------------------------------------------------------- */

/* All positions, in few bits. */
static const char *format_at(const struct dse_cache_steps *s, double seen, struct dse_kept *ret)
{
    struct dse_quality_query q = {.method = "kv-format", .context = seen, .ratio = 1};
    struct dse_quality_place place;
    ask_format(s, &q.given, q.setting);
    const char *why = dse_quality_find(s->cache->surface, &q, &place);
    if (why) return why;
    *ret = (struct dse_kept){.mass = 1,
                             .error = dse_quality_mean(&place, DSE_Q_ATTENTION_ERROR),
                             .error_sd = dse_quality_stat(&place, DSE_Q_ATTENTION_ERROR, DSE_Q_SD),
                             .extended = place.extended};
    return NULL;
}

/* ---- a point ------------------------------------------------------------------------------------------------------------- */

static const char *at_step(const struct dse_cache_steps *s, double seen, double stays, struct dse_kept *ret)
{
    if (dse_cache_rounds(s)) return format_at(s, seen, ret);
    if (s->cache->quality_from == DSE_FROM_SURFACE) return surface_at(s, seen, stays, ret);
    return profile_at(s->cache, seen, stays, ret);
}

enum { NODES = 3 };
static const double node[NODES] = {0.5 - 0.38729833462074170, 0.5, 0.5 + 0.38729833462074170},
                    weight[NODES] = {5.0 / 18, 8.0 / 18, 5.0 / 18};

/* A policy that selects keeps what is generated, too. */
static double stays_at(const struct dse_cache_steps *s, double stays, double seen)
{
    return dse_eviction_at(s->cache->eviction)->selects ? stays + seen - s->before : stays;
}

static const char *mean_of_generation(const struct dse_cache_steps *s, double stays, struct dse_kept *ret)
{
    struct dse_kept mean = {0};
    for (int i = 0; i < NODES; i++) {
        struct dse_kept at;
        const double seen = s->before + 1 + node[i] * (s->generate - 1);
        const char *why = at_step(s, seen, stays_at(s, stays, seen), &at);
        if (why) return why;
        mean.mass += weight[i] * at.mass;
        mean.error += weight[i] * at.error;
        mean.error_sd += weight[i] * at.error_sd;
        mean.extended = mean.extended || at.extended;
    }
    *ret = mean;
    return NULL;
}

static const char apart[] = "keys and values of different widths were not measured (value_bits, kv_bits)";

/* Where positions leave. */
static const char *quality_of(const struct dse_cache_steps *s, double stays, struct dse_kept *ret)
{
    const bool surface = s->cache->quality_from == DSE_FROM_SURFACE;
    const char *why = not_carried(cache_on(s), s->workload);
    if (!why && dse_kv_apart(s->workload)) why = apart;
    if (!why && !surface) why = unlike_settings(s, dse_eviction_at(s->cache->eviction));
    *ret = (struct dse_kept){.mass = (double)NAN, .error = (double)NAN, .error_sd = (double)NAN};
    if (why) return why;
    return s->generate > 0 ? mean_of_generation(s, stays, ret) : at_step(s, s->before, stays, ret);
}

/* Where all stay, in few bits. What is not known is the error. */
static const char *quality_of_format(const struct dse_cache_steps *s, struct dse_kept *ret)
{
    *ret = (struct dse_kept){.mass = 1, .error = (double)NAN, .error_sd = (double)NAN};
    if (s->cache->quality_from != DSE_FROM_SURFACE)
        return "retention profiles have no error for a quantized cache (quality_from, kv_scale_bits)";
    const char *why = dse_kv_apart(s->workload) ? apart : not_carried(surface_on(s), s->workload);
    if (why) return why;
    why = s->generate > 0 ? mean_of_generation(s, s->before, ret) : at_step(s, s->before, s->before, ret);
    ret->mass = 1; /* to the last digit, of a mean too */
    return why;
}

/* The error of the arithmetic, of a decode step over what is read. */
static const char *add_arithmetic(const struct dse_cache_steps *s, struct dse_kept *ret)
{
    const struct dse_arithmetic *a = s->arithmetic;
    struct dse_quality_query q = {.method = a->method, .context = s->before, .ratio = 1, .given = a->given};
    struct dse_quality_place place;
    memcpy(q.setting, a->setting, sizeof q.setting);
    const char *why = not_carried(surface_on(s), s->workload);
    if (!why) why = dse_quality_find(s->cache->surface, &q, &place);
    if (why) ret->error = ret->error_sd = (double)NAN;
    if (why) return why;
    ret->error += dse_quality_mean(&place, DSE_Q_ATTENTION_ERROR);
    ret->error_sd += dse_quality_stat(&place, DSE_Q_ATTENTION_ERROR, DSE_Q_SD);
    ret->extended = ret->extended || place.extended;
    return NULL;
}

const char *dse_cache_quality(const struct dse_cache_steps *s, struct dse_kept *ret)
{
    *ret = (struct dse_kept){.mass = 1};
    const char *why = dse_cache_loses(s) ? quality_of(s, stays_of(s), ret) : dse_cache_rounds(s) ? quality_of_format(s, ret) : NULL;
    return why || !counts_arithmetic(s) ? why : add_arithmetic(s, ret);
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

/* Both ends of a box of lengths. */
struct ends {
    const struct dse_cache_steps *lo, *hi;
    struct dse_interval stays;
    bool generation;
};

/* The ratios that are kept of `seen` positions. A share of a step that is not given as a length is the parameter's but for half a
 * position, or more where positions are reserved. *ret_rounded: up to what a ratio below the smallest measured is asked for. */
static struct dse_interval ratios(const struct ends *b, struct dse_interval seen, double *ret_rounded)
{
    const struct dse_cache *lo = b->lo->cache, *hi = b->hi->cache;
    const struct dse_eviction *policy = dse_eviction_at(lo->eviction);
    const double half = 0.5 / seen.lo;
    struct dse_interval ratio = dse_iv_div(b->stays, seen);
    *ret_rounded = ratio.hi + half;
    if (hi->cache_length > 0 || b->generation) return ratio;
    const double reserved = policy->reserves ? (double)hi->reserved_length / seen.lo : 0;
    const double most = dse_max(hi->eviction_ratio + half, reserved);
    ratio.lo = lo->eviction_ratio >= 1 ? 1 : dse_max(ratio.lo, lo->eviction_ratio - half);
    ratio.hi = dse_max(ratio.lo, dse_min(ratio.hi, most));
    *ret_rounded = dse_min(*ret_rounded, most + half);
    return ratio;
}

/* The groups of points between two workloads: those of 16 bits have none of their own, whatever their scales. */
static struct dse_interval groups_between(const struct dse_workload *lo, const struct dse_workload *hi)
{
    struct dse_interval ret = dse_iv_of(OTHERWISE);
    if (lo->kv_bits >= FULL_BITS) return ret;
    const struct dse_interval few = {lo->kv_scale_bits > 0 ? GROUP_BITS / hi->kv_scale_bits : NO_GROUP,
                                     lo->kv_scale_bits > 0   ? GROUP_BITS / lo->kv_scale_bits
                                     : hi->kv_scale_bits > 0 ? (double)INFINITY
                                                             : NO_GROUP};
    return hi->kv_bits >= FULL_BITS ? dse_iv_hull(ret, few) : few;
}

static bool bound_surface(const struct ends *b, struct dse_interval seen, struct dse_interval ratio, double rounded,
                          struct dse_kept_bound *ret)
{
    const struct dse_cache *c = b->lo->cache;
    struct dse_quality_box box = {.method = dse_eviction_at(c->eviction)->name, .context = seen};
    box.ratio = dse_iv(dse_min(1, ratio.lo), dse_min(1, dse_max(ratio.hi, rounded)));
    const bool format = b->lo->workload->kv_bits < FULL_BITS || b->hi->workload->kv_bits < FULL_BITS;
    ask(b->lo, seen.hi, format, &box.given, box.lo);
    ask(b->hi, seen.lo, format, &box.given, box.hi);
    for (int i = 0; i < DSE_SETTINGS; i++) {
        if (!(box.given >> i & 1)) continue;
        const struct dse_interval v = dse_iv(dse_min(box.lo[i], box.hi[i]), dse_max(box.lo[i], box.hi[i]));
        box.lo[i] = v.lo;
        box.hi[i] = v.hi;
    }
    const struct dse_interval group = groups_between(b->lo->workload, b->hi->workload); /* where it is given */
    box.lo[DSE_SET_GROUP] = group.lo;
    box.hi[DSE_SET_GROUP] = group.hi;
    if (!dse_quality_bound(c->surface, &box, DSE_Q_RETAINED_MASS, DSE_Q_MEAN, &ret->mass)) ret->mass = dse_unbounded;
    if (!dse_quality_bound(c->surface, &box, DSE_Q_ATTENTION_ERROR, DSE_Q_MEAN, &ret->error)) ret->error = dse_unbounded;
    if (!dse_quality_bound(c->surface, &box, DSE_Q_ATTENTION_ERROR, DSE_Q_SD, &ret->error_sd)) ret->error_sd = dse_unbounded;
    return true;
}

static bool bound_step(const struct ends *b, struct dse_interval seen, struct dse_kept_bound *ret)
{
    const struct dse_cache *c = b->lo->cache;
    double rounded;
    if (!may_carry(b->lo)) return false;
    const struct dse_interval ratio = ratios(b, seen, &rounded);
    if (c->quality_from == DSE_FROM_SURFACE) return bound_surface(b, seen, ratio, rounded, ret);
    struct dse_retained_bound kept;
    if (!dse_retention_bound(c->retention, dse_eviction_at(c->eviction)->name, seen, ratio, rounded, &kept)) return false;
    *ret = (struct dse_kept_bound){kept.mass, kept.error, dse_unbounded};
    return true;
}

static bool bound_generation(const struct ends *b, struct dse_kept_bound *ret)
{
    const struct dse_interval none = dse_iv_of(0);
    const struct dse_cache_steps *lo = b->lo, *hi = b->hi;
    if (dse_eviction_at(lo->cache->eviction)->selects) return false;
    *ret = (struct dse_kept_bound){none, none, none};
    for (int i = 0; i < NODES; i++) {
        struct dse_kept_bound at;
        const struct dse_interval seen =
            dse_widened(lo->before + 1 + node[i] * (lo->generate - 1), hi->before + 1 + node[i] * (hi->generate - 1), 4);
        if (!bound_step(b, seen, &at)) return false;
        ret->mass = dse_iv_add(ret->mass, dse_iv_scale(at.mass, weight[i]));
        ret->error = dse_iv_add(ret->error, dse_iv_scale(at.error, weight[i]));
        ret->error_sd = dse_iv_add(ret->error_sd, dse_iv_scale(at.error_sd, weight[i]));
    }
    return true;
}

/* A surface is read between settings: of what is not a point in them, more is possible than what one point says. */
static bool alike(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi)
{
    const void *a = lo->cache, *b = hi->cache; /* copies of one are the same byte by byte */
    return dse_kv_same(lo->workload, hi->workload) && memcmp(a, b, sizeof *lo->cache) == 0;
}

static struct dse_interval of_one(double x)
{
    return isnan(x) ? dse_unbounded : dse_iv_of(x);
}

/* Where the whole is not known, neither is it with more. */
static struct dse_interval more(struct dse_interval a, struct dse_interval b)
{
    return a.hi < (double)INFINITY && b.hi < (double)INFINITY ? dse_iv_add(a, b) : dse_unbounded;
}

static void bound_arithmetic(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_kept_bound *ret)
{
    const struct dse_arithmetic *a = lo->arithmetic, *b = hi->arithmetic;
    struct dse_interval error = dse_unbounded, sd = dse_unbounded;
    struct dse_quality_box box = {
        .method = a->method, .context = dse_iv(lo->before, hi->before), .ratio = dse_iv_of(1), .given = a->given};
    for (int i = 0; i < DSE_SETTINGS; i++) {
        if (!(a->given >> i & 1)) continue;
        box.lo[i] = dse_min(a->setting[i], b->setting[i]);
        box.hi[i] = dse_max(a->setting[i], b->setting[i]);
    }
    const bool carries = !not_carried(surface_on(lo), lo->workload);
    if (!carries || !dse_quality_bound(lo->cache->surface, &box, DSE_Q_ATTENTION_ERROR, DSE_Q_MEAN, &error)) error = dse_unbounded;
    if (!carries || !dse_quality_bound(lo->cache->surface, &box, DSE_Q_ATTENTION_ERROR, DSE_Q_SD, &sd)) sd = dse_unbounded;
    ret->error = more(ret->error, error);
    ret->error_sd = more(ret->error_sd, sd);
}

static void bound_kept(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_interval target,
                       struct dse_kept_bound *ret)
{
    const bool by_prompt = listed(lo->cache);
    const struct ends b = {lo, hi, by_prompt ? dse_iv(lo->before, hi->before) : target, lo->generate > 0};
    const struct dse_interval seen = dse_iv(lo->before, hi->before);
    struct dse_kept one = {.mass = 1};
    const bool may_leave = !by_prompt || hi->generate > 0; /* as listed, one a token */
    const bool leaves = may_leave && !dse_eviction_at(lo->cache->eviction)->keeps_all && lo->workload->phase != DSE_PREFILL &&
                        b.stays.lo < hi->before + hi->generate;
    const bool same = lo->before == hi->before && b.stays.lo == b.stays.hi && lo->generate == hi->generate &&
                      (lo->cache->quality_from == DSE_FROM_RETENTION || alike(lo, hi));
    if (leaves && same) quality_of(hi, b.stays.hi, &one);
    if ((!leaves || same) && !isnan(one.mass)) /* where another point's settings are those of the profile, it may be known */
        *ret = (struct dse_kept_bound){dse_iv_of(one.mass), dse_iv_of(one.error), of_one(one.error_sd)};
    else if (!(b.generation ? bound_generation(&b, ret) : bound_step(&b, seen, ret)))
        *ret = (struct dse_kept_bound){dse_unbounded, dse_unbounded, dse_unbounded};
}

/* Where points of a box have scales, the error is that of their format, or nobody knows it: said of one point alone. */
static void bound_format(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_interval target,
                         struct dse_kept_bound *ret)
{
    if (!dse_kv_scaled(&(struct dse_workload){.kv_bits = lo->workload->kv_bits,
                                              .value_bits = dse_value_bits(lo->workload),
                                              .kv_scale_bits = hi->workload->kv_scale_bits}) ||
        lo->workload->phase == DSE_PREFILL)
        return;
    const bool keeps = dse_eviction_at(lo->cache->eviction)->keeps_all;
    const bool same = lo->before == hi->before && lo->generate == hi->generate && alike(lo, hi);
    struct dse_kept one = {.error = (double)NAN, .error_sd = (double)NAN};
    if (same && !keeps && target.lo == target.hi && dse_cache_loses(lo)) return; /* bound_kept's */
    if (same && keeps) quality_of_format(hi, &one);
    ret->error = of_one(one.error);
    ret->error_sd = of_one(one.error_sd);
}

void dse_cache_quality_bound(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_interval target,
                             struct dse_kept_bound *ret)
{
    bound_kept(lo, hi, target, ret);
    bound_format(lo, hi, target, ret);
    if (counts_arithmetic(lo)) bound_arithmetic(lo, hi, ret);
}
