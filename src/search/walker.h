/* Internal to src/search: one thread that searches boxes of lattices, several at a time (walk.h).
 *
 * Files that call each other: walk, walker: a walk stops where it needs bounds and tells its walker of which boxes, and the walker
 * steps its walks.
 */
#ifndef DSE_SEARCH_WALKER_H
#define DSE_SEARCH_WALKER_H

#include "search/archive.h"
#include "search/lattice.h"
#include "space/bounds.h"

#include <signal.h>

/* The tolerance that incumbents cover with: a third of the certificate's, less rounding. A box may be covered by a point of its own
 * walk, that by an incumbent when the walks are put together, and that by another when the front is made (archive_front). */
static const double WALK_TOLERANCE = 0.3 * CERTIFICATE_TOLERANCE;

/* The columns that splitting goes by: those with a bound and a better direction. */
enum { WALK_GUIDES_MAX = 64 };
struct walk_guides {
    size_t columns[WALK_GUIDES_MAX], n;
    bool maximise[WALK_GUIDES_MAX];
    /* Axes (bits) along which boxes may be worse than a place beside them (BOX_WORSE), and of those the ones where it is above. */
    uint32_t worse, upward;
};

/* What all threads share: it does not change while they walk. */
struct walk_frame {
    const struct sweep_file *sweep;
    struct space *const *spaces;
    struct lattice *const *lattices;
    size_t n_spaces, axes_max, objectives;
    size_t *const *columns;           /* [space][objective]: of its rows */
    const struct walk_guides *guides; /* [space] */
    const bool *maximise;
    struct archive *const *archives; /* by group */
    const volatile sig_atomic_t *interrupt;
    double deadline; /* of walk_now; 0: none */
    bool keep_boxes;
};

/* A box that waits. costs: what each objective is at least, -INFINITY where nothing is known. */
struct box {
    uint32_t space, group;
    bool is_bounded; /* the costs are what its own bound says, and no more than that of a larger box */
    /* How many boxes from one that is asked how its points move to the next, and how many are left to that. */
    uint8_t pause, wait;
    double costs[FRONT_OBJECTIVES_MAX];
    uint32_t ends[]; /* axes_max of lo, then of hi */
};
struct box *box_new(const struct walk_frame *f);
static inline size_t box_bytes(const struct walk_frame *f)
{
    return sizeof(struct box) + 2 * f->axes_max * sizeof(uint32_t);
}
static inline uint32_t *box_lo(struct box *b)
{
    return b->ends;
}
static inline uint32_t *box_hi(const struct walk_frame *f, struct box *b)
{
    return b->ends + f->axes_max;
}

/* What a walk leaves: points that were met, as costs, and boxes, which the caller frees. */
struct walk_result {
    double *costs;
    struct lattice_point *at;
    size_t n, capacity;
    struct box **left;
    size_t n_left, left_capacity;
};
void walk_result_release(struct walk_result *r);

struct walk_counts {
    uint64_t evaluations, bounds, boxes[BOX_END_COUNT];
    double closed; /* points */
};

struct walker;
struct walker *walker_new(const struct walk_frame *f);
void walker_free(struct walker *w);
/* Search boxes until each is decided or so many boxes of it have been looked at, against its group's archive and what its own walk
 * meets. They are bounded together: what comes of each is the same whatever others go on beside it. */
enum { WALKS_MAX = 64 };
void walker_run(struct walker *w, struct box *const *b, size_t n, size_t boxes, struct walk_result *ret);
/* How many boxes a walker should be given at a time. */
size_t walker_width(const struct walker *w);
/* Evaluate one point: its costs. False when it is infeasible or has no value for an objective, and at a bug of the model. */
bool walker_evaluate(struct walker *w, uint32_t space, uint64_t point, double *costs);
/* The same of at most WALKER_POINTS_MAX points: of each its costs, and whether it has some. False: a bug of the model. */
enum { WALKER_POINTS_MAX = 64 };
bool walker_evaluate_all(struct walker *w, uint32_t space, const uint64_t *points, size_t n, double *costs, bool *ret_there);
/* Log a box that stays open, or one that is closed since a point covers its costs. */
void walker_leave(struct walker *w, struct box *b);
void walker_close(struct walker *w, struct box *b, struct lattice_point by);
/* The bounds of the objectives over a box; false: nothing in it is feasible. It has a single place on each axis that is split. */
bool walker_bound(struct walker *w, struct box *b);
/* Where points of a box may become better (bounds_better). It has a single place on each axis that is split. */
struct graph_moves walker_better(struct walker *w, uint32_t space, const uint32_t *lo, const uint32_t *hi);
/* Does the model say where points of a box may become better? */
bool walker_knows_moves(const struct walker *w, uint32_t space);
/* The thread's bounds of a space, of the box bounded last. */
struct bounds *walker_bounds(struct walker *w, size_t space);

struct walk_counts walker_counts(const struct walker *w);
/* The thread's log, which passes to the caller; NULL if boxes are not kept. */
struct box_log *walker_log(struct walker *w);
/* The bug of a model that ended a walk; or NULL. */
const char *walker_error(const struct walker *w);
double walk_now(void);

#endif
