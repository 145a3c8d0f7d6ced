/* Energy and area tables as Accelergy writes them: ERT.yaml and ART.yaml, or their summaries.
 *
 *     ERT:                                  ART:
 *       version: 0.4                          tables:
 *       tables:                               - name: system.buffer
 *       - name: system.buffer                   area: 123456      um^2
 *         actions:
 *         - name: read
 *           arguments: {...}
 *           energy: 12.5                    pJ
 *
 * Of YAML it is what these files use: keys, values and lists by their indents. An action that stands there several times, with
 * other arguments, has the largest of its energies. What stands beside name, area and actions of a component (summaries have a
 * primitive_estimation of each) is not looked at.
 */
#ifndef DSE_CONFIG_ACCELERGY_H
#define DSE_CONFIG_ACCELERGY_H

#include "base/diag.h"

struct energy_action {
    char *name;
    double energy_pj; /* of one action; NaN: no table says it */
};

struct energy_component {
    char *name;
    double area_mm2; /* NaN: no area table has it */
    struct energy_action *actions;
    size_t n_actions;
};

struct energy_table {
    struct energy_component *components;
    size_t n;
};

/* Add what the file says to the table, which begins as {0}. False with an error at its line. Release the table in any case. */
bool energy_table_read(struct energy_table *t, const char *path, struct diags *diags);
void energy_table_release(struct energy_table *t);
/* The component of that name, or of which it is the last part ("buffer" of "system.buffer[1..4]"); NULL. */
const struct energy_component *energy_table_find(const struct energy_table *t, const char *name);
/* pJ of an action; NaN when the component has no such. */
double energy_of(const struct energy_component *c, const char *action);

#endif
