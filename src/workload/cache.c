/* The cache's parameters, and how many positions it keeps. */
#include <dse/cache.h>
#include <dse/num.h>

#include <math.h>

static const char *const boundaries[] = {[DSE_CACHE_BULK] = "bulk", [DSE_CACHE_AS_LISTED] = "as-listed", NULL};

#define C struct dse_cache
const struct dse_param dse_cache_params[] = {
    DSE_PARAM_ENUM_OF(C, eviction, dse_eviction_choices, "who decides which position leaves the cache", "VEDA Sec. III"),
    DSE_PARAM_F64(C, eviction_ratio, "", 0, 1, "r: positions kept, of the prompt, or of the context when generate is 0",
                  "VEDA Fig. 3"),
    DSE_PARAM_I64(C, cache_length, 0, 1048576, "positions kept; 0: by eviction_ratio", "VEDA Sec. III"),
    DSE_PARAM_ENUM(C, boundary, boundaries,
                   "all surplus positions leave after the prompt, or one a token as VEDA's Fig. 3 lists it", "VEDA Fig. 3"),
    DSE_PARAM_I64(C, reserved_length, 0, 65536, "R: first positions, not voted on: the smallest cache of voting", "VEDA Sec. III"),
    DSE_PARAM_F64(C, threshold_a, "", 0, 4, "a: factor of the mean in the voting threshold", "VEDA Fig. 3"),
    DSE_PARAM_F64(C, threshold_b, "", 0, 4, "b: factor of the standard deviation in the voting threshold", "VEDA Fig. 3"),
    DSE_PARAM_REF(C, retention, struct dse_retention, DSE_KIND_RETENTION,
                  "what eviction keeps of attention, measured under settings of its own", "docs/catalog.md"),
    DSE_PARAM_I64_UNIT(C, vote_bits, "bit", 1, 64, "a vote count, or an accumulated score of h2o", "VEDA Table I"),
    DSE_PARAM_END,
};
#undef C

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

const char *dse_cache_check(const struct dse_cache *c, double seen)
{
    if (dse_eviction_at(c->eviction)->keeps_all) return NULL;
    if (c->cache_length == 0 && c->eviction_ratio <= 0) return "an eviction ratio of 0 keeps no position";
    if (dse_cache_target(c, seen) < 1) return "the eviction ratio keeps less than half a position";
    return NULL;
}
