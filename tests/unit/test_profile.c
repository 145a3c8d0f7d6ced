/* Attention profiles: exact on their points, without overshoot between them, and refused when they are no profile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dse_config.h"
#include "rows.h"
#include "quality/profile.h"

#include <stdio.h>

enum { POINTS_MAX = 256 };

struct points {
    size_t n;
    double context[POINTS_MAX];
    struct dse_locality at[POINTS_MAX];
};

static void read_points(struct points *p, const char *name)
{
    char *path = xasprintf("%s/catalog/profiles/%s.csv", DSE_SOURCE_DATA, name);
    struct rows r;
    rows_read_csv(&r, path);
    assert_true(r.n <= POINTS_MAX);
    for (size_t i = 0; i < r.n; i++) {
        p->context[i] = rows_number(&r, i, "context");
        p->at[i] = (struct dse_locality){.centers = rows_number(&r, i, "centers"),
                                         .large = rows_number(&r, i, "large"),
                                         .active = rows_number(&r, i, "active"),
                                         .updates = rows_number(&r, i, "updates"),
                                         .hit_ratio = rows_number(&r, i, "hit_ratio")};
    }
    p->n = r.n;
    rows_release(&r);
    free(path);
}

static struct dse_profile *make(const struct points *p)
{
    struct row_fault fault = {0};
    struct dse_profile *profile = profile_new("test", "points of the test", p->context, p->at, p->n, &fault);
    if (!profile) {
        print_error("%s\n", fault.why);
        free(fault.why);
        abort();
    }
    return profile;
}

static const char *const shipped[] = {"published-fit", "codellama-13b", "tinyllama-1.1b"};
enum { SHIPPED = sizeof shipped / sizeof *shipped };

static const double *column(const struct dse_locality *l, int c)
{
    const double *const all[] = {&l->centers, &l->large, &l->active, &l->updates, &l->hit_ratio};
    return all[c];
}

static void profile__is_exact_on_its_points(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHIPPED; k++) {
        struct points p;
        read_points(&p, shipped[k]);
        struct dse_profile *profile = make(&p);
        double lo, hi;
        dse_profile_range(profile, &lo, &hi);
        assert_true(lo == p.context[0] && hi == p.context[p.n - 1]);
        for (size_t i = 0; i < p.n; i++) {
            struct dse_locality l = dse_profile_at(profile, p.context[i]);
            for (int c = 0; c < 5; c++)
                assert_true(fabs(*column(&l, c) - *column(&p.at[i], c)) <= 1e-14 * fabs(*column(&p.at[i], c)));
        }
        profile_free(profile);
    }
}

static void profile__stays_between_neighbouring_points(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHIPPED; k++) {
        struct points p;
        read_points(&p, shipped[k]);
        struct dse_profile *profile = make(&p);
        for (size_t i = 0; i + 1 < p.n; i++)
            for (int c = 0; c < 5; c++) {
                double a = *column(&p.at[i], c), b = *column(&p.at[i + 1], c), before = a;
                for (int step = 0; step <= 20; step++) {
                    struct dse_locality l =
                        dse_profile_at(profile, p.context[i] + (p.context[i + 1] - p.context[i]) * (double)step / 20);
                    double y = *column(&l, c), slack = 1e-12 * (1 + fabs(y));
                    assert_true(a <= b ? y >= before - slack && y <= b + slack : y <= before + slack && y >= b - slack);
                    before = y;
                }
            }
        profile_free(profile);
    }
}

static void profile__counts_fit_in_the_context(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHIPPED; k++) {
        struct points p;
        read_points(&p, shipped[k]);
        struct dse_profile *profile = make(&p);
        double lo, hi;
        dse_profile_range(profile, &lo, &hi);
        for (double n = lo; n <= hi; n *= 1.01) {
            struct dse_locality l = dse_profile_at(profile, n);
            assert_true(l.active >= 16 && l.active <= n);
            assert_true(l.centers <= n && l.large <= n);
            assert_true(l.updates >= 1 && l.updates <= l.active); /* one position leaves the newest 16 in every step */
            assert_true(l.hit_ratio > 0 && l.hit_ratio < 1);
        }
        profile_free(profile);
    }
}

static void published_fit__is_the_fitted_law_everywhere(void **state)
{
    (void)state;
    struct points p;
    read_points(&p, "published-fit");
    assert_true(p.context[0] == 128 && p.context[p.n - 1] == 131072);
    struct dse_profile *profile = make(&p);
    double worst = 0;
    for (double n = 128; n <= 131072; n += 17) {
        struct dse_locality l = dse_profile_at(profile, n);
        double active = 0.24 * 512 * pow(n / 512, 0.554) + 16, centers = 32 * sqrt(n / 512);
        worst = fmax(worst, fabs(l.active / active - 1));
        worst = fmax(worst, fabs(l.centers / centers - 1));
        worst = fmax(worst, fabs(l.large / centers - 1));
        assert_true(l.updates == 2 && l.hit_ratio == 0.85);
    }
    print_message("published-fit: interpolation error at most %.2g\n", worst);
    assert_true(worst < 1e-4);
    profile_free(profile);
}

/* 139, 196, 281 and 405 active positions at 512, 1024, 2048 and 4096. */
static void published_fit__has_a_falling_share_of_active_positions(void **state)
{
    (void)state;
    struct points p;
    read_points(&p, "published-fit");
    struct dse_profile *profile = make(&p);
    static const double want[][2] = {{512, 139}, {1024, 196}, {2048, 281}, {4096, 405}};
    double share = 1;
    for (size_t i = 0; i < 4; i++) {
        struct dse_locality l = dse_profile_at(profile, want[i][0]);
        assert_true(round(l.active) == want[i][1]);
        assert_true(l.active / want[i][0] < share);
        share = l.active / want[i][0];
    }
    profile_free(profile);
}

static char *refusal(const double *context, const struct dse_locality *points, size_t n)
{
    struct row_fault fault = {0};
    assert_null(profile_new("bad", "test", context, points, n, &fault));
    assert_non_null(fault.why);
    if (fault.row != ROW_NONE) assert_int_equal(strncmp(fault.why, fault.column, strlen(fault.column)), 0);
    return row_fault_text(&fault);
}

static void profile__refuses_what_is_no_profile(void **state)
{
    (void)state;
    const struct dse_locality good = {10, 10, 20, 1, 0.5};
    double nan_ = (double)NAN;
    const struct {
        double context[4];
        struct dse_locality third;
        size_t n;
        const char *why;
    } bad[] = {
        {{128, 256}, good, 2, "2 points; a profile needs at least 3"},
        {{0}, good, 0, "0 points; a profile needs at least 3"},
        {{128, 256, 256}, good, 3, "row 3: context 256 does not grow (the point before has 256)"},
        {{-1, 256, 512}, good, 3, "row 1: context -1 is not a positive number"},
        {{128, 256, nan_}, good, 3, "row 3: context nan is not a positive number"},
        {{128, 256, 512}, {10, 10, 600, 1, 0.5}, 3, "row 3: active 600 is outside of 0 to 512 (its context)"},
        {{128, 256, 512}, {10, 10, 20, 1, 1.5}, 3, "row 3: hit_ratio 1.5 is outside of 0 to 1"},
        {{128, 256, 512}, {-1, 10, 20, 1, 0.5}, 3, "row 3: centers -1 is outside of 0 to 512 (its context)"},
        {{128, 256, 512}, {1, nan_, 20, 1, 0.5}, 3, "row 3: large nan is outside of 0 to 512 (its context)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dse_locality points[4] = {good, good, bad[i].third, good};
        char *why = refusal(bad[i].context, points, bad[i].n);
        assert_string_equal(why, bad[i].why);
        free(why);
    }
}

static void profile__starts_with_its_entry(void **state)
{
    (void)state;
    struct points p;
    read_points(&p, "tinyllama-1.1b");
    struct dse_profile *profile = make(&p);
    const void *same = profile;
    const struct dse_entry *entry = same;
    assert_string_equal(entry->name, "test");
    assert_string_equal(entry->source, "points of the test");
    profile_free(profile);
    profile_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile__is_exact_on_its_points),
        cmocka_unit_test(profile__stays_between_neighbouring_points),
        cmocka_unit_test(profile__counts_fit_in_the_context),
        cmocka_unit_test(published_fit__is_the_fitted_law_everywhere),
        cmocka_unit_test(published_fit__has_a_falling_share_of_active_positions),
        cmocka_unit_test(profile__refuses_what_is_no_profile),
        cmocka_unit_test(profile__starts_with_its_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
