#include "analysis/near_tree.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/order.h"
#include "base/xalloc.h"

enum {
    PILE = 4 * NEAR_FAN, /* so few points need no order and no ranks */
    CURVE_BITS_MAX = 8,  /* of an objective, on the curve */
    ALL = (1 << NEAR_FAN) - 1,
};

static size_t words_needed(size_t n)
{
    size_t words = 0;
    do {
        n = (n + NEAR_FAN - 1) / NEAR_FAN;
        words += n * NEAR_FAN;
    } while (n > 1);
    return words;
}

static void reserve(struct near_tree *t, size_t n)
{
    if (n <= t->capacity) return;
    t->capacity = n + n / 2;
    t->words = xrealloc(t->words, words_needed(t->capacity), sizeof *t->words);
    t->point_word = xrealloc(t->point_word, t->capacity, sizeof *t->point_word);
    t->place = xrealloc(t->place, t->capacity, sizeof *t->place);
    t->point = xrealloc(t->point, t->capacity, sizeof *t->point);
    t->keys = xrealloc(t->keys, t->capacity, sizeof *t->keys);
    t->scratch = xrealloc(t->scratch, 2 * t->capacity, sizeof *t->scratch);
}

void near_tree_release(struct near_tree *t)
{
    free(t->scratch);
    free(t->keys);
    free(t->point);
    free(t->place);
    free(t->point_word);
    free(t->words);
}

/* Take rank / ranks into the words and the curve. */
static void add_objective(struct near_tree *t, int j, const uint32_t *rank, uint32_t ranks, int curve_bits)
{
    const double field_cells = (double)((UINT64_C(1) << (t->field_bits - 1)) - 1); /* the last one is for empty places */
    const double curve_scale = (double)(1 << curve_bits) / ranks, field_scale = field_cells / ranks;
    const bool whole = ranks <= field_cells;
    t->exact &= whole;
    for (size_t i = 0; i < t->n; i++) {
        const uint64_t field = whole ? rank[i] - 1 : (uint64_t)((rank[i] - 1) * field_scale);
        const uint64_t curve = (uint64_t)((rank[i] - 1) * curve_scale);
        t->point_word[i] |= field << (j * t->field_bits);
        for (int b = 0; b < curve_bits; b++) t->keys[i] |= (curve >> b & 1) << (b * t->k + j);
    }
}

/* Words and places of all points. */
static void assign_places(struct near_tree *t, const double *points, size_t stride)
{
    const int curve_bits = 63 / t->k < CURVE_BITS_MAX ? 63 / t->k : CURVE_BITS_MAX;
    uint32_t *rank = t->place;
    memset(t->point_word, 0, t->n * sizeof *t->point_word);
    t->exact = t->n > PILE;
    order_identity(t->place, t->n);
    order_identity(t->point, t->n);
    if (t->n <= PILE) return;
    memset(t->keys, 0, t->n * sizeof *t->keys);
    for (int j = 0; j < t->k; j++) {
        order_identity(t->point, t->n);
        const struct order_column column = {.values = points + j, .stride = stride};
        add_objective(t, j, rank, order_sort(column, t->point, t->n, t->scratch, rank), curve_bits);
    }
    order_identity(t->point, t->n);
    order_sort((struct order_column){.keys = t->keys}, t->point, t->n, t->scratch, NULL);
    for (size_t i = 0; i < t->n; i++) t->place[t->point[i]] = (uint32_t)i;
}

void near_tree_reset(struct near_tree *t, const double *points, size_t n, size_t stride, int k)
{
    reserve(t, n);
    t->n = n;
    t->k = k;
    t->field_bits = 63 / k;
    t->guards = 0;
    for (int j = 1; j <= k; j++) t->guards |= UINT64_C(1) << (j * t->field_bits - 1);
    t->empty = t->guards - (t->guards >> (t->field_bits - 1));
    assign_places(t, points, stride);
    uint64_t *next = t->words;
    t->levels = 0;
    do {
        n = (n + NEAR_FAN - 1) / NEAR_FAN;
        t->level[t->levels++] = next;
        next += n * NEAR_FAN;
    } while (n > 1);
    for (uint64_t *word = t->words; word < next; word++) *word = t->empty;
}

/* The smaller value in each field of two words. */
static inline uint64_t least(const struct near_tree *t, uint64_t a, uint64_t b)
{
    const uint64_t no_less = ((a | t->guards) - b) & t->guards, fields = no_less - (no_less >> (t->field_bits - 1));
    return (b & fields) | (a & ~fields);
}

void near_tree_insert(struct near_tree *t, size_t point)
{
    size_t place = t->place[point];
    for (int l = 0; l < t->levels; l++, place /= NEAR_FAN) {
        const uint64_t word = least(t, t->level[l][place], t->point_word[point]);
        if (word == t->level[l][place] && l > 0) return;
        t->level[l][place] = word;
    }
}

void near_tree_remove(struct near_tree *t, size_t point)
{
    size_t place = t->place[point];
    t->level[0][place] = t->empty;
    for (int l = 1; l < t->levels; l++) {
        const uint64_t *block = t->level[l - 1] + place / NEAR_FAN * NEAR_FAN;
        uint64_t word = t->empty;
        for (int c = 0; c < NEAR_FAN; c++) word = least(t, word, block[c]);
        place /= NEAR_FAN;
        if (word == t->level[l][place]) return;
        t->level[l][place] = word;
    }
}

/* A member as a neighbour of p. k is a constant where it matters. */
static inline __attribute__((always_inline)) void meet(const struct near_tree *t, int k, const double *p, const double *q,
                                                       size_t member, struct neighbours *near)
{
    int worse = 0, which = 0;
    for (int j = 0; j < k; j++) {
        if (q[j] >= near->box[j]) return;
        const bool is_worse = q[j] > p[j];
        worse += is_worse;
        which = is_worse ? j : which;
    }
    if (worse == 0) {
        near->covered = true;
    } else if (worse == 1) { /* a wall: its rank is not the first, since p has a lower one */
        const int low = which * t->field_bits;
        const uint64_t field = ((UINT64_C(1) << (t->field_bits - 1)) - 1) << low;
        near->box[which] = q[which];
        near->box_word = (near->box_word & ~field) | ((t->point_word[member] & field) - ((uint64_t)t->exact << low));
    } else {
        near->points[near->n++] = (uint32_t)member;
    }
}

/* The places of a block that may be inside the box, a bit a place. */
static inline unsigned block_inside(const struct near_tree *t, const uint64_t *block, uint64_t box_word)
{
    unsigned inside = 0;
    for (int c = 0; c < NEAR_FAN; c++) inside |= (unsigned)(((box_word - block[c]) & t->guards) == t->guards) << c;
    return inside;
}

struct find {
    const struct near_tree *t;
    const double *points, *p;
    size_t stride;
};

/* All members under the places of a block that `inside` has a bit for. */
static inline __attribute__((always_inline)) void find_below(const struct find *f, int k, int level, size_t block, unsigned inside,
                                                             struct neighbours *near)
{
    struct {
        int level;
        uint32_t block;
    } stack[NEAR_LEVELS_MAX * NEAR_FAN];
    const struct near_tree *t = f->t;
    for (size_t depth = 0;;) {
        inside &= block_inside(t, t->level[level] + block * NEAR_FAN, near->box_word);
        for (; inside; inside &= inside - 1) {
            const size_t place = block * NEAR_FAN + (size_t)__builtin_ctz(inside);
            if (level == 0) {
                meet(t, k, f->p, f->points + t->point[place] * f->stride, t->point[place], near);
            } else {
                stack[depth].level = level - 1;
                stack[depth++].block = (uint32_t)place;
            }
        }
        if (depth == 0 || near->covered) return;
        depth--;
        level = stack[depth].level;
        block = stack[depth].block;
        inside = ALL;
    }
}

/* From the place of the point upwards: what stands beside it, then beside its block, and so on: the nearest first. */
static inline __attribute__((always_inline)) void find_all(const struct find *f, int k, size_t place, struct neighbours *near)
{
    for (int l = 0; l < f->t->levels && !near->covered; l++, place /= NEAR_FAN)
        find_below(f, k, l, place / NEAR_FAN, ALL & ~(1u << place % NEAR_FAN), near);
}

void near_tree_find(const struct near_tree *t, const double *points, size_t stride, size_t point, const double *ref,
                    struct neighbours *near)
{
    const struct find f = {.t = t, .points = points, .p = points + point * stride, .stride = stride};
    memcpy(near->box, ref, (size_t)t->k * sizeof *ref);
    near->box_word = (t->empty - (t->guards >> (t->field_bits - 1))) | t->guards;
    near->n = 0;
    near->covered = false;
    if (t->k == 3)
        find_all(&f, 3, t->place[point], near);
    else
        find_all(&f, t->k, t->place[point], near);
}
