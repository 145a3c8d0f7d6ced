/* exp on (-inf, 0] as straight pieces: what hardware computes softmax with. LAD's Sec. III-A: the piece that is farthest from 0
 * is 0, the others are the lines that are nearest to exp in the mean square over their interval.
 *
 * Piece i holds for edge[i - 1] < x <= edge[i]; the first reaches to -inf, and the last, whose edge is 0, is used above 0 too.
 */
#ifndef DSE_LINEAR_EXP_H
#define DSE_LINEAR_EXP_H

#include <stddef.h>
#include <stdint.h>

enum { DSE_PIECES_MAX = 16 };

struct dse_pieces {
    size_t n;
    double edge[DSE_PIECES_MAX]; /* right edges */
    double slope[DSE_PIECES_MAX], offset[DSE_PIECES_MAX];
};

/* Right edges of n pieces, 2 to DSE_PIECES_MAX, that get shorter towards 0: -10 T(k) / T(n - 1) with T(k) = k (k + 1) / 2, from k
 * = n - 1 down to 0. Five are those of LAD's Sec. II-B: -10, -6, -3, -1, 0. Pure. */
void dse_pieces_edges(double *ret, size_t n);
/* The pieces with these right edges: n of them, at least two, growing. Closed form of the least squares. Pure. */
void dse_pieces_init(struct dse_pieces *p, const double *edges, size_t n);
/* The index of the piece that x lies in. */
size_t dse_pieces_find(const struct dse_pieces *p, double x);
/* exp(x) by the pieces. */
double dse_pieces_exp(const struct dse_pieces *p, double x);
/* Mean squared error of softmax over n scores, normal with deviation sd, when exp is linear on `intervals` intervals with the edges
 * above. `intervals`: 2 to DSE_PIECES_MAX; n: at least 1; sd: above 0. Pure. */
double dse_softmax_pieces_mse(int64_t intervals, double n, double sd);

#endif
