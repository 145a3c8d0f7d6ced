/* dse describe: what a model says about itself, from its tables. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/model_find.h"
#include "command/command.h"
#include "command/output.h"
#include "config/bind.h"
#include "measured/notes.h"
#include "model/fidelity.h"
#include "model/groups.h"

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

/* Is a field asked for: all are without a subject, and else those of its group and the one of its name. */
static bool is_asked(const char *subject, const struct field *f, const struct group *groups, int (*of)(const struct field *f))
{
    return !subject || strcmp(subject, f->name) == 0 || (groups && strcmp(subject, groups[of(f)].name) == 0);
}

static size_t count_asked(const char *subject, const struct schema *s, const struct group *groups, int (*of)(const struct field *f))
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) n += is_asked(subject, &s->fields[i], groups, of);
    return n;
}

static void put_params(const struct binding *b, const char *subject, enum output_format format)
{
    static const char *const columns[] = {"PARAMETER", "DEFAULT", "UNIT", "RANGE", "WHAT", "SOURCE"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        if (!is_asked(subject, f, param_groups, param_group)) continue;
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
static void put_outputs(const struct schema *s, bool metrics, const char *subject, enum output_format format)
{
    static const char *const of_metrics[] = {"METRIC", "UNIT", "BETTER", "MEAN", "WHAT", "SOURCE"},
                             *const of_equations[] = {"EQUATION", "UNIT", "BETTER", "WHAT", "SOURCE"},
                             *const better[] = {[DSE_NEITHER] = "", [DSE_LESS] = "less", [DSE_MORE] = "more"};
    struct output *o = metrics ? output_new(stdout, format, of_metrics, sizeof of_metrics / sizeof *of_metrics)
                               : output_new(stdout, format, of_equations, sizeof of_equations / sizeof *of_equations);
    for (size_t i = 0; i < s->n; i++) {
        const struct field *f = &s->fields[i];
        if (!is_asked(subject, f, metrics ? metric_groups : NULL, metric_group)) continue;
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
static bool print_causes(const struct model *m, bool alone, struct diags *diags)
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
            "Known errors against measured machines, by regime, with the suspected cause (`dse validate --measured %s` gives "
            "their size):",
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
    if (notes && !n && alone) terminal_say(stdout, "no cause of an error against measured machines is noted for %s", m->desc->name);
    const bool ok = notes != NULL;
    measured_notes_free(notes);
    return ok;
}

/* ---- the overview, and the whole ----------------------------------------------------------------------------------------- */

static void print_title(const struct model *m)
{
    terminal_say(stdout, "%s, version %d", m->desc->title, m->desc->version);
    terminal_say(stdout, "%s", m->desc->cite);
    printf("Fidelities: %s\n\n", fidelities_text(m->desc));
}

/* "llm=llama2-7b phase=decode ...", or of metrics, which have no defaults, their names. The caller frees it. */
static char *first_text(const struct field **fields, size_t n, const void *defaults)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n && i < GROUP_FIRST; i++) {
        char buf[TEXT_NUMBER_MAX];
        text_addf(&t, "%s%s", i ? " " : "", fields[i]->name);
        if (defaults) text_addf(&t, "=%s", value_text(fields[i], field_get(fields[i], defaults), buf));
    }
    return text_detach(&t);
}

/* A line for each group that has any. */
static void put_groups(const struct schema *s, const struct group *groups, int n_groups, int (*of)(const struct field *f),
                       const void *defaults)
{
    static const char *const of_params[] = {"PARAMETERS", "COUNT", "THE FIRST, WITH THEIR DEFAULTS"}, *const of_metrics[] = {
                                                                                                          "METRICS", "COUNT",
                                                                                                          "THE FIRST"};
    struct output *o = output_new(stdout, OUTPUT_TABLE, defaults ? of_params : of_metrics, 3);
    for (int g = 0; g < n_groups; g++) {
        size_t n;
        const struct field **fields = group_fields(s, groups, of, g, &n);
        char *first = first_text(fields, n, defaults);
        if (n) {
            output_text(o, groups[g].name);
            output_i64(o, (int64_t)n);
            output_text(o, first);
        }
        free(first);
        free(fields);
    }
    output_end(o);
}

static void say_more(const char *model, const char *subject, const char *what)
{
    terminal_say(stdout, "  dse describe %s %-10s %s", model, subject, what);
}

static void print_overview(const struct binding *b)
{
    const struct model *m = b->model;
    const char *name = m->desc->name;
    size_t n_constants;
    binding_calibrated(b, &n_constants);
    print_title(m);
    put_groups(&m->params, param_groups, PARAM_GROUPS, param_group, b->defaults);
    putchar('\n');
    put_groups(&m->metrics, metric_groups, METRIC_GROUPS, metric_group, NULL);
    putchar('\n');
    say_more(name, param_groups[GROUP_WORKLOAD].name, "a group, with units, ranges and sources");
    say_more(name, m->params.fields[0].name, "one parameter or metric");
    if (m->equations.n) say_more(name, "equations", "what `dse eval --equations` prints");
    if (n_constants) say_more(name, "constants", "those that no paper gives, and what they were fitted to");
    if (m->desc->trends) say_more(name, "trends", "how metrics must grow or fall with parameters");
    say_more(name, "causes", "known errors against measured machines, and why");
    say_more(name, "--all", "everything");
}

static bool print_all(const struct binding *b, struct diags *diags)
{
    const struct model *m = b->model;
    print_title(m);
    put_params(b, NULL, OUTPUT_TABLE);
    putchar('\n');
    put_outputs(&m->metrics, true, NULL, OUTPUT_TABLE);
    if (m->equations.n) {
        putchar('\n');
        terminal_say(stdout, "Quantities that `dse eval %s --equations` prints and no sweep stores:", m->desc->name);
        put_outputs(&m->equations, false, NULL, OUTPUT_TABLE);
    }
    print_trends(m);
    print_calibrated(b);
    return print_causes(m, false, diags);
}

/* ---- a subject: a group, a name, or one of the words ----------------------------------------------------------------------- */

/* Print the tables that have something of the subject. False: none has. */
static bool print_tables(const struct binding *b, const char *subject)
{
    const struct model *m = b->model;
    int printed = 0;
    if (count_asked(subject, &m->params, param_groups, param_group)) {
        put_params(b, subject, OUTPUT_TABLE);
        printed++;
    }
    if (count_asked(subject, &m->metrics, metric_groups, metric_group)) {
        if (printed++) putchar('\n');
        put_outputs(&m->metrics, true, subject, OUTPUT_TABLE);
    }
    const bool all_equations = strcmp(subject, "equations") == 0;
    if (all_equations ? m->equations.n : count_asked(subject, &m->equations, NULL, NULL)) {
        if (printed++) putchar('\n');
        put_outputs(&m->equations, false, all_equations ? NULL : subject, OUTPUT_TABLE);
    }
    return printed;
}

/* Groups that the model has. */
static void add_groups(const char **list, size_t *n, const struct schema *s, const struct group *groups, int n_groups,
                       int (*of)(const struct field *f))
{
    for (int g = 0; g < n_groups; g++)
        if (count_asked(groups[g].name, s, groups, of)) list[(*n)++] = groups[g].name;
}

/* Nothing is called that: say what is. */
static bool refuse_subject(const struct invocation *in, const struct binding *b, const char *subject)
{
    static const char *const words[] = {"equations", "constants", "trends", "causes"};
    const struct schema *schemas[] = {&b->model->params, &b->model->metrics, &b->model->equations};
    const char *nearest[PARAM_GROUPS + METRIC_GROUPS + 4 + 3];
    size_t n = 0;
    add_groups(nearest, &n, &b->model->params, param_groups, PARAM_GROUPS, param_group);
    add_groups(nearest, &n, &b->model->metrics, metric_groups, METRIC_GROUPS, metric_group);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) nearest[n++] = words[i];
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        const char **names = schema_names(schemas[i]), *name = text_nearest(subject, names, schemas[i]->n);
        if (name) nearest[n++] = name;
        free(names);
    }
    const char *name = text_nearest(subject, nearest, n);
    usage_error(in, "%s has no group, parameter, metric or equation \"%s\"%s%s%s; dse describe %s lists them", b->model->desc->name,
                subject, name ? ": did you mean \"" : "", name ? name : "", name ? "\"?" : "", b->model->desc->name);
    return false;
}

static bool print_subject(const struct invocation *in, const struct binding *b, const char *subject)
{
    if (strcmp(subject, "causes") == 0) return print_causes(b->model, true, in->diags);
    size_t n_constants;
    binding_calibrated(b, &n_constants);
    if (strcmp(subject, "trends") == 0 && b->model->desc->trends)
        print_trends(b->model);
    else if (strcmp(subject, "constants") == 0 && n_constants)
        print_calibrated(b);
    else if (!print_tables(b, subject))
        return refuse_subject(in, b, subject);
    return true;
}

/* For programs: one table, the one that was asked for, or the first that has something of the subject. */
static bool print_table(const struct invocation *in, const struct binding *b, const char *subject, enum output_format format)
{
    const struct model *m = b->model;
    bool metrics = option_has(in, "metrics"), equations = option_has(in, "equations");
    if (subject && strcmp(subject, "equations") == 0) {
        equations = true;
        subject = NULL;
    }
    if (subject && !metrics && !equations && !count_asked(subject, &m->params, param_groups, param_group)) {
        metrics = count_asked(subject, &m->metrics, metric_groups, metric_group);
        equations = !metrics && count_asked(subject, &m->equations, NULL, NULL);
        if (!metrics && !equations) return refuse_subject(in, b, subject);
    }
    if (metrics || equations)
        put_outputs(metrics ? &m->metrics : &m->equations, metrics, subject, format);
    else
        put_params(b, subject, format);
    return true;
}

static bool describe(const struct invocation *in, const struct binding *b, enum output_format format)
{
    const char *subject = in->n_operands > 1 ? in->operands[1] : NULL;
    pager_start();
    if (format != OUTPUT_TABLE) return print_table(in, b, subject, format);
    if (subject)
        return print_subject(in, b, subject);
    else if (option_has(in, "all"))
        return print_all(b, in->diags);
    else
        print_overview(b);
    return true;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    const struct model *m = NULL;
    struct catalog *catalog = NULL;
    struct binding *b = NULL;
    if (output_parse_format(in, &format) && (m = model_find(in, in->operands[0])) && (catalog = open_catalog(in)))
        b = binding_new(m, catalog, catalog_data_dir(), in->diags);
    const bool ok = b && describe(in, b, format);
    binding_free(b);
    catalog_free(catalog);
    return ok ? 0 : 2;
}

const struct command command_describe = {
    .name = "describe",
    .operands = "MODEL [GROUP|NAME]",
    .summary = "list a model's parameters, metrics and calibrated constants",
    .options =
        (const struct option_row[]){
            {'a', "all", NULL, "list every parameter, metric, equation, trend and constant, not only the first of each group"},
            OPTION_FORMAT,
            {0, "metrics", NULL, "with csv or json: list the metrics, not the parameters"},
            {0, "equations", NULL, "with csv or json: list the equations"},
            OPTION_CATALOG,
            {0},
        },
    .help = "Every name is also a key of [params] in a sweep, a NAME of `dse eval --set`, and a column in SQL.\n"
            "\n"
            "  dse describe lad\n"
            "  dse describe lad memory\n"
            "  dse describe lad sram_mib\n"
            "  dse describe lad --format csv\n",
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
