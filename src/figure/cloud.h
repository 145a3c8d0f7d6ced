/* Points thinned to what a picture can show, in one pass and bounded memory, without knowing the range beforehand.
 *
 * Points fall into the cells of a lattice whose cell sizes are powers of two; of the points of one series in one cell the first
 * is kept, with the number of them all. The lattice starts finer than any picture. When the points come to span more than `cells`
 * cells of an axis, or more than `max_marks` cells are taken, the cells double and neighbours merge. So there are always between
 * cells/2 and cells cells over the range, and a point is off by less than one of them: with thousands of cells over a picture
 * nothing that can be seen is lost.
 *
 * Cost: O(1) a point; memory: 24 bytes for twice max_marks at most.
 */
#ifndef DSE_FIGURE_CLOUD_H
#define DSE_FIGURE_CLOUD_H

#include <stddef.h>
#include <stdint.h>

enum { CLOUD_CELLS = 16384 }; /* along an axis: at 300 dpi, eight or more over a pixel of a picture 85 mm wide */

struct mark {
    double x, y;
    uint32_t series; /* and MARK_LOSSY */
    uint32_t count;  /* points it stands for; saturates */
};

/* Of a design that loses information: such marks stand apart from others of their series, and are hollow. */
#define MARK_LOSSY (1u << 31)
static inline uint32_t mark_series(const struct mark *m)
{
    return m->series & ~MARK_LOSSY;
}

struct cloud {
    struct mark *slot; /* open addressing; count 0: free */
    size_t n, capacity, max_marks;
    uint32_t cells;
    double cells_per_x, cells_per_y; /* powers of two */
    double min_x, max_x, min_y, max_y;
    uint64_t points; /* added so far */
};

/* max_marks: SIZE_MAX for as many as there are distinct cells. */
void cloud_init(struct cloud *c, size_t max_marks);
void cloud_release(struct cloud *c);
/* Add a point. x and y are finite; series: perhaps with MARK_LOSSY. */
void cloud_add(struct cloud *c, double x, double y, uint32_t series);
/* Thin the cloud further, to at most max_marks marks. */
void cloud_thin(struct cloud *c, size_t max_marks);
/* The marks, ordered by rank[series], then x, then y. The caller frees the array of c->n. */
struct mark *cloud_sorted(const struct cloud *c, const uint32_t *rank);

#endif
