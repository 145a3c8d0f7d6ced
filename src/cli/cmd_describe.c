/* dse describe: what a model says about itself, from its tables. */
#include "base/text.h"
#include "cli/command.h"
#include "cli/model_find.h"
#include "cli/output.h"
#include "base/xalloc.h"
#include "config/bind.h"
#include "measured/notes.h"
#include "model/fidelity.h"

#include <stdlib.h>
#include <string.h>

/* "1 to 64", "one of eq7, exact", "dse list llms". The caller frees it. */
static char *range_text(const struct field *f)
{
    struct text t;
    text_init(&t);
    char lo[TEXT_NUMBER_MAX], hi[TEXT_NUMBER_MAX];
    if (f->type == DSE_TYPE_ENUM)
        for (const char *const *c = f->choices; *c; c++) text_addf(&t, "%s%s", c == f->choices ? "" : " | ", *c);
    else if (f->type == DSE_TYPE_REF)
        text_addf(&t, "see dse list %s", kind_plural(f->kind));
    else
        text_addf(&t, "%s to %s", text_number(lo, f->min), text_number(hi, f->max));
    return text_detach(&t);
}

static void put_params(const struct binding *b, enum output_format format)
{
    static const char *const columns[] = {"PARAMETER", "DEFAULT", "UNIT", "RANGE", "WHAT", "SOURCE"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        char buf[TEXT_NUMBER_MAX], *range = range_text(f);
        output_text(o, f->name);
        output_text(o, value_text(f, field_get(f, b->defaults), buf));
        output_text(o, f->unit);
        output_text(o, range);
        output_text(o, f->doc);
        output_text(o, f->source);
        free(range);
    }
    output_end(o);
}

/* Metrics, with what [requests] of a sweep takes their mean over, or equations. */
static void put_outputs(const struct schema *s, bool metrics, enum output_format format)
{
    static const char *const of_metrics[] = {"METRIC", "UNIT", "BETTER", "MEAN", "WHAT", "SOURCE"},
                             *const of_equations[] = {"EQUATION", "UNIT", "BETTER", "WHAT", "SOURCE"},
                             *const better[] = {[DSE_NEITHER] = "", [DSE_LESS] = "less", [DSE_MORE] = "more"};
    struct output *o = metrics ? output_new(stdout, format, of_metrics, sizeof of_metrics / sizeof *of_metrics)
                               : output_new(stdout, format, of_equations, sizeof of_equations / sizeof *of_equations);
    for (size_t i = 0; i < s->n; i++) {
        const struct field *f = &s->fields[i];
        output_text(o, f->name);
        output_text(o, f->unit);
        output_text(o, better[f->better]);
        if (metrics) output_text(o, mean_name(f->mean));
        output_text(o, f->without ? "has no meaning here: NULL" : f->doc);
        output_text(o, f->source);
    }
    output_end(o);
}

/* Print what must grow or fall with what: "tokens_per_s never falls when bandwidth_gbs grows". */
static void print_trends(const struct model *m)
{
    const struct dse_trend *t = m->desc->trends;
    if (t) printf("\nWith everything else as it is:\n");
    for (; t && t->param; t++)
        terminal_say(stdout, "  %s never %s when %s%s%s%s grows%s%s", t->metric, t->effect == DSE_MORE ? "falls" : "grows",
                     t->param, t->along ? " (and " : "", t->along ? t->along : "", t->along ? " by the same factor)" : "",
                     t->where ? ", where " : "", t->where ? t->where : "");
}

static void print_calibrated(const struct binding *b)
{
    size_t n;
    const struct calibrated *c = binding_calibrated(b, &n);
    if (n) putchar('\n');
    if (n) terminal_say(stdout, "Calibrated constants (neither given by the paper nor derived):");
    for (size_t i = 0; i < n; i++) {
        const struct field *f = schema_find(&b->model->params, c[i].name);
        char buf[TEXT_NUMBER_MAX];
        terminal_say(stdout, "  %s = %s, fitted to %s", c[i].name, value_text(f, field_get(f, b->defaults), buf), c[i].fitted_to);
    }
}

/* "GEMM, l40s, *; GEMM, b200, *". The caller frees it. */
static char *list_text(const char *const *texts)
{
    struct text t;
    text_init(&t);
    for (; *texts; texts++) text_addf(&t, "%s%s", t.n ? "; " : "", *texts);
    return text_detach(&t);
}

/* Against measured machines: what is suspected where the model is wrong. Its errors take seconds, and are another command's. */
static bool print_causes(const struct model *m, struct diags *diags)
{
    static const char *const columns[] = {"REGIMES", "SOURCE", "SUSPECTED CAUSE"};
    char *dir = xasprintf("%s/catalog/measured", catalog_data_dir());
    struct measured_notes *notes = measured_notes_open(dir, diags);
    free(dir);
    size_t n = 0;
    for (size_t i = 0; notes && i < notes->n_causes; i++) n += notes->causes[i].model == m;
    if (n) {
        putchar('\n');
        terminal_say(
            stdout,
            "Where it is wrong about measured machines, by regime (`dse validate --measured %s` says how wrong), and what is "
            "suspected:",
            m->desc->name);
        struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
        for (size_t i = 0; i < notes->n_causes; i++) {
            const struct measured_cause *c = &notes->causes[i];
            if (c->model != m) continue;
            char *regimes = list_text(c->regimes);
            output_text(o, regimes);
            output_text(o, c->source);
            output_text(o, c->cause);
            free(regimes);
        }
        output_end(o);
    }
    const bool ok = notes != NULL;
    measured_notes_free(notes);
    return ok;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    const struct model *m = NULL;
    struct catalog *catalog = NULL;
    struct binding *b = NULL;
    if (output_parse_format(in, &format) && (m = model_find(in, in->operands[0])) && (catalog = open_catalog(in)))
        b = binding_new(m, catalog, catalog_data_dir(), in->diags);
    bool only_metrics = option_has(in, "metrics"), only_equations = option_has(in, "equations");
    if (b && format == OUTPUT_TABLE) {
        pager_start();
        terminal_say(stdout, "%s, version %d", m->desc->title, m->desc->version);
        terminal_say(stdout, "%s", m->desc->cite);
        printf("Fidelities: %s\n\n", fidelities_text(m->desc));
        put_params(b, format);
        printf("\n");
        put_outputs(&m->metrics, true, format);
        if (m->equations.n) {
            putchar('\n');
            terminal_say(stdout, "By `dse eval %s --equations`, and stored by no sweep:", m->desc->name);
            put_outputs(&m->equations, false, format);
        }
        print_trends(m);
        print_calibrated(b);
    } else if (b && (only_metrics || only_equations)) {
        pager_start();
        put_outputs(only_metrics ? &m->metrics : &m->equations, only_metrics, format);
    } else if (b) {
        pager_start();
        put_params(b, format);
    }
    int status = b ? 0 : 2;
    if (b && format == OUTPUT_TABLE && !print_causes(m, in->diags)) status = 2;
    binding_free(b);
    catalog_free(catalog);
    return status;
}

const struct command command_describe = {
    .name = "describe",
    .operands = "MODEL",
    .summary = "a model's parameters, metrics and calibrated constants",
    .options =
        (const struct option_row[]){
            OPTION_FORMAT,
            {0, "metrics", NULL, "with csv or json: the metrics instead of the parameters"},
            {0, "equations", NULL, "with csv or json: the equations"},
            OPTION_CATALOG,
            {0},
        },
    .help = "Every name here is also a key of [params] in a sweep, of `dse eval --set`, and a column in SQL.\n\n"
            "  dse describe lad\n"
            "  dse describe lad --format csv\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
