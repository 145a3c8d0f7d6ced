/* [constants]: what was fitted or chosen, and places with other values of it. */
#ifndef DSE_CLAIMS_CONSTANTS_H
#define DSE_CLAIMS_CONSTANTS_H

#include "claims/places.h"

struct constant {
    struct claim_constant public; /* its strings are borrowed */
    char *name;                   /* of a borrowed constant */
    double *alternatives;
    const struct field *field; /* of the first machine's model */
    const struct machine **machines;
    size_t n_machines;
};

bool claims_read_constants(struct claim_set *s, struct diags *diags);
void claims_free_constants(struct claim_set *s);
/* Have the points of the place made with the set's current constants from now on. */
void place_update(const struct claim_set *s, struct place *p);

/* Read the keys `alternatives`, `text` and `source` of a constant whose machines are known. (alternatives.c) */
bool claims_read_alternatives(const struct claim_set *s, struct constant *c, const struct toml_node *table, struct diags *diags);

#endif
