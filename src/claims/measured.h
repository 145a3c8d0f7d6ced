/* The key `measured` of a claim: an expression over statistics, on several of [attention]. */
#ifndef DSE_CLAIMS_MEASURED_H
#define DSE_CLAIMS_MEASURED_H

#include "claims/answers.h"

struct measured {
    struct answer answer;
    struct attention **on; /* n_on of them; NULL: statistics that take no heads */
    const char **fitted;   /* of each: what of it was fitted to the claim; or NULL */
    size_t n_on;
    char *at;         /* "min of 512, 1024, 2048", "4096", "" */
    const char *note; /* "" when there is none */
};

bool claims_read_measured(struct claim_set *s, const struct claim *c, const struct toml_node *table, struct diags *diags);
/* Does the claim have the key `measured`? */
bool claims_is_measured(const struct claim_set *s, const struct claim *c);
void claims_free_measured(struct claim_set *s);

#endif
