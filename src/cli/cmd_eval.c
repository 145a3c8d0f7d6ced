/* dse eval: one design point, its metrics and where its time goes. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/model_find.h"
#include "cli/output.h"
#include "space/space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point: the space of one model in which nothing varies. */
struct point {
    struct catalog *catalog;
    struct binding *binding;
    struct sweep_file sweep;
    struct space *space;
    void *metrics;
    struct dse_breakdown breakdown;
    const char *reason; /* why it is infeasible, or NULL */
};

static bool bind_options(const struct invocation *in, struct binding *b)
{
    bool ok = true;
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0) ok = binding_set_text(b, in->options[i].argument, in->diags) && ok;
    return binding_finish(b, in->diags) && ok;
}

/* Expects *p zeroed; release it whatever comes back. */
static bool point_init(struct point *p, const struct invocation *in)
{
    const struct model *model = model_find(in, in->operands[0]);
    if (!model || !(p->catalog = open_catalog(in))) return false;
    const char *fidelity = option_get(in, "fidelity");
    if (fidelity && strcmp(fidelity, "closed-form") != 0) {
        usage_error(in, "model %s has no fidelity \"%s\"; it has: closed-form", model->desc->name, fidelity);
        return false;
    }
    p->binding = binding_new(model, p->catalog, catalog_data_dir(), in->diags);
    if (!p->binding || !bind_options(in, p->binding)) return false;
    p->sweep = (struct sweep_file){.bindings = &p->binding, .n_models = 1};
    p->space = space_new(&p->sweep, 0, 1, in->diags);
    if (!p->space) return false;
    const void *params = space_fixed(p->space);
    p->metrics = xcalloc(1, model->desc->metrics_size);
    p->reason = model->desc->check ? model->desc->check(params) : NULL;
    if (!p->reason) model->desc->estimate(params, p->metrics, &p->breakdown);
    return true;
}

static void point_release(struct point *p)
{
    space_free(p->space);
    binding_free(p->binding);
    catalog_free(p->catalog);
    free(p->metrics);
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

static void put_vertical(struct output *o, const struct field *f, const void *object)
{
    char buf[TEXT_NUMBER_MAX];
    struct value v = field_get(f, object);
    output_text(o, f->name);
    if (is_null(f, v))
        output_text(o, NULL);
    else if (f->type == DSE_TYPE_F64 && isfinite(v.f64))
        output_text(o, text_short_number(buf, v.f64));
    else
        output_text(o, value_text(f, v, buf));
    output_text(o, f->unit);
    output_text(o, f->doc);
}

/* For people: one line a metric, and a line for each parameter that was given. */
static bool print_table(const struct point *p)
{
    const struct model *model = p->binding->model;
    struct output *o = output_new(stdout, OUTPUT_TABLE, (const char *const[]){"NAME", "VALUE", "UNIT", "WHAT"}, 4);
    for (size_t i = 0; i < model->params.n; i++)
        if (p->binding->given[i].is_given) put_vertical(o, &model->params.fields[i], space_fixed(p->space));
    for (size_t i = 0; !p->reason && i < model->metrics.n; i++) put_vertical(o, &model->metrics.fields[i], p->metrics);
    return output_end(o);
}

/* The quantities of the model's equations at this point, feasible or not. */
static bool print_equations(const struct point *p, enum output_format format)
{
    static const char *const columns[] = {"NAME", "VALUE", "UNIT", "WHAT", "SOURCE"};
    const struct model *model = p->binding->model;
    void *equations = xcalloc(1, model->desc->equations_size);
    model->desc->equate(space_fixed(p->space), equations);
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
    return output_end(o);
}

/* For programs: one row with every parameter and metric. */
static bool print_row(const struct point *p, enum output_format format)
{
    const struct model *model = p->binding->model;
    size_t n = 0;
    const char **names = xcalloc(model->params.n + model->metrics.n + 2, sizeof *names);
    names[n++] = "status";
    names[n++] = "reason";
    for (size_t i = 0; i < model->params.n; i++) names[n++] = model->params.fields[i].name;
    for (size_t i = 0; i < model->metrics.n; i++) names[n++] = model->metrics.fields[i].name;
    struct output *o = output_new(stdout, format, names, n);
    free(names);
    output_text(o, p->reason ? "infeasible" : "ok");
    output_text(o, p->reason);
    for (size_t i = 0; i < model->params.n; i++) put_value(o, &model->params.fields[i], space_fixed(p->space));
    for (size_t i = 0; i < model->metrics.n; i++) {
        if (p->reason)
            output_text(o, NULL);
        else
            put_value(o, &model->metrics.fields[i], p->metrics);
    }
    return output_end(o);
}

static bool print_breakdown(const struct point *p, enum output_format format)
{
    static const char *const columns[] = {"part", "depth", "time_us", "share", "dram_mib", "gop", "energy_mj", "bound"};
    double total = 0;
    for (int i = 0; i < p->breakdown.n; i++)
        if (p->breakdown.part[i].depth == 0) total += p->breakdown.part[i].time_us;
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < p->breakdown.n; i++) {
        const struct dse_part *part = &p->breakdown.part[i];
        char *name = xasprintf("%*s%s", format == OUTPUT_TABLE ? 2 * part->depth : 0, "", part->name);
        output_text(o, name);
        output_i64(o, part->depth);
        output_f64(o, part->time_us);
        output_f64(o, total > 0 ? part->time_us / total : 0);
        output_f64(o, part->dram_bytes / 1048576.0);
        output_f64(o, part->ops / 1e9);
        output_f64(o, part->energy_mj);
        output_text(o, part->bound);
        free(name);
    }
    return output_end(o);
}

static int run(const struct invocation *in)
{
    struct point p = {0};
    enum output_format format;
    int status = 2;
    if (!output_parse_format(in, &format) || !point_init(&p, in)) goto out;
    if (p.reason) fprintf(stderr, "dse: this point is infeasible: %s\n", p.reason);
    if (option_has(in, "equations") && !p.binding->model->desc->equate)
        fprintf(stderr, "dse: model %s has no equations beside its metrics\n", p.binding->model->desc->name);
    else if (option_has(in, "equations"))
        print_equations(&p, format);
    else if (option_has(in, "breakdown") && !p.reason)
        print_breakdown(&p, format);
    else if (format == OUTPUT_TABLE)
        print_table(&p);
    else
        print_row(&p, format);
    status = 0;
out:
    point_release(&p);
    return status;
}

const struct command command_eval = {
    .name = "eval",
    .operands = "MODEL",
    .summary = "evaluate one design point, in total or part by part",
    .options =
        (const struct option_row[]){
            {'s', "set", "NAME=VALUE", "give a parameter; any number of times"},
            {'b', "breakdown", NULL, "time, bytes, operations, energy and bound of each part"},
            {'e', "equations", NULL, "what the model's equations give at this point and no sweep stores"},
            {0, "fidelity", "F", "closed-form"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {0},
        },
    .help =
        "Parameters that are not given have the model's defaults: `dse describe MODEL` lists them. A point that cannot be built is\n"
        "answered with the reason, not with an error.\n\n"
        "  dse eval lad --set tiles=8 --set context=4096\n"
        "  dse eval lad --set llm=llama3-8b --breakdown\n"
        "  dse eval lad --equations\n"
        "  dse eval lad --format json\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
