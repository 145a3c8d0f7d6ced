/* Places: the design points that claims look at. A point is made as a sweep makes it: a binding, a space, resolve(). */
#ifndef DSE_CLAIMS_PLACES_H
#define DSE_CLAIMS_PLACES_H

#include "claims/machines.h"
#include "config/sweep_file.h"
#include "space/space.h"

/* One design point of a place, computed when asked for. */
struct spot {
    void *params, *metrics, *equations; /* NULL before */
    const char *infeasible;             /* the reason, once metrics were asked for; or NULL */
};

/* A machine in the cases of a claim: the space over those cases that are its parameters. Claims share places. */
struct place {
    const struct machine *machine;
    const struct toml_node *accounting, *cases, *set; /* or NULL */
    struct binding *binding;
    struct sweep_file sweep;
    struct space *space;
    struct spot *spots;                /* one for each of the space_count() points */
    enum fidelity fidelity;            /* of metrics, where the model has it */
    bool pinned;                       /* the fidelity stays, whatever claims_set_fidelity asks for */
    double *constants;                 /* the values that the points are made with, one a constant; NULL: as shipped */
    const volatile sig_atomic_t *stop; /* nothing is carried out any more when it is set; or NULL */
};

/* The place of a machine, new or shared. NULL with errors, or without when the machine was broken. */
struct place *claims_place(struct claim_set *s, struct machine *m, const struct toml_node *cases, const struct toml_node *set,
                           struct diags *diags);
/* Is this parameter given by the place's cases or its `set`? */
bool place_gives(const struct place *p, const char *param);
/* The point of that index with the parameters filled in. Metrics are there after spot_metrics, unless it gives a reason
 * (spot->infeasible, or that *p->stop was set before they were there); equations after spot_equations. */
struct spot *place_spot(struct place *p, uint64_t index);
const char *spot_metrics(const struct place *p, struct spot *spot);
void spot_equations(const struct place *p, struct spot *spot);
/* Forget the points that have been computed. */
void place_drop(struct place *p);
void claims_free_places(struct claim_set *s);

#endif
