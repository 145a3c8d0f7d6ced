/* The pieces of exp for the scores that a head has. */
#include "attention/locality.h"

#include "base/xalloc.h"

#include <gsl/gsl_fit.h>

#include <math.h>
#include <stdlib.h>

enum { BINS = 128 }; /* of an interval */

/* Scores in one bin of one interval: how many, and their sums. */
struct bins {
    double n[BINS], x[BINS], e[BINS];
};

static void collect(const struct head *h, const struct dse_pieces *p, struct bins *bins)
{
    double *score = xcalloc(h->n, sizeof *score);
    for (size_t t = 0; t < h->n; t++) {
        head_scores(h, t, score);
        double max = score[0];
        for (size_t i = 1; i <= t; i++) max = score[i] > max ? score[i] : max;
        for (size_t i = 0; i <= t; i++) {
            double x = score[i] - max;
            size_t piece = dse_pieces_find(p, x);
            if (piece == 0) continue;
            double from = p->edge[piece - 1], share = (x - from) / (p->edge[piece] - from);
            size_t bin = share < 1 ? (size_t)(share * BINS) : BINS - 1;
            bins[piece].n[bin] += 1;
            bins[piece].x[bin] += x;
            bins[piece].e[bin] += exp(x);
        }
    }
    free(score);
}

/* A line needs scores at two places; else it stays as it is. */
static void fit_line(struct bins *b, double *slope, double *offset)
{
    size_t places = 0;
    for (size_t i = 0; i < BINS; i++) {
        places += b->n[i] > 0;
        if (b->n[i] > 0) {
            b->x[i] /= b->n[i];
            b->e[i] /= b->n[i];
        }
    }
    double c00, c01, c11, rest;
    if (places >= 2) gsl_fit_wlinear(b->x, 1, b->n, 1, b->e, 1, BINS, offset, slope, &c00, &c01, &c11, &rest);
}

bool locality_fit(const struct head *h, const struct locality_options *o, struct dse_pieces *ret, struct diags *diags)
{
    if (!locality_check(h->d, o, diags) || !locality_check_head(h, 0, diags)) return false;
    dse_pieces_init(ret, o->edges, o->intervals);
    struct bins *bins = xcalloc(ret->n, sizeof *bins);
    collect(h, ret, bins);
    for (size_t i = 1; i < ret->n; i++) fit_line(&bins[i], &ret->slope[i], &ret->offset[i]);
    free(bins);
    return true;
}
