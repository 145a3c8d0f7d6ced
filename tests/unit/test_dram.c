/* DRAM: the law of efficiency by access size against two cycle-level simulators, its bounds and limits, bandwidth and energy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "entries.h"

#include <dse/units.h>

#include <stdio.h>

static struct entries memories;

static const struct dse_memory *memory(const char *name)
{
    return entries_find(&memories, name);
}

static struct dse_dram dram_of(const struct dse_memory *m, double efficiency)
{
    struct dse_dram d = {.memory = m,
                         .channels = m->channels,
                         .channel_gbs = m->channel_gbs,
                         .bandwidth_gbs = (double)NAN,
                         .dram_efficiency = efficiency,
                         .dram_pj_per_bit = m->dram_pj_per_bit,
                         .burst_bytes = m->burst_bytes,
                         .capacity_gib = m->capacity_gib,
                         .timing = m->timing};
    dse_dram_resolve(&d);
    return d;
}

static double awake(const struct dse_dram *d)
{
    return 1 - d->timing.t_rfc_ns / d->timing.t_refi_ns;
}

/* ---- the reference -------------------------------------------------------------------------------------------------- */

/* A row's simulator as our parameters; every number is a setting of that simulator, none is fitted. */
static struct dse_dram simulated(const char *sim, const char *config, const char *mapping)
{
    struct dse_dram d = {.dram_efficiency = 1};
    struct dse_dram_timing *t = &d.timing;
    *t = (struct dse_dram_timing){.t_rcd_ns = 14,
                                  .t_rp_ns = 14,
                                  .t_ras_ns = 34,
                                  .t_rtp_ns = 5,
                                  .t_rrd_ns = 4,
                                  .t_rfc_ns = strstr(config, "noref") ? 0 : 260,
                                  .t_refi_ns = 3900,
                                  .banks = 16,
                                  .bank_groups = 4,
                                  .interleave_bytes = strcmp(mapping, "c256") == 0 ? 256 : 64};
    if (strcmp(sim, "DRAMsim3") == 0) {
        d.channels = 8;
        d.channel_gbs = 32;
        d.burst_bytes = 64;
        t->row_bytes = 2048;
        t->t_ccd_ns = 2;
        t->t_faw_ns = strstr(config, "faw16") ? 16 : 30;
        t->row_command_ns = 1;
        t->queue_depth = 32 + 16 * 8;
    } else { /* pseudo channels; two share a queue and a row-command bus, where an activate takes two clocks and a precharge one */
        d.channels = 16;
        d.channel_gbs = 16;
        d.burst_bytes = 32;
        t->row_bytes = 1024;
        t->t_ccd_ns = 4;
        t->t_faw_ns = 15;
        t->row_command_ns = 2 * 3;
        t->queue_depth = (strstr(config, "q128") ? 128 : strstr(config, "q32") ? 32 : 64) / 2;
    }
    d.bandwidth_gbs = (double)d.channels * d.channel_gbs;
    return d;
}

/* Contiguous bytes of the row's pattern; a stream for seq. */
static double access_bytes(const char *pattern)
{
    double bytes;
    char digits[16] = "";
    strncat(digits, pattern + strcspn(pattern, "0123456789"), 15);
    digits[strspn(digits, "0123456789")] = '\0';
    if (!*digits) return 16777216;
    assert_true(text_parse_f64(digits, &bytes));
    return bytes;
}

/* The law has no fitted constant. Simulators lose a few per cent more to scheduling. A short queue is where it is too strict:
 * entries leave the queue one by one while their row is served, so more rows wait than the law counts. */
static void law__agrees_with_cycle_level_simulators(void **state)
{
    (void)state;
    struct rows r;
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/dram/hbm2_access_size.csv");
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < r.n; i++) {
        const char *sim = rows_string(&r, i, "sim"), *config = rows_string(&r, i, "config"),
                   *pattern = rows_string(&r, i, "pattern");
        struct dse_dram d = simulated(sim, config, rows_string(&r, i, "mapping"));
        double want = rows_number(&r, i, "frac_peak"), got = dse_dram_efficiency(&d, access_bytes(pattern)), error = got / want - 1;
        print_message("%-12s %-24s %-4s %-12s simulated %.4f law %.4f %+6.1f %%\n", sim, config, rows_string(&r, i, "mapping"),
                      pattern, want, got, 100 * error);
        bool short_queue = strstr(config, "q32") != NULL, ramulator = sim[0] == 'R';
        double low = short_queue ? -0.25 : ramulator ? -0.05 : -0.003, high = ramulator ? 0.09 : 0.045;
        assert_true(error > low && error < high);
        if (short_queue) continue;
        sum += fabs(error);
        n++;
    }
    print_message("mean absolute error, short queues aside: %.1f %% over %zu runs\n", 100 * sum / (double)n, n);
    assert_true(n >= 40 && sum / (double)n < 0.03);
    rows_release(&r);
}

/* ---- limits where the answer is known ------------------------------------------------------------------------------- */

static void law__long_streams_reach_the_stated_efficiency(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++) {
        struct dse_dram d = dram_of(memory(memories.name[i]), 0.8);
        assert_true(dse_dram_efficiency(&d, 1 << 26) == 0.8);
        d.dram_efficiency = 1; /* then refresh is what is left */
        /* ... and where rows and columns share a command bus, what every row's activate pushes back */
        const double low = d.memory->detail.command_buses == 1 ? 0.96 : 1 - 1e-12;
        double share = dse_dram_efficiency(&d, 1 << 26) / awake(&d);
        assert_true(share > low && share < 1 + 1e-12);
        d.bandwidth_gbs *= 2;
        dse_dram_resolve(&d);
        share = dse_dram_efficiency(&d, 1 << 26) / awake(&d);
        assert_true(share > low && share < 1 + 1e-12);
    }
}

static void law__is_bounded_by_bursts_refresh_and_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++) {
        struct dse_dram d = dram_of(memory(memories.name[i]), 0.87);
        for (double s = 1; s < 1e7; s = floor(s * 1.37) + 1) {
            double bursts = ceil(s / (double)d.burst_bytes) * (double)d.burst_bytes, e = dse_dram_efficiency(&d, s);
            assert_true(e > 0 && e <= fmin(0.87, awake(&d)) * s / bursts * (1 + 1e-15));
        }
    }
}

/* One burst a row: an activate paces every burst. The law is then exact. */
static void law__is_paced_by_activates_when_every_access_opens_a_row(void **state)
{
    (void)state;
    struct dse_dram d = simulated("DRAMsim3", "", "c256");
    d.timing.queue_depth = 100000;
    d.timing.t_faw_ns = 64; /* 16 ns an activate, 64 B: 4 of 32 GB/s */
    assert_true(fabs(dse_dram_efficiency(&d, 64) - awake(&d) * 4 / 32) < 1e-12);
    d.timing.t_rrd_ns = 32;
    assert_true(fabs(dse_dram_efficiency(&d, 64) - awake(&d) * 2 / 32) < 1e-12);
    d.timing.row_command_ns = 64;
    assert_true(fabs(dse_dram_efficiency(&d, 64) - awake(&d) * 1 / 32) < 1e-12);
}

/* One bank: a row cycle an access. With one request waiting it does not matter how many banks there are. */
static void law__is_paced_by_the_row_cycle_of_one_bank(void **state)
{
    (void)state;
    struct dse_dram d = simulated("DRAMsim3", "", "c256");
    double want = awake(&d) * (64.0 / 48) / 32;
    d.timing.banks = d.timing.bank_groups = 1;
    assert_true(fabs(dse_dram_efficiency(&d, 64) - want) < 1e-12);
    d.timing.banks = 16;
    d.timing.queue_depth = 1;
    assert_true(fabs(dse_dram_efficiency(&d, 64) - want) < 1e-12);
}

static void law__gains_from_banks_queues_and_interleaving(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++)
        for (double s = 32; s <= 8192; s *= 2) {
            struct dse_dram d = dram_of(memory(memories.name[i]), 0.87), more = d;
            more.timing.banks *= 2;
            assert_true(dse_dram_efficiency(&more, s) >= dse_dram_efficiency(&d, s));
            more = d;
            more.timing.queue_depth *= 2;
            assert_true(dse_dram_efficiency(&more, s) >= dse_dram_efficiency(&d, s));
            more = d;
            more.timing.t_faw_ns *= 2;
            assert_true(dse_dram_efficiency(&more, s) <= dse_dram_efficiency(&d, s));
            more = d;
            more.timing.t_ras_ns *= 2;
            assert_true(dse_dram_efficiency(&more, s) <= dse_dram_efficiency(&d, s));
        }
}

/* Up to the interleave, more bytes a row are better as long as activates pace; never worse than one burst a row. */
static void law__longer_accesses_amortise_the_activate(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++) {
        struct dse_dram d = dram_of(memory(memories.name[i]), 0.87);
        d.timing.queue_depth = 1000000;
        d.timing.t_ccd_ns = 0;
        double before = 0;
        for (int64_t s = d.burst_bytes; s <= 1 << 22; s += s < 65536 ? d.burst_bytes : 65536) {
            if (s > d.timing.interleave_bytes && s % d.timing.interleave_bytes != 0) continue;
            double e = dse_dram_efficiency(&d, (double)s);
            assert_true(e >= before - 1e-12);
            before = e;
        }
    }
}

/* With the timing as it is, a wider bus cannot speed up accesses that activates pace. */
static void law__random_accesses_do_not_gain_from_a_faster_bus(void **state)
{
    (void)state;
    struct dse_dram d = dram_of(memory("hbm2-5cube"), 0.87), faster = d;
    faster.channel_gbs = 8 * d.channel_gbs;
    faster.bandwidth_gbs = (double)NAN;
    dse_dram_resolve(&faster);
    assert_true(faster.bandwidth_gbs == 8 * d.bandwidth_gbs && faster.channels == d.channels);
    double slow = dse_dram_seconds(&d, 1e9, 32), fast = dse_dram_seconds(&faster, 1e9, 32);
    assert_true(fabs(slow / fast - 1) < 1e-12);
    assert_true(dse_dram_seconds(&d, 1e9, 1 << 26) / dse_dram_seconds(&faster, 1e9, 1 << 26) > 3);
}

/* A DRAM of 14.375 GB/s a channel has a clock of 1.113 ns: its tables of ns become the clocks below, and the law is that of these
 * clocks. */
static void law__counts_in_whole_clocks(void **state)
{
    (void)state;
    struct dse_dram d = dram_of(memory("hbm2-u280"), 1), exact = d, table = d;
    const double clock_ns = 32 / 14.375 / 2;
    struct dse_dram_timing *t = &exact.timing;
    t->t_rcd_ns = t->t_rp_ns = 13 * clock_ns;
    t->t_ras_ns = 31 * clock_ns;
    t->t_rtp_ns = 5 * clock_ns;
    t->t_ccd_ns = t->t_rrd_ns = 4 * clock_ns;
    t->t_faw_ns = 14 * clock_ns;
    t->row_command_ns = 6 * clock_ns;
    exact.memory = table.memory = NULL; /* no clock: times as they stand */
    for (double s = 32; s <= 8192; s *= 2) {
        assert_true(fabs(dse_dram_efficiency(&d, s) / dse_dram_efficiency(&exact, s) - 1) < 1e-12);
        assert_true(dse_dram_efficiency(&d, s) <= dse_dram_efficiency(&table, s));
    }
    assert_true(dse_dram_efficiency(&d, 256) < 0.95 * dse_dram_efficiency(&table, 256));
    d = table = dram_of(memory("hbm-256"), 1); /* a clock of 1 ns, times of whole ns */
    table.memory = NULL;
    for (double s = 32; s <= 8192; s *= 2) assert_true(dse_dram_efficiency(&d, s) == dse_dram_efficiency(&table, s));
}

/* LPDDR5 at 6.4 Gb/s: a burst of two clocks leaves one between two column commands, an activate takes two. With nothing else in
 * the way every piece takes its commands, or its bursts and a clock more. */
static void law__shares_one_command_bus(void **state)
{
    (void)state;
    struct dse_memory m = *memory("lpddr5-6400-16ch");
    m.timing.queue_depth = 1000000;
    m.timing.t_rcd_ns = m.timing.t_rp_ns = m.timing.t_ras_ns = m.timing.t_rtp_ns = 0;
    m.timing.t_rrd_ns = m.timing.t_faw_ns = m.timing.t_ccd_ns = 0;
    struct dse_dram d = dram_of(&m, 1);
    const double most = awake(&d);
    assert_true(fabs(dse_dram_efficiency(&d, 32) - most * 2 / 4) < 1e-12); /* one column command, three clocks of rows */
    assert_true(fabs(dse_dram_efficiency(&d, 64) - most * 4 / 5) < 1e-12); /* two column commands, three clocks of rows */
    assert_true(fabs(dse_dram_efficiency(&d, 128) - most * 8 / 9) <
                1e-12); /* the activate pushes a column command back by a clock */
    assert_true(fabs(dse_dram_efficiency(&d, 256) - most * 16 / 17) < 1e-12); /* the same */
    m.detail.burst_clocks = 4;                                                /* twice the clocks: room for it */
    d.timing.row_command_ns /= 2;
    assert_true(fabs(dse_dram_efficiency(&d, 128) - most) < 1e-12);
    m.detail.burst_clocks = 2;
    d.timing.row_command_ns *= 2;
    m.detail.command_buses = 2;
    for (double s = 64; s <= 8192; s *= 2) assert_true(fabs(dse_dram_efficiency(&d, s) - most * fmin(1, s / 48)) < 1e-12);
}

/* ---- bandwidth and energy ------------------------------------------------------------------------------------------- */

static void bandwidth__is_channels_times_their_peak(void **state)
{
    (void)state;
    struct dse_dram d = dram_of(memory("hbm2-5cube"), 1);
    assert_true(d.bandwidth_gbs == 1536);
    d.bandwidth_gbs = 768;
    dse_dram_resolve(&d);
    assert_true(d.channel_gbs == 19.2 && d.channels == 40);
    assert_true(dse_dram_seconds(&d, 768e9, 1 << 26) > 1 && dse_dram_seconds(&d, 768e9, 1 << 26) < 1.1);
}

/* Whatever is asked for is there: in whole command buses, none faster than the memory has it, and no bus more than that takes. */
static void bandwidth__is_made_of_whole_channels_of_the_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++) {
        const struct dse_memory *m = memory(memories.name[i]);
        const int64_t bus = m->detail.bus_channels > 1 ? m->detail.bus_channels : 1;
        for (double gbs = 1; gbs < 2e4; gbs *= 1.37) {
            struct dse_dram d = dram_of(m, 1), again;
            d.bandwidth_gbs = gbs;
            dse_dram_resolve(&d);
            assert_true(d.bandwidth_gbs == gbs && fabs((double)d.channels * d.channel_gbs / gbs - 1) < 1e-12);
            assert_true(d.channels % bus == 0 && d.channel_gbs <= m->channel_gbs * (1 + 1e-9));
            assert_true((double)(d.channels - bus) * m->channel_gbs < gbs);
            again = d;
            dse_dram_resolve(&again);
            assert_true(again.channels == d.channels && again.channel_gbs == d.channel_gbs);
        }
    }
    struct dse_dram d = dram_of(memory("hbm-256"), 1);
    d.bandwidth_gbs = 256;
    dse_dram_resolve(&d);
    assert_true(d.channels == 16 && d.channel_gbs == 16);
    d.bandwidth_gbs = 525; /* 32.8 channels */
    dse_dram_resolve(&d);
    assert_true(d.channels == 34);
}

/* An access without end is a part of a stream, which has functions of its own. */
static void stream__has_the_stated_efficiency_and_no_nan(void **state)
{
    (void)state;
    const double forever = (double)INFINITY;
    struct dse_dram d = dram_of(memory("hbm2-5cube"), 0.87);
    assert_true(dse_dram_peak(&d) == 1536e9 && dse_dram_stream_rate(&d) == 1536e9 * 0.87);
    assert_true(dse_dram_stream_seconds(&d, 1e9) == 1e9 / (1536e9 * 0.87));
    assert_true(dse_dram_efficiency(&d, forever) == 0.87 && dse_dram_moved(&d, 1e9, forever) == 1e9);
    assert_true(dse_dram_seconds(&d, 1e9, forever) == dse_dram_stream_seconds(&d, 1e9));
}

static void moved__counts_whole_bursts(void **state)
{
    (void)state;
    struct dse_dram d = dram_of(memory("hbm2-5cube"), 1);
    assert_true(dse_dram_moved(&d, 1000, 32) == 1000);
    assert_true(dse_dram_moved(&d, 1600, 160) == 1600); /* a row of OPT-2.7B's K: 80 halves */
    assert_true(dse_dram_moved(&d, 1000, 8) == 4000);
    assert_true(dse_dram_moved(&d, 330, 33) == 640);
}

/* 3.9 pJ/bit at the full 1536 GB/s: 47.9 W. */
static void energy__of_the_full_bandwidth_is_the_published_power(void **state)
{
    (void)state;
    struct dse_dram d = dram_of(memory("hbm2-5cube"), 1);
    assert_true(fabs(dse_dram_joules(&d, 1536e9) - 47.9) < 0.05);
    assert_true(dse_dram_joules(&d, 2e9) == 2 * dse_dram_joules(&d, 1e9));
}

static void memories__name_every_row_and_are_consistent(void **state)
{
    (void)state;
    assert_true(memories.complete);
    assert_true(memories.in_range);
    static const struct {
        const char *name;
        double gbs, gib;
    } known[] = {{"hbm2-5cube", 1536, 40},
                 {"hbm2-a100-40gb", 1555, 40},
                 {"hbm2e-a100-80gb", 2039, 80},
                 {"hbm2-u280", 460, 8},
                 {"hbm2-u55c", 460, 16},
                 {"hbm-256", 256, 16},
                 {"ddr4-3200-2ch", 51.2, 32},
                 {"lpddr5-m1-ane", 93.2024, 32},
                 {"hbm3-h100-80gb", 3352, 80},
                 {"gddr6-14gbps-256bit", 448, 8},
                 {"lpddr5-6400-16ch", 204.8, 32},
                 {"hbm3e-h200-141gb", 4800, 141},
                 {"lpddr5x-8533-16ch", 273.056, 128},
                 {"lpddr5x-8000-8ch", 128, 32},
                 {"gddr7-28gbps-512bit", 1792, 96},
                 {"hbm4-8gbps-6stack", 12288, 216},
                 {"ddr5-6400-16ch", 409.6, 128},
                 {"lpddr6-10667-16ch", 227.5632, 64},
                 {"hbm2-dramsim3", 256, 8},
                 {"hbm2-dramsim3-16ch", 512, 16},
                 {"hbm2-ramulator2", 256, 8},
                 {"hbm2-ramulator2-16ch", 512, 16}};
    assert_int_equal(memories.n, sizeof known / sizeof *known);
    for (size_t i = 0; i < memories.n; i++) {
        const struct dse_memory *m = memory(known[i].name);
        assert_null(dse_memory_check(m));
        assert_true(fabs((double)m->channels * m->channel_gbs - known[i].gbs) < 1e-9 && m->capacity_gib == known[i].gib);
    }
}

static void memories__that_do_not_fit_together_are_refused(void **state)
{
    (void)state;
    struct dse_memory m = *memory("hbm-256");
    m.timing.interleave_bytes = 100;
    assert_string_equal(dse_memory_check(&m), "interleave_bytes is not a multiple of burst_bytes");
    m = *memory("hbm-256");
    m.timing.row_bytes = 128;
    assert_string_equal(dse_memory_check(&m), "row_bytes is not a multiple of interleave_bytes");
    m = *memory("hbm-256");
    m.timing.bank_groups = 3;
    assert_string_equal(dse_memory_check(&m), "banks is not a multiple of bank_groups");
    m = *memory("hbm-256");
    m.timing.t_rfc_ns = 3900;
    assert_string_equal(dse_memory_check(&m), "t_rfc_ns is not below t_refi_ns: the DRAM would only refresh");
}

/* What no data sheet can say is refused, by both names; a parameter of a model by dse_dram_check, too. */
static void catalog__refuses_times_that_cannot_be(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        double value;
        const char *keys[2];
        bool of_a_model;
    } cases[] = {
        {offsetof(struct dse_memory, timing.t_ras_ns), 1, {"t_ras_ns", "t_rcd_ns"}, true},
        {offsetof(struct dse_memory, timing.t_rcd_ns), 40, {"t_ras_ns", "t_rcd_ns"}, true},
        {offsetof(struct dse_memory, timing.t_rfc_ns), 30, {"t_rfc_ns", "t_ras_ns"}, true},
        {offsetof(struct dse_memory, timing.t_refi_ns), 200, {"t_rfc_ns", "t_refi_ns"}, true},
        {offsetof(struct dse_memory, detail.t_rcd_wr_ns), 50, {"t_ras_ns", "t_rcd_wr_ns"}, false},
        {offsetof(struct dse_memory, detail.t_rrd_l_ns), 1, {"t_rrd_l_ns", "t_rrd_ns"}, false},
        {offsetof(struct dse_memory, detail.t_wtr_l_ns), 1, {"t_wtr_l_ns", "t_wtr_s_ns"}, false},
        {offsetof(struct dse_memory, detail.idd4r_ma), 1, {"idd4r_ma", "idd3n_ma"}, false},
        {offsetof(struct dse_memory, detail.idd4w_ma), 1, {"idd4w_ma", "idd3n_ma"}, false},
        {offsetof(struct dse_memory, detail.idd5_ma), 1, {"idd5_ma", "idd3n_ma"}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dse_memory m = *memory("hbm2-5cube");
        *(double *)(void *)((char *)&m + cases[i].offset) = cases[i].value;
        struct dse_dram d = dram_of(&m, 1);
        for (int of_a_model = 0; of_a_model < 2; of_a_model++) {
            const char *why = of_a_model ? dse_dram_check(&d) : dse_memory_check(&m);
            if (of_a_model && !cases[i].of_a_model) {
                assert_null(why);
                continue;
            }
            assert_non_null(why);
            assert_true(strstr(why, cases[i].keys[0]) && strstr(why, cases[i].keys[1]));
        }
    }
    struct dse_memory m = *memory("hbm2-5cube");
    m.timing.t_rfc_ns = 0; /* refreshes hide */
    assert_null(dse_memory_check(&m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(law__agrees_with_cycle_level_simulators),
        cmocka_unit_test(catalog__refuses_times_that_cannot_be),
        cmocka_unit_test(law__long_streams_reach_the_stated_efficiency),
        cmocka_unit_test(law__is_bounded_by_bursts_refresh_and_streams),
        cmocka_unit_test(law__is_paced_by_activates_when_every_access_opens_a_row),
        cmocka_unit_test(law__is_paced_by_the_row_cycle_of_one_bank),
        cmocka_unit_test(law__gains_from_banks_queues_and_interleaving),
        cmocka_unit_test(law__longer_accesses_amortise_the_activate),
        cmocka_unit_test(law__random_accesses_do_not_gain_from_a_faster_bus),
        cmocka_unit_test(law__counts_in_whole_clocks),
        cmocka_unit_test(law__shares_one_command_bus),
        cmocka_unit_test(bandwidth__is_channels_times_their_peak),
        cmocka_unit_test(bandwidth__is_made_of_whole_channels_of_the_memory),
        cmocka_unit_test(stream__has_the_stated_efficiency_and_no_nan),
        cmocka_unit_test(moved__counts_whole_bursts),
        cmocka_unit_test(energy__of_the_full_bandwidth_is_the_published_power),
        cmocka_unit_test(memories__name_every_row_and_are_consistent),
        cmocka_unit_test(memories__that_do_not_fit_together_are_refused),
    };
    entries_read(&memories, dse_memory_fields, "memories.toml");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    entries_release(&memories);
    return failed;
}
