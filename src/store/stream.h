/* Runs that evaluate more points than they store (keep of [sweep]): how many points were evaluated and why they were infeasible, in
 * the table `evaluated`; and, until the run is done, how far it is and what it will store, in the table `streamed`.
 *
 *     evaluated(run, model, status, reason, points)    a row for each reason, and one for the feasible points
 *     streamed(run, model, next, points)               the first point that was not evaluated; indices of points, 8 bytes each,
 *                                                      lowest byte first
 *
 * Workers that lease blocks of such a run keep what is to be stored of all their blocks, and count each block by itself, since two
 * may have evaluated one:
 *
 *     streamed_block(run, model, first, last, status, reason, points)    as `evaluated`, of points first to last; reason '': none
 *     streamed_part(run, model, points)                                  as `streamed`, of a worker's blocks
 *
 * Merging puts them together. With all blocks there they become `evaluated` and `streamed`, as of a run that was interrupted when
 * all was evaluated and nothing stored: the sweep goes on from there.
 */
#ifndef DSE_STORE_STREAM_H
#define DSE_STORE_STREAM_H

#include "store/db.h"
#include "store/store.h"

struct stream_count {
    char *reason; /* NULL: feasible */
    uint64_t points;
};

struct stream_state {
    uint64_t next; /* the first point that was not evaluated */
    uint64_t *points;
    size_t n;
    struct stream_count *counts; /* of the points before `next` */
    size_t n_counts;
};
void stream_state_release(struct stream_state *s);

/* Makes the two tables where they are not there. */
extern const char stream_tables_sql[];

/* Begin or go on with space m: rows that an end which was cut short has left are removed. *ret is what was saved last, or zeroed.
 * False with errors: also when what is there cannot be (another program wrote it). The caller releases it. */
bool store_stream_begin(struct store *st, size_t m, struct stream_state *ret, struct diags *diags);
/* Save the state of space m in place of what was saved before. One transaction. */
bool store_stream_save(struct store *st, size_t m, const struct stream_state *s, struct diags *diags);
/* Save what a worker counted in a block, and in place of what it saved before the points that it keeps of all its blocks. One
 * transaction. */
bool store_stream_save_block(struct store *st, size_t m, struct range block, const struct stream_state *s, struct diags *diags);
/* All rows are stored: remove what is needed to go on. */
bool store_stream_end(struct store *st, struct diags *diags);

/* Of merging, within its transaction: take what workers evaluated from run `from` of the attached database "input" into run
 * `to`. */
struct model_list;
bool stream_join(const struct db *db, const struct model_list *models, int64_t from, int64_t to, struct diags *diags);

#endif
