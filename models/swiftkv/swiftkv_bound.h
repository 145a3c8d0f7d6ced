/* Bounds of the closed form over a box, inside: swiftkv_bound.c has the box and its metrics, swiftkv_bound_llms.c the steps of LLMs
 * that the paper's machine does not know (E26 to E29). */
#ifndef SWIFTKV_BOUND_H
#define SWIFTKV_BOUND_H

#include "swiftkv.h"

#include <dse/bound.h>
#include <dse/workload_box.h>

enum { SWIFTKV_FAST, SWIFTKV_SLOW, SWIFTKV_ENDS };

/* An end of the box: parameters that make a step fast, or slow; a step and a token of it, of one chip. */
struct swiftkv_end {
    struct swiftkv_params p;
    struct swiftkv_dealt dealt; /* part == NULL */
    struct dse_oplist ops;
    struct swiftkv_step step, token;
};

struct swiftkv_box {
    struct swiftkv_params lo, hi;         /* without what check() refuses anyway; the cache by its length */
    const struct dse_workload_part *part; /* NULL: the workload is simple (E27) */
    struct dse_cache asked_lo, asked_hi;
    struct dse_interval target; /* positions that stay */
    struct swiftkv_end end[SWIFTKV_ENDS];
    struct dse_interval luts, op_j;      /* of a product of a DSP */
    struct dse_interval peak_ops;        /* of a chip, a second */
    struct dse_interval still_w, tree_w; /* E10: watts that neither size nor clock change, and those that go with both */
    struct dse_interval tree;            /* the latter, of a LUT and MHz */
    struct dse_interval power_w;         /* of both */
    double tree_j;                       /* the least that the latter take of a token */
};

/* The workload of an end: a chip has the least to do, or the most. */
void swiftkv_box_workload(const struct swiftkv_box *b, int end, struct swiftkv_params *p);
/* The least that the clock tree takes in a token's time of an operator: `cycles` of it are those of the arrays, which a faster
 * clock makes shorter as it draws more. */
double swiftkv_tree_joules(const struct swiftkv_box *b, double seconds, double cycles, double dsp_cycles);
/* The step and the token of an end whose p is set, of a box with a part; of the fast one also tree_j. */
void swiftkv_end_of_part(struct swiftkv_box *b, int end);

#endif
