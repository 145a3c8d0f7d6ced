/* Attention of a layer at event level, inside: what veda_heads.c (the array, cycle by cycle) and veda_rows.c (the rows it takes,
 * and how they come) share. */
#ifndef VEDA_HEADS_H
#define VEDA_HEADS_H

#include "veda_events.h"

enum { VEDA_SLOTS = 8 /* units that are being read, at most */ };

enum veda_period_kind { SCORES, VALUES };

/* What the array waits for. */
enum veda_wait { NOTHING, ROWS, SCORE_FIFO, FIRST_WEIGHTS, WEIGHTS, STAGE, VOTES };

struct veda_heads {
    const struct veda_run *run;
    struct veda_heads_spec spec;
    const struct veda_kind *of; /* the layers */
    double clock_ghz;
    dse_ps start;
    uint32_t tick_actor, moved_actor;
    double armed; /* the earliest tick that is scheduled; infinite: none */

    int64_t units, length, group; /* units: simulated */
    bool overlapped, serial;
    int64_t block[2];  /* rows that the array takes at a time */
    double issue[2];   /* cycles for one query head and block */
    double row_cycles; /* of s V: more, for each row */
    double stage, depth[2];

    struct dse_feed *feed;
    uint64_t window;
    int64_t resident, fetched;                   /* rows of a unit that are in the buffer; that come from the DRAM */
    double row_bytes[2];                         /* in the stream */
    uint64_t stream_bytes[2], home[2], homes[2]; /* stream_bytes 0: values that are part of the keys */
    int64_t places;                              /* rows that the cache has room for, where it has holes; else 0 */
    struct slots {
        int64_t unit, *of_row; /* unit -1: none yet */
    } slots[VEDA_SLOTS];
    double spilled, query_bytes, output_bytes; /* of a unit, one way */

    struct veda_softmax_unit sfu;
    struct veda_vote_unit votes;
    double vote_bytes_unit, vote_bytes_layer; /* one way */
    uint64_t vote_address;
    bool votes_written;
    bool vectors_here;            /* the unit's queries */
    uint64_t vectors_at, vectors; /* the address of the first; how many are apart from each other */

    int64_t period, unit, row, query;
    enum veda_period_kind kind;
    double array_free, stage_done;
    enum veda_wait wait;
    double wait_since;
    bool done;
    struct veda_tally total, from, to; /* times are cycles here */
    double *end, *ended;               /* of units: cycles by then; their numbers */
};

/* E23: which of the two products of which unit is the p-th. */
void veda_period_at(const struct veda_heads *h, int64_t p, enum veda_period_kind *kind, int64_t *unit);

/* ---- rows: veda_rows.c --------------------------------------------------------------------------------------------------- */

/* Does the product take rows that come from the DRAM? */
static inline bool veda_rows_come(const struct veda_heads *h, enum veda_period_kind kind)
{
    return h->stream_bytes[kind] > 0;
}
/* Where the rows stand, and what of them and of vectors and scores goes through the DRAM. Needs the array's blocks. */
void veda_rows_init(struct veda_heads *h);
/* Starts to read. */
void veda_rows_start(struct veda_heads *h);
/* Rows of the present product that are there. */
int64_t veda_rows_there(const struct veda_heads *h);
/* What the array is through with goes back to the feed. */
void veda_rows_give_back(struct veda_heads *h);

#endif
