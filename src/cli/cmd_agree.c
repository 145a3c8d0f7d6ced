/* dse agree: how far the closed form and the event level of a model agree, and why they do not. */
#include "agree/agree.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/interrupt.h"
#include "cli/model_find.h"
#include "cli/progress.h"
#include "command/command.h"
#include "command/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 20, POINTS_MAX = 1000000, WORST = 5 };

/* ---- cells --------------------------------------------------------------------------------------------------------------- */

/* A difference in percent of the closed form: "+1.24 %" for people, 1.24 for programs. */
static void put_percent(struct output *o, enum output_format format, double v)
{
    if (format != OUTPUT_TABLE || isnan(v)) {
        output_f64(o, 100 * v);
        return;
    }
    char *s = fabs(v) < 5e-5 ? xstrdup("0 %") : xasprintf("%+.*f %%", fabs(v) < 0.1 ? 2 : 1, 100 * v);
    output_text(o, s);
    free(s);
}

static const char *cause_name(int i)
{
    return i < AGREE_CAUSES ? dse_ideal_names[i] : "fill and drain";
}

/* ---- the summary --------------------------------------------------------------------------------------------------------- */

static void put_spread(struct output *o, enum output_format format, const struct agree_spread *s)
{
    const double values[] = {s->min, s->p10, s->median, s->p90, s->max};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) put_percent(o, format, values[i]);
}

static void put_metrics(struct output *o, const struct agreement *a, enum output_format format)
{
    for (int i = 0; agree_metric_names[i]; i++) {
        struct agree_spread s = agree_spread_of(a, agree_metric, i);
        if (format != OUTPUT_TABLE) output_text(o, a->model->desc->name);
        if (format != OUTPUT_TABLE) output_text(o, "difference");
        output_text(o, agree_metric_names[i]);
        put_spread(o, format, &s);
    }
}

static void put_causes(struct output *o, const struct agreement *a, enum output_format format)
{
    for (int i = 0; i <= AGREE_CAUSES; i++) {
        struct agree_spread s = agree_spread_of(a, agree_cause, i);
        if (format != OUTPUT_TABLE) output_text(o, a->model->desc->name);
        if (format != OUTPUT_TABLE) output_text(o, "cause");
        output_text(o, cause_name(i));
        put_spread(o, format, &s);
    }
}

/* Print the rows of both tables, for programs. */
static void print_summary(const struct agreement *a, size_t n, enum output_format format)
{
    static const char *const columns[] = {"model", "what", "name", "min_pct", "p10_pct", "median_pct", "p90_pct", "max_pct"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        put_metrics(o, &a[i], format);
        put_causes(o, &a[i], format);
    }
    output_end(o);
}

static double size_of(const struct agree_point *p)
{
    return isnan(p->metric[AGREE_LATENCY]) ? -1 : fabs(p->metric[AGREE_LATENCY]);
}

static int by_size(const void *a, const void *b)
{
    const struct agree_point *const *x = a, *const *y = b;
    double u = size_of(*x), v = size_of(*y);
    return u != v ? (u < v) - (u > v) : (*x > *y) - (*x < *y);
}

static void print_worst(const struct agreement *a, size_t worst)
{
    const struct agree_point **list = xcalloc(a->n, sizeof *list);
    for (size_t i = 0; i < a->n; i++) list[i] = &a->points[i];
    qsort(list, a->n, sizeof *list, by_size);
    if (a->n && size_of(list[0]) >= 0) printf("\nFarthest apart:\n");
    for (size_t i = 0; i < a->n && i < worst && size_of(list[i]) >= 0; i++) {
        printf("  %+7.2f %%  %s\n", 100 * list[i]->metric[AGREE_LATENCY], list[i]->command);
    }
    free(list);
}

static void print_report(const struct agreement *a, size_t worst)
{
    static const char *const metrics[] = {"METRIC", "MIN", "P10", "MEDIAN", "P90", "MAX"}, *const causes[] = {"CAUSE", "MIN",
                                                                                                              "P10",   "MEDIAN",
                                                                                                              "P90",   "MAX"};
    uint64_t tried = 0;
    size_t found = 0;
    for (size_t i = 0; i < a->n; i++) {
        tried += a->points[i].tried;
        found += a->points[i].settings != NULL;
    }
    char points[TEXT_NUMBER_MAX], draws[TEXT_NUMBER_MAX];
    terminal_say(stdout, "%s: event level over closed form, at %s points near the defaults (%s drawn)", a->model->desc->name,
                 text_count(points, found), text_count(draws, tried));
    putchar('\n');
    struct output *o = output_new(stdout, OUTPUT_TABLE, metrics, 6);
    put_metrics(o, a, OUTPUT_TABLE);
    output_end(o);
    printf("\nOf the difference in latency, in percent of the closed form:\n\n");
    o = output_new(stdout, OUTPUT_TABLE, causes, 6);
    put_causes(o, a, OUTPUT_TABLE);
    output_end(o);
    print_worst(a, worst);
}

/* ---- for programs: a row a point ----------------------------------------------------------------------------------------- */

/* Start a table of points: model, point, then the metrics and causes as NAME_pct. */
static struct output *output_of_points(enum output_format format)
{
    char *names[16];
    size_t n = 0;
    names[n++] = xstrdup("model");
    names[n++] = xstrdup("point");
    for (int i = 0; agree_metric_names[i]; i++) names[n++] = xasprintf("%s_pct", agree_metric_names[i]);
    for (int i = 0; i < AGREE_CAUSES; i++) names[n++] = xasprintf("%s_pct", dse_ideal_names[i]);
    names[n++] = xstrdup("left_pct");
    names[n++] = xstrdup("failure");
    names[n++] = xstrdup("command");
    struct output *o = output_new(stdout, format, (const char *const *)names, n);
    for (size_t i = 0; i < n; i++) free(names[i]);
    return o;
}

static void print_points(const struct agreement *list, size_t n, enum output_format format)
{
    struct output *o = output_of_points(format);
    for (size_t m = 0; m < n; m++) {
        for (size_t i = 0; i < list[m].n; i++) {
            const struct agree_point *p = &list[m].points[i];
            output_text(o, list[m].model->desc->name);
            output_i64(o, (int64_t)i + 1);
            for (int k = 0; agree_metric_names[k]; k++) put_percent(o, format, agree_metric(p, k));
            for (int k = 0; k <= AGREE_CAUSES; k++) put_percent(o, format, agree_cause(p, k));
            output_text(o, p->failure);
            output_text(o, p->command);
        }
    }
    output_end(o);
}

/* ---- the command --------------------------------------------------------------------------------------------------------- */

/* What went wrong at single points: bugs, and points that could not be found. */
static void complain(const struct invocation *in, const struct agreement *a)
{
    size_t missing = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct agree_point *p = &a->points[i];
        missing += !p->settings;
        if (!p->failure) continue;
        diags_runtime(in->diags, NULL, "the event level of %s failed, which is a bug of the model: %s; %s", a->model->desc->name,
                      p->failure, p->command);
    }
    if (missing && !a->stopped)
        diags_runtime(in->diags, NULL, "%s: for %zu of %zu points none of %d tries was feasible; --set fewer parameters",
                      a->model->desc->name, missing, a->n, AGREE_TRIES);
}

/* The models named, each with an event level; all that have one when none is named. The caller frees the array; NULL with errors.
 */
static const struct model **wanted(const struct invocation *in, size_t *ret_n)
{
    size_t n;
    const struct model *all = registry_models(&n), **list = xcalloc(n + in->n_operands, sizeof *list);
    *ret_n = 0;
    for (size_t i = 0; in->n_operands == 0 && i < n; i++)
        if (fidelity_of_model(all[i].desc, FIDELITY_EVENT_LEVEL)) list[(*ret_n)++] = &all[i];
    bool ok = true;
    for (size_t i = 0; i < in->n_operands; i++) {
        const struct model *m = model_find(in, in->operands[i]);
        if (m && !fidelity_of_model(m->desc, FIDELITY_EVENT_LEVEL))
            usage_error(in, "model %s has no event level to agree with; it has: %s", m->desc->name, fidelities_text(m->desc)),
                m = NULL;
        ok = m && ok;
        list[(*ret_n)++] = m;
    }
    if (ok) return list;
    free(list);
    return NULL;
}

static bool compare(const struct invocation *in, const struct model *m, const struct catalog *catalog, struct agreement *ret)
{
    struct counting counting;
    size_t n_assignments, n_catalogs;
    const char **assignments = option_all(in, "set", &n_assignments), **catalogs = option_all(in, "catalog", &n_catalogs);
    struct agree_options o = {.points = (uint64_t)option_integer(in, "points", 1, POINTS_MAX, POINTS),
                              .seed = (uint64_t)option_integer(in, "seed", 0, INT64_MAX, 1),
                              .threads = (int)option_integer(in, "jobs", 1, 1024, 0),
                              .assignments = assignments,
                              .n_assignments = n_assignments,
                              .catalogs = catalogs,
                              .n_catalogs = n_catalogs,
                              .stop = interrupt_catch(),
                              .progress = option_has(in, "quiet") ? NULL : counting_update,
                              .user = &counting};
    counting_init(&counting, m->desc->name, "event level");
    bool ok = in->diags->errors == 0 && agree(m, catalog, &o, ret, in->diags);
    progress_clear(&counting.bar);
    free(assignments);
    free(catalogs);
    return ok;
}

static int run_models(const struct invocation *in, const struct model *const *models, size_t n, const struct catalog *catalog,
                      enum output_format format)
{
    struct agreement *list = xcalloc(n, sizeof *list);
    size_t done = 0;
    bool ok = true, stopped = false;
    for (; ok && !stopped && done < n; done++) {
        ok = compare(in, models[done], catalog, &list[done]);
        stopped = ok && list[done].stopped;
        if (ok && format == OUTPUT_TABLE && done) putchar('\n');
        if (ok && format == OUTPUT_TABLE) print_report(&list[done], (size_t)option_integer(in, "worst", 0, POINTS_MAX, WORST));
        if (ok) complain(in, &list[done]);
    }
    if (ok && format != OUTPUT_TABLE && option_has(in, "summary"))
        print_summary(list, done, format);
    else if (ok && format != OUTPUT_TABLE)
        print_points(list, done, format);
    if (stopped) terminal_say(stderr, "dse: stopped; only the finished points are shown");
    for (size_t i = 0; i < done; i++) agreement_release(&list[i]);
    free(list);
    return stopped ? INTERRUPTED_STATUS : ok ? 0 : 2;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    size_t n;
    if (!output_parse_format(in, &format)) return 2;
    const struct model **models = wanted(in, &n);
    struct catalog *catalog = models ? open_catalog(in) : NULL;
    int status = catalog ? run_models(in, models, n, catalog, format) : 2;
    catalog_free(catalog);
    free(models);
    return status;
}

const struct command command_agree = {
    .name = "agree",
    .operands = "[MODEL]...",
    .summary = "compare closed form and event level of a model, and find what makes them differ",
    .options =
        (const struct option_row[]){
            {'n', "points", "N", "number of random feasible points near the defaults (default: 20)"},
            {0, "seed", "S", "seed of the random points (default: 1)"},
            {'s', "set", "NAME=VALUE", "set a parameter at all points; any number of times"},
            {'j', "jobs", "N", "number of threads (default: one for each core)"},
            {'w', "worst", "N", "list the N points that differ most (default: 5)"},
            {0, "summary", NULL, "with csv or json: print distributions, not a row for each point"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {'q', "quiet", NULL, "no progress"},
            {0},
        },
    .help = "dse evaluates each point in closed form and at event level. Then it repeats the event level and removes the\n"
            "causes of difference one after another. The causes are fifos (bounded queues), refresh, dram (banks, rows, bus\n"
            "turn-around), draws (heads and steps that differ) and sync (barriers, dispatch). The rest of the difference is\n"
            "fill and drain. Without MODEL dse compares all models that have an event level. docs/explanation/fidelity.md\n"
            "says how the points are drawn.\n"
            "\n"
            "  dse agree lad\n"
            "  dse agree lad --points 1000 --set llm=llama2-7b --worst 20\n"
            "  dse agree --format csv | csvsort -c latency_us_pct\n",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
