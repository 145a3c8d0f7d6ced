/* The points of the front carried out again: the run does not store where their time and energy go, nor how to ask for them. */
#include "report/report_data.h"

#include "base/xalloc.h"
#include "model/breakdown.h"
#include "model/registry.h"
#include "space/command.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sweep ----------------------------------------------------------------------------------------------------------- */

/* The run's sweep, read again from its text. */
struct again {
    struct sweep_file *sweep;
    struct space **spaces;       /* of each model of the run; NULL: the sweep does not have it */
    const struct toml_node *own; /* the sweep's [catalog], or NULL */
    const char **catalogs;       /* for the commands; the one behind the last is the run's */
    size_t n_catalogs;
    char *run_file;
};

/* The files that the points' names come from: those that were given and, last, the run, for the entries of its sweep's own. */
static void find_catalogs(struct again *a, const struct report_run *r)
{
    const struct report_options *o = r->options;
    a->catalogs = xcalloc(o->n_catalogs + 1, sizeof *a->catalogs);
    for (size_t i = 0; i < o->n_catalogs; i++) a->catalogs[i] = o->catalogs[i];
    a->catalogs[o->n_catalogs] = a->run_file = o->run ? xasprintf("%s#%lld", o->db, (long long)r->id) : xstrdup(o->db);
    a->n_catalogs = o->n_catalogs;
    a->own = toml_get(&a->sweep->doc->root, "catalog");
}

/* Has the sweep's own catalog an entry of that name? Names are unique within a kind; one of another kind does no harm. */
static bool is_own_entry(const struct again *a, const char *name)
{
    for (size_t i = 0; a->own && i < a->own->n; i++)
        if (a->own->children[i].type == TOML_TABLE && toml_get(&a->own->children[i], name)) return true;
    return false;
}

static bool uses_own(const struct again *a, const struct model *m, const void *params)
{
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (f->type == DSE_TYPE_REF && is_own_entry(a, field_get(f, params).ref->name)) return true;
    }
    return a->own && a->sweep->averages && toml_get(a->own, "requests");
}

static bool read_spaces(struct again *a, const struct report_run *r, struct diags *why)
{
    a->spaces = xcalloc(r->models.n, sizeof(struct space *));
    for (size_t i = 0; i < a->sweep->n_models; i++)
        for (size_t m = 0; m < r->models.n; m++)
            if (strcmp(a->sweep->bindings[i]->model->desc->name, r->models.s[m]) == 0 &&
                (a->spaces[m] = space_new(a->sweep, i, UINT64_MAX, why)) == NULL)
                return false;
    return true;
}

/* How to add what the sweep names and dse does not know. */
static const char *missing_hint(const struct report_run *r)
{
    for (size_t m = 0; m < r->models.n; m++)
        if (!registry_find(r->models.s[m])) return "a model of your own needs its file: dse --plugin FILE report ...";
    return "entries of a catalog of your own need its file: --catalog FILE";
}

/* What cannot be carried out again is left out of the page, with a warning that says why. */
static bool read_again(struct again *a, const struct report_run *r, char *sweep_path, struct diags *diags)
{
    struct diags why;
    diags_init(&why);
    if (r->sweep_text)
        a->sweep = sweep_file_read_text_at(sweep_path, r->sweep_text, r->fidelity, r->options->catalog, catalog_data_dir(), &why);
    bool ok = a->sweep && why.errors == 0 && read_spaces(a, r, &why);
    if (ok)
        find_catalogs(a, r);
    else
        diags_warn(diags, (struct srcloc){.file = r->options->db}, NULL,
                   "the sweep of run %lld cannot be read again (%s:%d: %s), so the page has no parts and no command of a point; %s",
                   (long long)r->id, sweep_path, why.n ? why.list[0].line : 0,
                   why.n ? why.list[0].message : "the run has no text of it", missing_hint(r));
    diags_release(&why);
    return ok;
}

static void forget(struct again *a, const struct report_run *r)
{
    for (size_t m = 0; a->spaces && m < r->models.n; m++) space_free(a->spaces[m]);
    free(a->spaces);
    free(a->catalogs);
    free(a->run_file);
    sweep_file_free(a->sweep);
}

/* ---- a point ------------------------------------------------------------------------------------------------------------- */

/* Are the stored numbers of a row those of the model now? Not if the model or the catalog has changed since. */
static bool is_same_point(const struct report_run *r, const struct report_row *row, const struct model *m, const void *metrics)
{
    bool latency = false;
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        const struct report_cell *c = f->type == DSE_TYPE_F64 && !f->without ? report_cell(r, row, f->name) : NULL;
        if (!c || c->type != CELL_REAL) continue;
        if (!(fabs(field_number(f, metrics) - c->number) <= 1e-9 * fabs(c->number))) return false;
        latency |= strcmp(f->name, "latency_us") == 0;
    }
    return latency;
}

/* Add the parts of a point as "[[part, depth, time, DRAM, energy, bound], ...]", or null. */
static void add_parts(const struct model *m, const void *metrics, const struct dse_breakdown *b, struct text *t)
{
    text_add(t, b->n ? "[" : "null");
    for (int i = 0; i < b->n; i++) {
        struct part_row row = breakdown_row(m, metrics, b, i);
        text_add(t, i ? ",[" : "[");
        json_text(t, row.part);
        text_addf(t, ",%d,", row.depth);
        json_short_number(t, row.time_us);
        text_add(t, ","), json_short_number(t, row.dram_mib);
        text_add(t, ","), json_short_number(t, row.energy_mj);
        text_add(t, ","), json_text(t, row.bound);
        text_add(t, "]");
    }
    if (b->n) text_add(t, "]");
}

/* Rows of measured kernels are runs at event level, too. */
static enum fidelity fidelity_of(const struct report_run *r, const struct report_row *row)
{
    const struct report_cell *c = report_cell(r, row, "fidelity");
    return c && c->text && strcmp(c->text, fidelity_names[FIDELITY_CLOSED_FORM]) != 0 ? FIDELITY_EVENT_LEVEL : FIDELITY_CLOSED_FORM;
}

/* The parts of a step in closed form; null for means over requests, rows at event level, and what is not the same now. `stale`
 * tells the latter. */
static void add_breakdown(const struct report_run *r, const struct report_row *row, const struct space *sp, bool *stale,
                          struct text *t)
{
    const struct dse_model *d = space_model(sp)->desc;
    void *params = xcalloc(1, d->params_size), *metrics = xcalloc(1, d->metrics_size);
    struct dse_breakdown breakdown = {0};
    space_point(sp, row->point, params);
    *stale = d->check && d->check(params);
    if (!*stale) {
        d->estimate(params, metrics, &breakdown);
        *stale = !is_same_point(r, row, space_model(sp), metrics);
    }
    if (*stale) breakdown.n = breakdown.n_causes = 0;
    add_parts(space_model(sp), metrics, &breakdown, t);
    free(params);
    free(metrics);
}

static char *command_of(const struct again *a, const struct space *sp, uint64_t point, enum fidelity fidelity)
{
    void *params = xcalloc(1, space_model(sp)->desc->params_size);
    space_point(sp, point, params);
    char *command = space_command(sp, point, fidelity, a->catalogs, a->n_catalogs + uses_own(a, space_model(sp), params));
    free(params);
    return command;
}

static void add_point(const struct again *a, const struct report_run *r, const struct report_row *row, struct text *t)
{
    const struct space *sp = a->spaces[row->model];
    enum fidelity fidelity = fidelity_of(r, row);
    if (!sp || row->point >= space_count(sp)) {
        text_add(t, "null");
        return;
    }
    bool stale = false;
    char *command = command_of(a, sp, row->point, fidelity);
    text_add(t, "{");
    json_key(t, "command"), json_text(t, command);
    json_key(t, "parts");
    if (a->sweep->averages || fidelity != FIDELITY_CLOSED_FORM)
        text_add(t, "null");
    else
        add_breakdown(r, row, sp, &stale, t);
    json_key(t, "why"), json_text(t, a->sweep->averages                 ? "mean"
                                     : fidelity == FIDELITY_EVENT_LEVEL ? "event-level"
                                     : stale                            ? "changed"
                                                                        : NULL);
    text_add(t, "}");
    free(command);
}

void report_points_json(const struct report_run *r, const struct report_rows *front, struct text *t, struct diags *diags)
{
    struct again a = {0};
    char *sweep_path = xasprintf("%s.toml", r->sweep ? r->sweep : "sweep");
    bool ok = read_again(&a, r, sweep_path, diags);
    text_add(t, "[");
    for (size_t i = 0; ok && i < front->n; i++) {
        if (i) text_add(t, ",");
        add_point(&a, r, &front->rows[i], t);
    }
    text_add(t, "]");
    forget(&a, r);
    free(sweep_path);
}
