/* Diagnostics: how they print, and that there is an end to them. */
#include "complaints.h"

#include "base/xalloc.h"

#include <stdlib.h>

static __attribute__((noinline)) char *printed(const struct diags *d)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    diags_print(d, f, false);
    fclose(f);
    return text;
}

static void expect_print(struct diags *d, const char *want)
{
    char *got = printed(d);
    assert_string_equal(got, want);
    free(got);
    diags_release(d);
}

static void diag__prints_place_line_caret_and_hint(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    assert_false(diags_input(&d, (struct srcloc){"a.toml", 2, 5}, "one\n\tb = 0\n", "b: 1 to 9", "b: %d is too small", 0));
    expect_print(&d, "a.toml:2:5: error: b: 0 is too small\n    2 | \tb = 0\n      | \t   ^\n  b: 1 to 9\n");
    diags_runtime(&d, NULL, "the disk is full");
    assert_int_equal(diags_exit_status(&d), 1);
    expect_print(&d, "dse: error: the disk is full\n");
}

static void diag__columns_count_characters(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    diags_input(&d, (struct srcloc){"a", 1, 5}, "\xc3\xa4\xe2\x82\xac = x", NULL, "no");
    expect_print(&d, "a:1:5: error: no\n    1 | \xc3\xa4\xe2\x82\xac = x\n      |     ^\n");
    diags_input(&d, (struct srcloc){"a", 1, 900}, "short", NULL, "behind the end");
    expect_print(&d, "a:1:900: error: behind the end\n    1 | short\n      |      ^\n");
}

static void diag__shows_a_window_of_a_long_line(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    char line[1001];
    memset(line, 'x', 1000);
    line[500] = '!';
    line[1000] = '\0';
    diags_input(&d, (struct srcloc){"a", 1, 501}, line, NULL, "no");
    char *got = printed(&d);
    const char *bang = strchr(got, '!'), *caret = strchr(got, '^');
    assert_true(strlen(got) < 400);
    assert_non_null(bang);
    const char *second = strchr(strchr(got, '\n') + 1, '\n') + 1;
    assert_int_equal(bang - (strchr(got, '\n') + 1), caret - second);
    free(got);
    diags_release(&d);
}

static void diag__keeps_little_of_a_very_long_line(void **state)
{
    (void)state;
    enum { N = 100000 };
    char *line = xmalloc(2 * N + 1);
    for (size_t i = 0; i < N; i++) memcpy(line + 2 * i, i == N - 1000 ? "!!" : "\xc3\xa4", 2);
    line[2 * N] = '\0';
    struct diags d;
    diags_init(&d);
    diags_input(&d, (struct srcloc){"a", 1, N - 1000 + 1}, line, NULL, "no");
    assert_true(strlen(d.list[0].source) < 2000);
    assert_int_equal(d.list[0].column, N - 1000 + 1);
    const char *s = d.list[0].source;
    for (int i = 1; i < d.list[0].source_column; i++) s += 2;
    assert_int_equal(*s, '!');
    diags_release(&d);
    free(line);
}

static void diag__shows_no_control_characters(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    diags_input(&d, (struct srcloc){"a", 1, 1}, "\033[2Jx\xff", "h\a", "bad \033[31m word");
    expect_print(&d, "a:1:1: error: bad ?[31m word\n    1 | ?[2Jx?\n      | ^\n  h?\n");
}

static void diag__prints_the_complaints_of_a_file_by_their_places(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    diags_input(&d, (struct srcloc){"b", 9, 1}, NULL, NULL, "nine");
    diags_input(&d, (struct srcloc){"a", 2, 7}, NULL, NULL, "two seven");
    diags_warn(&d, (struct srcloc){"b", 3, 5}, NULL, "three five");
    diags_input(&d, (struct srcloc){"b", 3, 5}, NULL, "of the second", "again");
    diags_runtime(&d, NULL, "no file");
    diags_input(&d, (struct srcloc){"b", 3, 2}, NULL, NULL, "three two");
    diags_input(&d, (struct srcloc){"a", 2, 6}, NULL, NULL, "two six");
    diags_input(&d, (struct srcloc){"b", 0, 0}, NULL, NULL, "all of it");
    expect_print(&d, "b: error: all of it\nb:3:2: error: three two\nb:3:5: warning: three five\nb:3:5: error: again\n"
                     "  of the second\nb:9:1: error: nine\na:2:6: error: two six\na:2:7: error: two seven\ndse: error: no file\n");
}

static void diag__shows_no_control_characters_of_a_file_name(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    diags_input(&d, (struct srcloc){"a\033[2J", 1, 1}, NULL, NULL, "bad");
    expect_print(&d, "a?[2J:1:1: error: bad\n");
}

static void diag__counts_what_it_does_not_keep(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    for (int i = 0; i < 1000; i++) diags_warn(&d, (struct srcloc){0}, NULL, "careful");
    for (int i = 0; i < 1000; i++) diags_input(&d, (struct srcloc){0}, NULL, NULL, "wrong");
    assert_int_equal(d.errors, 1000);
    assert_true(d.n <= DIAGS_MAX);
    assert_int_equal(diags_exit_status(&d), 2);
    char *got = printed(&d);
    const char *last = strstr(got, "dse: and 950 errors more\n");
    assert_non_null(last);
    free(got);
    diags_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diag__prints_place_line_caret_and_hint),
        cmocka_unit_test(diag__columns_count_characters),
        cmocka_unit_test(diag__shows_a_window_of_a_long_line),
        cmocka_unit_test(diag__keeps_little_of_a_very_long_line),
        cmocka_unit_test(diag__shows_no_control_characters),
        cmocka_unit_test(diag__shows_no_control_characters_of_a_file_name),
        cmocka_unit_test(diag__prints_the_complaints_of_a_file_by_their_places),
        cmocka_unit_test(diag__counts_what_it_does_not_keep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
