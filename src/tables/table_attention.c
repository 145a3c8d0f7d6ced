/* Attention as it was measured, and as the generator makes it: profile(name), retention(name), interval_map(...),
 * score_stats(...), score_share(...), exp_error(...). */
#include "tables/tables_internal.h"

#include "attention/generator.h"
#include "attention/locality.h"
#include "attention/score_stats.h"
#include "attention/single_pass.h"
#include "attention/softmax_range.h"
#include "attention/trace.h"
#include "desc/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- profiles of the catalog ----------------------------------------------------------------------------------------------- */

static const struct dse_entry *find_entry(const struct tables *t, enum dse_kind kind, const char *name, char **ret_error)
{
    const struct dse_entry *e = catalog_find(t->catalog, kind, name);
    if (!e) *ret_error = xasprintf("there is no %s \"%s\": `dse list %s`", kind_singular(kind), name, kind_plural(kind));
    return e;
}

/* Step i of `steps` from a to b, even on a logarithmic scale; the ends are a and b themselves. */
static double log_step(double a, double b, int i, int steps)
{
    return i == 0 ? a : i == steps ? b : a * pow(b / a, (double)i / steps);
}

static bool fill_profile(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    enum { STEPS = 48 };
    const struct dse_profile *p = (const struct dse_profile *)find_entry(context, DSE_KIND_PROFILE, args[0], ret_error);
    if (!p) return false;
    double min, max;
    dse_profile_range(p, &min, &max);
    for (int i = 0; i <= STEPS; i++) {
        double n = log_step(min, max, i, STEPS);
        struct dse_locality at = dse_profile_at(p, n);
        struct dse_locality_error error = dse_profile_error_at(p, n);
        const double cells[] = {
            n, at.centers, at.large, at.active, at.updates, at.hit_ratio, error.attention_error, error.false_negative};
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) computed_f64(rows, cells[k]);
    }
    return true;
}

static void add_retained(struct computed_rows *rows, const struct dse_retention *r, const char *policy, double context)
{
    enum { RATIOS = 40 };
    for (int i = 1; i <= RATIOS; i++) {
        double ratio = (double)i / RATIOS;
        struct dse_retained at;
        if (!dse_retention_at(r, policy, context, ratio, &at)) continue;
        computed_text(rows, policy);
        computed_f64(rows, context);
        computed_f64(rows, ratio);
        computed_f64(rows, at.mass);
        computed_f64(rows, at.error);
    }
}

static bool fill_retention(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    const struct dse_retention *r = (const struct dse_retention *)find_entry(context, DSE_KIND_RETENTION, args[0], ret_error);
    if (!r) return false;
    const char *policy;
    for (size_t i = 0; (policy = dse_retention_policy(r, i)); i++) {
        double min, max;
        dse_retention_range(r, policy, &min, &max);
        for (int k = 0; ldexp(min, k) < max; k++) add_retained(rows, r, policy, ldexp(min, k));
        add_retained(rows, r, policy, max);
    }
    return true;
}

/* ---- heads ----------------------------------------------------------------------------------------------------------------- */

/* A trace by the name that it has among those of the catalog, else by its path. The caller frees it. */
static char *trace_path(const char *source)
{
    char *shipped = xasprintf("%s/catalog/traces/%s.trace", catalog_data_dir(), source);
    if (!strchr(source, '/') && access(shipped, R_OK) == 0) return shipped;
    free(shipped);
    return xstrdup(source);
}

/* Head `number` of a trace file, layer by layer, or of the generator ("synthetic"), cut to at most n positions (0: 4096 of the
 * generator, all of a trace). */
static bool make_head(const char *source, int64_t number, int64_t n, struct head *ret, char **ret_error)
{
    struct diags diags;
    diags_init(&diags);
    bool ok;
    if (strcmp(source, "synthetic") == 0) {
        struct generator g = generator_defaults;
        g.n = n ? n : 4096;
        ok = generator_head(&g, (uint64_t)number, ret, &diags);
    } else {
        char *path = trace_path(source);
        struct trace *trace = trace_open(path, &diags);
        free(path);
        ok = trace != NULL;
        if (ok) {
            size_t heads = trace_info(trace)->heads;
            ok = trace_head(trace, (size_t)number / heads, (size_t)number % heads, ret, &diags);
        }
        trace_close(trace);
        if (ok && n && (size_t)n < ret->n) ret->n = (size_t)n;
    }
    if (!ok) return tables_fail(&diags, ret_error);
    diags_release(&diags);
    return true;
}

enum { HEAD_MAX = 1 << 20, POSITIONS_MAX = 1 << 16 };

/* The arguments that begin each of these tables: source, head, positions. */
static bool head_of(const char *const *args, struct head *ret, char **ret_error)
{
    int64_t number, n;
    return tables_integer(args[1], "head", 0, HEAD_MAX, 0, &number, ret_error) &&
           tables_integer(args[2], "positions", 2, POSITIONS_MAX, 0, &n, ret_error) &&
           make_head(args[0], number, n, ret, ret_error);
}

static double maximum(const double *x, size_t n)
{
    double most = x[0];
    for (size_t i = 1; i < n; i++) most = fmax(most, x[i]);
    return most;
}

static bool fill_interval_map(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    (void)context;
    int64_t first, steps;
    struct head h;
    if (!tables_integer(args[3], "first", 0, POSITIONS_MAX, -1, &first, ret_error) ||
        !tables_integer(args[4], "steps", 1, 4096, 10, &steps, ret_error) || !head_of(args, &h, ret_error))
        return false;
    size_t last = h.n;
    size_t from = first >= 0 ? (size_t)first : last > (size_t)steps ? last - (size_t)steps : 0;
    if (from + (size_t)steps < last) last = from + (size_t)steps;
    struct dse_pieces pieces;
    dse_pieces_init(&pieces, locality_defaults.edges, locality_defaults.intervals);
    double *scores = xcalloc(h.n, sizeof *scores);
    for (size_t t = from; t < last; t++) {
        head_scores(&h, t, scores);
        double most = maximum(scores, t + 1);
        for (size_t i = 0; i <= t; i++) {
            computed_i64(rows, (int64_t)t);
            computed_i64(rows, (int64_t)i);
            computed_i64(rows, (int64_t)dse_pieces_find(&pieces, scores[i] - most) + 1);
            computed_f64(rows, scores[i]);
        }
    }
    free(scores);
    head_release(&h);
    return true;
}

/* Lengths 128, 256, ... up to that of the head. */
static size_t doubling(size_t n, struct score_stats *ret, size_t max)
{
    size_t k = 0;
    for (size_t length = 128; length < n && k + 1 < max; length *= 2) ret[k++].n = length;
    ret[k++].n = n;
    return k;
}

static bool fill_score_stats(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    (void)context;
    struct head h;
    struct score_stats stats[16] = {0};
    if (!head_of(args, &h, ret_error)) return false;
    size_t n = doubling(h.n, stats, sizeof stats / sizeof *stats);
    score_stats_run(&h, -HUGE_VAL, HUGE_VAL, stats, n);
    for (size_t i = 0; i < n; i++) {
        const double cells[] = {(double)stats[i].n, stats[i].top1, stats[i].top2, stats[i].adjacent, stats[i].active, stats[i].hit};
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) computed_f64(rows, cells[k]);
    }
    head_release(&h);
    return true;
}

static bool fill_score_share(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    enum { WIDTH = SOFTMAX_BINS_PER_UNIT / 4, BINS = 2 * SOFTMAX_BINS_REACH * SOFTMAX_BINS_PER_UNIT };
    (void)context;
    struct head h;
    if (!head_of(args, &h, ret_error)) return false;
    struct softmax_spread spread;
    struct diags diags;
    diags_init(&diags);
    softmax_spread_init(&spread);
    bool ok = softmax_spread_add(&spread, &h, 0, &diags);
    for (size_t i = 0; ok && i < BINS; i += WIDTH) {
        uint64_t count = 0;
        for (size_t k = i; k < i + WIDTH; k++) count += spread.bins[k];
        if (!count) continue;
        computed_f64(rows, ((double)i + WIDTH / 2.0) / SOFTMAX_BINS_PER_UNIT - SOFTMAX_BINS_REACH);
        computed_f64(rows, (double)count / (double)spread.scores);
    }
    softmax_spread_release(&spread);
    head_release(&h);
    if (!ok) return tables_fail(&diags, ret_error);
    diags_release(&diags);
    return true;
}

/* ---- exp ------------------------------------------------------------------------------------------------------------------- */

static bool fill_exp_error(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    enum { POINTS = 2000 };
    (void)context;
    bool table = strcmp(args[0], "table") == 0;
    int64_t bits;
    if (!table && strcmp(args[0], "lines") != 0) {
        *ret_error = xasprintf("method: \"%s\" is none of table (SwiftKV's), lines (LAD's)", args[0]);
        return false;
    }
    if (!tables_integer(args[1], "bits", 1, 12, single_pass_defaults.lut_bits, &bits, ret_error)) return false;
    struct single_pass s = single_pass_defaults;
    s.lut_bits = (int)bits;
    struct dse_pieces pieces;
    dse_pieces_init(&pieces, locality_defaults.edges, locality_defaults.intervals);
    double unit = exp2(s.q_frac_bits), from = table ? -1 : -12;
    for (int i = 0; i <= POINTS; i++) {
        double x = from * (1 - (double)i / POINTS);
        if (table) x = round(x * unit) / unit;
        double approximate = table ? single_pass_exp(&s, x) : dse_pieces_exp(&pieces, x);
        computed_f64(rows, x);
        computed_f64(rows, exp(x));
        computed_f64(rows, approximate);
        computed_f64(rows, approximate / exp(x) - 1);
    }
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

static const char *const name_argument[] = {"profile", NULL};
static const char *const head_arguments[] = {"source", "head", "positions", NULL};

const struct computed_table table_profile = {
    .name = "profile",
    .doc = "an attention profile of the catalog over the context",
    .columns = (const char *const[]){"context", "centers", "large", "active", "updates", "hit_ratio", "attention_error",
                                     "false_negative", NULL},
    .arguments = name_argument,
    .required = 1,
    .fill = fill_profile,
};

const struct computed_table table_retention = {
    .name = "retention",
    .doc = "a retention profile of the catalog: what each policy keeps, over context and ratio",
    .columns = (const char *const[]){"policy", "context", "ratio", "retained_mass", "attention_error", NULL},
    .arguments = name_argument,
    .required = 1,
    .fill = fill_retention,
};

const struct computed_table table_interval_map = {
    .name = "interval_map",
    .doc = "the interval (1: farthest from the maximum) of every position's score in some steps of a head: 'synthetic' or a trace "
           "file",
    .columns = (const char *const[]){"step", "position", "interval", "score", NULL},
    .arguments = (const char *const[]){"source", "head", "positions", "first", "steps", NULL},
    .required = 1,
    .fill = fill_interval_map,
};

const struct computed_table table_score_stats = {
    .name = "score_stats",
    .doc = "how long scores of a head stay in an interval, at growing contexts",
    .columns = (const char *const[]){"context", "top1", "top2", "adjacent", "active", "hit_ratio", NULL},
    .arguments = head_arguments,
    .required = 1,
    .fill = fill_score_stats,
};

const struct computed_table table_score_share = {
    .name = "score_share",
    .doc = "number of a head's scores around each score, in steps of 0.25",
    .columns = (const char *const[]){"score", "share", NULL},
    .arguments = head_arguments,
    .required = 1,
    .fill = fill_score_share,
};

const struct computed_table table_exp_error = {
    .name = "exp_error",
    .doc = "exp as hardware computes it: 'table' (SwiftKV, 2^bits pieces over an octave) or 'lines' (LAD's five intervals)",
    .columns = (const char *const[]){"x", "exact", "approximate", "relative_error", NULL},
    .arguments = (const char *const[]){"method", "bits", NULL},
    .required = 1,
    .fill = fill_exp_error,
};
