/* Requests: how long prompts and generations are. A catalog entry says it by two lognormal distributions (median and 90th
 * percentile of each, as papers publish them) or by a list of requests seen; from either comes a small set of weighted requests
 * that stands for all of them.
 *
 * Lognormal: prompt and generation are independent; prompt and generation together have at most max_tokens, and longer ones are
 * cut there: first the prompt to max_tokens - 1, then the generation to what is left. Median and percentile stay as published.
 */
#ifndef DSE_WORKLOAD_REQUESTS_H
#define DSE_WORKLOAD_REQUESTS_H

#include "workload/row_fault.h"

#include <dse/desc.h>
#include <stdbool.h>
#include <stddef.h>

/* A distribution of requests. The table of its fields in TOML is dse_requests_fields. */
struct dse_requests {
    struct dse_entry entry;
    double prompt_median, prompt_p90;
    double generate_median, generate_p90;
    int64_t max_tokens;
    struct requests_list *list; /* the requests seen; then the numbers above are theirs. NULL: lognormal */
};
extern const struct dse_param dse_requests_fields[];
/* NULL, or why the numbers do not fit together ("prompt_p90 is below prompt_median"). */
const char *dse_requests_check(const void *requests);

/* An entry from n requests that were seen. NULL when they are none: then *ret_fault says why, by request and column ("a prompt
 * of 0.5 tokens"). name and source are borrowed, as in TOML entries. */
struct dse_requests *requests_new(const char *name, const char *source, const double *prompt, const double *generate, size_t n,
                                  struct row_fault *ret_fault);
/* Free an entry of either kind. */
void requests_free(struct dse_requests *r);

struct request_point {
    double weight;           /* the weights of a set add up to 1 */
    double prompt, generate; /* tokens, not rounded */
};

enum { REQUEST_POINTS_MAX = 4096 };

/* At most n requests for all of them; returns how many. Requires 1 <= n <= REQUEST_POINTS_MAX.
 *
 * Lognormal: the square root of n equally likely classes of prompts, each with n over that many equally likely classes of
 * generations. A class stands by its mean, so that mean prompt and mean generation are right however small n (where generations
 * are cut, to 0.2 %), and without a cut the mean of their product; mean squares come out too small, of chat's prompts by 40 % at
 * n = 16 and 16 % at n = 1024. Listed: the list is halved again and again, across its longer side in octaves, and each part
 * stands by its mean. A list of at most n stands as it is.
 *
 * Pure; the same points on every machine that has the same libm. */
size_t requests_points(const struct dse_requests *r, size_t n, struct request_point *ret);

#endif
