/* The DRAM port of the event level: the same clocks as the DRAM on its own, conservation, windows, ideal modes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dram_fixture.h"
#include "sim/dram_lad.h"
#include "sim/sim.h"

#include <dse/dram_port.h>

static struct entries memories;

/* A run with a port, and when transfers ended. */
struct bench {
    struct dse_memory memory;
    struct dse_dram dram;
    struct dse_sim *sim;
    struct dse_dram_port *port;
    uint32_t ended_actor;
    dse_ps ended[64];
    int n_ended;
};

static void on_end(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct bench *b = object;
    b->ended[arg] = dse_sim_now(sim);
    b->n_ended++;
}

static void bench_init(struct bench *b, const char *memory, unsigned ideal)
{
    *b = (struct bench){.memory = *(const struct dse_memory *)entries_find(&memories, memory)};
    b->memory.entry.name = memory;
    b->dram = fixture_dram(&b->memory);
    b->sim = sim_new(&(struct sim_options){.ideal = ideal});
    b->port = dse_dram_open(b->sim, &b->dram);
    b->ended_actor = dse_sim_actor(b->sim, on_end, b);
}

static void bench_run(struct bench *b)
{
    const bool ok = dse_sim_run(b->sim);
    if (!ok) fail_msg("%s", dse_sim_error(b->sim));
}

/* Requests of a pattern as segments. */
struct feed {
    struct dram_pattern *pattern;
    struct diags diags;
    uint64_t bytes;
};

static bool next_segment(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct feed *f = object;
    struct dram_request q;
    (void)arg;
    if (!dram_pattern_source(f->pattern)->next(dram_pattern_source(f->pattern), &q, &f->diags)) return false;
    *ret = (struct dse_segment){q.address, q.bytes, q.kind == DRAM_WRITE};
    f->bytes += q.bytes;
    return true;
}

static void feed_init(struct feed *f, const char *pattern)
{
    *f = (struct feed){0};
    diags_init(&f->diags);
    f->pattern = dram_pattern_new(pattern, 1, "pattern", &f->diags);
    assert_non_null(f->pattern);
}

static void feed_release(struct feed *f)
{
    dram_pattern_free(f->pattern);
    diags_release(&f->diags);
}

static void start(struct bench *b, struct feed *f, uint64_t window, const char *label, uint32_t id)
{
    dse_dram_start(b->port, &(struct dse_transfer){.next = next_segment,
                                                   .object = f,
                                                   .window_bytes = window,
                                                   .label = label,
                                                   .access_bytes = 256,
                                                   .actor = b->ended_actor,
                                                   .actor_arg = id});
}

/* With everything in flight at once the port is `dse dram` with a queue for each bus: the last read comes back in the same clock.
 */
static void reads__end_in_the_clock_of_the_dram_on_its_own(void **state)
{
    (void)state;
    static const char *const patterns[] = {"random,size=256,count=4000", "random,size=64,count=5000",
                                           "sequential,size=512KiB,count=2", "stride,stride=4096,count=3000"};
    static const char *const names[] = {"hbm2-5cube", "hbm2-ramulator2", "hbm2-dramsim3", "ddr4-3200-2ch", "lpddr5-m1-ane"};
    struct dram_result *r = xcalloc(1, sizeof *r);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
            struct bench b;
            struct feed f;
            struct dram_spec s;
            struct dram_map map;
            bench_init(&b, names[n], 0);
            assert_null(dram_spec_init(&s, &b.dram, true));
            dram_map_default(&map, &s);
            fixture_run(&(struct dram_setup){.spec = &s, .map = &map}, patterns[k], r);
            feed_init(&f, patterns[k]);
            start(&b, &f, UINT64_C(1) << 40, "reads", 0);
            bench_run(&b);
            assert_int_equal(b.n_ended, 1);
            assert_int_equal(b.ended[0], dse_ps_of_s((double)(r->clocks - 1) * s.clock_ns * 1e-9));
            const struct dse_dram_stats t = dse_dram_stats(b.port, NULL);
            assert_true(t.bursts == r->tally.reads && t.row_hits == r->tally.hits && t.activates == r->tally.activates);
            const double a_clock_pj =
                s.active_mw * s.clock_ns * (double)s.buses * s.channels; /* `clocks` counts the last one, too */
            assert_true(isnan(r->energy_pj) ? isnan(t.energy_pj) : fabs(t.energy_pj - r->energy_pj) <= 2 * a_clock_pj);
            feed_release(&f);
            sim_free(b.sim);
        }
    free(r);
}

/* A lone write has been sent when its activate, tRCD, tCWL and its burst are over; one that bank-queues has taken is acknowledged
 * at once. */
static void writes__end_with_the_last_of_their_data(void **state)
{
    (void)state;
    for (int cwl = 7; cwl <= 8; cwl++) {
        struct bench b;
        struct dram_spec s;
        bench_init(&b, "hbm2-ramulator2", DSE_IDEAL_REFRESH);
        sim_free(b.sim); /* and again, with this tCWL */
        b.memory.detail.t_cwl_ns = cwl;
        b.sim = sim_new(&(struct sim_options){.ideal = DSE_IDEAL_REFRESH});
        b.port = dse_dram_open(b.sim, &b.dram);
        b.ended_actor = dse_sim_actor(b.sim, on_end, &b);
        assert_null(dram_spec_init(&s, &b.dram, false));
        dse_dram_stream(b.port, (struct dse_segment){0, 32, true}, "s", b.ended_actor, 0);
        bench_run(&b);
        assert_int_equal(b.ended[0], dse_ps_of_s((1 + s.act_wr + cwl + s.burst) * s.clock_ns * 1e-9));
        sim_free(b.sim);
    }
}

/* Transfers of all kinds at a time, started at odd moments: all end, every byte is counted once, under its label. */
static void bytes__are_conserved_and_every_transfer_ends(void **state)
{
    (void)state;
    static const char *const names[] = {"hbm2-5cube", "hbm2-dramsim3", "gddr6-14gbps-256bit"};
    static const char *const patterns[] = {"random,size=256,count=1000", "random,size=96,count=900,write=0.5",
                                           "copy,size=1024,count=300", "sequential,size=65536,count=4,write=1",
                                           "random,size=32,count=2000,footprint=65536,write=0.3"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct bench b;
        struct feed f[20];
        bench_init(&b, names[n], 0);
        uint64_t seed = n, asked[2] = {0};
        for (uint32_t i = 0; i < 20; i++) {
            feed_init(&f[i], patterns[i % 5]);
            start(&b, &f[i], i % 3 ? UINT64_C(4096) << i % 4 : 0, i % 2 ? "odd" : "even", i);
            dse_sim_at(b.sim, dse_sim_now(b.sim) + (dse_ps)(dram_splitmix(&seed) % 3000), b.ended_actor, 63); /* events of others */
        }
        bench_run(&b);
        assert_int_equal(b.n_ended, 40);
        for (uint32_t i = 0; i < 20; i++) {
            assert_true(b.ended[i] > 0);
            asked[i % 2] += f[i].bytes;
            feed_release(&f[i]);
        }
        const struct dse_dram_stats even = dse_dram_stats(b.port, "even"), odd = dse_dram_stats(b.port, "odd"),
                                    all = dse_dram_stats(b.port, NULL);
        const uint64_t burst = (uint64_t)b.dram.burst_bytes;
        assert_true(even.bursts * burst >= asked[0] && even.bursts * burst < 3 * asked[0]);
        assert_true(odd.bursts * burst >= asked[1] && odd.bursts * burst < 3 * asked[1]);
        assert_true(all.bursts <= even.bursts + odd.bursts); /* less what queued writes answered or swallowed */
        assert_int_equal(dse_dram_stats(b.port, "none").bursts, 0);
        const double peak = b.dram.bandwidth_gbs * 1e9 * dse_s_of_ps(dse_sim_now(b.sim));
        assert_true((double)(all.read_bytes + all.written_bytes) <= peak);
        sim_free(b.sim);
    }
}

/* What a window of W can have in flight over the latency L bounds the rate: at most W / L, and near it while W is small. */
static void windows__bound_the_rate_by_the_latency(void **state)
{
    (void)state;
    double before = 0;
    for (uint64_t window = 256; window <= 1 << 18; window *= 4) {
        struct bench b;
        struct feed f;
        bench_init(&b, "hbm2-5cube", DSE_IDEAL_REFRESH);
        feed_init(&f, "random,size=256,count=3000");
        start(&b, &f, window, "keys", 0);
        bench_run(&b);
        const double rate = 3000 * 256.0 / (double)b.ended[0] * 1e3; /* GB/s */
        struct dram_spec s;
        assert_null(dram_spec_init(&s, &b.dram, false));
        const double shortest = dram_spec_idle_ns(&s) - s.clock_ns;
        assert_true(rate <= (double)window / shortest);
        if (window == 256) assert_true(rate > 0.3 * (double)window / shortest);
        assert_true(rate > before);
        before = rate;
        feed_release(&f);
        sim_free(b.sim);
    }
}

/* Started later, later done: by as much, without refresh. */
static void transfers__start_at_their_time(void **state)
{
    (void)state;
    dse_ps alone = 0;
    for (int late = 0; late <= 3; late++) {
        struct bench b;
        bench_init(&b, "hbm2-ramulator2", DSE_IDEAL_REFRESH);
        const dse_ps delay = late * 12345;
        dse_sim_at(b.sim, delay, b.ended_actor, 1);
        bench_run(&b);
        dse_dram_stream(b.port, (struct dse_segment){0, 4096, false}, "s", b.ended_actor, 0);
        bench_run(&b);
        if (late == 0) alone = b.ended[0];
        assert_true(llabs(b.ended[0] - alone - delay) <= 1000); /* a clock */
        sim_free(b.sim);
    }
}

static void ideal__transfers_take_the_time_of_the_closed_form_one_after_another(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "hbm2-5cube", DSE_IDEAL_DRAM);
    dse_dram_stream(b.port, (struct dse_segment){0, 1 << 20, false}, "a", b.ended_actor, 0);
    dse_dram_stream(b.port, (struct dse_segment){0, 3 << 20, true}, "b", b.ended_actor, 1);
    bench_run(&b);
    const dse_ps one = dse_ps_of_s(dse_dram_seconds(&b.dram, 1 << 20, 1 << 20)),
                 three = dse_ps_of_s(dse_dram_seconds(&b.dram, 3 << 20, 3 << 20));
    assert_true(llabs(b.ended[0] - one) <= 1 && llabs(b.ended[1] - one - three) <= 2);
    const struct dse_dram_stats t = dse_dram_stats(b.port, NULL);
    assert_true(t.read_bytes == 1 << 20 && t.written_bytes == 3 << 20 && isnan(t.energy_pj));
    sim_free(b.sim);
}

static void ideal__without_refresh_there_is_none(void **state)
{
    (void)state;
    dse_ps took[2];
    for (unsigned i = 0; i < 2; i++) {
        struct bench b;
        bench_init(&b, "hbm2-5cube", i ? DSE_IDEAL_REFRESH : 0);
        dse_dram_stream(b.port, (struct dse_segment){0, 32 << 20, false}, "s", b.ended_actor, 0);
        bench_run(&b);
        took[i] = b.ended[0];
        assert_true((dse_dram_stats(b.port, NULL).refreshes == 0) == (i == 1));
        sim_free(b.sim);
    }
    assert_true(took[1] < took[0] && (double)took[1] > (1 - 1.3 * 260 / 3900) * (double)took[0]);
}

static void faults__fail_the_run_with_a_reason(void **state)
{
    (void)state;
    struct bench b;
    bench_init(&b, "hbm2-5cube", 0);
    dse_dram_stream(b.port, (struct dse_segment){UINT64_C(40) << 30, 64, false}, "s", b.ended_actor, 0);
    assert_false(dse_sim_run(b.sim));
    assert_string_equal(dse_sim_error(b.sim), "a transfer of 64 bytes at address a00000000: the memory ends at a00000000");
    sim_free(b.sim);
    bench_init(&b, "hbm2-5cube", 0);
    assert_int_equal(dse_dram_reserve(b.port, 100, 64), 0);
    assert_int_equal(dse_dram_reserve(b.port, 100, 256), 256);
    assert_int_equal(dse_dram_reserve(b.port, 1, 0) % (80 * 1024), 0);
    dse_dram_reserve(b.port, UINT64_C(41) << 30, 64);
    assert_false(dse_sim_run(b.sim));
    assert_non_null(strstr(dse_sim_error(b.sim), "GiB of DRAM are not enough"));
    sim_free(b.sim);
    struct dse_memory bare = *(const struct dse_memory *)entries_find(&memories, "hbm2-5cube");
    bare.entry.name = "bare";
    bare.detail.t_cl_ns = (double)NAN;
    const struct dse_dram d = fixture_dram(&bare);
    assert_non_null(dse_dram_port_check(&d));
    struct dse_sim *sim = sim_new(NULL);
    dse_dram_open(sim, &d);
    assert_false(dse_sim_run(sim));
    assert_string_equal(dse_sim_error(sim), "memory bare has no t_cl_ns: the event level needs them");
    sim_free(sim);
}

/* Clocks that the run cannot tell apart, and that overflow an int by the refresh interval. */
static void clocks__below_a_picosecond_are_refused(void **state)
{
    (void)state;
    struct dse_dram d = fixture_dram(entries_find(&memories, "ddr4-3200-2ch"));
    assert_null(dse_dram_port_check(&d));
    d.channel_gbs = 1.01e3 * (double)d.burst_bytes / (double)d.memory->detail.burst_clocks;
    assert_string_equal(dse_dram_port_check(&d), "channel_gbs makes a command clock of less than a picosecond at event level");
    d.channel_gbs *= 0.98;
    assert_null(dse_dram_port_check(&d));
}

static volatile sig_atomic_t stop;

static void tell_to_stop(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)arg;
    stop = 1;
    *(uint64_t *)object = sim_events(sim);
}

/* An event of a DRAM of many channels is the work of many: the run ends within a few of them. */
static void stops__are_seen_between_quanta_of_many_channels(void **state)
{
    (void)state;
    struct bench b;
    uint64_t events = 0;
    stop = 0;
    bench_init(&b, "hbm2-5cube", 0);
    sim_free(b.sim);
    b.dram.channels = 8192;
    b.sim = sim_new(&(struct sim_options){.stop = &stop});
    b.port = dse_dram_open(b.sim, &b.dram);
    b.ended_actor = dse_sim_actor(b.sim, on_end, &b);
    dse_dram_stream(b.port, (struct dse_segment){0, UINT64_C(1) << 30, false}, "s", b.ended_actor, 0);
    dse_sim_at(b.sim, dse_ps_of_s(1e-7), dse_sim_actor(b.sim, tell_to_stop, &events), 0);
    assert_false(dse_sim_run(b.sim));
    assert_int_equal(sim_end(b.sim), SIM_STOPPED);
    assert_true(events > 0 && sim_events(b.sim) - events < 4);
    sim_free(b.sim);
}

static void runs__are_the_same_each_time(void **state)
{
    (void)state;
    dse_ps first = 0;
    for (int i = 0; i < 2; i++) {
        struct bench b;
        struct feed f;
        bench_init(&b, "hbm3-h100-80gb", 0);
        feed_init(&f, "random,size=512,count=3000,write=0.2");
        start(&b, &f, 1 << 16, "x", 0);
        dse_dram_stream(b.port, (struct dse_segment){UINT64_C(1) << 33, 1 << 22, false}, "y", b.ended_actor, 1);
        bench_run(&b);
        if (i == 0) first = b.ended[0] + 7 * b.ended[1];
        assert_true(b.ended[0] + 7 * b.ended[1] == first);
        feed_release(&f);
        sim_free(b.sim);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads__end_in_the_clock_of_the_dram_on_its_own),
        cmocka_unit_test(writes__end_with_the_last_of_their_data),
        cmocka_unit_test(bytes__are_conserved_and_every_transfer_ends),
        cmocka_unit_test(windows__bound_the_rate_by_the_latency),
        cmocka_unit_test(transfers__start_at_their_time),
        cmocka_unit_test(ideal__transfers_take_the_time_of_the_closed_form_one_after_another),
        cmocka_unit_test(ideal__without_refresh_there_is_none),
        cmocka_unit_test(faults__fail_the_run_with_a_reason),
        cmocka_unit_test(clocks__below_a_picosecond_are_refused),
        cmocka_unit_test(stops__are_seen_between_quanta_of_many_channels),
        cmocka_unit_test(runs__are_the_same_each_time),
    };
    entries_read(&memories, dse_memory_fields, "memories.toml");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    entries_release(&memories);
    return failed;
}
