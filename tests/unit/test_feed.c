/* Streams read ahead, and consumed at a constant pace: order, windows, both paces, and what is not simulated. */
#include <dse/feed.h>

#include "sim/sim.h"

#include <math.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* 16 channels of 16 GB/s: HBM2 as in catalog/memories.toml. */
static struct dse_memory memory = {.channels = 16,
                                   .channel_gbs = 16,
                                   .burst_bytes = 32,
                                   .capacity_gib = 4,
                                   .timing = {.interleave_bytes = 256,
                                              .row_bytes = 1024,
                                              .banks = 16,
                                              .bank_groups = 4,
                                              .queue_depth = 32,
                                              .t_rcd_ns = 14,
                                              .t_rp_ns = 14,
                                              .t_ras_ns = 34,
                                              .t_rtp_ns = 5,
                                              .t_ccd_ns = 4,
                                              .t_rrd_ns = 4,
                                              .t_faw_ns = 15,
                                              .row_command_ns = 6,
                                              .t_rfc_ns = 260,
                                              .t_refi_ns = 3900},
                                   .detail = {.controller = DSE_DRAM_ROW_HITS,
                                              .bus_channels = 2,
                                              .command_buses = 2,
                                              .burst_clocks = 2,
                                              .activate_clocks = 2,
                                              .t_cl_ns = 14,
                                              .t_cwl_ns = 5,
                                              .t_rcd_wr_ns = 12,
                                              .t_rrd_l_ns = 4,
                                              .t_wr_ns = 16,
                                              .t_wtr_s_ns = 6,
                                              .t_wtr_l_ns = 8,
                                              .t_turn_ns = 2}};
static struct dse_dram dram;
static const double gbs = 256;

static int set_up(void **state)
{
    (void)state;
    dram = (struct dse_dram){.memory = &memory,
                             .channels = memory.channels,
                             .channel_gbs = memory.channel_gbs,
                             .bandwidth_gbs = gbs,
                             .dram_efficiency = 1,
                             .burst_bytes = memory.burst_bytes,
                             .capacity_gib = memory.capacity_gib,
                             .timing = memory.timing};
    return 0;
}

/* ---- feeds --------------------------------------------------------------------------------------------------------------- */

enum { STREAMS = 3, CHUNK = 4096, WINDOW = 4 * CHUNK };
static const uint64_t lengths[STREAMS] = {10 * CHUNK, 3 * CHUNK + 32, 96};

/* A consumer that takes what is there, `pause` ps after it came. */
struct eater {
    struct dse_sim *sim;
    struct dse_feed *feed;
    struct dse_dram_port *port;
    uint32_t actor;
    dse_ps pause;
    uint64_t stream, eaten[STREAMS], most_ahead;
    bool apart;
};

static uint64_t place(void *object, uint64_t stream, uint64_t access)
{
    const struct eater *e = object;
    (void)e;
    return (stream * 64 + access * 3) * 4096; /* every third page */
}

static bool next_stream(void *object, uint64_t index, struct dse_feed_stream *ret)
{
    const struct eater *e = object;
    if (index >= STREAMS) return false;
    *ret = (struct dse_feed_stream){.bytes = lengths[index], .address = index << 20, .label = "food"};
    if (e->apart) {
        ret->access_bytes = 96;
        ret->place = place;
        ret->scattered = true;
    }
    return true;
}

static void eat(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct eater *e = object;
    (void)sim;
    (void)arg;
    uint64_t there = dse_feed_arrived(e->feed);
    assert_true(there >= e->eaten[e->stream] && there <= lengths[e->stream]);
    uint64_t ahead = dse_feed_waiting(e->feed);
    if (ahead > e->most_ahead) e->most_ahead = ahead;
    e->eaten[e->stream] = there;
    dse_feed_give_back(e->feed, there);
    if (there == lengths[e->stream]) {
        if (++e->stream == STREAMS) return;
        dse_feed_next(e->feed);
        assert_int_equal(e->eaten[e->stream], 0);
        dse_sim_at(sim, dse_sim_now(sim) + e->pause, e->actor, 0);
        return;
    }
    if (e->pause && dse_feed_arrived(e->feed) > e->eaten[e->stream])
        dse_sim_at(sim, dse_sim_now(sim) + e->pause, e->actor, 0);
    else
        dse_feed_when(e->feed, e->actor, 0);
}

static struct eater eaten(unsigned ideal, dse_ps pause, bool apart)
{
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    struct eater e = {.sim = sim, .pause = pause, .apart = apart};
    e.actor = dse_sim_actor(sim, eat, &e);
    e.port = dse_dram_open(sim, &dram);
    struct dse_feed_spec spec = {.port = e.port,
                                 .window_bytes = WINDOW,
                                 .flight_bytes = dse_feed_flight(&dram, 16),
                                 .chunk_bytes = CHUNK,
                                 .stream = next_stream,
                                 .object = &e};
    e.feed = dse_feed_new(sim, &spec);
    dse_feed_when(e.feed, e.actor, 0);
    if (!dse_sim_run(sim)) fail_msg("%s", dse_sim_error(sim));
    assert_int_equal(e.stream, STREAMS);
    uint64_t bytes = 0, moved = dse_dram_stats(e.port, NULL).read_bytes;
    for (int i = 0; i < STREAMS; i++) bytes += lengths[i];
    assert_int_equal(moved, bytes); /* all are whole bursts */
    assert_true(e.most_ahead <= WINDOW);
    sim_free(sim);
    return e;
}

static void streams__arrive_whole_in_order_and_within_the_window(void **state)
{
    (void)state;
    static const unsigned ideals[] = {0, DSE_IDEAL_REFRESH, DSE_IDEAL_DRAM};
    for (size_t i = 0; i < sizeof ideals / sizeof *ideals; i++)
        for (dse_ps pause = 0; pause <= 1000000; pause += 500000)
            for (int apart = 0; apart < 2; apart++) {
                struct eater e = eaten(ideals[i], pause, apart);
                for (int k = 0; k < STREAMS; k++) assert_int_equal(e.eaten[k], lengths[k]);
            }
}

static void a_slow_consumer__finds_the_next_streams_there(void **state)
{
    (void)state;
    struct eater e = eaten(DSE_IDEAL_DRAM, 1000000, false);
    assert_true(e.most_ahead > WINDOW - CHUNK);
}

/* ---- pours --------------------------------------------------------------------------------------------------------------- */

enum { MIB = 1048576 };

static struct dse_pour_spec pour_spec(double work_s)
{
    return (struct dse_pour_spec){.label = "weights",
                                  .bytes = 16 * MIB,
                                  .work_s = work_s,
                                  .window_bytes = 65536,
                                  .flight_bytes = dse_feed_flight(&dram, 16),
                                  .chunk_bytes = CHUNK,
                                  .period_s = memory.timing.t_refi_ns * 1e-9,
                                  .work = "multiply",
                                  .id = -1};
}

static void count(struct dse_sim *sim, void *object, uint32_t arg)
{
    int *n = object;
    (void)sim;
    (void)arg;
    ++*n;
}

static struct dse_poured poured(struct dse_pour_spec spec, unsigned ideal)
{
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    int calls = 0;
    spec.port = dse_dram_open(sim, &dram);
    spec.address = dse_dram_reserve(spec.port, spec.bytes, 0);
    spec.resource = dse_resource(sim, NULL, "array");
    spec.actor = dse_sim_actor(sim, count, &calls);
    struct dse_pour *p = dse_pour_new(sim, &spec);
    if (!dse_sim_run(sim)) fail_msg("%s", dse_sim_error(sim));
    assert_int_equal(calls, 1);
    struct dse_poured r = dse_pour_result(p);
    sim_free(sim);
    return r;
}

static void assert_near(double a, double b, double relative)
{
    if (fabs(a - b) > relative * fmax(fabs(a), fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

static void pour__a_slow_consumer_takes_its_work_and_the_first_chunk(void **state)
{
    (void)state;
    double stream_s = 16. * MIB / (gbs * 1e9);
    for (double factor = 1; factor <= 4; factor *= 2) {
        struct dse_poured r = poured(pour_spec(factor * stream_s), DSE_IDEAL_DRAM);
        assert_near(r.time_s, factor * stream_s + CHUNK / (gbs * 1e9), 1e-9);
        assert_near(r.data_s, CHUNK / (gbs * 1e9), 1e-6);
    }
}

static void pour__a_fast_consumer_takes_the_stream_and_its_last_chunk(void **state)
{
    (void)state;
    double stream_s = 16. * MIB / (gbs * 1e9);
    struct dse_poured r = poured(pour_spec(stream_s / 4), DSE_IDEAL_DRAM);
    assert_near(r.time_s, stream_s + stream_s / 4 * CHUNK / (16. * MIB), 1e-9);
    assert_near(r.time_s, r.data_s + stream_s / 4, 1e-9);
}

static void pour__a_sample_goes_on_as_the_whole(void **state)
{
    (void)state;
    double stream_s = 16. * MIB / (gbs * 1e9);
    for (double factor = 0.25; factor <= 4; factor *= 2) {
        struct dse_pour_spec spec = pour_spec(factor * stream_s);
        double ideal = poured(spec, DSE_IDEAL_DRAM).time_s, banks = poured(spec, 0).time_s;
        spec.sample_bytes = 4 * MIB;
        assert_near(poured(spec, DSE_IDEAL_DRAM).time_s, ideal, 1e-9);
        assert_near(poured(spec, 0).time_s, banks, 5e-3);
        /* A buffer without bound fills for as long as the sample is: the stream still cannot be faster than the DRAM. */
        assert_near(poured(spec, DSE_IDEAL_DRAM | DSE_IDEAL_FIFOS).time_s, ideal, 1e-9);
        spec.hold_s = 0.1 * stream_s;
        double held = poured(spec, DSE_IDEAL_DRAM | DSE_IDEAL_FIFOS).time_s;
        double least = fmax(ideal, spec.hold_s + factor * stream_s), most = ideal + spec.hold_s;
        const double chunk = 4096. / (2 * MIB); /* arrivals are seen in chunks */
        if (held < least * (1 - chunk) || held > most * (1 + 1e-9))
            fail_msg("%g: %.12g, not %.12g to %.12g", factor, held, least, most);
    }
}

static void pour__the_other_input_holds_it_up(void **state)
{
    (void)state;
    double stream_s = 16. * MIB / (gbs * 1e9);
    struct dse_pour_spec spec = pour_spec(2 * stream_s);
    spec.hold_s = 1e-6;
    struct dse_poured r = poured(spec, DSE_IDEAL_DRAM);
    assert_near(r.time_s, 1e-6 + 2 * stream_s, 1e-9);
    assert_near(r.data_s + r.other_s, 1e-6, 1e-6);
    spec.gate_s = 3 * stream_s; /* slower than the work */
    r = poured(spec, DSE_IDEAL_DRAM);
    assert_near(r.time_s, 1e-6 + 3 * stream_s + 2 * stream_s * CHUNK / (16. * MIB), 1e-9);
}

static void pour__refresh_costs_what_it_closes(void **state)
{
    (void)state;
    const struct dse_dram_timing *t = &memory.timing;
    struct dse_pour_spec spec = pour_spec(16. * MIB / (4 * gbs * 1e9));
    double with = poured(spec, 0).time_s, without = poured(spec, DSE_IDEAL_REFRESH).time_s, lost = 1 - without / with;
    assert_true(lost >= t->t_rfc_ns / t->t_refi_ns - 0.005);
    /* Every row is closed before, and opened again after it. */
    assert_true(lost <= (t->t_rfc_ns + t->t_ras_ns + t->t_rp_ns + t->t_rcd_ns + memory.detail.t_cl_ns) / t->t_refi_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams__arrive_whole_in_order_and_within_the_window),
        cmocka_unit_test(a_slow_consumer__finds_the_next_streams_there),
        cmocka_unit_test(pour__a_slow_consumer_takes_its_work_and_the_first_chunk),
        cmocka_unit_test(pour__a_fast_consumer_takes_the_stream_and_its_last_chunk),
        cmocka_unit_test(pour__a_sample_goes_on_as_the_whole),
        cmocka_unit_test(pour__the_other_input_holds_it_up),
        cmocka_unit_test(pour__refresh_costs_what_it_closes),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
