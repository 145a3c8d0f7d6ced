/* Heads whose caches hold keys and values in few bits (kv_format.h), beside the exact ones that they are compared with. */
#ifndef DSE_ATTENTION_EVICTION_FORMAT_H
#define DSE_ATTENTION_EVICTION_FORMAT_H

#include "attention/eviction_view.h"
#include "attention/kv_format.h"

struct eviction_rounded {
    struct eviction_view exact; /* all keys and values as they were */
    const struct kv_format *format;
    float *k, *v; /* all of them in few bits */
    size_t keys, values;
};

/* Does the format change anything? */
bool eviction_rounds(const struct kv_format *f);
void eviction_rounded_init(struct eviction_rounded *r, const struct head *h, const struct kv_format *f);
void eviction_rounded_release(struct eviction_rounded *r);
/* Let `view`, which is of the same head, have in few bits what is so at step t. Steps come in order. */
void eviction_rounded_enter(struct eviction_rounded *r, struct eviction_view *view, size_t t);
/* The full softmax's mass, with exact keys, on what the cache keeps. */
double eviction_rounded_mass(const struct eviction_rounded *r, const struct eviction_cache *c);

#endif
