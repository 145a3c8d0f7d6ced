/* Internal to src/search: the search of one box, depth first. It stops wherever it needs bounds, and says of which boxes, so that
 * its walker (walker.h) bounds those of several walks at once. What it finds is the same whatever walks go on beside it. */
#ifndef DSE_SEARCH_WALK_H
#define DSE_SEARCH_WALK_H

#include "search/walker.h"

/* What is known of a box. */
struct probe {
    enum box_end end; /* BOX_OPEN: it cannot be closed */
    uint32_t constraint;
    struct lattice_point by;
    uint32_t along, than; /* BOX_WORSE (certificate.h) */
    struct graph_moves better;
    double costs[FRONT_OBJECTIVES_MAX];
    double guides[WALK_GUIDES_MAX];
};

/* A box whose bounds are needed: where it lies, and what is to be filled. */
struct ask {
    const uint32_t *lo, *hi;
    struct probe *to;
};

/* What is asked of boxes: what their objectives are at best; that and where their points may become better; guides. */
enum ask_kind { ASK_COSTS, ASK_MOVES, ASK_GUIDES };

/* The lower and the upper half of the box at hand along an axis. */
struct halves {
    bool is_known, has_guides, is_open; /* is_open: both were looked at, and neither can be closed */
    struct probe lower, upper;
};

enum walk_stage { WALK_NEXT, WALK_BOX, WALK_MOVE, WALK_SHAVE, WALK_GUIDE };

struct walk {
    struct walker *walker;
    struct box **stack; /* each as deep as it once was */
    size_t n_stack, stack_capacity;
    struct box *now; /* the box at hand */
    struct walk_result *result;
    size_t hint, looked, most; /* hint: of the archive: who covered last; boxes looked at, and at most */
    enum walk_stage stage;
    struct probe probe;    /* of the box at hand */
    bool has_guides;       /* probe */
    struct halves *halves; /* by axis */
    size_t axis;           /* at hand */
    bool is_cut;           /* a half was cut off in this pass over the axes */
    struct ask *asks;
    size_t n_asks;
    enum ask_kind asks_for; /* where guides cost nothing, these always, too */
    uint32_t *ends;         /* room for an end of each box that is asked for */
};

struct walk *walk_new(struct walker *w);
void walk_free(struct walk *w);
void walk_begin(struct walk *w, const struct box *b, size_t boxes, struct walk_result *ret);
/* Go on until bounds are needed: those of w->asks. False: the walk is over, and what is undecided is left in its result. */
bool walk_step(struct walk *w);

/* ---- what the walker does for its walks ---- */

const struct walk_frame *walker_frame(const struct walker *w);
/* Does the model bound boxes at once? Then it is asked for more than one needs at first, and for guides only where they decide. */
bool walker_is_at_once(const struct walker *w, uint32_t space);
/* Log the end of a box of the space. */
void walker_log_box(struct walker *w, uint32_t space, const uint32_t *lo, const uint32_t *hi, const struct probe *p);

#endif
