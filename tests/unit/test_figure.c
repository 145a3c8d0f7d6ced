#include "figure_fixture.h"

#include "figure/layers.h"

#define X "x = { column = 'x', better = 'min' }\n"
#define Y "y = { column = 'y', better = 'max' }\n"
#define PARETO "[figure]\nkind = 'pareto'\nsql = 'q'\n" X Y
#define SCATTER "[figure]\nkind = 'scatter'\nsql = 'q'\nx = 'x'\ny = 'y'\n"
#define SERIES "series = 's'\n"
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* Build a scene from arrays; the caller releases scene and figure. */
static bool build(struct scene *s, const char *text, const struct test_cell (*cells)[TEST_COLUMNS], size_t n, struct diags *d)
{
    struct figure *f = good_figure(text);
    struct test_rows rows = make_rows(cells, n), front = make_rows(cells, n);
    struct inputs in = {.query = &rows.rows, .front = f->front.sql ? &front.rows : NULL};
    return scene_build(s, f, &in, BETTER_UNKNOWN, BETTER_UNKNOWN, d);
}

static void release(struct scene *s)
{
    struct figure *f = (struct figure *)(uintptr_t)s->figure;
    scene_release(s);
    figure_free(f);
}

static void check_refused(const char *text, const struct test_cell (*cells)[TEST_COLUMNS], size_t n, const char *expected)
{
    struct diags d;
    diags_init(&d);
    struct scene s;
    assert_false(build(&s, text, cells, n, &d));
    assert_int_equal(diags_exit_status(&d), 2);
    assert_said(&d, expected);
    release(&s);
    diags_release(&d);
}

/* ---- rows ------------------------------------------------------------------------------------------------------------- */

static void rows__with_null_are_skipped(void **state)
{
    (void)state;
    static const struct test_cell cells[][TEST_COLUMNS] = {
        {N(1), N(2), T("a")}, {NIL, N(2), T("a")}, {N(1), NIL, T("a")}, {N(1), N(2), NIL}, {N(3), N(4), T("b")}};
    struct diags d;
    diags_init(&d);
    struct scene s;
    assert_true(build(&s, SCATTER SERIES, cells, COUNT(cells), &d));
    assert_int_equal(s.n_rows, 5);
    assert_int_equal(s.n_used, 2);
    assert_int_equal(s.layer[0].points.points, 2);
    assert_int_equal(d.n, 0);
    release(&s);
}

static void rows__that_cannot_be_drawn_are_refused(void **state)
{
    (void)state;
    static const struct test_cell text[][TEST_COLUMNS] = {{N(1), N(2), NIL}, {N(1), T("fast"), NIL}};
    check_refused(SCATTER, text, 2, "5:5: y: row 2 has the text \"fast\" in the column y, a number is needed");
    static const struct test_cell blob[][TEST_COLUMNS] = {{BLOB, N(2), NIL}};
    check_refused(SCATTER, blob, 1, "4:5: x: row 1 has a blob in the column x, a number is needed");
    static const struct test_cell infinite[][TEST_COLUMNS] = {{N(1), N(INFINITY), NIL}};
    check_refused(SCATTER, infinite, 1, "5:5: y: row 1 has inf in the column y, which cannot be drawn");
    static const struct test_cell zero[][TEST_COLUMNS] = {{N(1), N(1), NIL}, {N(0), N(1), NIL}};
    check_refused("[figure]\nkind = 'lines'\nsql = 'q'\nx = { column = 'x', scale = 'log' }\ny = 'y'\n", zero, 2,
                  "4:16: x: row 2 has 0 in the column x, which a logarithmic axis cannot show");
}

static void rows__that_are_not_there_are_an_error(void **state)
{
    (void)state;
    static const struct test_cell null[][TEST_COLUMNS] = {{NIL, N(1), NIL}, {N(1), NIL, NIL}};
    check_refused(SCATTER, null, 0, "3:8: sql: the query gives no rows");
    check_refused(SCATTER, null, 2, "3:8: sql: all 2 rows of the query have NULL in a column that the figure needs");
    check_refused(PARETO, null, 0, "3:8: sql: the query gives no rows");
    check_refused(PARETO "front_sql = 'f'\n", null, 0, "6:14: front_sql: the query gives no rows");
    static const struct test_cell low[][TEST_COLUMNS] = {{N(1), N(1), NIL}};
    check_refused("[figure]\nkind = 'scatter'\nsql = 'q'\nx = { column = 'x', min = 5 }\ny = 'y'\n", low, 1,
                  "3:8: sql: none of its 1 rows lies within min and max of x and y");
}

static void rows__need_the_columns_of_the_figure(void **state)
{
    (void)state;
    static const struct test_cell cells[][TEST_COLUMNS] = {{N(1), N(2), NIL}};
    static const char text[] = "[figure]\nkind = 'scatter'\nsql = 'q'\nx = 'X'\ny = 'yy'\nseries = 'llm'\n";
    check_refused(text, cells, 1, "4:5: x: the query of sql gives no column X | did you mean x? its columns are x, y, s");
    check_refused(text, cells, 1, "5:5: y: the query of sql gives no column yy");
    check_refused(text, cells, 1, "6:10: series: the query of sql gives no column llm | its columns are x, y, s");
}

static void rows__of_too_many_series_are_refused(void **state)
{
    (void)state;
    static struct test_cell cells[SERIES_MAX + 1][TEST_COLUMNS];
    for (size_t i = 0; i < SERIES_MAX + 1; i++) cells[i][2].number = (double)i;
    check_refused(SCATTER SERIES, (const struct test_cell(*)[TEST_COLUMNS])cells, SERIES_MAX + 1,
                  "6:10: series: the column s has more than 24 values");
}

/* ---- series ----------------------------------------------------------------------------------------------------------- */

static void series__of_texts_are_sorted_as_people_count(void **state)
{
    (void)state;
    struct series s;
    series_init(&s);
    assert_int_equal(series_text(&s, "llama2-13b"), 0);
    assert_int_equal(series_text(&s, "opt-2.7b"), 1);
    assert_int_equal(series_text(&s, "llama2-7b"), 2);
    assert_int_equal(series_text(&s, "llama2-13b"), 0);
    series_sort(&s);
    assert_false(s.numeric);
    assert_string_equal(s.value[s.order[0]].name, "llama2-7b");
    assert_string_equal(s.value[s.order[1]].name, "llama2-13b");
    assert_string_equal(s.value[s.order[2]].name, "opt-2.7b");
    series_release(&s);
}

static void series__of_numbers_are_sorted_by_value(void **state)
{
    (void)state;
    struct series s;
    series_init(&s);
    const double values[] = {16, 2, 0.5, 16, 8, 2};
    for (size_t i = 0; i < COUNT(values); i++) series_number(&s, values[i]);
    series_sort(&s);
    assert_true(s.numeric);
    assert_int_equal(s.n, 4);
    const char *const names[] = {"0.5", "2", "8", "16"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(s.value[s.order[i]].name, names[i]);
        assert_int_equal(s.rank[s.order[i]], i);
    }
    series_release(&s);
}

static void series__look_different_from_each_other(void **state)
{
    (void)state;
    for (int numeric = 0; numeric < 2; numeric++) {
        struct series s;
        series_init(&s);
        for (int i = 0; i < SERIES_MAX; i++) {
            char name[8] = {(char)('a' + i)};
            assert_int_equal(numeric ? series_number(&s, i) : series_text(&s, name), i);
        }
        assert_int_equal(series_text(&s, "one more"), -1);
        series_sort(&s);
        for (size_t i = 0; i < s.n; i++)
            for (size_t j = 0; j < i; j++)
                assert_false(series_colour(&s, i) == series_colour(&s, j) && series_marker(&s, i) == series_marker(&s, j));
        series_release(&s);
    }
}

/* ---- kinds ------------------------------------------------------------------------------------------------------------ */

enum { MANY = 4000 };
static struct test_cell many[MANY][TEST_COLUMNS];

/* Points of three series on a coarse lattice, so that there are ties and duplicates. */
static const struct test_cell (*make_many(void))[TEST_COLUMNS]
{
    static const char *const names[] = {"a", "b", "c"};
    uint64_t seed = 7;
    for (size_t i = 0; i < MANY; i++) {
        for (int j = 0; j < 2; j++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            many[i][j].number = (double)(seed >> 58);
        }
        many[i][1].number = fmin(many[i][1].number, 2 * many[i][0].number + 3);
        many[i][2].text = names[i % 3];
    }
    return (const struct test_cell(*)[TEST_COLUMNS])many;
}

static bool on_front(size_t i, bool max_x, bool max_y)
{
    for (size_t j = i % 3; j < MANY; j += 3) {
        double x = many[j][0].number - many[i][0].number, y = many[j][1].number - many[i][1].number;
        if (!max_x) x = -x;
        if (!max_y) y = -y;
        if (x >= 0 && y >= 0 && (x > 0 || y > 0)) return false;
    }
    return true;
}

static void pareto__finds_the_front_of_each_series(void **state)
{
    (void)state;
    const struct test_cell(*cells)[TEST_COLUMNS] = make_many();
    for (int which = 0; which < 4; which++) {
        bool max_x = which & 1, max_y = which & 2;
        char *text = xasprintf("[figure]\nkind = 'pareto'\nsql = 'q'\nx = { column = 'x', better = '%s' }\n"
                               "y = { column = 'y', better = '%s' }\n" SERIES,
                               max_x ? "max" : "min", max_y ? "max" : "min");
        struct diags d;
        diags_init(&d);
        struct scene s;
        assert_true(build(&s, text, cells, MANY, &d));
        assert_int_equal(s.n_layers, 2);
        const struct cloud *front = &s.layer[1].points;
        uint64_t expected = 0, found = 0;
        for (size_t i = 0; i < MANY; i++) expected += on_front(i, max_x, max_y);
        for (size_t i = 0; i < front->capacity; i++) {
            const struct mark *m = &front->slot[i];
            found += m->count;
            if (!m->count) continue;
            size_t at = 0; /* it is a row, of its series, and none of its series dominates it */
            while (at < MANY && !(many[at][0].number == m->x && many[at][1].number == m->y &&
                                  strcmp(many[at][2].text, s.names.series.value[m->series].name) == 0))
                at++;
            assert_true(at < MANY && on_front(at, max_x, max_y));
        }
        assert_int_equal(found, expected);
        release(&s);
        free(text);
    }
}

static void pareto__keeps_the_front_whole_when_the_cloud_is_thinned(void **state)
{
    (void)state;
    enum { POINTS = 20000, EVERY = 8, FRONT = POINTS / EVERY };
    static struct test_cell cells[POINTS][TEST_COLUMNS];
    for (int i = 0; i < POINTS; i++) { /* every eighth is on a rising line, the others below it */
        double x = i % EVERY == 0 ? i / EVERY : (i * 7919) % FRONT;
        cells[i][0].number = x;
        cells[i][1].number = i % EVERY == 0 ? x : x - 1 - i % 50;
    }
    struct diags d;
    diags_init(&d);
    struct scene s;
    assert_true(build(&s, PARETO, (const struct test_cell(*)[TEST_COLUMNS])cells, POINTS, &d));
    cloud_thin(&s.layer[0].points, 100);
    assert_true(s.layer[0].points.n <= 100);
    assert_int_equal(s.layer[1].points.n, FRONT);
    release(&s);
}

static void pareto__takes_the_front_of_the_file_as_it_is(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    struct scene s;
    assert_true(build(&s, SCATTER SERIES, make_many(), MANY, &d));
    size_t distinct = s.layer[0].points.n;
    release(&s);
    assert_true(build(&s, PARETO SERIES "front_sql = 'f'\n", make_many(), MANY, &d));
    assert_int_equal(s.layer[1].style, LAYER_FRONT);
    assert_int_equal(s.layer[1].points.n, distinct);
    release(&s);
}

static void pareto__joins_a_given_front_only_if_it_has_steps(void **state)
{
    (void)state;
    static const struct test_cell rising[][TEST_COLUMNS] = {{N(2), N(5), NIL}, {N(1), N(3), NIL}, {N(4), N(6), NIL}};
    static const struct test_cell dented[][TEST_COLUMNS] = {{N(2), N(5), NIL}, {N(1), N(3), NIL}, {N(4), N(4), NIL}};
    struct diags d;
    diags_init(&d);
    struct scene s;
    assert_true(build(&s, PARETO "front_sql = 'f'\n", rising, 3, &d));
    assert_int_equal(s.layer[1].style, LAYER_STEPS);
    release(&s);
    assert_true(build(&s, PARETO "front_sql = 'f'\n", dented, 3, &d));
    assert_int_equal(s.layer[1].style, LAYER_FRONT);
    release(&s);
    assert_true(build(&s, "[figure]\nkind = 'pareto'\nsql = 'q'\nfront_sql = 'f'\nx = 'x'\ny = 'y'\n", rising, 3, &d));
    assert_int_equal(s.layer[1].style, LAYER_FRONT); /* nobody says what is better */
    release(&s);
}

static void pareto__needs_to_know_what_is_better(void **state)
{
    (void)state;
    static const struct test_cell cells[][TEST_COLUMNS] = {{N(1), N(2), NIL}};
    check_refused("[figure]\nkind = 'pareto'\nsql = 'q'\nx = 'x'\n" Y, cells, 1,
                  "4:5: x: whether less or more of x is better is not known, so the front cannot be found");
}

static void lines__keep_what_lies_outside_of_the_limits(void **state)
{
    (void)state;
    static const struct test_cell cells[][TEST_COLUMNS] = {{N(0), N(0), NIL}, {N(10), N(10), NIL}};
    struct diags d;
    diags_init(&d);
    struct scene s;
    assert_true(build(&s, "[figure]\nkind = 'lines'\nsql = 'q'\nx = { column = 'x', min = 2, max = 8 }\ny = 'y'\n", cells, 2, &d));
    assert_int_equal(s.layer[0].points.n, 2); /* the line crosses the picture */
    scene_fit_axes(&s, 5, 5, NULL, NULL);
    assert_true(s.x.low == 2 && s.x.high == 8);
    release(&s);
}

/* Ends and extremes of every stretch of a line are among the points that are sent to gnuplot. */
static void lines__of_very_many_points_keep_their_peaks(void **state)
{
    (void)state;
    enum { POINTS = 50000, PEAK = 31415, PIT = 7000 };
    static struct test_cell cells[POINTS][TEST_COLUMNS];
    for (int i = 0; i < POINTS; i++) {
        cells[i][0].number = i;
        cells[i][1].number = i == PEAK ? 1000 : i == PIT ? -1000 : (i * 7919) % 101;
    }
    struct diags d;
    diags_init(&d);
    struct scene s;
    assert_true(build(&s, "[figure]\nkind = 'lines'\nsql = 'q'\nx = 'x'\ny = 'y'\n", (const struct test_cell(*)[TEST_COLUMNS])cells,
                      POINTS, &d));
    scene_fit_axes(&s, 5, 5, NULL, NULL);
    struct canvas canvas = {.format = FORMAT_SVG};
    struct plot p = {.scene = &s, .canvas = &canvas, .width_mm = 80, .height_mm = 50, .point_scale = 1};
    text_init(&p.command);
    text_init(&p.data);
    plot_add_layer(&p, &s.layer[0]);
    size_t n = p.data.n / sizeof(float[2]);
    assert_in_range(n, 1000, 4200);
    bool peak = false, pit = false;
    float last = -1;
    for (size_t i = 0; i < n; i++) {
        float at[2];
        memcpy(at, p.data.s + i * sizeof at, sizeof at);
        assert_true(at[0] >= last);
        last = at[0];
        double x = s.x.low + (double)at[0] * (s.x.high - s.x.low), y = s.y.low + (double)at[1] * (s.y.high - s.y.low);
        if (fabs(x - PEAK) < 4 && fabs(y - 1000) < 1) peak = true;
        if (fabs(x - PIT) < 4 && fabs(y + 1000) < 1) pit = true;
        if (i == 0) assert_true(fabs(x) < 4);
        if (i == n - 1) assert_true(fabs(x - POINTS) < 4);
    }
    assert_true(peak && pit);
    text_release(&p.command);
    text_release(&p.data);
    release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows__with_null_are_skipped),
        cmocka_unit_test(rows__that_cannot_be_drawn_are_refused),
        cmocka_unit_test(rows__that_are_not_there_are_an_error),
        cmocka_unit_test(rows__need_the_columns_of_the_figure),
        cmocka_unit_test(rows__of_too_many_series_are_refused),
        cmocka_unit_test(series__of_texts_are_sorted_as_people_count),
        cmocka_unit_test(series__of_numbers_are_sorted_by_value),
        cmocka_unit_test(series__look_different_from_each_other),
        cmocka_unit_test(pareto__finds_the_front_of_each_series),
        cmocka_unit_test(pareto__keeps_the_front_whole_when_the_cloud_is_thinned),
        cmocka_unit_test(pareto__takes_the_front_of_the_file_as_it_is),
        cmocka_unit_test(pareto__joins_a_given_front_only_if_it_has_steps),
        cmocka_unit_test(pareto__needs_to_know_what_is_better),
        cmocka_unit_test(lines__keep_what_lies_outside_of_the_limits),
        cmocka_unit_test(lines__of_very_many_points_keep_their_peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
