#include "cli/profile_report.h"

#include "base/xalloc.h"
#include "workload/eviction_policies.h"
#include "workload/power_law.h"
#include "workload/profile.h"
#include "workload/recording.h"
#include "workload/retention.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const locality_columns[] = {"context",        "centers",         "large",          "active",         "updates",
                                               "hit_ratio",      "attention_error", "false_negative", "centers_sd",     "large_sd",
                                               "active_sd",      "updates_sd",      "hit_ratio_sd",   "false_positive", "top1",
                                               "top1_plus_top2", "softmax_mse",     "lines_mse"};
enum { LOCALITY_COLUMNS = sizeof locality_columns / sizeof *locality_columns };

static const char *const retention_columns[] = {
    "policy", "context", "ratio", "retained_mass", "retained_mass_sd", "attention_error", "attention_error_sd"};
enum { RETENTION_COLUMNS = sizeof retention_columns / sizeof *retention_columns };

static size_t numbers(const struct profile_report *r)
{
    return r->n_columns - (r->policy != NULL);
}

static double *row(const struct profile_report *r, size_t i)
{
    return r->cells + i * numbers(r);
}

void report_locality(struct profile_report *r, const size_t *contexts, size_t n, const struct measured_locality *rows)
{
    *r = (struct profile_report){.columns = locality_columns, .n_columns = LOCALITY_COLUMNS, .n_rows = n};
    text_init(&r->notes);
    r->cells = xcalloc(n * LOCALITY_COLUMNS, sizeof *r->cells);
    for (size_t i = 0; i < n; i++) {
        const struct measured_locality *m = &rows[i];
        const double cells[] = {(double)contexts[i],
                                m->centers.mean,
                                m->large.mean,
                                m->active.mean,
                                m->updates.mean,
                                m->pooled_hit_ratio,
                                m->attention_error.mean,
                                m->false_negative.mean,
                                moments_sd(&m->centers),
                                moments_sd(&m->large),
                                moments_sd(&m->active),
                                moments_sd(&m->updates),
                                moments_sd(&m->hit_ratio),
                                m->false_positive.mean,
                                m->top1.mean,
                                m->top1.mean + m->top2.mean,
                                m->softmax_mse.mean,
                                m->lines_mse.mean};
        for (size_t c = 0; c < LOCALITY_COLUMNS; c++) row(r, i)[c] = cells[c];
    }
}

void report_retention(struct profile_report *r, const struct measured_retention *rows, size_t n)
{
    *r = (struct profile_report){.columns = retention_columns, .n_columns = RETENTION_COLUMNS, .n_rows = n};
    text_init(&r->notes);
    r->policy = xcalloc(n, sizeof *r->policy);
    r->cells = xcalloc(n * RETENTION_COLUMNS, sizeof *r->cells);
    for (size_t i = 0; i < n; i++) {
        const struct measured_retention *m = &rows[i];
        r->policy[i] = m->policy->options.policy->traits.name;
        const double cells[] = {(double)m->context,      m->ratio,
                                m->retained_mass.mean,   moments_sd(&m->retained_mass),
                                m->attention_error.mean, moments_sd(&m->attention_error)};
        for (size_t c = 0; c < sizeof cells / sizeof *cells; c++) row(r, i)[c] = cells[c];
    }
}

static const char *const range_columns[] = {"context", "vectors", "scores", "min", "max", "outside", "recomputed"};
enum { RANGE_COLUMNS = sizeof range_columns / sizeof *range_columns };

void report_range(struct profile_report *r, const size_t *contexts, size_t n, const struct measured_range *rows)
{
    *r = (struct profile_report){.columns = range_columns, .n_columns = RANGE_COLUMNS, .n_rows = n};
    text_init(&r->notes);
    r->cells = xcalloc(n * RANGE_COLUMNS, sizeof *r->cells);
    for (size_t i = 0; i < n; i++) {
        const struct softmax_range_result *m = &rows[i].count;
        const double cells[] = {(double)contexts[i], (double)m->vectors, (double)m->scores, m->min, m->max,
                                m->outside,          m->recomputed};
        for (size_t c = 0; c < RANGE_COLUMNS; c++) row(r, i)[c] = cells[c];
    }
}

static const char *const recording_columns[] = {"context", "head", "step", "centers", "large", "active", "updates", "hits"};
enum { RECORDING_COLUMNS = sizeof recording_columns / sizeof *recording_columns };

void report_recording(struct profile_report *r, const struct recording_row *rows, size_t n)
{
    *r = (struct profile_report){.columns = recording_columns, .n_columns = RECORDING_COLUMNS, .n_rows = n};
    text_init(&r->notes);
    r->cells = xcalloc(n * RECORDING_COLUMNS, sizeof *r->cells);
    for (size_t i = 0; i < n; i++) {
        const struct recording_row *m = &rows[i];
        const double cells[] = {m->context, m->head, m->step, m->at.centers, m->at.large, m->at.active, m->at.updates, m->at.hits};
        for (size_t c = 0; c < RECORDING_COLUMNS; c++) row(r, i)[c] = cells[c];
    }
}

void report_release(struct profile_report *r)
{
    text_release(&r->notes);
    free(r->policy);
    free(r->cells);
}

void report_fit_locality(struct profile_report *r)
{
    enum { FIRST = 1, LAST = 5 }; /* centers to hit_ratio */
    double *x = xcalloc(r->n_rows, sizeof *x), *y = xcalloc(r->n_rows, sizeof *y);
    for (size_t c = FIRST; c <= LAST; c++) {
        struct power_law law;
        for (size_t i = 0; i < r->n_rows; i++) {
            x[i] = row(r, i)[0];
            y[i] = row(r, i)[c];
        }
        if (power_law_fit(x, y, r->n_rows, &law))
            text_addf(&r->notes, "fit: %s = %.4g n^%.4g; standard errors %.2g and %.2g; deviates by %.2g %%\n", r->columns[c],
                      law.a, law.b, law.a_se, law.b_se, 100 * law.residual);
        else
            text_addf(&r->notes, "fit: %s has no law a n^b: that takes three contexts and positive numbers\n", r->columns[c]);
    }
    free(x);
    free(y);
}

/* ---- is it a profile? ---------------------------------------------------------------------------------------------------- */

static char *locality_fault(const struct profile_report *r)
{
    double *contexts = xcalloc(r->n_rows, sizeof *contexts);
    struct dse_locality *points = xcalloc(r->n_rows, sizeof *points);
    for (size_t i = 0; i < r->n_rows; i++) {
        const double *v = row(r, i);
        contexts[i] = v[0];
        points[i] = (struct dse_locality){.centers = v[1], .large = v[2], .active = v[3], .updates = v[4], .hit_ratio = v[5]};
    }
    struct row_fault fault = {0};
    profile_free(profile_new("", "", contexts, points, r->n_rows, &fault));
    free(contexts);
    free(points);
    return row_fault_text(&fault);
}

static char *retention_fault(const struct profile_report *r)
{
    struct retention_point *points = xcalloc(r->n_rows, sizeof *points);
    for (size_t i = 0; i < r->n_rows; i++) {
        const double *v = row(r, i);
        points[i] = (struct retention_point){r->policy[i], v[0], v[1], {v[2] < 1 ? v[2] : 1, v[4]}};
    }
    struct row_fault fault = {0};
    retention_free(retention_new("", "", points, r->n_rows, &fault));
    free(points);
    return row_fault_text(&fault);
}

static char *recording_fault(const struct profile_report *r)
{
    struct recording_row *rows = xcalloc(r->n_rows + 1, sizeof *rows);
    for (size_t i = 0; i < r->n_rows; i++) {
        const double *v = row(r, i);
        rows[i] = (struct recording_row){v[0], v[1], v[2], {v[3], v[4], v[5], v[6], v[7]}};
    }
    struct row_fault fault = {0};
    recording_free(recording_new("", "", rows, r->n_rows, &fault));
    free(rows);
    return row_fault_text(&fault);
}

char *report_fault(const struct profile_report *r)
{
    if (r->columns == recording_columns) return recording_fault(r);
    if (r->columns == range_columns) return NULL; /* nothing reads it but people */
    return r->policy ? retention_fault(r) : locality_fault(r);
}

/* ---- text ---------------------------------------------------------------------------------------------------------------- */

static void add_comments(struct text *t, const char *lines)
{
    for (const char *s = lines; *s;) {
        size_t n = strcspn(s, "\n");
        text_add(t, "# ");
        text_add_bytes(t, s, n);
        text_add(t, "\n");
        s += n + (s[n] == '\n');
    }
}

/* Counts of single steps are whole numbers. */
static int digits(const struct profile_report *r)
{
    enum { MEANS = 6, COUNTS = 10 };
    return r->columns == recording_columns ? COUNTS : MEANS;
}

void report_csv(const struct profile_report *r, const char *head, struct text *ret)
{
    add_comments(ret, head);
    add_comments(ret, r->notes.s);
    for (size_t c = 0; c < r->n_columns; c++) text_addf(ret, "%s%s", c ? "," : "", r->columns[c]);
    text_add(ret, "\n");
    for (size_t i = 0; i < r->n_rows; i++) {
        if (r->policy) text_addf(ret, "%s,", r->policy[i]);
        for (size_t c = 0; c < numbers(r); c++) text_addf(ret, "%s%.*g", c ? "," : "", digits(r), row(r, i)[c]);
        text_add(ret, "\n");
    }
}

bool report_print(const struct profile_report *r, enum output_format format)
{
    struct output *o = output_new(stdout, format, r->columns, r->n_columns);
    for (size_t i = 0; i < r->n_rows; i++) {
        if (r->policy) output_text(o, r->policy[i]);
        for (size_t c = 0; c < numbers(r); c++) {
            char buf[TEXT_NUMBER_MAX];
            if (format == OUTPUT_TABLE)
                output_text(o, text_short_number(buf, row(r, i)[c]));
            else
                output_f64(o, row(r, i)[c]);
        }
    }
    bool ok = output_end(o);
    if (format == OUTPUT_TABLE) printf("\n%s", r->notes.s);
    return ok;
}
