/* Internal to src/search: what a search without bounds hands back. */
#ifndef DSE_SEARCH_RESULT_H
#define DSE_SEARCH_RESULT_H

#include "search/archive.h"
#include "search/local.h"

/* Points of which one is as good as another within this, relative to it, count once. */
static const double SEARCH_TOLERANCE = 1e-9;

/* Make points and values of the members that are the archive's front; sets the rest to 0. */
void search_result_of(const struct archive *a, size_t m, struct search_result *ret);

#endif
