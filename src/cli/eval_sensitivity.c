#include "cli/eval_sensitivity.h"

#include "base/xalloc.h"
#include "model/groups.h"
#include "space/sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Percent for one percent: what a table leaves out. */
static const double small = 0.05;

bool sensitivity_options_allowed(const struct invocation *in, const struct model *model, enum fidelity fidelity)
{
    size_t n;
    const char **asked = option_all(in, "metric", &n), **names = schema_names(&model->metrics);
    bool ok = true;
    if (n && !option_has(in, "sensitivity")) ok = usage_error(in, "--metric is about --sensitivity") == 0;
    if (option_has(in, "sensitivity") && fidelity == FIDELITY_EVENT_LEVEL)
        ok = usage_error(in, "--sensitivity is about the closed form, and --fidelity asks for event level") == 0;
    for (size_t i = 0; i < n; i++)
        if (!schema_find(&model->metrics, asked[i]))
            ok = usage_unknown(in, "--metric: there is no metric", asked[i], names, model->metrics.n,
                               "; `dse describe MODEL` lists them") == 0;
    free(asked);
    free(names);
    return ok;
}

/* ---- which metrics ----------------------------------------------------------------------------------------------------------- */

/* Metrics that are told, by their place in the schema. The caller frees the array. */
static bool *find_told(const struct sensitivity *s, const struct schema *metrics, const struct invocation *in, bool all)
{
    bool *ret = xcalloc(metrics->n + 1, sizeof *ret), *known = xcalloc(metrics->n + 1, sizeof *known);
    size_t asked_n;
    const char **asked = option_all(in, "metric", &asked_n);
    for (size_t i = 0; i < s->n; i++) known[s->list[i].metric] = true;
    for (size_t i = 0; i < asked_n; i++) ret[schema_index(metrics, schema_find(metrics, asked[i]))] = true;
    for (size_t i = 0; i < metrics->n && all && !asked_n; i++) ret[i] = true;
    for (int g = 0; g < METRIC_GROUPS && !all && !asked_n; g++) {
        size_t n, i = 0;
        const struct field **fields = group_fields(metrics, metric_groups, metric_group, g, &n);
        while (i < n && !known[schema_index(metrics, fields[i])]) i++;
        if (i < n) ret[schema_index(metrics, fields[i])] = true;
        free(fields);
    }
    free(asked);
    free(known);
    return ret;
}

static bool is_small(const struct elasticity *e)
{
    return !(fabs(e->is) >= small) && !(fabs(e->through_steps) >= small);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

/* "tiles"; of a constant its name, or "0.772 in scores_s, line 90". The caller frees it. */
static char *name_of(const struct slope_variable *v)
{
    char number[TEXT_NUMBER_MAX];
    if (v->param) return xstrdup(v->param->name);
    if (v->alone) return xasprintf("%s, line %d", v->name, v->loc.line);
    return xasprintf("%s in %s, line %d", text_short_number(number, v->value), v->name, v->loc.line);
}

static void put_people(struct output *o, const struct schema *metrics, const struct elasticity *e)
{
    char number[TEXT_NUMBER_MAX], value[TEXT_NUMBER_MAX];
    char *name = name_of(e->variable);
    output_text(o, metrics->fields[e->metric].name);
    output_text(o, name);
    output_text(o, text_short_number(value, e->variable->value));
    output_text(o, text_short_number(number, e->is));
    output_text(o, elasticity_ways[e->way]);
    output_text(o, e->note ? e->note : "");
    free(name);
}

/* A constant has a place, and a parameter has none. */
static void put_place(struct output *o, const struct slope_variable *v)
{
    if (v->param) {
        for (int i = 0; i < 3; i++) output_text(o, NULL);
        return;
    }
    output_text(o, v->loc.file);
    output_i64(o, v->loc.line);
    output_i64(o, v->loc.column);
}

static void put_program(struct output *o, const struct schema *metrics, const struct elasticity *e)
{
    output_text(o, metrics->fields[e->metric].name);
    output_text(o, e->variable->param ? "parameter" : e->variable->alone ? "constant" : "number");
    output_text(o, e->variable->param ? e->variable->param->name : e->variable->name);
    put_place(o, e->variable);
    output_f64(o, e->variable->value);
    output_f64(o, e->is);
    output_text(o, elasticity_ways[e->way]);
    output_f64(o, e->step);
    output_f64(o, e->down);
    output_f64(o, e->up);
    output_f64(o, e->through_steps);
    output_text(o, e->note);
}

struct left_out {
    size_t others, small; /* numbers of other metrics, and small ones */
};

static struct left_out print_rows(struct output *o, const struct sensitivity *s, const struct schema *metrics, const bool *told,
                                  void (*put)(struct output *o, const struct schema *metrics, const struct elasticity *e),
                                  bool with_small)
{
    struct left_out left = {0, 0};
    for (size_t i = 0; i < s->n; i++) {
        const struct elasticity *e = &s->list[i];
        if (!told[e->metric])
            left.others++;
        else if (!with_small && is_small(e))
            left.small++;
        else
            put(o, metrics, e);
    }
    return left;
}

static void print_people(const struct sensitivity *s, const struct schema *metrics, const bool *told, bool all, bool asked)
{
    static const char *const columns[] = {"METRIC", "OF", "VALUE", "% FOR 1 %", "HOW", "NOTE"};
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    const struct left_out left = print_rows(o, s, metrics, told, put_people, all);
    output_end(o);
    if (left.small || (!asked && left.others)) putchar('\n');
    if (asked && left.small)
        terminal_say(stdout, "%zu numbers below %g are left out; --all prints them", left.small, small);
    else if (!asked && left.small + left.others)
        terminal_say(stdout,
                     "%zu numbers are left out: %zu below %g, and %zu of other metrics; --metric NAME picks, --all prints all",
                     left.small + left.others, left.small, small, left.others);
}

/* To programs, too: they would take what is missing for what does not matter. */
static void say_without_constants(const struct sensitivity *s)
{
    if (s->is_without_constants)
        terminal_say(
            stderr, "note: the model has too many formulas to differentiate: its parameters are moved, and constants are left out");
}

static void print_programs(const struct sensitivity *s, const struct schema *metrics, const bool *told, enum output_format format)
{
    static const char *const columns[] = {"metric",     "kind", "of",   "file",  "line",  "column",        "value",
                                          "elasticity", "how",  "step", "below", "above", "without_steps", "note"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    print_rows(o, s, metrics, told, put_program, true);
    output_end(o);
}

void eval_print_sensitivity(const struct eval_answer *a, const struct invocation *in, enum output_format format)
{
    const struct schema *metrics = &a->point.model->metrics;
    const bool all = format != OUTPUT_TABLE || option_has(in, "all");
    struct sensitivity s;
    sensitivity_of(&a->point, &s);
    bool *told = find_told(&s, metrics, in, all);
    say_without_constants(&s);
    if (format == OUTPUT_TABLE)
        print_people(&s, metrics, told, all, option_has(in, "metric"));
    else
        print_programs(&s, metrics, told, format);
    free(told);
    sensitivity_release(&s);
}
