/* Texts in figures: whatever stands in one, in every place that takes one, is drawn as it is. */
#include "base/file.h"
#include "figure_fixture.h"

#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])
#define XY "x = 'x'\ny = 'y'\n"

/* Figures that have texts in places: $T for one in TOML, $S for an expression of SQL that gives it, $N for a name in SQL and $C
 * for the same in TOML. The first text of a figure begins with A, the second with B, ..., that of $N and $C with N. */
static const char *const figures[] = {
    /* title; labels of x and y; series; heading of the legend; published points; notes, rules and ranges */
    "kind = 'lines'\ntitle = $T\nx = { column = 'x', label = $T }\ny = { column = 'y', label = $T }\n"
    "sql = \"select 1 as x, 2 as y, $S as s union all select 2, 3, 'other'\"\nseries = { column = 's', label = $T }\n"
    "reference_sql = \"select 1 as x, 2 as y\"\nreference_label = $T\n"
    "annotation_sql = \"select 1.5 as x, 2.5 as y, $S as text union all select NULL, 2.2, $S union all select 1.7, NULL, $S\"\n"
    "band_sql = \"select 1.2 as x_from, 1.8 as x_to, $S as text\"\n",
    /* category; category and groups of bars; row of a chart; label of the scale of values; axis of parallel coordinates */
    "kind = 'bars'\nsql = \"select $S as x, 2 as y union all select 'other', 1\"\n" XY,
    "kind = 'stacked-bars'\ngroup = 'g'\nsql = \"select $S as x, 2 as y, $S as g\"\n" XY,
    "kind = 'gantt'\nsql = \"select 1 as x, $S as y, 2 as e\"\nend = 'e'\n" XY,
    "kind = 'heatmap'\nsql = \"select 1 as x, 2 as y, 3 as v\"\nvalue = { column = 'v', label = $T }\n" XY,
    "kind = 'parallel'\nsql = \"select 1 as x, 2 as y\"\ncolumns = [{ column = 'x', label = $T }, 'y']\n",
    /* a column without a label of its own */
    "kind = 'lines'\nsql = \"select 1 as $N, 2 as y union all select 2, 3\"\nx = $C\ny = 'y'\n",
};

static char directory[] = "/tmp/dse-texts-XXXXXX";
static struct reader *no_database; /* for SQL alone */

static int set_up(void **state)
{
    (void)state;
    struct diags d;
    diags_init(&d);
    no_database = reader_open(NULL, &d);
    diags_release(&d);
    return no_database && mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    reader_close(no_database);
    return unlink("a.svg") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

/* ---- figures ---------------------------------------------------------------------------------------------------------------- */

/* A text as TOML has it in double quotes; of a name in SQL, with quotes around it that are escaped. */
static void add_toml(struct text *t, const char *s, bool is_name)
{
    text_add(t, is_name ? "\\\"" : "\"");
    for (; *s; s++) {
        if ((unsigned char)*s > 0x7F)
            text_add_bytes(t, s, 1);
        else
            text_addf(t, is_name && *s == '"' ? "\\u%04X\\u%04X" : "\\u%04X", *s, *s);
    }
    text_add(t, is_name ? "\\\"" : "\"");
}

static void add_sql(struct text *t, const char *s)
{
    text_add(t, "cast(x'");
    for (; *s; s++) text_addf(t, "%02X", (unsigned char)*s);
    text_add(t, "' as text)");
}

/* The text of a place: a letter, and `s` behind it. */
static char *text_of(char place, const char *s)
{
    return xasprintf("%c%s", place, s);
}

/* The figure file with the text in all its places. Free it. */
static char *figure_of(const char *keys, const char *s)
{
    struct text t;
    char place = 'A';
    text_init(&t);
    text_add(&t, "[output]\nwidth_mm = 250\nheight_mm = 200\n[figure]\n");
    for (const char *p = keys; *p; p++) {
        if (*p != '$') {
            text_add_bytes(&t, p, 1);
            continue;
        }
        const char what = *++p;
        char *text = text_of(what == 'N' || what == 'C' ? 'N' : place++, s);
        if (what == 'S')
            add_sql(&t, text);
        else
            add_toml(&t, text, what == 'N');
        free(text);
    }
    return text_detach(&t);
}

/* The texts of a picture, one a line, without the escapes of XML. The caller frees them. */
static char *texts_of(const char *svg)
{
    static const struct {
        const char *escape, *plain;
    } escapes[] = {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&apos;", "'"}, {"&#39;", "'"}};
    struct text t;
    text_init(&t);
    for (const char *p = svg; (p = strstr(p, "<text>"));) {
        for (p += strlen("<text>"); *p && *p != '<';) {
            size_t i = 0;
            while (i < COUNT(escapes) && strncmp(p, escapes[i].escape, strlen(escapes[i].escape)) != 0) i++;
            if (i < COUNT(escapes))
                text_add(&t, escapes[i].plain);
            else
                text_add_bytes(&t, p, 1);
            p += i < COUNT(escapes) ? strlen(escapes[i].escape) : 1;
        }
        text_add(&t, "\n");
    }
    return text_detach(&t);
}

/* The texts of the picture of a figure. The caller frees them. */
static char *draw(const char *text)
{
    struct figure *f = good_figure(text);
    struct diags d;
    diags_init(&d);
    if (!figure_render(f, no_database, "a.svg", &d) || d.n) fail_msg("%s\n%s", said(&d), text);
    figure_free(f);
    char *svg;
    if (!text_read_file("a.svg", 1 << 26, &svg, NULL, &d)) fail_msg("%s", said(&d));
    diags_release(&d);
    char *texts = texts_of(svg);
    free(svg);
    return texts;
}

/* Is one of the lines this one? */
static bool has_line(const char *lines, const char *line)
{
    const size_t n = strlen(line);
    for (const char *p = lines; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n'))
        if (strcspn(p, "\n") == n && strncmp(p, line, n) == 0) return true;
    return false;
}

/* Draw the text in all places of a figure, and look for what is to be drawn of it. */
static void check_figure(const char *keys, const char *text, const char *drawn)
{
    char *figure = figure_of(keys, text), *texts = draw(figure), place = 'A';
    for (const char *p = keys; (p = strchr(p, '$')); p++) {
        char *line = text_of(p[1] == 'N' || p[1] == 'C' ? 'N' : place++, drawn);
        if (p[1] == 'N') /* as label.h writes names */
            for (char *q = line; (q = strchr(q, '_'));) *q = ' ';
        if (p[1] != 'C' && !has_line(texts, line)) fail_msg("\"%s\" is not drawn of\n%s\nThese are:\n%s", line, figure, texts);
        free(line);
    }
    free(texts);
    free(figure);
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------ */

static void texts__of_every_printable_character_are_drawn_in_every_place(void **state)
{
    (void)state;
    enum { CHARACTERS = 48 }; /* with the letter as long as the name of a tick may be */
    for (int first = ' '; first <= '~'; first += CHARACTERS) {
        char text[CHARACTERS + 1] = "";
        for (int c = first, n = 0; c < first + CHARACTERS && c <= '~'; c++) text[n++] = (char)c;
        for (size_t i = 0; i < COUNT(figures); i++) check_figure(figures[i], text, text);
    }
}

static void texts__of_other_alphabets_are_drawn_in_every_place(void **state)
{
    (void)state;
    static const char text[] = "µm² 中文 🙂 10 %é";
    for (size_t i = 0; i < COUNT(figures); i++) check_figure(figures[i], text, text);
}

/* Categories that gnuplot would take for formats, escapes, commands or markup: each of these characters before each other. */
static void categories__are_no_formats_and_no_escapes(void **state)
{
    (void)state;
    static const char leads[][3] = {"%\\", "`^", "{@"};
    for (size_t i = 0; i < COUNT(leads); i++) {
        char *figure =
            xasprintf("[output]\nwidth_mm = 600\n[figure]\nkind = 'bars'\n"
                      "sql = \"with recursive n(i) as (select 33 union all select i + 1 from n where i < 126) "
                      "select 'a' || char(lead, i) || 'b' as x, i as y from n, (select %d as lead union all select %d)\"\n" XY,
                      leads[i][0], leads[i][1]);
        char *texts = draw(figure);
        for (const char *lead = leads[i]; *lead; lead++)
            for (char c = '!'; c <= '~'; c++) {
                const char name[] = {'a', *lead, c, 'b', '\0'};
                if (!has_line(texts, name)) fail_msg("\"%s\" is not drawn; these are:\n%s", name, texts);
            }
        free(texts);
        free(figure);
    }
}

/* But for title and labels, which have room for several. */
static void names__of_several_lines_take_one(void **state)
{
    (void)state;
    static const char names[] =
        "kind = 'lines'\nsql = \"select 1 as x, 2 as y, $S as s\"\nseries = { column = 's', label = $T }\n" XY
        "reference_sql = \"select 1 as x, 2 as y\"\nreference_label = $T\n"
        "annotation_sql = \"select 1.5 as x, 2.5 as y, $S as text\"\n"
        "band_sql = \"select 1.2 as x_from, 1.8 as x_to, $S as text\"\n";
    check_figure(names, "One\ntwo\t3", "One two 3");
    for (size_t i = 1; i < COUNT(figures); i++)
        if (!strstr(figures[i], "heatmap") && !strstr(figures[i], "$N")) check_figure(figures[i], "One\ntwo\t3", "One two 3");
}

/* gnuplot shows 49 bytes of a tick with a percent sign. */
static void categories__that_are_too_long_say_so(void **state)
{
    (void)state;
    static const char category[] = "kind = 'bars'\nsql = \"select $S as x, 2 as y\"\n" XY;
    check_figure(category, ": 20 % of the positions of a cache left, and none kept",
                 ": 20 % of the positions of a cache left, and …");
    check_figure(category, "100 % éééééééééééééééééééééééééééééé", "100 % ééééééééééééééééééé…");
    check_figure(category, ": positions of a cache left, and none of them was kept for much longer",
                 ": positions of a cache left, and none of them was kept for …");
}

static void terminal__shows_texts_as_they_are(void **state)
{
    (void)state;
    static const char text[] = "20 % evicted", figure[] = "[figure]\ntitle = '50%d {/a_b}^2'\nkind = 'grouped-bars'\nseries = 's'\n"
                                                          "sql = \"select '20 % evicted' as x, 2 as y, '5%s`' as s\"\n" XY;
    struct figure *f = good_figure(figure);
    struct diags d;
    diags_init(&d);
    char *s = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&s, &n);
    assert_true(figure_render_terminal(f, no_database, 80, 24, out, &d));
    fclose(out);
    assert_non_null(strstr(s, text));
    assert_non_null(strstr(s, "50%d {/a_b}^2"));
    assert_non_null(strstr(s, "5%s`"));
    free(s);
    diags_release(&d);
    figure_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts__of_every_printable_character_are_drawn_in_every_place),
        cmocka_unit_test(texts__of_other_alphabets_are_drawn_in_every_place),
        cmocka_unit_test(categories__are_no_formats_and_no_escapes),
        cmocka_unit_test(names__of_several_lines_take_one),
        cmocka_unit_test(categories__that_are_too_long_say_so),
        cmocka_unit_test(terminal__shows_texts_as_they_are),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
