/* Whether two answers ask the same, and in which parameters they differ. */
#ifndef DSE_CLAIMS_NEIGHBOURS_H
#define DSE_CLAIMS_NEIGHBOURS_H

#include "claims/answers.h"

/* A parameter in which the machines or cases of two answers differ. */
struct difference {
    const char *param;
    bool is_number;
    bool of_case; /* given by cases or `set`, not by the machine */
    bool inside;  /* the values of the first are among, or between, those of the second */
    double far;   /* of numbers: |ln| of the ratio of their means */
};
enum { DIFFERENCES_MAX = 64 };
/* Do two answers ask for the same value of machines of the same models, in the same unit? All means over cases are of one kind; a
 * minimum and a maximum are each of their own. */
bool answers_ask_the_same(const struct answer *a, const struct answer *b);
/* The differences of answers that ask the same, each parameter once. */
size_t answers_compare(const struct answer *a, const struct answer *b, struct difference ret[DIFFERENCES_MAX]);
/* Are two answers made of the same numbers of the same machines in the same cases, whatever their expressions? */
bool answers_use_the_same(const struct answer *a, const struct answer *b);

#endif
