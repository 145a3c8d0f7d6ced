/* CSV tables, as a user's attention profile, or, when they begin like one, as a retention profile, a recording or a log of
 * requests: whatever the bytes, something that can be interpolated or an error. */
#include "desc/schema.h"
#include "quality/profile.h"
#include "workload/requests.h"
#include <dse/quality.h>
#include "toy_catalog.h"

#include <math.h>
#include <string.h>

/* Every surface at random points: a number within its bounds, or a sentence. */
static void check_quality(const struct dse_quality *q)
{
    const struct dse_quality_surface *s;
    for (size_t i = 0; (s = dse_quality_surface_at(q, i)) != NULL; i++) {
        double from, to, measured;
        dse_surface_contexts(s, &from, &to, &measured);
        for (int k = 0; k <= 8; k++) {
            const struct dse_quality_query query = {
                .method = dse_surface_method(s), .context = from + (to - from) * k / 8, .ratio = 0.3 + 0.1 * k};
            struct dse_quality_place at;
            if (dse_quality_find(q, &query, &at)) continue;
            for (int m = 0; m < DSE_QUALITY_METRICS; m++) {
                const struct dse_quality_box box = {.method = query.method, .context = dse_iv(from, to), .ratio = dse_iv(0.1, 1.1)};
                const double v = dse_quality_mean(&at, (enum dse_quality_metric)m);
                struct dse_interval b;
                if (v != v) continue;
                need(v >= 0 && isfinite(v));
                if (dse_quality_bound(q, &box, (enum dse_quality_metric)m, DSE_Q_MEAN, &b)) need(v >= b.lo && v <= b.hi);
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_profile(const struct dse_profile *p)
{
    double from, to;
    dse_profile_range(p, &from, &to);
    need(from < to);
    for (int i = 0; i <= 4; i++) {
        struct dse_locality l = dse_profile_at(p, i == 4 ? to : from + (to - from) * i / 4);
        need(isfinite(l.centers) && isfinite(l.large) && isfinite(l.active) && isfinite(l.updates) && isfinite(l.hit_ratio));
    }
}

/* Scores stand at the points alone. */
static void check_scores(const struct dse_profile *p)
{
    size_t n;
    const double *contexts = profile_contexts(p, &n);
    for (size_t i = 0; i < n; i++) {
        struct profile_scores s;
        bool there = profile_scores_at(p, contexts[i], &s);
        need(there == profile_has_scores(p));
        if (there) need(s.top1 >= 0 && s.top1 <= s.top1_plus_top2 && s.top1_plus_top2 <= 1 && isfinite(s.lines_mse));
    }
}

/* Of every policy, inside and outside of what was measured: finite, mass a share, or nothing. */
static void check_retention(const struct dse_retention *r)
{
    const char *policy = NULL;
    for (size_t i = 0; (policy = dse_retention_policy(r, i)); i++) {
        double from, to;
        need(dse_retention_range(r, policy, &from, &to) && from > 0 && from <= to);
        struct dse_retained at;
        need(!dse_retention_at(r, policy, from / 2, 0.5, &at) && !dse_retention_at(r, policy, 2 * to, 0.5, &at));
        for (int k = 0; k <= 40; k++) {
            double context = k % 4 == 3 ? to : from + (to - from) * (k % 4) / 4, ratio = k / 40.0;
            if (!dse_retention_at(r, policy, context, ratio, &at)) continue;
            need(at.mass >= -1e-9 && at.mass <= 1 + 1e-9 && isfinite(at.error));
        }
        need(dse_retention_at(r, policy, from, 1, &at) && at.mass == 1 && at.error == 0);
    }
}

/* Of every step, at and between the contexts: counts that fit each other. */
static void check_recording(const struct dse_recording *r)
{
    size_t n, heads = dse_recording_heads(r), steps = dse_recording_steps(r);
    const double *contexts = dse_recording_contexts(r, &n);
    need(n > 0 && heads > 0 && steps > 0);
    for (size_t i = 0; i < n; i++) {
        double context = i + 1 < n ? (contexts[i] + contexts[i + 1]) / 2 : contexts[i], cv;
        for (size_t k = 0; k < heads * steps; k++) {
            struct dse_recorded at = dse_recording_at(r, context, k / steps, k % steps);
            need(at.active >= 0 && at.active <= context && at.updates <= at.active + 1e-9 && at.hits <= at.active + 1e-9);
        }
        struct dse_locality mean = dse_recording_mean(r, context, &cv);
        need(isfinite(mean.centers) && mean.hit_ratio >= 0 && mean.hit_ratio <= 1 + 1e-9 && cv >= 0 && isfinite(cv));
    }
}

/* Weights that add up to 1, of requests of at least a token each. */
static void check_requests(const struct dse_requests *r)
{
    enum { POINTS = 16 };
    struct request_point points[POINTS];
    const size_t n = requests_points(r, POINTS, points);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += points[i].weight;
        need(points[i].prompt >= 1 && points[i].generate >= 1 && points[i].prompt + points[i].generate <= 2e7);
    }
    need(n > 0 && fabs(sum - 1) < 1e-9);
}

/* A log in JSON, or in CSV with the names that some have. */
static bool is_log(const uint8_t *data, size_t n)
{
    static const char *const begins[] = {"{", "[", "prompt", "Context", "arrived"};
    bool is = false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const size_t length = strlen(begins[i]);
        is |= n >= length && memcmp(data, begins[i], length) == 0;
    }
    return is;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diags d;
    diags_init(&d);
    struct catalog *c = toy_catalog();
    int fd;
    char *path = memory_file(data, n, &fd);
    bool retention = n >= 6 && memcmp(data, "policy", 6) == 0, recording = n >= 12 && memcmp(data, "context,head", 12) == 0;
    bool quality = n >= 14 && memcmp(data, "method,context", 14) == 0;
    const bool requests = is_log(data, n);
    enum dse_kind kind = requests    ? DSE_KIND_REQUESTS
                         : quality   ? DSE_KIND_QUALITY
                         : retention ? DSE_KIND_RETENTION
                         : recording ? DSE_KIND_RECORDING
                                     : DSE_KIND_PROFILE;
    char *text = xasprintf("%s.fuzz = '%s'\n", kind_plural(kind), path);
    struct toml_doc *doc = toml_read_text("t", text, strlen(text), &d);
    bool ok = catalog_add_table(c, doc, &doc->root, &d);
    need(ok == (d.errors == 0));
    const struct dse_entry *entry = catalog_find(c, kind, "fuzz");
    need(ok == (entry != NULL));
    if (entry && requests) check_requests((const struct dse_requests *)(const void *)entry);
    if (entry && quality) check_quality((const struct dse_quality *)entry);
    if (entry && retention) check_retention((const struct dse_retention *)entry);
    if (entry && recording) check_recording((const struct dse_recording *)entry);
    if (entry && kind == DSE_KIND_PROFILE) {
        check_profile((const struct dse_profile *)entry);
        check_scores((const struct dse_profile *)entry);
    }
    toml_free(doc);
    free(text);
    free(path);
    close(fd);
    diags_release(&d);
    return 0;
}
