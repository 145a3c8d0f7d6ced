/* A set of points in k objectives that finds the neighbours of a point: the members that reach into the box above it.
 *
 * Each point that will ever be a member has its place from the start, near points near each other (along a Z-order curve). FAN
 * places make a block, and stand under one place of the next level, which holds the least of them in every objective:
 *
 *     level 1   [ . . . . . . . . ]            least of each block below
 *                 |   \
 *     level 0   [ . . . ] [ . . . ] ...        a place a point
 *
 * A place holds its k numbers in one word, each as a rank in a field of its own below a guard bit, so that one subtraction
 * compares them all. Where the fields are too narrow for the ranks they hold as much of them as fits; so they only rule points
 * out, and the numbers decide.
 */
#ifndef DSE_ANALYSIS_NEAR_TREE_H
#define DSE_ANALYSIS_NEAR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/front.h"

enum { NEAR_FAN_BITS = 3, NEAR_FAN = 1 << NEAR_FAN_BITS, NEAR_LEVELS_MAX = (31 + NEAR_FAN_BITS - 1) / NEAR_FAN_BITS };

struct near_tree {
    int k, levels;
    int field_bits;     /* of an objective in a word, with its guard bit */
    uint64_t guards;    /* all guard bits */
    uint64_t empty;     /* word of a place without a member: more than any other in every objective */
    bool exact;         /* fields hold whole ranks */
    size_t n, capacity; /* places */
    uint64_t *words;    /* all levels */
    uint64_t *level[NEAR_LEVELS_MAX];
    uint64_t *point_word; /* by point */
    uint32_t *place;      /* by point */
    uint32_t *point;      /* by place */
    uint64_t *keys, *scratch;
};

/* The neighbours of a point. */
struct neighbours {
    double
        box[FRONT_OBJECTIVES_MAX]; /* from the point to the nearest walls: members that are worse than it in a single objective */
    uint64_t box_word;             /* the last ranks inside, with guard bits */
    uint32_t *points; /* members that reach into the box, and some that did before it shrank; the caller's, room for n */
    size_t n;
    bool covered; /* a member is no worse than the point in any objective: nothing else here counts */
};

/* Free what the tree owns. A tree is zeroed to begin with. */
void near_tree_release(struct near_tree *t);
/* Make it an empty one for points[i * stride + objective], i < n, in the first k objectives. */
void near_tree_reset(struct near_tree *t, const double *points, size_t n, size_t stride, int k);
void near_tree_insert(struct near_tree *t, size_t point);
void near_tree_remove(struct near_tree *t, size_t point);
/* The neighbours of a point that is no member, within ref. */
void near_tree_find(const struct near_tree *t, const double *points, size_t stride, size_t point, const double *ref,
                    struct neighbours *near);

#endif
