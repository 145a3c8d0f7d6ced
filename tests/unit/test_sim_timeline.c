/* Timelines and Gantt charts. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <cmocka.h>
#include <sqlite3.h>

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "scratch.h"
#include "sim/gantt.h"
#include "sim/timeline.h"
#include "sim_parts.h"

/* ---- timelines -------------------------------------------------------------------------------------------------------------- */

static char *dir;

static int make_dir(void **state)
{
    (void)state;
    dir = scratch_new();
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    scratch_remove(dir);
    return 0;
}

static char *path_of(const char *name)
{
    return xasprintf("%s/%s", dir, name);
}

static char *read_file(const char *name)
{
    struct diags d;
    diags_init(&d);
    char *path = path_of(name), *text = NULL;
    assert_true(text_read_file(path, 1 << 28, &text, NULL, &d));
    diags_release(&d);
    free(path);
    return text;
}

static size_t files_in_dir(void)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static struct timeline *open_timeline(const char *name)
{
    struct diags d;
    diags_init(&d);
    char *path = path_of(name);
    struct timeline *t = timeline_open(path, "toy", &d);
    assert_non_null(t);
    assert_int_equal(d.errors, 0);
    diags_release(&d);
    free(path);
    return t;
}

static void close_timeline(struct timeline *t)
{
    struct diags d;
    diags_init(&d);
    assert_true(timeline_close(t, &d));
    assert_int_equal(d.errors, 0);
    diags_release(&d);
}

/* SQLite reads the JSON: the first column of the first row of `sql`, in which the timeline is ?1. */
static double ask(const char *json, const char *sql, int64_t parameter, const char *text)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) fail_msg("%s", sqlite3_errmsg(db));
    sqlite3_bind_text(s, 1, json, -1, SQLITE_STATIC);
    if (sqlite3_bind_parameter_count(s) > 1) sqlite3_bind_int64(s, 2, parameter);
    if (sqlite3_bind_parameter_count(s) > 2) sqlite3_bind_text(s, 3, text, -1, SQLITE_STATIC);
    if (sqlite3_step(s) != SQLITE_ROW) fail_msg("%s", sqlite3_errmsg(db));
    const double v = sqlite3_column_double(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return v;
}

#define EVENTS "json_each(?1, '$.traceEvents') WHERE json_extract(value, '$.ph') = 'X' "

static void timeline__holds_what_the_statistics_say(void **state)
{
    (void)state;
    struct timeline *t = open_timeline("run.json");
    struct dse_sim *sim = sim_new(&(struct sim_options){.recorder = timeline_recorder(t)});
    struct fixed f[3] = {
        {.interval = 3001, .latency = 7000}, {.interval = 9000, .latency = 9000}, {.interval = 2000, .latency = 2000}};
    struct dse_fifo *a = dse_fifo_new(sim, "a", 0), *b = dse_fifo_new(sim, "b", 1), *c = dse_fifo_new(sim, "c", 2);
    add_fixed(sim, "first", &f[0], a, b, 0);
    add_fixed(sim, "second", &f[1], b, c, 0);
    add_fixed(sim, "third", &f[2], c, NULL, 0);
    fill(a, 1000);
    assert_true(dse_sim_run(sim));
    sim_finish(sim);
    close_timeline(t);
    char *json = read_file("run.json");
    assert_true(ask(json, "SELECT json_valid(?1)", 0, NULL) == 1);
    assert_true(ask(json, "SELECT count(*) FROM " EVENTS, 0, NULL) > 1000);
    for (uint32_t i = 0; i < 3; i++)
        for (int s = DSE_BUSY; s < DSE_STATES; s++) {
            const double us = ask(json,
                                  "SELECT total(json_extract(value, '$.dur')) FROM " EVENTS
                                  "AND json_extract(value, '$.tid') = ?2 AND json_extract(value, '$.cat') = ?3",
                                  i + 1, sim_state_names[s]);
            assert_int_equal(llrint(us * 1e6), dse_resource_time(sim, i, (enum dse_state)s));
        }
    /* a track's events do not overlap */
    assert_true(
        ask(json,
            "SELECT count(*) FROM (SELECT json_extract(value, '$.ts') AS ts, lag(json_extract(value, '$.ts') + json_extract(value, "
            "'$.dur')) OVER (PARTITION BY json_extract(value, '$.tid') ORDER BY key) AS before FROM " EVENTS ") WHERE ts < before "
            "- 1e-7",
            0, NULL) == 0);
    free(json);
    sim_free(sim);
    assert_int_equal(files_in_dir(), 1);
}

static void timeline__names_are_what_the_viewer_shows(void **state)
{
    (void)state;
    struct timeline *t = open_timeline("names.json");
    const struct sim_recorder *r = timeline_recorder(t);
    r->resource(r->object, 0, "", "say \"hi\"\\\n\t\x01");
    r->resource(r->object, 1, "tile 0", "\xC3\xA4\xFF");
    r->resource(r->object, 2, "", "dma");
    r->resource(r->object, 3, "tile 1", "mac");
    r->resource(r->object, 4, "tile 0", "mac");
    r->span(r->object, &(struct sim_span){.resource = 1, .state = DSE_BUSY, .label = "keys", .id = 3, .from = 1, .to = 1000001});
    r->span(r->object, &(struct sim_span){
                           .resource = 1, .state = DSE_STALL_OUTPUT, .label = "scores", .id = -1, .from = 1000001, .to = 1000002});
    r->span(r->object, &(struct sim_span){.resource = 0, .state = DSE_STALL_INPUT, .id = -1, .from = 0, .to = SIM_TIME_MAX});
    r->span(r->object, &(struct sim_span){.resource = 4, .state = DSE_BUSY, .id = 0, .from = 5000000, .to = 5500000});
    close_timeline(t);
    char *json = read_file("names.json");
    assert_true(ask(json, "SELECT json_valid(?1)", 0, NULL) == 1);
    static const char *const lines[] = {
        "\"name\":\"process_name\",\"pid\":1,\"tid\":0,\"args\":{\"name\":\"toy\"}",
        "\"name\":\"process_name\",\"pid\":2,\"tid\":0,\"args\":{\"name\":\"tile 0\"}",
        "\"name\":\"process_name\",\"pid\":3,\"tid\":0,\"args\":{\"name\":\"tile 1\"}",
        "\"name\":\"thread_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":\"say \\\"hi\\\"\\\\\\n\\u0009\\u0001\"}",
        "\"name\":\"thread_name\",\"pid\":2,\"tid\":2,\"args\":{\"name\":\"\xC3\xA4\xEF\xBF\xBD\"}",
        "\"name\":\"thread_name\",\"pid\":2,\"tid\":5,\"args\":{\"name\":\"mac\"}",
        "\"name\":\"keys 3\",\"cat\":\"busy\",\"pid\":2,\"tid\":2,\"ts\":0.000001,\"dur\":1.000000}",
        "\"name\":\"stalled on output: scores\",\"cat\":\"stalled on output\",\"pid\":2,"
        "\"tid\":2,\"ts\":1.000001,\"dur\":0.000001}",
        "\"name\":\"stalled on input\",\"cat\":\"stalled on input\",\"pid\":1,"
        "\"tid\":1,\"ts\":0.000000,\"dur\":4611686018427.387903}",
        "\"name\":\"busy 0\",\"cat\":\"busy\",\"pid\":2,\"tid\":5,\"ts\":5.000000,\"dur\":0.500000}",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(json, lines[i])) fail_msg("%s is not in\n%s", lines[i], json);
    free(json);
}

static void timeline__without_events_is_valid(void **state)
{
    (void)state;
    close_timeline(open_timeline("empty.json"));
    char *json = read_file("empty.json");
    assert_true(ask(json, "SELECT json_array_length(?1, '$.traceEvents')", 0, NULL) == 0);
    free(json);
}

static void expect_error(const char *path, const char *message)
{
    struct diags d;
    diags_init(&d);
    assert_null(timeline_open(path, "toy", &d));
    assert_int_equal(d.errors, 1);
    assert_string_equal(d.list[0].message, message);
    assert_int_equal(diags_exit_status(&d), 1);
    diags_release(&d);
}

static void timeline__that_cannot_be_written_leaves_what_was_there(void **state)
{
    (void)state;
    expect_error("/nonexistent/run.json", "cannot write: No such file or directory");
    expect_error(dir, "cannot write: it is not a regular file");
    expect_error("/dev/null", "cannot write: it is not a regular file");

    scratch_write(dir, "old.json", "old");
    const size_t files = files_in_dir();
    timeline_abandon(open_timeline("old.json"));
    timeline_abandon(NULL);

    struct timeline *t = open_timeline("old.json");
    const struct sim_recorder *r = timeline_recorder(t);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = (struct rlimit){.rlim_cur = 4096, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small); /* as a full disk */
    r->resource(r->object, 0, "", "mac");
    for (dse_ps i = 0; i < 3000; i++) r->span(r->object, &(struct sim_span){.state = DSE_BUSY, .id = i, .from = i, .to = i + 1});
    struct diags d;
    diags_init(&d);
    assert_false(timeline_close(t, &d));
    setrlimit(RLIMIT_FSIZE, &before);
    assert_string_equal(d.list[0].message, "cannot write: File too large");
    diags_release(&d);
    assert_int_equal(files_in_dir(), files);
    char *text = read_file("old.json");
    assert_string_equal(text, "old");
    free(text);
}

/* ---- Gantt charts ----------------------------------------------------------------------------------------------------------- */

enum { NS = 1000 };

static void span(struct gantt *g, uint32_t resource, enum dse_state state, const char *label, int64_t id, dse_ps from_ns,
                 dse_ps to_ns)
{
    const struct sim_recorder *r = gantt_recorder(g);
    r->span(r->object, &(struct sim_span){
                           .resource = resource, .state = state, .label = label, .id = id, .from = from_ns * NS, .to = to_ns * NS});
}

static void resource(struct gantt *g, uint32_t i, const char *group, const char *name)
{
    const struct sim_recorder *r = gantt_recorder(g);
    r->resource(r->object, i, group, name);
}

static void expect_chart(const struct gantt *g, dse_ps end_ns, struct gantt_style style, const char *expected)
{
    char *text = gantt_draw(g, end_ns * NS, &style);
    assert_string_equal(text, expected);
    free(text);
}

/* Two heads on two tiles: 30 cells for 30 ns. */
static struct gantt *two_tiles(dse_ps from_ns, dse_ps to_ns)
{
    struct gantt *g = gantt_new(from_ns * NS, to_ns * NS);
    resource(g, 0, "", "dma");
    resource(g, 1, "tile 0", "mac");
    resource(g, 2, "tile 1", "sfu");
    resource(g, 3, "tile 0", "ac");
    span(g, 0, DSE_BUSY, "keys", 0, 0, 8);
    span(g, 1, DSE_STALL_INPUT, "keys", -1, 2, 8);
    span(g, 1, DSE_BUSY, "mac", 0, 8, 12);
    span(g, 0, DSE_BUSY, "values", 10, 8, 20);
    span(g, 1, DSE_BUSY, "mac", 1, 12, 13);
    span(g, 1, DSE_BUSY, "mac", 12, 13, 15);
    span(g, 1, DSE_STALL_OUTPUT, "scores", -1, 15, 21);
    span(g, 2, DSE_BUSY, "sfu", -1, 20, 30);
    span(g, 3, DSE_BUSY, "AC.1", 123456789, 29, 30);
    return g;
}

static void gantt__shows_states_labels_and_time(void **state)
{
    (void)state;
    struct gantt *g = two_tiles(0, 0);
    expect_chart(g, 30, (struct gantt_style){.width = 41},
                 "dma   keys 0##values 10###..........  67%\n"
                 "tile 0\n"
                 "  mac ..------0###1##======.........  23%\n"
                 "  ac  .............................#   3%\n"
                 "tile 1\n"
                 "  sfu ....................##########  33%\n"
                 "      '         '         '\n"
                 "      0         10        20 ns\n"
                 "# busy  - stalled on input  = stalled on output  . idle; %: busy\n");
    expect_chart(g, 30, (struct gantt_style){.width = 41, .utf8 = true, .lines = 2},
                 "dma   keys 0██values 10███··········  67%\n"
                 "tile 0\n"
                 "  mac ··░░░░░░0███1██▒▒▒▒▒▒·········  23%\n"
                 "      ╵         ╵         ╵\n"
                 "      0         10        20 ns\n"
                 "█ busy  ░ stalled on input  ▒ stalled on output  · idle; %: busy\n"
                 "2 more resources are not drawn\n");
    /* half the cells: each shows what fills most of it, work before waiting before nothing */
    expect_chart(g, 60, (struct gantt_style){.width = 41, .lines = 3},
                 "dma   0###10####....................  33%\n"
                 "tile 0\n"
                 "  mac .---0###===...................  12%\n"
                 "  ac  ..............#...............   2%\n"
                 "      '         '         '\n"
                 "      0         20        40 ns\n"
                 "# busy  - stalled on input  = stalled on output  . idle; %: busy\n"
                 "1 more resource is not drawn\n");
    gantt_free(g);
}

static void gantt__draws_a_window(void **state)
{
    (void)state;
    struct gantt *g = two_tiles(5, 20);
    expect_chart(g, 30, (struct gantt_style){.width = 41, .lines = 2},
                 "dma   0#####values 10############### 100%\n"
                 "tile 0\n"
                 "  mac ------0#######1#12##==========  47%\n"
                 "      '         '         '\n"
                 "      5         10        15 ns\n"
                 "# busy  - stalled on input  = stalled on output  . idle; %: busy\n"
                 "2 more resources are not drawn\n"
                 "from 0.005 to 0.02 us of 0.03 us\n");
    gantt_free(g);
}

static void gantt__colours_only_when_told(void **state)
{
    (void)state;
    struct gantt *g = gantt_new(0, 0);
    resource(g, 0, "", "mac");
    span(g, 0, DSE_BUSY, "mac", 7, 0, 16);
    char *text = gantt_draw(g, 31 * NS, &(struct gantt_style){.width = 40, .colour = true});
    assert_memory_equal(text, "mac \033[30;42m7\033[0m\033[32m###############\033[0m\033[2m...............\033[0m  52%\n", 30);
    assert_non_null(strstr(text, "\033[32m#\033[0m busy"));
    free(text);
    text = gantt_draw(g, 31 * NS, &(struct gantt_style){.width = 40});
    assert_null(strchr(text, '\033'));
    free(text);
    gantt_free(g);
}

static void gantt__fits_any_width_and_name(void **state)
{
    (void)state;
    for (unsigned width = 0; width < 200; width += 13)
        for (int utf8 = 0; utf8 < 2; utf8++) {
            struct gantt *g = gantt_new(0, 0);
            resource(g, 0, "gr\xC3\xBC\xC3\x9F dich",
                     "a name that is far too long for a terminal of eighty columns, m\xC3\xA4hr als");
            resource(g, 1, "", "\xFF");
            for (dse_ps i = 0; i < 500; i++)
                span(g, 0, (enum dse_state)(1 + i % 3), "sch\xC3\xB6n", i * i * i, i * i, (i + 1) * (i + 1));
            char *text = gantt_draw(g, 250000, &(struct gantt_style){.width = width, .utf8 = utf8});
            const unsigned wanted = width > GANTT_WIDTH_MIN ? width : GANTT_WIDTH_MIN;
            const char *legend = strstr(text, utf8 ? "█ busy" : "# busy");
            assert_non_null(legend);
            for (const char *s = text; s < legend; s = strchr(s, '\n') + 1) { /* the rows and the axis */
                unsigned columns = 0;
                for (const char *c = s; *c != '\n'; c++) columns += (*c & 0xC0) != 0x80;
                if (strncmp(s, "gr", 2) != 0) assert_true(columns <= wanted);
                if (!utf8)
                    for (const char *c = s; *c != '\n'; c++) assert_true(*c > 0);
            }
            free(text);
            gantt_free(g);
        }
}

static void gantt__of_nothing_says_so(void **state)
{
    (void)state;
    struct gantt *g = gantt_new(0, 0);
    expect_chart(g, 10, (struct gantt_style){.width = 80}, "no chart: the model has no resources\n");
    resource(g, 0, "", "mac");
    expect_chart(g, 0, (struct gantt_style){.width = 80}, "no chart: the run ends before it begins\n");
    gantt_free(g);
}

static void gantt__holds_the_first_part_of_a_long_run(void **state)
{
    (void)state;
    struct gantt *g = gantt_new(0, 0);
    resource(g, 0, "", "mac");
    resource(g, 1, "", "dma");
    for (dse_ps i = 0; i < GANTT_SPANS + 1000; i++) span(g, 0, DSE_BUSY, NULL, i, i, i + 1);
    span(g, 1, DSE_BUSY, NULL, 0, 0, GANTT_SPANS + 1000); /* told when the memory is full, but long before */
    expect_chart(g, GANTT_SPANS + 1000, (struct gantt_style){.width = 40},
                 "mac ############################### 100%\n"
                 "dma 0############################## 100%\n"
                 "    '             '              '\n"
                 "    0             500            1000 us\n"
                 "# busy  - stalled on input  = stalled on output  . idle; %: busy\n"
                 "from 0 to 1049 us of 1050 us: as many bars as a chart can hold\n");
    gantt_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeline__holds_what_the_statistics_say),
        cmocka_unit_test(timeline__names_are_what_the_viewer_shows),
        cmocka_unit_test(timeline__without_events_is_valid),
        cmocka_unit_test(timeline__that_cannot_be_written_leaves_what_was_there),
        cmocka_unit_test(gantt__shows_states_labels_and_time),
        cmocka_unit_test(gantt__draws_a_window),
        cmocka_unit_test(gantt__colours_only_when_told),
        cmocka_unit_test(gantt__fits_any_width_and_name),
        cmocka_unit_test(gantt__of_nothing_says_so),
        cmocka_unit_test(gantt__holds_the_first_part_of_a_long_run),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
