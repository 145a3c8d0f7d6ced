#include "attention/profile_kinds.h"

#include "base/xalloc.h"
#include "quality/profile.h"
#include "quality/recording.h"
#include "quality/retention.h"

#include <stdlib.h>
#include <string.h>

#define S struct profile_settings

static void set_row(const struct profile_report *r, size_t i, const double *cells, size_t n)
{
    memcpy(report_row(r, i), cells, n * sizeof *cells);
}
#define SET_ROW(r, i, ...) set_row(r, i, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* ---- locality ----------------------------------------------------------------------------------------------------------- */

enum scores_by { SCORES_CENTERS, SCORES_EXACT };
static const char *const scores[] = {[SCORES_CENTERS] = "centers", [SCORES_EXACT] = "exact", NULL};

static const struct dse_param locality_params[] = {
    DSE_PARAM_F64(S, collinear, "", 0, 1, "|cos| above which two keys share a center", "Algorithm 1"),
    DSE_PARAM_I64(S, recent, 1, 4096, "newest positions, which are always active", "Sec. III-E"),
    DSE_PARAM_I64(S, intervals, INTERVALS_MIN, LOCALITY_INTERVALS_MAX, "pieces of exp, shorter towards 0; or see --edges",
                  "Sec. II-B"),
    DSE_PARAM_ENUM(S, scores, scores, "intervals by way of the centers, as the machine does, or of the exact scores", ""),
    DSE_PARAM_END,
};
static const char *const locality_columns[] = {
    "context",        "centers",        "large",       "active",    "updates",    "hit_ratio",    "attention_error",
    "false_negative", "centers_sd",     "large_sd",    "active_sd", "updates_sd", "hit_ratio_sd", "false_positive",
    "top1",           "top1_plus_top2", "softmax_mse", "lines_mse", NULL};

static struct locality_options options_of(const struct profile_options *o)
{
    struct locality_options l = locality_defaults;
    l.collinear = o->settings.collinear;
    l.recent = (size_t)o->settings.recent;
    l.exact_scores = o->settings.scores == SCORES_EXACT;
    l.intervals = (size_t)o->settings.intervals;
    dse_pieces_edges(l.edges, l.intervals);
    for (size_t i = 0; i < o->n_edges; i++) l.edges[i] = o->edges[i];
    return l;
}

static bool measure_locality_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                                  struct diags *diags)
{
    struct locality_options l = options_of(o);
    struct measured_locality *rows = xcalloc(plan->n_contexts, sizeof *rows);
    bool ok = measure_locality(plan, &l, rows, diags);
    if (ok) report_init(ret, o->kind, plan->n_contexts);
    for (size_t i = 0; ok && i < plan->n_contexts; i++) {
        const struct measured_locality *m = &rows[i];
        SET_ROW(ret, i, (double)plan->contexts[i], m->centers.mean, m->large.mean, m->active.mean, m->updates.mean,
                m->pooled_hit_ratio, m->attention_error.mean, m->false_negative.mean, moments_sd(&m->centers),
                moments_sd(&m->large), moments_sd(&m->active), moments_sd(&m->updates), moments_sd(&m->hit_ratio),
                m->false_positive.mean, m->top1.mean, m->top1.mean + m->top2.mean, m->softmax_mse.mean, m->lines_mse.mean);
    }
    free(rows);
    return ok;
}

static char *too_few_contexts(const struct profile_options *o)
{
    if (o->n_contexts >= PROFILE_POINTS_MIN) return NULL;
    return xasprintf("%zu context%s; at least %d are needed", o->n_contexts, o->n_contexts == 1 ? "" : "s",
                     (int)PROFILE_POINTS_MIN);
}

static char *locality_fault(const struct profile_report *r)
{
    double *contexts = xcalloc(r->n_rows, sizeof *contexts);
    struct dse_locality *points = xcalloc(r->n_rows, sizeof *points);
    for (size_t i = 0; i < r->n_rows; i++) {
        const double *v = report_row(r, i);
        contexts[i] = v[0];
        points[i] = (struct dse_locality){.centers = v[1], .large = v[2], .active = v[3], .updates = v[4], .hit_ratio = v[5]};
    }
    struct row_fault fault = {0};
    profile_free(profile_new("", "", contexts, points, r->n_rows, &fault));
    free(contexts);
    free(points);
    return row_fault_text(&fault);
}

/* ---- recording: locality step by step ----------------------------------------------------------------------------------- */

static const char *const recording_columns[] = {"context", "head", "step", "centers", "large", "active", "updates", "hits", NULL};

static bool measure_recording_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                                   struct diags *diags)
{
    struct locality_options l = options_of(o);
    size_t n = plan->n_contexts * measure_heads(plan) * plan->steps;
    struct recording_row *rows = xcalloc(n + 1, sizeof *rows);
    bool ok = measure_recording(plan, &l, rows, diags);
    if (ok) report_init(ret, o->kind, n);
    for (size_t i = 0; ok && i < n; i++) {
        const struct recording_row *m = &rows[i];
        SET_ROW(ret, i, m->context, m->head, m->step, m->at.centers, m->at.large, m->at.active, m->at.updates, m->at.hits);
    }
    free(rows);
    return ok;
}

static char *recording_fault(const struct profile_report *r)
{
    struct recording_row *rows = xcalloc(r->n_rows + 1, sizeof *rows);
    for (size_t i = 0; i < r->n_rows; i++) {
        const double *v = report_row(r, i);
        rows[i] = (struct recording_row){v[0], v[1], v[2], {v[3], v[4], v[5], v[6], v[7]}};
    }
    struct row_fault fault = {0};
    recording_free(recording_new("", "", rows, r->n_rows, &fault));
    free(rows);
    return row_fault_text(&fault);
}

/* ---- retention ---------------------------------------------------------------------------------------------------------- */

static const struct dse_param retention_params[] = {
    DSE_EMBED(S, eviction, struct eviction_options, eviction_params),
    DSE_PARAM_F64(
        S, prompt_share, "", 0, 1,
        "share of a context that is a prompt, whose surplus leaves when it ends; 0: every position is streamed; 1: all before the "
        "steps that are measured",
        "Fig. 3"),
    DSE_PARAM_END,
};
static const char *const retention_columns[] = {
    "policy", "context", "ratio", "retained_mass", "retained_mass_sd", "attention_error", "attention_error_sd", NULL};

/* The policies asked for, in the order asked; the caller frees the list. */
static struct retention_policy *policies_of(const struct profile_options *o)
{
    struct retention_policy *list = xcalloc(o->n_policies, sizeof *list);
    for (size_t i = 0; i < o->n_policies; i++) {
        list[i] = (struct retention_policy){o->settings.eviction, o->settings.prompt_share};
        list[i].options.policy = o->policies[i];
        list[i].options.shared = !o->policies[i]->traits->per_head;
    }
    return list;
}

static bool measure_retention_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                                   struct diags *diags)
{
    struct retention_policy *policies = policies_of(o);
    struct measured_retention *rows = xcalloc(plan->n_contexts * o->n_policies * o->n_ratios, sizeof *rows);
    size_t n;
    bool ok = measure_retention(plan, policies, o->n_policies, o->ratios, o->n_ratios, rows, &n, diags);
    if (ok) report_init(ret, o->kind, n);
    for (size_t i = 0; ok && i < n; i++) {
        const struct measured_retention *m = &rows[i];
        ret->policy[i] = m->policy->options.policy->traits->name;
        SET_ROW(ret, i, (double)m->context, m->ratio, m->retained_mass.mean, moments_sd(&m->retained_mass), m->attention_error.mean,
                moments_sd(&m->attention_error));
    }
    free(rows);
    free(policies);
    return ok;
}

static char *too_few_ratios(const struct profile_options *o)
{
    if (o->n_ratios >= RETENTION_RATIOS_MIN) return NULL;
    return xasprintf("%zu ratio%s; at least %d are needed", o->n_ratios, o->n_ratios == 1 ? "" : "s", (int)RETENTION_RATIOS_MIN);
}

static char *retention_fault(const struct profile_report *r)
{
    struct retention_point *points = xcalloc(r->n_rows, sizeof *points);
    for (size_t i = 0; i < r->n_rows; i++) {
        const double *v = report_row(r, i);
        points[i] = (struct retention_point){r->policy[i], v[0], v[1], {v[2] < 1 ? v[2] : 1, v[4]}};
    }
    struct row_fault fault = {0};
    retention_free(retention_new("", "", points, r->n_rows, &fault));
    free(points);
    return row_fault_text(&fault);
}

/* ---- the range of scores ------------------------------------------------------------------------------------------------ */

static const struct dse_param range_params[] = {
    DSE_PARAM_F64(S, phi, "", -1000, 1000, "the unified maximum", "Sec. 3"),
    DSE_PARAM_F64(S, low, "", -100000, 100000, "a vector with a score at or below phi + low is computed anew", "Sec. 3"),
    DSE_PARAM_F64(S, high, "", -100000, 100000, "a vector with a score at or above phi + high is computed anew", "Sec. 3"),
    DSE_PARAM_END,
};
static const char *const range_columns[] = {"context", "vectors", "scores", "min", "max", "outside", "recomputed", NULL};

static bool measure_range_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                               struct diags *diags)
{
    struct softmax_range range = {.phi = o->settings.phi, .low = o->settings.low, .high = o->settings.high};
    struct measured_range *rows = xcalloc(plan->n_contexts, sizeof *rows);
    bool ok = measure_range(plan, &range, rows, diags);
    if (ok) report_init(ret, o->kind, plan->n_contexts);
    for (size_t i = 0; ok && i < plan->n_contexts; i++) {
        const struct softmax_range_result *m = &rows[i].count;
        SET_ROW(ret, i, (double)plan->contexts[i], (double)m->vectors, (double)m->scores, m->min, m->max, m->outside,
                m->recomputed);
    }
    free(rows);
    return ok;
}

/* ---- the partial softmax ------------------------------------------------------------------------------------------------ */

static const struct dse_param partial_params[] = {
    DSE_PARAM_F64(S, phi, "", -1000, 1000, "the unified maximum", "Sec. 3"),
    DSE_PARAM_F64(S, low, "", -100000, 100000, "a vector with a score at or below phi + low is computed anew", "Sec. 3"),
    DSE_PARAM_F64(S, high, "", -100000, 100000, "a vector with a score at or above phi + high is computed anew", "Sec. 3"),
    DSE_PARAM_I64(S, part, 1, 65536, "scores in a partial vector", "Sec. 3"),
    DSE_PARAM_ENUM(S, held, softmax_held_names, "terms and sums in fp32, terms alone in fp16 (mixed), or both", ""),
    DSE_PARAM_END,
};
static const char *const partial_columns[] = {
    "context",      "vectors",     "recomputed",  "lost", "attention_error", "attention_error_sd",
    "output_error", "within_1e_2", "within_1e_1", NULL};

static double share(size_t part, size_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static bool measure_partial_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                                 struct diags *diags)
{
    const struct profile_settings *set = &o->settings;
    const struct softmax_partial p = {{set->phi, set->low, set->high}, (size_t)set->part, set->held};
    struct measured_partial *rows = xcalloc(plan->n_contexts, sizeof *rows);
    bool ok = measure_partial(plan, &p, rows, diags);
    if (ok) report_init(ret, o->kind, plan->n_contexts);
    for (size_t i = 0; ok && i < plan->n_contexts; i++) {
        const struct measured_partial *m = &rows[i];
        SET_ROW(ret, i, (double)plan->contexts[i], (double)m->vectors, share(m->recomputed, m->vectors), share(m->lost, m->vectors),
                m->attention_error.mean, moments_sd(&m->attention_error), m->output_error, m->within_1e_2, m->within_1e_1);
    }
    free(rows);
    return ok;
}

/* ---- fixed point -------------------------------------------------------------------------------------------------------- */

static const struct dse_param fixed_params[] = {
    DSE_PARAM_I64(S, fraction_bits, 8, 24, "of the 32 bits of a word, those behind the point", "Sec. III"),
    DSE_PARAM_I64(S, exp_bits, 1, 12, "of index into the table of the exponential", "Eq. 9"),
    DSE_PARAM_ENUM(S, rounding, dse_rounding_names, "what the shift of the exponential does with the bits that fall out", "Eq. 10"),
    DSE_PARAM_ENUM(S, products, dse_rounding_names, "and products of two words", "Sec. IV-B"),
    DSE_PARAM_END,
};
static const char *const fixed_columns[] = {"context", "attention_error", "attention_error_sd", "worst_error", "saturated", NULL};

static bool measure_fixed_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                               struct diags *diags)
{
    const struct profile_settings *set = &o->settings;
    const struct single_pass s = {.q_frac_bits = (int)set->fraction_bits,
                                  .lut_bits = (int)set->exp_bits,
                                  .truncate = set->products == DSE_TRUNCATE,
                                  .cut_shift = set->rounding == DSE_TRUNCATE};
    struct measured_fixed *rows = xcalloc(plan->n_contexts, sizeof *rows);
    bool ok = measure_fixed(plan, &s, rows, diags);
    if (ok) report_init(ret, o->kind, plan->n_contexts);
    for (size_t i = 0; ok && i < plan->n_contexts; i++) {
        const struct measured_fixed *m = &rows[i];
        SET_ROW(ret, i, (double)plan->contexts[i], m->attention_error.mean, moments_sd(&m->attention_error), m->worst_error,
                share(m->saturated, m->steps));
    }
    free(rows);
    return ok;
}

/* ---- keys and values in few bits ---------------------------------------------------------------------------------------- */

static const struct dse_param format_params[] = {
    DSE_EMBED(S, format, struct kv_format, kv_format_params),
    DSE_PARAM_END,
};
static const char *const format_columns[] = {"context",      "attention_error", "attention_error_sd", "key_error",
                                             "key_error_sd", "value_error",     "value_error_sd",     NULL};

static bool measure_format_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                                struct diags *diags)
{
    struct measured_format *rows = xcalloc(plan->n_contexts, sizeof *rows);
    bool ok = measure_format(plan, &o->settings.format, rows, diags);
    if (ok) report_init(ret, o->kind, plan->n_contexts);
    for (size_t i = 0; ok && i < plan->n_contexts; i++) {
        const struct measured_format *m = &rows[i];
        SET_ROW(ret, i, (double)plan->contexts[i], m->attention_error.mean, moments_sd(&m->attention_error), m->key_error.mean,
                moments_sd(&m->key_error), m->value_error.mean, moments_sd(&m->value_error));
    }
    free(rows);
    return ok;
}

/* ---- kept sets ---------------------------------------------------------------------------------------------------------- */

static const struct dse_param no_params[] = {DSE_PARAM_END};
static const char *const kept_columns[] = {
    "context", "steps", "ratio", "retained_mass", "retained_mass_sd", "attention_error", "attention_error_sd", NULL};

static bool measure_kept_rows(const struct profile_options *o, const struct measure_plan *plan, struct profile_report *ret,
                              struct diags *diags)
{
    struct measured_kept *rows = xcalloc(plan->n_contexts, sizeof *rows);
    size_t n;
    bool ok = measure_kept(plan, o->kept, rows, &n, diags);
    if (ok) report_init(ret, o->kind, n);
    for (size_t i = 0; ok && i < n; i++) {
        const struct measured_kept *m = &rows[i];
        SET_ROW(ret, i, (double)m->context, (double)m->steps, m->ratio, m->retained_mass.mean, moments_sd(&m->retained_mass),
                m->attention_error.mean, moments_sd(&m->attention_error));
    }
    free(rows);
    return ok;
}

/* ---- surfaces: all of them ---------------------------------------------------------------------------------------------- */

#define EMBED(name_, table) \
    { \
        .type = DSE_TYPE_EMBED, .name = name_, .offset = 0, .embed = table \
    }
static const struct dse_param surface_params[] = {
    EMBED("retention", retention_params),
    EMBED("locality", locality_params),
    EMBED("partial", partial_params),
    EMBED("fixed", fixed_params),
    DSE_PARAM_END,
};
static const char *const surface_columns[] = {"method", "context", "ratio", "settings", "metric", "mean", "se",
                                              "sd",     "p10",     "p50",   "p90",      "heads",  "kind", NULL};

/* ---- the table ---------------------------------------------------------------------------------------------------------- */

#define OPTIONS(...) \
    (const char *const[]) \
    { \
        __VA_ARGS__, NULL \
    }

const struct profile_kind profile_kinds[] = {
    {.name = "locality",
     .params = locality_params,
     .options = OPTIONS("edges", "fit"),
     .columns = locality_columns,
     .too_few = too_few_contexts,
     .measure = measure_locality_rows,
     .fault = locality_fault},
    {.name = "retention",
     .params = retention_params,
     .options = OPTIONS("ratios", "policies"),
     .columns = retention_columns,
     .of_policies = true,
     .too_few = too_few_ratios,
     .measure = measure_retention_rows,
     .fault = retention_fault},
    {.name = "range", .params = range_params, .columns = range_columns, .measure = measure_range_rows},
    {.name = "partial-softmax", .params = partial_params, .columns = partial_columns, .measure = measure_partial_rows},
    {.name = "fixed-point", .params = fixed_params, .columns = fixed_columns, .measure = measure_fixed_rows},
    {.name = "kv-format", .params = format_params, .columns = format_columns, .of_bits = true, .measure = measure_format_rows},
    {.name = "kept",
     .params = no_params,
     .options = OPTIONS("kept"),
     .columns = kept_columns,
     .of_sets = true,
     .measure = measure_kept_rows},
    {.name = "recording",
     .params = locality_params,
     .options = OPTIONS("edges"),
     .columns = recording_columns,
     .every_step = true,
     .measure = measure_recording_rows,
     .fault = recording_fault},
    {.name = "surface",
     .params = surface_params,
     .options = OPTIONS("ratios", "policies", "vary", "layers", "ends", "by-layer", "means", "kv-bits"),
     .columns = surface_columns,
     .of_policies = true,
     .is_surface = true,
     .too_few = too_few_ratios},
    {.name = NULL},
};

const struct profile_kind *profile_kind_find(const char *name)
{
    for (const struct profile_kind *k = profile_kinds; k->name; k++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

const char *const *profile_kind_names(void)
{
    static const char *names[sizeof profile_kinds / sizeof *profile_kinds];
    for (size_t i = 0; profile_kinds[i].name; i++) names[i] = profile_kinds[i].name;
    return names;
}
