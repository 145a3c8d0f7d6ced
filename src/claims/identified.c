#include "claims/identified.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

/* What is tried: the constants of the set and what the claims give with them. */
struct trial {
    struct claim_set *set;
    const struct claim_constant *constants;
    const size_t *claims; /* that are fitted to */
    size_t n_constants, n_claims;
    double *values, *shipped, *moved; /* of the constants; ln of the claims' numbers, as shipped and elsewhere */
};

/* ln(modelled) of the claims with t->values. False: not all have one. */
static bool evaluate_claims(struct trial *t, double *ret)
{
    for (size_t k = 0; k < t->n_claims; k++) {
        const char *reason;
        double v = claims_value(t->set, t->claims[k], t->values, &reason);
        if (!(v > 0)) return false;
        ret[k] = log(v);
    }
    return true;
}

/* A step up of the constant: by a hundredth, by one where it is whole; a step down at the end of its range. */
static double step_of(const struct claim_constant *c)
{
    static const double share = 0.01;
    double up = c->whole ? c->shipped + 1 : c->shipped * (1 + share);
    return up <= c->max ? up : c->whole ? c->shipped - 1 : c->shipped * (1 - share);
}

static bool is_candidate(const struct claim_constant *c)
{
    return !c->borrowed && !c->choices && c->shipped > 0 && step_of(c) > 0;
}

/* The column of a constant, of length 1; `length` is what it was. False: no claim depends on it, or has no number. */
static bool find_column(struct trial *t, size_t i, double *ret, double *ret_length)
{
    const struct claim_constant *c = &t->constants[i];
    double to = step_of(c), squares = 0;
    t->values[i] = to;
    bool ok = evaluate_claims(t, t->moved);
    t->values[i] = c->shipped;
    for (size_t k = 0; k < t->n_claims && ok; k++) {
        ret[k] = (t->moved[k] - t->shipped[k]) / log(to / c->shipped);
        squares += ret[k] * ret[k];
    }
    *ret_length = sqrt(squares);
    if (!ok || !(*ret_length > 1e-9)) return false;
    for (size_t k = 0; k < t->n_claims; k++) ret[k] /= *ret_length;
    return true;
}

/* The condition number of two columns of length 1. */
static double condition_of(const struct trial *t, const double *a, const double *b)
{
    gsl_matrix *m = gsl_matrix_alloc(t->n_claims < 2 ? 2 : t->n_claims, 2), *v = gsl_matrix_alloc(2, 2);
    gsl_vector *values = gsl_vector_alloc(2), *work = gsl_vector_alloc(2);
    gsl_matrix_set_zero(m);
    for (size_t k = 0; k < t->n_claims; k++) {
        gsl_matrix_set(m, k, 0, a[k]);
        gsl_matrix_set(m, k, 1, b[k]);
    }
    gsl_linalg_SV_decomp(m, v, values, work);
    double smallest = gsl_vector_get(values, 1), condition = smallest > 0 ? gsl_vector_get(values, 0) / smallest : (double)INFINITY;
    gsl_matrix_free(m);
    gsl_matrix_free(v);
    gsl_vector_free(values);
    gsl_vector_free(work);
    return condition;
}

/* The exponent of b beside a, from the lengths of their columns and whether they point the same way; a simple number, or NaN. */
static double power_of(const struct trial *t, const double *a, double length_a, const double *b, double length_b)
{
    static const double simple[] = {1. / 3, 0.5, 1, 2, 3}, tolerance = 0.2;
    double dot = 0, power = length_b / length_a;
    for (size_t k = 0; k < t->n_claims; k++) dot += a[k] * b[k];
    for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
        if (fabs(power / simple[i] - 1) < tolerance) return copysign(simple[i], dot);
    return (double)NAN;
}

/* Does no claim change when both are moved so that a b^power stays, by a step of `whole` and of the other what it asks for? */
static bool claims_stay(struct trial *t, size_t a, size_t b, double power)
{
    static const double tolerance = 1e-6;
    const struct claim_constant *x = &t->constants[a], *y = &t->constants[b];
    double ratio; /* of a */
    if (y->whole)
        ratio = pow(step_of(y) / y->shipped, -power);
    else
        ratio = step_of(x) / x->shipped;
    t->values[a] = x->shipped * ratio;
    t->values[b] = y->shipped * pow(ratio, -1 / power);
    bool inside = t->values[a] >= x->min && t->values[a] <= x->max && t->values[b] >= y->min && t->values[b] <= y->max;
    bool whole = (!x->whole || t->values[a] == rint(t->values[a])) && (!y->whole || fabs(t->values[b] - rint(t->values[b])) < 1e-9);
    if (y->whole) t->values[b] = rint(t->values[b]);
    bool ok = inside && whole && evaluate_claims(t, t->moved);
    for (size_t k = 0; k < t->n_claims && ok; k++) ok = fabs(t->moved[k] - t->shipped[k]) < tolerance;
    t->values[a] = x->shipped;
    t->values[b] = y->shipped;
    return ok;
}

static size_t find_pairs(struct trial *t, const double *columns, const double *lengths, struct unidentified **ret)
{
    static const double suspicious = 20; /* whole steps make a derivative of a whole constant only about right */
    size_t n = 0;
    for (size_t a = 0; a < t->n_constants; a++)
        for (size_t b = a + 1; b < t->n_constants; b++) {
            if (!(lengths[a] > 0) || !(lengths[b] > 0)) continue;
            const double *x = columns + a * t->n_claims, *y = columns + b * t->n_claims;
            double condition = condition_of(t, x, y), power = power_of(t, x, lengths[a], y, lengths[b]);
            if (condition < suspicious || isnan(power) || !claims_stay(t, a, b, power)) continue;
            *ret = xrealloc(*ret, n + 1, sizeof **ret);
            double product = t->constants[a].shipped * pow(t->constants[b].shipped, power);
            (*ret)[n++] = (struct unidentified){.a = a, .b = b, .power = power, .product = product, .condition = condition};
        }
    return n;
}

size_t claims_unidentified(struct claim_set *s, struct unidentified **ret)
{
    struct trial t = {.set = s};
    t.constants = claims_constants(s, &t.n_constants);
    t.claims = claims_fitted(s, &t.n_claims);
    t.values = xcalloc(t.n_constants, sizeof *t.values);
    t.shipped = xcalloc(t.n_claims, sizeof *t.shipped);
    t.moved = xcalloc(t.n_claims, sizeof *t.moved);
    for (size_t i = 0; i < t.n_constants; i++) t.values[i] = t.constants[i].shipped;
    double *columns = xcalloc(t.n_constants * t.n_claims, sizeof *columns), *lengths = xcalloc(t.n_constants, sizeof *lengths);
    size_t n = 0;
    *ret = NULL;
    if (t.n_claims && evaluate_claims(&t, t.shipped)) {
        for (size_t i = 0; i < t.n_constants; i++)
            if (!is_candidate(&t.constants[i]) || !find_column(&t, i, columns + i * t.n_claims, &lengths[i])) lengths[i] = 0;
        n = find_pairs(&t, columns, lengths, ret);
    }
    free(columns);
    free(lengths);
    free(t.values);
    free(t.shipped);
    free(t.moved);
    return n;
}

char *claims_product_text(const struct claim_set *s, const struct unidentified *u)
{
    size_t n;
    const struct claim_constant *c = claims_constants(s, &n);
    char power[TEXT_NUMBER_MAX];
    bool one = fabs(u->power) == 1;
    return xasprintf("%s %s %s%s%s", c[u->a].name, u->power < 0 ? "/" : "x", c[u->b].name, one ? "" : "^",
                     one ? "" : text_short_number(power, fabs(u->power)));
}
