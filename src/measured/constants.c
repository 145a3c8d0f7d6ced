/* Which fitted constants a regime's numbers rest on: those that change some of its rows when they change. Constants of a machine
 * are in [fit.MODEL] of bindings.toml, others in [constants] of causes.toml. */
#include "measured/internal.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "space/point.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double question_number(const struct question *q, void *const *params, void *metrics, void *equations)
{
    const struct measured_bind *b = q->bind;
    const struct dse_model *m = b->model->desc;
    struct measured_bind *own = &b->set->binds[b - b->set->binds];
    for (size_t k = 0; k < b->n_points; k++) {
        const void *objects[] = {params[k], metrics, equations};
        m->estimate(params[k], metrics, NULL);
        if (m->equate) m->equate(params[k], equations);
        for (size_t i = 0; i < b->n_wanted; i++)
            if (b->wanted[i].point == k) own->wanted[i].number = field_number(b->wanted[i].field, objects[b->wanted[i].kind]);
    }
    for (size_t i = 0; i < b->n_wanted; i++)
        if (b->wanted[i].column != SIZE_MAX) own->wanted[i].number = q->values[i];
    return expr_number(own->value);
}

bool question_params(const struct question *q, void **ret)
{
    const struct model *m = q->bind->model;
    bool ok = true;
    for (size_t k = 0; k < q->bind->n_points && ok; k++) {
        struct design_point point;
        struct diags diags;
        diags_init(&diags);
        ok = design_point_init_like(&point, q->bind->defaults, (const char *const *)q->assignments[k], q->bind->points[k].n,
                                    &diags) &&
             !point.reason;
        if (ok) ret[k] = memcpy(xmalloc(m->desc->params_size), point.params, m->desc->params_size);
        design_point_release(&point);
        diags_release(&diags);
    }
    return ok;
}

/* ---- constants ------------------------------------------------------------------------------------------------------------- */

/* A model's list, once each. */
struct names {
    const struct field **fields;
    size_t n;
};

static void add_names(struct names *to, const struct model *m, const struct toml_node *list)
{
    for (size_t i = 0; list && list->type == TOML_ARRAY && i < list->n; i++) {
        const struct field *f = list->children[i].type == TOML_STRING ? schema_find(&m->params, list->children[i].string) : NULL;
        bool known = !f || !field_is_number(f);
        for (size_t k = 0; k < to->n; k++) known = known || to->fields[k] == f;
        if (known) continue;
        to->fields = xrealloc(to->fields, to->n + 1, sizeof *to->fields);
        to->fields[to->n++] = f;
    }
}

static struct names fitted_names(const struct measured_set *s, const struct model *m)
{
    struct names names = {0};
    const struct toml_node *fit = toml_get(&s->doc->root, "fit"), *of_model = fit ? toml_get(fit, m->desc->name) : NULL,
                           *more = s->notes->doc ? toml_get(&s->notes->doc->root, "constants") : NULL;
    add_names(&names, m, of_model && of_model->type == TOML_TABLE ? toml_get(of_model, "constants") : NULL);
    add_names(&names, m, more ? toml_get(more, m->desc->name) : NULL);
    return names;
}

/* Another value of the same constant; false: it has none here. */
static bool nudge(const struct field *f, void *params)
{
    struct value v = field_get(f, params);
    const double more = 1.05;
    if (f->type == DSE_TYPE_I64)
        v.i64++;
    else if (isnan(v.f64))
        return false;
    else
        v.f64 = v.f64 != 0 ? v.f64 * (v.f64 * more > f->max ? 1 / more : more) : fmin(f->max, 1);
    field_set(f, params, v);
    return true;
}

/* Does the question's number change with the constant? */
static bool rests_on(const struct question *q, void *const *params, const struct field *f, void *metrics, void *equations,
                     double number)
{
    const size_t size = q->bind->model->desc->params_size;
    void *moved[POINTS_MAX] = {0};
    bool any = false;
    for (size_t k = 0; k < q->bind->n_points; k++) {
        moved[k] = memcpy(xmalloc(size), params[k], size);
        any = nudge(f, moved[k]) || any;
    }
    const bool ret = any && question_number(q, moved, metrics, equations) != number;
    for (size_t k = 0; k < POINTS_MAX; k++) free(moved[k]);
    return ret;
}

static void ask_row(const struct question *q, const struct names *names, bool *ret)
{
    const struct dse_model *m = q->bind->model->desc;
    void *params[POINTS_MAX] = {0}, *metrics = xcalloc(1, m->metrics_size), *equations = xcalloc(1, m->equations_size + 1);
    if (question_params(q, params)) {
        const double number = question_number(q, params, metrics, equations);
        for (size_t i = 0; i < names->n; i++) ret[i] = ret[i] || rests_on(q, params, names->fields[i], metrics, equations, number);
    }
    for (size_t k = 0; k < POINTS_MAX; k++) free(params[k]);
    free(metrics);
    free(equations);
}

static bool is_of(const struct measured_row *r, const struct measured_sum *sum)
{
    return r->regime == sum->regime && r->split == sum->split && r->model == sum->model && !isnan(r->modelled) &&
           strcmp(r->source, sum->source) == 0;
}

char *measured_constants(const struct measured_set *s, const struct measured_sum *sum)
{
    enum { SAMPLES = 4 };
    const struct names names = fitted_names(s, sum->model);
    bool *used = xcalloc(names.n + 1, sizeof *used);
    size_t seen = 0;
    const size_t step = sum->rows > SAMPLES ? sum->rows / SAMPLES : 1;
    for (size_t i = 0; i < s->n_rows && names.n; i++)
        if (is_of(&s->rows[i], sum) && seen++ % step == 0) ask_row(&s->questions[i], &names, used);
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < names.n; i++)
        if (used[i]) text_addf(&t, "%s%s", t.n ? ", " : "", names.fields[i]->name);
    free(used);
    free(names.fields);
    return text_detach(&t);
}
