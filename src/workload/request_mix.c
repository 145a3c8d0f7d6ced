#include "workload/request_mix.h"

#include "base/xalloc.h"

#include <dse/workload.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point as a whole request. What is too long is cut as in requests.h: first the prompt, then the generation. */
static struct mixed_request rounded(struct request_point point, double share, int64_t max_tokens)
{
    struct mixed_request r = {share, llround(point.prompt), llround(point.generate)};
    if (r.prompt > max_tokens - 1) r.prompt = max_tokens - 1;
    if (r.generate > max_tokens - r.prompt) r.generate = max_tokens - r.prompt;
    return r;
}

/* From long to short; no two of different numbers are equal, so that the order does not depend on qsort. */
static int by_length(const void *a, const void *b)
{
    const struct mixed_request *x = a, *y = b;
    int64_t dx = x->prompt + x->generate, dy = y->prompt + y->generate;
    if (dx != dy) return dx > dy ? -1 : 1;
    if (x->prompt != y->prompt) return x->prompt > y->prompt ? -1 : 1;
    return (x->share < y->share) - (x->share > y->share);
}

/* Join equal requests of a sorted mix into one. */
static void join_equal(struct request_mix *mix)
{
    size_t kept = 0;
    for (size_t i = 0; i < mix->n; i++) {
        struct mixed_request *last = kept ? &mix->requests[kept - 1] : NULL, r = mix->requests[i];
        if (last && last->prompt == r.prompt && last->generate == r.generate)
            last->share += r.share;
        else
            mix->requests[kept++] = r;
    }
    mix->n = kept;
}

static void put_shortest_second(struct request_mix *mix)
{
    if (mix->n < 3) return;
    struct mixed_request shortest = mix->requests[mix->n - 1];
    memmove(mix->requests + 2, mix->requests + 1, (mix->n - 2) * sizeof *mix->requests);
    mix->requests[1] = shortest;
}

void request_mix_init(struct request_mix *ret, const struct dse_requests *const *entries, const double *shares, size_t n,
                      size_t points)
{
    struct request_point *of_entry = xcalloc(points, sizeof *of_entry);
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += shares[i];
    *ret = (struct request_mix){.requests = xcalloc(n * points, sizeof *ret->requests)};
    for (size_t i = 0; i < n; i++) {
        size_t made = requests_points(entries[i], points, of_entry);
        for (size_t k = 0; k < made; k++)
            ret->requests[ret->n++] = rounded(of_entry[k], shares[i] / sum * of_entry[k].weight, entries[i]->max_tokens);
    }
    free(of_entry);
    qsort(ret->requests, ret->n, sizeof *ret->requests, by_length);
    join_equal(ret);
    put_shortest_second(ret);
}

void request_mix_release(struct request_mix *mix)
{
    free(mix->requests);
    *mix = (struct request_mix){0};
}

struct request_point request_mix_mean(const struct request_mix *mix)
{
    struct request_point mean = {.weight = 1};
    for (size_t i = 0; i < mix->n; i++) {
        mean.prompt += mix->requests[i].share * (double)mix->requests[i].prompt;
        mean.generate += mix->requests[i].share * (double)mix->requests[i].generate;
    }
    return mean;
}

int64_t request_context(const struct mixed_request *r)
{
    return r->prompt + (r->generate + 2) / 2; /* prompt + (generate + 1) / 2 */
}

bool request_mix_sets(const char *param)
{
    for (const struct dse_param *p = dse_request_params; p->type != DSE_TYPE_END; p++)
        if (strcmp(p->name, param) == 0) return true;
    return strcmp("context", param) == 0;
}
