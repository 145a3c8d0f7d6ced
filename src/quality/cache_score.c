/* What a task says of a point's technique: a row of its own, of the LLM, or none. */
#include <dse/cache.h>
#include <dse/num.h>

#include <math.h>
#include <string.h>

enum { FULL_BITS = 16, GROUP_BITS = 32 /* a scale and a zero point */ };

static void say(struct dse_task_query *q, enum dse_setting setting, double value)
{
    q->given |= 1u << setting;
    q->setting[setting] = value;
}

static void say_cache(const struct dse_cache_steps *s, struct dse_task_query *q)
{
    const struct dse_cache *c = s->cache;
    say(q, DSE_SET_KV_BITS, dse_min(FULL_BITS, (double)s->workload->kv_bits));
    say(q, DSE_SET_THRESHOLD_A, c->threshold_a);
    say(q, DSE_SET_THRESHOLD_B, c->threshold_b);
    say(q, DSE_SET_RESERVED_LENGTH, (double)c->reserved_length);
    say(q, DSE_SET_RECENT_SHARE, c->recent_share);
    say(q, DSE_SET_SINKS, (double)c->sinks);
    say(q, DSE_SET_OBSERVED, (double)c->observed);
    say(q, DSE_SET_POOL, (double)c->pool);
    say(q, DSE_SET_BETA, c->beta);
    say(q, DSE_SET_PAGE, (double)c->page);
}

static void say_format(const struct dse_cache_steps *s, struct dse_task_query *q)
{
    const bool kivi = s->cache->kv_format == DSE_KV_KIVI;
    say(q, DSE_SET_SCALES, kivi ? DSE_SCALES_KIVI : DSE_SCALES_TOKEN);
    say(q, DSE_SET_GROUP, GROUP_BITS / s->workload->kv_scale_bits);
    say(q, DSE_SET_RESIDUAL, kivi ? (double)s->cache->kv_residual : 0);
}

static void say_arithmetic(const struct dse_arithmetic *a, struct dse_task_query *q)
{
    for (int i = 0; i < DSE_SETTINGS; i++)
        if (a->given >> i & 1) say(q, (enum dse_setting)i, a->setting[i]);
}

const char *dse_cache_score(const struct dse_cache_steps *s, struct dse_score *ret)
{
    const struct dse_cache *c = s->cache;
    const bool decode = s->workload->phase != DSE_PREFILL;
    const bool loses = dse_cache_loses(s), rounds = decode && dse_kv_scaled(s->workload), counted = decode && s->arithmetic;
    struct dse_task_query q = {.llm = s->workload->llm, .ratio = (double)NAN};
    *ret = (struct dse_score){(double)NAN, (double)NAN};
    if (!c->task) return "no task is named (task)";
    if (loses + rounds + counted > 1) return "no task scores several techniques together (task)";
    if (dse_kv_apart(s->workload)) return "no task scores keys and values of different widths (task, value_bits, kv_bits)";
    if (loses && c->cache_length > 0) return "task scores need eviction_ratio, not cache_length";
    if (!loses && !rounds && !counted && dse_kv_narrowest(s->workload) < FULL_BITS)
        return "the LLM's own score is for a 16-bit cache (kv_bits)";
    say_cache(s, &q);
    if (loses) {
        q.method = dse_eviction_at(c->eviction)->name;
        q.ratio = c->eviction_ratio;
    } else if (rounds) {
        q.method = "kv-format";
        say_format(s, &q);
    } else if (counted) {
        q.method = s->arithmetic->method;
        say_arithmetic(s->arithmetic, &q);
    }
    return dse_task_find(c->task, &q, ret);
}

const char *dse_score_why_null(const char *why, const struct dse_score *score, const char *metric)
{
    const bool loss = strcmp(metric, "task_loss") == 0;
    if (!loss && strcmp(metric, "task_score") != 0) return NULL;
    if (!why && loss && isnan(score->task_loss)) return "the task has no score without the technique to compare with (task)";
    return why;
}

/* What it depends on may not vary at all: rows are points. */
void dse_cache_score_bound(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct dse_interval *ret_score,
                           struct dse_interval *ret_loss)
{
    const struct dse_workload *a = lo->workload, *b = hi->workload;
    const struct dse_cache *c = lo->cache, *d = hi->cache;
    struct dse_score score;
    const bool same = dse_kv_same(a, b) && c->eviction_ratio == d->eviction_ratio && c->cache_length == d->cache_length &&
                      c->threshold_a == d->threshold_a && c->threshold_b == d->threshold_b &&
                      c->reserved_length == d->reserved_length && c->recent_share == d->recent_share && c->sinks == d->sinks &&
                      c->observed == d->observed && c->kv_residual == d->kv_residual && c->pool == d->pool && c->beta == d->beta &&
                      c->page == d->page;
    const bool alike = same && lo->before == hi->before && lo->generate == hi->generate;
    const bool counts = lo->arithmetic && !dse_bound_same(lo->arithmetic, hi->arithmetic, sizeof *lo->arithmetic);
    *ret_score = *ret_loss = dse_unbounded;
    const bool always = dse_eviction_at(c->eviction)->keeps_all || a->phase == DSE_PREFILL;
    if (counts || !(alike || (same && always)) || dse_cache_score(lo, &score)) return;
    *ret_score = dse_iv_of(score.task_score);
    if (!isnan(score.task_loss)) *ret_loss = dse_iv_of(score.task_loss);
}
