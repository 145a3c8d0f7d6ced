#include "cli/eval_print.h"

#include "base/xalloc.h"
#include "model/breakdown.h"
#include "model/nulls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_value(struct output *o, const struct field *f, const void *object)
{
    struct value v = field_get(f, object);
    char buf[TEXT_NUMBER_MAX];
    if (metric_is_null(f, object))
        output_text(o, NULL);
    else if (f->type == DSE_TYPE_F64)
        output_f64(o, v.f64);
    else if (f->type == DSE_TYPE_I64)
        output_i64(o, v.i64);
    else
        output_text(o, value_text(f, v, buf));
}

const char *eval_why_no_mean(const struct eval_answer *a)
{
    return a->point.sweep.averages ? "it is not known for all requests" : NULL;
}

void eval_print_equations(const struct design_point *p, enum output_format format)
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

static void put_or_null(struct output *o, const char *s)
{
    output_text(o, s && *s ? s : NULL);
}

/* Add the columns of notes to a row, and why metrics are NULL. */
static void put_row_standing(struct output *o, const struct eval_answer *a)
{
    const struct design_point *p = &a->point;
    const struct standing *s = &p->standing;
    char *nulls = p->reason ? NULL : nulls_text(p->model, space_metrics(p->space), p->params, p->metrics, eval_why_no_mean(a));
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

const char *eval_fidelity(const struct eval_answer *a)
{
    const struct runner *r = a->events.runner;
    return fidelity_of_row(a->fidelity, r ? runner_is_measured(r) : a->point.is_measured);
}

void eval_print_row(const struct eval_answer *a, enum output_format format)
{
    const struct design_point *p = &a->point;
    const struct model *model = p->model;
    const struct schema *metrics = space_metrics(p->space);
    size_t n = 0;
    const char **names = xcalloc(model->params.n + metrics->n + 9, sizeof *names);
    names[n++] = "status";
    names[n++] = "reason";
    for (size_t i = 0; i < model->params.n; i++) names[n++] = model->params.fields[i].name;
    for (size_t i = 0; i < metrics->n; i++) names[n++] = metrics->fields[i].name;
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
    for (size_t i = 0; i < metrics->n; i++) {
        if (p->reason)
            output_text(o, NULL);
        else
            put_value(o, &metrics->fields[i], p->metrics);
    }
    output_text(o, eval_fidelity(a));
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

/* Print what the energy goes to. This is for people alone: programs get one table, and the causes as metrics. */
static void show_causes(const struct eval_answer *a)
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

/* A table's headings say what its names mean; programs find it in docs/explanation/fidelity.md. */
void eval_print_breakdown(const struct eval_answer *a, enum output_format format)
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
