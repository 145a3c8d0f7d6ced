#include "model/fidelity.h"

#include "base/xalloc.h"
#include "model/row_check.h"

#include <stdlib.h>

const char *const fidelity_names[] = {"closed-form", "event-level", NULL};
_Static_assert(sizeof fidelity_names / sizeof *fidelity_names == FIDELITIES + 1, "every fidelity has a name");

const char *fidelity_of_row(enum fidelity fidelity, bool is_measured)
{
    return is_measured ? "measured-kernel" : fidelity_names[fidelity];
}

bool fidelity_of_model(const struct dse_model *m, enum fidelity fidelity)
{
    return fidelity == FIDELITY_CLOSED_FORM || m->simulate;
}

const char *fidelity_not_reading(enum fidelity fidelity, const struct field *param)
{
    if (param->reader == READ_BY_CLOSED_FORM && fidelity == FIDELITY_EVENT_LEVEL) return "at event level";
    if (param->reader == READ_BY_EVENT_LEVEL && fidelity == FIDELITY_CLOSED_FORM) return "in closed form";
    return NULL;
}

enum fidelity fidelity_at_most(const struct dse_model *m, enum fidelity wanted)
{
    return fidelity_of_model(m, wanted) ? wanted : FIDELITY_CLOSED_FORM;
}

const char *fidelities_text(const struct dse_model *m)
{
    return m->simulate ? "closed-form, event-level" : "closed-form";
}

/* ---- carrying out ------------------------------------------------------------------------------------------------------------ */

struct runner {
    enum fidelity fidelity;
    struct sim_options options;
    struct dse_sim *sim;       /* of the last run at event level; NULL before */
    struct row_check **checks; /* one a model that was carried out */
    size_t n_checks;
    char *broken;     /* what the last run broke; or NULL */
    bool is_measured; /* the last run */
};

struct runner *runner_new(enum fidelity fidelity, const struct sim_options *options)
{
    struct runner *r = xcalloc(1, sizeof *r);
    r->fidelity = fidelity;
    if (options) r->options = *options;
    return r;
}

void runner_free(struct runner *r)
{
    if (!r) return;
    sim_free(r->sim);
    for (size_t i = 0; i < r->n_checks; i++) row_check_free(r->checks[i]);
    free(r->checks);
    free(r->broken);
    free(r);
}

enum fidelity runner_fidelity(const struct runner *r)
{
    return r->fidelity;
}

static enum run_end simulate(struct runner *r, const struct dse_model *m, const void *params, void *metrics,
                             struct dse_breakdown *breakdown)
{
    if (r->sim)
        sim_reset(r->sim, &r->options);
    else
        r->sim = sim_new(&r->options);
    bool done = m->simulate(params, r->sim, metrics, breakdown);
    r->is_measured = sim_is_measured(r->sim);
    sim_finish(r->sim);
    if (done) return RUN_DONE;
    enum sim_end end = sim_end(r->sim);
    return end == SIM_STOPPED ? RUN_STOPPED : end == SIM_REFUSED ? RUN_REFUSED : RUN_FAILED;
}

static const struct row_check *check_of(struct runner *r, const struct dse_model *m)
{
    for (size_t i = 0; i < r->n_checks; i++)
        if (row_check_model(r->checks[i]) == m) return r->checks[i];
    r->checks = xrealloc(r->checks, r->n_checks + 1, sizeof *r->checks);
    return r->checks[r->n_checks++] = row_check_new(m);
}

static enum run_end check(struct runner *r, const struct dse_model *m, const void *metrics, const struct dse_breakdown *breakdown)
{
    r->broken = row_check_run(check_of(r, m), metrics, breakdown);
    return r->broken ? RUN_BROKEN : RUN_DONE;
}

static void forget(struct runner *r)
{
    if (!r->broken) return;
    free(r->broken);
    r->broken = NULL;
}

enum run_end runner_check(struct runner *r, const struct dse_model *m, const void *metrics)
{
    forget(r);
    return check(r, m, metrics, NULL);
}

enum run_end runner_run(struct runner *r, const struct dse_model *m, const void *params, void *metrics,
                        struct dse_breakdown *breakdown)
{
    forget(r);
    r->is_measured = false;
    if (breakdown) breakdown->n = breakdown->n_causes = 0;
    if (fidelity_at_most(m, r->fidelity) == FIDELITY_EVENT_LEVEL) {
        enum run_end end = simulate(r, m, params, metrics, breakdown);
        if (end != RUN_DONE) return end;
    } else {
        m->estimate(params, metrics, breakdown);
    }
    return check(r, m, metrics, breakdown);
}

const char *runner_error(const struct runner *r)
{
    if (r->broken) return r->broken;
    const char *error = r->sim ? dse_sim_error(r->sim) : NULL;
    return error ? error : "no reason was given";
}

const struct dse_sim *runner_sim(const struct runner *r)
{
    return r->sim;
}

bool runner_is_measured(const struct runner *r)
{
    return r->is_measured;
}

void runner_set_ideal(struct runner *r, unsigned ideal)
{
    r->options.ideal = ideal;
}
