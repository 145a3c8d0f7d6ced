/* A set of indices of points. */
#ifndef DSE_SEARCH_SEEN_H
#define DSE_SEARCH_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* {0} is empty. */
struct seen {
    uint64_t *slots; /* 1 + index of a point, 0: free; a power of two, at most half full */
    size_t n_slots, n;
};

void seen_release(struct seen *s);
/* Add a point. False: it was there. */
bool seen_add(struct seen *s, uint64_t point);

#endif
