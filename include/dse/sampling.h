/* What an event-level run simulates of a step: a model whose layers, heads and positions are alike need not simulate each of them.
 * A model embeds the parameters beside struct dse_events:
 *     DSE_EMBED(struct veda_params, sampling, struct dse_sampling, dse_sampling_params)
 */
#ifndef DSE_SAMPLING_H
#define DSE_SAMPLING_H

#include <dse/desc.h>
#include <stddef.h>
#include <stdint.h>

struct dse_sampling {
    int64_t positions_simulated;
    int64_t rows_simulated;
    double stream_mib;
};
extern const struct dse_param dse_sampling_params[];

enum { DSE_POSITIONS_MAX = 8, DSE_LENGTHS_MAX = 2 * DSE_POSITIONS_MAX + 4 };

/* Whole numbers of from .. to, and weights that make the weighted sum of a function over them its mean over all of from .. to:
 * exact for polynomials of degree below their count, by Gauss's nodes rounded to whole numbers. `want` of them at most; all, at
 * equal weights, where there are no more. Returns how many. Requires from <= to and 0 < want <= DSE_POSITIONS_MAX. Cost: of the
 * order of (to - from) times their count squared. */
size_t dse_positions(int64_t from, int64_t to, int64_t want, int64_t node[DSE_POSITIONS_MAX], double weight[DSE_POSITIONS_MAX]);

/* Lengths of the cache that are simulated, and their weights in a mean. */
struct dse_length {
    int64_t positions;
    double weight;
};
struct dse_lengths {
    size_t n;
    struct dse_length at[DSE_LENGTHS_MAX];
};
/* Add what stands for the mean over from .. to, with `weight` altogether. Short lengths, in which pipelines do not fill, have
 * nodes of their own. What is longer than `longest` is extended along the straight line through longest and an eighth of it. At
 * most two calls for one list. */
void dse_lengths_add(struct dse_lengths *l, int64_t from, int64_t to, int64_t want, int64_t longest, double weight);
/* The longest length that may be simulated when at least `heads` heads of it must not take more than `rows` keys and values. With
 * 0 rows any length may. */
int64_t dse_longest(int64_t rows, int64_t heads);

/* The pace of what goes on evenly: entry i of `n` > 1 says that `amount[i]` was done by `s[i]` seconds; both grow. Seconds for an
 * amount of 1, over whole periods where there is one; period_s 0: over all. */
double dse_pace(const double *s, const double *amount, size_t n, double period_s);
/* How exact that is, from its own parts. The standard error of the amount in a second, over that: of the spread of whole periods.
 * Infinite with fewer than two of them. */
double dse_pace_error(const double *s, const double *amount, size_t n, double period_s);

#endif
