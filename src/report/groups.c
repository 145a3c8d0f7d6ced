#include "report/groups.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void groups_release(struct groups *g)
{
    for (size_t i = 0; i < g->n; i++) free(g->list[i].text);
    free(g->list);
    free(g->slots);
    *g = (struct groups){0};
}

static bool is_group_of(const struct group *g, const char *text, double number)
{
    return text ? g->text && strcmp(g->text, text) == 0 : !g->text && (g->number == number || (isnan(number) && isnan(g->number)));
}

static size_t slot_of(const struct groups *g, const char *text, double number)
{
    uint64_t h = text ? text_hash(TEXT_HASH_INIT, text, strlen(text)) : text_hash(TEXT_HASH_INIT, &number, sizeof number);
    size_t at = (size_t)(h ^ h >> 32) & (g->n_slots - 1);
    while (g->slots[at] && !is_group_of(&g->list[g->slots[at] - 1], text, number)) at = (at + 1) & (g->n_slots - 1);
    return at;
}

static void grow(struct groups *g)
{
    g->n_slots = g->n_slots ? 2 * g->n_slots : 64;
    free(g->slots);
    g->slots = xcalloc(g->n_slots, sizeof *g->slots);
    for (size_t i = 0; i < g->n; i++) g->slots[slot_of(g, g->list[i].text, g->list[i].number)] = (uint32_t)i + 1;
}

struct group *groups_find(struct groups *g, const char *text, double number)
{
    if (g->n && is_group_of(&g->list[g->last], text, number)) return &g->list[g->last];
    if (2 * g->n >= g->n_slots) grow(g);
    size_t at = slot_of(g, text, number);
    if (!g->slots[at]) {
        g->list = xrealloc(g->list, g->n + 1, sizeof *g->list);
        g->list[g->n] = (struct group){.text = text ? xstrdup(text) : NULL, .number = number};
        g->slots[at] = (uint32_t)++g->n;
    }
    g->last = g->slots[at] - 1;
    return &g->list[g->last];
}

static bool is_better(bool maximise, double a, double b)
{
    return maximise ? a > b : a < b;
}

static void take_value(struct moments *m, double v, bool maximise)
{
    if (!isfinite(v)) return;
    if (m->n == 0 || is_better(maximise, v, m->best)) m->best = v;
    double d = v - m->mean;
    m->n++;
    m->mean += d / (double)m->n;
    m->squares += d * (v - m->mean);
}

static void merge_moments(struct moments *to, const struct moments *from, bool maximise)
{
    if (from->n == 0) return;
    if (to->n == 0 || is_better(maximise, from->best, to->best)) to->best = from->best;
    double n = (double)(to->n + from->n), d = from->mean - to->mean;
    to->squares += from->squares + d * d * (double)to->n * (double)from->n / n;
    to->mean += d * (double)from->n / n;
    to->n += from->n;
}

void group_merge(const struct goal *goal, struct group *to, const struct group *from)
{
    to->points += from->points;
    for (size_t i = 0; i < goal->n; i++) merge_moments(&to->of[i], &from->of[i], goal->maximise[i]);
}

void groups_merge(const struct goal *goal, struct groups *to, const struct groups *from)
{
    for (size_t i = 0; i < from->n; i++)
        group_merge(goal, groups_find(to, from->list[i].text, from->list[i].number), &from->list[i]);
}

static int by_value(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->text && y->text) return strcmp(x->text, y->text);
    if (x->text || y->text) return x->text ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

static int by_points(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->points != y->points) return x->points < y->points ? 1 : -1;
    return by_value(a, b);
}

static bool all_numbers(const struct groups *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->list[i].text || !isfinite(g->list[i].number)) return false;
    return true;
}

struct groups groups_shown(const struct goal *goal, const struct groups *g)
{
    struct groups ret = {0};
    if (g->n <= GROUPS_SHOWN || !all_numbers(g)) {
        groups_merge(goal, &ret, g);
    } else {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < g->n; i++) {
            low = fmin(low, g->list[i].number);
            high = fmax(high, g->list[i].number);
        }
        for (size_t i = 0; i < g->n; i++) {
            double range = fmin(floor(GROUPS_SHOWN * (g->list[i].number - low) / (high - low)), GROUPS_SHOWN - 1);
            group_merge(goal, groups_find(&ret, NULL, low + (high - low) * (0.5 + range) / GROUPS_SHOWN), &g->list[i]);
        }
    }
    if (ret.n) qsort(ret.list, ret.n, sizeof *ret.list, by_value);
    return ret;
}

void group_take(const struct goal *goal, struct group *to, const double *values)
{
    to->points++;
    for (size_t i = 0; i < goal->n; i++) take_value(&to->of[i], values[i], goal->maximise[i]);
}

void groups_sort_by_points(struct groups *g)
{
    if (g->n) qsort(g->list, g->n, sizeof *g->list, by_points);
}
