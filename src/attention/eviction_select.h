/* Policies that hold a choice instead of letting one position leave: functions of the rows of eviction_policies.c. */
#ifndef DSE_ATTENTION_EVICTION_SELECT_H
#define DSE_ATTENTION_EVICTION_SELECT_H

#include "attention/eviction_cache.h"

void snapkv_score(struct eviction_cache *c, const double *p);
void snapkv_select(struct eviction_cache *c, double *scratch);
bool snapkv_check(const struct eviction_options *o, size_t size, struct diags *diags);

size_t pyramidkv_budget(const struct eviction_options *o, size_t size, size_t layer);
bool pyramidkv_check(const struct eviction_options *o, size_t size, struct diags *diags);

void quest_choose(struct eviction_cache *c, const double *bounds, double *scratch);
bool quest_check(const struct eviction_options *o, size_t size, struct diags *diags);

#endif
