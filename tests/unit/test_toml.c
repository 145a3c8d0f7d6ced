/* The TOML reader: every node has its place, and nothing a file holds can bring the program down. */
#include "complaints.h"

#include "base/xalloc.h"
#include "config/toml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static struct toml_doc *parse(const char *text)
{
    struct diags d;
    diags_init(&d);
    struct toml_doc *doc = toml_read_text("t.toml", text, strlen(text), &d);
    expect_silence(&d);
    assert_non_null(doc);
    return doc;
}

static void refuse_bytes(const char *text, size_t n, int line, int column, const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_null(toml_read_text("t.toml", text, n, &d));
    expect_complaint(&d, line, column, part);
}

static void refuse(const char *text, int line, int column, const char *part)
{
    refuse_bytes(text, strlen(text), line, column, part);
}

static void expect_place(const struct toml_node *node, int line, int column)
{
    assert_non_null(node);
    assert_int_equal(node->line, line);
    assert_int_equal(node->column, column);
}

static void expect_key(const struct toml_node *node, int line, int column)
{
    assert_non_null(node);
    assert_int_equal(node->key_line, line);
    assert_int_equal(node->key_column, column);
}

static void toml__knows_the_place_of_every_node(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("a = -1\n"
                                 "[t.u]\n"
                                 "  list = [1, 'x',\n"
                                 "     { k = true, z.y = 2 }]\n"
                                 "\"q r\" = 1979-05-27\n"
                                 "[[aot]]\nn = 1.5\n[[aot]]\n");
    const struct toml_node *root = &doc->root, *t = toml_get(root, "t"), *u = toml_get(t, "u"), *list = toml_get(u, "list");
    expect_key(toml_get(root, "a"), 1, 1);
    expect_place(toml_get(root, "a"), 1, 5);
    expect_key(t, 2, 2);
    expect_key(u, 2, 4);
    expect_key(list, 3, 3);
    expect_place(list, 3, 10);
    assert_int_equal(list->n, 3);
    expect_place(&list->children[0], 3, 11);
    expect_place(&list->children[1], 3, 14);
    expect_place(&list->children[2], 4, 6);
    const struct toml_node *k = toml_get(&list->children[2], "k"), *z = toml_get(&list->children[2], "z");
    expect_key(k, 4, 8);
    expect_place(k, 4, 12);
    expect_key(z, 4, 18);
    expect_key(toml_get(z, "y"), 4, 20);
    expect_place(toml_get(z, "y"), 4, 24);
    expect_key(toml_get(u, "q r"), 5, 1);
    expect_place(toml_get(u, "q r"), 5, 9);
    const struct toml_node *aot = toml_get(root, "aot");
    assert_int_equal(aot->n, 2);
    expect_place(toml_get(&aot->children[0], "n"), 7, 5);
    struct srcloc loc = toml_loc(doc, list), key = toml_key_loc(doc, list);
    assert_string_equal(loc.file, "t.toml");
    assert_int_equal(loc.column, 10);
    assert_int_equal(key.column, 3);
    toml_free(doc);
}

static void toml__reads_every_type(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("s = 'x'\ni = 0xff\nf = 1e3\nb = false\nd = 1979-05-27T07:32:00Z\nt = 07:32:00\nl = []\nm = {}\n"
                                 "n = nan\np = 9223372036854775807\ne = \"\"\"\nlong \\\n  text\"\"\"\n");
    const struct toml_node *r = &doc->root;
    assert_string_equal(toml_get(r, "s")->string, "x");
    assert_true(toml_get(r, "i")->integer == 255);
    assert_true(toml_get(r, "f")->number == 1000);
    assert_false(toml_get(r, "b")->boolean);
    assert_string_equal(toml_get(r, "d")->string, "1979-05-27T07:32:00Z");
    assert_int_equal(toml_get(r, "t")->type, TOML_DATETIME);
    assert_int_equal(toml_get(r, "l")->n, 0);
    assert_int_equal(toml_get(r, "m")->type, TOML_TABLE);
    assert_true(isnan(toml_get(r, "n")->number));
    assert_true(toml_get(r, "p")->integer == INT64_MAX);
    assert_string_equal(toml_get(r, "e")->string, "long text");
    assert_null(toml_get(r, "nothing"));
    for (int t = TOML_STRING; t <= TOML_TABLE; t++) assert_non_null(toml_type_name((enum toml_type)t));
    toml_free(doc);
}

static void toml__keys_stand_in_the_order_of_the_file(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("z = 1\na = 2\n[m]\ny = 1\nb = 2\n[c]\n");
    static const char *const want[] = {"z", "a", "m", "c"};
    for (size_t i = 0; i < 4; i++) assert_string_equal(doc->root.children[i].key, want[i]);
    assert_string_equal(doc->root.children[2].children[0].key, "y");
    toml_free(doc);
}

static void toml__columns_count_characters(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("k = ['\xc3\xa4\xe2\x82\xac', 7]\n");
    expect_place(&toml_get(&doc->root, "k")->children[1], 1, 12);
    toml_free(doc);
}

static void toml__takes_a_byte_order_mark_and_crlf(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("\xEF\xBB\xBF"
                                 "a = 1\r\nb = 'x'\r\n");
    expect_key(toml_get(&doc->root, "a"), 1, 1);
    expect_place(toml_get(&doc->root, "b"), 2, 5);
    assert_string_equal(toml_get(&doc->root, "b")->string, "x");
    assert_int_equal(doc->text[0], 'a');
    toml_free(doc);
}

/* TOML 1.1: newlines, comments and a comma at the end of an inline table. Places are those of the file. */
static void toml__inline_tables_may_have_several_lines(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("a = { # \xc3\xa4, {\n"
                                 "  from = 1,   # \xe2\x82\xac }\r\n"
                                 "\tto = { x = 2,\n"
                                 "    y = [ 3, # kept\n"
                                 "      4, ], },\n"
                                 "  s = \"\"\"\nlong, }\"\"\", z = '#', }\n"
                                 "b = 5\n"
                                 "c = [ { d = 6,\n"
                                 "}, { \n\n} ] # end\n"
                                 "e = 7\n");
    const struct toml_node *root = &doc->root, *a = toml_get(root, "a"), *to = toml_get(a, "to"), *y = toml_get(to, "y");
    assert_int_equal(a->n, 4);
    expect_place(a, 1, 5);
    expect_key(toml_get(a, "from"), 2, 3);
    expect_place(toml_get(a, "from"), 2, 10);
    expect_key(to, 3, 2);
    expect_place(toml_get(to, "x"), 3, 13);
    expect_key(y, 4, 5);
    expect_place(&y->children[0], 4, 11);
    expect_place(&y->children[1], 5, 7);
    expect_key(toml_get(a, "s"), 6, 3);
    assert_string_equal(toml_get(a, "s")->string, "long, }");
    expect_key(toml_get(a, "z"), 7, 13);
    assert_string_equal(toml_get(a, "z")->string, "#");
    expect_place(toml_get(root, "b"), 8, 5);
    expect_place(toml_get(&toml_get(root, "c")->children[0], "d"), 9, 13);
    expect_place(&toml_get(root, "c")->children[1], 10, 4);
    expect_key(toml_get(root, "e"), 13, 1);
    toml_free(doc);
    refuse("a = {\n  x = 1,,\n}\n", 2, 9, "comma");
    refuse("a = {\n  ,\n}\n", 2, 3, "comma");
    refuse("a = {\n  x = 1\n  y = 2\n}\n", 3, 3, "expected comma or closing '}'");
    refuse("a = { x = 1,\n}\n[b\n", 3, 3, "");
}

static void toml__an_empty_file_is_an_empty_table(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("");
    assert_int_equal(doc->root.n, 0);
    toml_free(doc);
    toml_free(NULL);
}

static void toml__locates_syntax_errors(void **state)
{
    (void)state;
    refuse("a = 1\nb = = 2\n", 2, 5, "is not TOML");
    refuse("a = 1\na = 2\n", 2, 5, "cannot redefine existing integer 'a'");
    refuse("a = 99999999999999999999\n", 1, 25, "is not representable in 64 bits");
    refuse("x = \"abc\n", 1, 9, "is not TOML");
    refuse("x = [1,\n", 1, 9, "end-of-file");
    struct diags d;
    diags_init(&d);
    assert_null(toml_read_text("t.toml", "a = 1\nb = = 2\n", 14, &d));
    assert_string_equal(d.list[0].source, "b = = 2");
    assert_string_equal(d.list[0].file, "t.toml");
    diags_release(&d);
}

static void toml__refuses_what_is_not_text(void **state)
{
    (void)state;
    refuse_bytes("a = 1\nb\0 = 2", 12, 2, 2, "NUL");
    refuse_bytes("\0", 1, 1, 1, "NUL");
    refuse("a = 1\n\xff\xfe", 2, 1, "UTF-8");
    refuse("# \xc3\xa4 \xc3", 1, 5, "UTF-8");
    refuse("# \xc0\xaf", 1, 3, "UTF-8");
    refuse("# \xe0\x80\xaf", 1, 3, "UTF-8");
    refuse("# \xed\xa0\x80", 1, 3, "UTF-8");
    refuse("# \xf4\x90\x80\x80", 1, 3, "UTF-8");
    refuse("# \xf0\x9f\x98\n", 1, 3, "UTF-8");
    refuse("a = \"b\\u0000c\"\n", 1, 5, "NUL");
    refuse("a = 1\n\xc3\xa4 = 2\n", 2, 1, "is not ASCII");
    refuse("a =\xc2\xa0 1\n", 1, 4, "is not ASCII");
    refuse("a = '\xc3\xa4' \xc3\xbe\n", 1, 9, "is not ASCII");
    refuse("[:a]\n", 1, 2, "is not TOML");
    refuse("\"a\\u0000\" = 1\n", 1, 1, "control character");
    refuse("[t]\n\"a\\nb\" = 1\n", 2, 1, "control character");
}

/* `n` times `unit` between two others. */
static char *repeated(const char *before, const char *unit, size_t n, const char *after)
{
    size_t b = strlen(before), u = strlen(unit);
    char *s = xmalloc(b + n * u + strlen(after) + 1);
    memcpy(s, before, b);
    for (size_t i = 0; i < n; i++) memcpy(s + b + i * u, unit, u);
    memcpy(s + b + n * u, after, strlen(after) + 1);
    return s;
}

static void refuse_repeated(const char *before, const char *unit, size_t n, const char *after, int column)
{
    char *s = repeated(before, unit, n, after);
    refuse(s, 1, column, "nested too deep");
    free(s);
}

static void toml__refuses_deep_nesting(void **state)
{
    (void)state;
    refuse_repeated("a = ", "[", 1000000, "", 69);
    refuse_repeated("a = ", "{b=", 300000, "", 197);
    refuse_repeated("", "a.", 1000000, "a = 1", 32);
    refuse_repeated("[", "a.", 1000000, "a]", 33);
    refuse_repeated("", "\"\".", 17, "a = 1", 48);
    refuse_repeated("s = ['''x''''', {", "a.", 17, "a = 1}]", 49);
    refuse_repeated("s = [\"\"\"\\\"\"\"\"\", {", "a.", 17, "a = 1}]", 49);
}

static void toml__takes_what_is_just_deep_enough(void **state)
{
    (void)state;
    char *open = repeated("a = ", "[", 64, ""), *s = repeated(open, "]", 64, "\n");
    toml_free(parse(s));
    free(open);
    free(s);
    s = repeated("", "a.", 15, "a = '.................'\n# ................. [[[[\nb = \"................. {{{{ \\\" ....\"\n");
    toml_free(parse(s));
    free(s);
    s = repeated("a = [", "1.5, ", 1000, "]\n");
    toml_free(parse(s));
    free(s);
    s = repeated("a = \"\"\"\n", ".[\n", 1000, "\"\"\"\"\n");
    toml_free(parse(s));
    free(s);
}

static void toml__a_megabyte_of_rubbish_is_only_an_error(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int round = 0; round < 20; round++) {
        char buf[4096];
        for (size_t i = 0; i < sizeof buf; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            buf[i] = round % 2 ? (char)x : "[]{}=.,'\"\\# \n0aeu_+-:TZ"[x % 23];
        }
        struct diags d;
        diags_init(&d);
        struct toml_doc *doc = toml_read_text("t", buf, sizeof buf, &d);
        assert_true(doc ? d.errors == 0 : d.errors == 1);
        toml_free(doc);
        diags_release(&d);
    }
}

static void toml__expects_types_and_keys(void **state)
{
    (void)state;
    struct toml_doc *doc = parse("name = 1\ncolour = 2\nzzz = 3\n");
    struct diags d;
    diags_init(&d);
    assert_null(toml_expect(doc, &doc->root, "name", TOML_STRING, &d));
    expect_complaint(&d, 1, 8, "name: a string is needed, not an integer");
    assert_null(toml_expect(doc, &doc->root, "missing", TOML_STRING, &d));
    assert_non_null(toml_expect(doc, &doc->root, "name", TOML_INTEGER, &d));
    expect_silence(&d);
    static const char *const allowed[] = {"name", "color"};
    assert_false(toml_check_keys(doc, &doc->root, allowed, 2, &d));
    const struct complaint want[] = {{2, 1, "did you mean \"color\""}, {3, 1, "known keys: name, color"}};
    expect_complaints(&d, want, 2);
    toml_free(doc);
}

static void toml__refuses_files_that_are_none(void **state)
{
    (void)state;
    char path[] = "/tmp/dse-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (8 << 20) + 1), 0);
    close(fd);
    struct diags d;
    diags_init(&d);
    assert_null(toml_read_file(path, &d));
    expect_complaint(&d, 0, 0, "is larger than 8388608 bytes");
    unlink(path);
    assert_null(toml_read_file(path, &d));
    expect_complaint(&d, 0, 0, "No such file");
    assert_null(toml_read_file("/tmp", &d));
    expect_complaint(&d, 0, 0, "is a directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(toml__knows_the_place_of_every_node),
        cmocka_unit_test(toml__reads_every_type),
        cmocka_unit_test(toml__keys_stand_in_the_order_of_the_file),
        cmocka_unit_test(toml__columns_count_characters),
        cmocka_unit_test(toml__takes_a_byte_order_mark_and_crlf),
        cmocka_unit_test(toml__inline_tables_may_have_several_lines),
        cmocka_unit_test(toml__an_empty_file_is_an_empty_table),
        cmocka_unit_test(toml__locates_syntax_errors),
        cmocka_unit_test(toml__refuses_what_is_not_text),
        cmocka_unit_test(toml__refuses_deep_nesting),
        cmocka_unit_test(toml__takes_what_is_just_deep_enough),
        cmocka_unit_test(toml__a_megabyte_of_rubbish_is_only_an_error),
        cmocka_unit_test(toml__expects_types_and_keys),
        cmocka_unit_test(toml__refuses_files_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
