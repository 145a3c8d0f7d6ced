/* Orders, ranks and parts of columns; the set of stairs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/order.h"
#include "analysis/stairs.h"
#include "base/xalloc.h"
#include "front_points.h"

static void order__sorts_any_keys_stably(void **state)
{
    (void)state;
    enum { N = 30000 };
    uint64_t *keys = xmalloc(N * sizeof *keys), *scratch = xmalloc(2 * N * sizeof *scratch), random = 9;
    uint32_t *order = xmalloc(N * sizeof *order);
    for (int bits = 0; bits <= 64; bits += 4)
        for (size_t n = 1; n <= N; n = n * 3 + 1) {
            for (size_t i = 0; i < n; i++) {
                const uint64_t r = next_random(&random);
                keys[i] = bits ? r >> (64 - bits) : 42;
                if (bits > 32 && r % 3) keys[i] = keys[i] & 0xff0000ff; /* long runs of one prefix */
            }
            order_identity(order, n);
            order_sort((struct order_column){.keys = keys}, order, n, scratch, NULL);
            for (size_t i = 1; i < n; i++) {
                const uint64_t a = keys[order[i - 1]], b = keys[order[i]];
                assert_true(a < b || (a == b && order[i - 1] < order[i]));
            }
        }
    free(order);
    free(scratch);
    free(keys);
}

static void order__keys_order_as_the_numbers_do(void **state)
{
    (void)state;
    static const double rising[] = {-HUGE_VAL, -1.7e308, -1, -2.3e-308, -5e-324, 0, 5e-324, 2.3e-308, 1, 1.7e308, HUGE_VAL};
    for (size_t i = 1; i < sizeof rising / sizeof *rising; i++) assert_true(order_key(rising[i - 1]) < order_key(rising[i]));
    assert_int_equal(order_key(-0.0), order_key(0.0));
}

static void order__ranks_are_dense(void **state)
{
    (void)state;
    const uint64_t keys[] = {7, 3, 7, 900, 3};
    const uint32_t expected[] = {2, 1, 2, 3, 1};
    uint32_t order[5], rank[5];
    uint64_t scratch[10];
    order_identity(order, 5);
    assert_int_equal(order_sort((struct order_column){.keys = keys}, order, 5, scratch, rank), 3);
    assert_memory_equal(rank, expected, sizeof rank);
}

static void order__parts_are_cut_in_order(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 1000, 5000, 100000};
    static const double ends[] = {-HUGE_VAL, HUGE_VAL};
    uint64_t random = 21;
    struct order_parts parts;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int levels = 1; levels <= 1000000; levels *= 1000) {
            const size_t n = sizes[s];
            double *values = xmalloc(n * sizeof *values), *placed = xmalloc(n * sizeof *placed), most = -HUGE_VAL;
            for (size_t i = 0; i < n; i++) values[i] = floor(levels * uniform(&random));
            for (size_t i = 0; levels > 1 && n > 1 && i < 2; i++) values[i] = ends[i];
            order_parts_init(&parts, (struct order_column){.values = values, .stride = 1}, n);
            for (size_t i = 0; i < n; i++) placed[order_parts_place(&parts, order_key(values[i]))] = values[i];
            assert_int_equal(parts.start[parts.count], n);
            for (size_t p = 0; p < parts.count; p++) {
                double next = most;
                assert_int_equal(parts.next[p], parts.start[p + 1]); /* filled */
                assert_true(parts.start[p + 1] - parts.start[p] <= parts.largest);
                for (size_t i = parts.start[p]; i < parts.start[p + 1]; i++) {
                    assert_true(placed[i] >= most);
                    next = fmax(next, placed[i]);
                }
                most = next;
            }
            free(placed);
            free(values);
        }
}

static void stairs__finds_neighbours_as_a_scan_does(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 64, 65, 4096, 4097, 20000};
    uint64_t random = 3;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k];
        uint8_t *member = xcalloc(n, 1);
        struct stairs s;
        stairs_init(&s, n);
        member[0] = member[n - 1] = 1;
        stairs_insert(&s, 0);
        stairs_insert(&s, n - 1);
        for (int step = 0; step < 3000; step++) {
            const size_t i = next_random(&random) % n;
            size_t before = i, after = i + 1;
            while (!member[before]) before--;
            assert_int_equal(stairs_at_or_before(&s, i), before);
            while (after < n && !member[after]) after++;
            if (after < n) assert_int_equal(stairs_after(&s, i), after);
            if (i == 0 || i == n - 1) continue;
            member[i] = step % 400 < 200;
            if (member[i])
                stairs_insert(&s, i);
            else
                stairs_remove(&s, i);
        }
        stairs_release(&s);
        free(member);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order__sorts_any_keys_stably),
        cmocka_unit_test(order__keys_order_as_the_numbers_do),
        cmocka_unit_test(order__ranks_are_dense),
        cmocka_unit_test(order__parts_are_cut_in_order),
        cmocka_unit_test(stairs__finds_neighbours_as_a_scan_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
