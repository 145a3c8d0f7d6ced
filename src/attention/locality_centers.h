/* Directional centers among keys: Algorithm 1 of LAD, one key a step. A key whose direction is that of an earlier center (|cos|
 * above a threshold) is stood for by that center times dnorm; any other becomes a center. On a tie the oldest center wins. A key
 * of zeros has no direction: it becomes a center that stands for no other.
 *
 * The scores of the centers are dot products in float, which the pass over the centers yields beside the cosines. Everything else
 * about a score that decides a result is done in double elsewhere.
 */
#ifndef DSE_ATTENTION_LOCALITY_CENTERS_H
#define DSE_ATTENTION_LOCALITY_CENTERS_H

#include <stddef.h>
#include <stdint.h>

struct locality_centers {
    size_t d, n;         /* elements of a key; centers */
    size_t positions;    /* keys taken */
    double collinear;    /* threshold of |cos| */
    size_t capacity;     /* of all arrays */
    uint32_t *position;  /* of a center */
    float *inverse_norm; /* of a center's key; 0 for a key of zeros */
    float *score;        /* of a center, with the query of the newest step */
    uint32_t *cid;       /* of a position: which center */
    float *dnorm;        /* of a position: its score is dnorm times the center's */
};

void locality_centers_init(struct locality_centers *c, size_t d, double collinear);
void locality_centers_release(struct locality_centers *c);
/* Take the next key, the last of keys[0..positions], and score all centers with q. */
void locality_centers_step(struct locality_centers *c, const float *keys, const float *q);

#endif
