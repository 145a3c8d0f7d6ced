/* base/text.h */
#include "base/file.h"
#include "base/text.h"

#include "base/diag.h"
#include "base/xalloc.h"

#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void text__grows_and_hands_over(void **state)
{
    (void)state;
    struct text t;
    text_init(&t);
    assert_string_equal(t.s, "");
    for (int i = 0; i < 1000; i++) text_addf(&t, "%d,", i);
    assert_int_equal(t.n, strlen(t.s));
    char *s = text_detach(&t);
    assert_string_equal(t.s, "");
    assert_true(strstr(s, ",998,999,") != NULL);
    free(s);
    s = text_detach(&t);
    assert_string_equal(s, "");
    free(s);
}

static void text__nearest_name_is_what_was_meant(void **state)
{
    (void)state;
    static const char *const names[] = {"bandwidth_gbs", "batch", "context", "tiles", "sram_mib"};
    assert_string_equal(text_nearest("bandwith_gbs", names, 5), "bandwidth_gbs");
    assert_string_equal(text_nearest("contxet", names, 5), "context");
    assert_string_equal(text_nearest("Tiles", names, 5), "tiles");
    assert_null(text_nearest("voltage", names, 5));
    assert_null(text_nearest("x", names, 0));
    char longest[500];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(text_nearest(longest, names, 5));
}

static void text__numbers_read_back_as_the_same_double(void **state)
{
    (void)state;
    const double values[] = {0, 0.1, 1.0 / 3, 1e300, -1e-300, 4096, 0.87, M_PI, 1536e9, 5e-324, 123456789012345678.0};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char buf[TEXT_NUMBER_MAX];
        double back;
        assert_true(text_parse_f64(text_number(buf, values[i]), &back));
        assert_true(back == values[i]);
    }
    char buf[TEXT_NUMBER_MAX];
    assert_string_equal(text_number(buf, 0.1), "0.1");
    assert_string_equal(text_number(buf, 4096), "4096");
    assert_string_equal(text_number(buf, (double)NAN), "nan");
    assert_string_equal(text_count(buf, 1234567), "1,234,567");
    assert_string_equal(text_count(buf, 12), "12");
    assert_string_equal(text_about_count(buf, 1234567), "1,234,567");
    assert_string_equal(text_about_count(buf, -1), "-1"); /* what a query asks for is anything */
    assert_string_equal(text_about_count(buf, (double)INFINITY), "inf");
    assert_string_equal(text_about_count(buf, (double)NAN), "nan");
    assert_string_equal(text_count(buf, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void text__numbers_do_not_depend_on_the_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) skip();
    char buf[TEXT_NUMBER_MAX];
    double v;
    assert_string_equal(text_number(buf, 0.5), "0.5");
    assert_true(text_parse_f64("0.25", &v) && v == 0.25);
    assert_false(text_parse_f64("0,25", &v));
    setlocale(LC_ALL, "C");
}

static void text__only_whole_numbers_parse(void **state)
{
    (void)state;
    double v;
    int64_t i;
    assert_true(text_parse_f64("1e3", &v) && v == 1000);
    assert_false(text_parse_f64("", &v));
    assert_false(text_parse_f64(" 1", &v));
    assert_false(text_parse_f64("1x", &v));
    assert_true(text_parse_i64("-12", &i) && i == -12);
    assert_false(text_parse_i64("1.5", &i));
    assert_false(text_parse_i64("99999999999999999999", &i));
    assert_false(text_parse_i64("", &i));
}

static void text__short_decimals_are_what_strtod_makes_of_them(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const unsigned long long whole = (seed >> 14) >> (seed % 47);
        char digits[24], text[26];
        const int n = snprintf(digits, sizeof digits, "%llu", whole), behind = (int)(seed >> 33) % (n + 1);
        snprintf(text, sizeof text, "%.*s.%s", n - behind, digits, digits + n - behind);
        double v;
        assert_true(text_parse_f64(text, &v));
        assert_true(v == strtod(text, NULL));
    }
    double v;
    assert_false(text_parse_f64(".", &v));
    assert_false(text_parse_f64("1.2.3", &v));
    assert_true(text_parse_f64("0.123456789012345678", &v) && v == 0.123456789012345678);
}

static void text__files_that_cannot_be_read_are_errors(void **state)
{
    (void)state;
    char path[] = "/tmp/dse_test_XXXXXX";
    int fd = mkstemp(path);
    assert_true(write(fd, "hello\n", 6) == 6);
    close(fd);
    struct diags d;
    diags_init(&d);
    char *s = NULL;
    size_t n;
    assert_true(text_read_file(path, 100, &s, &n, &d));
    assert_int_equal(n, 6);
    assert_string_equal(s, "hello\n");
    free(s);
    assert_false(text_read_file(path, 3, &s, &n, &d));
    assert_false(text_read_file("/tmp", 100, &s, &n, &d));
    assert_false(text_read_file("/nonexistent/x", 100, &s, &n, &d));
    assert_int_equal(d.errors, 3);
    assert_int_equal(diags_exit_status(&d), 2);
    diags_release(&d);
    unlink(path);
}

static void diag__shows_place_line_caret_and_hint(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    const char *source = "[params]\ntiles = [2, 0, 4]\n";
    assert_false(diags_input(&d, (struct srcloc){"a.toml", 2, 13}, source, "1 to 64", "tiles: %d is below the minimum 1", 0));
    diags_warn(&d, (struct srcloc){"a.toml", 1, 1}, source, "odd");
    diags_runtime(&d, "x.db", "disk full");
    assert_int_equal(d.errors, 2);
    assert_int_equal(diags_exit_status(&d), 2);
    char *printed = NULL;
    size_t n;
    FILE *f = open_memstream(&printed, &n);
    diags_print(&d, f, false);
    fclose(f);
    assert_string_equal(printed, "a.toml:1:1: warning: odd\n"
                                 "    1 | [params]\n"
                                 "      | ^\n"
                                 "a.toml:2:13: error: tiles: 0 is below the minimum 1\n"
                                 "    2 | tiles = [2, 0, 4]\n"
                                 "      |             ^\n"
                                 "  1 to 64\n"
                                 "x.db: error: disk full\n");
    free(printed);
    diags_release(&d);
}

static void diag__run_time_errors_alone_give_status_one(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    assert_int_equal(diags_exit_status(&d), 0);
    diags_warn(&d, (struct srcloc){0}, NULL, "w");
    assert_int_equal(diags_exit_status(&d), 0);
    diags_runtime(&d, NULL, "r");
    assert_int_equal(diags_exit_status(&d), 1);
    diags_release(&d);
}

static void diag__a_line_of_any_length_is_cut_around_its_column(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    char *source = xmalloc(100001);
    memset(source, 'a', 100000);
    source[100000] = '\0';
    diags_input(&d, (struct srcloc){"a.toml", 1, 90000}, source, NULL, "m");
    diags_input(&d, (struct srcloc){"a.toml", 1, 2000000000}, source, NULL, "m");
    char *printed = NULL;
    size_t n;
    FILE *f = open_memstream(&printed, &n);
    diags_print(&d, f, false);
    fclose(f);
    assert_true(n < 1000);
    free(printed);
    free(source);
    diags_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text__grows_and_hands_over),
        cmocka_unit_test(text__nearest_name_is_what_was_meant),
        cmocka_unit_test(text__numbers_read_back_as_the_same_double),
        cmocka_unit_test(text__numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(text__only_whole_numbers_parse),
        cmocka_unit_test(text__short_decimals_are_what_strtod_makes_of_them),
        cmocka_unit_test(text__files_that_cannot_be_read_are_errors),
        cmocka_unit_test(diag__shows_place_line_caret_and_hint),
        cmocka_unit_test(diag__run_time_errors_alone_give_status_one),
        cmocka_unit_test(diag__a_line_of_any_length_is_cut_around_its_column),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
