/* SwiftKV at event level: agreement with the closed form where both know the answer, bytes and work, and what only events show. */
#include "both_levels.h"
#include "by_name.h"
#include "samples.h"

#include <dse/dram_port.h>
#include <dse/units.h>

static struct both_levels b;

/* The point at hand, whose parameters the next call may not change. */
static struct point here(void)
{
    return point_copied(b.model, b.params);
}

static double number(const char *name)
{
    return field_number(schema_find(&b.model->params, name), b.params);
}

static bool chosen(const char *name, const char *choice)
{
    const struct field *f = schema_find(&b.model->params, name);
    return strcmp(f->choices[field_get(f, b.params).choice], choice) == 0;
}

static void at(const char *settings, unsigned ideal)
{
    both_levels(&b, "swiftkv", settings, ideal);
}

static void assert_near(double a, double c, double relative)
{
    if (fabs(a - c) <= relative * fmax(fabs(a), fabs(c))) return;
    fail_msg("%.17g is not %.17g", a, c);
}

static const char *const points[] = {
    "",
    "attention=native",
    "attention=streaming",
    "attention=flash",
    "attention=flash block=8",
    "attention=flash block=100 context=450",
    "value_update=own processors=24",
    "value_update=shared",
    "value_update=single",
    "batch=4",
    "batch=4 weight_reuse=4",
    "batch=5 weight_reuse=2",
    "llm=llama3-8b",
    "llm=llama3-8b kv_fetch=head",
    "llm=chatglm2-6b",
    "llm=chatglm2-6b processors=8",
    "llm=chatglm-6b",
    "kv_layout=interleaved",
    "context=1",
    "context=3000",
    "processors=8",
    "processors=20",
    "gemv_mapping=several-outputs processors=48 dsps_per_processor=160",
    "gemv_stalls=both",
    "gemv_stalls=both bandwidth_gbs=200",
    "gemv_efficiency=1",
    "head=included",
    "kv_bits=4",
    "kv_bits=32",
    "rope_cycles=100 overhead_cycles=1000",
    "phase=prefill context=1",
    "phase=prefill context=50",
    "phase=prefill context=200 attention=flash weight_reuse=64",
    "phase=prefill context=150 batch=2 llm=llama3-8b weight_reuse=300",
    "context=2048 eviction=h2o eviction_ratio=0.3",
    "context=2048 eviction=voting attention=flash llm=llama3-8b",
    "context=2048 eviction=quest eviction_ratio=0.25",
    "phase=prefill context=150 eviction=snapkv observed=16",
};
enum { POINTS = sizeof points / sizeof *points };

static double cycle_s(void)
{
    return 1e-6 / number("clock_mhz");
}

/* ---- agreement ----------------------------------------------------------------------------------------------------------- */

static double closed_s(const char *part)
{
    return part_of(&b.closed_parts, part)->time_us / DSE_US_PER_S;
}

/* README, E19, E20, E23. With DSE_IDEAL_SYNC nothing is normalised or dealt between the layers. */
static double fill_s(void)
{
    struct point p = here();
    const struct dse_workload *w = workload_of(&p);
    const double byte = 1 / (number("bandwidth_gbs") * DSE_GIGA * number("dram_efficiency")), layers = (double)w->llm->layers;
    const double queries = w->phase == DSE_PREFILL ? (double)w->context : 1;
    double chunk = number("channels") * number("interleave_bytes") * byte;
    double trees = 1 + ceil(log2(equation(&p, "gemv_lanes"))) + ceil(log2(number("processors")));
    double linear = chunk + (2 * number("sfu_latency_cycles") + trees) * cycle_s();
    double latencies = number("dot_latency_cycles") + number("compare_latency_cycles") + number("exp_latency_cycles") +
                       number("update_latency_cycles") + number("divide_latency_cycles");
    /* The first rows of every processor come one after the other; keys and values of the new token go out before them. */
    double first = number("processors") * 2048 * byte +
                   2. * (double)(w->llm->kv_heads * w->llm->head_dim) * (double)(w->kv_bits * w->batch) / 8 * queries * byte;
    bool serial = chosen("attention", "native") || chosen("attention", "streaming");
    double jobs = closed_s("rotary_embedding") / (layers * number("rope_cycles") * cycle_s()), job = (latencies + 4) * cycle_s();
    /* Positions that come in pieces of an interleave: the last piece of one processor after those of all others. */
    double uneven = chosen("attention", "swiftkv") ? 0.002 * closed_s("attention") : 0;
    return 6 * layers * linear + layers * (first + job + (serial ? jobs * job : jobs * 2 * cycle_s())) + uneven;
}

/* Without its channels: an ideal DRAM has none that could be fuller than others (E31). */
static void ideal__the_levels_agree_within_fill_and_drain(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        char *apart = xasprintf("%s kv_layout=interleaved", points[i]);
        at(strstr(points[i], "kv_layout") ? points[i] : apart, ALL_IDEAL);
        free(apart);
        double fill = fill_s(), seen = event_metric(&b, "latency_us") / DSE_US_PER_S,
               closed = closed_metric(&b, "latency_us") / DSE_US_PER_S;
        double low = closed - closed_s("rotary_embedding"); /* behind a wait for the HBM */
        if (seen < low * (1 - 1e-6) || seen > (closed + fill) * (1 + 1e-6))
            fail_msg("%s: %.9g s, not within %.9g and %.9g (closed form %.9g)", points[i], seen, low, closed + fill, closed);
        if (fill > 0.05 * closed && number("context") > 100) fail_msg("%s: a fill of %.3g of %.3g s", points[i], fill, closed);
    }
}

/* A linear layer: SFU, first chunk, the arrays without a wait, trees and SFU. */
static void ideal__a_linear_layer_is_exact(void **state)
{
    (void)state;
    at("", ALL_IDEAL);
    static const char *const names[] = {"qkv_projection", "output_projection", "ffn_up", "ffn_down"};
    const double first = fmax(16 * cycle_s(), 8192 / (460e9 * 0.924)), last = (16 + 1 + 7 + 5) * cycle_s();
    for (int i = 0; i < 4; i++) {
        double closed = part_of(&b.closed_parts, names[i])->time_us, seen = part_of(&b.events_parts, names[i])->time_us;
        assert_near((seen - closed) / 32, (first + last) * DSE_US_PER_S, 1e-4);
    }
}

/* Four cycles a position, whatever the context, and the pipeline once: 3 for the embedding, 12 + 2 + 8 + 10 and 20 to divide. */
static void ideal__the_single_pass_takes_four_cycles_a_position(void **state)
{
    (void)state;
    for (int n = 64; n <= 1024; n *= 2) {
        char settings[100];
        snprintf(settings, sizeof settings, "channel_gbs=3125 rows_simulated=0 context=%d", n);
        at(settings, ALL_IDEAL);
        double cycles = event_metric(&b, "attention_us") / DSE_US_PER_S / cycle_s() / 32, pipeline = 3 + 12 + 2 + 8 + 10 + 20;
        if (cycles < 4 * n + pipeline - 4 - 1 || cycles > 4 * n + pipeline + 2) fail_msg("%d: %g cycles", n, cycles);
    }
}

/* The bubble of a block is what one more block costs. */
static void ideal__flash_has_a_bubble_a_block(void **state)
{
    (void)state;
    double at_block[3];
    static const int blocks[3] = {8, 16, 32};
    for (int i = 0; i < 3; i++) {
        char settings[100];
        snprintf(settings, sizeof settings, "attention=flash block=%d channel_gbs=3125", blocks[i]);
        at(settings, ALL_IDEAL);
        at_block[i] = event_metric(&b, "attention_us") / DSE_US_PER_S / cycle_s() / 32;
    }
    assert_near(at_block[0] - at_block[1], (512 / 8 - 512 / 16) * 32, 1e-4);
    assert_near(at_block[1] - at_block[2], (512 / 16 - 512 / 32) * 32, 1e-4);
}

/* ---- conservation -------------------------------------------------------------------------------------------------------- */

static void parts__add_up_and_move_what_the_closed_form_moves(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        at(points[i], DSE_IDEAL_DRAM);
        assert_parts(&b, 1e-9);
        assert_finite(&b, points[i]);
    }
}

static void bytes__of_a_whole_layer_cross_the_bus(void **state)
{
    (void)state;
    static const char *const machines[] = {"",
                                           "attention=flash",
                                           "attention=native kv_layout=interleaved",
                                           "batch=3 weight_reuse=2",
                                           "processors=20 kv_bits=16",
                                           "processors=24 attention=flash batch=2 weight_reuse=2"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char settings[200];
        snprintf(settings, sizeof settings,
                 "llm=opt-2.7b weight_bits=2 layers_simulated=1 rows_simulated=0 stream_mib=0 context=300 %s", machines[i]);
        at(settings, DSE_IDEAL_DRAM);
        assert_near(note_of(&b, "dram_simulated_mib"), closed_metric(&b, "dram_mib") * number("batch") / 32, 1e-4);
    }
}

/* ---- what only events show ----------------------------------------------------------------------------------------------- */

/* The update needs an array: on the dot product's it takes its cycles, on one of its own none. */
static void update__takes_the_array_or_has_its_own(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double cycles;
    } cases[] = {
        {"value_update=ideal", 4}, {"value_update=single", 5}, {"value_update=shared", 8}, {"value_update=own processors=16", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[200];
        snprintf(settings, sizeof settings, "context=1024 kv_bits=%d channel_gbs=3125 %s", 8, cases[i].settings);
        at(settings, ALL_IDEAL);
        double rounds = number("processors") == 16 ? 2 : 1;
        double cycles = event_metric(&b, "attention_us") / DSE_US_PER_S / cycle_s() / 32 / (1024 * rounds);
        assert_near(cycles, cases[i].cycles, 0.02);
    }
}

/* 64 bytes a cycle from a channel that has 64 at its peak: with refresh it takes as long as the channel. */
static void channel__limits_what_the_array_balances(void **state)
{
    (void)state;
    at("context=2048", 0);
    double with = event_metric(&b, "attention_us");
    run_events(&b, DSE_IDEAL_REFRESH);
    double without = event_metric(&b, "attention_us"), cycles_us = 32 * 2048 * 4 * cycle_s() * DSE_US_PER_S;
    assert_true(without >= cycles_us && without < 1.05 * cycles_us);
    assert_true(with > 1.03 * without && with < 1.11 * without);
    assert_int_equal(strcmp(part_of(&b.events_parts, "attention")->bound, "compute") == 0 ||
                         strcmp(part_of(&b.events_parts, "attention")->bound, "dram") == 0,
                     1);
}

/* Streams of their own channels keep rows open that streams over all channels close for each other. */
static void layout__own_channels_are_not_slower(void **state)
{
    (void)state;
    at("context=2048 kv_layout=channel", 0);
    double own = event_metric(&b, "attention_us");
    at("context=2048 kv_layout=interleaved", 0);
    assert_true(event_metric(&b, "attention_us") > own);
}

/* Twenty processors do not divide 32 channels: those of their own leave twelve idle. */
static void layout__channels_without_a_processor_are_idle(void **state)
{
    (void)state;
    at("processors=20 kv_bits=16 context=1024 kv_layout=channel", DSE_IDEAL_REFRESH);
    double own = event_metric(&b, "attention_us");
    at("processors=20 kv_bits=16 context=1024 kv_layout=interleaved", DSE_IDEAL_REFRESH);
    double all = event_metric(&b, "attention_us");
    /* Two rounds, of 20 and of 12 heads, at the pace of a channel; over all channels at that of the HBM, and of the array. */
    const double channel_us = 1024 * 2 * 128 * 2 / 14.375e3, first = 20. / 32 * channel_us,
                 second = 4 * 1024 * cycle_s() * DSE_US_PER_S;
    assert_near(own, 32 * 2 * channel_us, 0.02);
    assert_true(all > 32 * (first + second) && all < 1.2 * 32 * (first + second));
}

static void sfu__passes_between_layers_are_seen_once_a_layer(void **state)
{
    (void)state;
    at("", DSE_IDEAL_DRAM);
    double with = event_metric(&b, "linear_us");
    run_events(&b, DSE_IDEAL_DRAM | DSE_IDEAL_SYNC);
    double without = event_metric(&b, "linear_us"), passes = 3 * 4096 / 32;
    assert_near((with - without) / 32, passes * cycle_s() * DSE_US_PER_S, 1e-3);
    double before = INFINITY;
    for (int lanes = 4; lanes <= 256; lanes *= 4) {
        char settings[100];
        snprintf(settings, sizeof settings, "sfu_lanes=%d", lanes);
        at(settings, DSE_IDEAL_DRAM);
        assert_true(event_metric(&b, "latency_us") <= before);
        before = event_metric(&b, "latency_us");
    }
}

static void memory__longer_is_never_slower(void **state)
{
    (void)state;
    double before = INFINITY;
    for (int kib = 1; kib <= 64; kib *= 4) {
        char settings[100];
        snprintf(settings, sizeof settings, "context=1024 kv_memory_kib=%d", kib);
        at(settings, 0);
        double us = event_metric(&b, "attention_us");
        assert_true(us <= before * 1.005); /* refreshes fall differently */
        before = us;
    }
    before = INFINITY;
    for (int depth = 1; depth <= 16; depth *= 4) {
        char settings[100];
        snprintf(settings, sizeof settings, "pipe_fifo=%d", depth);
        at(settings, DSE_IDEAL_DRAM);
        assert_true(event_metric(&b, "attention_us") <= before * (1 + 1e-9));
        before = event_metric(&b, "attention_us");
    }
}

static void refresh__costs_between_nothing_and_what_it_closes(void **state)
{
    (void)state;
    static const char *const machines[] = {"", "gemv_efficiency=1", "bandwidth_gbs=200"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char settings[100];
        snprintf(settings, sizeof settings, "layers_simulated=%d %s", i ? 2 : samples(4, 0), machines[i]);
        at(settings, 0);
        const struct dse_memory *memory = (const void *)field_get(schema_find(&b.model->params, "memory"), b.params).ref;
        const double closed_ns =
            number("t_rfc_ns") + number("t_ras_ns") + number("t_rp_ns") + number("t_rcd_ns") + memory->detail.t_cl_ns;
        double with = event_metric(&b, "latency_us");
        run_events(&b, DSE_IDEAL_REFRESH);
        double lost = 1 - event_metric(&b, "latency_us") / with;
        assert_true(lost >= -1e-4 && lost <= closed_ns / number("t_refi_ns"));
    }
}

/* ---- what is simulated --------------------------------------------------------------------------------------------------- */

static void sampling__the_part_stands_for_the_whole(void **state)
{
    (void)state;
    static const char *const machines[] = {"context=2000", "batch=6", "attention=flash context=1500", "phase=prefill context=8"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char settings[200];
        snprintf(settings, sizeof settings, "rows_simulated=0 positions_simulated=8 %s", machines[i]);
        at(settings, DSE_IDEAL_DRAM);
        double all = event_metric(&b, "attention_us");
        snprintf(settings, sizeof settings, "rows_simulated=30000 %s", machines[i]);
        at(settings, DSE_IDEAL_DRAM);
        assert_near(event_metric(&b, "attention_us"), all, 0.01);
    }
}

/* Who limits attention is not a matter of how much of it is simulated. */
static void sampling__the_part_has_the_limit_of_the_whole(void **state)
{
    (void)state;
    static const char *const machines[] = {"", "kv_bits=16", "attention=flash"};
    static const char *const limits[] = {"dram", "dram", "compute"};
    const int batches[] = {samples(16, 64), 16, samples(16, 64)};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        for (int all = 0; all < 2; all++) {
            char settings[200];
            snprintf(settings, sizeof settings, "layers_simulated=1 context=256 batch=%d %s%s", batches[i], machines[i],
                     all ? " rows_simulated=0" : " rows_simulated=20000");
            at(settings, 0);
            assert_string_equal(part_of(&b.events_parts, "attention")->bound, limits[i]);
        }
}

static void runs__are_the_same_again(void **state)
{
    (void)state;
    static const char *const machines[] = {"layers_simulated=1", "layers_simulated=1 attention=flash", "phase=prefill context=70"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        at(machines[i], 0);
        char first[LEVEL_BYTES];
        uint64_t handled = b.handled;
        memcpy(first, b.events, sizeof first);
        run_events(&b, 0);
        assert_memory_equal(first, b.events, b.model->desc->metrics_size);
        assert_int_equal(handled, b.handled);
    }
}

static void random__points_run_and_are_not_faster_than_their_products(void **state)
{
    (void)state;
    at("", DSE_IDEAL_DRAM);
    char base[LEVEL_BYTES];
    memcpy(base, b.params, sizeof base);
    for (int n = 0; n < 40;) {
        if (!random_point(b.model, base, 0.1, b.params)) continue;
        struct point p = here();
        set(&p, "layers_simulated", 1);
        if (number("rows_simulated") == 0 || number("rows_simulated") > 20000) set(&p, "rows_simulated", 20000);
        if (number("stream_mib") == 0 || number("stream_mib") > 2) set(&p, "stream_mib", 2);
        memcpy(b.params, p.params, b.model->desc->params_size);
        if (dse_dram_port_check(dram_of(&p))) continue; /* a memory that has no event level */
        n++;
        b.closed_parts.n = b.closed_parts.n_causes = 0;
        b.model->desc->estimate(b.params, b.closed, &b.closed_parts);
        run_events(&b, DSE_IDEAL_DRAM);
        assert_parts(&b, 1e-9);
        assert_finite(&b, "random");
        assert_true(event_metric(&b, "latency_us") > 0.97 * closed_metric(&b, "latency_us"));
    }
}

/* A processor's memory has room for one large request, whose last row ends in the next. */
static void memory__rows_across_requests_arrive(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "processors=1 queue_depth=171 kv_bits=21 context=256 layers_simulated=1",
        "processors=1 queue_depth=171 kv_bits=21 context=256 layers_simulated=1 attention=streaming",
        "kv_bits=21 kv_memory_kib=1 context=256 layers_simulated=1 attention=flash"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        both_levels(&b, "swiftkv", settings[i], 0);
        assert_parts(&b, 1e-3);
    }
}

/* A controller that finds two reads of one address waiting makes them one. Keys and values of other heads are at other addresses:
 * no attention is read in less time than its bytes take, however many heads a processor's memory holds. */
static void memory__heads_are_not_read_for_one_another(void **state)
{
    (void)state;
    const char *const attentions[] = {"swiftkv", "native", "streaming", "flash", "flash kv_layout=interleaved"};
    for (size_t i = 0; i < sizeof attentions / sizeof *attentions; i++) {
        char *settings = xasprintf("memory=hbm2-dramsim3 bandwidth_gbs=0.5 processors=1 context=64 layers_simulated=1 "
                                   "kv_memory_kib=512 attention=%s",
                                   attentions[i]);
        both_levels(&b, "swiftkv", settings, 0);
        const struct dse_part *p = b.events_parts.part;
        while (strcmp(p->name, "attention") != 0) p++;
        const double bytes_per_us = 0.5 * DSE_GIGA / DSE_US_PER_S;
        if (!(p->time_us > p->dram_bytes / bytes_per_us)) fail_msg("%s: %g us for %g bytes", settings, p->time_us, p->dram_bytes);
        free(settings);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ideal__the_levels_agree_within_fill_and_drain),
        cmocka_unit_test(ideal__a_linear_layer_is_exact),
        cmocka_unit_test(ideal__the_single_pass_takes_four_cycles_a_position),
        cmocka_unit_test(ideal__flash_has_a_bubble_a_block),
        cmocka_unit_test(parts__add_up_and_move_what_the_closed_form_moves),
        cmocka_unit_test(bytes__of_a_whole_layer_cross_the_bus),
        cmocka_unit_test(update__takes_the_array_or_has_its_own),
        cmocka_unit_test(channel__limits_what_the_array_balances),
        cmocka_unit_test(layout__own_channels_are_not_slower),
        cmocka_unit_test(layout__channels_without_a_processor_are_idle),
        cmocka_unit_test(sfu__passes_between_layers_are_seen_once_a_layer),
        cmocka_unit_test(memory__longer_is_never_slower),
        cmocka_unit_test(memory__rows_across_requests_arrive),
        cmocka_unit_test(memory__heads_are_not_read_for_one_another),
        cmocka_unit_test(refresh__costs_between_nothing_and_what_it_closes),
        cmocka_unit_test(sampling__the_part_stands_for_the_whole),
        cmocka_unit_test(sampling__the_part_has_the_limit_of_the_whole),
        cmocka_unit_test(runs__are_the_same_again),
        cmocka_unit_test(random__points_run_and_are_not_faster_than_their_products),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
