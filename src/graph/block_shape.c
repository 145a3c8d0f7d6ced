/* Shapes of a block, and tables of them that last. */
#include "graph/block.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- blocks ------------------------------------------------------------------------------------------------------------------ */

void block_init(struct block *b)
{
    b->n = b->n_axes = b->n_shapes = b->capacity = b->last_n = 0;
    b->is_lasting = b->is_spread_known = false;
    b->serial = b->n_changed = 0;
    b->shapes = NULL;
    b->last = NULL;
}

void block_release(struct block *b)
{
    for (int i = 0; i < b->capacity; i++) free(b->shapes[i]);
    free(b->shapes);
    free(b->last);
    block_init(b);
}

/* Which axes stand otherwise than in the last block? */
static void compare(struct block *b)
{
    if (!b->last) b->last = xcalloc(BLOCK_AXES_MAX, sizeof *b->last);
    const size_t size = (size_t)b->n * sizeof **b->last;
    const bool other = b->n != b->last_n;
    if (other) b->n_changed = b->serial;
    for (int a = 0; a < b->n_axes; a++) {
        if (!other && memcmp(b->last[a], b->at[a], size) == 0) continue;
        memcpy(b->last[a], b->at[a], size);
        b->changed[a] = b->serial;
    }
    b->last_n = b->n;
}

bool block_is_unchanged(const struct block *b, uint32_t axes, uint64_t serial)
{
    if (!b->is_lasting || serial == 0 || b->n_changed > serial) return false;
    for (int a = 0; a < b->n_axes; a++)
        if (axes >> a & 1 && b->changed[a] > serial) return false;
    return true;
}

/* Shapes of axes that stand as they did stay. */
static void keep_shapes(struct block *b)
{
    int kept = 0;
    for (int i = 0; i < b->n_shapes; i++) {
        struct block_shape *s = b->shapes[i];
        if (!block_is_unchanged(b, s->axes, b->serial - 1)) continue;
        b->shapes[i] = b->shapes[kept];
        b->shapes[kept++] = s;
    }
    b->n_shapes = kept;
}

void block_begin(struct block *b)
{
    b->serial++;
    b->is_spread_known = false;
    if (!b->is_lasting) {
        b->n_shapes = 0;
        return;
    }
    compare(b);
    keep_shapes(b);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------------------ */

enum { COUNTED = 4096 }; /* keys that have a table */

/* Number the keys, which are below `all`, in the order of the points: `of` each, and the first that has each. Returns how many
 * there are. */
static int number_counted(const int64_t *key, int n, int64_t all, uint16_t *of, uint16_t *first)
{
    int16_t table[COUNTED];
    int ret = 0;
    memset(table, 0xff, (size_t)all * sizeof *table);
    for (int i = 0; i < n; i++) {
        if (table[key[i]] < 0) {
            first[ret] = (uint16_t)i;
            table[key[i]] = (int16_t)ret++;
        }
        of[i] = (uint16_t)table[key[i]];
    }
    return ret;
}

/* The same of any keys. */
static int number_hashed(const int64_t *key, int n, uint16_t *of, uint16_t *first)
{
    enum { SLOTS = 2 * BLOCK_POINTS_MAX };
    int16_t table[SLOTS];
    int ret = 0;
    memset(table, 0xff, sizeof table);
    for (int i = 0; i < n; i++) {
        size_t slot = (uint64_t)key[i] * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (SLOTS - 1);
        while (table[slot] >= 0 && key[first[table[slot]]] != key[i]) slot = (slot + 1) & (SLOTS - 1);
        if (table[slot] < 0) {
            first[ret] = (uint16_t)i;
            table[slot] = (int16_t)ret++;
        }
        of[i] = (uint16_t)table[slot];
    }
    return ret;
}

void block_number(struct block *b, int axis, const int64_t *keys)
{
    uint16_t of[BLOCK_POINTS_MAX], first[BLOCK_POINTS_MAX];
    b->size[axis] = number_hashed(keys, b->n, of, first);
    for (int i = 0; i < b->n; i++) b->at[axis][i] = of[i];
    b->is_spread_known = false;
}

/* Over how many values the points lie on an axis, at most. */
static int32_t spread_of(const int32_t *at, int n)
{
    int32_t least = at[0], most = at[0];
    for (int i = 1; i < n; i++) {
        least = at[i] < least ? at[i] : least;
        most = at[i] > most ? at[i] : most;
    }
    return most - least + 1;
}

uint32_t block_varying(struct block *b)
{
    if (b->is_spread_known) return b->varying;
    b->varying = 0;
    for (int a = 0; a < b->n_axes; a++) {
        b->spread[a] = spread_of(b->at[a], b->n);
        if (b->spread[a] > 1) b->varying |= 1u << a;
    }
    b->is_spread_known = true;
    return b->varying;
}

/* Do hardly any two points agree in these axes? Then each is for itself, which is found without counting. */
static bool is_apart(struct block *b, uint32_t axes)
{
    int64_t most = 1;
    if (!b->is_lasting) return false;
    block_varying(b);
    for (int a = 0; a < b->n_axes && most < b->n; a++)
        if (axes >> a & 1) most *= b->spread[a];
    return most >= b->n;
}

/* The shape of the most of these axes, and of no others, that was asked for before this one; or NULL. */
static const struct block_shape *part_of(const struct block *b, const struct block_shape *s)
{
    const struct block_shape *ret = NULL;
    for (int i = 0; i < b->n_shapes && b->shapes[i] != s; i++) {
        const uint32_t axes = b->shapes[i]->axes;
        if ((axes & ~s->axes) == 0 && (!ret || __builtin_popcount(axes) > __builtin_popcount(ret->axes))) ret = b->shapes[i];
    }
    return ret;
}

/* Combinations are found by a number that counts them through, from those of a shape that is known. Where there are too many of
 * these, those of the axes so far that are there are numbered anew. */
static void fill(const struct block *b, struct block_shape *s)
{
    const int64_t most = b->n < COUNTED / 16 ? 16 * b->n : COUNTED;
    const struct block_shape *part = part_of(b, s);
    int64_t key[BLOCK_POINTS_MAX] = {0}, all = part ? part->n : 1;
    for (int i = 0; i < b->n && part; i++) key[i] = part->of_point[i];
    for (int a = 0; a < b->n_axes; a++) {
        if (!((s->axes & ~(part ? part->axes : 0)) >> a & 1)) continue;
        if (all > most) {
            all = number_hashed(key, b->n, s->of_point, s->point_of);
            for (int i = 0; i < b->n; i++) key[i] = s->of_point[i];
        }
        all *= b->size[a];
        for (int i = 0; i < b->n; i++) key[i] = key[i] * b->size[a] + b->at[a][i];
    }
    s->n =
        all > most ? number_hashed(key, b->n, s->of_point, s->point_of) : number_counted(key, b->n, all, s->of_point, s->point_of);
}

static struct block_shape *add_shape(struct block *b, uint32_t axes)
{
    if (b->n_shapes == b->capacity) {
        b->shapes = xrealloc(b->shapes, (size_t)b->capacity + 1, sizeof *b->shapes);
        b->shapes[b->capacity++] = xcalloc(1, sizeof **b->shapes);
    }
    struct block_shape *s = b->shapes[b->n_shapes++];
    s->axes = axes;
    return s;
}

const struct block_shape *block_shape(struct block *b, uint32_t axes)
{
    const bool apart = is_apart(b, axes);
    if (apart) axes = block_varying(b);
    for (int i = 0; i < b->n_shapes; i++)
        if (b->shapes[i]->axes == axes) return b->shapes[i];
    struct block_shape *s = add_shape(b, axes);
    s->stamp = b->serial;
    if (!apart) {
        fill(b, s);
        return s;
    }
    s->n = b->n;
    s->stamp = UINT64_MAX - (uint64_t)b->n;
    for (int i = 0; i < b->n; i++) s->of_point[i] = s->point_of[i] = (uint16_t)i;
    return s;
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------ */

struct block_table *block_table_new(const struct block *b, uint32_t axes)
{
    int64_t all = 1;
    if (!b->is_lasting) return NULL;
    for (int a = 0; a < b->n_axes && all <= BLOCK_TABLE_MAX; a++)
        if (axes >> a & 1) all *= b->size[a];
    if (all > BLOCK_TABLE_MAX) return NULL;
    struct block_table *t = xcalloc(1, sizeof *t);
    t->shape.axes = axes;
    t->size = (int)all;
    t->of_key = xmalloc((size_t)all * sizeof *t->of_key);
    memset(t->of_key, 0xff, (size_t)all * sizeof *t->of_key);
    return t;
}

void block_table_free(struct block_table *t)
{
    if (!t) return;
    free(t->of_key);
    free(t);
}

const struct block_shape *block_table_shape(struct block_table *t, const struct block *b)
{
    struct block_shape *s = &t->shape;
    int32_t key[BLOCK_POINTS_MAX];
    s->from = s->n;
    if (t->block == b && block_is_unchanged(b, s->axes, t->serial)) return s;
    memset(key, 0, (size_t)b->n * sizeof *key);
    for (int a = 0; a < b->n_axes; a++)
        for (int i = 0; i < b->n && s->axes >> a & 1; i++) key[i] = key[i] * b->size[a] + b->at[a][i];
    for (int i = 0; i < b->n; i++) {
        int16_t *of = &t->of_key[key[i]];
        if (*of < 0) {
            s->point_of[s->n - s->from] = (uint16_t)i;
            *of = (int16_t)s->n++;
        }
        s->of_point[i] = (uint16_t)*of;
    }
    t->block = b;
    t->serial = b->serial;
    s->stamp++;
    return s;
}
