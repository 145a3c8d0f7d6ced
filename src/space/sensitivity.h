/* How much each metric of a design point changes with each parameter and constant, as elasticity: percent of the metric for one
 * percent of the parameter.
 *
 * Where the model has a derivative (model/slopes.h), it counts. Other parameters are moved, and the metrics differenced: a real
 * number by a share of 2^-17 to both sides, a whole number by 1. Only one side counts where the other cannot be built. At a corner
 * or a step, where the sides differ, that is the flatter side of a real number, and the mean of both of a whole one. What stands at
 * "auto" is moved from what it follows to be, unless something is given that it cannot stand beside. */
#ifndef DSE_SPACE_SENSITIVITY_H
#define DSE_SPACE_SENSITIVITY_H

#include "model/slopes.h"
#include "space/point.h"

enum elasticity_way { ELASTICITY_DERIVATIVE, ELASTICITY_MIXED, ELASTICITY_DIFFERENCE };
extern const char *const elasticity_ways[]; /* "derivative", "derivative of differences", "difference" */

struct elasticity {
    size_t metric;                         /* as in the model's schema */
    const struct slope_variable *variable; /* of the list below */
    double is;
    enum elasticity_way way;
    double step;          /* DIFFERENCE: to each side, in the unit of the parameter; else NaN */
    double down, up;      /* DIFFERENCE: of each side alone; NaN: it cannot be built; else NaN */
    double through_steps; /* derivatives: without ceil, floor and round */
    char *note;           /* what to know of it; or NULL */
};
struct sensitivity {
    struct slope_variable *variables;
    size_t n_variables;
    struct elasticity *list; /* by metric, the largest first; metrics that are 0 or unknown have none */
    size_t n;
    bool is_without_constants; /* the model has formulas, too many to differentiate: its parameters are moved */
};

/* Of a feasible point, at closed form. */
void sensitivity_of(const struct design_point *p, struct sensitivity *ret);
void sensitivity_release(struct sensitivity *s);

#endif
