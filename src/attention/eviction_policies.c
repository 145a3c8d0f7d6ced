/* The policies: what each counts, who leaves, what it needs. The table is at the end. */
#include "attention/eviction_policies.h"

#include "attention/eviction_cache.h"

#include <math.h>
#include <string.h>

/* ---- policies that hold a choice ------------------------------------------------------------------------------------------ */

/* Policies that hold a choice instead of letting one position leave: functions of the rows of eviction_policies.c. */
/* SnapKV, PyramidKV and Quest: which positions they hold. */

static const struct srcloc nowhere;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- snapkv: Li et al., Sec. 4.1, Listing 1 ------------------------------------------------------------------------------ */

/* The last `observed` steps of a prompt vote with their probabilities; the sums are pooled over neighbours, so that what belongs
 * together stays together. The S - observed positions with the most stay, and the observed ones. */

static void snapkv_score(struct eviction_cache *c, const double *p)
{
    for (size_t i = 0; i < c->n; i++) c->score[i] += p[i];
}

static double pooled(const double *score, size_t n, size_t i, const struct eviction_options *o)
{
    size_t reach = (size_t)o->pool / 2, from = i > reach ? i - reach : 0, to = smaller(n, i + reach + 1);
    double sum = 0, most = score[i];
    for (size_t j = from; j < to; j++) {
        sum += score[j];
        most = score[j] > most ? score[j] : most;
    }
    return o->pooling == EVICTION_POOL_MEAN ? sum / (double)o->pool : most;
}

static void snapkv_select(struct eviction_cache *c, double *scratch)
{
    if (c->n <= c->size) return;
    size_t observed = (size_t)c->options->observed, before = c->n - observed, chosen = c->size - observed;
    for (size_t i = 0; i < before; i++) scratch[i] = pooled(c->score, before, i, c->options);
    eviction_largest(scratch, before, chosen, c->score, c->position); /* the sums are not needed any more */
    for (size_t i = 0; i < observed; i++) c->position[chosen + i] = (uint32_t)(before + i);
    c->evicted = c->n - c->size;
    c->n = c->size;
}

static bool snapkv_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    const char *name = o->policy->traits->name;
    bool ok = true;
    if (!o->prompt) ok = diags_input(diags, nowhere, NULL, NULL, "eviction: %s selects when a prompt ends; give it one", name);
    if (o->evict_in_prompt)
        ok =
            diags_input(diags, nowhere, NULL, NULL, "eviction: %s keeps a prompt whole until it ends; nothing leaves before", name);
    if (o->observed < 1 || (o->prompt && (size_t)o->observed > o->prompt))
        ok = diags_input(diags, nowhere, NULL, NULL, "eviction: %s: %lld observed steps; 1 to the %zu of the prompt are possible",
                         name, (long long)o->observed, o->prompt);
    if (o->pool < 1 || o->pool % 2 == 0)
        ok = diags_input(diags, nowhere, NULL, NULL, "eviction: %s: a pool of %lld; it must be odd", name, (long long)o->pool);
    if (ok && size < eviction_policy_least(o))
        ok = diags_input(diags, nowhere, NULL, NULL,
                         "eviction: %s: %lld observed positions leave no room in a cache of %zu; they must be fewer", name,
                         (long long)o->observed, size);
    return ok;
}

/* ---- pyramidkv: Cai et al., Sec. 4.2 ------------------------------------------------------------------------------------- */

/* Budgets fall with the layer, in a line: the last layer has 1/beta of the mean, the first what is left of twice the mean; no
 * layer more than there is. What is observed is not part of it. */
static size_t pyramidkv_budget(const struct eviction_options *o, size_t size, size_t layer)
{
    if (o->layers < 2 || size >= o->prompt) return size;
    double mean = (double)size - (double)o->observed, all = (double)o->prompt - (double)o->observed;
    double first = fmin(2 * mean - mean / o->beta, all), last = 2 * mean - first;
    return (size_t)(lround(first - (first - last) * (double)layer / (double)(o->layers - 1)) + o->observed);
}

static bool pyramidkv_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    bool ok = true;
    if (o->layers < 1) ok = diags_input(diags, nowhere, NULL, NULL, "eviction: pyramidkv: how many layers has the model?");
    if (!(o->beta >= 1)) ok = diags_input(diags, nowhere, NULL, NULL, "eviction: pyramidkv: beta %g is below 1", o->beta);
    return snapkv_check(o, size, diags) && ok;
}

/* ---- quest: Tang et al., Sec. 3.3 ---------------------------------------------------------------------------------------- */

/* The page that is being filled is always read, then those with the largest bounds, as many whole pages as S and the step's own
 * position have room for. */
static void quest_choose(struct eviction_cache *c, const double *bounds, double *scratch)
{
    size_t page = (size_t)c->options->page, last = (c->seen - 1) / page, newest = c->seen - last * page;
    size_t room = c->size + 1, pages = room > newest ? smaller(last, (room - newest) / page) : 0;
    uint32_t *chosen = c->position + (c->seen - pages); /* behind what is written of the chosen before them */
    eviction_largest(bounds, last, pages, scratch, chosen);
    c->n = 0;
    for (size_t i = 0; i < pages; i++) {
        size_t at = chosen[i] * page;
        for (size_t j = 0; j < page; j++) c->position[c->n++] = (uint32_t)(at + j);
    }
    for (size_t i = last * page; i < c->seen; i++) c->position[c->n++] = (uint32_t)i;
    c->evicted = c->seen - c->n;
}

static bool quest_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    if (o->page < 1) return diags_input(diags, nowhere, NULL, NULL, "eviction: quest: a page of %lld", (long long)o->page);
    if (size >= eviction_policy_least(o)) return true;
    return diags_input(diags, nowhere, NULL, NULL, "eviction: quest: a cache of %zu has no room for a page of %lld", size,
                       (long long)o->page);
}

/* ---- policies that let one position leave --------------------------------------------------------------------------------- */

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
