/* dse eval: one design point, its metrics and where its time goes. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/eval_points.h"
#include "cli/eval_print.h"
#include "cli/eval_sensitivity.h"
#include "cli/eval_step.h"
#include "cli/interrupt.h"
#include "cli/model_find.h"
#include "command/command.h"
#include "command/terminal.h"
#include "config/budget.h"
#include "model/reason.h"
#include "space/idle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is known of the output ------------------------------------------------------------------------------------------ */

/* `dse eval`: what a point loses of attention's output, where that is too much to go unsaid. */

/* Of the output's norm: what a point may lose before `dse eval` says so. */
static const double most_error = BUDGET_DEFAULT_ERROR;

static bool is_unknown(const struct standing *s)
{
    return strcmp(s->quality, dse_quality_names[DSE_QUALITY_UNKNOWN]) == 0;
}

static bool is_exact(const struct standing *s)
{
    return s->quality && (strcmp(s->quality, dse_quality_names[DSE_QUALITY_EXACT]) == 0 ||
                          strcmp(s->quality, dse_quality_names[DSE_QUALITY_ROUNDED]) == 0);
}

/* Is the point's attention exact with this assignment in the place of what was assigned to the parameter? */
static bool makes_exact(const struct eval_answer *a, const struct field *f, const char *assignment, const char *const *given,
                        size_t n)
{
    struct design_point p;
    struct diags quiet; /* what may not be combined is no remedy */
    const char **all = xcalloc(n + 1, sizeof *all);
    const size_t length = strlen(f->name);
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(given[i], f->name, length) != 0 || given[i][length] != '=') all[to++] = given[i];
    all[to++] = assignment;
    diags_init(&quiet);
    const bool exact = design_point_init(&p, a->point.model, a->catalog, all, to, &quiet) && !p.reason && is_exact(&p.standing);
    design_point_release(&p);
    diags_release(&quiet);
    free(all);
    return exact;
}

/* The first choice of a parameter that makes attention exact, "eviction=none"; or NULL. Another phase is another question. The
 * caller frees it. */
static char *find_exact(const struct eval_answer *a, const char *const *given, size_t n)
{
    const struct schema *params = &a->point.model->params;
    for (size_t i = 0; i < params->n; i++) {
        const struct field *f = &params->fields[i];
        if (f->type != DSE_TYPE_ENUM || strcmp(f->name, "phase") == 0) continue;
        for (int k = 0; f->choices[k]; k++) {
            char *assignment = xasprintf("%s=%s", f->name, f->choices[k]);
            if (makes_exact(a, f, assignment, given, n)) return assignment;
            free(assignment);
        }
    }
    return NULL;
}

/* Say on stderr, in one line, that the feasible point's attention_error is beyond 0.1 or that nobody knows it, and which single
 * setting makes attention exact, if one does. `assignments` are those of --set. Nothing is said of a point that is exact or within
 * 0.1, nor of a model that does not say what it loses. */
static void eval_say_quality(const struct eval_answer *a, const char *const *assignments, size_t n)
{
    const struct design_point *p = &a->point;
    const struct field *f = schema_find(space_metrics(p->space), "attention_error");
    if (p->reason || !p->standing.quality || !f) return;
    const double error = field_number(f, p->metrics);
    const bool unknown = is_unknown(&p->standing);
    if (!unknown && !(error > most_error)) return;
    char *exact = find_exact(a, assignments, n), number[TEXT_NUMBER_MAX], percent[TEXT_NUMBER_MAX];
    const char *with = exact ? "; attention is exact with " : "";
    if (unknown)
        terminal_say(stderr, "note: attention error unknown: %s; do not compare this point with others%s%s", p->standing.unknown,
                     with, exact ? exact : "");
    else
        terminal_say(stderr, "note: attention error %s is above %g: the output of attention is off by %s %% of its norm%s%s",
                     text_short_number(number, error), most_error, text_short_number(percent, 100 * error), with,
                     exact ? exact : "");
    free(exact);
}

/* ---- the command ---------------------------------------------------------------------------------------------------------- */

/* A setting that the fidelity does not read: --fidelity event-level --set dram_efficiency=0.5. */
static void warn_unread(const struct eval_answer *a, const struct invocation *in, const struct model *model, const char *assignment)
{
    char *name = xstrndup(assignment, strcspn(assignment, "="));
    const struct field *f = schema_find(&model->params, name);
    const char *where = f ? fidelity_not_reading(a->fidelity, f) : NULL;
    if (where) diags_warn(in->diags, (struct srcloc){0}, NULL, "%s: %s is not read %s", model->desc->name, name, where);
    free(name);
}

/* Has the point without its i-th setting another value of the parameter, and the same metrics? */
static bool is_idle(const struct eval_answer *a, const char *const *assignments, size_t n, size_t i, const struct field *f,
                    struct value *ret_other)
{
    struct design_point without;
    struct diags quiet; /* settings that exclude each other may not do without one */
    const char **rest = xcalloc(n, sizeof *rest);
    for (size_t k = 0, to = 0; k < n; k++)
        if (k != i) rest[to++] = assignments[k];
    diags_init(&quiet);
    const bool ok = design_point_init(&without, a->point.model, a->catalog, rest, n - 1, &quiet);
    const bool idle = ok && !field_same(f, a->point.params, without.params) && space_points_equal(a->point.space, without.space);
    if (idle) *ret_other = field_get(f, without.params);
    design_point_release(&without);
    diags_release(&quiet);
    free(rest);
    return idle;
}

/* Settings that change nothing where they stand: --set link_gbs=100 of one chip. */
static void warn_idle(const struct eval_answer *a, const struct invocation *in)
{
    size_t n;
    const char **assignments = option_all(in, "set", &n);
    for (size_t i = 0; i < n; i++) {
        char *name = xstrndup(assignments[i], strcspn(assignments[i], "=")), other[TEXT_NUMBER_MAX];
        const struct field *f = schema_find(&a->point.model->params, name);
        struct value v;
        if (f && !fidelity_not_reading(a->fidelity, f) && is_idle(a, assignments, n, i, f, &v))
            diags_warn(in->diags, (struct srcloc){0}, NULL,
                       "%s changes no metric here: all metrics are the same with %s, the value without --set", name,
                       value_text(f, v, other));
        free(name);
    }
    free(assignments);
}

static bool bind_point(struct eval_answer *a, const struct invocation *in, const struct model *model)
{
    size_t n;
    const char **assignments = option_all(in, "set", &n);
    bool ok = design_point_init_mix(&a->point, model, a->catalog, assignments, n, option_get(in, "requests"), in->diags);
    for (size_t i = 0; ok && i < n; i++) warn_unread(a, in, model, assignments[i]);
    free(assignments);
    return ok;
}

/* Take the mean over all requests. */
static bool carry_out_mean(struct eval_answer *a, const struct invocation *in)
{
    if (design_point_mean(&a->point, a->fidelity, a->fidelity == FIDELITY_EVENT_LEVEL ? interrupt_catch() : NULL)) return true;
    const char *bug = evaluator_error(a->point.mean);
    if (bug) return diags_runtime(in->diags, NULL, "%s", bug);
    a->events.stopped = true;
    return false;
}

static bool carry_out_closed_form(struct eval_answer *a, const struct invocation *in)
{
    const struct design_point *p = &a->point;
    struct runner *r = runner_new(FIDELITY_CLOSED_FORM, NULL);
    const bool ok = runner_run(r, p->model->desc, p->params, p->metrics, &a->breakdown) == RUN_DONE || eval_bug(in, p->model, r);
    runner_free(r);
    return ok;
}

static bool carry_out(struct eval_answer *a, const struct invocation *in)
{
    struct design_point *p = &a->point;
    if (p->sweep.averages) return carry_out_mean(a, in);
    if (p->reason) return true;
    if (!carry_out_closed_form(a, in)) return false;
    if (a->fidelity == FIDELITY_CLOSED_FORM) return true;
    a->closed = p->metrics;
    p->metrics = xcalloc(1, space_metrics_size(p->space));
    return events_run(&a->events, in, p, &a->breakdown);
}

/* Check that no option is given that is about a single run where the mean over requests, or many points, are asked for. */
static bool step_options_allowed(const struct invocation *in)
{
    static const char *const names[] = {"breakdown", "equations", "timeline",    "gantt", "resources",
                                        "notes",     "ideal",     "sensitivity", "metric"};
    const char *many = option_has(in, "requests") ? "--requests asks for the mean over many"
                       : option_has(in, "points") ? "--points asks for many points"
                                                  : NULL;
    bool ok = true;
    for (size_t i = 0; many && i < sizeof names / sizeof *names; i++) {
        if (!option_has(in, names[i])) continue;
        usage_error(in, "--%s is about one step, and %s", names[i], many);
        ok = false;
    }
    return ok;
}

/* Many points, of a file. */
static int run_points(const struct invocation *in)
{
    enum output_format format;
    if (!output_parse_format(in, &format) || !step_options_allowed(in)) return 2;
    if (option_has(in, "requests"))
        return usage_error(
            in, "--requests and --points cannot be combined: one averages over requests, the other evaluates each point");
    return eval_points(in, format);
}

/* Fill *a, which is zeroed, and release it in any case. */
static bool answer_init(struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    const struct model *model = model_find(in, in->operands[0]);
    if (!model || !fidelity_parse(in, model->desc, &a->fidelity) || !events_options_allowed(in, a->fidelity, format) ||
        !sensitivity_options_allowed(in, model, a->fidelity) || !step_options_allowed(in))
        return false;
    a->catalog = open_catalog(in);
    return a->catalog && bind_point(a, in, model) && carry_out(a, in);
}

static void answer_release(struct eval_answer *a)
{
    events_run_release(&a->events);
    design_point_release(&a->point);
    catalog_free(a->catalog);
    free(a->closed);
}

/* ---- what is printed ----------------------------------------------------------------------------------------------------- */

static void show_equations(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    (void)in;
    if (a->point.model->desc->equate)
        eval_print_equations(&a->point, format);
    else
        terminal_say(stderr, "dse: model %s has no equations beside its metrics", a->point.model->desc->name);
}

/* As JSON all there is about the step: docs/schema/step.json. */
static void show_breakdown(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    (void)in;
    if (format == OUTPUT_JSON)
        eval_print_step(a);
    else
        eval_print_breakdown(a, format);
}

static void show_gantt(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    (void)in;
    (void)format;
    fputs(a->events.chart, stdout);
}

static void show_notes(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    (void)in;
    events_print_notes(&a->events, format);
}

static void show_resources(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    (void)in;
    events_print_resources(&a->events, format);
}

/* What an option asks for in place of the metrics. */
static const struct section {
    const char *option;
    bool feasible, events; /* only of a feasible point, of a run at event level */
    void (*show)(const struct eval_answer *a, const struct invocation *in, enum output_format format);
} sections[] = {
    {"equations", false, false, show_equations}, {"breakdown", true, false, show_breakdown},
    {"gantt", true, true, show_gantt},           {"notes", true, true, show_notes},
    {"resources", true, true, show_resources},   {"sensitivity", true, false, eval_print_sensitivity},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static bool can_show(const struct eval_answer *a, const struct section *s)
{
    return (!s->feasible || !a->point.reason) && (!s->events || a->events.runner);
}

/* What the run at event level tells beside the metrics. */
static void print_run(const struct eval_answer *a)
{
    if (sim_notes(runner_sim(a->events.runner))) {
        putchar('\n');
        events_print_notes(&a->events, OUTPUT_TABLE);
    }
    putchar('\n');
    events_print_resources(&a->events, OUTPUT_TABLE);
}

static void say_quality(const struct eval_answer *a, const struct invocation *in)
{
    size_t n;
    const char **assignments = option_all(in, "set", &n);
    fflush(stdout); /* the line comes below the table */
    eval_say_quality(a, assignments, n);
    free(assignments);
}

/* Programs get one table: the first that was asked for. People get all that they asked for, with empty lines between them, or
 * without such an option the metrics and, of a run at event level, its notes and resources. */
static void print(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    int shown = 0;
    for (int i = 0; i < SECTIONS; i++) {
        if (!option_has(in, sections[i].option) || !can_show(a, &sections[i]) || (shown && format != OUTPUT_TABLE)) continue;
        if (shown++) putchar('\n');
        sections[i].show(a, in, format);
    }
    if (shown) return;
    if (format != OUTPUT_TABLE) {
        eval_print_row(a, format);
        return;
    }
    eval_print_metrics(a, option_has(in, "all"));
    if (a->events.runner) print_run(a);
    say_quality(a, in);
}

/* What is known of a run that a signal has stopped. */
static void print_stopped(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    const struct dse_sim *sim = runner_sim(a->events.runner);
    char events[TEXT_NUMBER_MAX];
    terminal_say(stderr, "dse: stopped after %.6g us of the run, %s events; the results cover that time",
                 dse_s_of_ps(dse_sim_now(sim)) * 1e6, text_count(events, sim_events(sim)));
    if (a->events.chart) fputs(a->events.chart, stdout);
    if (format == OUTPUT_TABLE || option_has(in, "resources")) events_print_resources(&a->events, format);
}

static void say_infeasible(const struct design_point *p)
{
    char *reason = reason_text(p->model->desc, p->params, p->reason);
    terminal_say(stderr, "dse: this point is infeasible: %s", reason);
    free(reason);
}

static int run(const struct invocation *in)
{
    struct eval_answer a = {0};
    enum output_format format;
    int status = 2;
    if (option_has(in, "points")) return run_points(in);
    if (output_parse_format(in, &format) && answer_init(&a, in, format)) {
        pager_start();
        if (a.point.reason) say_infeasible(&a.point);
        if (!a.point.reason && !a.events.runner && !a.point.sweep.averages) warn_idle(&a, in);
        print(&a, in, format);
        status = 0;
    } else if (a.events.stopped && a.point.sweep.averages) {
        status = INTERRUPTED_STATUS;
    } else if (a.events.stopped) {
        print_stopped(&a, in, format);
        status = INTERRUPTED_STATUS;
    }
    answer_release(&a);
    return status;
}

const struct command command_eval = {
    .name = "eval",
    .operands = "MODEL",
    .summary = "evaluate one design point, in total or part by part",
    .options =
        (const struct option_row[]){
            {'s', "set", "NAME=VALUE", "set a parameter; any number of times"},
            {0, "requests", "MIX",
             "average over whole requests: the name of a mix, or \"mix = { chat = 0.7, ... }\" as in [requests] of a sweep"},
            {0, "points", "FILE.csv", "evaluate the points of a file: its header names parameters, and each line is a point"},
            {'a', "all", NULL,
             "print all metrics, not only five of each group, and all of --sensitivity (csv and json always have all)"},
            {'b', "breakdown", NULL, "print the parts of a step: time, and DRAM traffic, operations and energy of a token"},
            {'e', "equations", NULL, "print quantities of the model's equations that sweeps do not store"},
            {0, "sensitivity", NULL, "print percent of each metric for one percent of each parameter and constant, largest first"},
            {0, "metric", "NAME", "--sensitivity: of this metric; any number of times"},
            {0, "fidelity", "F", "closed-form or event-level (default: closed-form)"},
            {'t', "timeline", "OUT.json", "event level: write a timeline of every resource, for ui.perfetto.dev"},
            {'g', "gantt", NULL, "event level: draw the timeline as a chart in the terminal"},
            {0, "from", "US", "event level: begin of the chart in microseconds"},
            {0, "to", "US", "event level: end of the chart in microseconds"},
            {'r', "resources", NULL, "event level: print how long each resource was busy, stalled and idle"},
            {0, "notes", NULL, "event level: print what the model noted about the run"},
            {'i', "ideal", "WHAT", "event level: leave out causes of delay: fifos, refresh, dram, draws, sync, or all"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {0},
        },
    .help =
        "A parameter that is not given has the model's default; `dse describe MODEL` lists the defaults. For a point that\n"
        "cannot be built dse prints the reason. That is not an error.\n"
        "\n"
        "--points reads CSV that `dse eval`, `dse pareto` or `dse query` printed, a frame of pandas, or trials of Optuna\n"
        "(params_NAME stands for NAME). dse leaves out columns that are no parameters, and rows whose column model names\n"
        "another model. A line on standard error lists them. A column whose name is nearly a parameter's name is an\n"
        "error. An empty cell means the parameter's default. Commas, semicolons or tabs separate cells.\n"
        "\n"
        "--sensitivity prints elasticities: by how many percent a metric changes for one percent of a parameter, or of a\n"
        "constant in the formulas of a model in TOML. Such models are differentiated. What has no derivative is moved a little,\n"
        "and whole numbers by one; HOW says which. NOTE tells steps, thresholds and sides that cannot be built. The table has\n"
        "the first metric of each group, and no numbers below 0.05.\n"
        "\n"
        "  dse eval lad --set tiles=8 --set context=1024\n"
        "  dse eval lad --set llm=llama3-8b --breakdown\n"
        "  dse eval veda --requests chat\n"
        "  dse eval lad --points points.csv --set llm=llama3-8b\n"
        "  dse pareto results/lad_sram.db --format csv >front.csv; dse eval lad --points front.csv\n"
        "  dse eval lad --equations\n"
        "  dse eval lad --sensitivity --metric tokens_per_s --metric energy_mj\n"
        "  dse eval lad --fidelity event-level --timeline lad.json\n"
        "  dse eval lad --fidelity event-level --gantt --from 100 --to 120\n"
        "  dse eval lad --fidelity event-level --ideal refresh,dram\n"
        "  dse eval lad --format json\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
