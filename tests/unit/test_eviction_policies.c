/* One row makes a policy: every list is made of the table, and a row that nobody has heard of runs wherever the shipped ones do. */
#include "veda_test.h"
#include "attention/eviction_cache.h"
#include "attention/generator.h"
#include "attention/measure.h"
#include "base/file.h"

#include "dse_config.h"

#include <dse/units.h>

static void rows__say_what_they_do(void **state)
{
    (void)state;
    for (const struct eviction_policy *p = eviction_policies; p->traits; p++) {
        const struct dse_eviction *t = p->traits;
        assert_true(eviction_policy_find(t->name) == p); /* no name twice */
        assert_true(t->doc && *t->doc && !t->keeps_all);
        assert_true((p->leave || p->choose) != (p->select != NULL)); /* by steps, or once */
        assert_true(t->counts == (p->score && !p->select));          /* in every step, that is */
        assert_true(t->selects == (p->select != NULL) && t->by_layer == (p->budget != NULL));
        assert_true(!t->paged || (t->reads_part && p->choose));
        assert_true(!t->title == !t->source); /* who has a name has it from somewhere */
        assert_true(!p->alias || eviction_policy_find(p->alias) == p);
        assert_true(!t->drained || t->counts);
        assert_true(!eviction_rows[p - eviction_policies].machine || p->leave || p->select ||
                    t->reads_part); /* a machine does not know a step before it has gone through it */
        assert_true(t->reserves == dse_eviction_depends(t, DSE_SET_RESERVED_LENGTH));
    }
    assert_null(eviction_policy_find("none"));
}

static void lists__are_the_rows(void **state)
{
    (void)state;
    size_t n = 0, machines = 1;
    const char *const *names = eviction_policy_names(), *const *choices = dse_eviction_choices();
    assert_string_equal(choices[0], "none");
    assert_true(dse_eviction_at(0)->keeps_all);
    for (; eviction_policies[n].traits; n++) {
        assert_string_equal(names[n], eviction_policies[n].traits->name);
        if (!eviction_rows[n].machine) continue;
        assert_string_equal(choices[machines], names[n]);
        assert_true(dse_eviction_at((int32_t)machines++) == eviction_policies[n].traits);
    }
    assert_null(names[n]);
    assert_null(choices[machines]);
    /* What users and files of settings say already keeps its place. */
    assert_string_equal(choices[1], "voting");
    assert_string_equal(choices[2], "h2o");
    assert_string_equal(choices[3], "window");
    const struct field *f = schema_find(&registry_find("veda")->params, "eviction");
    assert_true(f->choices == choices);
}

static void the_documentation__names_every_policy(void **state)
{
    (void)state;
    struct diags found;
    diags_init(&found);
    char *page;
    assert_true(text_read_file(DSE_SOURCE_DATA "/docs/reference/catalog.md", 1 << 20, &page, NULL, &found));
    for (const char *const *name = eviction_policy_names(); *name; name++) {
        char *quoted = xasprintf("`%s`", *name);
        if (!strstr(page, quoted)) fail_msg("docs/reference/catalog.md does not know %s", quoted);
        free(quoted);
    }
    free(page);
}

/* ---- a row of our own: the oldest but `sinks` leaves, by sums of a layer ------------------------------------------------- */

static void sum(struct eviction_cache *c, const double *p)
{
    for (size_t i = 0; i < c->n; i++) c->score[i] += p[i];
}

static size_t oldest(struct eviction_cache *c)
{
    return (size_t)c->options->sinks;
}

static size_t least(const struct eviction_options *o)
{
    return (size_t)o->sinks + 8;
}

static const struct dse_eviction our_traits = {
    .name = "ours", .doc = "a window of sums", .counts = true, .scattered = true, .settings = 1u << DSE_SET_KV_BITS};
static const struct eviction_policy ours = {
    .traits = &our_traits,
    .score = sum,
    .leave = oldest,
    .least = least,
};

static void a_new_row__is_measured_like_any_other(void **state)
{
    (void)state;
    struct generator g = generator_defaults;
    g.n = 64;
    struct head_source source = head_source_generator(&g, 2);
    struct retention_policy policies[] = {{eviction_defaults, 0}, {eviction_defaults, 0}};
    policies[0].options.policy = &ours;
    policies[1].options.policy = eviction_policy_find("window");
    struct measure_plan plan = {.sources = &source, .n_sources = 1, .contexts = (size_t[]){64}, .n_contexts = 1, .steps = 8};
    struct measured_retention rows[4];
    size_t n;
    assert_true(measure_retention(&plan, policies, 2, (double[]){0.125, 0.5}, 2, rows, &n, &diags));
    assert_int_equal(n, 3); /* 8 of 64 are fewer than ours needs */
    assert_true(rows[0].policy == &policies[0] && rows[0].ratio == 0.5 && rows[2].ratio == 0.5);
    assert_true(rows[0].retained_mass.mean == rows[2].retained_mass.mean); /* it leaves what the window leaves */
}

/* VEDA asks the traits: counts of a layer are one for each position, those by KV head one for each head; what is drained is counted
 * in a second pass. */
static void policies__cost_veda_what_their_traits_say(void **state)
{
    (void)state;
    for (const struct eviction_policy *row = eviction_policies; row->traits; row++) {
        const struct dse_eviction *t = row->traits;
        if (!eviction_rows[row - eviction_policies].machine || t->selects || t->reads_part) continue;
        char *eviction = xasprintf("eviction=%s", t->name);
        struct point p = point_with("llm=llama3-8b", "pe_copies=8", "sfu_exp=16", "sfu_div=16", "bandwidth_gbs=1024", eviction,
                                    NULL),
                     fast = p;
        set(&fast, "vote_lanes", 16);
        const struct named m = estimate(&p), n = estimate(&fast);
        const double counts = t->counts ? (t->per_head ? 8 : 1) * 32. * m.cached_positions * 2 * 2 : 0;
        assert_near(m.vote_mib * DSE_MIB, counts, 1e-12);
        assert_true((m.vote_exposed_us > 0) == t->counts && n.vote_exposed_us < 1e-9);
        free(eviction);
    }
    struct point voting = point_with("llm=llama3-8b", "pe_copies=8", "sfu_exp=16", "sfu_div=16", "bandwidth_gbs=1024", NULL),
                 h2o = voting;
    choose(&h2o, "eviction", "h2o");
    /* One waits in both products, the other in one; what the FIFO of votes holds goes out behind both. */
    const double both = estimate(&voting).vote_exposed_us, one = estimate(&h2o).vote_exposed_us;
    assert_true(one > 0 && both >= one && both <= 2.02 * one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows__say_what_they_do),
        cmocka_unit_test(lists__are_the_rows),
        cmocka_unit_test(the_documentation__names_every_policy),
        cmocka_unit_test(a_new_row__is_measured_like_any_other),
        cmocka_unit_test(policies__cost_veda_what_their_traits_say),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
