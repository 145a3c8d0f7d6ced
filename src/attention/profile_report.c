#include "attention/profile_report.h"

#include "attention/power_law.h"
#include "attention/profile_kinds.h"
#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t numbers(const struct profile_report *r)
{
    return r->n_columns - (r->policy != NULL);
}

void report_init(struct profile_report *r, const struct profile_kind *kind, size_t n)
{
    *r = (struct profile_report){.kind = kind, .columns = kind->columns, .n_rows = n};
    text_init(&r->notes);
    while (r->columns[r->n_columns]) r->n_columns++;
    if (kind->of_policies) r->policy = xcalloc(n + 1, sizeof *r->policy);
    r->cells = xcalloc(n * r->n_columns + 1, sizeof *r->cells);
}

double *report_row(const struct profile_report *r, size_t i)
{
    return r->cells + i * numbers(r);
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
            x[i] = report_row(r, i)[0];
            y[i] = report_row(r, i)[c];
        }
        if (power_law_fit(x, y, r->n_rows, &law))
            text_addf(&r->notes, "fit: %s = %.4g n^%.4g; standard errors %.2g and %.2g; deviates by %.2g %%\n", r->columns[c],
                      law.a, law.b, law.a_se, law.b_se, 100 * law.residual);
        else
            text_addf(&r->notes, "fit: %s has no law a n^b, which needs three contexts and positive numbers\n", r->columns[c]);
    }
    free(x);
    free(y);
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

/* How many digits numbers are printed with. Counts of single steps are whole numbers. */
static int digits(const struct profile_report *r)
{
    enum { MEANS = 6, COUNTS = 10 };
    return r->kind->every_step ? COUNTS : MEANS;
}

void report_csv(const struct profile_report *r, const char *head, struct text *ret)
{
    add_comments(ret, head);
    add_comments(ret, r->notes.s);
    for (size_t c = 0; c < r->n_columns; c++) text_addf(ret, "%s%s", c ? "," : "", r->columns[c]);
    text_add(ret, "\n");
    for (size_t i = 0; i < r->n_rows; i++) {
        if (r->policy) text_addf(ret, "%s,", r->policy[i]);
        for (size_t c = 0; c < numbers(r); c++) text_addf(ret, "%s%.*g", c ? "," : "", digits(r), report_row(r, i)[c]);
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
                output_text(o, text_short_number(buf, report_row(r, i)[c]));
            else
                output_f64(o, report_row(r, i)[c]);
        }
    }
    bool ok = output_end(o);
    if (format == OUTPUT_TABLE) printf("\n%s", r->notes.s);
    return ok;
}
