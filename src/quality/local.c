/* LAD's decoding as a group of shared parameters: its parameters, and the statistics of attention where they were measured. */
#include "quality/local.h"

#include <dse/num.h>

#include <math.h>

static const char *const decodings[] = {[DSE_LOCALITY_AWARE] = "locality-aware", [DSE_FULL_CACHE] = "full-cache", NULL};
static const char *const draws[] = {
    [DSE_DRAWS_PROFILE] = "profile", [DSE_DRAWS_REPLAY] = "replay", [DSE_DRAWS_SURFACE] = "surface", NULL};

#define L struct dse_local
const struct dse_param dse_local_params[] = {
    DSE_PARAM_ENUM(L, decoding, decodings, "LAD's attention, or full-cache attention (the paper's ideal accelerator)", "Sec. V-A"),
    DSE_PARAM_I64(L, intervals, 2, 16, "intervals of the piecewise linear exp; at most 16, as modes have 4 bits", "Sec. III-A"),
    DSE_PARAM_I64(L, recent, 0, 1024, "newest positions, which are always active", "Sec. III-E"),
    DSE_PARAM_REF(L, profile, struct dse_profile, DSE_KIND_PROFILE,
                  "statistics of attention scores over the context, for draws = \"profile\"", "Sec. II-B"),
    DSE_PARAM_ENUM(L, draws, draws,
                   "attention statistics: drawn around the profile's means, replayed from the recording, or drawn around the "
                   "surface's means",
                   "E25, E34, E39"),
    DSE_PARAM_REF(L, recording, struct dse_recording, DSE_KIND_RECORDING,
                  "recorded steps of a trace's heads, for draws = \"replay\"", "E34"),
    DSE_PARAM_F64(L, center_scale, "", 0, 1000, "factor on the profile's numbers of centers and large modes", "Sec. III-D"),
    DSE_PARAM_F64(L, active_cv, "", 0, 3, "active positions over heads: standard deviation over mean", "E12"),
    DSE_PARAM_END,
};
#undef L

const char *const dse_local_only[] = {"draws", "profile", "recording", "center_scale", "intervals", "recent", NULL};

bool dse_local_works(const struct dse_local *l, const struct dse_workload *w)
{
    if (l->decoding != DSE_LOCALITY_AWARE || w->phase != DSE_DECODE) return false;
    for (size_t i = 0; i < w->llm->n_kinds; i++)
        if (w->llm->kinds[i].attention == DSE_FULL) return true;
    return false;
}

/* ---- what goes together ------------------------------------------------------------------------------------------------- */

/* Centers are directions of keys, and caches take values as wide as these: layers with full attention have heads of one kind. */
static bool has_one_width(const struct dse_llm *llm)
{
    const struct dse_layer_kind *first = NULL;
    bool one = true;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_shape *s = &llm->kinds[i].shape;
        if (llm->kinds[i].attention != DSE_FULL) continue;
        if (!first) first = &llm->kinds[i];
        one = one && (s->value_dim == 0 || s->value_dim == s->head_dim) && llm->kinds[i].same_heads == first->same_heads;
    }
    return one;
}

static const char *check_together(const struct dse_local_of *o)
{
    if (o->local->decoding == DSE_LOCALITY_AWARE && !dse_eviction_at(o->cache->eviction)->keeps_all)
        return "eviction cannot be combined with decoding = locality-aware: its sums cannot drop a position (eviction, "
               "decoding)";
    if (o->local->decoding == DSE_LOCALITY_AWARE && o->cache->kv_format != DSE_KV_TOKEN)
        return "kv_format = kivi cannot be combined with decoding = locality-aware, which reads single positions "
               "(kv_format, decoding)";
    if (o->local->decoding == DSE_LOCALITY_AWARE && dse_kv_apart(o->workload))
        return "decoding = locality-aware needs keys and values of one width (decoding, value_bits, kv_bits)";
    if (!dse_local_works(o->local, o->workload)) return NULL;
    if (o->workload->speculation.draft_tokens > 0)
        return "draft_tokens cannot be combined with decoding = locality-aware: its sums cannot drop a rejected token "
               "(draft_tokens, decoding)";
    if (!has_one_width(o->workload->llm))
        return "locality-aware decoding needs heads, keys and values of one kind in all layers with full attention (decoding, llm)";
    return NULL;
}

const char *dse_local_check(const struct dse_local_of *o)
{
    struct dse_locality at;
    double cv;
    const char *why = check_together(o);
    if (why || !dse_local_works(o->local, o->workload)) return why;
    return dse_local_at(o, (double)o->workload->context, &at, &cv);
}

/* ---- surfaces ----------------------------------------------------------------------------------------------------------- */

static const enum dse_quality_metric statistics[] = {DSE_Q_CENTERS, DSE_Q_LARGE, DSE_Q_ACTIVE, DSE_Q_UPDATES, DSE_Q_HIT_RATIO};
enum { STATISTICS = sizeof statistics / sizeof *statistics };

static const struct dse_quality_surface *surface_of(const struct dse_cache *c)
{
    const struct dse_quality_surface *s = dse_quality_method(c->surface, "lad");
    for (int i = 0; s && i < STATISTICS; i++)
        if (!dse_surface_has(s, statistics[i])) return NULL;
    return s;
}

const char *local_find(const struct dse_local_of *o, double context, bool all, struct dse_quality_place *ret)
{
    if (!surface_of(o->cache)) return "the surface has no statistics of LAD's decoding (surface, draws)";
    struct dse_quality_query q = {.method = "lad", .context = context, .ratio = 1};
    q.given = 1u << DSE_SET_INTERVALS | 1u << DSE_SET_RECENT;
    if (all) q.given |= 1u << DSE_SET_KV_BITS | 1u << DSE_SET_SCORES; /* the machine goes by its centers: 0 */
    q.setting[DSE_SET_INTERVALS] = (double)o->local->intervals;
    q.setting[DSE_SET_RECENT] = (double)o->local->recent;
    q.setting[DSE_SET_KV_BITS] = (double)o->workload->kv_bits;
    return dse_quality_find(o->cache->surface, &q, ret);
}

static const char *read_surface(const struct dse_local_of *o, double context, struct dse_locality *ret)
{
    struct dse_quality_place at;
    const char *why = local_find(o, context, false, &at);
    if (why) return why;
    *ret = (struct dse_locality){.centers = dse_quality_mean(&at, DSE_Q_CENTERS),
                                 .large = dse_quality_mean(&at, DSE_Q_LARGE),
                                 .active = dse_quality_mean(&at, DSE_Q_ACTIVE),
                                 .updates = dse_quality_mean(&at, DSE_Q_UPDATES),
                                 .hit_ratio = dse_quality_mean(&at, DSE_Q_HIT_RATIO)};
    return NULL;
}

/* ---- statistics --------------------------------------------------------------------------------------------------------- */

void dse_local_adjust(const struct dse_local *l, double context, struct dse_locality *at)
{
    enum { PAPER_WINDOW = 16 };
    at->centers = dse_min(context, at->centers * l->center_scale);
    at->large = dse_min(context, at->large * l->center_scale);
    if (l->draws == DSE_DRAWS_SURFACE) return; /* measured with the window */
    const double active = at->active + (double)(l->recent - PAPER_WINDOW);
    at->active = dse_min(context, dse_max(active, (double)l->recent));
}

/* The contexts that there are statistics for; false: none. */
static bool find_range(const struct dse_local_of *o, double *ret_from, double *ret_to)
{
    size_t n;
    double measured;
    const struct dse_quality_surface *s;
    switch (o->local->draws) {
    case DSE_DRAWS_REPLAY: {
        const double *contexts = dse_recording_contexts(o->local->recording, &n);
        *ret_from = contexts[0];
        *ret_to = contexts[n - 1];
        return true;
    }
    case DSE_DRAWS_SURFACE:
        s = surface_of(o->cache);
        if (s) dse_surface_contexts(s, ret_from, ret_to, &measured);
        return s != NULL;
    default: dse_profile_range(o->local->profile, ret_from, ret_to); return true;
    }
}

const char *dse_local_at(const struct dse_local_of *o, double context, struct dse_locality *ret, double *ret_cv)
{
    const struct dse_local *l = o->local;
    double from, to;
    struct dse_locality at;
    if (l->draws == DSE_DRAWS_SURFACE) {
        const char *why = read_surface(o, context, &at);
        if (why) return why;
    } else {
        find_range(o, &from, &to);
        if (!(context >= from && context <= to))
            return l->draws == DSE_DRAWS_REPLAY ? "the context is outside the recording's range (context, recording)"
                                                : "the context is outside the attention profile's range (context, profile)";
    }
    *ret_cv = l->active_cv;
    if (l->draws == DSE_DRAWS_PROFILE) at = dse_profile_at(l->profile, context);
    if (l->draws == DSE_DRAWS_REPLAY) at = dse_recording_mean(l->recording, context, ret_cv);
    dse_local_adjust(l, context, &at);
    *ret = at;
    return NULL;
}

struct dse_locality dse_local_recorded(const struct dse_local *l, double context, size_t head, size_t step)
{
    const struct dse_recorded r = dse_recording_at(l->recording, context, head, step);
    struct dse_locality at = {.centers = r.centers,
                              .large = r.large,
                              .active = r.active,
                              .updates = r.updates,
                              .hit_ratio = r.active > 0 ? r.hits / r.active : 0};
    dse_local_adjust(l, context, &at);
    return at;
}

/* ---- heads that read together ------------------------------------------------------------------------------------------------ */

/* (1 - (1 - y)^g) / (g y) with y the density behind the newest, as the mean of the powers of 1 - y below g; and 1 / g of the
 * newest. */
double dse_local_shared(double n, double count, double newest, int64_t heads)
{
    if (heads <= 1) return 1;
    const double same = dse_min(newest, count), each = 1 / (double)heads;
    if (same >= n) return each;
    double others = 1 - (count - same) / (n - same), sum = 1;
    for (int64_t i = 1; i < heads; i++) sum = 1 + others * sum;
    const double share = sum / (double)heads;
    return same > 0 ? share - same / count * (share - each) : share;
}

/* It grows with n and falls with the newest. Over the count it is a concave count over a line, which is least at an end; and
 * most with the fewest behind the newest and these the smallest part. */
struct dse_interval dse_local_shared_bound(struct dse_interval n, struct dse_interval count, struct dse_interval newest,
                                           int64_t heads)
{
    enum { ROUNDINGS = 256 };
    if (heads <= 1) return dse_iv_of(1);
    const double few = dse_min(n.lo, count.lo), many = dse_min(n.lo, count.hi);
    const double least = dse_min(dse_local_shared(n.lo, few, newest.hi, heads), dse_local_shared(n.lo, many, newest.hi, heads));
    const double same = dse_min(newest.lo, count.lo), apart = dse_local_shared(n.hi - same, count.lo - same, 0, heads);
    const double alike = same > 0 ? same / count.hi : 0, most = apart - alike * (apart - 1 / (double)heads);
    return dse_widened(least, most, ROUNDINGS);
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

static bool bound_surface(const struct dse_local_of *lo, const struct dse_local_of *hi, struct dse_interval context,
                          struct dse_locality_bound *ret)
{
    struct dse_quality_box box = {.method = "lad", .context = context, .ratio = dse_iv_of(1)};
    box.given = 1u << DSE_SET_INTERVALS | 1u << DSE_SET_RECENT;
    box.lo[DSE_SET_INTERVALS] = (double)lo->local->intervals;
    box.hi[DSE_SET_INTERVALS] = (double)hi->local->intervals;
    box.lo[DSE_SET_RECENT] = (double)lo->local->recent;
    box.hi[DSE_SET_RECENT] = (double)hi->local->recent;
    struct dse_interval *const range[STATISTICS] = {&ret->centers, &ret->large, &ret->active, &ret->updates, &ret->hit_ratio};
    for (int i = 0; i < STATISTICS; i++)
        if (!dse_quality_bound(lo->cache->surface, &box, statistics[i], DSE_Q_MEAN, range[i])) return false;
    return true;
}

/* Statistics grow with all that adjusts them. */
static void adjust_bound(const struct dse_local *lo, const struct dse_local *hi, struct dse_interval context,
                         struct dse_locality_bound *b)
{
    struct dse_locality least = {b->centers.lo, b->large.lo, b->active.lo, b->updates.lo, b->hit_ratio.lo},
                        most = {b->centers.hi, b->large.hi, b->active.hi, b->updates.hi, b->hit_ratio.hi};
    dse_local_adjust(lo, context.lo, &least);
    dse_local_adjust(hi, context.hi, &most);
    *b = (struct dse_locality_bound){dse_iv(least.centers, most.centers), dse_iv(least.large, most.large),
                                     dse_iv(least.active, most.active), dse_iv(least.updates, most.updates),
                                     dse_iv(least.hit_ratio, most.hit_ratio)};
}

/* Where settings of a surface vary, those between its ends may not have been measured. */
static bool all_known(const struct dse_local_of *lo, const struct dse_local_of *hi, struct dse_interval context)
{
    struct dse_quality_place at;
    if (lo->local->draws != DSE_DRAWS_SURFACE) return true;
    return lo->local->intervals == hi->local->intervals && lo->local->recent == hi->local->recent &&
           !local_find(lo, context.lo, false, &at) && !local_find(lo, context.hi, false, &at);
}

static struct dse_locality_bound bound_of_point(struct dse_locality at)
{
    return (struct dse_locality_bound){dse_iv_of(at.centers), dse_iv_of(at.large), dse_iv_of(at.active), dse_iv_of(at.updates),
                                       dse_iv_of(at.hit_ratio)};
}

bool dse_local_bound(const struct dse_local_of *lo, const struct dse_local_of *hi, struct dse_interval context,
                     struct dse_locality_bound *ret, struct dse_interval *ret_cv, bool *ret_all)
{
    const struct dse_local *l = lo->local;
    double from, to;
    if (!find_range(lo, &from, &to)) return false;
    const struct dse_interval there = dse_iv(dse_max(context.lo, from), dse_min(context.hi, to));
    if (!(there.lo <= there.hi)) return false;
    *ret_cv = dse_iv(l->active_cv, hi->local->active_cv);
    *ret_all = there.lo == context.lo && there.hi == context.hi && all_known(lo, hi, there);
    if (l->draws == DSE_DRAWS_SURFACE) {
        if (!bound_surface(lo, hi, there, ret)) return false;
    } else if (l->draws == DSE_DRAWS_REPLAY) {
        dse_recording_bound(l->recording, there, ret, ret_cv);
    } else if (there.lo == there.hi) {
        *ret = bound_of_point(dse_profile_at(l->profile, there.lo));
    } else {
        dse_profile_bound(l->profile, there, ret);
    }
    adjust_bound(l, hi->local, there, ret);
    return true;
}
