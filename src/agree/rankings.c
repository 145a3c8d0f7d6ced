/* Which designs of a sweep the two fidelities put in another order. */
#include "agree/agree_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_MAX = 2000 /* points of one front that are held against each other */ };

/* ---- what is kept of a point --------------------------------------------------------------------------------------------- */

/* The values of the parameters for whose every combination there is a front. The caller frees it. */
static char *group_of(const struct sweep_file *s, const struct design_point *p)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < s->n_per; i++) {
        char buf[TEXT_NUMBER_MAX];
        const struct field *f = schema_find(&p->model->params, s->per[i]);
        text_addf(&t, "%s%s=%s", i ? " " : "", s->per[i], f ? value_text(f, field_get(f, p->params), buf) : "");
    }
    return text_detach(&t);
}

static double number_of(const struct model *m, const char *column, const void *metrics)
{
    const struct field *f = schema_find(&m->metrics, column);
    return f && !f->without ? field_number(f, metrics) : (double)NAN;
}

void rank_keep(const struct sweep_file *s, const struct design_point *p, const void *closed, const void *events,
               struct agree_point *ret)
{
    if (!s) return;
    ret->group = group_of(s, p);
    ret->closed = xcalloc(s->n_objectives + 1, sizeof *ret->closed);
    ret->events = xcalloc(s->n_objectives + 1, sizeof *ret->events);
    for (size_t k = 0; k < s->n_objectives; k++) {
        ret->closed[k] = number_of(p->model, s->objectives[k].column, closed);
        ret->events[k] = number_of(p->model, s->objectives[k].column, events);
    }
}

void rank_forget(struct agree_point *p)
{
    free(p->group);
    free(p->closed);
    free(p->events);
    p->group = NULL;
    p->closed = p->events = NULL;
}

/* ---- pairs --------------------------------------------------------------------------------------------------------------- */

/* By how much the first is better: 0.1 for a tenth; negative when it is worse. NaN: one of them has no such number. */
static double lead(double a, double b, bool maximise)
{
    if (!(a > 0) || !(b > 0)) return (double)NAN;
    const double ratio = maximise ? a / b : b / a;
    return ratio >= 1 ? ratio - 1 : 1 - 1 / ratio;
}

static void compare(const struct agree_point *a, const struct agree_point *b, const struct sweep_file *s, struct agree_flips *ret)
{
    for (size_t k = 0; k < s->n_objectives; k++) {
        const bool maximise = s->objectives[k].maximise;
        const double closed = lead(a->closed[k], b->closed[k], maximise), events = lead(a->events[k], b->events[k], maximise);
        const double size = fmax(fabs(closed), fabs(events));
        if (isnan(closed) || isnan(events) || !(size > AGREE_APART)) continue;
        ret->pairs++;
        if (!(closed * events < 0)) continue;
        ret->flips++;
        if (!ret->better || size > fmax(fabs(ret->closed), fabs(ret->events))) {
            ret->better = closed > 0 ? a : b;
            ret->worse = closed > 0 ? b : a;
            ret->closed = fabs(closed);
            ret->events = -fabs(events);
            ret->objective = k;
        }
    }
}

static int by_group(const void *a, const void *b)
{
    const struct agree_point *x = *(const struct agree_point *const *)a, *y = *(const struct agree_point *const *)b;
    return strcmp(x->group, y->group);
}

struct agree_flips agree_flips_of(const struct agreement *list, size_t n, const struct sweep_file *s)
{
    struct agree_flips ret = {0};
    size_t total = 0, kept = 0;
    for (size_t m = 0; m < n; m++) total += list[m].n;
    const struct agree_point **all = xcalloc(total + 1, sizeof *all);
    for (size_t m = 0; m < n; m++)
        for (size_t i = 0; i < list[m].n; i++)
            if (list[m].points[i].group) all[kept++] = &list[m].points[i];
    if (kept) qsort(all, kept, sizeof *all, by_group);
    for (size_t first = 0, i = 0; i < kept; i++) {
        if (strcmp(all[first]->group, all[i]->group) != 0) first = i;
        for (size_t k = first; k < i && i - first < GROUP_MAX; k++) compare(all[k], all[i], s, &ret);
    }
    free(all);
    return ret;
}
