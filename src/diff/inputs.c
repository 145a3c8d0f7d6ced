/* Parameters that stand still in both runs, at different values. Where no row changed, no cause tells of them. */
#include "diff/diff_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* The run's row of MODEL_fixed. NULL with errors. */
static struct query *fixed_row(const struct diff_side *s, const char *model, char *const *names, size_t n, struct diags *diags)
{
    struct text sql;
    text_init(&sql);
    char *table = xasprintf("%s_fixed", model);
    for (size_t i = 0; i < n; i++) {
        text_add(&sql, i ? ", " : "SELECT ");
        sql_add_name(&sql, names[i]);
    }
    text_add(&sql, " FROM main.");
    sql_add_name(&sql, table);
    text_addf(&sql, " WHERE run = %lld", (long long)s->run);
    struct query *q = query_new(s->reader, sql.s, (struct srcloc){0}, diags);
    if (q && query_step(q, diags) <= 0) {
        query_free(q);
        q = NULL;
    }
    free(table);
    text_release(&sql);
    return q;
}

static bool is_number(const struct query *q, int i)
{
    return query_type(q, i) == CELL_INTEGER || query_type(q, i) == CELL_REAL;
}

static char *value_of(const struct query *q, int i)
{
    char buf[TEXT_NUMBER_MAX];
    if (query_type(q, i) == CELL_REAL) return xstrdup(text_number(buf, query_f64(q, i)));
    const char *s = query_text(q, i);
    return xstrdup(s ? s : "");
}

static void compare_value(struct diff_model *m, const char *name, const struct query *a, const struct query *b, int i)
{
    if (query_type(a, i) == CELL_NULL || query_type(b, i) == CELL_NULL) return; /* it varies, or has no value */
    if (is_number(a, i) && is_number(b, i) && query_f64(a, i) == query_f64(b, i)) return;
    char *from = value_of(a, i), *to = value_of(b, i);
    if (strcmp(from, to) == 0) {
        free(from);
        free(to);
        return;
    }
    m->inputs = xrealloc(m->inputs, m->n_inputs + 1, sizeof *m->inputs);
    m->inputs[m->n_inputs++] = (struct diff_input){xstrdup(name), from, to};
}

bool find_inputs(const struct diff *d, struct diff_model *m, char *const *params, size_t n, struct diags *diags)
{
    if (!n) return true;
    struct query *q[2] = {fixed_row(&d->side[0], m->name, params, n, diags), NULL};
    if (q[0]) q[1] = fixed_row(&d->side[1], m->name, params, n, diags);
    for (size_t i = 0; q[1] && i < n; i++) compare_value(m, params[i], q[0], q[1], (int)i);
    const bool ok = q[1] != NULL;
    for (int s = 0; s < 2; s++) query_free(q[s]);
    return ok;
}
