/* What models share, as a model in TOML sees it: groups of parameters, and what the functions of include/dse say of them. */
#ifndef DSE_TOML_MODEL_SHARED_H
#define DSE_TOML_MODEL_SHARED_H

#include <dse/cache.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/workload.h>

enum shared_group { GROUP_WORKLOAD, GROUP_REQUEST, GROUP_MEMORY, GROUP_CACHE, GROUP_ECONOMICS, GROUPS };
struct shared_group_row {
    const char *name;
    size_t size;
    const struct dse_param *params;
    const char *(*refuse)(const void *embedded);
};
extern const struct shared_group_row shared_group_rows[GROUPS];

/* Where the groups of a model stand among its parameters. */
struct shared_groups {
    bool has[GROUPS];
    size_t offset[GROUPS];
};

/* The groups of one point; NULL: the model has it not. */
struct shared {
    const struct dse_workload *workload;
    const struct dse_request *request;
    const struct dse_dram *memory;
    const struct dse_cache *cache;
    const struct dse_economics *economics;
};
struct shared shared_of(const struct shared_groups *g, const void *params);

/* A number that follows from the groups: "memory.rate". */
struct shared_quantity {
    const char *name, *unit, *doc;
    enum shared_group group;
    double (*of)(const struct shared *s);
};
extern const struct shared_quantity shared_quantities[]; /* closed by a row without a name */

/* A function of one or two numbers and the groups, in the own units of their dimensions. */
struct shared_function {
    const char *name, *unit;        /* of the result */
    const char *arguments[2], *doc; /* units; NULL: it has one */
    enum shared_group group;
    double (*of)(const struct shared *s, double a, double b);
};
extern const struct shared_function shared_functions[]; /* closed by a row without a name */

#endif
