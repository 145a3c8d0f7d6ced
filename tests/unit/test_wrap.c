/* base/wrap.h */
#include "base/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_wraps(const char *s, size_t width, size_t used, size_t indent, const char *breaks, const char *expected)
{
    struct text t;
    text_init(&t);
    wrap_add(&t, s, width, used, indent, breaks);
    assert_string_equal(t.s, expected);
    text_release(&t);
}

static void wrap__words_stay_whole(void **state)
{
    (void)state;
    assert_wraps("one two three", 80, 0, 0, NULL, "one two three");
    assert_wraps("one two three", 7, 0, 0, NULL, "one two\nthree");
    assert_wraps("one two three", 6, 0, 2, NULL, "one\n  two\n  thre\n  e");
    assert_wraps("  part of it", 8, 0, 0, NULL, "  part\nof it");
    assert_wraps("one\ntwo\t three\n", 80, 0, 0, NULL, "one two three");
    assert_wraps("one two", 7, 5, 2, NULL, "\n  one\n  two");
    assert_wraps("", 7, 0, 0, NULL, "");
}

static void wrap__a_word_without_room_is_cut(void **state)
{
    (void)state;
    assert_wraps("abcdefgh", 3, 0, 0, NULL, "abc\ndef\ngh");
    assert_wraps("ab cdefgh", 4, 0, 1, NULL, "ab\n cde\n fgh");
    assert_wraps("abc", 1, 0, 5, NULL, "a\nb\nc");
}

static void wrap__names_may_end_behind_an_underscore(void **state)
{
    (void)state;
    assert_wraps("dram_pj_per_bit", 8, 0, 0, "_", "dram_pj_\nper_bit");
    assert_wraps("energy_mj a token", 9, 0, 0, "_", "energy_mj\na token");
    assert_int_equal(wrap_longest("dram_pj_per_bit", "_"), 5);
    assert_int_equal(wrap_longest("dram_pj_per_bit", NULL), 15);
}

static void wrap__characters_count_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(wrap_width("µs é"), 4);
    assert_int_equal(wrap_width("\xff\xfe"), 2);
    assert_int_equal(wrap_bytes("éé", 1), 2);
    assert_int_equal(wrap_bytes("ab", 9), 2);
    assert_wraps("éé éé", 2, 0, 0, NULL, "éé\néé");
}

static void wrap__no_line_is_longer_than_the_width(void **state)
{
    (void)state;
    const char *s = "  a text of several words_with_underscores and oneverylongwordthatfitsnowhere at the end";
    for (size_t width = 1; width < 100; width++)
        for (size_t indent = 0; indent < 8; indent++) {
            struct text t;
            text_init(&t);
            wrap_add(&t, s, width, 0, indent, indent % 2 ? "_" : NULL);
            for (char *rest, *line = strtok_r(t.s, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
                if (wrap_width(line) > width) fail_msg("width %zu, indent %zu: \"%s\"", width, indent, line);
            text_release(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrap__words_stay_whole),
        cmocka_unit_test(wrap__a_word_without_room_is_cut),
        cmocka_unit_test(wrap__names_may_end_behind_an_underscore),
        cmocka_unit_test(wrap__characters_count_not_bytes),
        cmocka_unit_test(wrap__no_line_is_longer_than_the_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
