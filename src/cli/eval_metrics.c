/* What `dse eval` prints for people: what was assumed, and the metrics in groups. */
#include "base/xalloc.h"
#include "cli/eval_print.h"
#include "model/groups.h"
#include "model/nulls.h"
#include "model/served.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_short(struct output *o, const struct field *f, const void *object)
{
    char buf[TEXT_NUMBER_MAX];
    struct value v = field_get(f, object);
    if (metric_is_null(f, object))
        output_text(o, "-");
    else if (f->type == DSE_TYPE_F64 && isfinite(v.f64))
        output_text(o, text_short_number(buf, v.f64));
    else
        output_text(o, value_text(f, v, buf));
}

static const char *why_null(const struct eval_answer *a, const struct field *f, const void *object)
{
    const struct design_point *p = &a->point;
    if (a->fidelity == FIDELITY_EVENT_LEVEL && metrics_have(served_metrics, f->name))
        return "only the closed form gives it: event level runs one phase of each request";
    return object == p->metrics ? metric_why_null(p->model, f, p->params, object, eval_why_no_mean(a)) : NULL;
}

/* A line for people; at event level with the value of the closed form (object NULL: it has none). */
static void put_vertical(struct output *o, const struct eval_answer *a, const struct field *f, const void *object,
                         const void *closed)
{
    output_text(o, f->name);
    put_short(o, f, object);
    if (a->closed && closed)
        put_short(o, f, closed);
    else if (a->closed)
        output_text(o, NULL);
    output_text(o, f->unit);
    const char *why = why_null(a, f, object);
    char *what = why ? xasprintf("unknown: %s", why) : NULL;
    output_text(o, what ? what : f->doc);
    free(what);
}

/* Add a line whose value is a text and no metric. */
static void put_note(struct output *o, const struct eval_answer *a, const char *name, const char *value, const char *what)
{
    output_text(o, name);
    output_text(o, value);
    if (a->closed) output_text(o, value);
    output_text(o, "");
    output_text(o, what);
}

/* Print which statistics of attention the point follows, where a model's time depends on them. */
static void put_statistics(struct output *o, const struct eval_answer *a)
{
    const struct dse_model *model = a->point.model->desc;
    struct dse_standing s = {0};
    if (!model->stand || a->point.sweep.averages) return;
    model->stand(a->point.params, &s);
    if (s.statistics) put_note(o, a, "statistics", s.statistics->name, s.statistics->source);
}

/* Print what is known of the point beside its numbers: the columns of notes of a row (space/judge.h). */
static void put_standing(struct output *o, const struct eval_answer *a)
{
    static const char *const what[] = {"attention is exact",
                                       "attention is exact; the loss from fewer bits of weights or cache was not measured",
                                       "measured under these settings",
                                       "extended beyond the contexts that were measured",
                                       "measured, or extended, on another LLM with the same kind of attention",
                                       NULL};
    const struct standing *s = &a->point.standing;
    int i = 0;
    while (s->quality && strcmp(dse_quality_names[i], s->quality) != 0) i++;
    if (s->quality) put_note(o, a, "quality", s->quality, s->unknown ? s->unknown : what[i]);
    put_statistics(o, a);
    if (s->beyond) put_note(o, a, "beyond", "yes", s->beyond);
    if (!s->quality || !a->point.sweep.averages) return;
    char known[TEXT_NUMBER_MAX];
    put_note(o, a, "known_tokens", text_short_number(known, s->known), "share of the tokens whose quality is known");
}

/* The line of the mix that the metrics are means over. */
static void put_requests(struct output *o, const struct eval_answer *a)
{
    char *all = sweep_requests_description(&a->point.sweep);
    output_text(o, "requests");
    output_text(o, a->point.sweep.requests_text);
    output_text(o, "");
    output_text(o, all);
    free(all);
}

/* An empty line, and the name of what follows. */
static void put_heading(struct output *o, const struct eval_answer *a, const char *title)
{
    const int columns = a->closed ? 5 : 4;
    for (int i = 0; i < columns; i++) output_text(o, "");
    output_text(o, title);
    for (int i = 1; i < columns; i++) output_text(o, "");
}

/* Print a parameter that was not printed before. */
static void put_param(struct output *o, const struct eval_answer *a, const struct field *f, bool *done)
{
    const size_t i = f ? schema_index(&a->point.model->params, f) : 0;
    if (!f || done[i] || (a->point.sweep.averages && request_mix_sets(f->name))) return; /* each request has its own */
    done[i] = true;
    put_vertical(o, a, f, a->point.params, NULL);
}

/* What an answer depends on most of a group, given or not: at most so many of its first names. */
static void put_first(struct output *o, const struct eval_answer *a, int group, int most, bool *done)
{
    for (const char *const *name = param_groups[group].first; *name && most; name++, most--)
        put_param(o, a, schema_find(&a->point.model->params, *name), done);
}

/* Print each lossy technique that is on, and the first of its settings, given or not: it changes the output. */
static void put_techniques(struct output *o, const struct eval_answer *a, bool *done)
{
    const struct schema *params = &a->point.model->params;
    for (const struct dse_technique *t = a->point.model->desc->techniques; t && t->param; t++) {
        char buf[TEXT_NUMBER_MAX];
        const struct field *f = schema_find(params, t->param);
        if (strcmp(value_text(f, field_get(f, a->point.params), buf), t->off) == 0) continue;
        put_param(o, a, f, done);
        if (t->only && *t->only) put_param(o, a, schema_find(params, *t->only), done);
    }
}

static void put_fidelity(struct output *o, const struct eval_answer *a)
{
    const char *fidelity = eval_fidelity(a);
    if (fidelity != fidelity_names[a->fidelity])
        put_note(o, a, "fidelity", fidelity, "kernels take whole times of measurements: the run repeats the closed form");
    else if (!a->closed)
        put_note(o, a, "fidelity", fidelity, "from equations, or from a simulation event by event");
}

/* Print the fidelity, the LLM and its step, the machine, its memory, what it loses, and what was given beside these. */
static void put_assumed(struct output *o, const struct eval_answer *a)
{
    enum { OF_MEMORY = 3, ALL = 1000 };
    const struct design_point *p = &a->point;
    const struct schema *params = &p->model->params;
    bool *done = xcalloc(params->n + 1, sizeof *done);
    put_fidelity(o, a);
    if (p->sweep.averages) put_requests(o, a);
    put_first(o, a, GROUP_WORKLOAD, ALL, done);
    put_first(o, a, GROUP_MACHINE, ALL, done);
    put_first(o, a, GROUP_MEMORY, OF_MEMORY, done);
    put_techniques(o, a, done);
    for (size_t i = 0; i < params->n; i++)
        if (p->binding->given[i].is_given) put_param(o, a, &params->fields[i], done);
    free(done);
}

/* Metrics that a sweep's [requests] adds stand with those of their unit. */
static size_t put_group(struct output *o, const struct eval_answer *a, int g, bool all)
{
    const struct schema *metrics = space_metrics(a->point.space);
    size_t n, shown = 0, left = 0;
    const struct field **fields = group_fields(metrics, metric_groups, metric_group, g, &n);
    if (g == GROUP_QUALITY && n == 0) put_heading(o, a, metric_groups[g].title);
    for (size_t i = 0; i < n; i++) {
        if (!all && (shown == GROUP_FIRST || fields[i]->without)) {
            left++;
            continue;
        }
        if (shown++ == 0) put_heading(o, a, metric_groups[g].title);
        put_vertical(o, a, fields[i], a->point.metrics, a->closed);
    }
    if (g == GROUP_QUALITY) put_standing(o, a);
    free(fields);
    return left;
}

void eval_print_metrics(const struct eval_answer *a, bool all)
{
    static const char *const columns[] = {"NAME", "VALUE", "UNIT", "WHAT"}, *const both[] = {"NAME", "EVENT LEVEL", "CLOSED FORM",
                                                                                             "UNIT", "WHAT"};
    const struct dse_model *model = a->point.model->desc;
    struct output *o = a->closed ? output_new(stdout, OUTPUT_TABLE, both, 5) : output_new(stdout, OUTPUT_TABLE, columns, 4);
    size_t left = 0;
    put_assumed(o, a);
    for (int g = 0; !a->point.reason && g < METRIC_GROUPS; g++) left += put_group(o, a, g, all);
    output_end(o);
    if (!left) return;
    putchar('\n');
    terminal_say(stdout, "%zu more metrics: dse eval %s --all; all parameters: dse describe %s", left, model->name, model->name);
}
