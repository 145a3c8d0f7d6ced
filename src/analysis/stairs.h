/* A set of small numbers that answers "which member is next?", as bits in words and a bit a word above: the slots of a staircase.
 *
 *     level 2   [...............1]                       one bit for each word of level 1 that is not empty
 *     level 1   [1.1...][......]...                      one bit for each word of level 0 that is not empty
 *     level 0   [1..11.][......][..1...]...              one bit a number
 *
 * Every verb costs one step a level, log64 of the largest number, and mostly stays in level 0. The caller keeps a member at each
 * end, so a neighbour always exists.
 */
#ifndef DSE_ANALYSIS_STAIRS_H
#define DSE_ANALYSIS_STAIRS_H

#include <stddef.h>
#include <stdint.h>

enum { STAIRS_LEVELS_MAX = 6 }; /* numbers below 2^36 */

struct stairs {
    uint64_t *words; /* all levels */
    uint64_t *level[STAIRS_LEVELS_MAX];
    int levels;
    size_t capacity;
};

/* Make an empty set for numbers below `capacity`. */
void stairs_init(struct stairs *s, size_t capacity);
void stairs_release(struct stairs *s);
/* Empty the set, which from now on holds numbers below n (at most the capacity). Cost: n / 64. */
void stairs_reset(struct stairs *s, size_t n);

static inline void stairs_insert(struct stairs *s, size_t i)
{
    for (int k = 0; k < s->levels; k++, i >>= 6) {
        const uint64_t before = s->level[k][i >> 6];
        s->level[k][i >> 6] = before | UINT64_C(1) << (i & 63);
        if (before) return;
    }
}

static inline void stairs_remove(struct stairs *s, size_t i)
{
    for (int k = 0; k < s->levels; k++, i >>= 6) {
        const uint64_t after = s->level[k][i >> 6] & ~(UINT64_C(1) << (i & 63));
        s->level[k][i >> 6] = after;
        if (after) return;
    }
}

/* The largest member that is at most i. */
static inline size_t stairs_at_or_before(const struct stairs *s, size_t i)
{
    uint64_t word = s->level[0][i >> 6] & UINT64_MAX >> (63 - (i & 63));
    int k = 0;
    while (!word) {
        i >>= 6;
        k++;
        word = s->level[k][i >> 6] & ((UINT64_C(1) << (i & 63)) - 1);
    }
    for (;; k--) {
        i = (i & ~(size_t)63) | (size_t)(63 - __builtin_clzll(word));
        if (k == 0) return i;
        word = s->level[k - 1][i];
        i <<= 6;
    }
}

/* The smallest member above i. */
static inline size_t stairs_after(const struct stairs *s, size_t i)
{
    uint64_t word = s->level[0][i >> 6] & ~UINT64_C(1) << (i & 63);
    int k = 0;
    while (!word) {
        i >>= 6;
        k++;
        word = s->level[k][i >> 6] & ~UINT64_C(1) << (i & 63);
    }
    for (;; k--) {
        i = (i & ~(size_t)63) | (size_t)__builtin_ctzll(word);
        if (k == 0) return i;
        word = s->level[k - 1][i];
        i <<= 6;
    }
}

#endif
