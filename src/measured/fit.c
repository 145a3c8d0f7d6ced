/* Constants of machines from measured rows. */
#include "measured/fit.h"

#include "measured/internal.h"

#include "base/xalloc.h"

#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row that is fitted to: its designs with the constants to be set in them. */
struct sample {
    const struct question *question;
    double measured, weight;
    char *kind; /* of the regime, before the machine's name */
    void *params[POINTS_MAX];
};

/* One machine's fit. */
struct problem {
    const struct model *model;
    const struct field **constants;
    size_t n_constants;
    struct sample *samples;
    size_t n;
    void *metrics, *equations;
};

/* ---- a row at some constants ---------------------------------------------------------------------------------------------- */

static void set_constants(const struct problem *p, void *params, const double *values)
{
    for (size_t i = 0; i < p->n_constants; i++) field_set(p->constants[i], params, (struct value){.f64 = values[i]});
}

/* ln of modelled over measured; NaN where the model has no number. */
static double error_of(const struct problem *p, const struct sample *s, const double *values)
{
    for (size_t k = 0; k < s->question->bind->n_points; k++) set_constants(p, s->params[k], values);
    return log(question_number(s->question, s->params, p->metrics, p->equations) / s->measured);
}

/* What a constant may be: the fit goes over its logarithm. */
static double held(const struct field *f, double logarithm)
{
    return fmin(fmax(exp(logarithm), f->min), f->max);
}

static int residuals(const gsl_vector *x, void *user, gsl_vector *ret)
{
    const struct problem *p = user;
    const double far = 0.2;
    double values[WANTED_MAX];
    for (size_t i = 0; i < p->n_constants; i++) values[i] = held(p->constants[i], gsl_vector_get(x, i));
    for (size_t i = 0; i < p->n; i++) {
        const double e = error_of(p, &p->samples[i], values), size = sqrt(2 * (sqrt(1 + e * e / (far * far)) - 1)) * far;
        if (isnan(e)) return GSL_EDOM;
        gsl_vector_set(ret, i, p->samples[i].weight * copysign(size, e));
    }
    return GSL_SUCCESS;
}

/* ---- one machine ----------------------------------------------------------------------------------------------------------- */

/* Kinds count alike. */
static void weigh(struct problem *p)
{
    for (size_t i = 0; i < p->n; i++) {
        double of_kind = 0;
        for (size_t k = 0; k < p->n; k++) of_kind += strcmp(p->samples[k].kind, p->samples[i].kind) == 0;
        p->samples[i].weight = 1 / sqrt(of_kind);
    }
}

static double mean_error(const struct problem *p, const double *values)
{
    double sum = 0, all = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double w = p->samples[i].weight * p->samples[i].weight;
        sum += w * fabs(exp(error_of(p, &p->samples[i], values)) - 1);
        all += w;
    }
    return 100 * sum / all;
}

/* A constant at the end of its range starts inside: beyond the end nothing changes with it. */
static double start_of(const struct field *f, double value)
{
    const double inside = 0.05;
    return value >= f->max ? value * (1 - inside) : value <= f->min && value > 0 ? value * (1 + inside) : value;
}

static bool solve(struct problem *p, const double *start, double *ret)
{
    enum { STEPS_MAX = 200 };
    const double close = 1e-8;
    gsl_multifit_nlinear_parameters options = gsl_multifit_nlinear_default_parameters();
    options.solver = gsl_multifit_nlinear_solver_svd; /* a constant that no row of a machine depends on */
    gsl_multifit_nlinear_fdf problem = {.f = residuals, .n = p->n, .p = p->n_constants, .params = p};
    gsl_vector *x = gsl_vector_alloc(p->n_constants);
    gsl_multifit_nlinear_workspace *w = gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &options, p->n, p->n_constants);
    int info;
    for (size_t i = 0; i < p->n_constants; i++) gsl_vector_set(x, i, log(start_of(p->constants[i], start[i])));
    bool ok = gsl_multifit_nlinear_init(x, &problem, w) == GSL_SUCCESS;
    if (ok) {
        const int status = gsl_multifit_nlinear_driver(STEPS_MAX, close, close, close, NULL, NULL, &info, w);
        ok = status == GSL_SUCCESS || status == GSL_ENOPROG;
    }
    for (size_t i = 0; ok && i < p->n_constants; i++)
        ret[i] = held(p->constants[i], gsl_vector_get(gsl_multifit_nlinear_position(w), i));
    gsl_multifit_nlinear_free(w);
    gsl_vector_free(x);
    return ok;
}

static void fit_machine(struct problem *p, struct fitted_machine *m)
{
    enum { ROWS_A_CONSTANT = 4 };
    m->rows = p->n;
    weigh(p);
    for (size_t i = 0; i < p->n_constants; i++) m->shipped[i] = field_number(p->constants[i], p->samples[0].params[0]);
    for (size_t i = 0; i < p->n_constants; i++) m->fitted[i] = (double)NAN;
    m->before = mean_error(p, m->shipped);
    m->after = (double)NAN;
    if (p->n < ROWS_A_CONSTANT * p->n_constants || !solve(p, m->shipped, m->fitted)) return;
    m->after = mean_error(p, m->fitted);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------- */

static bool is_for_fit(const struct question *q, const char *group)
{
    const struct toml_node *fit = toml_get(q->bind->table, "fit");
    if (!fit) return false;
    for (size_t i = 0; fit->type == TOML_ARRAY && i < fit->n; i++)
        if (fit->children[i].type == TOML_STRING && strcmp(fit->children[i].string, group) == 0) return true;
    if (fit->type == TOML_STRING) return strcmp(fit->string, group) == 0;
    return fit->type == TOML_BOOLEAN && fit->boolean && strcmp(q->bind->model->desc->name, group) == 0;
}

/* The designs of a row that the model accepts; the name of its machine; NULL: it is none. */
static const char *open_sample(const struct measured_set *s, size_t row, const struct toml_node *group, const struct field *by,
                               struct sample *ret)
{
    const struct question *q = &s->questions[row];
    *ret = (struct sample){.question = q, .measured = s->rows[row].measured};
    if (s->rows[row].split != MEASURED_CALIBRATE || !is_for_fit(q, group->key) || !question_params(q, ret->params)) return NULL;
    const char *machine = q->bind->n_points ? field_get(by, ret->params[q->bind->n_points - 1]).ref->name : NULL;
    if (!machine) return NULL; /* of no design */
    const char *at = strstr(s->rows[row].regime, machine);
    ret->kind = at ? xstrndup(s->rows[row].regime, (size_t)(at - s->rows[row].regime)) : xstrdup(s->rows[row].regime);
    return machine;
}

static void release_sample(struct sample *s)
{
    for (size_t k = 0; k < POINTS_MAX; k++) free(s->params[k]);
    free(s->kind);
}

/* ---- all of them ------------------------------------------------------------------------------------------------------------ */

static bool read_fit(const struct measured_set *s, const struct model *m, const struct toml_node *table,
                     const struct field **ret_by, struct problem *p, struct diags *diags)
{
    const struct toml_node *by = toml_expect(s->doc, table, "by", TOML_STRING, diags),
                           *list = toml_expect(s->doc, table, "constants", TOML_ARRAY, diags);
    *ret_by = by ? schema_find(&m->params, by->string) : NULL;
    if (!*ret_by || (*ret_by)->type != DSE_TYPE_REF || !list || list->n == 0 || list->n > WANTED_MAX)
        return diags_input(diags, toml_key_loc(s->doc, table), s->doc->text,
                           "by: a parameter that names a catalog entry; constants: a list", "[fit.%s] needs by and constants",
                           table->key);
    p->constants = xcalloc(list->n, sizeof *p->constants);
    for (size_t i = 0; i < list->n; i++) {
        const struct toml_node *name = &list->children[i];
        const struct field *f = name->type == TOML_STRING ? schema_find(&m->params, name->string) : NULL;
        if (!f || f->type != DSE_TYPE_F64)
            return diags_input(diags, toml_loc(s->doc, name), s->doc->text, NULL, "a parameter of %s that is a number is needed",
                               m->desc->name);
        p->constants[p->n_constants++] = f;
    }
    return true;
}

/* Samples of one machine stand together. */
struct labelled {
    const char *machine;
    struct sample sample;
};

static int by_machine(const void *a, const void *b)
{
    const struct labelled *x = a, *y = b;
    const int order = strcmp(x->machine, y->machine);
    if (order) return order;
    return x->sample.question < y->sample.question ? -1 : x->sample.question > y->sample.question;
}

static void fit_all(struct measured_fit *f, struct problem *p, const struct toml_node *group, struct labelled *list, size_t n)
{
    p->samples = xcalloc(n, sizeof *p->samples);
    f->machines = xrealloc(f->machines, f->n_machines + n, sizeof *f->machines);
    for (size_t i = 0; i < n;) {
        struct fitted_machine *m = &f->machines[f->n_machines++];
        *m = (struct fitted_machine){0};
        const struct toml_node *of = toml_get(group, "of");
        m->name = list[i].machine;
        m->by = toml_get(group, "by")->string;
        m->of = of && of->type == TOML_STRING ? of->string : NULL;
        m->constants = xcalloc(p->n_constants, sizeof *m->constants);
        m->n_constants = p->n_constants;
        for (size_t k = 0; k < p->n_constants; k++) m->constants[k] = p->constants[k]->name;
        m->shipped = xcalloc(2 * p->n_constants, sizeof *m->shipped);
        m->fitted = m->shipped + p->n_constants;
        for (p->n = 0; i < n && strcmp(list[i].machine, m->name) == 0; i++) p->samples[p->n++] = list[i].sample;
        fit_machine(p, m);
    }
    free(p->samples);
}

/* The machines of one table [fit.NAME]. */
static bool fit_group(struct measured_fit *f, struct measured_set *s, const struct model *model, const struct toml_node *group,
                      struct diags *diags)
{
    struct problem p = {.model = model};
    const struct field *by = NULL;
    const bool ok = read_fit(s, model, group, &by, &p, diags);
    if (ok) {
        struct labelled *list = xcalloc(s->n_rows, sizeof *list);
        size_t n = 0;
        for (size_t i = 0; i < s->n_rows; i++) {
            if (s->rows[i].model != model || s->rows[i].reason) continue;
            list[n].machine = open_sample(s, i, group, by, &list[n].sample);
            if (list[n].machine)
                n++;
            else
                release_sample(&list[n].sample);
        }
        qsort(list, n, sizeof *list, by_machine);
        p.metrics = xcalloc(1, model->desc->metrics_size);
        p.equations = xcalloc(1, model->desc->equations_size + 1);
        if (n) fit_all(f, &p, group, list, n);
        for (size_t i = 0; i < n; i++) release_sample(&list[i].sample);
        free(list);
        free(p.metrics);
        free(p.equations);
    }
    free(p.constants);
    return ok;
}

/* Does a binding of the model give rows to this table? */
static bool is_group_of(const struct measured_set *s, const struct model *m, const struct toml_node *group)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (s->rows[i].model == m && !s->rows[i].reason && is_for_fit(&s->questions[i], group->key)) return true;
    return strcmp(group->key, m->desc->name) == 0;
}

struct measured_fit *measured_fit(struct measured_set *s, const struct model *model, struct diags *diags)
{
    const struct toml_node *all = toml_get(&s->doc->root, "fit"), *own = all ? toml_get(all, model->desc->name) : NULL;
    if (!own || own->type != TOML_TABLE) {
        diags_input(diags, (struct srcloc){s->doc->file, 0, 0}, NULL, "[fit.MODEL] by = \"PARAMETER\", constants = [...]",
                    "there is no [fit.%s]", model->desc->name);
        return NULL;
    }
    struct measured_fit *f = xcalloc(1, sizeof *f);
    bool ok = true;
    for (size_t i = 0; i < all->n && ok; i++)
        if (is_group_of(s, model, &all->children[i])) ok = fit_group(f, s, model, &all->children[i], diags);
    if (ok) return f;
    measured_fit_free(f);
    return NULL;
}

void measured_fit_free(struct measured_fit *f)
{
    if (!f) return;
    for (size_t i = 0; i < f->n_machines; i++) {
        free(f->machines[i].shipped);
        free(f->machines[i].constants);
    }
    free(f->machines);
    free(f);
}
