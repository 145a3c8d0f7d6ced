/* The best vectors of objectives that a search has met, and whether one of them is as good as a box can be at best.
 *
 * Objectives are costs: all are minimised. A member covers a vector v when it is no worse in any objective within the tolerance,
 * member[j] <= v[j] + tolerance * |v[j]|. What a member covers is not taken, and a new member drives out those that it is no worse
 * than in every objective to the last bit: so whatever was covered once stays covered, however many members come and go.
 *
 * Members stand in a k-d tree with the least and the most of each of its nodes; those that came since it was made are looked at one
 * by one. Looking does not change the archive: many threads may look while none adds. */
#ifndef DSE_SEARCH_ARCHIVE_H
#define DSE_SEARCH_ARCHIVE_H

#include "analysis/front.h"
#include "search/certificate.h"

struct archive;

struct archive *archive_new(size_t objectives, double tolerance);
void archive_free(struct archive *a);
/* Take a vector, finite; false: a member covers it. */
bool archive_add(struct archive *a, const double *costs, struct lattice_point at);
/* Make the tree anew when that is due, without those that were driven out: till then they are still counted. */
void archive_settle(struct archive *a);
/* The same, when so many have come and gone that looking takes longer for it. */
void archive_tend(struct archive *a);

size_t archive_size(const struct archive *a);
/* Members are numbered 0 to archive_size - 1 until the next archive_settle. The costs of one that was driven out are INFINITY. */
const double *archive_costs(const struct archive *a, size_t member);
struct lattice_point archive_at(const struct archive *a, size_t member);
/* A member that covers the vector, whose numbers may be -INFINITY; SIZE_MAX: none. `hint`: a member that is tried first. */
size_t archive_cover(const struct archive *a, const double *costs, size_t hint);
/* By how much, relative to it, a member misses the vector in its worst objective: the least over the members, at least 0.
 * INFINITY without members, and where the vector has no end. */
double archive_gap(const struct archive *a, const double *costs);

/* Does one vector cover the other? */
bool costs_cover(const double *costs, const double *other, size_t objectives, double tolerance);

/* Which members make the front: of those that cover each other one. Writes their numbers, as many as archive_size at most, in no
 * order that means anything, but always the same; returns how many. */
size_t archive_front(const struct archive *a, size_t *ret);

#endif
