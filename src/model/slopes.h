/* How metrics change with parameters and constants, for models that have equations to differentiate.
 *
 * All is elasticity: percent of a metric for one percent of the variable, at one point. */
#ifndef DSE_MODEL_SLOPES_H
#define DSE_MODEL_SLOPES_H

#include "desc/schema.h"

/* A parameter, or a constant of a formula, which is not 0. */
struct slope_variable {
    const struct field *param; /* or NULL: a constant, */
    char *name;                /* of the equation, metric, function or entry of [step] that it stands in; */
    bool alone;                /* it is all of that; */
    struct srcloc loc;         /* where it stands; */
    double value;              /* and what it is, in the own unit of its dimension */
};
struct slope {
    double is;            /* NaN: the metric has none here, or it follows from what is not differentiated */
    double through_steps; /* the same with ceil, floor and round left out */
    bool has_difference;  /* a look-up, or the bill, was differenced */
};
struct slope_list {
    struct slope_variable *variables;
    size_t n;
    struct slope *slopes; /* by variable and, n_metrics each, by metric as in the schema */
    size_t n_metrics;
    bool is_too_large; /* the formulas cannot be differentiated: with open constants they have more terms than a model may have */
};

struct slopes {
    const void *object;
    /* All that the model differentiates at a point, resolved and feasible. `metrics`: of the model. */
    void (*at)(const void *object, const struct schema *metrics, const void *params, struct slope_list *ret);
};
void slope_list_release(struct slope_list *l);

/* A number below, at and above a point, each a share `step` of the variable away, as elasticity. Where the sides differ there is a
 * corner or a step, and the flatter side counts; a side that is NaN does not. Of 0 there is no percent: NaN. */
struct two_sides {
    double is, down, up;
    bool differ;
};
struct two_sides two_sides_of(double below, double at, double above, double step);

#endif
