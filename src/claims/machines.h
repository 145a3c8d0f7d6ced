/* [machines], and the parameters that cases and `set` may give. */
#ifndef DSE_CLAIMS_MACHINES_H
#define DSE_CLAIMS_MACHINES_H

#include "claims/set.h"

/* A model and the parameters in which it differs from its defaults. */
struct machine {
    char *name;
    const struct model *model;     /* NULL: broken, and reported */
    const struct toml_node *table; /* NULL for the name of a model, with all its defaults */
};

bool claims_read_machines(struct claim_set *s, struct diags *diags);
/* Read [accounting.MODEL]: values that all machines of a model have unless the machine, its cases or `set` give others. */
bool claims_read_accounting(struct claim_set *s, struct diags *diags);
/* The table [accounting.MODEL], or NULL. */
const struct toml_node *claims_accounting(const struct claim_set *s, const struct model *m);
/* Check that every key of [cases.X] or `set` is a parameter of some model. */
bool claims_check_params(struct claim_set *s, const struct toml_node *table, struct diags *diags);
/* The machine of that name; the model of that name with all its defaults; or NULL. */
struct machine *claims_machine(struct claim_set *s, const char *name);
/* Does the machine give this parameter itself? */
bool machine_gives(const struct machine *m, const char *param);
void claims_free_machines(struct claim_set *s);

#endif
