/* The cache's parameters, and how many positions it keeps. */
#include "workload/eviction_traits.h"

#include <dse/cache.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

static const char *const boundaries[] = {
    [DSE_CACHE_BULK] = "bulk", [DSE_CACHE_AS_LISTED] = "as-listed", [DSE_CACHE_STREAMED] = "streamed", NULL};
static const char *const sources[] = {[DSE_FROM_RETENTION] = "retention", [DSE_FROM_SURFACE] = "surface", NULL};

static const char *const formats[] = {[DSE_KV_TOKEN] = "token", [DSE_KV_KIVI] = "kivi", NULL};

#define C struct dse_cache
const struct dse_param dse_cache_params[] = {
    DSE_PARAM_ENUM_OF(C, eviction, dse_eviction_choices, "policy that decides which positions leave the cache", "VEDA Sec. III"),
    DSE_PARAM_F64(C, eviction_ratio, "", 0, 1, "r: share of positions kept, of the prompt, or of the context if generate is 0",
                  "VEDA Fig. 3"),
    DSE_PARAM_I64(C, cache_length, 0, 1048576, "positions kept; 0: set by eviction_ratio", "VEDA Sec. III"),
    DSE_PARAM_ENUM(C, boundary, boundaries,
                   "bulk: all surplus positions leave after the prompt; as-listed: one per token (VEDA Fig. 3); streamed: "
                   "during the prompt",
                   "VEDA Fig. 3"),
    DSE_PARAM_I64(C, reserved_length, 0, 65536, "voting: R, first steps without votes; also the smallest cache", "VEDA Sec. III"),
    DSE_PARAM_F64(C, threshold_a, "", 0, 4, "a: factor of the mean in the voting threshold", "VEDA Fig. 3"),
    DSE_PARAM_F64(C, threshold_b, "", 0, 4, "b: factor of the standard deviation in the voting threshold", "VEDA Fig. 3"),
    DSE_PARAM_F64(C, recent_share, "", 0, 1, "h2o: share of the cache reserved for the newest positions", "H2O, Sec. 4"),
    DSE_PARAM_I64(C, sinks, 0, 65536, "window: first positions, which always stay", "StreamingLLM"),
    DSE_PARAM_I64(C, observed, 1, 65536, "snapkv, pyramidkv: last prompt positions, which select the others and stay",
                  "SnapKV, Sec. 4"),
    DSE_PARAM_I64(C, pool, 1, 1023, "snapkv, pyramidkv: positions that a score is pooled over; odd", "SnapKV, Sec. 4"),
    DSE_PARAM_F64(C, beta, "", 1, 1000, "pyramidkv: the last layer keeps 1/beta of the mean", "PyramidKV, Sec. 4"),
    DSE_PARAM_I64(C, page, 1, 65536, "quest: positions of a page; pages are read whole", "Quest, Sec. 3"),
    DSE_PARAM_ENUM(C, kv_format, formats,
                   "scales of quantized keys and values: per token, or KIVI's (keys per channel, newest positions at 16 bits)",
                   "KIVI, Sec. 3"),
    DSE_PARAM_I64(C, kv_residual, 1, 65536, "kivi: newest positions, kept at 16 bits", "KIVI, Alg. 1"),
    DSE_PARAM_ENUM(C, quality_from, sources, "source of the quality of eviction: a retention profile or a quality surface",
                   "docs/explanation/quality.md"),
    DSE_PARAM_REF(C, retention, struct dse_retention, DSE_KIND_RETENTION,
                  "retention profile: attention kept under eviction, at the profile's own settings", "docs/reference/catalog.md"),
    DSE_PARAM_REF(C, surface, struct dse_quality, DSE_KIND_QUALITY,
                  "quality surfaces: measured loss of techniques over contexts, ratios and settings",
                  "docs/explanation/quality.md"),
    DSE_PARAM_REF(C, task, struct dse_task, DSE_KIND_TASK, "task with published scores of techniques",
                  "docs/explanation/quality.md"),
    DSE_PARAM_I64_UNIT(C, vote_bits, "bit", 1, 64, "width of a vote count, or of an accumulated score of h2o", "VEDA Table I"),
    DSE_PARAM_END,
};
#undef C

const char *const dse_cache_only[] = {"eviction_ratio", "cache_length",
                                      "boundary",       "reserved_length",
                                      "threshold_a",    "threshold_b",
                                      "recent_share",   "sinks",
                                      "observed",       "pool",
                                      "beta",           "page",
                                      "vote_bits",      NULL};

double dse_cache_target(const struct dse_cache *c, double seen)
{
    const struct dse_eviction *policy = dse_eviction_at(c->eviction);
    if (policy->keeps_all) return (double)INFINITY;
    double target = c->cache_length > 0 ? (double)c->cache_length : dse_floor(c->eviction_ratio * seen + 0.5);
    return policy->reserves ? dse_max(target, (double)c->reserved_length) : target;
}

struct dse_cache_steps dse_cache_steps_of(const struct dse_cache *c, const struct dse_workload *w, const struct dse_request *r)
{
    const bool generation = r && r->generate > 0;
    return (struct dse_cache_steps){.cache = c,
                                    .workload = w,
                                    .before = generation ? (double)r->prompt : (double)w->context,
                                    .generate = generation ? (double)r->generate : 0};
}

/* What the policy holds apart, of a cache that loses or leaves out positions. */
static double least_of(const struct dse_cache *c, const struct dse_eviction *policy)
{
    return (double)eviction_least(policy, c->sinks, c->observed, c->page);
}

/* Channels of positions that follow each other share a scale: none of these may leave by itself. */
static const char *check_format(const struct dse_cache *c, const struct dse_workload *w)
{
    const struct dse_eviction *policy = dse_eviction_at(c->eviction);
    if (c->kv_format != DSE_KV_KIVI) return NULL;
    if (!dse_llm_has_one_cache(w->llm))
        return "kv_format = kivi needs an LLM whose layers have the same keys and values (kv_format, llm)";
    if (!dse_kv_scaled(w)) return "kv_format = kivi needs kv_bits below 16 and kv_scale_bits above 0";
    if (!policy->keeps_all && !policy->reads_part && !policy->selects)
        return "kv_format = kivi cannot be combined with eviction of single positions (kv_format, eviction)";
    return NULL;
}

/* A policy takes single positions out of keys and values. A window keeps what is in it, a latent is shared by all heads, an indexer
 * selects for itself, and a state has no positions. */
static const char *check_llm(const struct dse_cache *c, const struct dse_llm *llm)
{
    if (dse_eviction_at(c->eviction)->keeps_all || dse_llm_is_plain(llm)) return NULL;
    return "eviction needs an LLM with full attention and dense networks in every layer (eviction, llm)";
}

const char *dse_cache_check(const struct dse_cache *c, const struct dse_workload *w, double seen)
{
    const struct dse_eviction *policy = dse_eviction_at(c->eviction);
    const char *why = check_llm(c, w->llm);
    if (!why) why = check_format(c, w);
    if (why) return why;
    if (policy->keeps_all) return NULL;
    if (c->cache_length == 0 && c->eviction_ratio <= 0) return "an eviction ratio of 0 keeps no position";
    const double stays = dse_cache_target(c, seen);
    if (stays < 1) return "the eviction ratio keeps less than half a position";
    if (policy->selects && c->pool % 2 == 0) return "pool must be odd";
    if (stays >= seen) return NULL;
    if (stays < least_of(c, policy)) return "the cache is shorter than the positions its policy must keep (sinks, observed, page)";
    if (policy->selects && c->boundary != DSE_CACHE_BULK)
        return "snapkv and pyramidkv need the whole prompt: boundary must be bulk (eviction, boundary)";
    if (w->phase == DSE_PREFILL && !policy->reads_part && c->boundary == DSE_CACHE_STREAMED)
        return "phase = prefill cannot be combined with boundary = streamed: a streamed prompt is decode steps (phase, "
               "boundary)";
    return NULL;
}

/* ---- one step ----------------------------------------------------------------------------------------------------------- */

/* Counts of a layer and sequence. */
static double counts_of(const struct dse_cache *c, const struct dse_workload *w, double positions)
{
    const struct dse_eviction *policy = dse_eviction_at(c->eviction);
    const double sets = policy->per_head ? (double)w->llm->kv_heads : 1;
    return sets * positions * (double)c->vote_bits / DSE_BITS_PER_BYTE;
}

/* Keys of a layer and sequence, or values: the mean of both. */
static double rows_of(const struct dse_workload *w, double positions)
{
    return (double)w->llm->kv_heads * positions * dse_kv_row_bytes(w);
}

static void add_counts(const struct dse_cache *c, const struct dse_workload *w, struct dse_cache_step *s)
{
    const double n = (double)w->context;
    s->pairs = s->prefill ? n * (n + 1) / 2 : s->read;
    s->besides_bytes = counts_of(c, w, s->held);
    s->count_bytes = s->prefill ? s->besides_bytes : 2 * counts_of(c, w, s->read);
}

/* The last `observed` queries of a prompt see all that came before them. */
static void add_selection(const struct dse_cache *c, const struct dse_workload *w, struct dse_cache_step *s)
{
    const double n = (double)w->context, last = dse_min(n, (double)c->observed);
    if (!s->prefill) return;
    s->pairs = last * n - last * (last - 1) / 2;
    s->moved_bytes = 2 * 2 * rows_of(w, dse_min(n, dse_cache_target(c, n)));
}

static void add_pages(const struct dse_cache *c, const struct dse_workload *w, struct dse_cache_step *s)
{
    s->pages = dse_ceil((double)w->context / (double)c->page);
    s->page_bytes = s->besides_bytes = (double)(w->llm->kv_heads * w->llm->head_dim) * 2 * s->pages * dse_key_bytes(w);
}

static void add_residual(const struct dse_cache *c, const struct dse_workload *w, struct dse_cache_step *s)
{
    enum { WHOLE_BITS = 16 };
    const double each = (double)w->llm->kv_heads * (double)w->llm->head_dim * WHOLE_BITS / DSE_BITS_PER_BYTE;
    const double r = (double)c->kv_residual;
    s->besides_bytes += each * 2 * dse_min(s->held, r);
    if (!s->prefill) s->residual_bytes = each * (dse_min(s->read, (r - 1) / 2) + dse_min(s->read, r) + 2);
}

static void add_technique(const struct dse_cache *c, const struct dse_workload *w, struct dse_cache_step *ret)
{
    const double n = (double)w->context;
    const struct dse_eviction *policy = ret->policy;
    const double stays = dse_min(n, dse_cache_target(c, n));
    if (!ret->prefill && (policy->reads_part || c->boundary != DSE_CACHE_AS_LISTED)) ret->read = stays;
    if (!ret->prefill && !policy->reads_part && c->boundary == DSE_CACHE_STREAMED) ret->held = stays;
    if (policy->counts) add_counts(c, w, ret);
    if (policy->selects) add_selection(c, w, ret);
    if (policy->paged) add_pages(c, w, ret);
}

void dse_cache_step_at(const struct dse_cache *c, const struct dse_workload *w, struct dse_cache_step *ret)
{
    const double n = (double)w->context;
    const struct dse_eviction *policy = dse_eviction_at(c->eviction);
    *ret = (struct dse_cache_step){.policy = policy, .prefill = w->phase == DSE_PREFILL, .read = n, .held = n};
    if (!policy->keeps_all) add_technique(c, w, ret);
    if (c->kv_format == DSE_KV_KIVI) add_residual(c, w, ret);
}

struct dse_workload dse_cache_read_by(const struct dse_cache_step *s, const struct dse_workload *w)
{
    struct dse_workload ret = *w;
    if (!s->prefill) ret.context = (int64_t)s->read;
    return ret;
}

void dse_cache_expand(const struct dse_cache_step *s, const struct dse_workload *w, struct dse_oplist *ret)
{
    const struct dse_workload read = dse_cache_read_by(s, w);
    const double layers = (double)w->llm->layers, instances = layers * (double)w->llm->heads * (double)w->batch;
    const double moved = layers * (double)w->batch, paged = s->prefill ? 0 : s->page_bytes;
    const double widened = moved * (double)(w->llm->kv_heads * w->llm->head_dim) * dse_cache_widening(w);
    dse_workload_expand(&read, ret);
    for (int i = 0; i < ret->n; i++) {
        struct dse_op *op = &ret->op[i];
        if (op->kind == DSE_OP_SCORES) {
            if (!s->prefill) op->ops += DSE_OPS_PER_MAC * instances * 2 * s->pages * (double)w->llm->head_dim;
            op->ops += widened * (s->read + 2 * s->pages);
            op->kv_write_bytes += moved * paged;
        } else if (op->kind == DSE_OP_VALUES) {
            op->ops += widened * s->read;
            op->kv_write_bytes += moved * (dse_cache_moved(s) - paged);
        } else if (op->in_attention) {
            op->ops += instances * s->pairs * (s->policy->drained ? 2 : 1);
        }
    }
}

double dse_cache_footprint(const struct dse_cache_step *s, const struct dse_workload *w)
{
    struct dse_workload held = *w;
    held.context = (int64_t)s->held;
    return dse_workload_footprint(&held) + (double)w->batch * (double)w->llm->layers * s->besides_bytes;
}

/* ---- bounds ------------------------------------------------------------------------------------------------------------- */

bool dse_cache_target_bound(const struct dse_cache *lo, const struct dse_cache *hi, const struct dse_workload *w,
                            struct dse_interval seen, struct dse_interval *ret)
{
    struct dse_cache few = *lo, many = *hi;
    if (check_llm(lo, w->llm)) return false;
    const bool by_ratio = lo->cache_length == 0 && hi->eviction_ratio > 0, by_length = hi->cache_length > 0;
    bool any = false;
    if (dse_eviction_at(lo->eviction)->keeps_all) {
        *ret = dse_iv_of((double)INFINITY);
        return true;
    }
    if (by_length) {
        few.cache_length = lo->cache_length > 1 ? lo->cache_length : 1;
        *ret = dse_iv(dse_cache_target(&few, seen.lo), dse_cache_target(&many, seen.hi));
        any = true;
    }
    few.cache_length = many.cache_length = 0;
    if (by_ratio && dse_cache_target(&many, seen.hi) >= 1) {
        const struct dse_interval some = dse_iv(dse_max(1, dse_cache_target(&few, seen.lo)), dse_cache_target(&many, seen.hi));
        *ret = any ? dse_iv_hull(*ret, some) : some;
        any = true;
    }
    const bool streams =
        w->phase == DSE_PREFILL && lo->boundary == DSE_CACHE_STREAMED && !dse_eviction_at(lo->eviction)->reads_part;
    return any && !(streams && ret->hi < seen.lo);
}

bool dse_cache_ends(struct dse_cache *lo, struct dse_cache *hi, const struct dse_workload *w, struct dse_interval seen,
                    struct dse_interval *ret_target)
{
    const int64_t page = lo->page;
    if (!dse_cache_target_bound(lo, hi, w, seen, ret_target)) return false;
    lo->page = hi->page; /* fewer bounds */
    hi->page = page;
    if (dse_eviction_at(lo->eviction)->keeps_all) return true;
    lo->cache_length = (int64_t)ret_target->lo;
    hi->cache_length = (int64_t)ret_target->hi;
    return true;
}
