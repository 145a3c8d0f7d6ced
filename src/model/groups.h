/* Groups of parameters and metrics, in the order in which people want them: what `dse describe` and `dse eval` print first.
 *
 * A parameter belongs to the shared table that has its name (workload, cache, memory, links, cost), to `events` when only the event
 * level reads it, and else to the machine itself. A metric belongs to the group of its unit; what has no unit is named here.
 */
#ifndef DSE_MODEL_GROUPS_H
#define DSE_MODEL_GROUPS_H

#include "model/registry.h"

/* How many of a group are shown where not all of them are. */
enum { GROUP_FIRST = 5 };

struct group {
    const char *name;         /* as users write it: "memory-system" */
    const char *title;        /* "the DRAM: bandwidth, capacity, timing" */
    const char *const *first; /* names that come first, in this order, NULL-terminated; the others follow as their table has them */
};

/* All groups of parameters, and of metrics, in order. */
extern const struct group param_groups[], metric_groups[];
enum { GROUP_WORKLOAD, GROUP_MACHINE, GROUP_CACHE, GROUP_MEMORY, GROUP_LINKS, GROUP_COST, GROUP_EVENTS, PARAM_GROUPS };
enum { GROUP_SPEED, GROUP_ENERGY, GROUP_AREA, GROUP_STORAGE, GROUP_QUALITY, GROUP_INSIDE, METRIC_GROUPS };

/* The index of its group. */
int param_group(const struct field *f);
int metric_group(const struct field *f);

/* The fields of a schema that are in group g, the wanted ones first. `of` is param_group or metric_group, groups its list. The
 * caller frees the array; *ret_n may be 0. */
const struct field **group_fields(const struct schema *s, const struct group *groups, int (*of)(const struct field *f), int g,
                                  size_t *ret_n);

#endif
