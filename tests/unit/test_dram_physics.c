/* Laws of the event-level DRAM, its address maps, traces and patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dram_fixture.h"
#include "sim/dram_lad.h"
#include "sim/dram_trace.h"

#include <unistd.h>

static struct entries memories;

static void spec_of(const struct dse_memory *m, struct dram_spec *s, bool refresh)
{
    const struct dse_dram d = fixture_dram(m);
    char *why = dram_spec_init(s, &d, refresh);
    if (why) fail_msg("%s", why);
}

/* Bandwidth and mean latency of a pattern on a memory under its own map. */
static double gbs_of(const struct dse_memory *m, const char *pattern, enum dram_front front, double *ret_latency_ns)
{
    struct dram_result *r = xcalloc(1, sizeof *r);
    struct dram_spec s;
    struct dram_map map;
    spec_of(m, &s, true);
    dram_map_default(&map, &s);
    fixture_run(&(struct dram_setup){.spec = &s, .map = &map, .front = front}, pattern, r);
    const double gbs = (double)r->bytes / r->time_ns;
    if (ret_latency_ns) *ret_latency_ns = dram_latency_mean(&r->latency) * s.clock_ns;
    free(r);
    return gbs;
}

static void streams__come_near_the_peak_that_refresh_leaves_and_never_above(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++) {
        const struct dse_memory *m = entries_find(&memories, memories.name[i]);
        struct dram_spec s;
        spec_of(m, &s, true);
        char *pattern = xasprintf("sequential,size=%lldKiB,count=1", (long long)m->channels * 256);
        const double share = gbs_of(m, pattern, DRAM_PER_CHANNEL, NULL) / dram_spec_peak_gbs(&s), left = 1 - s.rfc_ns / s.refi_ns;
        print_message("%-22s streams reach %.3f of the peak, refresh leaves %.3f\n", memories.name[i], share, left);
        assert_true(share <= left + 0.03 && share > 0.93 * left);
        free(pattern);
    }
}

static void latency__of_a_lone_read_is_activate_column_and_data(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++) {
        const struct dse_memory *m = entries_find(&memories, memories.name[i]);
        struct dram_spec s;
        double latency;
        spec_of(m, &s, false);
        gbs_of(m, "random,size=32,count=1", DRAM_PER_CHANNEL, &latency);
        const double expected = dram_spec_idle_ns(&s);
        assert_true(fabs(latency - expected) <= s.clock_ns + 1e-9);
    }
}

static void bandwidth__grows_with_queues_and_falls_with_waits(void **state)
{
    (void)state;
    const char *const pattern = "random,size=256,count=6000";
    double before = 0;
    for (int64_t depth = 4; depth <= 128; depth *= 2) {
        struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, "hbm2-ramulator2");
        m.timing.queue_depth = depth;
        const double gbs = gbs_of(&m, pattern, DRAM_PER_CHANNEL, NULL);
        assert_true(gbs > 0.99 * before);
        before = gbs;
    }
    const char *const names[] = {"hbm2-ramulator2", "hbm2-dramsim3", "ddr4-3200-2ch"};
    for (size_t i = 0; i < 3; i++) {
        struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, names[i]), slower = m;
        slower.timing.t_faw_ns *= 4;
        assert_true(gbs_of(&slower, "random,size=64,count=4000", DRAM_PER_CHANNEL, NULL) <
                    gbs_of(&m, "random,size=64,count=4000", DRAM_PER_CHANNEL, NULL));
        slower = m;
        slower.timing.t_ras_ns *= 4;
        assert_true(gbs_of(&slower, "stride,stride=1048576,count=3000", DRAM_PER_CHANNEL, NULL) <
                    gbs_of(&m, "stride,stride=1048576,count=3000", DRAM_PER_CHANNEL, NULL));
        assert_true(gbs_of(&m, pattern, DRAM_IN_ORDER, NULL) <= 1.01 * gbs_of(&m, pattern, DRAM_PER_CHANNEL, NULL));
    }
}

static void latency__grows_with_the_load(void **state)
{
    (void)state;
    const char *const names[] = {"hbm2-5cube", "hbm2-dramsim3"};
    for (size_t i = 0; i < 2; i++) {
        const struct dse_memory *m = entries_find(&memories, names[i]);
        double before = 0;
        for (int load = 10; load <= 70; load += 20) {
            char *pattern = xasprintf("random,size=256,count=20000,load=%d", load);
            double latency;
            const double gbs = gbs_of(m, pattern, DRAM_PER_CHANNEL, &latency);
            assert_true(latency > 0.995 * before);
            if (load <= 50) assert_true(fabs(gbs / ((double)m->channels * m->channel_gbs * load / 100) - 1) < 0.1);
            before = latency;
            free(pattern);
        }
    }
}

/* ---- the law of the closed form ------------------------------------------------------------------------------------------ */

/* Random reads, many in flight, on one command bus: what of the peak the controller reaches. (More of them would end at different
 * times.) */
static double share_of(const struct dse_memory *m, int size)
{
    char *pattern = xasprintf("random,size=%d,count=%lld", size, (long long)m->channels * 400000 / size);
    struct dram_spec s;
    spec_of(m, &s, true);
    const double share = gbs_of(m, pattern, DRAM_PER_CHANNEL, NULL) / dram_spec_peak_gbs(&s);
    free(pattern);
    return share;
}

/* No number of the law is fitted: what is left is that limits which are near each other get in each other's way (too high), and
 * that a queue of 32 holds more rows than the law counts (too low: docs/explanation/hardware.md). */
static void law__stays_near_the_controllers(void **state)
{
    (void)state;
    static const int sizes[] = {32, 64, 128, 256};
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < memories.n; i++) {
        struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, memories.name[i]);
        m.channels = m.detail.bus_channels;
        struct dse_dram d = fixture_dram(&m);
        d.dram_efficiency = 1;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++, n++) {
            const double share = share_of(&m, sizes[k]), error = dse_dram_efficiency(&d, sizes[k]) / share - 1;
            print_message("%-22s %4d B: controller %.3f, law %+.1f %%\n", memories.name[i], sizes[k], share, 100 * error);
            assert_true(error > (m.make.kind == DSE_HBM4 ? -0.19 : -0.16) && error < 0.13);
            sum += fabs(error);
        }
    }
    print_message("mean error %.1f %%\n", 100 * sum / n);
    assert_true(sum / n < 0.05);
}

/* What sharing the command bus costs, in the law and in the controller. */
static void law__knows_what_sharing_the_command_bus_costs(void **state)
{
    (void)state;
    struct dse_memory one = *(const struct dse_memory *)entries_find(&memories, "lpddr5-6400-16ch"), two = one;
    one.channels = two.channels = 1;
    two.detail.command_buses = 2;
    struct dse_dram shared = fixture_dram(&one), own = fixture_dram(&two);
    shared.dram_efficiency = own.dram_efficiency = 1;
    for (int size = 64; size <= 256; size *= 2) {
        const double costs = share_of(&one, size) / share_of(&two, size);
        const double law = dse_dram_efficiency(&shared, size) / dse_dram_efficiency(&own, size);
        print_message("%4d B: one command bus has %.3f of two, law %.3f\n", size, costs, law);
        assert_true(costs < 0.98 && fabs(law / costs - 1) < 0.12);
    }
}

/* ---- maps ---------------------------------------------------------------------------------------------------------------- */

static void maps__are_one_to_one(void **state)
{
    (void)state;
    static const char *const texts[] = {NULL, "co ch pc bg ba ro", "ro ba bg pc ch co", "co1 ch bg co2 ba pc co ro",
                                        "bg ba ro3 ch pc co2 ro co"};
    for (size_t i = 0; i < memories.n; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            struct dram_spec s;
            struct dram_map m, again;
            struct diags diags;
            diags_init(&diags);
            spec_of(entries_find(&memories, memories.name[i]), &s, true);
            if (texts[k])
                assert_true(dram_map_parse(&m, &s, texts[k], "map", &diags));
            else
                dram_map_default(&m, &s);
            char *text = dram_map_text(&m);
            assert_true(dram_map_parse(&again, &s, text, "map", &diags));
            uint64_t seed = i;
            for (int j = 0; j < 2000; j++) {
                const uint64_t burst = j == 0 ? m.bursts - 1 : dram_splitmix(&seed) % m.bursts;
                const struct dram_place p = dram_map_place(&m, burst);
                assert_true(p.bus < s.buses && p.bank < s.banks * s.channels && p.row < s.rows && p.column < s.columns);
                assert_true(dram_map_burst(&m, p) == burst);
                const struct dram_place q = dram_map_place(&again, burst);
                assert_true(p.bus == q.bus && p.bank == q.bank && p.row == q.row && p.column == q.column);
            }
            free(text);
            diags_release(&diags);
        }
}

/* ---- traces -------------------------------------------------------------------------------------------------------------- */

static struct dram_trace *trace_of(const char *text, size_t n, struct diags *diags, char path[32])
{
    strcpy(path, "trace-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, n) == (ssize_t)n);
    close(fd);
    return dram_trace_open(path, UINT64_C(1) << 33, 64, 0.5, diags);
}

static void traces__come_back_as_they_were_printed(void **state)
{
    (void)state;
    const char *const patterns[] = {"random,size=96,count=500,write=0.3,interval_ns=3.7,arrival=poisson",
                                    "lad,context=64,heads=2,interleave=1,barriers=1"};
    for (size_t k = 0; k < 2; k++) {
        struct diags diags;
        diags_init(&diags);
        char *text = NULL, path[32];
        size_t n = 0;
        FILE *f = open_memstream(&text, &n);
        struct dram_request q, back;
        struct dram_pattern *p = dram_pattern_new(patterns[k], 256, "pattern", &diags);
        while (dram_pattern_source(p)->next(dram_pattern_source(p), &q, &diags)) dram_request_print(f, &q);
        fclose(f);
        dram_pattern_free(p);
        p = dram_pattern_new(patterns[k], 256, "pattern", &diags);
        struct dram_trace *t = trace_of(text, n, &diags, path);
        while (dram_pattern_source(p)->next(dram_pattern_source(p), &q, &diags)) {
            assert_true(dram_trace_source(t)->next(dram_trace_source(t), &back, &diags));
            assert_true(q.kind == back.kind && (q.kind == DRAM_BARRIER || (q.address == back.address && q.bytes == back.bytes)));
            assert_true(fabs(q.arrival_ns - back.arrival_ns) < 1e-6 && q.timed == back.timed);
        }
        assert_false(dram_trace_source(t)->next(dram_trace_source(t), &back, &diags));
        assert_int_equal(diags.errors, 0);
        dram_trace_close(t);
        dram_pattern_free(p);
        unlink(path);
        free(text);
        diags_release(&diags);
    }
}

static void traces__name_the_place_of_every_fault(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        int line, column;
    } cases[] = {
        {"R 0 64\nX 0 64\n", "\"X\" is no request", 2, 1},
        {"R 0 64\n  R zz 64\n", "\"zz\" is no hexadecimal address", 2, 5},
        {"R 0 0\n", "a request of 0 bytes", 1, 5},
        {"R 0\n", "the number of bytes is missing", 1, 4},
        {"W\n", "the address is missing", 1, 2},
        {"R 200000000 1\n", "address 200000000: the memory ends at 200000000", 1, 3},
        {"R 1ffffffff 2\n", "2 bytes at address 1ffffffff: the memory ends at 200000000", 1, 13},
        {"R 0 99999999999999999999999\n", "99999999999999999999999 bytes at address 0: the memory ends at 200000000", 1, 5},
        {"R 0 64 5\nR 0 64 4.5\n", "it arrives at 4.5 ns, before the request in front of it", 2, 8},
        {"R 0 64 -1\n", "\"-1\" is no time from 0 to 1e15 ns", 1, 8},
        {"R 0 64 nan\n", "\"nan\" is no time from 0 to 1e15 ns", 1, 8},
        {"R 0 64 1 2\n", "\"2\" is too much on this line", 1, 10},
        {"B 1\n", "\"1\" is too much on this line", 1, 3},
        {"\x01\x02\xff\n", "\"\x01\x02\xff\" is no request", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        diags_init(&diags);
        char path[32];
        struct dram_trace *t = trace_of(cases[i].text, strlen(cases[i].text), &diags, path);
        struct dram_request q;
        while (dram_trace_source(t)->next(dram_trace_source(t), &q, &diags)) {
        }
        assert_int_equal(diags.errors, 1);
        assert_string_equal(diags.list[0].message, cases[i].message);
        assert_int_equal(diags.list[0].line, cases[i].line);
        assert_int_equal(diags.list[0].column, cases[i].column);
        dram_trace_close(t);
        unlink(path);
        diags_release(&diags);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams__come_near_the_peak_that_refresh_leaves_and_never_above),
        cmocka_unit_test(latency__of_a_lone_read_is_activate_column_and_data),
        cmocka_unit_test(bandwidth__grows_with_queues_and_falls_with_waits),
        cmocka_unit_test(latency__grows_with_the_load),
        cmocka_unit_test(law__stays_near_the_controllers),
        cmocka_unit_test(law__knows_what_sharing_the_command_bus_costs),
        cmocka_unit_test(maps__are_one_to_one),
        cmocka_unit_test(traces__come_back_as_they_were_printed),
        cmocka_unit_test(traces__name_the_place_of_every_fault),
    };
    entries_read(&memories, dse_memory_fields, "memories.toml");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    entries_release(&memories);
    return failed;
}
