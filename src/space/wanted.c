/* What of a model a space reads, and which axes of the grid set a parameter. */
#include "space/space_internal.h"

#include "base/xalloc.h"

#include <ctype.h>
#include <string.h>

/* Does the expression name it? */
static bool mentions(const char *expr, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(expr, name); at; at = strstr(at + 1, name)) {
        const bool begins = at == expr || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !(isalnum((unsigned char)at[n]) || at[n] == '_')) return true;
    }
    return false;
}

static bool is_mentioned(const struct sweep_file *s, const char *name)
{
    for (size_t i = 0; i < s->n_constraints; i++)
        if (mentions(s->constraints[i].expr, name)) return true;
    for (size_t i = 0; i < s->n_derived; i++)
        if (mentions(s->derived[i].expr, name)) return true;
    return false;
}

bool *space_wanted(const struct space *sp, const size_t *columns, size_t n)
{
    const struct schema *metrics = &sp->model->metrics;
    bool *ret = xcalloc(metrics->n + 1, sizeof *ret);
    for (size_t i = 0; i < metrics->n; i++) {
        const struct field *f = &metrics->fields[i];
        ret[i] = sp->baseline || is_mentioned(sp->sweep, f->name);
        for (size_t k = 0; k < n; k++) ret[i] |= columns[k] != SIZE_MAX && strcmp(sp->columns[columns[k]].name, f->name) == 0;
        for (int k = 0; k < BUDGET_METRICS; k++) ret[i] |= sp->budgeted[k] && strcmp(sp->budgeted[k]->name, f->name) == 0;
    }
    return ret;
}

uint32_t *space_setters(const struct space *sp)
{
    const struct schema *params = &sp->model->params;
    uint32_t *ret = xcalloc(params->n + 1, sizeof *ret);
    for (size_t a = 0; a < sp->n_axes; a++) {
        const struct axis *axis = &sp->axes[a];
        ret[schema_index(params, axis->field)] |= 1u << a;
        for (size_t i = 0; i < axis->follows.n; i++) ret[schema_index(params, axis->follows.follows[i].to)] |= 1u << a;
    }
    return ret;
}
