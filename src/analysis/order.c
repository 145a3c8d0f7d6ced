#include "analysis/order.h"

#include <assert.h>
#include <stdbool.h>

enum {
    INSERTION_MAX = 24, /* shorter runs are sorted by insertion */
    DIGIT_BITS_MAX = 11,
    DIGITS_MAX = 3,
    INDEX_BITS = 31,                  /* an item is the leading bits of a key above an index */
    PREFIX_BITS_MAX = 64 - INDEX_BITS /* = DIGITS_MAX * DIGIT_BITS_MAX */
};

/* How the leading bits of the keys of a run are cut into digits. */
struct digits {
    uint64_t lowest; /* key of the run, taken off before the cut */
    int shift;       /* bits below the prefix, left for later */
    int count, bits; /* digits, and bits in each */
};

void order_identity(uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)i;
}

static void insertion_sort(const uint64_t *keys, uint32_t *order, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const uint32_t index = order[i];
        const uint64_t key = keys[index];
        size_t j = i;
        for (; j > 0 && keys[order[j - 1]] > key; j--) order[j] = order[j - 1];
        order[j] = index;
    }
}

static int bit_width(uint64_t v)
{
    return v ? 64 - __builtin_clzll(v) : 0;
}

/* Choose the digits for a run of n keys; false when all keys are equal. A few bits more than log2(n) leave hardly any ties among keys that
 * are spread out, and save a pass over a full prefix. */
static bool choose_digits(const uint64_t *keys, const uint32_t *order, size_t n, struct digits *ret)
{
    uint64_t lowest = UINT64_MAX, highest = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = keys[order[i]];
        lowest = key < lowest ? key : lowest;
        highest = key > highest ? key : highest;
    }
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
static uint64_t *sort_prefixes(const uint64_t *keys, const uint32_t *order, size_t n, struct digits d, uint64_t *a, uint64_t *b)
{
    uint32_t start[DIGITS_MAX][1 << DIGIT_BITS_MAX];
    const size_t radix = (size_t)1 << d.bits;
    for (int pass = 0; pass < d.count; pass++) memset(start[pass], 0, radix * sizeof start[pass][0]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t prefix = (keys[order[i]] - d.lowest) >> d.shift;
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

/* a and b hold n items each. Runs of one prefix are sorted again by the bits below it; the items of such a run are not looked at once its end is
 * known, so they serve as its scratch. A level takes off at least 13 bits: the recursion is at most five deep. */
static void sort_run(const uint64_t *keys, uint32_t *order, size_t n, uint64_t *a, uint64_t *b)
{
    struct digits d;
    if (n <= INSERTION_MAX) {
        insertion_sort(keys, order, n);
        return;
    }
    if (!choose_digits(keys, order, n, &d)) return;
    uint64_t *items = sort_prefixes(keys, order, n, d, a, b);
    uint64_t *other = items == a ? b : a;
    const uint64_t index_mask = (UINT64_C(1) << INDEX_BITS) - 1;
    for (size_t i = 0; i < n; i++) order[i] = (uint32_t)(items[i] & index_mask);
    if (d.shift == 0) return;
    for (size_t i = 0, end; i < n; i = end) {
        const uint64_t prefix = items[i] >> INDEX_BITS;
        for (end = i + 1; end < n && items[end] >> INDEX_BITS == prefix;) end++;
        if (end - i > 1) sort_run(keys, order + i, end - i, items + i, other + i);
    }
}

void order_sort(const uint64_t *keys, uint32_t *order, size_t n, uint64_t *scratch)
{
    assert(n <= ORDER_MAX);
    sort_run(keys, order, n, scratch, scratch + n);
}

uint32_t order_rank(const uint64_t *keys, const uint32_t *order, size_t n, uint32_t *rank)
{
    uint32_t r = 0;
    for (size_t i = 0; i < n; i++) {
        r += i == 0 || keys[order[i]] != keys[order[i - 1]];
        rank[order[i]] = r;
    }
    return r;
}
