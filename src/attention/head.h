/* One attention head of a trace: what a layer's head saw over a whole sequence. The common input of everything that measures
 * attention: locality.h (LAD), eviction.h (VEDA and its rivals), softmax_range.h (FlashDecoding++), single_pass.h (SwiftKV); made
 * by trace.h from a file and by generator.h from parameters.
 *
 * Row t is position t, 0-based. q and k are after RoPE. The score of position i at step t >= i is q_t . k_i / sqrt(d); attention
 * is causal.
 */
#ifndef DSE_ATTENTION_HEAD_H
#define DSE_ATTENTION_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Heads of a long context may have q of some steps alone (struct trace_info): what follows every step refuses those (head_whole),
 * the rest goes over the steps with head_query.
 */
struct head {
    size_t n, d;          /* positions, head dimension */
    float *q, *k, *v;     /* each n x d, row-major; owned. With steps, q is n_steps x d */
    size_t layer;         /* of the model, from 0; 0 where there is none */
    size_t group;         /* heads of a layer with the same number have the same k and v: queries are grouped */
    size_t n_steps;       /* with steps: how many */
    const int32_t *steps; /* positions that have q, growing; of the trace. NULL: all of 0..n-1 */
};

/* Allocate q, k and v, zeroed. */
void head_init(struct head *h, size_t n, size_t d);
/* The same with q of n_steps steps alone, which must outlive the head; NULL: of all. */
void head_init_sampled(struct head *h, size_t n, size_t d, const int32_t *steps, size_t n_steps);
void head_release(struct head *h);
/* Does it have q of every step? */
bool head_whole(const struct head *h);
/* q of step t: d values; NULL when the head has none of it. */
const float *head_query(const struct head *h, size_t t);
/* Compute the scores of positions 0..t at step t, which has q, into scores[0..t]. */
void head_scores(const struct head *h, size_t t, double *scores);
/* Exact attention of step t over the positions 0..t: softmax of the scores, and (unless NULL) output[0..d). */
void head_attention(const struct head *h, size_t t, double *weights, double *output);

#endif
