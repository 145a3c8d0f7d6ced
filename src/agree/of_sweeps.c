/* Points of the spaces of sweeps. */
#include "agree/agree_internal.h"

#include "base/xalloc.h"
#include "space/command.h"

#include <stdlib.h>
#include <string.h>

bool sources_of(const struct model *m, const struct agree_options *o, struct sources *ret, struct diags *diags)
{
    *ret = (struct sources){.list = xcalloc(o->n_sweeps + 1, sizeof(struct space *))};
    for (size_t i = 0; i < o->n_sweeps; i++)
        for (size_t k = 0; k < o->sweeps[i]->n_models; k++) {
            if (o->sweeps[i]->bindings[k]->model != m) continue;
            ret->list[ret->n] = space_new(o->sweeps[i], k, UINT64_MAX, diags);
            if (!ret->list[ret->n]) return false;
            ret->n++;
        }
    return true;
}

void sources_release(struct sources *s)
{
    for (size_t i = 0; i < s->n; i++) space_free(s->list[i]);
    free(s->list);
    *s = (struct sources){0};
}

/* Is the point feasible in its sweep, with the constraints of that? */
static bool is_feasible(const struct space *sp, uint64_t index)
{
    size_t columns;
    space_columns(sp, &columns);
    struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    union cell *cells = xcalloc(columns, sizeof *cells);
    struct row row = {0};
    const bool ok = evaluator_run(e, index, 1, cells, &row) && !row.reason;
    free(cells);
    evaluator_free(e);
    return ok;
}

/* Does an assignment of the caller say the same parameter? */
static bool is_said(const struct settings *s, const char *assignment)
{
    const size_t name = strcspn(assignment, "=") + 1;
    for (size_t i = 0; i < s->given; i++)
        if (strncmp(s->list[i], assignment, name) == 0) return true;
    return false;
}

bool draw_of_a_sweep(struct drawing *d, const struct sources *sources, const struct design_point *defaults,
                     struct design_point *ret)
{
    const struct space *sp = sources->list[gsl_rng_uniform_int(d->rng, sources->n)];
    const uint64_t index = (uint64_t)(gsl_rng_uniform(d->rng) * (double)space_count(sp));
    settings_drop(&d->settings, d->settings.given);
    if (!is_feasible(sp, index)) return false;
    size_t n;
    char **list = space_assignments(sp, index, &n);
    for (size_t i = 0; i < n; i++) {
        if (is_said(&d->settings, list[i]))
            free(list[i]);
        else
            settings_add(&d->settings, list[i]);
    }
    free(list);
    struct diags ignored;
    diags_init(&ignored);
    const bool ok =
        design_point_init_like(ret, defaults->binding, (const char *const *)d->settings.list, d->settings.n, &ignored) &&
        !ret->reason;
    if (!ok) design_point_release(ret);
    diags_release(&ignored);
    return ok;
}
