#include "figure_fixture.h"

#include "figure/face.h"
#include "figure/layout.h"

/* A scene of `n` series with names of `length` characters, without points: all that a layout asks for. */
struct sample {
    struct figure *figure;
    struct scene scene;
    struct entries entries;
    struct layout layout;
};

static char *make_word(size_t length)
{
    char *s = xmalloc(length + 1);
    for (size_t i = 0; i < length; i++) s[i] = i % 9 == 8 ? ' ' : 'n';
    s[length] = '\0';
    return s;
}

static void sample_init(struct sample *ret, const char *output, size_t n, size_t length)
{
    char *title = make_word(2 * length);
    char *text = xasprintf("[figure]\ntitle = '%s'\nkind = 'lines'\nsql = 'q'\nx = 'x'\ny = { column = 'y', label = '%s' }\n"
                           "series = { column = 's', label = 'Heading' }\n[output]\n%s\n",
                           title, title, output);
    *ret = (struct sample){.figure = good_figure(text)};
    struct scene *s = &ret->scene;
    s->figure = ret->figure;
    names_init(&s->names);
    s->layer[s->n_layers++] = (struct layer){.style = LAYER_LINES};
    cloud_init(&s->layer[0].points, 10);
    cloud_add(&s->layer[0].points, 0, 1e5, 0);
    cloud_add(&s->layer[0].points, 1, 9e5, 0);
    for (size_t i = 0; i < n; i++) {
        char *name = make_word(length);
        name[0] = (char)('a' + i);
        series_text(&s->names.series, name);
        free(name);
    }
    series_sort(&s->names.series);
    scene_fit_axes(s, 5, 5, NULL, NULL);
    entries_init(&ret->entries, s);
    layout_init(&ret->layout, s, &ret->entries);
    free(text);
    free(title);
}

static void sample_release(struct sample *p)
{
    layout_release(&p->layout);
    entries_release(&p->entries);
    scene_release(&p->scene);
    figure_free(p->figure);
}

static void layout__leaves_a_plot_that_nothing_covers(void **state)
{
    (void)state;
    static const char *const outputs[] = {"", "legend = 'right'", "width_mm = 30\nheight_mm = 30", "width_mm = 200\nheight_mm = 40",
                                          "font_size = 20"};
    for (size_t o = 0; o < sizeof outputs / sizeof *outputs; o++)
        for (size_t n = 1; n <= SERIES_MAX; n++)
            for (size_t length = 1; length <= 40; length += 13) {
                struct sample p;
                sample_init(&p, outputs[o], n, length);
                const struct layout *l = &p.layout;
                bool right = p.figure->legend == LEGEND_RIGHT;
                assert_true(l->width == p.figure->width_mm && l->height >= p.figure->height_mm);
                assert_true(l->left + l->right < 0.95 * l->width);
                assert_true(l->height - l->bottom - l->top >= 0.24 * l->width);
                assert_true(l->legend_columns >= 1);
                double rows = ceil((double)n / l->legend_columns), half = l->entry_height / 2;
                double last = l->legend_y - (rows - 1) * l->entry_height;
                assert_true(last - half > -1e-9); /* within the picture */
                assert_true(l->heading_y + half <= l->height + 1e-9);
                if (right) {
                    assert_true(l->legend_x >= l->width - l->right);
                } else {
                    assert_true(l->legend_y + half < l->label_x_y); /* below the label of x, which is below the plot */
                    assert_true(l->label_x_y < l->bottom);
                    assert_true(l->legend_columns == 1 || l->legend_x + l->legend_width <= l->width);
                }
                assert_true(l->title_y > l->height - l->top);
                sample_release(&p);
            }
}

static void layout__keeps_the_size_of_the_file_when_all_fits(void **state)
{
    (void)state;
    struct sample p;
    sample_init(&p, "width_mm = 85\nheight_mm = 60", 5, 4);
    assert_true(p.layout.height == 60);
    assert_int_equal(p.layout.legend_columns, 3); /* five entries: rows of three and two, not four and one */
    sample_release(&p);
}

static void layout__has_no_legend_when_none_is_wanted(void **state)
{
    (void)state;
    struct sample p;
    sample_init(&p, "legend = 'none'", 5, 10);
    assert_int_equal(p.entries.n, 0);
    assert_int_equal(p.layout.legend_columns, 0);
    sample_release(&p);
}

/* No entry of the legend reaches into its right neighbour. */
static void layout__gives_each_column_of_the_legend_its_own_width(void **state)
{
    (void)state;
    for (size_t n = 2; n <= SERIES_MAX; n++) {
        struct sample p;
        sample_init(&p, "width_mm = 178", n, 3 + n % 7);
        const struct layout *l = &p.layout;
        double size = p.figure->font_size * 25.4 / 72;
        for (size_t i = 0; i < n; i++) {
            size_t column = i % (size_t)l->legend_columns;
            double end = l->column_x[column] + l->sample_width + l->gap_width + size * face_width(p.entries.name[i]);
            bool last = column + 1 == (size_t)l->legend_columns;
            assert_true(end <= (last ? l->legend_width : l->column_x[column + 1]) + 1e-9);
        }
        sample_release(&p);
    }
}

static void face_width__adds_up_and_takes_the_longest_line(void **state)
{
    (void)state;
    assert_true(face_width("") == 0);
    assert_true(fabs(face_width("0123456789") - 6.36) < 1e-9);
    assert_true(fabs(face_width("ii\nmm\ni") - 2 * 0.974) < 1e-9);
    assert_true(fabs(face_width("\u2212") - 0.84) < 1e-9); /* one character of three bytes */
    assert_true(face_width("\x1f\x7f") < 0.7);             /* control characters are no texts */
}

static void layout__breaks_a_title_into_even_lines(void **state)
{
    (void)state;
    struct sample p;
    sample_init(&p, "width_mm = 85", 1, 15); /* twice 15 characters fit; see make_word */
    assert_null(strchr(p.layout.title, '\n'));
    sample_release(&p);
    sample_init(&p, "width_mm = 85", 1, 24); /* of 48 characters the last few would stand alone */
    const char *newline = strchr(p.layout.title, '\n');
    assert_non_null(newline);
    assert_null(strchr(newline + 1, '\n'));
    double first = (double)(newline - p.layout.title), second = (double)strlen(newline + 1);
    assert_true(first < 2 * second && second < 2 * first);
    sample_release(&p);
}

static void check_wrapped(const char *s, size_t columns, const char *expected)
{
    char *wrapped = face_wrap_characters(s, (double)columns);
    assert_string_equal(wrapped, expected);
    free(wrapped);
}

static void face_wrap__breaks_at_spaces(void **state)
{
    (void)state;
    check_wrapped("", 10, "");
    check_wrapped("one two three", 20, "one two three");
    check_wrapped("one two three", 8, "one two\nthree");
    check_wrapped("one two three", 3, "one\ntwo\nthree");
    check_wrapped("longer-than-that", 5, "longer-than-that");
    check_wrapped("µµµµ µµµµ", 9, "µµµµ µµµµ"); /* characters, not bytes */
    check_wrapped("own\nlines stay here", 10, "own\nlines stay\nhere");
    char *wrapped = face_wrap("mmm iii mmm", 4.3); /* by width: 2.92, 0.83, 2.92 and the spaces */
    assert_string_equal(wrapped, "mmm iii\nmmm");
    free(wrapped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout__leaves_a_plot_that_nothing_covers),
        cmocka_unit_test(layout__keeps_the_size_of_the_file_when_all_fits),
        cmocka_unit_test(layout__has_no_legend_when_none_is_wanted),
        cmocka_unit_test(layout__gives_each_column_of_the_legend_its_own_width),
        cmocka_unit_test(face_width__adds_up_and_takes_the_longest_line),
        cmocka_unit_test(layout__breaks_a_title_into_even_lines),
        cmocka_unit_test(face_wrap__breaks_at_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
