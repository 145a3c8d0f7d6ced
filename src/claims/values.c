/* The number of a binding: its expression in every case, then their mean. */
#include "claims/answers.h"
#include "claims/attention.h"
#include "claims/constants.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- one case ------------------------------------------------------------------------------------------------------------- */

/* The index of case `i` among the points of a place, whose axes are some of the cases'. */
static uint64_t spot_index(const struct answer *a, const struct place *p, uint64_t i)
{
    uint64_t index = 0, stride = 1;
    for (size_t k = a->n_axes; k-- > 0;) {
        const struct case_axis *axis = &a->axes[k];
        if (schema_find(&p->machine->model->params, axis->name)) {
            index += i % axis->n * stride;
            stride *= axis->n;
        }
        i /= axis->n;
    }
    return index;
}

/* "lad25 at llm=opt-2.7b, context=4096": the machine and what its case has. The caller frees it. */
static char *spot_text(const struct answer *a, const struct place *p, const struct spot *spot)
{
    struct text t;
    text_init(&t);
    text_add(&t, p->machine->name);
    for (size_t k = 0, said = 0; k < a->n_axes; k++) {
        const struct field *f = schema_find(&p->machine->model->params, a->axes[k].name);
        char buf[TEXT_NUMBER_MAX];
        if (f) text_addf(&t, "%s%s=%s", said++ ? ", " : " at ", f->name, value_text(f, field_get(f, spot->params), buf));
    }
    return text_detach(&t);
}

static double missing(struct answer *a, const struct name *n, const struct spot *spot, const char *reason)
{
    char *where = spot_text(a, n->place, spot);
    free(a->reason);
    if (spot->infeasible)
        a->reason = xasprintf("%s is infeasible: %s", where, spot->infeasible);
    else
        a->reason = reason ? xasprintf("%s %s", where, reason) : xasprintf("%s: %s has no value", where, n->field->name);
    free(where);
    return (double)NAN;
}

/* The number of a name in a case; NaN with a->reason. *ret_infeasible: because of a machine that cannot be built. */
static double name_value(struct answer *a, const struct name *n, uint64_t i, bool *ret_infeasible)
{
    if (n->source == FROM_STATISTIC) return attention_value(a->on, n->statistic, a->contexts ? a->contexts[i] : 0);
    if (!n->place) return n->published[n->n_published > 1 ? i : 0]->value;
    struct spot *spot = place_spot(n->place, spot_index(a, n->place, i));
    const void *object = spot->params;
    if (n->source == FROM_METRICS) {
        const char *reason = spot_metrics(n->place, spot);
        if (reason) {
            *ret_infeasible = spot->infeasible != NULL;
            return missing(a, n, spot, reason);
        }
        object = spot->metrics;
    } else if (n->source == FROM_EQUATIONS) {
        spot_equations(n->place, spot);
        object = spot->equations;
    } else if (n->source == FROM_ENTRY) {
        object = field_get(n->ref, spot->params).ref;
    }
    double v = field_number(n->field, object);
    return isfinite(v) ? v : missing(a, n, spot, NULL);
}

static double case_value(struct answer *a, uint64_t i, bool *ret_infeasible)
{
    for (size_t k = 0; k < a->n_names; k++) {
        a->names[k]->value = name_value(a, a->names[k], i, ret_infeasible);
        if (isnan(a->names[k]->value)) return (double)NAN;
    }
    double v = expr_number(a->expr);
    if (!isnan(v)) return v;
    free(a->reason);
    a->reason = xstrdup("the expression has no value (a division by zero, or a root or logarithm of a negative number)");
    return v;
}

/* ---- the mean -------------------------------------------------------------------------------------------------------------- */

struct sum {
    uint64_t n;
    double sum, logs, min, max;
};

static double finish(struct answer *a, const struct sum *sum)
{
    double n = (double)sum->n;
    switch (a->mean) {
    case MEAN_NONE:
    case MEAN_ARITHMETIC: return sum->sum / n;
    case MEAN_GEOMETRIC: break;
    case MEAN_MIN: return sum->min;
    case MEAN_MAX: return sum->max;
    }
    if (sum->min > 0) return a->n_cases == 1 ? sum->sum : exp(sum->logs / n);
    free(a->reason);
    a->reason = xstrdup("a geometric mean of numbers that are not all positive");
    return (double)NAN;
}

double answer_value(struct claim_set *s, struct answer *a)
{
    free(a->reason);
    a->reason = NULL;
    for (size_t k = 0; k < a->n_names; k++)
        if (a->names[k]->place) place_update(s, a->names[k]->place);
    struct sum sum = {.min = (double)INFINITY, .max = -(double)INFINITY};
    for (uint64_t i = 0; i < a->n_cases; i++) {
        bool infeasible = false;
        double v = case_value(a, i, &infeasible);
        if (isnan(v) && infeasible && a->skip_infeasible) continue;
        if (isnan(v)) return v;
        sum.n++;
        sum.sum += v;
        sum.logs += v > 0 ? log(v) : 0;
        sum.min = fmin(sum.min, v);
        sum.max = fmax(sum.max, v);
    }
    return sum.n ? finish(a, &sum) : (double)NAN; /* the reason is that of the last case */
}
