/* model/row_check.h: a model that breaks what every row must satisfy is an error that names the metric and the point, never a row.
 */
#include "model/fidelity.h"
#include "model/row_check.h"
#include "sweep_bed.h"

#include <dse/units.h>
#include <math.h>
#include <stdint.h>

/* ---- a model that is wrong at three tiles -------------------------------------------------------------------------------- */

enum fault { NO_NUMBER, ENDLESS, ABOVE_THE_PEAK, LOST_TIME, LOST_BYTES, NEGATIVE_PART, NEGATIVE_CAUSE, LONG_ATTENTION, FAULTS };
static const char *const named[FAULTS] = {"macs_per_s", "power_w", "dram_utilization", "latency_us",
                                          "dram_mib",   "ops",     "energy_mj",        "attention_us"};
static enum fault fault;
enum { WRONG_TILES = 3 };

static void spoil(struct toy_metrics *m, struct dse_breakdown *b)
{
    struct dse_part *part = b ? &b->part[0] : NULL;
    switch (fault) {
    case NO_NUMBER: m->macs_per_s = (double)NAN; break;
    case ENDLESS: m->common.power_w = (double)INFINITY; break;
    case ABOVE_THE_PEAK: m->common.dram_utilization = 1.25; break;
    case LOST_TIME:
        if (part) part->time_us *= 0.5;
        break;
    case LOST_BYTES:
        if (part) part->dram_bytes *= 0.5;
        break;
    case NEGATIVE_PART:
        if (part) part->ops = -1;
        break;
    case NEGATIVE_CAUSE:
        if (b) dse_breakdown_cause(b, "leakage", -1);
        break;
    case LONG_ATTENTION: m->common.attention_us = 2 * m->common.latency_us; break;
    case FAULTS: break;
    }
}

static void wrong_estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    const struct toy_params *p = params;
    dse_model_toy.estimate(params, metrics, breakdown);
    if (p->tiles == WRONG_TILES) spoil(metrics, breakdown);
}

static bool wrong_simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct toy_params *p = params;
    bool ok = dse_model_toy.simulate(params, sim, metrics, breakdown);
    if (ok && p->tiles == WRONG_TILES) spoil(metrics, breakdown);
    return ok;
}

static struct dse_model wrong_model;

/* The toy of the registry, with the wrong functions. */
static struct model *wrong_toy(void)
{
    struct model *m = (struct model *)(uintptr_t)registry_find("toy");
    wrong_model = dse_model_toy;
    wrong_model.estimate = wrong_estimate;
    wrong_model.simulate = wrong_simulate;
    m->desc = &wrong_model;
    return m;
}

/* ---- one run ------------------------------------------------------------------------------------------------------------- */

static const char sweep_text[] = "[sweep]\nname = \"t\"\nmodels = [\"toy\"]\n%s\n[params]\ntiles = [2, 3, 4]\n%s\n[objectives]\n"
                                 "tokens_per_s = \"max\"\n";

static struct toy_params params_at(int64_t tiles, struct catalog **ret_catalog)
{
    struct diags d;
    diags_init(&d);
    *ret_catalog = catalog_new(toy_data_dir(), &d);
    struct binding *b = binding_new(registry_find("toy"), *ret_catalog, toy_data_dir(), &d);
    assert_int_equal(d.errors, 0);
    struct toy_params p = *(const struct toy_params *)b->defaults;
    p.tiles = tiles;
    dse_model_toy.resolve(&p);
    binding_free(b);
    diags_release(&d);
    return p;
}

static void runner__tells_what_is_wrong_at_both_fidelities(void **state)
{
    (void)state;
    wrong_toy();
    for (int f = 0; f < FIDELITIES * FAULTS; f++) {
        fault = (enum fault)(f / FIDELITIES);
        struct runner *r = runner_new((enum fidelity)(f % FIDELITIES), NULL);
        struct catalog *catalog;
        struct toy_params good = params_at(2, &catalog), wrong = good;
        wrong.tiles = WRONG_TILES;
        struct toy_metrics m;
        struct dse_breakdown b;
        assert_int_equal(runner_run(r, &wrong_model, &wrong, &m, &b), RUN_BROKEN);
        if (!strstr(runner_error(r), named[fault])) fail_msg("%s: %s", named[fault], runner_error(r));
        assert_int_equal(runner_run(r, &wrong_model, &good, &m, &b), RUN_DONE);
        runner_free(r);
        catalog_free(catalog);
    }
}

/* A number that may be unknown is NULL where it is NaN, and wrong where it is infinite. */
static void a_number_that_may_be_null__may_be_nan(void **state)
{
    (void)state;
    static const struct dse_metric table[] = {
        DSE_METRIC_F64_OR_NULL(struct toy_metrics, active, "", DSE_NEITHER, "positions attended to", ""), DSE_METRIC_END};
    const struct dse_model model = {.name = "m", .metrics = table, .metrics_size = sizeof(struct toy_metrics)};
    struct row_check *c = row_check_new(&model);
    struct toy_metrics m = {.active = (double)NAN};
    assert_null(row_check_run(c, &m, NULL));
    m.active = (double)INFINITY;
    char *why = row_check_run(c, &m, NULL);
    assert_non_null(why);
    assert_non_null(strstr(why, "active"));
    free(why);
    row_check_free(c);
}

/* ---- sweeps -------------------------------------------------------------------------------------------------------------- */

static void refuse(struct bed *b, const char *head, const char *params, const char *const *said)
{
    char *text = xasprintf(sweep_text, head, params);
    scratch_write(b->dir, "s.toml", text);
    free(text);
    struct catalog *catalog = catalog_new(toy_data_dir(), &b->diags);
    struct sweep_file *s = sweep_file_read(b->file, catalog, toy_data_dir(), &b->diags);
    if (!s) fail_with(&b->diags);
    struct sweep_options options = {.db = b->db, .threads = 2, .fresh = true, .max_points = 1000};
    struct sweep_result result;
    assert_false(sweep_run(s, &options, &result, &b->diags));
    assert_int_equal(b->diags.errors, 1);
    for (; *said; said++)
        if (!strstr(b->diags.list[0].message, *said)) fail_msg("\"%s\" is not in: %s", *said, b->diags.list[0].message);
    sweep_file_free(s);
    catalog_free(catalog);
    diags_release(&b->diags);
    diags_init(&b->diags);
    answers(b, b->db, "SELECT count(*) FROM toy WHERE tiles = 3", "0\n");
}

static void sweep__ends_with_the_metric_and_the_point(void **state)
{
    struct bed *b = *state;
    wrong_toy();
    fault = ABOVE_THE_PEAK;
    static const char *const said[] = {"a bug in model toy", "dram_utilization is 1.25", "dse eval toy --set tiles=3", NULL};
    static const char *const events[] = {"a bug in model toy", "dram_utilization is 1.25", "--fidelity event-level", "tiles=3",
                                         NULL};
    refuse(b, "", "", said);
    refuse(b, "fidelity = \"event-level\"", "", events);
    fault = LOST_TIME; /* of a part: all points at event level are asked for theirs */
    static const char *const parts[] = {"a bug in model toy", "latency_us", "tiles=3", NULL};
    refuse(b, "fidelity = \"event-level\"", "", parts);
    fault = NO_NUMBER;
    static const char *const mixed[] = {"a bug in model toy", "macs_per_s is", "tiles=3", NULL};
    refuse(b, "",
           "[catalog.requests.same]\nsource = 'me'\nprompt_median = 200\nprompt_p90 = 900\ngenerate_median = 100\n"
           "generate_p90 = 300\nmax_tokens = 3000\n[requests]\nmix = 'same'",
           mixed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runner__tells_what_is_wrong_at_both_fidelities),
        cmocka_unit_test(a_number_that_may_be_null__may_be_nan),
        cmocka_unit_test_setup_teardown(sweep__ends_with_the_metric_and_the_point, make_bed, clear_bed),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
