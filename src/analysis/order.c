#include "analysis/order.h"

#include <assert.h>
#include <stdbool.h>
#include <sys/mman.h>

#include "base/xalloc.h"

enum {
    INSERTION_MAX = 24, /* shorter runs are sorted by insertion */
    DIGIT_BITS_MAX = 11,
    DIGITS_MAX = 3,
    INDEX_BITS = 31,                   /* an item is the leading bits of a key above an index */
    PREFIX_BITS_MAX = 64 - INDEX_BITS, /* = DIGITS_MAX * DIGIT_BITS_MAX */
    PAGE = 4096,
    PART_POINTS = 1024, /* points of a part, if they are spread evenly */
    PART_BITS_MAX = 10, /* = log2(ORDER_PARTS_MAX) */
    LARGE = 1 << 22,    /* bytes from which large pages pay */
};

/* The leading bits of the keys of a run, and how they are cut into digits. */
struct digits {
    uint64_t lowest; /* key of the run, taken off first */
    int shift;       /* bits below the prefix, left for later */
    int count, bits; /* digits, and bits in each */
};

void *scratch_new(size_t n, size_t size)
{
    char *p = xrealloc(NULL, n, size);
    if (n * size >= LARGE) {
        char *first = p + (PAGE - (uintptr_t)p % PAGE) % PAGE;
        madvise(first, (size_t)(p + n * size - first) / PAGE * PAGE, MADV_HUGEPAGE); /* only advice: it may fail */
    }
    return p;
}

void order_identity(uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
}

static int bit_width(uint64_t v)
{
    return v ? 64 - __builtin_clzll(v) : 0;
}

struct range {
    uint64_t lowest, highest;
};

/* The smallest and largest key of a column, read in the order of memory. */
static struct range key_range(struct order_column column, size_t n)
{
    struct range r = {UINT64_MAX, 0};
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = order_column_key(column, i);
        r.lowest = key < r.lowest ? key : r.lowest;
        r.highest = key > r.highest ? key : r.highest;
    }
    return r;
}

/* Choose the digits for n keys between two; false when these are equal. A few bits more than log2(n) leave hardly any ties among
 * keys that are spread out, and save a pass over a full prefix. */
static bool choose_digits(uint64_t lowest, uint64_t highest, size_t n, struct digits *ret)
{
    if (lowest == highest) return false;
    const int width = bit_width(highest - lowest);
    int prefix = bit_width(n) + 8;
    if (prefix > PREFIX_BITS_MAX) prefix = PREFIX_BITS_MAX;
    if (prefix > width) prefix = width;
    ret->lowest = lowest;
    ret->shift = width - prefix;
    ret->count = (prefix + DIGIT_BITS_MAX - 1) / DIGIT_BITS_MAX;
    ret->bits = (prefix + ret->count - 1) / ret->count;
    return true;
}

/* Sort by prefix, least digit first. Returns the one of a and b that holds the sorted items. */
static uint64_t *sort_prefixes(struct order_column column, const uint32_t *order, size_t n, struct digits d, uint64_t *a,
                               uint64_t *b)
{
    uint32_t start[DIGITS_MAX][1 << DIGIT_BITS_MAX];
    const size_t radix = (size_t)1 << d.bits;
    for (int pass = 0; pass < d.count; pass++) memset(start[pass], 0, radix * sizeof start[pass][0]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t prefix = (order_column_key(column, order[i]) - d.lowest) >> d.shift;
        a[i] = prefix << INDEX_BITS | order[i];
        for (int pass = 0; pass < d.count; pass++) start[pass][prefix >> (pass * d.bits) & (radix - 1)]++;
    }
    for (int pass = 0; pass < d.count; pass++) {
        uint32_t sum = 0;
        for (size_t k = 0; k < radix; k++) {
            const uint32_t count = start[pass][k];
            start[pass][k] = sum;
            sum += count;
        }
        const int low = INDEX_BITS + pass * d.bits;
        for (size_t i = 0; i < n; i++) b[start[pass][a[i] >> low & (radix - 1)]++] = a[i];
        uint64_t *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

/* Give the ranks after r to a run of equal keys, or of any sorted ones. Return the last rank given. */
static uint32_t rank_equal(const uint32_t *order, size_t n, uint32_t *rank, uint32_t r)
{
    if (!rank) return 0;
    r++;
    for (size_t i = 0; i < n; i++) rank[order[i]] = r;
    return r;
}

static uint32_t insertion_sort(struct order_column column, uint32_t *order, size_t n, uint32_t *rank, uint32_t r)
{
    uint64_t keys[INSERTION_MAX];
    for (size_t i = 0; i < n; i++) {
        const uint32_t index = order[i];
        const uint64_t key = order_column_key(column, index);
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--) {
            order[j] = order[j - 1];
            keys[j] = keys[j - 1];
        }
        order[j] = index;
        keys[j] = key;
    }
    for (size_t i = 0; rank && i < n; i++) {
        r += i == 0 || keys[i] != keys[i - 1];
        rank[order[i]] = r;
    }
    return r;
}

static uint32_t sort_run(struct order_column column, uint32_t *order, size_t n, uint64_t *a, uint64_t *b, uint32_t *rank,
                         uint32_t r);

/* a and b hold n items each. Runs of one prefix are sorted again by the bits below it; the items of such a run are not looked at
 * once its end is known, so they serve as its scratch. */
static uint32_t sort_digits(struct order_column column, uint32_t *order, size_t n, struct digits d, uint64_t *a, uint64_t *b,
                            uint32_t *rank, uint32_t r)
{
    uint64_t *items = sort_prefixes(column, order, n, d, a, b);
    uint64_t *other = items == a ? b : a;
    const uint64_t index_mask = (UINT64_C(1) << INDEX_BITS) - 1;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)(items[i] & index_mask);
    if (d.shift == 0 && !rank) return 0;
    for (size_t i = 0, end; i < n; i = end) {
        const uint64_t prefix = items[i] >> INDEX_BITS;
        for (end = i + 1; end < n && items[end] >> INDEX_BITS == prefix;) end++;
        if (end - i == 1 || d.shift == 0)
            r = rank_equal(order + i, end - i, rank, r);
        else
            r = sort_run(column, order + i, end - i, items + i, other + i, rank, r);
    }
    return r;
}

/* A level takes at least 13 bits off the keys: the recursion is at most five deep. */
static uint32_t sort_run(struct order_column column, uint32_t *order, size_t n, uint64_t *a, uint64_t *b, uint32_t *rank,
                         uint32_t r)
{
    struct digits d;
    uint64_t lowest = UINT64_MAX, highest = 0;
    if (n <= INSERTION_MAX) return insertion_sort(column, order, n, rank, r);
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = order_column_key(column, order[i]);
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
    if (!choose_digits(lowest, highest, n, &d)) return rank_equal(order, n, rank, r);
    return sort_digits(column, order, n, d, a, b, rank, r);
}

uint32_t order_sort(struct order_column column, uint32_t *order, size_t n, uint64_t *scratch, uint32_t *rank)
{
    assert(n <= ORDER_MAX);
    struct digits d;
    if (n <= INSERTION_MAX) return insertion_sort(column, order, n, rank, 0);
    const struct range r = key_range(column, n);
    if (!choose_digits(r.lowest, r.highest, n, &d)) return rank_equal(order, n, rank, 0);
    return sort_digits(column, order, n, d, scratch, scratch + n, rank, 0);
}

void order_parts_init(struct order_parts *parts, struct order_column column, size_t n)
{
    assert(n <= ORDER_MAX);
    const struct range r = n ? key_range(column, n) : (struct range){0, 0};
    const int width = bit_width(r.highest - r.lowest);
    int bits = bit_width(n / PART_POINTS | 1);
    if (bits > PART_BITS_MAX) bits = PART_BITS_MAX;
    if (bits > width) bits = width;
    parts->lowest = r.lowest;
    parts->shift = width - bits;
    parts->count = (size_t)1 << bits;
    parts->largest = 0;
    memset(parts->next, 0, sizeof parts->next);
    for (size_t i = 0; i < n; i++) parts->next[(order_column_key(column, i) - r.lowest) >> parts->shift]++;
    uint32_t sum = 0;
    for (size_t p = 0; p < parts->count; p++) {
        const uint32_t count = parts->next[p];
        parts->largest = count > parts->largest ? count : parts->largest;
        parts->start[p] = parts->next[p] = sum;
        sum += count;
    }
    parts->start[parts->count] = sum;
}
