#include "figure_fixture.h"

/* The messages of a file that must be refused; the caller frees them. */
static char *refuse(const char *text)
{
    struct diags d;
    diags_init(&d);
    struct figure *f = figure_read_text("bad.toml", text, strlen(text), &d);
    assert_null(f);
    assert_int_equal(diags_exit_status(&d), 2);
    char *all = said(&d);
    diags_release(&d);
    return all;
}

static void check_refused(const char *text, const char *expected)
{
    char *all = refuse(text);
    assert_string_equal(all, expected);
    free(all);
}

#define GOOD "[figure]\nkind = 'scatter'\nsql = 'select 1'\nx = 'a'\ny = 'b'\n"

static void figure_read__fills_in_what_is_not_given(void **state)
{
    (void)state;
    struct figure *f = good_figure(GOOD);
    assert_string_equal(figure_title(f), "");
    assert_string_equal(figure_name(f), "test");
    assert_string_equal(f->kind->name, "scatter");
    assert_true(f->width_mm == 85 && f->height_mm == 63.75 && f->dpi == 300 && f->font_size == 8);
    assert_true(isnan(f->x.min) && isnan(f->x.max) && f->x.scale == SCALE_LINEAR && f->x.better == BETTER_UNKNOWN);
    assert_null(f->series.column);
    assert_null(f->front.sql);
    figure_free(f);
}

static void figure_read__takes_every_key(void **state)
{
    (void)state;
    struct figure *f =
        good_figure("[figure]\ntitle = 'T'\nkind = 'pareto'\nsql = 'select 1'\nfront_sql = 'select 2'\n"
                    "x = { column = 'a', label = 'A', scale = 'log2', min = 1, max = 64, better = 'min' }\n"
                    "y = { column = 'b', scale = 'log', max = 0.5, better = 'max' }\n"
                    "series = { column = 'c', label = 'C' }\n"
                    "[output]\nwidth_mm = 178\nheight_mm = 60.5\nfont = 'Times'\nfont_size = 9\ndpi = 600\nlegend = 'right'\n");
    assert_string_equal(f->title, "T");
    assert_string_equal(f->front.sql, "select 2");
    assert_true(f->x.scale == SCALE_LOG2 && f->x.min == 1 && f->x.max == 64 && f->x.better == BETTER_MIN);
    assert_string_equal(f->x.label, "A");
    assert_true(f->y.scale == SCALE_LOG && isnan(f->y.min) && f->y.max == 0.5 && f->y.better == BETTER_MAX);
    assert_string_equal(f->series.column, "c");
    assert_string_equal(f->series.label, "C");
    assert_true(f->width_mm == 178 && f->height_mm == 60.5 && f->font_size == 9 && f->dpi == 600);
    assert_string_equal(f->font, "Times");
    assert_int_equal(f->legend, LEGEND_RIGHT);
    figure_free(f);
}

static void figure_read__tells_every_error_at_its_place(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    static const char text[] = "[figure]\nkind = 'paretto'\nsqll = 'select 1'\nx = { colum = 'a' }\ny = 4\n"
                               "[output]\nwidth_mm = 1e9\nlegend = 'inside'\n[outputs]\n";
    assert_null(figure_read_text("bad.toml", text, sizeof text - 1, &d));
    assert_said(
        &d, "2:8: kind: unknown value \"paretto\" | did you mean \"pareto\"? kind is one of \"pareto\", \"scatter\", \"lines\"");
    assert_said(&d, "3:1: unknown key");
    assert_said(&d, "sql: is missing from [figure]");
    assert_said(&d, "4:7: unknown key");
    assert_said(&d, "4:1: x: column is missing");
    assert_said(&d, "5:5: y: an integer where the name of a column or a table is needed");
    assert_said(&d, "7:12: width_mm: 1000000000 is outside of 30 to 600");
    assert_said(&d, "8:10: legend: unknown value \"inside\"");
    assert_said(&d, "9:2: unknown key");
    diags_release(&d);
}

static void figure_read__needs_its_table_and_keys(void **state)
{
    (void)state;
    check_refused("", "0:0: the table [figure] is missing\n");
    check_refused("[figure]\n", "1:2: kind: is missing from [figure]\n1:2: sql: is missing from [figure]\n"
                                "1:2: x: is missing from [figure]\n1:2: y: is missing from [figure]\n");
}

static void figure_read__refuses_limits_that_make_no_axis(void **state)
{
    (void)state;
    static const char start[] = "[figure]\nkind = 'scatter'\nsql = 'select 1'\ny = 'b'\nx = { column = 'a', ";
    static const struct {
        const char *rest, *message;
    } cases[] = {
        {"min = 2, max = 2 }\n", "max: must be above min"},
        {"min = 3, max = 2 }\n", "max: must be above min"},
        {"min = 0, scale = 'log' }\n", "min: must be above 0 on a logarithmic axis"},
        {"max = -1, scale = 'log2' }\n", "max: must be above 0 on a logarithmic axis"},
        {"min = nan }\n", "min: nan is not a finite number"},
        {"max = inf }\n", "max: inf is not a finite number"},
        {"min = '1' }\n", "min: a string where a number is needed"},
        {"scale = 'ln' }\n", "scale: unknown value \"ln\""},
        {"better = 'more' }\n", "better: unknown value \"more\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = xasprintf("%s%s", start, cases[i].rest), *all = refuse(text);
        if (!strstr(all, cases[i].message)) fail_msg("\"%s\" gives %s", cases[i].rest, all);
        free(all);
        free(text);
    }
}

static void figure_read__refuses_a_front_where_there_is_none(void **state)
{
    (void)state;
    check_refused(GOOD "front_sql = 'select 2'\n", "6:1: front_sql: a figure of kind \"scatter\" has no front_sql\n");
}

static void figure_read__refuses_an_empty_query(void **state)
{
    (void)state;
    check_refused("[figure]\nkind = 'scatter'\nsql = ' ; '\nx = 'a'\ny = 'b'\n", "3:7: sql: is empty, an SQL query is needed\n");
}

static void figure_read__refuses_a_font_that_is_more_than_a_name(void **state)
{
    (void)state;
    check_refused(
        GOOD "[output]\nfont = 'Arial,20'\n",
        "7:8: font: \"Arial,20\" is not the name of one font family, like \"Arial\" | letters, digits, spaces and hyphens\n");
    static const char *const fonts[] = {
        "", "Arial:Bold", "A\\\" onload=\\\"alert(1)", "A'x", "A<b>", "A&amp;", "A`x`", "A;b", "Ari\\nal", "\xC3\x84rial"};
    for (size_t i = 0; i < sizeof fonts / sizeof *fonts; i++) {
        char *text = xasprintf(GOOD "[output]\nfont = \"%s\"\n", fonts[i]);
        struct diags d;
        diags_init(&d);
        assert_null(figure_read_text("test.toml", text, strlen(text), &d));
        assert_said(&d, "is not the name of one font family");
        diags_release(&d);
        free(text);
    }
    static const char *const good[] = {"Arial", "DejaVu Sans", "Nimbus Sans L", "Source-Code-Pro 9"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *text = xasprintf(GOOD "[output]\nfont = \"%s\"\n", good[i]);
        figure_free(good_figure(text));
        free(text);
    }
}

static void figure_read__refuses_a_sweep_that_is_a_path(void **state)
{
    (void)state;
    static const char *const sweeps[] = {"../../etc/passwd", "a/b", "", "-o", "a b", ".", "a.toml", "x&y", "'"};
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) {
        char *text = xasprintf(GOOD "sweep = \"%s\"\n", sweeps[i]);
        struct diags d;
        diags_init(&d);
        assert_null(figure_read_text("test.toml", text, strlen(text), &d));
        assert_said(&d, "is not the name of a sweep | " TEXT_FILE_NAME_RULE);
        diags_release(&d);
        free(text);
    }
}

static void check_place(const char *sql, int line, int column)
{
    char *text = xasprintf("[figure]\nkind = 'lines'\nx = 'a'\ny = 'b'\n%s\n", sql);
    struct figure *f = good_figure(text);
    assert_int_equal(f->query.loc.line, line);
    assert_int_equal(f->query.loc.column, column);
    figure_free(f);
    free(text);
}

static void figure_read__knows_where_the_sql_begins(void **state)
{
    (void)state;
    check_place("sql = 'select 1'", 5, 8);
    check_place("sql = \"select 1\"", 5, 8);
    check_place("sql = '''select 1'''", 5, 10);
    check_place("sql = \"\"\"select 1\"\"\"", 5, 10);
    check_place("sql = \"\"\"\nselect 1\"\"\"", 6, 1);
    check_place("sql = '''\r\nselect 1'''", 6, 1);
    check_place("title = 'µ'\nsql='select 1'", 6, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_read__fills_in_what_is_not_given),
        cmocka_unit_test(figure_read__takes_every_key),
        cmocka_unit_test(figure_read__tells_every_error_at_its_place),
        cmocka_unit_test(figure_read__needs_its_table_and_keys),
        cmocka_unit_test(figure_read__refuses_limits_that_make_no_axis),
        cmocka_unit_test(figure_read__refuses_a_front_where_there_is_none),
        cmocka_unit_test(figure_read__refuses_an_empty_query),
        cmocka_unit_test(figure_read__refuses_a_font_that_is_more_than_a_name),
        cmocka_unit_test(figure_read__refuses_a_sweep_that_is_a_path),
        cmocka_unit_test(figure_read__knows_where_the_sql_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
