/* dse trace fit --to TRACE: head kinds like the heads of a trace. */
#include "attention/action.h"
#include "attention/kinds_file.h"
#include "command/output.h"

#include <math.h>
#include <stdio.h>

static void put_kinds(const struct head_mixture *m, enum output_format format)
{
    struct output *o = output_new(
        stdout, format,
        (const char *const[]){"KIND", "HEADS", "FIRST MASS", "NEWEST MASS", "TENTH MASS", "STEP CORRELATION", "ACTIVE SHARE"}, 7);
    for (size_t k = 0; k < HEAD_KINDS; k++) {
        double sum[5] = {0};
        int64_t heads = 0;
        for (size_t i = 0; i < m->n; i++) {
            const struct head_features *f = &m->list[i].real;
            const double of[5] = {f->first_mass, f->newest_mass, f->tenth_mass, f->step_correlation, f->active_share};
            if ((size_t)m->list[i].kind != k) continue;
            heads++;
            for (size_t j = 0; j < 5; j++) sum[j] += of[j];
        }
        output_text(o, head_kind_names[k]);
        output_i64(o, heads);
        for (size_t j = 0; j < 5; j++) output_f64(o, heads ? sum[j] / (double)heads : (double)NAN);
    }
    output_end(o);
}

static void put_features(const struct head_mixture *m, enum output_format format)
{
    static const double quantiles[] = {0.1, 0.5, 0.9};
    struct output *o = output_new(
        stdout, format,
        (const char *const[]){"STATISTIC", "REAL P10", "REAL P50", "REAL P90", "MADE P10", "MADE P50", "MADE P90", "APART"}, 8);
    for (size_t f = 0; f < HEAD_FEATURES; f++) {
        output_text(o, head_feature_names[f]);
        for (int made = 0; made < 2; made++)
            for (size_t q = 0; q < 3; q++) output_f64(o, head_mixture_quantile(m, f, made, quantiles[q]));
        output_f64(o, head_mixture_apart(m, f));
    }
    output_end(o);
}

int trace_fit_to_run(const struct invocation *in)
{
    enum output_format format;
    if (!output_parse_format(in, &format)) return 2;
    if (option_has(in, "anchors") || option_has(in, "iterations"))
        return usage_error(in, "trace fit takes either --to TRACE or the anchors, with --iterations");
    struct trace *t = trace_open(option_get(in, "to"), in->diags);
    if (!t) return 2;
    size_t there = trace_info(t)->n, most = there < HEAD_FIT_MAX ? there : HEAD_FIT_MAX;
    long long n = option_integer(in, "first", HEAD_FIT_MIN, HEAD_FIT_MAX, (long long)most);
    const char *to = option_get(in, "output");
    struct head_mixture m;
    bool ok = !in->diags->errors && head_mixture_fit(t, (size_t)n, &m, in->diags);
    trace_close(t);
    if (!ok) return 2;
    if (format == OUTPUT_TABLE) {
        put_kinds(&m, format);
        putchar('\n');
    }
    put_features(&m, format);
    if (to) kinds_write_file(to, &m, in->diags);
    head_mixture_release(&m);
    return 0;
}
