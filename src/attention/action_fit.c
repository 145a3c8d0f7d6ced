/* dse trace fit: the parameters of synthetic attention at which its statistics are the published ones. */
#include "attention/action.h"
#include "attention/anchors_file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "command/output.h"
#include "config/catalog.h"

#include <stdlib.h>

enum { ITERATIONS = 1000 }; /* more than it takes */

struct report {
    struct anchor_set set;
    struct generator_fit fit;
    double *start, *fitted, *shipped; /* measured, one an anchor */
};

static void put_parameters(const struct report *r, enum output_format format)
{
    struct output *o = output_new(stdout, format, (const char *const[]){"PARAMETER", "START", "FITTED", "SHIPPED"}, 4);
    for (size_t i = 0; i < r->set.n_fitted; i++) {
        const struct dse_param *row = r->set.fitted[i];
        output_text(o, row->name);
        output_f64(o, *(const double *)((const char *)&r->set.start + row->offset));
        output_f64(o, *(const double *)((const char *)&r->fit.g + row->offset));
        output_f64(o, *(const double *)((const char *)&generator_defaults + row->offset));
    }
    output_end(o);
}

static void put_anchors(const struct report *r, enum output_format format)
{
    static const char *const signs[] = {[ANCHOR_EQUAL] = "=", [ANCHOR_AT_LEAST] = ">=", [ANCHOR_AT_MOST] = "<="};
    struct output *o = output_new(
        stdout, format,
        (const char *const[]){"STATISTIC", "N", "IS", "PUBLISHED", "TOLERANCE", "START", "FITTED", "KEPT", "SHIPPED", "SOURCE"},
        10);
    for (size_t i = 0; i < r->set.n; i++) {
        const struct anchor *a = &r->set.list[i];
        bool kept = anchor_kept(a, r->fitted[i]);
        output_text(o, anchor_metric_names[a->metric]);
        output_i64(o, (int64_t)a->n);
        output_text(o, signs[a->kind]);
        output_f64(o, a->value);
        output_f64(o, a->tolerance);
        output_f64(o, r->start[i]);
        output_f64(o, r->fitted[i]);
        output_coloured(o, kept ? "yes" : "no", kept ? "\033[32m" : "\033[31m");
        output_f64(o, r->shipped[i]);
        output_text(o, a->source);
    }
    output_end(o);
}

static void put_report(const struct report *r, enum output_format format)
{
    if (format != OUTPUT_TABLE) {
        put_anchors(r, format);
        return;
    }
    char buf[TEXT_NUMBER_MAX];
    put_parameters(r, format);
    putchar('\n');
    put_anchors(r, format);
    printf("\n%s after %zu iterations of %zu simplex%s, %zu evaluations; misfit %s at the start",
           r->fit.converged ? "converged" : "stopped", r->fit.iterations, r->fit.simplexes, r->fit.simplexes == 1 ? "" : "es",
           r->fit.evaluations, text_short_number(buf, anchors_misfit(&r->set, r->start)));
    printf(", %s fitted", text_short_number(buf, r->fit.misfit));
    printf(", %s as shipped. Nothing is written.\n", text_short_number(buf, anchors_misfit(&r->set, r->shipped)));
}

int trace_fit_run(const struct invocation *in)
{
    enum output_format format;
    if (option_has(in, "to")) return trace_fit_to_run(in);
    if (option_has(in, "first") || option_has(in, "output")) return usage_error(in, "--first and --output go with --to TRACE");
    if (!output_parse_format(in, &format)) return 2;
    long long iterations = option_integer(in, "iterations", 0, 100000, ITERATIONS);
    const char *given = option_get(in, "anchors");
    char *path = given ? xstrdup(given) : xasprintf("%s/catalog/anchors.toml", catalog_data_dir());
    struct report r = {0};
    bool ok = !in->diags->errors && anchors_read_file(path, &r.set, in->diags);
    free(path);
    if (!ok) return 2;
    r.start = xcalloc(r.set.n, sizeof *r.start);
    r.fitted = xcalloc(r.set.n, sizeof *r.fitted);
    r.shipped = xcalloc(r.set.n, sizeof *r.shipped);
    ok = generator_fit(&r.set, (size_t)iterations, &r.fit, in->diags) &&
         anchors_measure(&r.set, &r.set.start, r.start, in->diags) && anchors_measure(&r.set, &r.fit.g, r.fitted, in->diags) &&
         anchors_measure(&r.set, &generator_defaults, r.shipped, in->diags);
    if (ok) put_report(&r, format);
    free(r.shipped);
    free(r.fitted);
    free(r.start);
    anchor_set_release(&r.set);
    return 0;
}
