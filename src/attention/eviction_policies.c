/* The policies: what each counts, who leaves, what it needs. The table is at the end. */
#include "attention/eviction_policies.h"

#include "attention/eviction_cache.h"
#include "attention/eviction_select.h"

#include <math.h>
#include <string.h>

static const struct srcloc nowhere;

static size_t slot_of_least(const double *v, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (v[i] < v[best]) best = i;
    return best;
}

static size_t slot_of_most(const double *v, size_t from, size_t n)
{
    size_t best = from;
    for (size_t i = from + 1; i < n; i++)
        if (v[i] > v[best]) best = i;
    return best;
}

/* ---- voting: VEDA, Sec. III and Fig. 3
 * ------------------------------------------------------------------------------------------------- * From step `reserved_length`
 * on every step votes for positions with a probability below T = a / l - b sigma (l positions, sigma their probabilities'
 * standard deviation); if T <= 0, for the least probable one alone. Most votes leave, the earliest of several.
 *
 * A step may vote for one position (T <= 0, the rule in a head with a strong sink) or for none (T below all probabilities). Where
 * the most votes are then zero, "the earliest" is the sink, and most of the mass leaves with it: at the end of a prompt in many
 * heads that have a sink, and at times in streaming when heads share. reserve_positions, another reading of "a reserved length is
 * maintained at the beginning", avoids it. */

/* Standard deviation of n probabilities around their mean. Four sums, so that it is not one chain of additions. */
static double deviation(const double *p, size_t n, double mean)
{
    double s[4] = {0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t j = 0; j < 4; j++) s[j] += (p[i + j] - mean) * (p[i + j] - mean);
    for (; i < n; i++) s[0] += (p[i] - mean) * (p[i] - mean);
    return sqrt((s[0] + s[1] + s[2] + s[3]) / (double)n);
}

/* Voting: lines 1 to 5 of Fig. 3 of the paper. */
static void voting_score(struct eviction_cache *c, const double *p)
{
    const struct eviction_options *o = c->options;
    if (c->seen <= (size_t)o->reserved_length) return;
    double mean = 1 / (double)c->n;
    double threshold = o->threshold_a * mean - o->threshold_b * deviation(p, c->n, mean);
    if (threshold <= 0) {
        c->score[slot_of_least(p, c->n)]++;
        return;
    }
    for (size_t i = 0; i < c->n; i++) c->score[i] += p[i] < threshold ? 1 : 0;
}

/* The first slots are those of the first positions, where these never leave. */
static size_t voting_leave(struct eviction_cache *c)
{
    return slot_of_most(c->score, c->options->reserve_positions ? (size_t)c->options->reserved_length : 0, c->n);
}

static size_t voting_least(const struct eviction_options *o)
{
    size_t reserved = (size_t)o->reserved_length;
    return o->reserve_positions ? reserved + 1 : reserved > 1 ? reserved : 1;
}

static bool voting_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    bool ok = true;
    size_t reserved = (size_t)o->reserved_length;
    if (!isfinite(o->threshold_a) || !isfinite(o->threshold_b))
        ok = diags_input(diags, nowhere, NULL, NULL, "eviction: voting: threshold %g * mean - %g * sigma is not finite",
                         o->threshold_a, o->threshold_b);
    if (o->reserve_positions && reserved >= size)
        return diags_input(diags, nowhere, NULL, NULL,
                           "eviction: voting: %zu reserved positions leave no room in a cache of %zu; they must be fewer", reserved,
                           size);
    if (reserved > size && !o->below_reserved)
        return diags_input(
            diags, nowhere, NULL, "below_reserved measures it all the same",
            "eviction: voting: reserved length %zu is longer than the cache of %zu: positions would leave before any vote",
            reserved, size);
    return ok;
}

/* ---- h2o --------------------------------------------------------------------------------------------------------------- */

/* The position with the smallest sum of probabilities leaves, the earliest of several. The newest floor(recent_share S) positions
 * never leave. */

static void h2o_score(struct eviction_cache *c, const double *p)
{
    for (size_t i = 0; i < c->n; i++) c->score[i] += p[i];
}

static size_t h2o_leave(struct eviction_cache *c)
{
    return slot_of_least(c->score, c->n - (size_t)(c->options->recent_share * (double)c->size));
}

/* H2O by accumulated scores alone: the newest positions may leave, too. */
static size_t h2o_accumulate_leave(struct eviction_cache *c)
{
    return slot_of_least(c->score, c->n);
}

static bool h2o_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    (void)size;
    if (o->recent_share >= 0 && o->recent_share <= 1) return true;
    return diags_input(diags, nowhere, NULL, NULL, "eviction: h2o: recent share %g is outside of [0, 1]", o->recent_share);
}

/* ---- window: the first `sinks` positions and the newest ------------------------------------------------------------------ */

static size_t window_leave(struct eviction_cache *c)
{
    return (size_t)c->options->sinks;
}

/* The same at a step by itself, of all that were seen: nothing has to follow the steps before. */
static void window_choose(struct eviction_cache *c, const double *p,
                          double *scratch) /* NOLINT(readability-non-const-parameter): as all policies are */
{
    (void)p;
    (void)scratch;
    const size_t n = c->seen > c->size ? c->size + 1 : c->seen, sinks = (size_t)c->options->sinks;
    for (size_t i = 0; i < n; i++) c->position[i] = (uint32_t)(n < c->seen && i >= sinks ? c->seen - n + i : i);
    c->n = n;
    c->evicted = c->seen - n;
}

static bool window_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    if (size >= eviction_policy_least(o)) return true;
    return diags_input(diags, nowhere, NULL, NULL,
                       "eviction: window: %zu sinks leave no room in a cache of %zu; they must be fewer", (size_t)o->sinks, size);
}

/* ---- random: any position, the newest included, with equal chance -------------------------------------------------------- */

/* A slot of n, by splitmix64: the same on every machine. The upper half of the product of 32 bits and n; its bias is below n /
 * 2^32. */
static size_t random_leave(struct eviction_cache *c)
{
    uint64_t z = c->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (size_t)((z >> 32) * c->n >> 32);
}

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

#define POLICY(which, ...) [which] = {.traits = &eviction_rows[which].traits, __VA_ARGS__}
const struct eviction_policy eviction_policies[EVICTION_POLICIES + 1] = {
    POLICY(EVICTION_VOTING, .score = voting_score, .leave = voting_leave, .check = voting_check, .least = voting_least),
    POLICY(EVICTION_VOTING_HEAD, .score = voting_score, .leave = voting_leave, .check = voting_check, .least = voting_least),
    POLICY(EVICTION_H2O, .score = h2o_score, .leave = h2o_leave, .check = h2o_check),
    POLICY(EVICTION_H2O_ACCUMULATE, .score = h2o_score, .leave = h2o_accumulate_leave),
    POLICY(EVICTION_WINDOW, .alias = "streamingllm", .leave = window_leave, .choose = window_choose, .check = window_check),
    POLICY(EVICTION_RANDOM, .leave = random_leave),
    POLICY(EVICTION_ORACLE, .choose = eviction_cache_choose),
    POLICY(EVICTION_SNAPKV, .score = snapkv_score, .select = snapkv_select, .check = snapkv_check),
    POLICY(EVICTION_PYRAMIDKV, .score = snapkv_score, .select = snapkv_select, .check = pyramidkv_check,
           .budget = pyramidkv_budget),
    POLICY(EVICTION_QUEST, .choose = quest_choose, .check = quest_check),
};
#undef POLICY

const struct eviction_options eviction_defaults = {.policy = eviction_policies,
                                                   .ratio = 0.5,
                                                   .threshold_a = 1,
                                                   .threshold_b = 0.2,
                                                   .reserved_length = 32,
                                                   .sinks = 4,
                                                   .recent_share = 0.5,
                                                   .observed = 32,
                                                   .pool = 7,
                                                   .beta = 20,
                                                   .page = 16,
                                                   .format = {.kv_bits = 16}};

static const char *const decides[] = {[EVICTION_BY_HEAD] = "head", [EVICTION_BY_GROUP] = "group", NULL};

#define S struct eviction_options
const struct dse_param eviction_params[] = {
    DSE_PARAM_F64(S, threshold_a, "", 0, 4, "voting: factor of the mean in the threshold", "Fig. 3"),
    DSE_PARAM_F64(S, threshold_b, "", 0, 4, "voting: factor of the standard deviation in the threshold", "Fig. 3"),
    DSE_PARAM_I64(S, reserved_length, 0, 65536, "voting: first steps without votes; also the smallest cache", "Sec. III"),
    DSE_PARAM_F64(S, recent_share, "", 0, 1, "h2o: share of the cache reserved for the newest positions", ""),
    DSE_PARAM_I64(S, sinks, 0, 65536, "window: first positions, which always stay", ""),
    DSE_PARAM_I64(S, observed, 1, 65536, "snapkv, pyramidkv: last prompt positions, which select the others and stay", "Sec. 4"),
    DSE_PARAM_I64(S, pool, 1, 1023, "snapkv, pyramidkv: positions that a score is pooled over; odd", "Sec. 4"),
    DSE_PARAM_ENUM(S, pooling, eviction_pooling_names, "snapkv, pyramidkv: pooling by maximum or mean", "Sec. 4"),
    DSE_PARAM_F64(S, beta, "", 1, 1000, "pyramidkv: the last layer keeps 1/beta of the mean", "Sec. 4"),
    DSE_PARAM_I64(S, layers, 0, 1024, "pyramidkv: layers of the model; 0: unknown, and pyramidkv is left out", "Sec. 4"),
    DSE_PARAM_I64(S, page, 1, 65536, "quest: positions of a page", "Sec. 3"),
    DSE_PARAM_ENUM(S, decides, decides, "each head decides, or the heads of a KV group decide together", ""),
    DSE_PARAM_I64(S, seed, 0, 1000000000, "random", ""),
    DSE_PARAM_END,
};
#undef S

const struct eviction_policy *eviction_policy_find(const char *name)
{
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++)
        if (strcmp(p->traits->name, name) == 0 || (p->alias && strcmp(p->alias, name) == 0)) return p;
    return NULL;
}

const char *eviction_policy_lacks(const struct eviction_policy *p, const struct eviction_options *o, bool has_prompt)
{
    if (p->traits->selects && !has_prompt) return "it selects when a prompt ends: set prompt_share";
    if (p->traits->by_layer && o->layers == 0) return "its cache depends on the layer: set layers to how many the model has";
    return NULL;
}
