/* Internal to src/search: do boxes make up a lattice, every point in one of them and none in two? For the check of a certificate,
 * which knows nothing of how they came to be: a region is cut wherever no box reaches across, until each piece is one box. */
#ifndef DSE_SEARCH_COVER_H
#define DSE_SEARCH_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cover_state {
    COVER_WHOLE,
    COVER_HOLE,    /* no box holds what lies between lo and hi, or a part of it */
    COVER_OVERLAP, /* boxes a and b share points */
    COVER_TANGLED, /* one of the two: too many boxes reach across each other to say which */
};

struct cover {
    enum cover_state state;
    uint32_t *lo, *hi; /* COVER_HOLE: the caller's, a place on each axis */
    size_t a, b;       /* COVER_OVERLAP */
};

/* Boxes i < n lie between ends[i * 2 * axes + k] and ends[i * 2 * axes + axes + k] on axis k, 0 <= lo <= hi < places[k] (checked by
 * the caller). ret->lo and ret->hi have room for an end on each axis. About n log n for boxes that come from halving. */
void cover_check(const uint32_t *ends, size_t n, const uint32_t *places, size_t axes, struct cover *ret);

#endif
