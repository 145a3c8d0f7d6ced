/* A sweep that keeps a part of its rows (keep = "front" or "sample" in [sweep]): every point is evaluated, on all threads; stored
 * are the rows of the front, of the best and the worst point of each objective, which the front's hypervolume is measured
 * by, and of a random sample; and how many points were infeasible for each reason (store/stream.h).
 *
 * Points are evaluated in spans. Behind each, what would be stored is saved as indices of points, so that the run goes on from
 * there; rows are made at the end. Memory: the fronts, a buffer of points for each thread and group, and the sample. What is
 * stored does not depend on threads, spans or restarts. The front is that of the whole sweep, to the row.
 */
#ifndef DSE_SWEEP_STREAMED_H
#define DSE_SWEEP_STREAMED_H

#include "sweep/sweep_internal.h"

/* Run it as sweep_run does. */
bool streamed_run(const struct sweep_file *s, const struct sweep_options *options, struct sweep_result *ret, struct diags *diags);
/* How the points of such a sweep were chosen, as run.method; NULL: it stores all. The caller frees it. */
char *streamed_method(const struct sweep_file *s);

/* Blocks of it, one by one, as a worker gets them: of all of them together the same is kept, as indices of points. What several
 * workers have kept is merged (store/stream.h), and the whole sweep goes on from there. The job must outlive it, and have its store
 * when a block is run. */
struct streamed_blocks;
struct streamed_blocks *streamed_blocks_new(struct job *job);
void streamed_blocks_free(struct streamed_blocks *b);
/* Evaluate a block of space m, and save it. False with errors. When it is interrupted, result->interrupted is set, and nothing was
 * saved; no other block may follow. */
bool streamed_blocks_run(struct streamed_blocks *b, size_t m, struct range block);

#endif
