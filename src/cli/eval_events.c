#include "cli/eval_events.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "cli/interrupt.h"
#include "sim/gantt.h"
#include "sim/timeline.h"
#include "space/bug.h"

#include <stdlib.h>
#include <string.h>

/* ---- options ------------------------------------------------------------------------------------------------------------- */

bool fidelity_parse(const struct invocation *in, const struct dse_model *m, enum fidelity *ret)
{
    const char *s = option_get(in, "fidelity");
    *ret = FIDELITY_CLOSED_FORM;
    for (int i = 0; s && i < FIDELITIES; i++) {
        if (strcmp(s, fidelity_names[i]) != 0) continue;
        *ret = (enum fidelity)i;
        if (!m || fidelity_of_model(m, *ret)) return true;
        usage_error(in, "model %s has no fidelity \"%s\"; it has: %s", m->name, s, fidelities_text(m));
        return false;
    }
    if (!s) return true;
    const char *near = text_nearest(s, fidelity_names, FIDELITIES);
    usage_error(in, "there is no fidelity \"%s\"%s%s: closed-form, event-level", s, near ? "; did you mean " : "",
                near ? near : "");
    return false;
}

bool events_options_allowed(const struct invocation *in, enum fidelity fidelity, enum output_format format)
{
    static const char *const names[] = {"timeline", "gantt", "from", "to", "ideal", "resources", "notes"};
    bool ok = true;
    for (size_t i = 0; fidelity != FIDELITY_EVENT_LEVEL && i < sizeof names / sizeof *names; i++) {
        if (!option_has(in, names[i])) continue;
        usage_error(in, "--%s is about a run at event level: add --fidelity event-level", names[i]);
        ok = false;
    }
    if (option_has(in, "gantt") && format != OUTPUT_TABLE) {
        usage_error(in, "--gantt draws a picture: leave --format out, or use --timeline");
        ok = false;
    }
    return ok;
}

static bool unknown_ideal(const struct invocation *in, const char *name)
{
    size_t n = 0;
    while (dse_ideal_names[n]) n++;
    const char *near = text_nearest(name, dse_ideal_names, n);
    char *all = text_join(dse_ideal_names, ", ");
    usage_error(in, "--ideal: \"%s\" cannot be idealised%s%s; these can be: %s, all", name, near ? "; did you mean " : "",
                near ? near : "", all);
    free(all);
    return false;
}

static bool add_ideal(const struct invocation *in, const char *name, unsigned *bits)
{
    for (unsigned i = 0; dse_ideal_names[i]; i++) {
        bool all = strcmp(name, "all") == 0;
        if (!all && strcmp(name, dse_ideal_names[i]) != 0) continue;
        *bits |= 1U << i;
        if (!all) return true;
    }
    return strcmp(name, "all") == 0 || unknown_ideal(in, name);
}

/* --ideal as bits of enum dse_ideal, 0 when not given. False with an error. */
static bool ideal_parse(const struct invocation *in, unsigned *ret)
{
    *ret = 0;
    bool ok = true;
    for (size_t i = 0; i < in->n_options; i++) {
        if (strcmp(in->options[i].row->name, "ideal") != 0) continue;
        char *list = xstrdup(in->options[i].argument), *rest = list, *words = NULL;
        for (char *name; (name = strtok_r(rest, ", ", &words)) != NULL; rest = NULL) ok = add_ideal(in, name, ret) && ok;
        free(list);
    }
    return ok;
}

/* A time in microseconds; 0 when it was not given. */
static bool parse_time(const struct invocation *in, const char *name, dse_ps *ret)
{
    const char *s = option_get(in, name);
    double us;
    *ret = 0;
    if (!s) return true;
    if (!text_parse_f64(s, &us) || !(us >= 0) || us > 1e12) {
        usage_error(in, "--%s: \"%s\" is not a time in microseconds", name, s);
        return false;
    }
    *ret = dse_ps_of_s(us * 1e-6);
    return true;
}

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

/* The recorders that watch the run. */
struct watchers {
    struct timeline *timeline;
    struct gantt *gantt;
    struct sim_recorder first; /* links the two */
};

/* Open the recorders. The file is opened before the run, which would be wasted if it could not be written. */
static bool open_watchers(const struct invocation *in, const struct dse_model *m, struct watchers *w)
{
    const char *path = option_get(in, "timeline");
    dse_ps from, to;
    *w = (struct watchers){0};
    if (!parse_time(in, "from", &from) || !parse_time(in, "to", &to)) return false;
    if (to && to <= from) return usage_error(in, "--to must be later than --from"), false;
    if (path && !(w->timeline = timeline_open(path, m->name, in->diags))) return false;
    if (option_has(in, "gantt")) w->gantt = gantt_new(from, to);
    return true;
}

static const struct sim_recorder *recorders(struct watchers *w)
{
    const struct sim_recorder *chart = w->gantt ? gantt_recorder(w->gantt) : NULL;
    if (!w->timeline) return chart;
    w->first = *timeline_recorder(w->timeline);
    w->first.next = chart;
    return &w->first;
}

static bool is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *s = getenv(variables[i]);
        if (s && *s) return strcasestr(s, "utf-8") || strcasestr(s, "utf8");
    }
    return false;
}

/* The width of the chart: that of the terminal, or a fixed one when stdout is a file. */
static unsigned chart_width(void)
{
    enum { WIDTH = 100 };
    int64_t columns;
    size_t width = terminal_width(stdout);
    if (!width && getenv("COLUMNS") && text_parse_i64(getenv("COLUMNS"), &columns) && columns > 0 && columns < 10000)
        width = (size_t)columns;
    return width ? (unsigned)width : WIDTH;
}

static char *draw_chart(const struct gantt *g, const struct dse_sim *sim)
{
    struct gantt_style style = {.width = chart_width(), .utf8 = is_utf8(), .colour = wants_colour(stdout)};
    return gantt_draw(g, dse_sim_now(sim), &style);
}

/* Close the recorders. What they saw of a run that was stopped is kept, too, as `known` says. */
static bool close_watchers(const struct invocation *in, struct watchers *w, const struct dse_sim *sim, bool known, char **ret_chart)
{
    bool ok = true;
    if (w->timeline && known)
        ok = timeline_close(w->timeline, in->diags);
    else
        timeline_abandon(w->timeline);
    if (w->gantt && known) *ret_chart = draw_chart(w->gantt, sim);
    gantt_free(w->gantt);
    return ok;
}

bool eval_bug(const struct invocation *in, const struct model *m, const struct runner *r)
{
    char *bug = bug_text(m, runner_error(r));
    diags_runtime(in->diags, NULL, "%s", bug);
    free(bug);
    return false;
}

bool events_run(struct events_run *ret, const struct invocation *in, struct design_point *p, struct dse_breakdown *breakdown)
{
    struct watchers w;
    struct sim_options options = {.stop = interrupt_catch()};
    *ret = (struct events_run){0};
    if (!ideal_parse(in, &options.ideal) || !open_watchers(in, p->model->desc, &w)) return false;
    options.recorder = recorders(&w);
    ret->runner = runner_new(FIDELITY_EVENT_LEVEL, &options);
    enum run_end end = runner_run(ret->runner, p->model->desc, p->params, p->metrics, breakdown);
    ret->stopped = end == RUN_STOPPED;
    bool known = end == RUN_DONE || end == RUN_STOPPED;
    bool ok = close_watchers(in, &w, runner_sim(ret->runner), known, &ret->chart) && end == RUN_DONE;
    if (end == RUN_REFUSED)
        diags_runtime(in->diags, NULL, "this point cannot be run at event level: %s", runner_error(ret->runner));
    if (end == RUN_BROKEN) eval_bug(in, p->model, ret->runner);
    if (end == RUN_FAILED)
        diags_runtime(in->diags, NULL, "the event level of %s failed, which is a bug of the model: %s", p->model->desc->name,
                      runner_error(ret->runner));
    return ok;
}

void events_run_release(struct events_run *r)
{
    runner_free(r->runner);
    free(r->chart);
    *r = (struct events_run){0};
}

/* ---- notes --------------------------------------------------------------------------------------------------------------- */

void events_print_notes(const struct events_run *r, enum output_format format)
{
    const struct dse_sim *sim = runner_sim(r->runner);
    const char *const columns[] = {format == OUTPUT_TABLE ? "NOTE" : "name", format == OUTPUT_TABLE ? "VALUE" : "value",
                                   format == OUTPUT_TABLE ? "UNIT" : "unit"};
    struct output *o = output_new(stdout, format, columns, 3);
    for (size_t i = 0; i < sim_notes(sim); i++) {
        struct sim_note note = sim_note(sim, i);
        output_text(o, note.name);
        output_f64(o, note.value);
        output_text(o, note.unit);
    }
    output_end(o);
}

/* ---- resources ----------------------------------------------------------------------------------------------------------- */

/* Resources of one kind: "channel 3" of "stack 0" and "channel 0" of "stack 1". */
struct kind {
    char *name;
    size_t n;
    double share[DSE_STATES]; /* of the run, summed over them */
    double least, most;       /* of the shares of being busy */
};

/* The name of the kind, in which each number is a star. */
static char *kind_of(const struct sim_resource *r)
{
    struct text t;
    text_init(&t);
    const char *const names[] = {r->group, r->name};
    for (int k = 0; k < 2; k++) {
        if (t.n && *names[k]) text_add(&t, " / ");
        for (const char *s = names[k]; *s;) {
            size_t digits = strspn(s, "0123456789");
            text_add_bytes(&t, digits ? "*" : s, 1);
            s += digits ? digits : 1;
        }
    }
    return text_detach(&t);
}

static struct kind *find_kind(struct kind **kinds, size_t *n, char *name)
{
    for (size_t i = 0; i < *n; i++) {
        if (strcmp((*kinds)[i].name, name) != 0) continue;
        free(name);
        return &(*kinds)[i];
    }
    *kinds = xrealloc(*kinds, *n + 1, sizeof **kinds);
    (*kinds)[*n] = (struct kind){.name = name, .least = 1};
    return &(*kinds)[(*n)++];
}

static void add_resource(struct kind *k, const struct dse_sim *sim, uint32_t i)
{
    double busy = sim_resource_share(sim, i, DSE_BUSY);
    for (int s = 0; s < DSE_STATES; s++) k->share[s] += sim_resource_share(sim, i, (enum dse_state)s);
    k->n++;
    if (busy < k->least) k->least = busy;
    if (busy > k->most) k->most = busy;
}

static void put_percent(struct output *o, double share)
{
    char *s = share > 0 && share < 0.0005 ? xstrdup("< 0.1 %") : xasprintf("%.1f %%", 100 * share);
    output_text(o, s);
    free(s);
}

static void put_kind(struct output *o, const struct kind *k)
{
    char *n = xasprintf("%zu", k->n), *range = xasprintf("%.1f to %.1f %%", 100 * k->least, 100 * k->most);
    output_text(o, k->name);
    output_text(o, k->n > 1 ? n : NULL);
    put_percent(o, k->share[DSE_BUSY] / (double)k->n);
    output_text(o, k->n > 1 ? range : NULL);
    put_percent(o, k->share[DSE_STALL_INPUT] / (double)k->n);
    put_percent(o, k->share[DSE_STALL_OUTPUT] / (double)k->n);
    put_percent(o, k->share[DSE_IDLE] / (double)k->n);
    free(n);
    free(range);
}

/* Print the resources that did anything, for people: those of one kind share a line with their mean. */
static void print_kinds(const struct dse_sim *sim)
{
    struct kind *kinds = NULL;
    size_t n = 0;
    for (uint32_t i = 0; i < sim_resources(sim); i++) {
        struct sim_resource r = sim_resource(sim, i);
        add_resource(find_kind(&kinds, &n, kind_of(&r)), sim, i);
    }
    struct output *o = output_new(
        stdout, OUTPUT_TABLE,
        (const char *const[]){"RESOURCE", "OF THEM", "BUSY", "LEAST TO MOST", "STALLED ON INPUT", "STALLED ON OUTPUT", "IDLE"}, 7);
    for (size_t i = 0; i < n; i++) {
        if (kinds[i].most > 0) put_kind(o, &kinds[i]);
        free(kinds[i].name);
    }
    output_end(o);
    free(kinds);
}

static void print_each(const struct dse_sim *sim, enum output_format format)
{
    static const char *const columns[] = {"group", "resource", "busy_us", "stalled_on_input_us", "stalled_on_output_us", "idle_us"};
    static const enum dse_state states[] = {DSE_BUSY, DSE_STALL_INPUT, DSE_STALL_OUTPUT, DSE_IDLE};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; i < sim_resources(sim); i++) {
        struct sim_resource r = sim_resource(sim, i);
        output_text(o, r.group);
        output_text(o, r.name);
        for (int s = 0; s < DSE_STATES; s++) output_f64(o, dse_s_of_ps(r.time[states[s]]) * 1e6);
    }
    output_end(o);
}

void events_print_resources(const struct events_run *r, enum output_format format)
{
    if (format == OUTPUT_TABLE)
        print_kinds(runner_sim(r->runner));
    else
        print_each(runner_sim(r->runner), format);
}
