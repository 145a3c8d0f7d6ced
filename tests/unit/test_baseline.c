/* The baseline of a sweep: ratios at the same workload, whatever else is evaluated; expressions over models of different columns.
 */
#include "bed.h"
#include "toy_model.h"

#include <math.h>

static struct bed *open_bed(const char *models, const char *sections)
{
    return open_bed_in(toy_data_dir(), models, sections);
}

/* ---- ratios ---------------------------------------------------------------------------------------------------------- */

static void baseline__beside_itself_is_one(void **state)
{
    (void)state;
    struct bed *b = open_bed("'pebble'", "[params]\nlanes = 64\nbatch = [1, 8]\ncontext = [256, 1024]\nllm = ['tiny', 'small']\n"
                                         "[baseline]\nmodel = 'pebble'\nlanes = 64\n[objectives]\nspeedup = 'max'");
    struct rows r = rows_of(b, 0, 100, false);
    for (size_t i = 0; i < r.n; i++) {
        assert_true(number(&r, i, "speedup") == 1 && number(&r, i, "attention_speedup") == 1);
        assert_true(number(&r, i, "energy_ratio") == 1 && number(&r, i, "latency_ratio") == 1);
    }
    rows_release(&r);
    close_bed(b);
}

/* Twice the lanes: all times and the energy of a token are half. */
static void baseline__ratios_have_the_direction_of_their_doc(void **state)
{
    (void)state;
    struct bed *b = open_bed("'pebble'", "[params]\nlanes = 64\nbatch = [1, 8]\n"
                                         "[baseline]\nmodel = 'pebble'\nlanes = 32\n[objectives]\nspeedup = 'max'");
    struct rows r = rows_of(b, 0, 100, false);
    for (size_t i = 0; i < r.n; i++) {
        near(number(&r, i, "speedup"), 2);
        near(number(&r, i, "attention_speedup"), 2);
        near(number(&r, i, "energy_ratio"), 2);
        near(number(&r, i, "latency_ratio"), 0.5);
    }
    static const struct {
        const char *name;
        enum dse_better better;
    } columns[] = {{"speedup", DSE_MORE}, {"attention_speedup", DSE_MORE}, {"energy_ratio", DSE_MORE}, {"latency_ratio", DSE_LESS}};
    size_t n;
    for (size_t i = 0; i < 4; i++) {
        const struct column *c = &space_columns(r.space, &n)[space_column(r.space, columns[i].name)];
        assert_int_equal(c->better, columns[i].better);
        assert_true(c->role == COLUMN_METRIC && strlen(c->doc) > 0);
    }
    rows_release(&r);
    close_bed(b);
}

/* The baseline's own batch stands; llm and context are each point's. Ratios are those of the two models evaluated by hand. */
static void baseline__takes_the_workload_that_it_was_not_given(void **state)
{
    (void)state;
    struct bed *b = open_bed("'toy'", "[params]\nbatch = [1, 3]\ncontext = [256, 1024, 2048]\nllm = ['tiny', 'small']\ntiles = 8\n"
                                      "[baseline]\nmodel = 'pebble'\nbatch = 5\nlanes = 100\n[objectives]\nspeedup = 'max'");
    struct rows r = rows_of(b, 0, 100, false);
    assert_int_equal(r.n, 12);
    for (size_t i = 0; i < r.n; i++) {
        struct toy_params p;
        struct toy_metrics m;
        space_point(r.space, i, &p);
        dse_model_toy.estimate(&p, &m, NULL);
        struct pebble_params q = {.llm = p.llm,
                                  .batch = 5,
                                  .context = p.context,
                                  .clock_ghz = 1,
                                  .lanes = 100,
                                  .layers = p.llm->layers, /* which the LLM sets */
                                  .request = {.prompt = 512}};
        struct pebble_metrics base;
        dse_model_pebble.estimate(&q, &base, NULL);
        near(number(&r, i, "speedup"), m.common.tokens_per_s / base.common.tokens_per_s);
        near(number(&r, i, "latency_ratio"), m.common.latency_us / base.common.latency_us);
        near(number(&r, i, "attention_speedup"),
             (base.common.attention_us / 5) / (m.common.attention_us / (double)p.batch)); /* a step yields a token of each */
        assert_true(isnan(number(&r, i, "energy_ratio")));                                /* toy has no energy */
    }
    rows_release(&r);
    close_bed(b);
}

/* toy cannot run contexts longer than the LLM's; pebble can. Its rows stay ok. */
static void baseline__that_cannot_run_the_workload_has_no_ratios(void **state)
{
    (void)state;
    struct bed *b = open_bed("'pebble'", "[params]\ncontext = [4096, 4097]\n[derive]\ntwice = '2 * speedup'\n"
                                         "[baseline]\nmodel = 'toy'\n[objectives]\nspeedup = 'max'");
    struct rows r = rows_of(b, 0, 1, false);
    assert_null(r.rows[0].reason);
    assert_null(r.rows[1].reason);
    assert_true(number(&r, 0, "speedup") > 0 && isnan(number(&r, 1, "speedup")) && isnan(number(&r, 1, "latency_ratio")));
    assert_true(isnan(number(&r, 1, "twice")) && isnan(number(&r, 0, "energy_ratio")));
    rows_release(&r);
    close_bed(b);

    /* A constraint without a value is broken: nobody can say that it holds. */
    b = open_bed("'pebble'", "[params]\ncontext = [4096, 4097]\n[constraints]\nfast = 'speedup > 0'\n"
                             "[baseline]\nmodel = 'toy'\n[objectives]\nspeedup = 'max'");
    r = rows_of(b, 0, 1, false);
    assert_null(r.rows[0].reason);
    assert_string_equal(r.rows[1].reason, "constraint fast: speedup > 0");
    rows_release(&r);
    close_bed(b);
}

/* The baseline's range may be narrower than the point's. A model that knows no requests gives the step at `context`. */
static void baseline__matches_requests(void **state)
{
    (void)state;
    struct bed *b = open_bed("'pebble'", "[params]\ngenerate = [0, 100]\ncontext = 1024\nprompt = 512\n"
                                         "[baseline]\nmodel = 'toy'\n[objectives]\nspeedup = 'max'");
    struct rows r = rows_of(b, 0, 1, false);
    assert_true(number(&r, 0, "speedup") > 0);
    assert_true(isnan(number(&r, 1, "speedup"))); /* toy cannot average over a request */
    rows_release(&r);
    close_bed(b);

    b = open_bed("'pebble'", "[params]\ngenerate = [0, 100]\n[baseline]\nmodel = 'pebble'\n[objectives]\nspeedup = 'max'");
    r = rows_of(b, 0, 1, false);
    assert_true(number(&r, 0, "speedup") == 1 && number(&r, 1, "speedup") == 1);
    rows_release(&r);
    close_bed(b);

    b = open_bed("'toy', 'pebble'", "[params.pebble]\ngenerate = 0\n[baseline]\nmodel = 'pebble'\ngenerate = 100\nprompt = 10\n"
                                    "[objectives]\nspeedup = 'max'");
    r = rows_of(b, 1, 1, false);
    assert_true(number(&r, 0, "speedup") < 1); /* given: a request of ~60 positions, against a step at 1024 */
    rows_release(&r);
    close_bed(b);
}

/* More workloads than are remembered, and each row is what a fresh evaluator gives. */
static void baseline__rows_do_not_depend_on_what_came_before(void **state)
{
    (void)state;
    struct bed *b =
        open_bed("'toy'", "[params]\nbatch = { from = 1, to = 50, step = 1 }\ncontext = { from = 1, to = 5000, step = 250 }\n"
                          "tiles = [1, 2]\nllm = ['tiny', 'small']\n"
                          "[baseline]\nmodel = 'pebble'\n[objectives]\nspeedup = 'max'");
    struct rows all = rows_of(b, 0, 4000, false), one = rows_of(b, 0, 1, true), some = rows_of(b, 0, 37, false);
    assert_int_equal(all.n, 4000);
    assert_memory_equal(all.cells, one.cells, all.n * all.columns * sizeof *all.cells);
    assert_memory_equal(all.cells, some.cells, all.n * all.columns * sizeof *all.cells);
    rows_release(&all);
    rows_release(&one);
    rows_release(&some);
    close_bed(b);
}

static uint64_t hash_of(const char *sections)
{
    char *text = xasprintf("[params]\ntiles = [1, 2]\n%s\n[objectives]\ntokens_per_s = 'max'", sections);
    struct bed *b = open_bed("'toy'", text);
    free(text);
    struct space *sp = space_new(b->sweep, 0, 1000, &b->diags);
    assert_non_null(sp);
    uint64_t h = space_hash(sp);
    space_free(sp);
    close_bed(b);
    return h;
}

static void baseline__is_part_of_the_hash(void **state)
{
    (void)state;
    uint64_t none = hash_of(""), h = hash_of("[baseline]\nmodel = 'pebble'\nlanes = 8\nbatch = 1");
    assert_true(h != none);
    assert_true(h == hash_of("[baseline]\nbatch = 1\nlanes = 8\nmodel = 'pebble'"));
    assert_true(h == hash_of("[baseline]\nbatch = 1\nlanes = 8\nmodel = 'pebble'\nclock_ghz = 1.0")); /* the default, said aloud */
    assert_true(h != hash_of("[baseline]\nmodel = 'pebble'\nlanes = 9\nbatch = 1"));
    assert_true(h != hash_of("[baseline]\nmodel = 'pebble'\nlanes = 8")); /* each point's batch */
    assert_true(h != hash_of("[baseline]\nmodel = 'toy'\nbatch = 1"));
}

static void baseline__as_text_has_what_was_given(void **state)
{
    (void)state;
    struct bed *b = open_bed("'toy'", "[baseline]\nlanes = 8\nmodel = 'pebble'\nllm = 'small'\n[objectives]\ntokens_per_s = 'max'");
    char *text = sweep_baseline_text(b->sweep);
    assert_string_equal(text, "pebble: llm=small, lanes=8");
    free(text);
    close_bed(b);
    b = open_bed("'toy'", "[objectives]\ntokens_per_s = 'max'");
    assert_null(sweep_baseline_text(b->sweep));
    close_bed(b);
}

/* ---- expressions over models of different columns ------------------------------------------------------------------------ */

/* tiles is toy's, lanes pebble's; toy has no energy_mj. */
static void expressions__are_about_the_models_that_have_their_columns(void **state)
{
    (void)state;
    struct bed *b = open_bed("'toy', 'pebble'",
                             "[params]\ntiles = [2, 4]\nlanes = [10, 20]\n[constraints]\nfew = 'tiles < 3'\nnarrow = 'lanes < 15'\n"
                             "cool = 'energy_mj < 0'\n[derive]\nper_tile = 'tokens_per_s / tiles'\n"
                             "per_mj = 'tokens_per_s / energy_mj'\n[objectives]\ntokens_per_s = 'max'");
    struct rows toy = rows_of(b, 0, 10, false), pebble = rows_of(b, 1, 10, false);
    assert_null(toy.rows[0].reason);
    assert_string_equal(toy.rows[1].reason, "constraint few: tiles < 3");
    assert_string_equal(pebble.rows[0].reason, "constraint cool: energy_mj < 0");
    assert_true(number(&toy, 0, "per_tile") > 0 && isnan(number(&pebble, 0, "per_tile")));
    assert_true(isnan(number(&toy, 0, "per_mj")) && number(&pebble, 0, "per_mj") > 0);
    assert_false(space_constraint_applies(toy.space, 0)); /* cool */
    assert_true(space_constraint_applies(toy.space, 1));  /* few */
    assert_false(space_constraint_applies(toy.space, 2)); /* narrow */
    assert_true(space_derived_applies(pebble.space, 0) && !space_derived_applies(pebble.space, 1));
    assert_int_equal(b->diags.n, 0);
    rows_release(&toy);
    rows_release(&pebble);
    close_bed(b);
}

static void refused(const char *sections, size_t errors, const char *part)
{
    struct bed *b = open_bed("'toy', 'pebble'", sections);
    for (size_t m = 0; m < 2; m++) space_check(b->sweep, m, &b->diags);
    if (b->diags.errors != errors || !strstr(b->diags.list[0].message, part)) {
        diags_print(&b->diags, stderr, false);
        fail_msg("wanted: %zu errors, %s", errors, part);
    }
    close_bed(b);
}

static void expressions__that_no_model_knows_are_refused_once(void **state)
{
    (void)state;
    refused("[constraints]\na = 'watts < 3'\n[objectives]\ntokens_per_s = 'max'", 1, "\"watts\" is neither");
    refused("[constraints]\na = 'tiles + lanes < 3'\n[objectives]\ntokens_per_s = 'max'", 1, "no model of this sweep has all");
    refused("[constraints]\na = 'lans < 3'\n[objectives]\ntokens_per_s = 'max'", 1, "\"lans\" is neither");
    refused("[constraints]\na = 'lanes <'\n[objectives]\ntokens_per_s = 'max'", 1, "where the expression ends");
    refused("[constraints]\na = 'area_mm2 <'\n[objectives]\ntokens_per_s = 'max'", 1, "where the expression ends");
    refused("[derive]\na = 'pipeline + 1'\n[objectives]\ntokens_per_s = 'max'", 1, "is a name, not a number");
    refused("[derive]\na = 'speedup + 1'\n[objectives]\ntokens_per_s = 'max'", 1, "\"speedup\" is neither"); /* no baseline */
    refused("[objectives]\nrounds = 'max'", 1, "not a numeric metric of pebble");
}

static void objectives__without_a_value_are_warned_of(void **state)
{
    (void)state;
    struct bed *b = open_bed("'toy', 'pebble'", "[derive]\nper_tile = 'tokens_per_s / tiles'\n"
                                                "[objectives]\nenergy_mj = 'min'\nper_tile = 'max'\ntokens_per_s = 'max'");
    assert_true(space_check(b->sweep, 0, &b->diags) && space_check(b->sweep, 1, &b->diags));
    assert_int_equal(b->diags.errors, 0);
    assert_int_equal(b->diags.n, 2);
    assert_string_equal(b->diags.list[0].message, "energy_mj has no value in model toy: none of its points is on the front");
    assert_string_equal(b->diags.list[1].message, "per_tile has no value in model pebble: none of its points is on the front");
    close_bed(b);
}

static int tear_down(void **state)
{
    (void)state;
    registry_release();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline__beside_itself_is_one),
        cmocka_unit_test(baseline__ratios_have_the_direction_of_their_doc),
        cmocka_unit_test(baseline__takes_the_workload_that_it_was_not_given),
        cmocka_unit_test(baseline__that_cannot_run_the_workload_has_no_ratios),
        cmocka_unit_test(baseline__matches_requests),
        cmocka_unit_test(baseline__rows_do_not_depend_on_what_came_before),
        cmocka_unit_test(baseline__is_part_of_the_hash),
        cmocka_unit_test(baseline__as_text_has_what_was_given),
        cmocka_unit_test(expressions__are_about_the_models_that_have_their_columns),
        cmocka_unit_test(expressions__that_no_model_knows_are_refused_once),
        cmocka_unit_test(objectives__without_a_value_are_warned_of),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
