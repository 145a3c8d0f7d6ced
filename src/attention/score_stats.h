/* What a head's scores do over the steps, in one pass over it: how long they stay in an interval and how far they reach. What the
 * generator is fitted by. locality.h measures the same intervals, and LAD's output with them, step by step; this is for scores
 * alone, for several lengths at once, and several times faster.
 *
 * Definitions are those of locality.h with its default options and exact scores: intervals of score - maximum, a position's mode
 * is the interval it was in most often before the step (a later one must be strictly more frequent), the newest 16 positions are
 * left out.
 */
#ifndef DSE_ATTENTION_SCORE_STATS_H
#define DSE_ATTENTION_SCORE_STATS_H

#include "attention/head.h"

/* Statistics of the first n steps of a head. */
struct score_stats {
    size_t n;
    double top1, top2; /* probability of a position's most and second most probable interval, mean over the positions */
    double adjacent;   /* share of positions whose second is next to the first, of those that were in two intervals */
    double active;     /* |J|, mean over the last SCORE_STATS_STEPS steps */
    double hit;        /* |J and J before| / |J|, mean over those of them with a J; NaN: none has one */
    double inside;     /* share of the scores in (low, high) */
    double recomputed; /* share of the steps with a score outside */
};
enum { SCORE_STATS_STEPS = 256 };

/* Measure the first ret[0].n, ret[1].n, ... steps: lengths grow, the last is at most h->n. The range is open: low < score < high.
 */
void score_stats_run(const struct head *h, double low, double high, struct score_stats *ret, size_t n_ret);

#endif
