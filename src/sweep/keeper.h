/* Internal to src/sweep: what one thread keeps of the points that it evaluates: the front and the ends of each group, a sample, and
 * how many points there were for each reason.
 */
#ifndef DSE_SWEEP_KEEPER_H
#define DSE_SWEEP_KEEPER_H

#include "store/stream.h"
#include "sweep/goal.h"

struct keeper;

/* `sample`: how many points the sample has; 0: none. The space and the goal must outlive it. */
struct keeper *keeper_new(const struct space *sp, const struct goal *goal, size_t sample);
void keeper_free(struct keeper *k);

enum { KEEPER_BLOCK = 1024 }; /* the most points of a call of keeper_evaluate */

/* Evaluate n points from `first` on. False: a bug of the model stopped it (keeper_error). */
bool keeper_evaluate(struct keeper *k, uint64_t first, size_t n);
/* Take a point that was evaluated before, without counting it. False: likewise. */
bool keeper_take(struct keeper *k, uint64_t point);
const char *keeper_error(const struct keeper *k);

/* The points that it keeps, in no order, and perhaps one twice; the array belongs to the keeper until the next call. */
const uint64_t *keeper_points(struct keeper *k, size_t *ret_n);
/* Add its counts to those of a state, and begin to count anew. */
void keeper_add_counts(struct keeper *k, struct stream_state *s);

#endif
