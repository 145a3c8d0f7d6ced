/* How near two claims are: whether they ask the same of the same models, and in which parameters their machines and cases differ.
 */
#include "claims/neighbours.h"

#include "claims/units.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the same question ------------------------------------------------------------------------------------------------------- */

static const struct name *find_name(const struct answer *a, const char *text, size_t n)
{
    for (size_t i = 0; i < a->n_names; i++)
        if (strlen(a->names[i]->text) == n && strncmp(a->names[i]->text, text, n) == 0) return a->names[i];
    return NULL;
}

/* The expression without spaces, and with the model of each machine in place of its name. The caller frees it. */
static char *question(const struct answer *a)
{
    struct text t;
    text_init(&t);
    for (const char *p = a->value->string; *p;) {
        size_t n = 0;
        while (isalnum((unsigned char)p[n]) || p[n] == '_' || (n && p[n] == '.')) n++;
        const struct name *name = n ? find_name(a, p, n) : NULL;
        if (name && name->place)
            text_addf(&t, "%s%s", name->place->machine->model->desc->name, strchr(name->text, '.'));
        else if (!isspace((unsigned char)*p))
            text_add_bytes(&t, p, n ? n : 1);
        p += n ? n : 1;
    }
    return text_detach(&t);
}

/* Are the two of one kind? All means are of one kind; a minimum and a maximum are each of their own. */
static bool same_mean(enum mean a, enum mean b)
{
    bool extreme = a == MEAN_MIN || a == MEAN_MAX || b == MEAN_MIN || b == MEAN_MAX;
    return !extreme || a == b;
}

static bool same_name(const struct name *a, const struct name *b)
{
    return a->source == b->source && a->field == b->field && a->ref == b->ref && a->place && b->place &&
           a->place->machine->model == b->place->machine->model;
}

bool answers_ask_the_same(const struct answer *a, const struct answer *b)
{
    if (!a->expr || !b->expr || a->n_names != b->n_names || !same_mean(a->mean, b->mean)) return false;
    for (size_t i = 0; i < a->n_names; i++)
        if (!same_name(a->names[i], b->names[i])) return false;
    if (!claims_units_same(a->unit, b->unit)) return false;
    char *x = question(a), *y = question(b);
    bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

/* ---- differences --------------------------------------------------------------------------------------------------------- */

/* The values that a parameter has in a place. */
struct values {
    const struct value *list;
    struct value one;
    uint64_t n;
};

static struct values values_of(const struct place *p, size_t param)
{
    const struct given *g = &p->binding->given[param];
    if (g->is_given && g->n > 1 && g->values) return (struct values){.list = g->values, .n = g->n};
    return (struct values){.one = field_get(&p->machine->model->params.fields[param], space_fixed(p->space)), .n = 1};
}

static struct value value_at(const struct values *v, uint64_t i)
{
    return v->list ? v->list[i] : v->one;
}

static double number_of(const struct field *f, struct value v)
{
    return f->type == DSE_TYPE_F64 ? v.f64 : (double)v.i64;
}

/* The smallest, largest and mean value of a numeric parameter. */
struct extent {
    double low, high, middle;
};

static struct extent extent_of(const struct field *f, const struct values *v)
{
    struct extent e = {.low = (double)INFINITY, .high = -(double)INFINITY};
    for (uint64_t i = 0; i < v->n; i++) {
        double x = number_of(f, value_at(v, i));
        e.low = fmin(e.low, x);
        e.high = fmax(e.high, x);
        e.middle += x / (double)v->n;
    }
    return e;
}

static bool same_value(const struct field *f, struct value a, struct value b)
{
    return f->type == DSE_TYPE_ENUM ? a.choice == b.choice : a.ref == b.ref;
}

/* Is every name of `a` one of `b`'s? */
static bool names_inside(const struct field *f, const struct values *a, const struct values *b)
{
    for (uint64_t i = 0; i < a->n; i++) {
        bool there = false;
        for (uint64_t k = 0; k < b->n && !there; k++) there = same_value(f, value_at(a, i), value_at(b, k));
        if (!there) return false;
    }
    return true;
}

/* How far a number is from another: the logarithm of their ratio; of numbers that have none, 1. */
static double far_apart(double a, double b)
{
    return a > 0 && b > 0 ? fabs(log(a / b)) : 1;
}

/* Compare a parameter that one of both places gives. False: no difference. */
static bool compare_param(const struct place *a, const struct place *b, size_t param, struct difference *ret)
{
    const struct field *f = &a->machine->model->params.fields[param];
    const struct values x = values_of(a, param), y = values_of(b, param);
    *ret = (struct difference){.param = f->name, .of_case = place_gives(a, f->name) || place_gives(b, f->name)};
    if (!field_is_number(f)) {
        ret->inside = names_inside(f, &x, &y);
        return !ret->inside || !names_inside(f, &y, &x);
    }
    const struct extent p = extent_of(f, &x), q = extent_of(f, &y);
    ret->is_number = true;
    ret->inside = p.low >= q.low && p.high <= q.high;
    ret->far = far_apart(p.middle, q.middle);
    return p.low != q.low || p.high != q.high || p.middle != q.middle;
}

static size_t add_difference(struct difference *list, size_t n, size_t max, const struct difference *d)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(list[i].param, d->param) != 0) continue;
        list[i].inside &= d->inside;
        list[i].of_case |= d->of_case;
        list[i].far = fmax(list[i].far, d->far);
        return n;
    }
    if (n == max) return n;
    list[n] = *d;
    return n + 1;
}

static size_t compare_places(const struct place *a, const struct place *b, struct difference *list, size_t n, size_t max)
{
    const struct schema *params = &a->machine->model->params;
    for (size_t i = 0; a != b && i < params->n; i++) {
        struct difference d;
        bool given = a->binding->given[i].is_given || b->binding->given[i].is_given;
        if (given && compare_param(a, b, i, &d)) n = add_difference(list, n, max, &d);
    }
    return n;
}

size_t answers_compare(const struct answer *a, const struct answer *b, struct difference ret[DIFFERENCES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < a->n_names; i++) n = compare_places(a->names[i]->place, b->names[i]->place, ret, n, DIFFERENCES_MAX);
    return n;
}

/* ---- the same numbers, put otherwise ------------------------------------------------------------------------------------- */

static bool has_number(const struct answer *a, const struct name *n)
{
    for (size_t i = 0; i < a->n_names; i++) {
        struct difference none;
        if (same_name(a->names[i], n) && compare_places(a->names[i]->place, n->place, &none, 0, 1) == 0) return true;
    }
    return false;
}

bool answers_use_the_same(const struct answer *a, const struct answer *b)
{
    if (!a->expr || !b->expr || a->n_names != b->n_names || a->n_names == 0) return false;
    for (size_t i = 0; i < a->n_names; i++)
        if (!a->names[i]->place || !has_number(b, a->names[i])) return false;
    return same_mean(a->mean, b->mean);
}
