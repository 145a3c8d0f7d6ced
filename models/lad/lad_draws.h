/* What is drawn for a run at event level: the head-samples, and which positions of each are active, centers or of large mode
 * (E25, E34). */
#ifndef LAD_DRAWS_H
#define LAD_DRAWS_H

#include "lad_events.h"

#include <dse/sim.h>

/* A head-sample: one query head of one sequence, in one of the layers simulated. */
struct lad_sample {
    uint32_t layer, head, sequence;
    uint32_t centers, large, active, updates; /* |C|, of a group that of its first head; |M|, |J|, |U| */
    uint32_t hits;                            /* of a replayed step: active positions that were active in the step before */
    uint32_t fetched;                         /* positions active in the step before, fetched ahead: the first ones by position */
    bool counted;                             /* false: it only fills the pipeline before the time is taken */
    double longest;                           /* cycles of its longest compute stage so far */
};

struct lad_draws {
    struct dse_sim *sim;
    const struct lad_point *pt;
    bool mean, replay; /* DSE_IDEAL_DRAWS; draws = "replay", and not so */
    uint32_t layers, heads, batch;
    /* of every head of every layer simulated */
    double *factor; /* its |J| over that of the mean head; NULL when replayed */
    uint32_t *recorded,
        *first_step;       /* replayed: its head of the recording, and the step of its first sequence; the next has the next step */
    double sequence_sigma; /* of the logarithm of |J| over the sequences and steps of a head */
};
void lad_draws_init(struct lad_draws *d, struct dse_sim *sim, const struct lad_point *pt, uint32_t layers, uint32_t heads,
                    uint32_t batch);
/* The same one each time it is asked for. Those of layer `layers` fill the pipeline: mean heads, not counted. */
struct lad_sample lad_draw(const struct lad_draws *d, uint32_t layer, uint32_t head, uint32_t sequence);

/* A set of positions, in growing order. A copy goes on from where the original was. */
struct lad_positions {
    struct dse_random random;
    uint32_t next, older, left; /* `left` of next .. older - 1 are still to come */
    uint32_t end;               /* and then all of older .. end - 1 */
    uint32_t given;
    bool exact; /* of `all` positions, `repeats` still to come were in the set in the step before; else by repeat_ratio */
    uint32_t all, repeats;
    double repeat_ratio; /* share of them that were in the set in the step before */
    double phase;        /* 0 to 1: that share is spread evenly, from this on; below 0: it is drawn */
    uint32_t held;       /* lad_positions_run: one more than the position that did not fit the last run; 0: none */
    uint64_t *shared;    /* the same: leaves out what is in this set, and puts the rest into it (lad_shared.h); NULL: all */
};
bool lad_positions_next(struct lad_positions *s, uint32_t *ret, bool *ret_repeated);
/* The next positions that are adjacent: *ret_first and how many; 0: no more. */
uint32_t lad_positions_run(struct lad_positions *s, uint32_t *ret_first);
struct lad_positions lad_active_positions(const struct lad_draws *d, const struct lad_sample *s);
struct lad_positions lad_center_positions(const struct lad_draws *d, const struct lad_sample *s);
struct lad_positions lad_large_positions(const struct lad_draws *d, const struct lad_sample *s);
/* Which of the active positions, by their index, change their mode. */
struct lad_positions lad_update_indices(const struct lad_draws *d, const struct lad_sample *s);

#endif
