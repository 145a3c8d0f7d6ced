/* VEDA at event level: agreement with the closed form where both know the answer, bytes and work, and what only events show. */
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

static const struct dse_memory *memory_here(void)
{
    return (const struct dse_memory *)(const void *)field_get(schema_find(&b.model->params, "memory"), b.params).ref;
}

static bool chosen(const char *name, const char *choice)
{
    const struct field *f = schema_find(&b.model->params, name);
    return strcmp(f->choices[field_get(f, b.params).choice], choice) == 0;
}

/* The modules alone: a die with the interfaces of 200,000 GB/s cannot be made. */
static void at(const char *settings, unsigned ideal)
{
    char *alone = xasprintf(VEDA_AS_PUBLISHED "area=core %s", settings);
    both_levels(&b, "veda", alone, ideal);
    free(alone);
}

static void assert_near(double a, double c, double relative)
{
    if (fabs(a - c) <= relative * fmax(fabs(a), fabs(c))) return;
    fail_msg("%.17g is not %.17g", a, c);
}

/* One of each choice, and machines on which something else is the slowest. */
static const char *const points[] = {
    "",
    "eviction=none",
    "eviction=h2o",
    "eviction=window",
    "boundary=as-listed",
    "softmax=stage",
    "softmax=stage dataflow=adder-tree",
    "softmax=stage dataflow=adder-tree tree_width=256",
    "drain=tile",
    "softmax=stage drain=tile",
    "gather=rows",
    "gather=rows eviction=h2o",
    "sharing=nothing llm=llama3-8b",
    "llm=llama3-8b",
    "llm=llama3-8b eviction=h2o softmax=stage",
    "llm=opt-2.7b",
    "devices=8",
    "devices=3 exchange_us=1",
    "devices=32",
    "batch=2 context=128",
    "batch=3 context=200 llm=llama3-8b eviction=none",
    "generate=100",
    "generate=300 eviction=none",
    "generate=700 eviction_ratio=1 cache_length=900",
    "generate=300 eviction=none dataflow=adder-tree softmax=stage",
    "generate=5 prompt=3 eviction=none",
    "bandwidth_gbs=64",
    "bandwidth_gbs=2048",
    "bandwidth_gbs=2048 pe_copies=8",
    "bandwidth_gbs=2048 pe_copies=8 vote_lanes=8 sfu_exp=8 sfu_div=8",
    "sfu_exp=1",
    "sfu_exp=1 sfu_div=1 softmax=stage",
    "pe_rows=3 pe_columns=5",
    "clock_ghz=0.37",
    "kv_bits=4 weight_bits=4",
    "context=4000 eviction=none",
    "llm=yarn-llama2-7b-128k context=100000 eviction=none capacity_gib=100",
    "phase=prefill context=1",
    "phase=prefill context=40",
    "phase=prefill context=128",
    "phase=prefill context=300",
    "phase=prefill context=300 causal=computed eviction=h2o",
    "phase=prefill context=100 gather=rows llm=llama3-8b sharing=nothing",
    "phase=prefill context=200 softmax=stage dataflow=adder-tree batch=2",
    "phase=prefill context=600 buffer_kib=64",
};
enum { POINTS = sizeof points / sizeof *points };

/* ---- agreement ----------------------------------------------------------------------------------------------------------- */

static double log2_up(double n)
{
    return ceil(log2(n));
}

/* What the closed form says of attention, of one chip: by the breakdown and by shares of the peak. */
struct closed {
    double step_s, attention_s, norm_s, gemv_s, stage_s, bus_s, sfu_s, vote_s;
    double cycle, byte, longest, heads, kv_heads, group, row_bytes, batch, queries, units, layers;
    bool tree, serial, stays;
};

static void set_sizes(struct closed *c)
{
    struct point p = here();
    const struct dse_llm *llm = workload_of(&p)->llm;
    const double bits = number("kv_bits"), devices = number("devices");
    const bool prefill = chosen("phase", "prefill");
    c->cycle = 1 / (number("clock_ghz") * DSE_GIGA);
    c->byte = 1 / (number("bandwidth_gbs") * DSE_GIGA * number("dram_efficiency"));
    c->longest = equation(&p, "longest");
    c->layers = (double)llm->layers;
    c->batch = number("batch");
    c->queries = prefill ? number("context") : 1;
    c->kv_heads = (double)llm->kv_heads;
    c->row_bytes = (double)llm->head_dim * bits / 8;
    c->tree = chosen("dataflow", "adder-tree");
    c->serial = chosen("softmax", "element-serial");
    c->stays = prefill && c->queries * 2 * c->row_bytes <= number("buffer_kib") * DSE_KIB / 2;
    c->group = (double)llm->heads / (double)llm->kv_heads;
    c->heads = c->layers * c->batch * ceil(c->kv_heads / devices) * c->group;
    c->units = c->heads / c->layers * c->queries / (chosen("sharing", "group") ? c->group : 1);
}

static struct closed closed_of(void)
{
    struct closed c = {.step_s = closed_metric(&b, "latency_us") / DSE_US_PER_S};
    const struct dse_part *scores = part_of(&b.closed_parts, "attention_scores"),
                          *values = part_of(&b.closed_parts, "attention_values"), *votes = part_of(&b.closed_parts, "votes");
    set_sizes(&c);
    const double peak = 2 * number("devices") * number("pe_rows") * number("pe_columns") * number("pe_copies") / c.cycle,
                 met = closed_metric(&b, "cached_positions") * c.queries * c.heads * c.cycle, exps = number("sfu_exp");
    c.attention_s = closed_metric(&b, "attention_us") / DSE_US_PER_S;
    c.norm_s = part_of(&b.closed_parts, "norms")->time_us / DSE_US_PER_S;
    c.gemv_s = scores->ops / (peak * closed_metric(&b, "scores_utilization")) +
               values->ops / (peak * closed_metric(&b, "values_utilization"));
    c.stage_s = part_of(&b.closed_parts, "softmax")->time_us / DSE_US_PER_S;
    c.bus_s = (scores->dram_bytes + values->dram_bytes + votes->dram_bytes) / number("devices") * c.byte;
    c.sfu_s = c.serial ? met / exps + met / fmin(exps, number("sfu_div")) : 0;
    c.vote_s = chosen("eviction", "voting") || chosen("eviction", "h2o") ? met / number("vote_lanes") : 0;
    return c;
}

/* Seconds that are no work: README, E18 to E23. */
struct fill {
    double linear_s; /* of one instance of a linear layer */
    double layer_s;  /* of attention of a layer, once */
    double head_s;   /* of every unit of it */
};

static struct fill fill_of(const struct closed *c)
{
    const double cycle = c->cycle,
                 chunk = fmin(number("channels") * number("interleave_bytes"), 1024 * number("stream_fifo_kib") / 4) * c->byte,
                 group = chosen("sharing", "group") || c->stays ? c->group : 1, exps = number("sfu_exp"), fifo = number("sfu_fifo"),
                 elements = group * c->longest, tile = fmin(elements, fifo), exp_cycles = number("sfu_exp_cycles"),
                 div_cycles = number("sfu_div_cycles"),
                 depth = c->tree ? 1 + log2_up(number("tree_width"))
                                 : 1 + log2_up(number("pe_rows")) + log2_up(number("pe_columns")) + log2_up(number("pe_copies")),
                 softmax = ceil((tile + group) / exps) + 2 * exp_cycles + div_cycles + 2 + log2_up(exps) + depth + 2;
    struct fill f = {.linear_s = chunk + (2 * div_cycles + depth) * cycle};
    if (c->batch * c->queries > 1) f.linear_s += number("buffer_kib") * DSE_KIB / 2 * c->byte; /* of several rows: the first tile */
    /* A row of a unit is asked for when the one before is used: it cannot be there earlier than a chunk takes. */
    f.layer_s = (softmax + depth + 4) * cycle + 4 * chunk +
                (2. * c->kv_heads * c->row_bytes * c->batch + 16. * c->longest * c->kv_heads) * c->byte;
    f.head_s = c->serial && chosen("drain", "overlapped") ? 0 : (softmax + depth) * cycle;
    if (c->serial) f.head_s += ceil(elements / fifo) * group / exps * cycle; /* rescaling */
    if (c->serial && elements < 4 * softmax) f.head_s += softmax * cycle;    /* too short to be hidden behind */
    if (c->longest * c->row_bytes < 8 * chunk / c->byte) f.head_s += 2 * chunk;
    return f;
}

/* With everything ideal, the step takes no longer than the closed form and what fills and drains; and no shorter than the busiest
 * part of each linear layer and of attention, which in the closed form wait for each other twice a head and events do not. */
static void assert_agrees(const char *settings)
{
    at(settings, ALL_IDEAL);
    const struct closed c = closed_of();
    const struct fill f = fill_of(&c);
    const double start_s = 100e-9; /* at most: E38, which an ideal DRAM does not take */
    const double fill = 5 * c.layers * f.linear_s + c.layers * (f.layer_s + c.units * f.head_s),
                 least = fmax(c.gemv_s + c.stage_s, fmax(c.bus_s, fmax(c.sfu_s, c.vote_s))),
                 low = c.step_s - c.attention_s - c.norm_s + least - 5 * (c.layers + 1) * start_s, high = c.step_s + fill,
                 seen = event_metric(&b, "latency_us") / DSE_US_PER_S;
    if (seen < low * (1 - 1e-6) || seen > high * (1 + 1e-6))
        fail_msg("%s: %.9g s, not within %.9g and %.9g (closed form %.9g)", settings, seen, low, high, c.step_s);
    if (fill < 0.05 * c.step_s) return;
    if (c.longest > 100) fail_msg("%s: a fill of %.3g of %.3g s says nothing", settings, fill, c.step_s);
}

static void ideal__the_levels_agree_within_fill_and_drain(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) assert_agrees(points[i]);
}

/* An inner product: the first chunk comes, then the array never waits, then the tree drains. */
static void ideal__a_linear_layer_is_exact(void **state)
{
    (void)state;
    at("eviction=none", ALL_IDEAL); /* no counts to be written back meanwhile */
    const double chunk_us = 4096 / 256e3, depth_us = 8e-3, start_us = 58e-3, instances = 32; /* an ideal DRAM has no latency */
    static const char *const names[] = {"output_projection", "ffn_down"};
    for (int i = 0; i < 2; i++) {
        double closed = part_of(&b.closed_parts, names[i])->time_us, seen = part_of(&b.events_parts, names[i])->time_us;
        assert_near(seen - closed, instances * (chunk_us + depth_us - start_us), 1e-6);
    }
}

/* Far more bandwidth than the array takes: two cycles a position and head, and what a layer's ends are. */
static void ideal__attention_is_two_cycles_a_position(void **state)
{
    (void)state;
    at("eviction=window bandwidth_gbs=200000", ALL_IDEAL);
    double cycles = event_metric(&b, "attention_us") * 1e3 / 32;
    assert_true(cycles >= 2 * 32 * 512 && cycles <= 2 * 32 * 512 + 3);
}

static void ideal__an_adder_tree_has_its_epochs(void **state)
{
    (void)state;
    for (int l = 120; l <= 140; l += 4) {
        char settings[200];
        snprintf(settings, sizeof settings,
                 "dataflow=adder-tree softmax=stage eviction=none bandwidth_gbs=200000 v_access_cycles=0.779 context=%d", l);
        at(settings, ALL_IDEAL);
        double values = part_of(&b.events_parts, "attention_values")->time_us * 1e3 / (32 * 32);
        assert_near(values, 128 * ceil(l / 128.) + 0.779 * l, 1e-3);
    }
}

/* ---- conservation -------------------------------------------------------------------------------------------------------- */

static void parts__add_up_and_move_what_the_closed_form_moves(void **state)
{
    (void)state;
    for (int i = 0; i < POINTS; i++) {
        at(points[i], DSE_IDEAL_DRAM);
        assert_parts(&b, 2e-3);
        assert_finite(&b, points[i]);
    }
}

/* All of a layer simulated: the controllers count what the metrics say. */
static void bytes__of_a_whole_layer_cross_the_bus(void **state)
{
    (void)state;
    static const char *const machines[] = {"weight_bits=2", "weight_bits=2 gather=rows kv_bits=8", "weight_bits=2 devices=2"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char settings[300];
        snprintf(settings, sizeof settings, "llm=opt-2.7b eviction=none rows_simulated=0 stream_mib=0 context=300 %s", machines[i]);
        at(settings, DSE_IDEAL_DRAM);
        double all = closed_metric(&b, "dram_mib"), head = part_of(&b.closed_parts, "lm_head")->dram_bytes / DSE_MIB;
        double devices = number("devices");
        assert_near(note_of(&b, "dram_simulated_mib"), ((all - head) / 32 + head) / devices, 1e-4);
    }
}

/* ---- what only events show ----------------------------------------------------------------------------------------------- */

/* The paper's claim: with a FIFO as long as its pipeline softmax takes no time. A shorter one passes one weight every latency /
 * length cycles. */
static void softmax__is_hidden_by_a_fifo_as_long_as_its_pipeline(void **state)
{
    (void)state;
    const double latency = 8 + 12;
    double before = INFINITY;
    for (int fifo = 1; fifo <= 64; fifo *= 2) {
        char settings[200];
        snprintf(settings, sizeof settings, "eviction=window bandwidth_gbs=100000 stream_fifo_kib=64 norm_fifo=%d", fifo);
        at(settings, DSE_IDEAL_DRAM);
        double values = part_of(&b.events_parts, "attention_values")->time_us * 1e3 / (32 * 32 * 512);
        double exposed = event_metric(&b, "softmax_exposed_us");
        assert_near(values, fmax(1, latency / fifo), 0.01 * latency / fifo);
        if (fifo >= latency) assert_true(exposed < 1e-6);
        if (fifo < latency)
            assert_near(exposed, (latency / fifo - 1) * 32 * 32 * 512 * 1e-3,
                        0.04); /* the first ones of a head count as its drain */
        assert_true(values <= before * (1 + 1e-9));
        before = values;
    }
}

/* As a stage it stands between the products: its passes and its pipeline, every head. */
static void softmax__as_a_stage_is_seen_in_every_head(void **state)
{
    (void)state;
    at("softmax=stage eviction=window", DSE_IDEAL_DRAM);
    double cycles = part_of(&b.events_parts, "softmax")->time_us * 1e3 / (32 * 32);
    assert_near(cycles, 512. / 2 + 8 + 12 + 8 - 1, 1e-3);
    assert_near(event_metric(&b, "softmax_exposed_us"), part_of(&b.events_parts, "softmax")->time_us, 1e-9);
}

/* Scores that the buffer has no room for go out and come back before s V (A8), behind what the FIFO of rows has asked for. */
static void softmax__as_a_stage_waits_for_scores_that_left(void **state)
{
    (void)state;
    static const int kib[2] = {128, 64};
    const double stage = 20000. / 256 + 8 + 12 + 8 - 1, moved = 2 * 2. * 20000 / 256, asked_for = 2 * 64. * 1024 / 256;
    double cycles[2];
    for (int i = 0; i < 2; i++) {
        char settings[250];
        snprintf(settings, sizeof settings,
                 "softmax=stage sfu_exp=256 sfu_div=256 eviction=none llm=yarn-llama2-7b-128k context=20000 capacity_gib=100 "
                 "rows_simulated=320000 buffer_kib=%d",
                 kib[i]);
        at(settings, DSE_IDEAL_DRAM);
        cycles[i] = part_of(&b.events_parts, "softmax")->time_us * 1e3 / (32 * 32);
    }
    assert_near(cycles[0], stage, 0.03);
    assert_true(moved > 1.4 * stage);
    assert_true(cycles[1] >= moved && cycles[1] <= moved + asked_for);
}

/* The next head's q K^T hides the last tile of a head; without it every head waits. */
static void drain__is_hidden_by_the_next_head(void **state)
{
    (void)state;
    at("eviction=window", DSE_IDEAL_DRAM);
    double hidden = part_of(&b.events_parts, "drain")->time_us;
    at("eviction=window drain=tile", DSE_IDEAL_DRAM);
    double seen = part_of(&b.events_parts, "drain")->time_us;
    assert_true(hidden * 1e3 / 32 <= 1 + 1e-6); /* a layer's last product */
    /* Tree, last tile and its rescaling, exponential and sum, the weights' pipeline. */
    double expected = 8 + 32 / 2. + 1 + 8 + 2 + 20;
    assert_true(fabs(seen * 1e3 / (32 * 32) - expected) <= 3);
}

static void votes__take_no_time_when_the_engine_keeps_up(void **state)
{
    (void)state;
    at("", DSE_IDEAL_DRAM);
    double voting = event_metric(&b, "attention_us");
    assert_true(event_metric(&b, "vote_exposed_us") < 1e-6);
    at("eviction=window", DSE_IDEAL_DRAM);
    double window = event_metric(&b, "attention_us"), counts_us = 32 * 2. * 512 * 2 / 256e3;
    assert_true(voting >= window - 1e-6 && voting <= window + counts_us + 32 * 0.02);
    /* Twice as fast an array, one score a cycle: the engine is what is waited for. */
    at("pe_copies=4 bandwidth_gbs=2048", DSE_IDEAL_DRAM);
    assert_true(event_metric(&b, "vote_exposed_us") > 0.2 * event_metric(&b, "attention_us"));
}

/* A FIFO that holds less than what is on its way starves the array. */
static void stream_fifo__longer_is_never_slower(void **state)
{
    (void)state;
    double before = INFINITY, first = 0;
    for (int kib = 4; kib <= 256; kib *= 2) {
        char settings[100];
        snprintf(settings, sizeof settings, "eviction=window stream_fifo_kib=%d", kib);
        at(settings, 0);
        double us = event_metric(&b, "latency_us");
        assert_true(us <= before * 1.002); /* refreshes fall differently */
        if (kib == 4) first = us;
        before = us;
    }
    assert_true(first > 1.5 * before);
}

static void refresh__costs_between_nothing_and_what_it_closes(void **state)
{
    (void)state;
    static const char *const machines[] = {"", "bandwidth_gbs=128", "bandwidth_gbs=1024"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        at(machines[i], 0);
        const double closed_ns =
            number("t_rfc_ns") + number("t_ras_ns") + number("t_rp_ns") + number("t_rcd_ns") + memory_here()->detail.t_cl_ns;
        double with = event_metric(&b, "latency_us");
        run_events(&b, DSE_IDEAL_REFRESH);
        double lost = 1 - event_metric(&b, "latency_us") / with;
        assert_true(lost >= -1e-4 && lost <= closed_ns / number("t_refi_ns"));
        if (i < 2) assert_true(lost >= number("t_rfc_ns") / number("t_refi_ns") - 0.003);
    }
}

/* Rows that eviction has left with holes between them cost more than rows side by side. */
static void holes__cost_rows(void **state)
{
    (void)state;
    at("gather=stream", 0);
    double dense = event_metric(&b, "attention_us");
    at("gather=rows eviction=window", 0);
    double rows = event_metric(&b, "attention_us");
    at("gather=rows", 0);
    double holes = event_metric(&b, "attention_us");
    assert_true(rows < 1.02 * dense);
    assert_true(holes > 1.02 * rows);
}

/* ---- what is simulated --------------------------------------------------------------------------------------------------- */

/* E40: samples of any length give the same step within the error that each says it has, and for the banks where streams meet. */
static void precision__says_how_far_samples_are_apart(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "memory=hbm3-h100-80gb pe_copies=128 sfu_exp=64 sfu_div=64 eviction=none context=2000 batch=4 buffer_kib=2048",
        "memory=hbm3-h100-80gb pe_copies=64 sfu_exp=32 sfu_div=32 eviction=none context=300",
        "memory=lpddr5x-8533-16ch pe_copies=4 llm=llama3.2-1b eviction=none context=100",
        "gather=rows eviction=h2o context=1500",
    };
    static const char *const samples[] = {"precision=0.005", "precision=0.01", "precision=0.05",
                                          "stream_mib=1 rows_simulated=3000"};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        double exact = 0, exact_error = 0;
        for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
            char settings[300];
            snprintf(settings, sizeof settings, "%s t_rfc_ns=300 %s", machines[m], samples[i]);
            at(settings, 0);
            const double step = event_metric(&b, "latency_us"), error = event_metric(&b, "sample_error");
            if (i == 0) exact = step, exact_error = error;
            if (fabs(step - exact) > exact * ((i < 3 ? 0.01 : 0.03) + 3 * hypot(error, exact_error)))
                fail_msg("%s: %.6g us with an error of %.2g, not %.6g", settings, step, error, exact);
            assert_true(error < (i < 2 ? 0.012 : 0.06));
        }
    }
    at("eviction=none t_rfc_ns=300 stream_mib=0 rows_simulated=0 layers_simulated=0", DSE_IDEAL_REFRESH);
    assert_true(event_metric(&b, "sample_error") == 0);
}

/* A longer FIFO is never slower at either level, but for what the sample leaves open. */
static void fifos__that_are_longer_are_never_slower(void **state)
{
    (void)state;
    static const char *const machines[] = {
        "eviction=none context=600",
        "memory=hbm3-h100-80gb pe_copies=64 sfu_exp=32 sfu_div=32 eviction=h2o vote_lanes=16 context=1200",
        "memory=lpddr5x-8533-16ch pe_copies=8 sfu_exp=8 sfu_div=8 llm=llama3.2-1b eviction=none context=900 stream_mib=16",
        "memory=hbm2-5cube pe_copies=32 sfu_exp=16 sfu_div=16 batch=4 eviction=none context=500 clock_ghz=0.7",
    };
    static const char *const names[] = {"stream_fifo_kib", "norm_fifo"};
    enum { SIZES = 6 };
    static const double sizes[][SIZES] = {{8, 24, 72, 216, 648, 1944}, {6, 20, 60, 180, 540, 1620}};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++)
        for (int k = 0; k < 2; k++) {
            double closed = INFINITY, events = INFINITY;
            for (int i = 0; i < SIZES; i++) {
                char settings[300];
                snprintf(settings, sizeof settings, "%s %s=%g", machines[m], names[k], sizes[k][i]);
                at(settings, 0);
                const double c = closed_metric(&b, "latency_us"), e = event_metric(&b, "latency_us");
                if (c > closed || e > 1.02 * events)
                    fail_msg("%s: %g and %g us, with less %g and %g", settings, c, e, closed, events);
                closed = c;
                events = fmin(events, e);
            }
        }
}

static void sampling__the_part_stands_for_the_whole(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double part, mean;
    } cases[] = {{"eviction=none context=2000", 0.01, 0},
                 {"context=3000 softmax=stage", 0.01, 0},
                 {"batch=2 context=256 drain=tile", 0.01, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[200];
        snprintf(settings, sizeof settings, "%s rows_simulated=0", cases[i].settings);
        at(settings, 0);
        double all = event_metric(&b, "attention_us");
        snprintf(settings, sizeof settings, "%s rows_simulated=30000", cases[i].settings);
        at(settings, 0);
        assert_near(event_metric(&b, "attention_us"), all, cases[i].part);
        run_events(&b, ALL_IDEAL);
        double part = event_metric(&b, "attention_us");
        snprintf(settings, sizeof settings, "%s rows_simulated=0", cases[i].settings);
        at(settings, ALL_IDEAL);
        assert_near(part, event_metric(&b, "attention_us"), 1e-3);
    }
}

static void sampling__three_positions_stand_for_a_generation(void **state)
{
    (void)state;
    static const char *const machines[] = {"", "dataflow=adder-tree softmax=stage", "gather=rows"};
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        char settings[200];
        snprintf(settings, sizeof settings, "prompt=500 generate=8 eviction=none positions_simulated=8 rows_simulated=30000 %s",
                 machines[i]);
        at(settings, DSE_IDEAL_DRAM); /* every one of them */
        double all = event_metric(&b, "attention_us");
        snprintf(settings, sizeof settings, "prompt=500 generate=8 eviction=none positions_simulated=3 rows_simulated=30000 %s",
                 machines[i]);
        at(settings, DSE_IDEAL_DRAM);
        assert_near(event_metric(&b, "attention_us"), all, 1e-3);
    }
}

static void runs__are_the_same_again(void **state)
{
    (void)state;
    static const char *const machines[] = {"", "gather=rows", "phase=prefill context=70", "eviction=h2o llm=llama3-8b"};
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

static void seed__changes_where_the_holes_are(void **state)
{
    (void)state;
    at("gather=rows seed=1", 0);
    double one = event_metric(&b, "attention_us");
    at("gather=rows seed=2", 0);
    double two = event_metric(&b, "attention_us");
    assert_true(one != two && fabs(one - two) < 0.05 * one);
    at("gather=rows seed=1", ALL_IDEAL);
    one = event_metric(&b, "attention_us");
    at("gather=rows seed=2", ALL_IDEAL);
    assert_near(event_metric(&b, "attention_us"), one, 1e-12);
}

static double sum_of_ops(const struct dse_breakdown *parts)
{
    double sum = 0;
    for (int i = 0; i < parts->n; i++) sum += parts->part[i].depth == 0 ? parts->part[i].ops : 0;
    return sum;
}

static double peak_of(const struct point *p)
{
    return 2 * get(p, "devices") * get(p, "pe_rows") * get(p, "pe_columns") * get(p, "pe_copies") * get(p, "clock_ghz") * DSE_GIGA;
}

static void at_most(struct point *p, const char *name, double most)
{
    const double now = get(p, name);
    if (now == 0 || now > most) set(p, name, most);
}

/* Points near the defaults, whatever they are, run; none is faster than its bytes or its products. */
static void random__points_run_and_are_not_faster_than_their_parts(void **state)
{
    (void)state;
    at("", DSE_IDEAL_DRAM);
    const struct point base = here();
    for (int n = 0; n < 40;) {
        struct point p = base;
        if (!random_point(b.model, base.params, 0.1, p.params)) continue;
        if (dse_workload_unknown(workload_of(&p), DSE_CAN_SCALES)) continue; /* test_veda_llms.c */
        set(&p, "layers_simulated", 1);
        at_most(&p, "rows_simulated", 20000);
        at_most(&p, "stream_mib", 2);
        if (dse_dram_port_check(dram_of(&p))) continue; /* a memory that has no event level */
        n++;
        memcpy(b.params, p.params, b.model->desc->params_size);
        b.closed_parts.n = b.closed_parts.n_causes = 0;
        b.model->desc->estimate(b.params, b.closed, &b.closed_parts);
        run_events(&b, DSE_IDEAL_DRAM);
        const double row_bytes = (double)workload_of(&p)->llm->head_dim * dse_kv_narrowest(workload_of(&p)) / 8;
        /* Keys, or values, of a head end within a burst: of few positions that is a share of them. */
        assert_parts(&b, fmax(2e-3, 2 * (double)dram_of(&p)->burst_bytes / (equation(&p, "longest") * row_bytes)));
        assert_finite(&b, "random");
        const double array_s = sum_of_ops(&b.closed_parts) / (closed_metric(&b, "array_utilization") * peak_of(&p));
        assert_true(event_metric(&b, "latency_us") / DSE_US_PER_S >= 0.98 * array_s);
    }
}

/* On a DRAM so slow that a burst takes microseconds what is written last weighs: no layer ends before its bytes have passed. */
static void bytes__take_the_time_they_take(void **state)
{
    (void)state;
    static const char *const settings[] = {
        "memory=ddr4-3200-2ch bandwidth_gbs=0.0173 queue_depth=121 t_refi_ns=48032 llm=thin context=256",
        "memory=lpddr5-m1-ane bandwidth_gbs=0.01444 llm=thin context=256 phase=prefill boundary=bulk dataflow=adder-tree "
        "pe_rows=256 softmax=stage"};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        both_levels(&b, "veda", settings[i], 0);
        if (event_metric(&b, "dram_utilization") > 1) fail_msg("%s: %.9g", settings[i], event_metric(&b, "dram_utilization"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ideal__the_levels_agree_within_fill_and_drain),
        cmocka_unit_test(ideal__a_linear_layer_is_exact),
        cmocka_unit_test(ideal__attention_is_two_cycles_a_position),
        cmocka_unit_test(ideal__an_adder_tree_has_its_epochs),
        cmocka_unit_test(parts__add_up_and_move_what_the_closed_form_moves),
        cmocka_unit_test(bytes__of_a_whole_layer_cross_the_bus),
        cmocka_unit_test(softmax__is_hidden_by_a_fifo_as_long_as_its_pipeline),
        cmocka_unit_test(softmax__as_a_stage_is_seen_in_every_head),
        cmocka_unit_test(softmax__as_a_stage_waits_for_scores_that_left),
        cmocka_unit_test(drain__is_hidden_by_the_next_head),
        cmocka_unit_test(votes__take_no_time_when_the_engine_keeps_up),
        cmocka_unit_test(stream_fifo__longer_is_never_slower),
        cmocka_unit_test(refresh__costs_between_nothing_and_what_it_closes),
        cmocka_unit_test(holes__cost_rows),
        cmocka_unit_test(precision__says_how_far_samples_are_apart),
        cmocka_unit_test(fifos__that_are_longer_are_never_slower),
        cmocka_unit_test(sampling__the_part_stands_for_the_whole),
        cmocka_unit_test(sampling__three_positions_stand_for_a_generation),
        cmocka_unit_test(bytes__take_the_time_they_take),
        cmocka_unit_test(runs__are_the_same_again),
        cmocka_unit_test(seed__changes_where_the_holes_are),
        cmocka_unit_test(random__points_run_and_are_not_faster_than_their_parts),
    };
    return cmocka_run_group_tests(tests, set_up_thin, tear_down);
}
