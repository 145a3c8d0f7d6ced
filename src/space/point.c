#include "space/point.h"

#include "base/xalloc.h"

#include <stdlib.h>

static bool set_all(struct binding *b, const char *const *assignments, size_t n, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < n; i++) ok = binding_set_text(b, assignments[i], diags) && ok;
    return binding_finish(b, diags) && ok;
}

/* Make the point of a sweep that has one binding, or none. */
static bool make_point(struct design_point *p, struct diags *diags)
{
    p->space = space_new(&p->sweep, 0, 1, diags);
    if (!p->space) return false;
    p->params = space_fixed(p->space);
    p->metrics = xcalloc(1, space_metrics_size(p->space));
    if (p->sweep.averages) return true;
    p->reason = p->model->desc->check ? p->model->desc->check(p->params) : NULL;
    if (p->reason) return true;
    p->judge = judge_new(p->model->desc);
    judge_begin(p->judge);
    judge_add(p->judge, p->params, 1);
    p->standing = judge_end(p->judge);
    return true;
}

/* Takes over the binding, which may be NULL. */
static bool bind(struct design_point *p, const struct model *model, struct binding *binding, const char *const *assignments,
                 size_t n, struct diags *diags)
{
    *p = (struct design_point){.model = model, .binding = binding};
    if (!binding || !set_all(binding, assignments, n, diags)) return false;
    p->sweep = (struct sweep_file){.bindings = &p->binding, .n_models = 1};
    return true;
}

bool design_point_init(struct design_point *p, const struct model *model, const struct catalog *catalog,
                       const char *const *assignments, size_t n, struct diags *diags)
{
    return bind(p, model, binding_new(model, catalog, catalog_data_dir(), diags), assignments, n, diags) && make_point(p, diags);
}

bool design_point_init_like(struct design_point *p, const struct binding *defaults, const char *const *assignments, size_t n,
                            struct diags *diags)
{
    return bind(p, defaults->model, binding_like(defaults), assignments, n, diags) && make_point(p, diags);
}

bool design_point_init_mix(struct design_point *p, const struct model *model, struct catalog *catalog,
                           const char *const *assignments, size_t n, const char *requests, struct diags *diags)
{
    return bind(p, model, binding_new(model, catalog, catalog_data_dir(), diags), assignments, n, diags) &&
           (!requests || sweep_requests_set_text(&p->sweep, catalog, requests, diags)) && make_point(p, diags);
}

/* The value of a metric from the cell of a row. */
static struct value value_of(const struct field *f, union cell cell)
{
    struct value v = {.f64 = cell.f64};
    if (f->type == DSE_TYPE_I64) v.i64 = cell.i64;
    if (f->type != DSE_TYPE_ENUM) return v;
    for (v.choice = 0; f->choices[v.choice + 1] && f->choices[v.choice] != cell.text;) v.choice++;
    return v;
}

bool design_point_mean(struct design_point *p, enum fidelity fidelity, const volatile sig_atomic_t *stop)
{
    size_t n;
    const struct column *columns = space_columns(p->space, &n);
    union cell *cells = xcalloc(n, sizeof *cells);
    struct row row;
    p->mean = evaluator_new(p->space, fidelity, stop);
    bool ok = evaluator_run(p->mean, 0, 1, cells, &row);
    if (ok) p->reason = row.reason;
    p->is_measured = ok && row.is_measured;
    if (ok && !row.reason) p->standing = evaluator_standing(p->mean);
    for (size_t i = 0; ok && !row.reason && i < n; i++) {
        const struct field *f = columns[i].field;
        if (columns[i].role != COLUMN_METRIC) continue;
        field_set(f, p->metrics, value_of(f, cells[i]));
    }
    free(cells);
    return ok;
}

void design_point_release(struct design_point *p)
{
    evaluator_free(p->mean);
    judge_free(p->judge);
    space_free(p->space);
    binding_free(p->binding);
    request_mix_release(&p->sweep.requests);
    free(p->sweep.requests_text);
    free(p->sweep.requests_option);
    toml_free(p->sweep.doc);
    free(p->metrics);
    *p = (struct design_point){0};
}
