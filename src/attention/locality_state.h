/* Inside of a LAD decoder, for locality.c, locality_run.c and tests that look at the caches. */
#ifndef DSE_ATTENTION_LOCALITY_STATE_H
#define DSE_ATTENTION_LOCALITY_STATE_H

#include "attention/locality.h"
#include "attention/locality_caches.h"
#include "attention/locality_centers.h"

#include <stdint.h>

/* Positions that a search found outside of their mode, growing, and the maximum it worked with. */
struct locality_found {
    size_t *position, n;
    double maximum;
};

struct locality {
    struct locality_options options;
    struct dse_pieces pieces;
    struct locality_centers centers;
    struct locality_caches caches;
    size_t d, n, cached; /* positions; those in the caches */
    size_t capacity;     /* of what is held per position: */
    float *k, *v;        /* d each */
    float *score;        /* by way of the centers; exact for M */
    double *exact;       /* exact scores, of those positions that this step needs */
    float *low, *high;   /* edges of the mode: low < score - maximum <= high */
    uint8_t *mode;
    uint32_t *count;        /* steps in each interval: `intervals` of them. The mode's is complete up to step `counted` only: */
    uint32_t *counted;      /* since then the position was never active */
    uint32_t *active_until; /* step after the last in which it was active */
    size_t *large_at;       /* place in `large`; meaningless outside of M */
    size_t *large, n_large; /* M */
    struct locality_found by_centers, exactly;
    struct locality_active *active;
    size_t n_active;
    double *q; /* the query over sqrt(d) */
    float *q_float;
    double *numerator;
    bool audit; /* search both ways in each step, to compare */
};

/* Steps that position i has spent in interval `interval`, complete. */
uint32_t locality_count(const struct locality *l, size_t i, size_t interval);

#endif
