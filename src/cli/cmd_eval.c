/* dse eval: one design point, its metrics and where its time goes. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/eval_events.h"
#include "cli/interrupt.h"
#include "cli/model_find.h"
#include "cli/output.h"
#include "model/breakdown.h"
#include "model/reason.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point, and what a model says of it. */
struct answer {
    struct catalog *catalog;
    enum fidelity fidelity;
    struct design_point point;
    void *closed; /* at event level, the metrics of the closed form; NULL else, and where the point is infeasible */
    struct events_run events;
    struct dse_breakdown breakdown;
};

/* A setting that the fidelity does not read: --fidelity event-level --set dram_efficiency=0.5. */
static void warn_unread(const struct answer *a, const struct invocation *in, const struct model *model, const char *assignment)
{
    char *name = xstrndup(assignment, strcspn(assignment, "="));
    const struct field *f = schema_find(&model->params, name);
    const char *where = f ? fidelity_not_reading(a->fidelity, f) : NULL;
    if (where) diags_warn(in->diags, (struct srcloc){0}, NULL, "%s: %s is not read %s", model->desc->name, name, where);
    free(name);
}

static bool bind_point(struct answer *a, const struct invocation *in, const struct model *model)
{
    size_t n;
    const char **assignments = option_all(in, "set", &n);
    bool ok = design_point_init_mix(&a->point, model, a->catalog, assignments, n, option_get(in, "requests"), in->diags);
    for (size_t i = 0; ok && i < n; i++) warn_unread(a, in, model, assignments[i]);
    free(assignments);
    return ok;
}

/* The mean over the requests. */
static bool carry_out_mean(struct answer *a, const struct invocation *in)
{
    if (design_point_mean(&a->point, a->fidelity, a->fidelity == FIDELITY_EVENT_LEVEL ? interrupt_catch() : NULL)) return true;
    const char *bug = evaluator_error(a->point.mean);
    if (bug) return diags_runtime(in->diags, NULL, "%s", bug);
    a->events.stopped = true;
    return false;
}

static bool carry_out_closed_form(struct answer *a, const struct invocation *in)
{
    const struct design_point *p = &a->point;
    struct runner *r = runner_new(FIDELITY_CLOSED_FORM, NULL);
    const bool ok = runner_run(r, p->model->desc, p->params, p->metrics, &a->breakdown) == RUN_DONE ||
                    diags_runtime(in->diags, NULL, "a bug in model %s: %s", p->model->desc->name, runner_error(r));
    runner_free(r);
    return ok;
}

static bool carry_out(struct answer *a, const struct invocation *in)
{
    struct design_point *p = &a->point;
    if (p->sweep.averages) return carry_out_mean(a, in);
    if (p->reason) return true;
    if (!carry_out_closed_form(a, in)) return false;
    if (a->fidelity == FIDELITY_CLOSED_FORM) return true;
    a->closed = p->metrics;
    p->metrics = xcalloc(1, p->model->desc->metrics_size);
    return events_run(&a->events, in, p, &a->breakdown);
}

/* What there is of one run alone. */
static bool mean_options_allowed(const struct invocation *in)
{
    static const char *const names[] = {"breakdown", "equations", "timeline", "gantt", "resources", "notes", "ideal"};
    bool ok = true;
    for (size_t i = 0; option_has(in, "requests") && i < sizeof names / sizeof *names; i++) {
        if (!option_has(in, names[i])) continue;
        usage_error(in, "--%s is about one step, and --requests asks for the mean over many", names[i]);
        ok = false;
    }
    return ok;
}

/* Expects *a zeroed; release it whatever comes back. */
static bool answer_init(struct answer *a, const struct invocation *in, enum output_format format)
{
    const struct model *model = model_find(in, in->operands[0]);
    if (!model || !fidelity_parse(in, model->desc, &a->fidelity) || !events_options_allowed(in, a->fidelity, format) ||
        !mean_options_allowed(in))
        return false;
    a->catalog = open_catalog(in);
    return a->catalog && bind_point(a, in, model) && carry_out(a, in);
}

static void answer_release(struct answer *a)
{
    events_run_release(&a->events);
    design_point_release(&a->point);
    catalog_free(a->catalog);
    free(a->closed);
}

/* A metric without meaning, or not known at this point. */
static bool is_null(const struct field *f, struct value v)
{
    return f->without || (f->may_be_null && isnan(v.f64));
}

static void put_value(struct output *o, const struct field *f, const void *object)
{
    struct value v = field_get(f, object);
    char buf[TEXT_NUMBER_MAX];
    if (is_null(f, v))
        output_text(o, NULL);
    else if (f->type == DSE_TYPE_F64)
        output_f64(o, v.f64);
    else if (f->type == DSE_TYPE_I64)
        output_i64(o, v.i64);
    else
        output_text(o, value_text(f, v, buf));
}

static void put_short(struct output *o, const struct field *f, const void *object)
{
    char buf[TEXT_NUMBER_MAX];
    struct value v = field_get(f, object);
    if (is_null(f, v))
        output_text(o, "-");
    else if (f->type == DSE_TYPE_F64 && isfinite(v.f64))
        output_text(o, text_short_number(buf, v.f64));
    else
        output_text(o, value_text(f, v, buf));
}

/* Why the metric is NULL at the point; NULL where it is not. */
static const char *why_null(const struct answer *a, const struct field *f)
{
    static const char meaningless[] = "it has no meaning in this model", requests[] = "it is not known for all requests";
    const struct dse_model *model = a->point.model->desc;
    if (f->without) return meaningless;
    if (!is_null(f, field_get(f, a->point.metrics))) return NULL;
    return a->point.sweep.averages ? requests : model->why_null ? model->why_null(a->point.params, f->name) : NULL;
}

/* A line for people; at event level with the value of the closed form (object NULL: it has none). */
static void put_vertical(struct output *o, const struct answer *a, const struct field *f, const void *object, const void *closed)
{
    output_text(o, f->name);
    put_short(o, f, object);
    if (a->closed && closed)
        put_short(o, f, closed);
    else if (a->closed)
        output_text(o, NULL);
    output_text(o, f->unit);
    const char *why = object == a->point.metrics ? why_null(a, f) : NULL;
    char *what = why ? xasprintf("unknown: %s", why) : NULL;
    output_text(o, what ? what : f->doc);
    free(what);
}

/* A line of text that is no metric. */
static void put_note(struct output *o, const struct answer *a, const char *name, const char *value, const char *what)
{
    output_text(o, name);
    output_text(o, value);
    if (a->closed) output_text(o, value);
    output_text(o, "");
    output_text(o, what);
}

/* What is said of the point beside its numbers: the columns of a row (space/judge.h). */
static void put_standing(struct output *o, const struct answer *a)
{
    static const char *const what[] = {"attention is exact",
                                       "attention is exact; the bits that weights or cache lack were not measured",
                                       "measured under these settings", "measured under these settings, on another LLM", NULL};
    const struct standing *s = &a->point.standing;
    int i = 0;
    if (!s->quality) return;
    while (strcmp(dse_quality_names[i], s->quality) != 0) i++;
    put_note(o, a, "quality", s->quality, s->unknown ? s->unknown : what[i]);
    if (s->beyond) put_note(o, a, "beyond", "yes", s->beyond);
    if (!a->point.sweep.averages) return;
    char known[TEXT_NUMBER_MAX];
    put_note(o, a, "known_tokens", text_short_number(known, s->known), "share of the tokens whose quality is known");
}

/* The line of the mix that the metrics are means over. */
static void put_requests(struct output *o, const struct answer *a)
{
    char *all = sweep_requests_description(&a->point.sweep);
    output_text(o, "requests");
    output_text(o, a->point.sweep.requests_text);
    output_text(o, "");
    output_text(o, all);
    free(all);
}

/* For people: one line a metric, and a line for each parameter that was given. */
static void print_table(const struct answer *a)
{
    static const char *const columns[] = {"NAME", "VALUE", "UNIT", "WHAT"}, *const both[] = {"NAME", "EVENT LEVEL", "CLOSED FORM",
                                                                                             "UNIT", "WHAT"};
    const struct design_point *p = &a->point;
    const struct model *model = p->model;
    struct output *o = a->closed ? output_new(stdout, OUTPUT_TABLE, both, 5) : output_new(stdout, OUTPUT_TABLE, columns, 4);
    if (p->sweep.averages) put_requests(o, a);
    for (size_t i = 0; i < model->params.n; i++)
        if (p->binding->given[i].is_given) put_vertical(o, a, &model->params.fields[i], p->params, NULL);
    for (size_t i = 0; !p->reason && i < model->metrics.n; i++)
        put_vertical(o, a, &model->metrics.fields[i], p->metrics, a->closed);
    if (!p->reason) put_standing(o, a);
    output_end(o);
}

/* And what the run tells. */
static void print_run(const struct answer *a)
{
    if (sim_notes(runner_sim(a->events.runner))) {
        putchar('\n');
        events_print_notes(&a->events, OUTPUT_TABLE);
    }
    putchar('\n');
    events_print_resources(&a->events, OUTPUT_TABLE);
}

/* The quantities of the model's equations at this point, feasible or not. */
static void print_equations(const struct design_point *p, enum output_format format)
{
    static const char *const columns[] = {"NAME", "VALUE", "UNIT", "WHAT", "SOURCE"};
    const struct model *model = p->model;
    void *equations = xcalloc(1, model->desc->equations_size);
    model->desc->equate(p->params, equations);
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < model->equations.n; i++) {
        const struct field *f = &model->equations.fields[i];
        output_text(o, f->name);
        if (format == OUTPUT_TABLE && f->type == DSE_TYPE_F64 && isnan(field_number(f, equations)))
            output_text(o, NULL);
        else
            put_value(o, f, equations);
        output_text(o, f->unit);
        output_text(o, f->doc);
        output_text(o, f->source);
    }
    free(equations);
    output_end(o);
}

/* "retained_mass: retention mine holds for ...; ...": why metrics are NULL; "" when none is, but for those that have no meaning.
 * The caller frees it. */
static char *nulls_text(const struct answer *a)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < a->point.model->metrics.n; i++) {
        const struct field *f = &a->point.model->metrics.fields[i];
        const char *why = f->without ? NULL : why_null(a, f);
        if (why) text_addf(&t, "%s%s: %s", t.n ? "; " : "", f->name, why);
    }
    return text_detach(&t);
}

static void put_or_null(struct output *o, const char *s)
{
    output_text(o, s && *s ? s : NULL);
}

/* What a row has of it, and why metrics are NULL. */
static void put_row_standing(struct output *o, const struct answer *a)
{
    const struct standing *s = &a->point.standing;
    char *nulls = a->point.reason ? NULL : nulls_text(a);
    put_or_null(o, s->quality);
    put_or_null(o, s->beyond);
    if (a->point.sweep.averages && a->point.reason)
        output_text(o, NULL);
    else if (a->point.sweep.averages)
        output_f64(o, s->known);
    put_or_null(o, s->unknown);
    put_or_null(o, nulls);
    free(nulls);
}

/* For programs: one row with every parameter and metric. */
static void print_row(const struct answer *a, enum output_format format)
{
    const struct design_point *p = &a->point;
    const struct model *model = p->model;
    size_t n = 0;
    const char **names = xcalloc(model->params.n + model->metrics.n + 9, sizeof *names);
    names[n++] = "status";
    names[n++] = "reason";
    for (size_t i = 0; i < model->params.n; i++) names[n++] = model->params.fields[i].name;
    for (size_t i = 0; i < model->metrics.n; i++) names[n++] = model->metrics.fields[i].name;
    names[n++] = "fidelity";
    if (p->sweep.averages) names[n++] = "requests";
    for (size_t i = 0; space_notes[i]; i++)
        if (i < 2 || p->sweep.averages) names[n++] = space_notes[i];
    names[n++] = "why_unknown";
    names[n++] = "why_null";
    struct output *o = output_new(stdout, format, names, n);
    free(names);
    output_text(o, p->reason ? "infeasible" : "ok");
    output_text(o, p->reason);
    for (size_t i = 0; i < model->params.n; i++) {
        if (p->sweep.averages && request_mix_sets(model->params.fields[i].name))
            output_text(o, NULL); /* each request has its own */
        else
            put_value(o, &model->params.fields[i], p->params);
    }
    for (size_t i = 0; i < model->metrics.n; i++) {
        if (p->reason)
            output_text(o, NULL);
        else
            put_value(o, &model->metrics.fields[i], p->metrics);
    }
    output_text(o, fidelity_names[a->fidelity]);
    if (p->sweep.averages) output_text(o, p->sweep.requests_text);
    put_row_standing(o, a);
    output_end(o);
}

static void put_part(struct output *o, const struct part_row *row, enum output_format format)
{
    bool people = format == OUTPUT_TABLE;
    char *name = xasprintf("%*s%s", people && row->depth > 0 ? 2 * row->depth : 0, "", row->part);
    output_text(o, name);
    if (!people) output_i64(o, row->depth);
    output_f64(o, row->time_us);
    output_f64(o, row->share);
    output_f64(o, row->dram_mib);
    output_f64(o, row->gop);
    output_f64(o, row->energy_mj);
    output_text(o, row->bound);
    free(name);
}

/* For people alone: programs have one table, and the causes as metrics. */
static void show_causes(const struct answer *a)
{
    static const char *const headings[] = {"energy", "energy_mj a token", "share"};
    if (a->breakdown.n_causes == 0) return;
    putchar('\n');
    struct output *o = output_new(stdout, OUTPUT_TABLE, headings, sizeof headings / sizeof *headings);
    for (int i = 0; i < a->breakdown.n_causes; i++) {
        struct cause_row row = breakdown_cause(a->point.model, a->point.metrics, &a->breakdown, i);
        output_text(o, row.cause);
        output_f64(o, row.energy_mj);
        output_f64(o, row.share);
    }
    output_end(o);
}

/* A table's headings say what its names mean; programs find it in docs/fidelity.md. */
static void show_breakdown(const struct answer *a, enum output_format format)
{
    static const char *const names[] = {"part", "depth", "time_us", "share", "dram_mib", "gop", "energy_mj", "bound"},
                             *const headings[] = {"part",        "time_us a step",    "share", "dram_mib a token",
                                                  "gop a token", "energy_mj a token", "bound"};
    const struct model *m = a->point.model;
    struct output *o = format == OUTPUT_TABLE ? output_new(stdout, format, headings, sizeof headings / sizeof *headings)
                                              : output_new(stdout, format, names, sizeof names / sizeof *names);
    for (int i = 0; i < a->breakdown.n; i++) {
        struct part_row row = breakdown_row(m, a->point.metrics, &a->breakdown, i);
        put_part(o, &row, format);
    }
    struct part_row total = breakdown_total(m, a->point.metrics, &a->breakdown);
    put_part(o, &total, format);
    output_end(o);
    if (format == OUTPUT_TABLE) show_causes(a);
}

/* ---- what is printed ----------------------------------------------------------------------------------------------------- */

static void show_equations(const struct answer *a, enum output_format format)
{
    if (a->point.model->desc->equate)
        print_equations(&a->point, format);
    else
        terminal_say(stderr, "dse: model %s has no equations beside its metrics", a->point.model->desc->name);
}

static void show_gantt(const struct answer *a, enum output_format format)
{
    (void)format;
    fputs(a->events.chart, stdout);
}

static void show_notes(const struct answer *a, enum output_format format)
{
    events_print_notes(&a->events, format);
}

static void show_resources(const struct answer *a, enum output_format format)
{
    events_print_resources(&a->events, format);
}

/* What an option asks for in place of the metrics. */
static const struct section {
    const char *option;
    bool feasible, events; /* only of a feasible point, of a run at event level */
    void (*show)(const struct answer *a, enum output_format format);
} sections[] = {
    {"equations", false, false, show_equations}, {"breakdown", true, false, show_breakdown}, {"gantt", true, true, show_gantt},
    {"notes", true, true, show_notes},           {"resources", true, true, show_resources},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static bool can_show(const struct answer *a, const struct section *s)
{
    return (!s->feasible || !a->point.reason) && (!s->events || a->events.runner);
}

/* For programs, one table: the first that is asked for. For people, all that are, with a line between them; without such an
 * option the metrics and, of a run, its notes and resources. */
static void print(const struct answer *a, const struct invocation *in, enum output_format format)
{
    int shown = 0;
    for (int i = 0; i < SECTIONS; i++) {
        if (!option_has(in, sections[i].option) || !can_show(a, &sections[i]) || (shown && format != OUTPUT_TABLE)) continue;
        if (shown++) putchar('\n');
        sections[i].show(a, format);
    }
    if (shown) return;
    if (format != OUTPUT_TABLE)
        print_row(a, format);
    else
        print_table(a);
    if (format == OUTPUT_TABLE && a->events.runner) print_run(a);
}

/* What is known of a run that a signal has stopped. */
static void print_stopped(const struct answer *a, const struct invocation *in, enum output_format format)
{
    const struct dse_sim *sim = runner_sim(a->events.runner);
    char events[TEXT_NUMBER_MAX];
    terminal_say(stderr, "dse: stopped after %.6g us of the run, %s events; what is shown is of that time",
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
    struct answer a = {0};
    enum output_format format;
    int status = 2;
    if (output_parse_format(in, &format) && answer_init(&a, in, format)) {
        pager_start();
        if (a.point.reason) say_infeasible(&a.point);
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
            {'s', "set", "NAME=VALUE", "give a parameter; any number of times"},
            {0, "requests", "MIX",
             "means over whole requests: a name, or \"mix = { chat = 0.7, ... }\" as in [requests] of a sweep"},
            {'b', "breakdown", NULL, "time of a step, and DRAM traffic, operations and energy of a token, part by part"},
            {'e', "equations", NULL, "what the model's equations give at this point and no sweep stores"},
            {0, "fidelity", "F", "closed-form or event-level (default: closed-form)"},
            {'t', "timeline", "OUT.json", "event level: what every resource did when, for ui.perfetto.dev"},
            {'g', "gantt", NULL, "event level: the same as a chart in the terminal"},
            {0, "from", "US", "of the chart: its begin in microseconds"},
            {0, "to", "US", "and its end"},
            {'r', "resources", NULL, "event level: time busy, stalled and idle of each resource"},
            {0, "notes", NULL, "event level: what the model noted about the run"},
            {'i', "ideal", "WHAT", "event level without fifos, refresh, dram, draws, sync, or all of these causes"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {0},
        },
    .help =
        "Parameters that are not given have the model's defaults: `dse describe MODEL` lists them. A point that cannot be built is\n"
        "answered with the reason, not with an error.\n\n"
        "  dse eval lad --set tiles=8 --set context=4096\n"
        "  dse eval lad --set llm=llama3-8b --breakdown\n"
        "  dse eval lad --requests chat\n"
        "  dse eval lad --equations\n"
        "  dse eval lad --fidelity event-level --timeline lad.json\n"
        "  dse eval lad --fidelity event-level --gantt --from 100 --to 120\n"
        "  dse eval lad --fidelity event-level --ideal refresh,dram\n"
        "  dse eval lad --format json\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
