/* One attention head of a trace: what a layer's head saw over a whole sequence. The common input of everything that measures
 * attention: locality.h (LAD), eviction.h (VEDA and its rivals), softmax_range.h (FlashDecoding++), single_pass.h (SwiftKV); made
 * by trace.h from a file and by generator.h from parameters.
 *
 * Row t is position t, 0-based. q and k are after RoPE. The score of position i at step t >= i is q_t . k_i / sqrt(d); attention
 * is causal.
 */
#ifndef DSE_WORKLOAD_HEAD_H
#define DSE_WORKLOAD_HEAD_H

#include <stdbool.h>
#include <stddef.h>

struct head {
    size_t n, d;      /* positions, head dimension */
    float *q, *k, *v; /* each n x d, row-major; owned */
};

/* Allocate q, k and v, zeroed. */
void head_init(struct head *h, size_t n, size_t d);
void head_release(struct head *h);
/* Compute the scores of positions 0..t at step t into scores[0..t]. */
void head_scores(const struct head *h, size_t t, double *scores);
/* Exact attention of step t over the positions 0..t: softmax of the scores, and (unless NULL) output[0..d). */
void head_attention(const struct head *h, size_t t, double *weights, double *output);

#endif
