/* Figures drawn by gnuplot, and what happens when it is not there, fails, or is fed with traps. */
#include "figure_fixture.h"

#include "base/file.h"
#include "figure/gnuplot.h"
#include "figure/picture.h"
#include "figure/script.h"
#include "store/db.h"
#include "store/schema.h"

#include <ctype.h>
#include <dirent.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The tests work in a directory of their own, with a database of no runs. */
static char directory[] = "/tmp/dse-figure-XXXXXX";
static char *usual_path;

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory) || chdir(directory) != 0) return -1;
    struct db db;
    struct diags d;
    diags_init(&d);
    bool ok = db_open_writer(&db, "a.db", &d) && schema_create_common(&db, &d);
    db_close(&db);
    usual_path = xstrdup(getenv("PATH"));
    return ok ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(usual_path);
    char *command = xasprintf("rm -rf %s", directory);
    int failed = system(command);
    free(command);
    return failed;
}

static bool exists(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static char *read_file(const char *path, size_t *ret_n)
{
    struct diags d;
    diags_init(&d);
    char *s;
    if (!text_read_file(path, 1 << 26, &s, ret_n, &d)) fail_msg("%s", said(&d));
    diags_release(&d);
    return s;
}

/* Nothing half-made was left in the directory. */
static void assert_no_leftovers(void)
{
    DIR *dir = opendir(".");
    for (struct dirent *e; (e = readdir(dir));)
        if (strstr(e->d_name, ".tmp")) fail_msg("%s was left behind", e->d_name);
    closedir(dir);
}

/* A hundred rows of three series as a query. */
#define ROWS \
    "with recursive n(i) as (select 1 union all select i + 1 from n where i < 100) " \
    "select i as x, 10.0 * i / (1 + i % 7) as y, 's' || (i % 3) as s from n"
#define FIGURE(kind) "[figure]\ntitle = 'A title'\nkind = '" kind "'\nsql = \"" ROWS "\"\n"
#define AXES "x = { column = 'x', better = 'min' }\ny = { column = 'y', better = 'max' }\nseries = 's'\n"

static void draw(const char *text, const char *out)
{
    struct figure *f = good_figure(text);
    struct diags d;
    diags_init(&d);
    struct reader *r = reader_open("a.db", &d);
    if (!figure_render(f, r, out, &d)) fail_msg("%s", said(&d));
    assert_int_equal(d.n, 0);
    reader_close(r);
    diags_release(&d);
    figure_free(f);
}

/* Draw and be refused; the picture, if there was one, stays as it was. */
static void check_failure(const char *text, const char *db, const char *out, int status, const char *expected)
{
    struct figure *f = good_figure(text);
    struct diags d;
    diags_init(&d);
    struct reader *r = reader_open(db, &d);
    assert_false(r && figure_render(f, r, out, &d));
    reader_close(r);
    assert_said(&d, expected);
    assert_int_equal(diags_exit_status(&d), status);
    assert_no_leftovers();
    diags_release(&d);
    figure_free(f);
}

/* ---- pictures --------------------------------------------------------------------------------------------------------- */

static void render__draws_every_kind_in_every_format(void **state)
{
    (void)state;
    static const char *const files[] = {FIGURE("pareto") AXES, FIGURE("scatter") AXES, FIGURE("lines") AXES};
    for (size_t i = 0; i < 3; i++) {
        size_t n;
        draw(files[i], "a.png");
        char *png = read_file("a.png", &n);
        assert_memory_equal(png, "\x89PNG\r\n\x1a\n", 8);
        assert_memory_equal(png + 16, "\0\0\3\xEC\0\0\2\xF1", 8); /* 1004 x 753: 85 mm at 300 dpi */
        assert_memory_equal(png + 33, "\0\0\0\x09pHYs\0\0\x2E\x23\0\0\x2E\x23\1\x78\xA5\x3F\x76", 21);
        assert_memory_equal(png + n - 8, "IEND\xAE\x42\x60\x82", 8);
        free(png);
        draw(files[i], "a.svg");
        char *svg = read_file("a.svg", &n);
        assert_non_null(strstr(svg, "A title"));
        assert_non_null(strstr(svg, "</svg>"));
        assert_null(strstr(svg, "nan"));
        for (char name[] = "s0"; name[1] < '3'; name[1]++) assert_non_null(strstr(svg, name));
        free(svg);
        draw(files[i], "a.PDF");
        char *pdf = read_file("a.PDF", &n);
        assert_memory_equal(pdf, "%PDF-", 5);
        free(pdf);
    }
    assert_no_leftovers();
}

static void render__draws_large_clouds_as_a_raster_of_bounded_size(void **state)
{
    (void)state;
    draw("[figure]\nkind = 'pareto'\nsql = \"with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) "
         "select (i * 7919) % 99991 as x, (i * 104729) % 99989 as y from n\"\nx = { column = 'x', better = 'min' }\n"
         "y = { column = 'y', better = 'max' }\n",
         "cloud.svg");
    struct stat st;
    assert_int_equal(stat("cloud.svg", &st), 0);
    assert_true(st.st_size < 1000000);
    draw("[figure]\nkind = 'scatter'\nsql = 'select 1 as x, 2 as y'\nx = 'x'\ny = 'y'\n", "cloud.svg"); /* replaces it */
    assert_int_equal(stat("cloud.svg", &st), 0);
    assert_true(st.st_size < 20000);
}

static void render__draws_into_a_terminal(void **state)
{
    (void)state;
    struct figure *f = good_figure(FIGURE("pareto") AXES);
    struct diags d;
    diags_init(&d);
    char *s = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&s, &n);
    struct reader *r = reader_open("a.db", &d);
    assert_true(figure_render_terminal(f, r, 70, 20, out, &d));
    reader_close(r);
    fclose(out);
    assert_non_null(strstr(s, "A title"));
    assert_non_null(strstr(s, "A s0"));
    int lines = 0;
    for (const char *p = s; *p; p += strcspn(p, "\n") + (p[strcspn(p, "\n")] == '\n')) {
        assert_true(strcspn(p, "\n") <= 70);
        lines++;
    }
    assert_in_range(lines, 17, 20);
    free(s);
    diags_release(&d);
    figure_free(f);
}

static void render__is_the_same_in_a_foreign_locale(void **state)
{
    (void)state;
    draw(FIGURE("lines") AXES, "c.svg");
    setenv("LC_ALL", "de_DE.UTF-8", 1);
    setlocale(LC_ALL, ""); /* when that locale is not installed, gnuplot's environment is still tried */
    draw(FIGURE("lines") AXES, "de.svg");
    unsetenv("LC_ALL");
    setlocale(LC_ALL, "C");
    char *c = read_file("c.svg", NULL), *de = read_file("de.svg", NULL);
    assert_string_equal(c, de);
    free(c);
    free(de);
}

/* ---- traps ------------------------------------------------------------------------------------------------------------ */

/* Undo script_add_string, and check that nothing but escapes, letters, digits and spaces stands in it. */
static char *unescape(const char *quoted)
{
    struct text t;
    text_init(&t);
    size_t n = strlen(quoted);
    assert_true(n >= 2 && quoted[0] == '"' && quoted[n - 1] == '"');
    for (size_t i = 1; i < n - 1; i++) {
        if (quoted[i] != '\\') {
            assert_true(isalnum((unsigned char)quoted[i]) || quoted[i] == ' ');
            text_add_bytes(&t, quoted + i, 1);
            continue;
        }
        char c = (char)((quoted[i + 1] - '0') * 64 + (quoted[i + 2] - '0') * 8 + (quoted[i + 3] - '0'));
        text_add_bytes(&t, &c, 1);
        i += 3;
        assert_false(isdigit((unsigned char)quoted[i + 1])); /* gnuplot would take it for a part of the escape */
    }
    return text_detach(&t);
}

static void check_escaped(const char *s, const char *expected)
{
    struct text t;
    text_init(&t);
    script_add_string(&t, s);
    char *back = unescape(t.s);
    assert_string_equal(back, expected);
    free(back);
    text_release(&t);
}

/* A figure whose every text wants to be more than one: an element, an attribute, a command. */
static void render__shows_hostile_texts_as_they_are(void **state)
{
    (void)state;
    draw("[figure]\ntitle = '''</text><script>alert(1)</script> \"; system(\"touch pwned\"); `touch pwned` $(touch pwned)'''\n"
         "kind = 'lines'\nsql = '''select 1 as \"`touch pwned`\", 2 as \"</text><g onload=1>\", '!touch pwned' as s union all "
         "select 2, 3, '|touch pwned' union all select 3, 4, '<script>' '''\n"
         "annotation_sql = \"select 1 as x, 2 as y, '</text><script>`touch pwned`' as text\"\n"
         "x = '`touch pwned`'\ny = '</text><g onload=1>'\nseries = 's'\n",
         "hostile.svg");
    char *svg = read_file("hostile.svg", NULL);
    assert_non_null(strstr(svg, "&lt;script"));
    assert_null(strstr(svg, "<script"));
    assert_null(strstr(svg, "<g onload"));
    assert_false(exists("pwned"));
    free(svg);
}

/* gnuplot runs a path that begins with '|' or '<'. */
static void script__writes_no_path_that_is_a_command(void **state)
{
    (void)state;
    static const char *const paths[] = {"|touch pwned; cat >", "<touch pwned; cat ", "50%d {a}_b@c", "plain"};
    struct figure *f = good_figure(FIGURE("lines") AXES);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct diags d;
        diags_init(&d);
        struct reader *r = reader_open("a.db", &d);
        if (!figure_write_script(f, r, paths[i], &d)) fail_msg("%s", said(&d));
        reader_close(r);
        diags_release(&d);
        char *command = xasprintf("gnuplot -d './%s' && test -s './%s.pdf'", paths[i], paths[i]);
        assert_int_equal(system(command), 0);
        free(command);
        assert_false(exists("pwned") || exists("pwned.pdf") || exists("pwned.dat"));
    }
    figure_free(f);
}

static void script_add_string__lets_no_character_mean_anything(void **state)
{
    (void)state;
    static const char *const kept[] = {"",          "plain 42",   "\"quoted\"", "back\\slash\\n", "two\nlines",
                                       "`touch x`", "$(touch x)", "@macro",     "{/Bold x}_2^3&", "100% µm² 中文 🙂",
                                       "2b-2b-13b", "'",          "# no",       "%d %s"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) check_escaped(kept[i], kept[i]);
    check_escaped("a\tb\x7F\x01", "a b  ");
    check_escaped("\xFF", "\xEF\xBF\xBD");
    check_escaped("\xC3", "\xEF\xBF\xBD");
    check_escaped("\xC0\xAF", "\xEF\xBF\xBD\xEF\xBF\xBD");
    check_escaped("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

static void labels__are_never_executed(void **state)
{
    (void)state;
    draw("[figure]\ntitle = '`touch trap1` $(touch trap2) \" ; system(\"touch trap3\") #'\nkind = 'lines'\n"
         "sql = \"select 1 as x, 2 as y, '`touch trap4`' as s union all select 2, 3, '\\\"; !touch trap5' "
         "union all select 3, 4, '@a {/*4 b} <&> \\\\n'\"\n"
         "x = { column = 'x', label = 'a\\nb' }\ny = { column = 'y', label = \"c\\nd _e^f\" }\n"
         "series = { column = 's', label = '\"`touch trap6`' }\n",
         "trap.svg");
    for (char name[] = "trap1"; name[4] <= '6'; name[4]++) assert_false(exists(name));
    char *svg = read_file("trap.svg", NULL);
    assert_non_null(strstr(svg, "`touch trap4`"));
    assert_non_null(strstr(svg, "!touch trap5"));
    assert_non_null(strstr(svg, "@a {/*4 b} &lt;&amp;"));
    assert_non_null(strstr(svg, "d _e^f"));
    free(svg);
}

/* ---- failures --------------------------------------------------------------------------------------------------------- */

static void render__says_what_is_wrong_with_the_query(void **state)
{
    (void)state;
    check_failure("[figure]\nkind = 'scatter'\nsql = '''\nselect 1 as x,\n  tils as y'''\nx = 'x'\ny = 'y'\n", "a.db", "b.png", 2,
                  "5:3: no such column: tils");
    check_failure("[figure]\nkind = 'scatter'\nsql = 'select 1 as x, 2 as y where 0'\nx = 'x'\ny = 'y'\n", "a.db", "b.png", 2,
                  "3:8: sql: the query gives no rows");
    check_failure(FIGURE("lines") AXES, "none.db", "b.png", 1, "cannot be opened: No such file");
    assert_false(exists("b.png"));
}

static void render__refuses_outputs_that_cannot_be(void **state)
{
    (void)state;
    assert_int_equal(mkdir("dir.png", 0777), 0);
    check_failure(FIGURE("lines") AXES, "a.db", "b.jpg", 2,
                  "\".jpg\" cannot be the format of a figure | the ending names the format");
    check_failure(FIGURE("lines") AXES, "a.db", "b", 2, "a name without an ending cannot be the format of a figure");
    check_failure(FIGURE("lines") AXES, "a.db", "d.png/b", 2, "a name without an ending cannot be the format of a figure");
    check_failure(FIGURE("lines") AXES, "a.db", "none/b.png", 1, "cannot write the figure: the directory none: No such file");
    check_failure(FIGURE("lines") AXES, "a.db", "a.db/b.png", 1, "cannot write the figure: a.db is not a directory");
    check_failure(FIGURE("lines") AXES, "a.db", "dir.png", 1, "cannot write the figure: it is a directory");
    if (geteuid() != 0) {
        assert_int_equal(mkdir("closed", 0555), 0);
        check_failure(FIGURE("lines") AXES, "a.db", "closed/b.png", 1, "the directory closed: Permission denied");
    }
}

/* With a program of the given text as gnuplot: the picture that was there stays. */
static void check_false_gnuplot(const char *program, const char *expected)
{
    write_file("kept.png", "a picture", 0666);
    mkdir("bin", 0777);
    if (program) write_file("bin/gnuplot", program, 0777);
    setenv("PATH", "bin", 1);
    /* more than a socket holds, so that a child which does not read is noticed */
    check_failure(
        "[figure]\nkind = 'scatter'\nsql = \"with recursive n(i) as (select 1 union all select i + 1 from n where i < 90000) "
        "select i as x, (i * 7919) % 90001 as y from n\"\nx = 'x'\ny = 'y'\n",
        "a.db", "kept.png", 1, expected);
    setenv("PATH", usual_path, 1);
    size_t n;
    char *kept = read_file("kept.png", &n);
    assert_string_equal(kept, "a picture");
    free(kept);
}

static void render__leaves_no_half_picture_when_gnuplot_fails(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    check_false_gnuplot("#!/bin/sh\necho half; exit 0\n", "gnuplot ended before it had read everything"); /* and claims success */
    check_false_gnuplot("#!/bin/sh\nwhile read -r x; do :; done; echo half\n", "gnuplot's picture is not whole");
}

static void render__tells_how_gnuplot_failed(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    check_false_gnuplot("#!/bin/sh\necho '   line 7: no such font' >&2; exit 3\n",
                        "gnuplot failed with exit status 3: line 7: no such font");
    check_false_gnuplot("#!/bin/sh\necho half; kill -SEGV $$\n",
                        "gnuplot was ended by signal 11 (Segmentation fault): it said nothing");
    check_false_gnuplot("#!/bin/sh\nwhile read -r x; do :; done; exit 0\n", "gnuplot drew nothing: it said nothing");
    check_false_gnuplot("#!/nowhere/sh\n", "cannot be run: No such file or directory");
}

/* Has the process ended, if it is given a little time? One that nobody has waited for yet has, too. */
static bool is_gone(int pid)
{
    char *stat = xasprintf("/proc/%d/stat", pid), line[256];
    bool gone = false;
    for (int i = 0; i < 250 && !gone; i++) {
        FILE *f = fopen(stat, "r");
        gone = !f || !fgets(line, sizeof line, f) || strstr(line, ") Z ");
        if (f) fclose(f);
        if (!gone) usleep(20000);
    }
    free(stat);
    return gone;
}

/* It hangs without reading, reads and hangs, catches signals, leaves a child, or prints without end. */
static void render__waits_for_no_gnuplot_for_ever(void **state)
{
    (void)state;
    static const char late[] = "gnuplot did not end within 0.5 s and was killed (DSE_GNUPLOT_SECONDS sets another limit): ";
    setenv("DSE_GNUPLOT_SECONDS", "0.5", 1);
    check_false_gnuplot("#!/bin/sh\nexec /bin/sleep 100\n", late);
    check_false_gnuplot("#!/bin/sh\ntrap '' TERM INT HUP\necho thinking >&2\nwhile read -r x; do :; done\nwhile :; do :; done\n",
                        "sets another limit): thinking");
    check_false_gnuplot("#!/bin/sh\n/bin/sleep 100 &\necho $! >sleeper\nwait\n", late);
    size_t n;
    char *sleeper = read_file("sleeper", &n);
    assert_true(is_gone(atoi(sleeper)));
    free(sleeper);
    setenv("DSE_GNUPLOT_SECONDS", "60", 1);
    check_false_gnuplot("#!/bin/sh\nexec /usr/bin/yes\n", "gnuplot printed more than 256 MiB, which is no picture");
    unsetenv("DSE_GNUPLOT_SECONDS");
}

/* A process of its own draws, and is killed. */
static void render__takes_gnuplot_with_it_when_it_is_killed(void **state)
{
    (void)state;
    mkdir("bin", 0777);
    write_file("bin/gnuplot", "#!/bin/sh\necho $$ >drawing.new; /bin/mv drawing.new drawing\nexec /bin/sleep 100\n", 0777);
    const pid_t pid = fork();
    if (pid == 0) {
        struct diags d;
        struct text t;
        diags_init(&d);
        text_init(&t);
        setenv("PATH", "bin", 1);
        gnuplot_run("x", 1, &t, &d);
        _exit(0);
    }
    while (!exists("drawing") && waitpid(pid, NULL, WNOHANG) == 0) usleep(10000);
    size_t n;
    char *drawing = read_file("drawing", &n);
    assert_int_equal(kill(atoi(drawing), 0), 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(is_gone(atoi(drawing)));
    free(drawing);
}

static void render__needs_gnuplot_on_the_path(void **state)
{
    (void)state;
    static const char *const paths[] = {"", ":", "/nowhere:", "none:a.db"};
    write_file("gnuplot", "#!/bin/sh\ntouch trap7\n", 0777); /* the working directory is not on the PATH */
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        setenv("PATH", paths[i], 1);
        check_failure(FIGURE("lines") AXES, "a.db", "b.png", 1, "gnuplot, which draws the figures, is not on the PATH: install it");
        setenv("PATH", usual_path, 1);
    }
    assert_false(exists("trap7"));
    assert_false(exists("b.png"));
}

static void gnuplot_run__tells_gnuplots_own_words(void **state)
{
    (void)state;
    static const char script[] = "set term svg\nplot nosuch\n";
    struct diags d;
    diags_init(&d);
    struct text t;
    text_init(&t);
    assert_false(gnuplot_run(script, sizeof script - 1, &t, &d));
    assert_said(&d, "undefined variable: nosuch");
    text_release(&t);
    diags_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(render__draws_every_kind_in_every_format),
        cmocka_unit_test(render__draws_large_clouds_as_a_raster_of_bounded_size),
        cmocka_unit_test(render__draws_into_a_terminal),
        cmocka_unit_test(render__is_the_same_in_a_foreign_locale),
        cmocka_unit_test(render__shows_hostile_texts_as_they_are),
        cmocka_unit_test(script__writes_no_path_that_is_a_command),
        cmocka_unit_test(script_add_string__lets_no_character_mean_anything),
        cmocka_unit_test(labels__are_never_executed),
        cmocka_unit_test(render__says_what_is_wrong_with_the_query),
        cmocka_unit_test(render__refuses_outputs_that_cannot_be),
        cmocka_unit_test(render__leaves_no_half_picture_when_gnuplot_fails),
        cmocka_unit_test(render__tells_how_gnuplot_failed),
        cmocka_unit_test(render__waits_for_no_gnuplot_for_ever),
        cmocka_unit_test(render__takes_gnuplot_with_it_when_it_is_killed),
        cmocka_unit_test(render__needs_gnuplot_on_the_path),
        cmocka_unit_test(gnuplot_run__tells_gnuplots_own_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
