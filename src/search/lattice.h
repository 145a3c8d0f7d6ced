/* The lattice of a space, as an exact search walks it: an axis is a row of places, a box what lies between two places on each axis.
 *
 * The places of an axis of numbers are its values ascending, 0 the least; those of names are in the order of their list. A box is
 * bounded (space/bounds.h) from two structs of parameters that enclose those of all its points, number by number. For what an axis
 * sets by itself these are the values at the box's ends. Other numbers follow from several axes, through what catalog entries bring
 * and the model's resolve(), and need not grow with any of them (channels and their rate follow from a bandwidth in steps): what
 * such a number can be is kept in a table over the places of the axes that it follows from, and its ends are looked up.
 *
 * Which axes a number follows from is found by trying: every axis is walked from many points. The tables are then held against
 * other points. An axis that moves a name, or a number that starts as one, is split into single places before anything is bounded,
 * as axes of names are.
 *
 * A lattice never changes and is shared by all threads. */
#ifndef DSE_SEARCH_LATTICE_H
#define DSE_SEARCH_LATTICE_H

#include "graph/range.h"
#include "space/space.h"

struct lattice;

/* The lattice of a space, which must outlive it. NULL with errors: more points than LATTICE_POINTS_MAX; a number that follows from
 * so many places that there is no table of it. */
struct lattice *lattice_new(const struct space *sp, struct diags *diags);
void lattice_free(struct lattice *l);

static const uint64_t LATTICE_POINTS_MAX = UINT64_C(1) << 52; /* beyond, a point's number is no longer one in every database */

size_t lattice_axes(const struct lattice *l);
/* The axis: its parameter, and how many places it has. */
const struct field *lattice_axis(const struct lattice *l, size_t axis, uint32_t *ret_places);
/* Must a box that is bounded have a single place on this axis? */
bool lattice_axis_is_split(const struct lattice *l, size_t axis);

/* The index in the space of the point at a place on each axis, and back. */
uint64_t lattice_index(const struct lattice *l, const uint32_t *places);
void lattice_places(const struct lattice *l, uint64_t index, uint32_t *places);
/* How many points a box has; a lattice has at most LATTICE_POINTS_MAX. */
uint64_t lattice_volume(const struct lattice *l, const uint32_t *lo, const uint32_t *hi);

/* The parameters that enclose those of every point of the box, resolved: each struct holds the model's params_size bytes. The box
 * has a single place on the axes that are split. No allocation. */
void lattice_enclose(const struct lattice *l, const uint32_t *lo, const uint32_t *hi, void *lo_params, void *hi_params);

/* How each parameter moves along the axes that are not split (graph/range.h), by its place in the model's schema: found in the same
 * tables. NULL: there are more than LATTICE_MOVES_MAX axes. */
enum { LATTICE_MOVES_MAX = 32 };
const struct graph_moves *lattice_moves(const struct lattice *l);

/* Which axes parameter i of the model's schema follows from: ret[axis], of all axes. */
void lattice_sources(const struct lattice *l, size_t param, bool *ret);

#endif
