/* What models share, as a model in TOML sees it: groups of parameters, and what the functions of include/dse say of them. */
#ifndef DSE_TOML_MODEL_SHARED_H
#define DSE_TOML_MODEL_SHARED_H

#include <dse/cache.h>
#include <dse/chip.h>
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

/* What was last asked of the functions that take long and are asked for one number of several after the other. */
struct shared_memo {
    double supply_of[5], die_of[2];
    struct dse_supply supply;
    struct dse_die die;
};

/* The groups of one point; NULL: the model has it not. */
struct shared {
    const void *params;
    const struct dse_workload *workload;
    const struct dse_request *request;
    const struct dse_dram *memory;
    const struct dse_cache *cache;
    const struct dse_economics *economics;
    struct shared_memo *memo;
};
struct shared shared_of(const struct shared_groups *g, const void *params);

/* A number that follows from the groups: "memory.rate". */
struct shared_quantity {
    const char *name, *unit, *doc;
    enum shared_group group;
    double (*of)(const struct shared *s);
};
extern const struct shared_quantity shared_quantities[]; /* closed by a row without a name */

enum { SHARED_ARGUMENTS_MAX = 4 };
/* A function of the groups and of numbers in the own units of their dimensions. */
struct shared_function {
    const char *name, *unit; /* of the result */
    const char
        *arguments[SHARED_ARGUMENTS_MAX]; /* units; "@srams": a parameter that names an entry of that catalog, whose place among
                                                    the parameters is the number; NULL: no more */
    const char *doc;
    unsigned groups; /* that it needs: 1 << enum shared_group, or-ed */
    double (*of)(const struct shared *s, const double *a);
};
extern const struct shared_function shared_functions[]; /* closed by a row without a name */

#endif
