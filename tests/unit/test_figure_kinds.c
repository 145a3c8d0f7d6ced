/* Kinds of figures beside points and lines: bars, maps, charts, parallel coordinates; published points, bands, notes. */
#include "figure_fixture.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "dse_config.h"
#include "figure/script.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define V(rows) "WITH t(x, y, s, z) AS (VALUES " rows ") SELECT * FROM t"
#define FIGURE(kind, rows) "[figure]\nkind = '" kind "'\nsql = \"\"\"" V(rows) "\"\"\"\n"
#define XY "x = 'x'\ny = 'y'\n"

/* A figure of SQL alone, with its scene. */
struct drawn {
    struct reader *reader;
    struct figure *figure;
    struct scene scene;
    struct diags diags;
};

static struct rows *open_rows(struct drawn *d, const struct query_spec *spec, struct query_rows *rows, struct query **query)
{
    *query = spec->sql ? query_new(d->reader, spec->sql, spec->loc, &d->diags) : NULL;
    if (!*query) return NULL;
    rows_of_query(rows, *query);
    return &rows->rows;
}

static bool build(struct drawn *d, const char *text)
{
    diags_init(&d->diags);
    d->reader = reader_open(NULL, &d->diags);
    d->figure = good_figure(text);
    const struct figure *f = d->figure;
    struct query_rows rows[4];
    struct query *query[4];
    struct inputs in = {.query = open_rows(d, &f->query, &rows[0], &query[0]),
                        .reference = open_rows(d, &f->reference, &rows[1], &query[1]),
                        .annotation = open_rows(d, &f->annotation, &rows[2], &query[2]),
                        .band = open_rows(d, &f->band, &rows[3], &query[3])};
    bool ok = scene_build(&d->scene, f, &in, BETTER_MIN, BETTER_MIN, &d->diags);
    if (ok) scene_fit_axes(&d->scene, 6, 6, NULL, NULL);
    for (size_t i = 0; ok && i < d->scene.n_axes; i++) scene_label_column(&d->scene, i, NULL);
    if (ok) scene_label_value(&d->scene, NULL);
    for (size_t i = 0; i < 4; i++) query_free(query[i]);
    return ok;
}

static void release(struct drawn *d)
{
    scene_release(&d->scene);
    figure_free(d->figure);
    reader_close(d->reader);
    diags_release(&d->diags);
}

static void good(struct drawn *d, const char *text)
{
    if (!build(d, text)) fail_msg("%s", said(&d->diags));
}

static void check_refused(const char *text, const char *expected)
{
    struct drawn d;
    assert_false(build(&d, text));
    assert_int_equal(diags_exit_status(&d.diags), 2);
    assert_said(&d.diags, expected);
    release(&d);
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)))) fail_msg("%.17g instead of %.17g", a, b);
}

/* ---- bars -------------------------------------------------------------------------------------------------------------- */

static void grouped_bars__stand_side_by_side(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, FIGURE("grouped-bars", "('b', 1, 'p', 0), ('b', 2, 'q', 0), ('a', 3, 'p', 0), ('a', 4, 'q', 0)") XY
         "series = 's'\n"
         "reference_sql = \"SELECT 'a' AS x, 5 AS y, 'q' AS s\"\n");
    const struct layer *l = &d.scene.layer[0];
    assert_int_equal(l->n_boxes, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(l->boxes[i].y0 == 0);
        for (size_t k = 0; k < i; k++) assert_true(l->boxes[k].x1 <= l->boxes[i].x0 || l->boxes[i].x1 <= l->boxes[k].x0);
    }
    assert_true(l->boxes[0].x0 < 0.5 && l->boxes[2].x0 > 0.5); /* texts keep the order of the rows */
    const struct layer *published = &d.scene.layer[1];
    assert_int_equal(published->style, LAYER_PUBLISHED);
    assert_near(published->points.min_x, (l->boxes[3].x0 + l->boxes[3].x1) / 2);
    assert_true(d.scene.y.high >= 5); /* the published value is inside of the plot */
    release(&d);
}

static void stacked_bars__add_up(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, FIGURE("stacked-bars", "(1, 2.5, 'p', 'g'), (1, 1.5, 'q', 'g'), (1, 4, 'q', 'h'), (2, 1, 'p', 'g'), (2, -3, 'q', 'g')")
                 XY "series = 's'\ngroup = 'z'\n");
    const struct box *b = d.scene.layer[0].boxes;
    assert_int_equal(d.scene.groups, 2);
    assert_near(b[0].y0, 0), assert_near(b[0].y1, 2.5), assert_near(b[1].y0, 2.5), assert_near(b[1].y1, 4);
    assert_near(b[2].y0, 0), assert_near(b[2].y1, 4);
    assert_near(b[4].y0, 0), assert_near(b[4].y1, -3); /* below the axis, whatever is above */
    assert_true(b[0].x0 == b[1].x0 && b[2].x0 > b[1].x1);
    assert_int_equal(d.scene.x.n, 4); /* a tick for each group of each category */
    release(&d);
}

static void bars__that_cannot_be_drawn_are_refused(void **state)
{
    (void)state;
    check_refused(FIGURE("bars", "(1, 2, 'p', 0), (1, 3, 'q', 0)") XY, "sql: rows 1 and 2 are the same bar");
    check_refused(FIGURE("stacked-bars", "(1, 2, 'p', 0)") "x = 'x'\ny = { column = 'y', scale = 'log' }\n",
                  "y: stacked bars need a linear axis");
    check_refused(FIGURE("bars", "(1, 2, 'p', 0)") XY "reference_sql = 'SELECT 7 AS x, 2 AS y'\n",
                  "reference_sql: gives a value of x, series or group that sql does not have");
    check_refused(FIGURE("grouped-bars", "(1, 2, 'p', 0)") XY "series = 's'\nnormalize = 'q'\n",
                  "normalize: no row is of a series \"q\"");
}

static void normalize__makes_the_named_series_one(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, FIGURE("grouped-bars", "('a', 2, 'p', 0), ('a', 6, 'q', 0), ('b', 5, 'p', 0), ('b', 5, 'q', 0), ('c', 1, 'q', 0)") XY
         "series = 's'\nnormalize = 'p'\n");
    const struct layer *l = &d.scene.layer[0];
    assert_int_equal(l->n_boxes, 4); /* c has no p */
    assert_near(l->boxes[0].y1, 1), assert_near(l->boxes[1].y1, 3), assert_near(l->boxes[2].y1, 1), assert_near(l->boxes[3].y1, 1);
    release(&d);
    good(&d,
         FIGURE("lines",
                "(1, 2, 'p', 0), (1, 6, 'q', 0)") "x = 'x'\ny = { column = 'y', scale = 'log' }\nseries = 's'\nnormalize = 'p'\n");
    assert_near(d.scene.layer[0].points.max_y, log10(3));
    release(&d);
}

/* ---- maps -------------------------------------------------------------------------------------------------------------- */

static void cells__cover_the_plane_once(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, FIGURE("heatmap", "(1, 1, 0, 5), (2, 1, 0, 6), (4, 1, 0, 7), (1, 3, 0, 8), (2, 3, 0, 9), (4, 3, 0, 1)") XY
         "value = 'z'\n");
    const struct layer *l = &d.scene.layer[0];
    double area = 0;
    for (size_t i = 0; i < l->n_boxes; i++) area += (l->boxes[i].x1 - l->boxes[i].x0) * (l->boxes[i].y1 - l->boxes[i].y0);
    assert_near(area, (d.scene.x.high - d.scene.x.low) * (d.scene.y.high - d.scene.y.low));
    assert_near(d.scene.z.low, 1), assert_near(d.scene.z.high, 9);
    release(&d);
    check_refused(FIGURE("heatmap", "(1, 1, 0, 5), (1, 1, 0, 6)") XY "value = 'z'\n", "sql: row 2 is a cell that was there before");
    check_refused(FIGURE("contour", "(1, 1, 0, 'warm')") XY "value = 'z'\n", "value: row 1 has the text \"warm\" in the column z");
}

static void contours__lie_where_the_value_is_that_of_a_tick(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, "[figure]\nkind = 'contour'\nsql = \"\"\"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 8) "
             "SELECT a.i AS x, b.i AS y, 10.0 * a.i + b.i AS z FROM n a, n b\"\"\"\n" XY "value = 'z'\n");
    const struct layer *l = &d.scene.layer[1];
    assert_int_equal(l->style, LAYER_PATHS);
    assert_true(l->n_path > 20);
    for (size_t i = 0; i < l->n_path; i++) { /* linear in x and y: the interpolation is exact */
        double value = 10 * l->path[i].x + l->path[i].y;
        bool is_tick = false;
        for (size_t t = 0; t < d.scene.z.n; t++)
            is_tick |= fabs(value - (d.scene.z.low + d.scene.z.tick[t].at * (d.scene.z.high - d.scene.z.low))) < 1e-6;
        assert_true(is_tick);
    }
    assert_true(d.scene.n_notes > 2); /* levels carry their numbers */
    release(&d);
}

/* ---- charts ------------------------------------------------------------------------------------------------------------ */

static void gantt__leaves_out_what_takes_no_time(void **state)
{
    (void)state;
    struct drawn d;
    good(&d,
         FIGURE("gantt", "(0, 'load', 'busy', 3), (3, 'mac', 'busy', 3), (3, 'mac', 'stalled', 4)") XY "end = 'z'\nseries = 's'\n");
    const struct layer *l = &d.scene.layer[0];
    assert_int_equal(l->n_boxes, 2);
    assert_true(l->boxes[0].y1 < l->boxes[1].y0);
    assert_true(axis_position(&d.scene.y, l->boxes[0].y0) > axis_position(&d.scene.y, l->boxes[1].y0)); /* the first on top */
    release(&d);
}

static void gantt__draws_bars_that_touch_as_one(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, FIGURE("gantt", "(0, 'l', 'a', 1), (0, 'm', 'a', 3), (1, 'l', 'a', 2), (2, 'l', 'b', 3), (4, 'l', 'a', 5)") XY
         "end = 'z'\nseries = 's'\n");
    const struct layer *l = &d.scene.layer[0];
    assert_int_equal(l->n_boxes, 4); /* two of "l" became one: not those of another row, another series, or behind a gap */
    assert_near(l->boxes[0].x0, 0), assert_near(l->boxes[0].x1, 2);
    release(&d);
}

static void parallel__has_an_axis_for_each_column(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, FIGURE("parallel",
                    "(1, 10, 'p', 5), (2, 1000, 'q', 7), (3, 100, 'p', NULL)") "columns = ['x', { column = 'y', scale = 'log',"
                                                                               " label = 'Y' }, 'z']\n"
                                                                               "series = 's'\n");
    const struct layer *l = &d.scene.layer[0];
    assert_int_equal(d.scene.n_axes, 3);
    assert_int_equal(l->n_path, 6); /* the row with NULL is left out */
    for (size_t i = 0; i < l->n_path; i++) assert_true(l->path[i].y >= -1e-12 && l->path[i].y <= 1 + 1e-12);
    assert_near(l->path[1].y, 0), assert_near(l->path[4].y, 1);
    assert_string_equal(d.scene.x.tick[1].text, "Y");
    release(&d);
    check_refused(FIGURE("parallel", "(1, 10, 'p', 5)") "columns = ['x', 'w']\n", "columns: the query of sql gives no column w");
    check_refused(FIGURE("parallel", "(1, 'ten', 'p', 5)") "columns = ['x', 'y']\n", "columns: row 1 has a value in the column y");
}

static void notes__and_bands_say_what_is_wrong_with_them(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, FIGURE("lines", "(1, 2, 'p', 0), (9, 3, 'p', 0)") XY
         "annotation_sql = \"SELECT NULL AS x, 2.5 AS y, 'rule' AS text UNION ALL SELECT 3, NULL, 'r'"
         " UNION ALL SELECT NULL, NULL, 'nowhere'\"\n"
         "band_sql = \"SELECT 1 AS x_from, 5 AS x_to, 'a' AS text UNION ALL SELECT 5, 9, 'b' UNION ALL SELECT 9, 9, 'a'\"\n");
    assert_int_equal(d.scene.n_notes, 2);
    assert_int_equal(d.scene.n_bands, 2);
    release(&d);
    check_refused(FIGURE("lines", "(1, 2, 'p', 0)") XY "annotation_sql = 'SELECT 1 AS x, 2 AS y'\n",
                  "annotation_sql: the query of annotation_sql gives no column text");
    check_refused(FIGURE("lines", "(1, 2, 'p', 0)") XY "annotation_sql = \"SELECT 'far' AS x, 2 AS y, '' AS text\"\n",
                  "annotation_sql: x is no place on its axis");
    check_refused(FIGURE("lines", "(1, 2, 'p', 0)") "x = { column = 'x', scale = 'log' }\ny = 'y'\n"
                                                    "band_sql = \"SELECT 0 AS x_from, 2 AS x_to, '' AS text\"\n",
                  "band_sql: x_from is no place on its axis");
}

/* Warnings of notes that no axis holds. */
static size_t count_outside(const char *text)
{
    struct drawn d;
    good(&d, text);
    size_t before = d.diags.n;
    scene_check_notes(&d.scene, &d.diags);
    size_t n = d.diags.n - before;
    for (size_t i = before; i < d.diags.n; i++) assert_non_null(strstr(d.diags.list[i].message, "outside of the axis"));
    assert_int_equal(d.diags.errors, 0);
    release(&d);
    return n;
}

#define POINTS FIGURE("lines", "(1, 2, 'p', 0), (9, 3, 'p', 0)")
#define RULES "annotation_sql = \"SELECT NULL AS x, 40 AS y, 'high' AS text UNION ALL SELECT -7, NULL, 'left'\"\n"
#define BAND "band_sql = \"SELECT 90 AS x_from, 95 AS x_to, 'far' AS text UNION ALL SELECT 0, 95, 'wide'\"\n"

static void notes__widen_the_axes_or_are_warned_of(void **state)
{
    (void)state;
    struct drawn d;
    good(&d, POINTS XY RULES);
    assert_true(d.scene.y.high > 40 && d.scene.x.low < -7);
    release(&d);
    good(&d, FIGURE("bars", "('a', 2, 'p', 0)") XY "annotation_sql = \"SELECT NULL AS x, 40 AS y, 'high' AS text\"\n");
    assert_true(d.scene.y.high > 40);
    release(&d);
    assert_int_equal(count_outside(POINTS XY RULES), 0);
    assert_int_equal(count_outside(POINTS "x = 'x'\ny = { column = 'y', max = 5 }\n" RULES), 1);
    assert_int_equal(count_outside(POINTS "x = { column = 'x', min = 0 }\ny = { column = 'y', max = 5 }\n" RULES), 2);
    assert_int_equal(count_outside(POINTS XY BAND), 1); /* the wide one is seen in part */
    assert_int_equal(count_outside(FIGURE("heatmap", "(1, 1, 0, 5), (2, 2, 0, 6)") XY "value = 'z'\n" RULES), 2);
}

/* ---- pictures ---------------------------------------------------------------------------------------------------------- */

/* Labels with what gnuplot, HTML and shells could trip over. */
#define TRAPS "title = '''\\\"$(x)`<&>%s{}@_^'''\n"

static void expect_written(const char *page, const char *name, bool word)
{
    char *quoted = xasprintf(word ? "`\"%s\"`" : "`%s`", name);
    if (!strstr(page, quoted)) fail_msg("docs/reference/figure-file.md does not know %s", quoted);
    free(quoted);
}

static void scripts__of_every_kind_end_in_a_plot(void **state)
{
    (void)state;
    static const char *const texts[] = {
        FIGURE("bars", "('a`b', 2, 'p', 0)") XY TRAPS,
        FIGURE("grouped-bars", "('<b>', 2, 'p', 0)") XY "series = 's'\n" TRAPS,
        FIGURE("stacked-bars", "('x', 2, 'p', 'g')") XY "series = 's'\ngroup = 'z'\n" TRAPS,
        FIGURE("heatmap", "(1, 1, 0, 5)") XY "value = 'z'\n" TRAPS,
        FIGURE("contour", "(1, 1, 0, 5), (2, 1, 0, 6), (1, 2, 0, 7), (2, 2, 0, 9)") XY "value = 'z'\n" TRAPS,
        FIGURE("interval-map", "(1, 1, 3, 0), (2, 1, 4, 0)") XY "series = 's'\n" TRAPS,
        FIGURE("gantt", "(0, 'l', 'busy', 3)") XY "end = 'z'\nseries = 's'\n" TRAPS,
        FIGURE("parallel", "(1, 10, 'p', 5), (2, 20, 'q', 7)") "columns = ['x', 'y']\nseries = 's'\n" TRAPS,
    };
    static const struct canvas canvases[] = {{.format = FORMAT_PNG}, {.format = FORMAT_TEXT, .columns = 80, .rows = 24}};
    for (size_t i = 0; i < COUNT(texts); i++)
        for (size_t k = 0; k < COUNT(canvases); k++) {
            struct drawn d;
            struct text script;
            good(&d, texts[i]);
            text_init(&script);
            script_write(&script, &script, &d.scene, &canvases[k]);
            assert_non_null(strstr(script.s, "'-' binary"));
            assert_null(strchr(script.s, '`')); /* escaped wherever it came from */
            text_release(&script);
            release(&d);
        }
}

/* A row says all that there is to a kind, and docs/reference/figure-file.md has it and its keys. */
static void every_kind__is_a_row_and_documented(void **state)
{
    (void)state;
    const char *names[KINDS_MAX];
    char *page;
    struct diags diags;
    diags_init(&diags);
    assert_true(text_read_file(DSE_SOURCE_DATA "/docs/reference/figure-file.md", 1 << 20, &page, NULL, &diags));
    for (size_t i = 0, n = kinds_names(names); i < n; i++) {
        const struct kind *k = kinds_at(i);
        const char *const *keys[] = {k->needs, k->takes};
        assert_true(k->build && k->fit && k->needs && k->needs[0]);
        assert_true(!k->z || kind_takes(k, k->z));
        assert_true(!k->colours_values || k->z);
        expect_written(page, names[i], true);
        for (size_t j = 0; j < COUNT(keys); j++)
            for (const char *const *key = keys[j]; key && *key; key++) expect_written(page, *key, false);
    }
    free(page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grouped_bars__stand_side_by_side),
        cmocka_unit_test(stacked_bars__add_up),
        cmocka_unit_test(bars__that_cannot_be_drawn_are_refused),
        cmocka_unit_test(normalize__makes_the_named_series_one),
        cmocka_unit_test(cells__cover_the_plane_once),
        cmocka_unit_test(contours__lie_where_the_value_is_that_of_a_tick),
        cmocka_unit_test(gantt__leaves_out_what_takes_no_time),
        cmocka_unit_test(gantt__draws_bars_that_touch_as_one),
        cmocka_unit_test(parallel__has_an_axis_for_each_column),
        cmocka_unit_test(notes__and_bands_say_what_is_wrong_with_them),
        cmocka_unit_test(notes__widen_the_axes_or_are_warned_of),
        cmocka_unit_test(scripts__of_every_kind_end_in_a_plot),
        cmocka_unit_test(every_kind__is_a_row_and_documented),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
