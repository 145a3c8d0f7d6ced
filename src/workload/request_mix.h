/* The requests of a sweep: whole ones, with the share of all requests that each stands for. */
#ifndef DSE_WORKLOAD_REQUEST_MIX_H
#define DSE_WORKLOAD_REQUEST_MIX_H

#include "workload/requests.h"

struct mixed_request {
    double share;             /* of all requests; the shares of a mix add up to 1 */
    int64_t prompt, generate; /* tokens, at least 1 */
};

/* Each pair of lengths is there once. The longest request comes first, then the shortest, then the others from long to short:
 * what a machine cannot serve is mostly one of the first two. */
struct request_mix {
    struct mixed_request *requests;
    size_t n;
};

/* At most `points` requests for each of n entries (requests_points), rounded to whole tokens; shares[i] > 0 of all requests are
 * of entry i, before they are divided by their sum. A rounded request is no longer than its entry's max_tokens. The result
 * depends on the order of the entries in the last bit only. Release it. */
void request_mix_init(struct request_mix *ret, const struct dse_requests *const *entries, const double *shares, size_t n,
                      size_t points);
void request_mix_release(struct request_mix *mix);

/* The mean request, not rounded; its weight is 1. */
struct request_point request_mix_mean(const struct request_mix *mix);
/* The mean context of a request's decode steps, whose positions are prompt + 1 .. prompt + generate; half a token is rounded up. */
int64_t request_context(const struct mixed_request *r);

/* Is a parameter of this name one that a mix sets: context, prompt, generate? */
bool request_mix_sets(const char *param);

#endif
