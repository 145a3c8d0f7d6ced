#include "attention/eviction_format.h"

#include <stdlib.h>

bool eviction_rounds(const struct kv_format *f)
{
    enum { WHOLE_BITS = 16 };
    return f->kv_bits > 0 && f->kv_bits < WHOLE_BITS;
}

void eviction_rounded_init(struct eviction_rounded *r, const struct head *h, const struct kv_format *f)
{
    *r = (struct eviction_rounded){.format = f};
    eviction_view_init(&r->exact, h);
    kv_format_apply(f, h, &r->k, &r->v);
}

void eviction_rounded_release(struct eviction_rounded *r)
{
    eviction_view_release(&r->exact);
    free(r->k);
    free(r->v);
}

void eviction_rounded_enter(struct eviction_rounded *r, struct eviction_view *view, size_t t)
{
    const size_t n = view->head->n, d = view->head->d, keys = kv_format_keys(r->format, t + 1);
    const size_t values = kv_format_values(r->format, t + 1);
    for (; r->keys < keys; r->keys++)
        for (size_t j = 0; j < d; j++) view->keys[j * n + r->keys] = (double)r->k[r->keys * d + j];
    for (; r->values < values; r->values++)
        for (size_t j = 0; j < d; j++) view->values[r->values * d + j] = (double)r->v[r->values * d + j];
}

double eviction_rounded_mass(const struct eviction_rounded *r, const struct eviction_cache *c)
{
    double kept = 0;
    for (size_t i = 0; i < c->n; i++) kept += r->exact.weight[c->position[i]];
    return kept / r->exact.total;
}
