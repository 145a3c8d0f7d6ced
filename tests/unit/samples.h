/* How many samples of a kind a test takes: few of each in everyday runs, all of them with DSE_SAMPLES=all in the environment (as
 * `./dev test --all` sets it). Kinds, assertions and tolerances are the same in both. */
#ifndef DSE_TESTS_SAMPLES_H
#define DSE_TESTS_SAMPLES_H

#include <stdlib.h>
#include <string.h>

static inline int samples(int everyday, int all)
{
    const char *wanted = getenv("DSE_SAMPLES");
    return wanted && strcmp(wanted, "all") == 0 ? all : everyday;
}

#endif
