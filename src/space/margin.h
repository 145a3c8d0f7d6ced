/* How far a point is from a constraint that it breaks: what a search goes by where nothing is feasible yet.
 *
 * A constraint that compares two sides, "area_mm2 <= 25", is broken by |left - right| / (|left| + |right|), a share in (0, 1] that
 * falls as the point comes closer; one that does more (&&, ||, ?:, functions of comparisons) by 1.
 */
#ifndef DSE_SPACE_MARGIN_H
#define DSE_SPACE_MARGIN_H

#include "base/diag.h"
#include "desc/schema.h"

struct margin;

/* Of a constraint that compiles (expr_new). The schemas must outlive it. */
struct margin *margin_new(const char *constraint, const struct schema *params, const struct schema *metrics);
void margin_free(struct margin *m);
/* By how much a point that breaks the constraint does so, in (0, 1]. */
double margin_broken(struct margin *m, const void *params, const void *metrics);

#endif
