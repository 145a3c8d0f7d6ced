/* The hypervolume against closed forms, against inclusion and exclusion, and against what must hold for any volume. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/front.h"
#include "analysis/near_tree.h"
#include "base/xalloc.h"

enum { M_MAX = 6 };
static const double ones[FRONT_OBJECTIVES_MAX] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static double uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)((*state * UINT64_C(2685821657736338717)) >> 11) * 0x1p-53;
}

static double *points_new(uint64_t seed, size_t n, int m, int levels)
{
    double *points = xmalloc(n * (size_t)m * sizeof *points);
    uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (size_t i = 0; i < n * (size_t)m; i++) points[i] = levels ? floor(uniform(&random) * levels) / levels : uniform(&random);
    return points;
}

/* Points of a sphere about (1, ..., 1): all on the front. */
static double *sphere_new(uint64_t seed, size_t n, int m)
{
    double *points = points_new(seed, n, m, 0);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, *p = points + i * (size_t)m;
        for (int j = 0; j < m; j++) sum += p[j] * p[j];
        for (int j = 0; j < m; j++) p[j] = 1 - p[j] / sqrt(sum);
    }
    return points;
}

static void assert_close(double got, double expected, double relative)
{
    if (!(fabs(got - expected) <= relative * fabs(expected))) fail_msg("got %.17g, expected %.17g", got, expected);
}

static double by_inclusion_and_exclusion(const double *points, unsigned n, int m, const double *ref)
{
    double sum = 0;
    for (unsigned set = 1; set < 1u << n; set++) {
        double box = __builtin_popcount(set) % 2 ? 1 : -1;
        for (int j = 0; j < m; j++) {
            double worst = -HUGE_VAL;
            for (unsigned i = 0; i < n; i++)
                if (set >> i & 1) worst = fmax(worst, points[i * (unsigned)m + (unsigned)j]);
            box *= fmax(ref[j] - worst, 0);
        }
        sum += box;
    }
    return sum;
}

static void hypervolume__of_no_points_is_zero(void **state)
{
    (void)state;
    for (int m = 1; m <= M_MAX; m++) assert_true(hypervolume(NULL, 0, m, ones) == 0);
}

static void hypervolume__of_a_point_is_its_box(void **state)
{
    (void)state;
    const double point[] = {0.5, 0.75, -1, 0, 0.875, -3}, ref[] = {1, 1, 3, 0.5, 1, 1};
    double expected = 1;
    for (int m = 1; m <= M_MAX; m++) {
        expected *= ref[m - 1] - point[m - 1];
        assert_close(hypervolume(point, 1, m, ref), expected, 0);
    }
}

static void hypervolume__counts_only_what_is_better_than_the_reference(void **state)
{
    (void)state;
    const double points[] = {0.5, 0.5, 0.5, 0.5, 1, 0, 0, 0, 0, 2, 0, 0, (double)NAN, 0, 0, 0, 0, 0, 0, HUGE_VAL};
    assert_close(hypervolume(points, 5, 4, ones), 0.0625, 0);
    assert_true(hypervolume(points + 4, 4, 4, ones) == 0);
}

static void hypervolume__of_an_endless_box_is_infinite(void **state)
{
    (void)state;
    const double points[] = {0.5, 0.5, 0.5, 0.5, 0.5, -HUGE_VAL, 0.5, 0.5}, far[] = {1, HUGE_VAL, 1, 1};
    for (int m = 2; m <= 4; m++) assert_true(isinf(hypervolume(points + 4, 1, m, ones)) && isinf(hypervolume(points, 1, m, far)));
    assert_close(hypervolume(points, 1, 4, ones), 0.0625, 0);
}

static void hypervolume__of_nested_boxes_is_the_outermost(void **state)
{
    (void)state;
    double points[40 * M_MAX];
    for (int m = 1; m <= M_MAX; m++) {
        for (int i = 0; i < 40; i++)
            for (int j = 0; j < m; j++) points[i * m + j] = (double)((i * 7) % 40) / 64;
        assert_close(hypervolume(points, 40, m, ones), 1, 0);
    }
}

/* All points of a grid of k cells a side whose coordinates add up to k - 1: what they dominate are the cells with a sum of at
 * least that, and the others are the simplex C(k + m - 2, m). */
static size_t simplex_points(double *points, int m, int k)
{
    int digits[M_MAX] = {0};
    size_t n = 0;
    for (int carry = 0; !carry;) {
        int sum = 0;
        for (int j = 0; j < m; j++) sum += digits[j];
        if (sum == k - 1) {
            for (int j = 0; j < m; j++) points[n * (size_t)m + (size_t)j] = digits[j];
            n++;
        }
        carry = 1;
        for (int j = 0; j < m && carry; j++) {
            digits[j] = (digits[j] + 1) % k;
            carry = digits[j] == 0;
        }
    }
    return n;
}

static void hypervolume__of_a_simplex_is_its_binomial(void **state)
{
    (void)state;
    static const int sides[] = {0, 0, 200, 30, 12, 7, 5};
    for (int m = 2; m <= M_MAX; m++) {
        const int k = sides[m];
        double ref[M_MAX], *points = xmalloc(8192 * (size_t)m * sizeof *points), below = 1;
        const size_t n = simplex_points(points, m, k);
        for (int j = 0; j < m; j++) {
            ref[j] = k;
            below = below * (k + j - 1) / (j + 1);
        }
        assert_close(hypervolume(points, n, m, ref), pow(k, m) - below, 1e-13);
        free(points);
    }
}

static void hypervolume__agrees_with_inclusion_and_exclusion(void **state)
{
    (void)state;
    for (int m = 1; m <= M_MAX; m++)
        for (unsigned n = 1; n <= 11; n += n < 8 ? 1 : 3)
            for (int levels = 0; levels <= 6; levels += 3)
                for (uint64_t seed = 1; seed <= 12; seed++) {
                    double *points = levels == 0 && seed > 6 ? sphere_new(seed, n, m) : points_new(seed * 100 + n, n, m, levels);
                    assert_close(hypervolume(points, n, m, ones), by_inclusion_and_exclusion(points, n, m, ones), 1e-12);
                    free(points);
                }
}

/* A further objective in which all points are equal multiplies the volume: so m objectives check m + 1. */
static void hypervolume__of_a_prism_is_base_times_height(void **state)
{
    (void)state;
    for (int m = 1; m <= 5; m++)
        for (int side = 0; side <= m; side++) {
            const size_t n = m < 5 ? 800 : 200;
            double *points = m > 1 ? sphere_new(3, n, m) : points_new(3, n, m, 0);
            double *prism = xmalloc(n * (size_t)(m + 1) * sizeof *prism);
            for (size_t i = 0; i < n; i++)
                for (int j = 0, k = 0; j <= m; j++)
                    prism[i * (size_t)(m + 1) + (size_t)j] = j == side ? 0.25 : points[i * (size_t)m + (size_t)k++];
            assert_close(hypervolume(prism, n, m + 1, ones), 0.75 * hypervolume(points, n, m, ones), 1e-12);
            free(prism);
            free(points);
        }
}

static void hypervolume__grows_with_every_point_by_at_most_its_box(void **state)
{
    (void)state;
    for (int m = 1; m <= M_MAX; m++)
        for (int levels = 0; levels <= 10; levels += 10) {
            double *points = points_new(21, 120, m, levels), before = 0;
            for (size_t n = 1; n <= 120; n++) {
                const double after = hypervolume(points, n, m, ones);
                double box = 1;
                for (int j = 0; j < m; j++) box *= 1 - points[(n - 1) * (size_t)m + (size_t)j];
                assert_true(after >= before * (1 - 1e-14) && after <= (before + box) * (1 + 1e-14));
                before = after;
            }
            free(points);
        }
}

static void hypervolume__does_not_count_dominated_or_equal_points(void **state)
{
    (void)state;
    enum { N = 300 };
    for (int m = 2; m <= M_MAX; m++) {
        double *points = sphere_new(4, N, m), *more = xmalloc(3 * N * (size_t)m * sizeof *more);
        for (size_t i = 0; i < N * (size_t)m; i++) {
            more[i] = points[i] + 0.01;
            more[N * (size_t)m + i] = points[i];
            more[2 * N * (size_t)m + i] = points[i];
        }
        assert_close(hypervolume(more, 3 * N, m, ones), hypervolume(points, N, m, ones), 1e-12);
        free(more);
        free(points);
    }
}

static void hypervolume__does_not_depend_on_any_order(void **state)
{
    (void)state;
    enum { N = 400 };
    for (int m = 2; m <= 5; m++)
        for (int levels = 0; levels <= 8; levels += 8) {
            double *points = levels ? points_new(5, N, m, levels) : sphere_new(5, N, m),
                   *turned = xmalloc(N * (size_t)m * sizeof *turned);
            const double expected = hypervolume(points, N, m, ones);
            for (int turn = 0; turn < m; turn++) {
                for (size_t i = 0; i < N; i++)
                    for (int j = 0; j < m; j++)
                        turned[(N - 1 - i) * (size_t)m + (size_t)((j + turn) % m)] = points[i * (size_t)m + (size_t)j];
                assert_close(hypervolume(turned, N, m, ones), expected, 1e-12);
            }
            free(turned);
            free(points);
        }
}

/* Two sets in opposite corners of [0, 2]^m: the second, in [1, 2]^m, is dominated by the corner (1, ..., 1); what is left is a sum.
 */
static void hypervolume__of_parts_that_meet_only_below_a_corner_adds_up(void **state)
{
    (void)state;
    enum { N = 200 };
    for (int m = 2; m <= 5; m++) {
        double *points = sphere_new(6, 2 * N + 1, m), two[M_MAX];
        const size_t half = N * (size_t)m;
        for (int j = 0; j < m; j++) two[j] = 2;
        for (size_t i = 0; i < half; i++)
            points[i] = i % (size_t)m == 0 ? points[i] : points[i] + 1; /* reach out along objective 0, */
        for (size_t i = half; i < 2 * half; i++)
            points[i] = i % (size_t)m == 1 ? points[i] : points[i] + 1;         /* and along objective 1 */
        for (size_t i = 2 * half; i < 2 * half + (size_t)m; i++) points[i] = 1; /* the corner that both share */
        const double corner = hypervolume(points + 2 * half, 1, m, two);
        double first = 0, second = 0;
        double *part = xmalloc((half + (size_t)m) * sizeof *part);
        memcpy(part, points, half * sizeof *part);
        memcpy(part + half, points + 2 * half, (size_t)m * sizeof *part);
        first = hypervolume(part, N + 1, m, two) - corner;
        memcpy(part, points + half, half * sizeof *part);
        second = hypervolume(part, N + 1, m, two) - corner;
        assert_true(first > 0 && second > 0);
        assert_close(hypervolume(points, 2 * N + 1, m, two), corner + first + second, 1e-12);
        free(part);
        free(points);
    }
}

static void hypervolume__lies_where_random_shots_say(void **state)
{
    (void)state;
    enum { SHOTS = 20000, N = 150 };
    for (int m = 2; m <= 5; m++) {
        double *points = points_new(8, N, m, 0);
        uint64_t random = 1234;
        int hits = 0;
        for (int shot = 0; shot < SHOTS; shot++) {
            double at[M_MAX];
            bool hit = false;
            for (int j = 0; j < m; j++) at[j] = uniform(&random);
            for (size_t i = 0; i < N && !hit; i++) {
                hit = true;
                for (int j = 0; j < m; j++) hit &= points[i * (size_t)m + (size_t)j] <= at[j];
            }
            hits += hit;
        }
        const double share = (double)hits / SHOTS, deviation = sqrt(share * (1 - share) / SHOTS);
        assert_true(fabs(hypervolume(points, N, m, ones) - share) < 5 * deviation);
        free(points);
    }
}

/* The ball is the limit of many points on its surface: the volume of 1/2^m of it, from below. */
static void hypervolume__of_a_dense_sphere_nears_the_ball(void **state)
{
    (void)state;
    const double ball[] = {0, 0, M_PI / 4, M_PI / 6, M_PI * M_PI / 32};
    const double within[] = {0, 0, 1e-3, 0.05, 0.2};
    for (int m = 2; m <= 4; m++) {
        double *points = sphere_new(9, 4000, m);
        const double v = hypervolume(points, 4000, m, ones);
        assert_true(v < ball[m] && v > ball[m] * (1 - within[m]));
        free(points);
    }
}

/* The tree of near points against a scan of all members. With few points its words are not used, with many in many objectives
 * they do not hold whole ranks. */
static void check_find(const struct near_tree *t, const double *points, size_t n, int k, size_t point, const uint8_t *member,
                       struct neighbours *near)
{
    const double *p = points + point * (size_t)k;
    double box[FRONT_OBJECTIVES_MAX];
    bool covered = false;
    size_t inside = 0, found = 0;
    memcpy(box, ones, sizeof box);
    for (size_t i = 0; i < n; i++) {
        int worse = 0, which = 0;
        for (int j = 0; j < k; j++)
            if (points[i * (size_t)k + (size_t)j] > p[j]) worse++, which = j;
        if (!member[i] || worse > 1) continue;
        covered |= worse == 0;
        if (worse == 1) box[which] = fmin(box[which], points[i * (size_t)k + (size_t)which]);
    }
    near_tree_find(t, points, (size_t)k, point, ones, near);
    assert_int_equal(near->covered, covered);
    if (covered) return;
    assert_memory_equal(near->box, box, (size_t)k * sizeof *box);
    for (size_t i = 0; i < n; i++) {
        bool is_inside = member[i];
        for (int j = 0; j < k; j++) is_inside &= points[i * (size_t)k + (size_t)j] < box[j];
        inside += is_inside;
    }
    for (size_t f = 0; f < near->n; f++) {
        assert_true(member[near->points[f]]);
        bool is_inside = true;
        for (int j = 0; j < k; j++) is_inside &= points[near->points[f] * (size_t)k + (size_t)j] < box[j];
        found += is_inside;
    }
    assert_int_equal(found, inside);
}

static void near_tree__finds_what_a_scan_finds(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 20, 33, 500, 3000};
    struct near_tree t = {0};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int k = 3; k <= 9; k += 2)
            for (int levels = 0; levels <= 20; levels += 20) {
                const size_t n = sizes[s];
                double *points = levels ? points_new(31, n, k, levels) : sphere_new(31, n, k);
                uint8_t *member = xcalloc(n, 1);
                uint32_t *found = xmalloc(n * sizeof *found);
                struct neighbours near = {.points = found};
                uint64_t random = 17;
                near_tree_reset(&t, points, n, (size_t)k, k);
                for (int step = 0; step < 600; step++) {
                    const size_t i = (size_t)(uniform(&random) * (double)n);
                    if (member[i]) {
                        near_tree_remove(&t, i);
                        member[i] = 0;
                    }
                    check_find(&t, points, n, k, i, member, &near);
                    if (uniform(&random) < 0.7) {
                        near_tree_insert(&t, i);
                        member[i] = 1;
                    }
                }
                free(found);
                free(member);
                free(points);
            }
    near_tree_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_tree__finds_what_a_scan_finds),
        cmocka_unit_test(hypervolume__of_no_points_is_zero),
        cmocka_unit_test(hypervolume__of_a_point_is_its_box),
        cmocka_unit_test(hypervolume__counts_only_what_is_better_than_the_reference),
        cmocka_unit_test(hypervolume__of_an_endless_box_is_infinite),
        cmocka_unit_test(hypervolume__of_nested_boxes_is_the_outermost),
        cmocka_unit_test(hypervolume__of_a_simplex_is_its_binomial),
        cmocka_unit_test(hypervolume__agrees_with_inclusion_and_exclusion),
        cmocka_unit_test(hypervolume__of_a_prism_is_base_times_height),
        cmocka_unit_test(hypervolume__grows_with_every_point_by_at_most_its_box),
        cmocka_unit_test(hypervolume__does_not_count_dominated_or_equal_points),
        cmocka_unit_test(hypervolume__does_not_depend_on_any_order),
        cmocka_unit_test(hypervolume__of_parts_that_meet_only_below_a_corner_adds_up),
        cmocka_unit_test(hypervolume__lies_where_random_shots_say),
        cmocka_unit_test(hypervolume__of_a_dense_sphere_nears_the_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
