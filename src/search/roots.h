/* Internal to src/search: where an exact search begins, and the columns that it goes by. */
#ifndef DSE_SEARCH_ROOTS_H
#define DSE_SEARCH_ROOTS_H

#include "search/walker.h"

/* The boxes that a search begins with: those in which the parameters of `per` have one value each. Boxes of equal values, of any
 * space, are of one group. */
struct roots {
    struct box **boxes;
    size_t n, n_groups;
    char **keys; /* of the groups */
};
enum { ROOTS_MAX = 1000000 };

/* False with errors: too many. Release it in any case, after which boxes that were set to NULL are somebody else's. */
bool roots_make(const struct walk_frame *f, struct roots *ret, struct diags *diags);
void roots_release(struct roots *r);

/* Find the objectives' columns and those that splitting goes by in space s. False, with errors, where an objective has no bound:
 * then it is also said which metrics have one. `sample` gives random points of the space. */
bool columns_find(const struct walk_frame *f, size_t s, struct walker *w, size_t *columns, struct walk_guides *guides,
                  struct diags *diags);

/* Set the axes of g along which random boxes of space s are worse than a place beside them, and on which side more often. */
void roots_find_worse(const struct walk_frame *f, const struct roots *r, size_t s, struct walker *w, struct walk_guides *g);

/* xorshift64*, the same every time. */
static inline uint64_t roots_draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(2685821657736338717) >> 11;
}

#endif
