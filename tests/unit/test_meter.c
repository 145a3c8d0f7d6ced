/* measure/meter.h, on a GPU of arithmetic */
#include "measure/meter.h"

#include "base/xalloc.h"
#include "complaints.h"
#include "config/csv_table.h"
#include "fake_gpu.h"
#include "scratch.h"

enum { ALL = (1 << METER_KINDS) - 1 };

static void expect_near(double v, double want, double far)
{
    if (!(fabs(v - want) <= far)) fail_msg("%g instead of %g", v, want);
}

struct bed {
    struct fake_gpu gpu;
    struct meter_point *points;
    struct meter_result *results;
    size_t n;
    volatile sig_atomic_t stop;
    enum meter_end end;
};

static void plan(struct bed *b, unsigned kinds, bool clocks)
{
    *b = (struct bed){.gpu = fake_gpu_new()};
    b->points = meter_plan(&(struct meter_options){.kinds = kinds, .clocks = clocks, .seconds = METER_SECONDS}, &b->n);
    b->results = xcalloc(b->n, sizeof *b->results);
}

static void go(struct bed *b, double limit_s)
{
    b->gpu.stop = &b->stop;
    b->end = meter_run(&b->gpu.base, b->points, b->n, &(struct meter_control){.stop = &b->stop, .limit_s = limit_s}, b->results);
}

static void release(struct bed *b)
{
    free(b->results);
    free(b->points);
}

/* ---- statistics ---------------------------------------------------------------------------------------------------------- */

static void meter__one_slow_repeat_moves_neither_median_nor_spread(void **state)
{
    (void)state;
    double v[] = {1.01, 0.99, 1, 1.02, 0.98, 1.005, 0.995, 50};
    struct meter_summary s = meter_summarize(v, 8);
    expect_near(s.median, 1.0025, 1e-12);
    assert_int_equal(s.far_out, 1);
    assert_true(s.spread > 0.005 && s.spread < 0.03);
    double same[] = {2, 2, 2, 2};
    s = meter_summarize(same, 4);
    assert_true(s.median == 2 && s.spread == 0 && s.far_out == 0);
    double one[] = {3};
    s = meter_summarize(one, 1);
    assert_true(s.median == 3 && s.spread == 0 && s.n == 1);
}

/* Of normal numbers the spread is their standard deviation: what the factor of the median absolute deviation is for. */
static void meter__spread_is_the_standard_deviation_of_normal_numbers(void **state)
{
    (void)state;
    enum { N = 20000 };
    static double v[N];
    uint64_t h = 7;
    for (int i = 0; i < N; i++) {
        double sum = -6; /* twelve uniform numbers: variance 1 */
        for (int k = 0; k < 12; k++) {
            h = h * 6364136223846793005u + 1442695040888963407u;
            sum += (double)(h >> 11) / 9007199254740992.0;
        }
        v[i] = 10 + 0.5 * sum;
    }
    const struct meter_summary s = meter_summarize(v, N);
    expect_near(s.median, 10, 0.02);
    expect_near(s.spread, 0.05, 0.002);
    assert_true(s.far_out < 5);
}

/* ---- the plan ------------------------------------------------------------------------------------------------------------ */

static void meter__the_whole_plan_takes_under_ten_minutes(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, ALL, true);
    assert_true(meter_plan_seconds(b.points, b.n) < 480);
    bool seen[METER_WORKS] = {0};
    for (size_t i = 0; i < b.n; i++) seen[b.points[i].work] = true;
    for (int w = 0; w < METER_WORKS; w++) assert_true(seen[w]);
    release(&b);
}

static bool same_but_time(const struct meter_point *p, const struct meter_point *q)
{
    char *s = meter_point_text(p), *t = meter_point_text(q);
    const bool same = strcmp(s, t) == 0;
    free(t);
    free(s);
    return same;
}

static void meter__no_point_stands_twice(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, ALL, true);
    for (size_t i = 0; i < b.n; i++)
        for (size_t k = 0; k < i; k++) assert_false(same_but_time(&b.points[i], &b.points[k]));
    release(&b);
}

/* What may be fitted to must not depend on what else was measured, and both splits are in every kind. */
static void meter__a_point_keeps_its_split(void **state)
{
    (void)state;
    struct bed all, some;
    plan(&all, ALL, false);
    for (int kind = 0; kind < METER_KINDS; kind++) {
        plan(&some, 1u << kind, true);
        size_t fitted = 0;
        for (size_t i = 0; i < some.n; i++) {
            assert_int_equal(some.points[i].kind, kind);
            fitted += some.points[i].calibrate;
            for (size_t k = 0; k < all.n; k++)
                if (same_but_time(&some.points[i], &all.points[k]))
                    assert_int_equal(some.points[i].calibrate, all.points[k].calibrate);
        }
        assert_true(fitted > 0 && 2 * fitted < some.n);
        release(&some);
    }
    release(&all);
}

/* ---- a run --------------------------------------------------------------------------------------------------------------- */

static void meter__numbers_are_those_of_the_device(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, ALL, false);
    b.gpu.noise_share = 0.02;
    b.gpu.slow_every = 20;
    go(&b, 1e9);
    assert_int_equal(b.end, METER_WHOLE);
    size_t refused = 0;
    for (size_t i = 0; i < b.n; i++) {
        const struct meter_result *r = &b.results[i];
        refused += !r->is_done;
        if (!r->is_done) assert_non_null(strstr(r->reason, "GiB are needed"));
        if (!r->is_done || b.points[i].work == METER_IDLE) continue;
        const double want = fake_operation_s(&b.gpu, &b.points[i]);
        expect_near(r->time.median, want, b.gpu.noise_share * want);
        assert_true(r->time.n >= METER_REPEATS_MIN && r->time.spread < 0.03);
        expect_near(r->clock_mhz, 2000, 1e-9);
        assert_string_equal(r->limit, b.points[i].work == METER_MATMUL ? "power" : "");
    }
    assert_true(refused > 0 && refused < b.n / 4);
    assert_true(b.gpu.time < 600);
    assert_int_equal(b.gpu.held, 0); /* no setting is changed that --clocks did not ask for */
    release(&b);
}

static void meter__a_cold_device_is_warmed_up_first(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, 1 << METER_BANDWIDTH, false);
    b.gpu.warm_s = 0.04;
    go(&b, 1e9);
    const double want = fake_operation_s(&b.gpu, &b.points[0]);
    expect_near(b.results[0].time.median, want, 1e-9 * want);
    assert_int_equal(b.results[0].time.far_out, 0);
    release(&b);
}

static void expect_power(struct bed *b, bool clocks)
{
    for (size_t i = 0; i < b->n; i++) {
        const struct meter_point *p = &b->points[i];
        b->gpu.clock = p->clock_share > 0 ? p->clock_share : 1;
        assert_true(b->results[i].is_done);
        expect_near(b->results[i].power_w, fake_watts(&b->gpu, p), 0.01 * fake_watts(&b->gpu, p));
        if (p->clock_share > 0) expect_near(b->results[i].set_mhz, 2000 * p->clock_share, 1e-9);
        if (p->clock_share <= 0) assert_true(isnan(b->results[i].set_mhz));
        if (p->clock_share <= 0) continue;
        assert_true(clocks);
        expect_near(b->results[i].time.median, fake_operation_s(&b->gpu, p), 1e-3 * fake_operation_s(&b->gpu, p));
    }
}

static void meter__power_is_of_the_work_and_of_the_clock(void **state)
{
    (void)state;
    for (int counter = 0; counter < 2; counter++) {
        struct bed b;
        plan(&b, 1 << METER_POWER, true);
        b.gpu.has_no_counter = !counter; /* then by the readings of power */
        go(&b, 1e9);
        assert_int_equal(b.end, METER_WHOLE);
        assert_true(b.gpu.held > 0 && b.gpu.given_back == 1 && b.gpu.clock >= 1 && !b.gpu.base.keeps_clock);
        expect_power(&b, true);
        release(&b);
    }
}

static void meter__a_board_without_sensors_says_so(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, 1 << METER_POWER, false);
    b.gpu.has_no_counter = b.gpu.has_no_power = true;
    go(&b, 1e9);
    for (size_t i = 0; i < b.n; i++) {
        assert_false(b.results[i].is_done);
        assert_string_equal(b.results[i].reason, "the board does not tell its power");
    }
    release(&b);
}

static void meter__who_may_not_set_clocks_gets_the_rest(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, 1 << METER_POWER, true);
    b.gpu.may_not_set = true;
    go(&b, 1e9);
    assert_int_equal(b.end, METER_WHOLE);
    for (size_t i = 0; i < b.n; i++) {
        assert_int_equal(b.results[i].is_done, b.points[i].clock_share <= 0);
        if (!b.results[i].is_done) assert_non_null(strstr(b.results[i].reason, "no permission"));
    }
    assert_false(b.gpu.base.keeps_clock);
    release(&b);
}

/* However a run ends, the clocks are given back; what was measured stays. */
static void meter__clocks_are_given_back_however_it_ends(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct bed b;
        plan(&b, 1 << METER_POWER, true);
        if (how == 0) b.gpu.stop_at = 25;
        if (how == 1) b.gpu.fails_at = 7;
        if (how == 3) b.gpu.may_not_give_back = true;
        go(&b, how == 2 ? 25 : 1e9);
        assert_int_equal(b.end, ((enum meter_end[]){METER_STOPPED, METER_BROKEN, METER_LATE, METER_WHOLE})[how]);
        assert_true(b.gpu.held > 0);
        assert_int_equal(b.gpu.given_back, how < 3);
        assert_int_equal(b.gpu.base.keeps_clock, how == 3);
        size_t done = 0;
        for (size_t i = 0; i < b.n; i++) done += b.results[i].is_done;
        assert_true(done > 2 && (how == 3 || done < b.n));
        release(&b);
    }
}

static void meter__a_stop_is_obeyed_at_once(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, ALL, false);
    b.gpu.stop_at = 20;
    go(&b, 1e9);
    assert_int_equal(b.end, METER_STOPPED);
    assert_true(b.gpu.time < 20.5);
    release(&b);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static size_t column_of(const struct csv_table *t, const char *name)
{
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcmp(t->columns[i], name) == 0) return i;
    fail_msg("no column %s", name);
    return 0;
}

/* The rows as a table. The header of `text` is what it is read with. */
static void read_rows(const char *dir, const char *text, char **ret_header, const char **columns, size_t *n, struct csv_table *ret)
{
    const char *at = text;
    while (*at == '#') at = strchr(at, '\n') + 1;
    *ret_header = xstrndup(at, strcspn(at, "\n"));
    *n = 0;
    for (char *s = strtok(*ret_header, ","); s; s = strtok(NULL, ",")) columns[(*n)++] = s;
    scratch_write(dir, "rows.csv", text);
    char *path = xasprintf("%s/rows.csv", dir);
    struct diags diags;
    diags_init(&diags);
    if (!csv_table_read(ret, path, columns, *n, &diags)) diags_print(&diags, stderr, false), fail();
    diags_release(&diags);
    free(path);
}

static void expect_row(const struct csv_table *t, const char *operator, const char * m, const char *quantity, double value)
{
    const size_t o = column_of(t, "operator"), rows = column_of(t, "m"), q = column_of(t, "quantity"), v = column_of(t, "value");
    for (size_t i = 0; i < t->n_rows; i++) {
        char *const *c = t->rows[i].cells;
        if (strcmp(c[o], operator) != 0 || strcmp(c[rows], m) != 0 || strcmp(c[q], quantity) != 0) continue;
        expect_near(strtod(c[v], NULL), value, 1e-4 * value);
        return;
    }
    fail_msg("no row of %s %s %s", operator, m, quantity);
}

static const struct meter_about about = {.tool = "dse 0", .date = "2026-11-23", .gpu = "test", .licence = "CC0-1.0"};

static void meter__rows_are_a_measured_file(void **state)
{
    (void)state;
    struct bed b;
    const char *columns[64];
    char *header, *dir = scratch_new();
    size_t n;
    struct csv_table t;
    plan(&b, ALL, true);
    go(&b, 1e9);
    char *text = meter_rows(&b.gpu.base, &about, b.points, b.results, b.n, b.end);
    read_rows(dir, text, &header, columns, &n, &t);
    size_t want = 0;
    for (size_t i = 0; i < b.n; i++)
        if (b.results[i].is_done) want += b.points[i].clock_share > 0 ? 2 : 1;
    assert_int_equal(t.n_rows, want);
    expect_row(&t, "matmul", "64", "time", 1e6 * (fmax(2. * (4096. * (64 + 6144) + 64 * 6144) / 1e12, 0) + 2e-6));
    expect_row(&t, "idle", "", "power", 50);
    expect_row(&t, "launch_node", "", "time", 2);
    expect_row(&t, "copy", "", "bandwidth", 1e-9 * 2 * (4 << 20) / (2. * (4 << 20) / 1e12 + 2e-6));
    assert_non_null(strstr(t.source, "measured by dse 0 measure on 2026-11-23; licence: CC0-1.0"));
    assert_non_null(strstr(text, "\n# machine: NVIDIA Test, \"X\" # 1, 100 SMs"));
    assert_non_null(strstr(text, "\n# left out: attention, batch "));
    csv_table_release(&t);
    free(text);
    free(header);
    scratch_remove(dir);
    release(&b);
}

/* No two rows have the same conditions: a measured file with a row twice is refused. */
static void meter__no_row_stands_twice(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, ALL, true);
    go(&b, 1e9);
    char *text = meter_rows(&b.gpu.base, &about, b.points, b.results, b.n, b.end), *lines[1000], *save = NULL;
    size_t n = 0;
    for (char *s = strtok_r(text, "\n", &save); s && n < 1000; s = strtok_r(NULL, "\n", &save))
        if (*s != '#') lines[n++] = s;
    enum { CONDITIONS = 17 }; /* columns before what the clock happened to be */
    for (size_t i = 0; i < n; i++) {
        char *end = lines[i];
        for (int c = 0; c < CONDITIONS; c++) end = strchr(end, ',') + 1;
        const char *quantity = end;
        for (int c = 0; c < 2; c++) quantity = strchr(quantity, ',') + 1;
        const size_t conditions = (size_t)(end - lines[i]), word = strcspn(quantity, ",");
        for (size_t k = 0; k < i; k++) {
            const char *other = lines[k];
            for (int c = 0; c < CONDITIONS + 2; c++) other = strchr(other, ',') + 1;
            assert_false(strncmp(lines[i], lines[k], conditions) == 0 && strncmp(quantity, other, word) == 0);
        }
    }
    free(text);
    release(&b);
}

static void meter__a_run_that_ended_early_says_so_in_its_file(void **state)
{
    (void)state;
    struct bed b;
    plan(&b, ALL, false);
    b.gpu.stop_at = 20;
    go(&b, 1e9);
    char *text = meter_rows(&b.gpu.base, &about, b.points, b.results, b.n, b.end);
    assert_non_null(strstr(text, " points, interrupted\n"));
    assert_null(strstr(text, "\n# left out"));
    free(text);
    release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meter__one_slow_repeat_moves_neither_median_nor_spread),
        cmocka_unit_test(meter__spread_is_the_standard_deviation_of_normal_numbers),
        cmocka_unit_test(meter__the_whole_plan_takes_under_ten_minutes),
        cmocka_unit_test(meter__no_point_stands_twice),
        cmocka_unit_test(meter__a_point_keeps_its_split),
        cmocka_unit_test(meter__numbers_are_those_of_the_device),
        cmocka_unit_test(meter__a_cold_device_is_warmed_up_first),
        cmocka_unit_test(meter__power_is_of_the_work_and_of_the_clock),
        cmocka_unit_test(meter__a_board_without_sensors_says_so),
        cmocka_unit_test(meter__who_may_not_set_clocks_gets_the_rest),
        cmocka_unit_test(meter__clocks_are_given_back_however_it_ends),
        cmocka_unit_test(meter__a_stop_is_obeyed_at_once),
        cmocka_unit_test(meter__rows_are_a_measured_file),
        cmocka_unit_test(meter__no_row_stands_twice),
        cmocka_unit_test(meter__a_run_that_ended_early_says_so_in_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
