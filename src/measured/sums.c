/* Errors by source, regime and split. */
#include "measured/internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct measured_sum *sum_of(struct measured_sum **list, size_t *n, const struct measured_row *row)
{
    for (size_t i = *n; i-- > 0;) {
        struct measured_sum *s = &(*list)[i];
        if (s->regime == row->regime && s->split == row->split && s->model == row->model && strcmp(s->source, row->source) == 0)
            return s;
    }
    *list = xrealloc(*list, *n + 1, sizeof **list);
    (*list)[*n] = (struct measured_sum){.source = row->source, .regime = row->regime, .model = row->model, .split = row->split};
    return &(*list)[(*n)++];
}

static void add_row(struct measured_sum *s, const struct measured_row *row)
{
    if (isnan(row->modelled)) {
        s->refused++;
        return;
    }
    const double error = 100 * (row->modelled / row->measured - 1), size = fabs(error);
    if (s->rows++ == 0 || size > fabs(s->worst)) {
        s->worst = error;
        s->worst_row = row;
    }
    s->mean += error;
    s->mean_abs += size;
    s->within_10 += size <= 10;
    s->within_25 += size <= 25;
}

struct measured_sum *measured_sums(const struct measured_set *s, const struct model *model, size_t *ret_n)
{
    struct measured_sum *list = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < s->n_rows; i++)
        if ((!model || s->rows[i].model == model) && (s->rows[i].reason || !isnan(s->rows[i].modelled)))
            add_row(sum_of(&list, ret_n, &s->rows[i]), &s->rows[i]);
    for (size_t i = 0; i < *ret_n; i++) {
        if (list[i].rows == 0) continue;
        const double rows = (double)list[i].rows;
        list[i].mean /= rows;
        list[i].mean_abs /= rows;
        list[i].within_10 /= rows;
        list[i].within_25 /= rows;
    }
    return list;
}
