/* The Neural Engine at event level: what it has in common with the closed form, and what the closed form leaves out. */
#include "ane_test.h"

#include <dse/num.h>

static const unsigned all_ideal = DSE_IDEAL_FIFOS | DSE_IDEAL_REFRESH | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS | DSE_IDEAL_SYNC;

/* A point at both levels. */
struct levels {
    struct point p;
    struct named closed, events;
    struct dse_breakdown closed_parts, events_parts;
    uint64_t handled; /* events */
};

static void run(struct levels *a, unsigned ideal)
{
    a->closed = estimate_parts(&a->p, &a->closed_parts);
    a->events = simulated(&a->p, ideal, &a->events_parts, &a->handled);
}

/* `settings` in one string, separated by spaces. */
static struct levels both(const char *settings, unsigned ideal)
{
    struct levels a = {.p = point_of("ane", settings)};
    run(&a, ideal);
    return a;
}

/* Every metric, but for rounding of times to picoseconds. */
static void assert_all_near(const struct levels *a, double relative)
{
    static const struct {
        const char *name;
        size_t offset;
    } metrics[] = {
#define ROW(name) {#name, offsetof(struct named, name)},
        NAMED_METRICS(ROW)
#undef ROW
    };
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        const double x = *(const double *)(const void *)((const char *)&a->closed + metrics[i].offset),
                     y = *(const double *)(const void *)((const char *)&a->events + metrics[i].offset);
        if (isnan(x) && isnan(y)) continue;
        if (strcmp(metrics[i].name, "exposed_slide_us") == 0) continue; /* a difference of long times: among the parts below */
        if (!(fabs(x - y) <= relative * fmax(fabs(x), fabs(y)))) fail_msg("%s: %.12g is not %.12g", metrics[i].name, y, x);
    }
    assert_int_equal(a->closed_parts.n, a->events_parts.n);
    for (int i = 0; i < a->closed_parts.n; i++) {
        const struct dse_part *x = &a->closed_parts.part[i], *y = &a->events_parts.part[i];
        assert_string_equal(x->name, y->name);
        /* hidden but for a picosecond or two is hidden */
        if (fabs(x->time_us - y->time_us) > relative * x->time_us + 1e-11 * a->closed.latency_us)
            fail_msg("%s: %.12g is not %.12g", x->name, y->time_us, x->time_us);
        assert_near(x->dram_bytes, y->dram_bytes, 1e-12);
        assert_near(x->ops, y->ops, 1e-12);
    }
}

static const char *const designs[] = {"two-model", "slid-output",    "chunks",   "lazy-softmax",
                                      "stacked",   "late-transpose", "stateful", "none"};
enum { DESIGNS = sizeof designs / sizeof *designs };

/* ---- limits ------------------------------------------------------------------------------------------------------------------ */

static void ideal__run_is_the_closed_form(void **state)
{
    (void)state;
    static const char *const more[] = {"",
                                       "phase=prefill",
                                       "phase=prefill context=500 host_gap_us=3000",
                                       "overlap=sum programs=7 host_gap_us=300 slide=exposed",
                                       "prompt=100 generate=29 batch=3",
                                       "query_rows=60 prompt=300 generate=3000 llm=llama2-7b window=512 overflow=discard",
                                       "head_rows=last-row programs=1024 weight_bits=4 joining=at-once",
                                       "layout=square slide_each=call slide_programs=32 weight_bits=4 programs=13",
                                       "layout=row prompt=100 generate=29 query_rows=8 weight_bits=2 head_rows=last-row npu=m3"};
    for (size_t d = 0; d < DESIGNS; d++)
        for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
            char *text = xasprintf("cache=%s %s", designs[d], more[k]);
            if (strstr(more[k], "generate=3000") && strcmp(designs[d], "none") == 0) {
                free(text);
                continue;
            }
            struct levels a = both(text, all_ideal);
            assert_all_near(&a, 1e-7);
            free(text);
        }
}

/* Anywhere in the ranges: the same work, and nothing but rounding between the levels. */
static void ideal__run_is_the_closed_form_at_random_points(void **state)
{
    (void)state;
    const struct point base = point_of("ane", "");
    int feasible = 0;
    for (int i = 0; i < 4000; i++) {
        struct levels a = {.p = base};
        if (!random_point(base.model, base.params, i % 2 ? 0.15 : 0.5, a.p.params)) continue;
        run(&a, all_ideal);
        assert_all_near(&a, 1e-6);
        feasible++;
    }
    assert_true(feasible > 80);
}

/* ---- fill -------------------------------------------------------------------------------------------------------------------- */

/* E12: the law of the closed form, and what the channels make of it. */
static void tiles__cost_about_what_the_closed_form_says(void **state)
{
    (void)state;
    static const char *const more[] = {
        "", "overlap=sum", "query_rows=8", "weight_bits=4", "memory=lpddr5-6400-16ch", "query_rows=300 memory=hbm2-5cube"};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        for (double kib = 256; kib <= 16384; kib *= 4) {
            char *text = xasprintf("engine_tile_kib=%.0f %s", kib, more[k]);
            struct levels a = both(text, 0);
            if (!(a.events.call_us > 0.95 * a.closed.call_us && a.events.call_us < 1.05 * a.closed.call_us))
                fail_msg("%s: %g us, %g in closed form", text, a.events.call_us, a.closed.call_us);
            free(text);
        }
}

/* A larger half is no slower at either level, but for the part of a tile that a long operator ends with. */
static void tiles__that_are_too_short_for_the_memory_cost_bandwidth(void **state)
{
    (void)state;
    struct levels few = both("engine_tile_kib=2 query_rows=8 memory=hbm2-5cube", 0),
                  enough = both("query_rows=8 memory=hbm2-5cube", 0);
    assert_true(few.events.call_us > 1.5 * enough.events.call_us && few.closed.call_us > 1.5 * enough.closed.call_us);
}

/* ---- calls, dispatches, slides ------------------------------------------------------------------------------------------- */

static double part_us(const struct levels *a, const char *name)
{
    for (int i = 0; i < a->events_parts.n; i++)
        if (strcmp(a->events_parts.part[i].name, name) == 0) return a->events_parts.part[i].time_us;
    fail_msg("no part %s", name);
    return 0;
}

static void calls__are_those_of_the_post(void **state)
{
    (void)state;
    struct levels prompt = both("window=512 phase=prefill", 0), token = both("window=512", 0);
    assert_near(prompt.events.calls, 8, 0);
    assert_near(token.events.calls, 1, 0);
    assert_near(prompt.events.latency_us, 8 * (prompt.events.call_us + prompt.events.slide_us), 1e-9);
    assert_near(token.events.latency_us, token.events.call_us + token.events.slide_us / 64, 1e-9);
}

static void programs__are_dispatched_each(void **state)
{
    (void)state;
    for (int programs = 1; programs <= 1024; programs = 3 * programs + 1) {
        char *text = xasprintf("programs=%d dispatch_us=10", programs);
        struct levels a = both(text, 0), none = both("dispatch_us=0", 0);
        assert_near(a.events.call_us - none.events.call_us, 10. * programs, 1e-6);
        assert_near(part_us(&a, "dispatch"), 10. * programs, 1e-9);
        free(text);
    }
}

/* The slide takes the gap of the host, and only what is longer shows. */
static void slide__runs_in_the_gap(void **state)
{
    (void)state;
    double slide = both("phase=prefill", 0).events.slide_us;
    for (int gap = 0; gap <= 12000; gap += 1500) {
        char *hidden = xasprintf("phase=prefill host_gap_us=%d", gap), *exposed = xasprintf("%s slide=exposed", hidden);
        struct levels a = both(hidden, 0), b = both(exposed, 0);
        double left = fmax(a.events.slide_us - gap, 0);
        assert_near(a.events.exposed_slide_us + 1, 8 * left + 1, 1e-8);
        assert_near(b.events.exposed_slide_us, 8 * slide, 1e-8);
        assert_near(a.events.latency_us, 8 * (a.events.call_us + gap + left), 1e-9);
        free(hidden);
        free(exposed);
    }
}

/* E13: a generation has whole slides; the closed form its mean share of one. */
static void generation__slides_whole_blocks(void **state)
{
    (void)state;
    for (int generate = 1; generate <= 320; generate += 29) {
        char *text = xasprintf("prompt=512 generate=%d window=832", generate);
        struct levels a = both(text, 0), even = both(text, all_ideal);
        int slides = generate / 64;
        assert_near(a.events.latency_us * generate, generate * a.events.call_us + slides * a.events.slide_us, 1e-9);
        double less = (double)generate / 64 - slides, one_mib = 2. * 32 * 2 * (832 - 64) * 8192 / DSE_MIB;
        assert_near(a.closed.slide_mib * generate - a.events.slide_mib * generate + 1, less * one_mib + 1, 1e-9);
        assert_near(even.events.slide_mib, even.closed.slide_mib, 1e-12);
        free(text);
    }
}

static void energy__follows_the_time_the_engine_works(void **state)
{
    (void)state;
    struct levels a = both("", 0);
    double longer_s = (a.events.latency_us - a.closed.latency_us) * 1e-6;
    assert_near(a.events.energy_mj - a.closed.energy_mj, 1e3 * get(&a.p, "engine_base_w") * longer_s, 1e-6);
}

static void runs__repeat_themselves(void **state)
{
    (void)state;
    struct levels a = both("phase=prefill host_gap_us=300 programs=3", 0), b = both("phase=prefill host_gap_us=300 programs=3", 0);
    assert_memory_equal(&a.events, &b.events, sizeof a.events);
    assert_int_equal(a.handled, b.handled);
}

/* The cost of a run does not grow with the calls of a step. */
static void runs__are_two_calls_long(void **state)
{
    (void)state;
    struct levels few = both("prompt=64 generate=1", 0), many = both("prompt=2048 generate=2000 batch=3", 0);
    assert_true(many.handled < 2 * few.handled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ideal__run_is_the_closed_form),
        cmocka_unit_test(ideal__run_is_the_closed_form_at_random_points),
        cmocka_unit_test(tiles__cost_about_what_the_closed_form_says),
        cmocka_unit_test(tiles__that_are_too_short_for_the_memory_cost_bandwidth),
        cmocka_unit_test(calls__are_those_of_the_post),
        cmocka_unit_test(programs__are_dispatched_each),
        cmocka_unit_test(slide__runs_in_the_gap),
        cmocka_unit_test(generation__slides_whole_blocks),
        cmocka_unit_test(energy__follows_the_time_the_engine_works),
        cmocka_unit_test(runs__repeat_themselves),
        cmocka_unit_test(runs__are_two_calls_long),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
