/* One machine for both fidelities: the bandwidth that the closed form reckons with is that of the channels that are simulated,
 * for every model, every memory and any bandwidth; and a memory that was asked for brings its own. */
#include "model/fidelity.h"
#include "model_points.h"

#include <dse/hw.h>
#include <dse/units.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Bandwidths asked for; 0: none is. No memory of the catalog has the odd ones. */
static const double asked[] = {0, 31.5, 60, 256, 525, 1024, 1555};
enum { ASKED = sizeof asked / sizeof *asked, SETTINGS = 5 };

static double number(const struct model *m, const void *params, const char *name)
{
    const struct field *f = schema_find(&m->params, name);
    assert_non_null(f);
    return field_number(f, params);
}

/* The defaults with `settings` ("memory=ddr4-3200-2ch channels=4"). */
static bool made_of(struct one *o, const struct model *m, const char *settings)
{
    char *text = xstrdup(settings), *list[SETTINGS];
    size_t n = 0;
    for (char *s = strtok(text, " "); s; s = strtok(NULL, " ")) list[n++] = s;
    bool ok = one_init(o, m, list, n);
    free(text);
    return ok;
}

/* What the run notes of the peak of its DRAM; it is stopped as soon as its memory is open. NaN: it has no controllers. */
static double simulated_gbs(const struct model *m, const void *params)
{
    static volatile sig_atomic_t stop = 1;
    struct runner *r = runner_new(FIDELITY_EVENT_LEVEL, &(struct sim_options){.stop = &stop});
    void *metrics = xcalloc(1, m->desc->metrics_size);
    enum run_end end = runner_run(r, m->desc, params, metrics, NULL);
    if (end != RUN_STOPPED && end != RUN_DONE) fail_msg("%s: %s", m->desc->name, runner_error(r));
    double gbs = (double)NAN;
    for (size_t i = 0; i < sim_notes(runner_sim(r)); i++)
        if (strcmp(sim_note(runner_sim(r), i).name, "dram_peak") == 0) gbs = sim_note(runner_sim(r), i).value;
    free(metrics);
    runner_free(r);
    return gbs;
}

/* What the metrics say the peak is: bytes a second over the share of it that they are. */
static double metrics_gbs(const struct model *m, const void *params, enum fidelity fidelity)
{
    struct runner *r = runner_new(fidelity, NULL);
    void *metrics = xcalloc(1, m->desc->metrics_size);
    assert_int_equal(runner_run(r, m->desc, params, metrics, NULL), RUN_DONE);
    double v[3];
    static const char *const names[] = {"dram_mib", "tokens_per_s", "dram_utilization"};
    for (int i = 0; i < 3; i++) v[i] = field_number(schema_find(&m->metrics, names[i]), metrics);
    free(metrics);
    runner_free(r);
    const struct field *devices = schema_find(&m->params, "devices"), *tensor = schema_find(&m->params, "tensor_parallel");
    return v[0] * DSE_MIB * v[1] / v[2] / DSE_GIGA / (devices ? field_number(devices, params) : field_number(tensor, params));
}

static void assert_near(const char *what, const struct model *m, const char *name, double gbs, double is, double wanted)
{
    if (fabs(is / wanted - 1) > 1e-9)
        fail_msg("%s, %s at %g GB/s: %s is %.9g GB/s, not %.9g", m->desc->name, name, gbs, what, is, wanted);
}

/* A model under a name of the catalog (its memory, or its GPU), with a bandwidth or without. */
static bool check_machine(const struct model *m, const char *key, const struct dse_entry *e, double own_gbs, double gbs)
{
    char *settings[SETTINGS] = {xasprintf("%s=%s", key, e->name), xstrdup("llm=opt-2.7b"), xstrdup("capacity_gib=1024")};
    size_t n = 3;
    if (gbs > 0) settings[n++] = xasprintf("bandwidth_gbs=%.17g", gbs);
    if (schema_find(&m->params, "area")) settings[n++] = xstrdup("area=core"); /* no die has the edge for all of them */
    struct one o;
    if (!one_init(&o, m, settings, n)) fail_msg("%s: %s", m->desc->name, settings[0]);
    const void *params = space_fixed(o.space);
    const double wanted = gbs > 0 ? gbs : own_gbs;
    const char *why = m->desc->check ? m->desc->check(params) : NULL;
    if (why) fail_msg("%s, %s at %g GB/s: %s", m->desc->name, e->name, gbs, why);
    assert_near("bandwidth_gbs", m, e->name, gbs, number(m, params, "bandwidth_gbs"), wanted);
    assert_near("the closed form's peak", m, e->name, gbs, metrics_gbs(m, params, FIDELITY_CLOSED_FORM), wanted);
    double peak = simulated_gbs(m, params);
    const bool has_controllers = !isnan(peak);
    if (!has_controllers) peak = metrics_gbs(m, params, FIDELITY_EVENT_LEVEL);
    assert_near("the event level's peak", m, e->name, gbs, peak, wanted);
    one_release(&o);
    for (size_t i = 0; i < n; i++) free(settings[i]);
    return has_controllers;
}

static void every_model_and_memory__both_fidelities_see_one_machine(void **state)
{
    (void)state;
    size_t n, with_controllers = 0;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++) {
        const bool memory = schema_find(&models[i].params, "memory") != NULL;
        const enum dse_kind kind = memory ? DSE_KIND_MEMORY : DSE_KIND_GPU;
        const struct dse_entry *e;
        bool controllers = false;
        for (size_t k = 0; (e = catalog_at(catalog, kind, k)) != NULL; k++) {
            const struct dse_memory *d = (const struct dse_memory *)(const void *)e;
            const double own =
                memory ? (double)d->channels * d->channel_gbs : ((const struct dse_gpu *)(const void *)e)->bandwidth_gbs;
            for (size_t g = 0; g < ASKED; g++) controllers = check_machine(&models[i], memory ? "memory" : "gpu", e, own, asked[g]);
        }
        with_controllers += controllers;
    }
    assert_int_equal(with_controllers, 4); /* lad, veda, swiftkv, ane */
}

/* Of two names that say it, the one that was given; of two given ones the memory. */
static void swiftkv__a_memory_that_is_given_comes_before_the_fpga(void **state)
{
    (void)state;
    static const struct {
        const char *settings;
        double gbs, gib;
    } cases[] = {
        {"memory=ddr4-3200-2ch", 51.2, 32},           {"fpga=u280", 460, 8},
        {"memory=ddr4-3200-2ch fpga=u280", 51.2, 32}, {"fpga=u280 channels=16", 230, 8},
        {"fpga=u280 bandwidth_gbs=100", 100, 8},
    };
    const struct model *m = registry_find("swiftkv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct one o;
        assert_true(made_of(&o, m, cases[i].settings));
        const void *p = space_fixed(o.space);
        assert_near("bandwidth_gbs", m, cases[i].settings, 0, number(m, p, "bandwidth_gbs"), cases[i].gbs);
        assert_true(number(m, p, "capacity_gib") == cases[i].gib);
        assert_near("channels * channel_gbs", m, cases[i].settings, 0, number(m, p, "channels") * number(m, p, "channel_gbs"),
                    cases[i].gbs);
        one_release(&o);
    }
}

/* A bandwidth says how many channels there are; who gives both has said it twice. */
static void a_bandwidth__excludes_channels_and_their_peak(void **state)
{
    (void)state;
    static const char *const both[] = {"bandwidth_gbs=525 channels=16", "channel_gbs=16 bandwidth_gbs=525"};
    for (size_t i = 0; i < 2; i++) {
        struct one o;
        assert_false(made_of(&o, registry_find("lad"), both[i]));
        assert_non_null(strstr(diags.list[diags.n - 1].message, "cannot both be given"));
        one_release(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_and_memory__both_fidelities_see_one_machine),
        cmocka_unit_test(swiftkv__a_memory_that_is_given_comes_before_the_fpga),
        cmocka_unit_test(a_bandwidth__excludes_channels_and_their_peak),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
