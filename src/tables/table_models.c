/* A model at one design point, as rows: metric(), breakdown(), equation(), and of a run at event level timeline(), resource(),
 * note(). */
#include "tables/tables_internal.h"

#include "model/breakdown.h"
#include "model/fidelity.h"
#include "model/reason.h"
#include "space/point.h"

#include <dse/hw.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const arguments[] = {"model", "settings", NULL};
static const char *const carried_out[] = {"model", "settings", "fidelity", NULL};

/* ---- the point ------------------------------------------------------------------------------------------------------------- */

/* "tiles=8, context=4096" as assignments, in place. Returns how many; ret holds one for each comma and one more. A comma inside
 * of quotes or brackets belongs to the value. */
static size_t split(char *settings, const char **ret)
{
    size_t n = 0;
    char quote = 0;
    int depth = 0;
    for (char *p = settings, *start = settings;; p++) {
        if (quote ? *p == quote : *p == '"' || *p == '\'') quote = quote ? 0 : *p;
        if (!quote) depth += (*p == '[' || *p == '{') - (*p == ']' || *p == '}');
        bool end = *p == '\0';
        if (!end && (*p != ',' || quote || depth > 0)) continue;
        *p = '\0';
        while (isspace((unsigned char)*start)) start++;
        if (*start) ret[n++] = start;
        if (end) return n;
        start = p + 1;
    }
}

static const struct model *find_model(const char *name, char **ret_error)
{
    const struct model *found = registry_find(name);
    if (found) return found;
    size_t n;
    const char *const *names = registry_names(&n), *near = text_nearest(name, names, n);
    *ret_error = near ? xasprintf("there is no model \"%s\"; did you mean \"%s\"?", name, near)
                      : xasprintf("there is no model \"%s\": `dse list models`", name);
    return NULL;
}

/* The point of a model that the arguments name. Release *p in any case. */
static bool point_of(const struct tables *t, const char *const *args, struct design_point *p, char **ret_error)
{
    *p = (struct design_point){0};
    const struct model *model = find_model(args[0], ret_error);
    if (!model) return false;
    char *settings = xstrdup(args[1] ? args[1] : "");
    const char **assignments = xcalloc(strlen(settings) + 1, sizeof *assignments);
    size_t n = split(settings, assignments);
    struct diags diags;
    diags_init(&diags);
    bool ok = design_point_init(p, model, t->catalog, assignments, n, &diags);
    if (ok)
        diags_release(&diags);
    else
        tables_fail(&diags, ret_error);
    free(assignments);
    free(settings);
    return ok;
}

/* The same; an infeasible point is an error. */
static bool feasible_point_of(const struct tables *t, const char *const *args, struct design_point *p, char **ret_error)
{
    if (!point_of(t, args, p, ret_error)) return false;
    if (p->reason) {
        char *reason = reason_text(p->model->desc, p->params, p->reason);
        *ret_error = xasprintf("this point is infeasible: %s", reason);
        free(reason);
    }
    return !p->reason;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

/* object NULL: no field has a value. With `reason`, a column more. */
static void add_fields(struct computed_rows *rows, const struct schema *schema, const void *object, bool with_reason,
                       const char *reason)
{
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        char buf[TEXT_NUMBER_MAX];
        bool null = !object || f->without || (f->may_be_null && isnan(field_number(f, object)));
        computed_text(rows, f->name);
        if (null)
            computed_text(rows, NULL);
        else if (f->type == DSE_TYPE_F64)
            computed_f64(rows, field_number(f, object));
        else if (f->type == DSE_TYPE_I64)
            computed_i64(rows, field_get(f, object).i64);
        else
            computed_text(rows, value_text(f, field_get(f, object), buf));
        computed_text(rows, f->unit);
        if (with_reason) computed_text(rows, reason);
    }
}

/* Carry out a feasible point. The caller frees *ret_runner. */
static bool run_point(struct design_point *p, enum fidelity fidelity, const struct sim_options *options,
                      struct dse_breakdown *breakdown, struct runner **ret_runner, char **ret_error)
{
    *ret_runner = runner_new(fidelity, options);
    if (!fidelity_of_model(p->model->desc, fidelity)) {
        *ret_error = xasprintf("model %s has no fidelity \"%s\"; it has: %s", p->model->desc->name, fidelity_names[fidelity],
                               fidelities_text(p->model->desc));
        return false;
    }
    if (runner_run(*ret_runner, p->model->desc, p->params, p->metrics, breakdown) == RUN_DONE) return true;
    *ret_error = xasprintf("the run failed: %s", runner_error(*ret_runner));
    return false;
}

/* The fidelity that the third argument names. */
static bool fidelity_of(const char *argument, enum fidelity *ret, char **ret_error)
{
    *ret = FIDELITY_CLOSED_FORM;
    for (size_t i = 0; argument && i < FIDELITIES; i++)
        if (strcmp(argument, fidelity_names[i]) == 0) *ret = (enum fidelity)i;
    if (!argument || strcmp(argument, fidelity_names[*ret]) == 0) return true;
    *ret_error = xasprintf("there is no fidelity \"%s\": closed-form, event-level", argument);
    return false;
}

static bool fill_metric(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    struct design_point p = {0};
    struct runner *runner = NULL;
    enum fidelity fidelity;
    bool ok = fidelity_of(args[2], &fidelity, ret_error) && point_of(context, args, &p, ret_error) &&
              (p.reason || run_point(&p, fidelity, NULL, NULL, &runner, ret_error));
    char *reason = ok && p.reason ? reason_text(p.model->desc, p.params, p.reason) : NULL;
    if (ok) add_fields(rows, &p.model->metrics, p.reason ? NULL : p.metrics, true, reason);
    free(reason);
    runner_free(runner);
    design_point_release(&p);
    return ok;
}

static bool fill_equation(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    struct design_point p;
    bool ok = point_of(context, args, &p, ret_error);
    if (ok && p.model->desc->equate) {
        void *equations = xcalloc(1, p.model->desc->equations_size);
        p.model->desc->equate(p.params, equations);
        add_fields(rows, &p.model->equations, equations, false, NULL);
        free(equations);
    }
    design_point_release(&p);
    return ok;
}

static bool fill_breakdown(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    struct design_point p = {0};
    struct runner *runner = NULL;
    struct dse_breakdown breakdown = {0};
    enum fidelity fidelity;
    bool ok = fidelity_of(args[2], &fidelity, ret_error) && point_of(context, args, &p, ret_error) &&
              (p.reason || run_point(&p, fidelity, NULL, &breakdown, &runner, ret_error));
    for (int i = 0; ok && i < breakdown.n; i++) {
        struct part_row row = breakdown_row(p.model, p.metrics, &breakdown, i);
        computed_i64(rows, i);
        computed_text(rows, row.part);
        computed_i64(rows, row.depth);
        computed_f64(rows, row.time_us);
        computed_f64(rows, row.dram_mib);
        computed_f64(rows, row.gop);
        computed_f64(rows, row.energy_mj);
        computed_text(rows, row.bound);
    }
    runner_free(runner);
    design_point_release(&p);
    return ok;
}

/* ---- runs at event level --------------------------------------------------------------------------------------------------- */

enum { SPANS_MAX = 1000000 };

/* Rows of timeline() while the run goes on. */
struct recording {
    struct computed_rows *rows;
    struct text names; /* of resource i: group and name, each with its NUL */
    size_t *group, *name;
    uint32_t n;
    size_t spans;
};

static size_t keep_name(struct recording *r, const char *name)
{
    size_t at = r->names.n;
    text_add_bytes(&r->names, name, strlen(name) + 1);
    return at;
}

static void on_resource(void *object, uint32_t resource, const char *group, const char *name)
{
    struct recording *r = object;
    if (resource >= r->n) {
        r->group = xrealloc(r->group, resource + 1, sizeof *r->group);
        r->name = xrealloc(r->name, resource + 1, sizeof *r->name);
        r->n = resource + 1;
    }
    r->group[resource] = keep_name(r, group);
    r->name[resource] = keep_name(r, name);
}

static void on_span(void *object, const struct sim_span *s)
{
    struct recording *r = object;
    if (r->spans++ >= SPANS_MAX) return;
    computed_i64(r->rows, s->resource);
    computed_text(r->rows, r->names.s + r->group[s->resource]);
    computed_text(r->rows, r->names.s + r->name[s->resource]);
    computed_text(r->rows, sim_state_names[s->state]);
    computed_text(r->rows, s->label);
    if (s->id >= 0)
        computed_i64(r->rows, s->id);
    else
        computed_text(r->rows, NULL);
    computed_f64(r->rows, dse_s_of_ps(s->from) * 1e6);
    computed_f64(r->rows, dse_s_of_ps(s->to) * 1e6);
}

static bool fill_timeline(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    struct design_point p = {0};
    struct runner *runner = NULL;
    struct recording r = {.rows = rows};
    text_init(&r.names);
    struct sim_recorder recorder = {.resource = on_resource, .span = on_span, .object = &r};
    struct sim_options options = {.recorder = &recorder};
    bool ok =
        feasible_point_of(context, args, &p, ret_error) && run_point(&p, FIDELITY_EVENT_LEVEL, &options, NULL, &runner, ret_error);
    if (ok && r.spans > SPANS_MAX) {
        *ret_error = xasprintf("the run has %zu spans, more than %d: ask for a shorter one", r.spans, SPANS_MAX);
        ok = false;
    }
    text_release(&r.names);
    free(r.group);
    free(r.name);
    runner_free(runner);
    design_point_release(&p);
    return ok;
}

static bool fill_resource(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    struct design_point p = {0};
    struct runner *runner = NULL;
    bool ok =
        feasible_point_of(context, args, &p, ret_error) && run_point(&p, FIDELITY_EVENT_LEVEL, NULL, NULL, &runner, ret_error);
    const struct dse_sim *sim = ok ? runner_sim(runner) : NULL;
    for (uint32_t i = 0; sim && i < sim_resources(sim); i++) {
        struct sim_resource r = sim_resource(sim, i);
        computed_text(rows, r.group);
        computed_text(rows, r.name);
        for (int k = 0; k < DSE_STATES; k++) computed_f64(rows, sim_resource_share(sim, i, (enum dse_state)k));
    }
    runner_free(runner);
    design_point_release(&p);
    return ok;
}

static bool fill_note(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    struct design_point p = {0};
    struct runner *runner = NULL;
    bool ok =
        feasible_point_of(context, args, &p, ret_error) && run_point(&p, FIDELITY_EVENT_LEVEL, NULL, NULL, &runner, ret_error);
    const struct dse_sim *sim = ok ? runner_sim(runner) : NULL;
    for (size_t i = 0; sim && i < sim_notes(sim); i++) {
        struct sim_note n = sim_note(sim, i);
        computed_text(rows, n.name);
        computed_f64(rows, n.value);
        computed_text(rows, n.unit);
    }
    runner_free(runner);
    design_point_release(&p);
    return ok;
}

/* What the database of a sweep has under this name, of all models. */
static bool fill_column_info(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    (void)context, (void)args, (void)ret_error;
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        const struct schema *schemas[] = {&models[m].params, &models[m].metrics, &models[m].equations};
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < schemas[k]->n; i++) {
                const struct field *f = &schemas[k]->fields[i];
                computed_text(rows, models[m].desc->name);
                computed_text(rows, f->name);
                computed_text(rows, f->unit);
                computed_text(rows, f->doc);
                computed_i64(rows, f->better == DSE_MORE ? 1 : f->better == DSE_LESS ? -1 : 0);
            }
    }
    return true;
}

const struct computed_table table_column_info = {
    .name = "column_info",
    .doc = "meaning of parameters, metrics and quantities of equations",
    .columns = (const char *const[]){"table_name", "column_name", "unit", "doc", "direction", NULL},
    .arguments = (const char *const[]){NULL},
    .fill = fill_column_info,
};

const struct computed_table table_metric = {
    .name = "metric",
    .doc =
        "the metrics of a model at one design point, without values and with a reason where it is infeasible; settings are as in "
        "--set, with commas between them",
    .columns = (const char *const[]){"name", "value", "unit", "reason", NULL},
    .arguments = carried_out,
    .required = 1,
    .fill = fill_metric,
};

const struct computed_table table_equation = {
    .name = "equation",
    .doc = "quantities of the model's equations that no sweep stores, at one design point, feasible or not",
    .columns = (const char *const[]){"name", "value", "unit", NULL},
    .arguments = arguments,
    .required = 1,
    .fill = fill_equation,
};

const struct computed_table table_breakdown = {
    .name = "breakdown",
    .doc = "parts of a step's time, and of a token's traffic, operations and energy, at one design point; no rows where it is "
           "infeasible",
    .columns = (const char *const[]){"nr", "part", "depth", "time_us", "dram_mib", "gop", "energy_mj", "bound", NULL},
    .arguments = carried_out,
    .required = 1,
    .fill = fill_breakdown,
};

const struct computed_table table_timeline = {
    .name = "timeline",
    .doc = "timeline of every resource of a run at event level, without idle time",
    .columns = (const char *const[]){"nr", "unit", "resource", "state", "label", "id", "start_us", "end_us", NULL},
    .arguments = arguments,
    .required = 1,
    .fill = fill_timeline,
};

const struct computed_table table_resource = {
    .name = "resource",
    .doc = "shares of time that every resource of a run at event level spends in each state",
    .columns = (const char *const[]){"unit", "resource", "idle", "busy", "stalled_on_input", "stalled_on_output", NULL},
    .arguments = arguments,
    .required = 1,
    .fill = fill_resource,
};

const struct computed_table table_note = {
    .name = "note",
    .doc = "notes of a run at event level beyond its metrics",
    .columns = (const char *const[]){"name", "value", "unit", NULL},
    .arguments = arguments,
    .required = 1,
    .fill = fill_note,
};

/* ---- DRAM ------------------------------------------------------------------------------------------------------------------ */

static bool fill_dram_efficiency(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    const struct tables *t = context;
    const struct dse_memory *m = (const struct dse_memory *)catalog_find(t->catalog, DSE_KIND_MEMORY, args[0]);
    int64_t bytes;
    if (!m) {
        *ret_error = xasprintf("there is no memory \"%s\": `dse list memories`", args[0]);
        return false;
    }
    if (!tables_integer(args[1], "bytes", 1, INT64_C(1) << 40, 0, &bytes, ret_error)) return false;
    struct dse_dram d = {.memory = m,
                         .channels = m->channels,
                         .channel_gbs = m->channel_gbs,
                         .bandwidth_gbs = (double)NAN,
                         .dram_efficiency = 1,
                         .burst_bytes = m->burst_bytes,
                         .timing = m->timing};
    dse_dram_resolve(&d);
    const char *why = dse_dram_check(&d);
    if (why) {
        *ret_error = xstrdup(why);
        return false;
    }
    computed_f64(rows, dse_dram_efficiency(&d, (double)bytes));
    return true;
}

const struct computed_table table_dram_efficiency = {
    .name = "dram_efficiency",
    .doc = "share of a memory's peak bandwidth that random accesses of this many contiguous bytes reach, by the law of the closed "
           "form",
    .columns = (const char *const[]){"efficiency", NULL},
    .arguments = (const char *const[]){"memory", "bytes", NULL},
    .required = 2,
    .fill = fill_dram_efficiency,
};
