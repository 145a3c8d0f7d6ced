/* What LAD's decoding does to the output, where it was measured under the point's settings, and what the statistics rest on. */
#include "quality/local.h"

#include <dse/num.h>

#include <math.h>
#include <string.h>

static const struct dse_measured *measured_of(const struct dse_local *l)
{
    return l->draws == DSE_DRAWS_REPLAY ? dse_recording_measured(l->recording) : dse_profile_measured(l->profile);
}

static double context_of(const struct dse_local_of *o)
{
    return (double)o->workload->context;
}

/* The settings that the statistics depend on; which[i] names those that are not the ones measured. Returns how many. */
int dse_local_unlikes(const struct dse_local_of *o, const char *which[DSE_BEYOND_MAX])
{
    const struct dse_local *l = o->local;
    if (l->draws == DSE_DRAWS_SURFACE) {
        struct dse_quality_place at;
        which[0] = local_find(o, context_of(o), true, &at);
        return which[0] != NULL;
    }
    const struct dse_measured *m = measured_of(l);
    const char *const unlike[] = {dse_measured_unlike(m, DSE_SET_INTERVALS, (double)l->intervals),
                                  dse_measured_unlike(m, DSE_SET_RECENT, (double)l->recent),
                                  dse_measured_unlike(m, DSE_SET_KV_BITS, (double)o->workload->kv_bits)};
    int n = 0;
    for (size_t i = 0; i < sizeof unlike / sizeof *unlike; i++)
        if (unlike[i]) which[n++] = unlike[i];
    return n;
}

const char *dse_local_unlike(const struct dse_local_of *o)
{
    const char *which[DSE_BEYOND_MAX];
    return dse_local_unlikes(o, which) ? which[0] : NULL;
}

/* Were the heads measured those of the point's LLM? */
bool dse_local_own(const struct dse_local_of *o)
{
    return o->local->draws == DSE_DRAWS_SURFACE ? dse_quality_on(o->cache->surface, o->workload->llm)
                                                : dse_measured_on(measured_of(o->local), o->workload->llm);
}

/* Why nobody measured what the point's output loses; NULL: it was. */
const char *dse_local_unknown(const struct dse_local_of *o)
{
    const struct dse_local *l = o->local;
    if (l->draws == DSE_DRAWS_REPLAY) return "recordings have no output error (draws)";
    const char *why = dse_local_unlike(o);
    const bool surface = l->draws == DSE_DRAWS_SURFACE;
    if (!why && !dse_local_own(o)) why = dse_llm_unlike_measured(o->workload->llm);
    if (!why && !surface) why = dse_measured_unlike(dse_profile_measured(l->profile), DSE_SET_SCORES, 0);
    if (why) return why;
    if (l->center_scale != 1) return "the output error was measured only with center_scale = 1";
    if (!surface && isnan(dse_profile_error_at(l->profile, context_of(o)).attention_error))
        return "the attention profile has no output error (profile)";
    return NULL;
}

static void find_loss(const struct dse_local_of *o, struct dse_local_loss *ret)
{
    struct dse_quality_place at;
    struct dse_locality there;
    double cv;
    if (!dse_local_works(o->local, o->workload) || dse_local_at(o, context_of(o), &there, &cv) || dse_local_unknown(o)) return;
    if (o->local->draws != DSE_DRAWS_SURFACE) {
        const struct dse_locality_error e = dse_profile_error_at(o->local->profile, context_of(o));
        ret->error = e.attention_error;
        ret->false_negative = e.false_negative;
        return;
    }
    local_find(o, context_of(o), true, &at); /* known, as it is not unknown */
    ret->error = dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR);
    ret->false_negative = dse_quality_mean(&at, DSE_Q_FALSE_NEGATIVE);
    ret->error_sd = dse_quality_stat(&at, DSE_Q_ATTENTION_ERROR, DSE_Q_SD);
}

/* The score of the method "lad" on the task. NULL, or why nobody says. */
static const char *score_of(const struct dse_local_of *o, struct dse_score *ret)
{
    enum { FULL_BITS = 16 };
    struct dse_task_query q = {.llm = o->workload->llm,
                               .method = "lad",
                               .ratio = (double)NAN,
                               .given = 1u << DSE_SET_INTERVALS | 1u << DSE_SET_RECENT | 1u << DSE_SET_KV_BITS};
    q.setting[DSE_SET_INTERVALS] = (double)o->local->intervals;
    q.setting[DSE_SET_RECENT] = (double)o->local->recent;
    q.setting[DSE_SET_KV_BITS] = dse_min(FULL_BITS, (double)o->workload->kv_bits);
    *ret = (struct dse_score){(double)NAN, (double)NAN};
    if (!o->cache->task) return "no task is named (task)";
    if (dse_kv_scaled(o->workload)) return "no task scores several techniques together (task)";
    return dse_task_find(o->cache->task, &q, ret);
}

void dse_local_quality(const struct dse_local_of *o, struct dse_local_loss *ret)
{
    const double none = (double)NAN;
    struct dse_score score;
    *ret = (struct dse_local_loss){none, none, none, none, none};
    find_loss(o, ret);
    score_of(o, &score);
    ret->task_score = score.task_score;
    ret->task_loss = score.task_loss;
}

/* Does nothing vary that the loss depends on? */
static bool is_same(const struct dse_local_of *lo, const struct dse_local_of *hi)
{
    const struct dse_local *a = lo->local, *b = hi->local;
    return a->intervals == b->intervals && a->recent == b->recent && a->center_scale == b->center_scale &&
           dse_kv_same(lo->workload, hi->workload);
}

static struct dse_interval number_of(double x)
{
    return isnan(x) ? dse_unbounded : dse_iv_of(x);
}

void dse_local_quality_bound(const struct dse_local_of *lo, const struct dse_local_of *hi, struct dse_interval context,
                             struct dse_interval ret[5])
{
    struct dse_local_loss loss;
    for (int i = 0; i < 5; i++) ret[i] = dse_unbounded;
    if (!is_same(lo, hi)) return;
    dse_local_quality(lo, &loss);
    ret[3] = number_of(loss.task_score);
    ret[4] = number_of(loss.task_loss);
    if (context.lo != context.hi) return;
    ret[0] = number_of(loss.error);
    ret[1] = number_of(loss.error_sd);
    ret[2] = number_of(loss.false_negative);
}

/* The entry whose statistics the point follows. */
const struct dse_entry *dse_local_entry(const struct dse_local_of *o)
{
    const struct dse_local *l = o->local;
    if (l->draws == DSE_DRAWS_REPLAY) return (const struct dse_entry *)l->recording;
    return l->draws == DSE_DRAWS_SURFACE ? (const struct dse_entry *)o->cache->surface : (const struct dse_entry *)l->profile;
}

/* What says that the known error was not measured at such contexts; NULL: it was. */
const char *dse_local_extended(const struct dse_local_of *o)
{
    struct dse_quality_place at;
    if (o->local->draws != DSE_DRAWS_SURFACE) return dse_profile_beyond(o->local->profile, context_of(o));
    local_find(o, context_of(o), true, &at);
    return at.extended ? "quality is extended beyond the measured contexts (surface)" : NULL;
}

const char *dse_local_why_null(const struct dse_local_of *o, const char *metric)
{
    static const char *const statistics[] = {"centers", "active", "hit_ratio"};
    if (strncmp(metric, "task_", strlen("task_")) == 0) {
        struct dse_score score;
        const char *unscored = score_of(o, &score);
        return dse_score_why_null(unscored, &score, metric);
    }
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
        if (strcmp(metric, statistics[i]) == 0) return dse_local_unlike(o);
    if (strcmp(metric, "attention_error") == 0 || strcmp(metric, "false_negative") == 0) return dse_local_unknown(o);
    if (strcmp(metric, "attention_error_sd") != 0) return NULL;
    const char *why = dse_local_unknown(o);
    if (why || o->local->draws != DSE_DRAWS_SURFACE) return why ? why : "the attention profile has no spread over heads (profile)";
    return "the quality file has no spread over heads (surface)";
}
