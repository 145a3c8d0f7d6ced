#include "measured/leave_out.h"

#include "measured/fit.h"
#include "measured/internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const measured_leave_out_names[] = {"gpu", "format", "engine", NULL};

/* What a machine's constant becomes. */
struct replaced {
    const struct field *by; /* tells machines apart */
    const char *machine;    /* NULL: of all machines */
    const struct field *constant;
    double value;
};
struct replacements {
    struct replaced *list;
    size_t n;
};

/* Of the other machines that were fitted; NaN: none has it. */
static double of_others(const struct measured_fit *f, const struct fitted_machine *m, const char *constant)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < f->n_machines; i++) {
        const struct fitted_machine *other = &f->machines[i];
        if (strcmp(other->name, m->name) == 0 || strcmp(other->by, m->by) != 0) continue;
        for (size_t k = 0; k < other->n_constants; k++) {
            if (strcmp(other->constants[k], constant) != 0 || !(other->fitted[k] > 0)) continue;
            sum += log(other->fitted[k]);
            n++;
        }
    }
    return n > 0 ? exp(sum / n) : (double)NAN;
}

/* A share at 1, a rate in bytes without end, a time at 0. */
static double free_of_cost(const struct field *f)
{
    const bool is_rate = f->unit && strcmp(f->unit, "B") == 0;
    return f->max == 1 || is_rate ? f->max : f->min;
}

static void replace(struct replacements *r, const struct measured_fit *f, const struct model *model, const struct fitted_machine *m,
                    bool of_all)
{
    for (size_t k = 0; k < m->n_constants; k++) {
        const struct field *constant = schema_find(&model->params, m->constants[k]);
        const double others = of_all ? (double)NAN : of_others(f, m, m->constants[k]);
        r->list = xrealloc(r->list, r->n + 1, sizeof *r->list);
        r->list[r->n++] = (struct replaced){.by = schema_find(&model->params, m->by),
                                            .machine = of_all ? NULL : m->name,
                                            .constant = constant,
                                            .value = isnan(others) ? free_of_cost(constant) : others};
    }
}

/* Is any constant of the design one that is replaced? Sets all that are. */
static bool replace_in(const struct replacements *r, void *params)
{
    bool any = false;
    for (size_t i = 0; i < r->n; i++) {
        const struct replaced *with = &r->list[i];
        if (with->machine && strcmp(field_get(with->by, params).ref->name, with->machine) != 0) continue;
        field_set(with->constant, params, (struct value){.f64 = with->value});
        any = true;
    }
    return any;
}

static bool answer_again(struct measured_row *row, const struct question *q, const struct replacements *r)
{
    const struct dse_model *m = q->bind->model->desc;
    void *params[POINTS_MAX] = {0}, *metrics = xcalloc(1, m->metrics_size), *equations = xcalloc(1, m->equations_size + 1);
    bool any = false;
    if (question_params(q, params))
        for (size_t k = 0; k < q->bind->n_points; k++) any |= replace_in(r, params[k]);
    const double before = row->modelled;
    if (any) row->modelled = question_number(q, params, metrics, equations);
    any = row->modelled != before;
    for (size_t k = 0; k < POINTS_MAX; k++) free(params[k]);
    free(metrics);
    free(equations);
    return any;
}

static bool is_of(const struct fitted_machine *m, const char *what)
{
    return strcmp(what, "format") == 0 ? m->of && strcmp(m->of, what) == 0 : strcmp(m->by, what) == 0;
}

bool measured_leave_out(struct measured_set *s, const struct model *model, const char *what, size_t *ret_moved, struct diags *diags)
{
    struct replacements r = {0};
    struct measured_fit *f = measured_fit(s, model, diags);
    if (!f) return false;
    for (size_t i = 0; i < f->n_machines; i++)
        if (is_of(&f->machines[i], what)) replace(&r, f, model, &f->machines[i], strcmp(what, "format") == 0);
    *ret_moved = 0;
    for (size_t i = 0; i < s->n_rows && r.n > 0; i++) {
        struct measured_row *row = &s->rows[i];
        if (row->model == model && !row->reason) *ret_moved += answer_again(row, &s->questions[i], &r);
    }
    if (r.n == 0)
        diags_input(diags, (struct srcloc){s->doc->file, 0, 0}, NULL,
                    "by = \"gpu\" or \"engine\"; of = \"format\" for constants of number formats",
                    "no [fit.NAME] of %s can be left out by %s", model->desc->name, what);
    free(r.list);
    measured_fit_free(f);
    return *ret_moved > 0 || r.n > 0;
}
