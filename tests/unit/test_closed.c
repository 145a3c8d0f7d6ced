/* A model in TOML with an event level in C (brook.toml, brook_events.c): what its event level reads, gives and asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "brook_events.h"
#include "model_points.h"
#include "samples.h"
#include "sim/sim.h"

static const struct model *brook;
static struct one one;
static void *point;
static char metrics[1024], seen[1024];
static struct dse_breakdown parts, seen_parts;
static struct dse_sim *sim;

static int set_up_brook(void **state)
{
    if (set_up(state) != 0) return -1;
    brook = registry_find("brook");
    sim = sim_new(NULL);
    const bool ok = brook && brook->desc->metrics_size <= sizeof metrics && one_init(&one, brook, NULL, 0);
    diags_print(&diags, stderr, false);
    point = xcalloc(1, brook->desc->params_size);
    brook_echoes = true;
    return ok ? 0 : -1;
}

static int tear_down_brook(void **state)
{
    free(point);
    one_release(&one);
    sim_free(sim);
    return tear_down(state);
}

static const struct dse_workload *workload(void)
{
    const char *first = point;
    return (const struct dse_workload *)(const void *)(first + schema_find(&brook->params, "llm")->offset -
                                                       offsetof(struct dse_workload, llm));
}

/* The closed form and the event level of the point. */
static void run(brook_asking *asks)
{
    brook_asks = asks;
    memset(metrics, 0, sizeof metrics);
    memset(seen, 0, sizeof seen);
    parts.n = parts.n_causes = seen_parts.n = seen_parts.n_causes = 0;
    brook->desc->estimate(point, metrics, &parts);
    sim_reset(sim, NULL);
    assert_true(brook->desc->simulate(point, sim, seen, &seen_parts));
    brook_asks = NULL;
}

/* Call it at random points that can be built. */
static void at_points(void (*call)(void))
{
    int feasible = 0;
    const int points = samples(200, 3000);
    for (int i = 0; i < points; i++) {
        if (!random_point(brook, space_fixed(one.space), i % 2 ? 0.1 : 0.4, point)) continue;
        feasible++;
        call();
    }
    assert_true(feasible > points / 20);
}

static double metric(const void *of, const char *name)
{
    return field_number(schema_find(&brook->metrics, name), of);
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* ---- the registry ------------------------------------------------------------------------------------------------------------ */

static void registry__has_a_model_in_toml_in_its_place(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    assert_int_equal(n, 3);
    assert_ptr_equal(&models[2], brook);
    assert_null(brook->folder);
    assert_null(brook->file);
    assert_non_null(brook->many);
    assert_non_null(brook->plain);
    char *claims = model_file(brook, "/data", "claims.csv");
    assert_string_equal(claims, "/data/models/brook/claims.csv");
    free(claims);
}

static void registry__makes_the_model_of_a_file_once(void **state)
{
    (void)state;
    const struct dse_model *desc = brook->desc;
    registry_release();
    brook = registry_find("brook");
    assert_ptr_equal(brook->desc, desc);
}

static void parameters__say_which_fidelity_reads_them(void **state)
{
    (void)state;
    assert_int_equal(schema_find(&brook->params, "brook_fifo")->reader, READ_BY_EVENT_LEVEL);
    assert_int_equal(schema_find(&brook->params, "dram_efficiency")->reader, READ_BY_CLOSED_FORM);
    assert_int_equal(schema_find(&brook->params, "seed")->reader, READ_BY_EVENT_LEVEL);
    assert_int_equal(schema_find(&brook->params, "clock_ghz")->reader, READ_BY_BOTH);
}

/* ---- what was seen ----------------------------------------------------------------------------------------------------------- */

static void compare_all(void)
{
    run(NULL);
    for (size_t i = 0; i < brook->metrics.n; i++) {
        const struct field *f = &brook->metrics.fields[i];
        const double x = metric(metrics, f->name), y = metric(seen, f->name);
        if (!same(x, y)) fail_msg("%s: %.17g in closed form, %.17g at event level", f->name, x, y);
    }
    assert_int_equal(parts.n, seen_parts.n);
    for (int i = 0; i < parts.n; i++) {
        const struct dse_part *a = &parts.part[i], *b = &seen_parts.part[i];
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->bound, b->bound);
        assert_true(a->time_us == b->time_us && a->dram_bytes == b->dram_bytes && a->ops == b->ops && a->energy_mj == b->energy_mj);
    }
}

static void closed__gives_the_metrics_of_the_closed_form_for_its_numbers_to_the_bit(void **state)
{
    (void)state;
    at_points(compare_all);
}

/* One linear layer takes 1 ms longer. */
static void ask_slower(struct dse_closed *c)
{
    struct brook_events_reads r;
    struct brook_seen_gives gives = {0};
    struct dse_oplist list;
    dse_closed_operators(c, &list);
    dse_closed_run(dse_closed_at(c, &brook_events, NULL), NULL, &r);
    for (int i = 0; i < list.n; i++) gives.op.time_s[i] = r.op.time_s[i] + (i == 0 ? 1e-3 : 0);
    for (int i = 0; i < list.n_attentions; i++) gives.group.scores_s[i] = r.group.scores_s[i];
    assert_int_equal(list.op[0].kind, DSE_OP_LINEAR);
    struct dse_breakdown b = {0};
    char got[sizeof metrics] = {0};
    dse_closed_report(dse_closed_at(c, &brook_seen, &list), &gives, got, &b);
    static const char *const stay[] = {"attention_us", "dram_mib", "positions"};
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        if (!same(metric(got, stay[i]), metric(metrics, stay[i]))) fail_msg("%s moved", stay[i]);
    const double layer = r.op.time_s[0], step = r.step_s;
    assert_true(fabs(metric(got, "linear_us") - metric(metrics, "linear_us") - 1e3) < 1e-9 * metric(got, "linear_us"));
    assert_true(fabs(metric(got, "latency_us") - 1e6 * (step + 1e-3)) < 1e-9 * metric(got, "latency_us"));
    assert_true(metric(got, "tokens_per_s") < metric(metrics, "tokens_per_s"));
    assert_true(metric(got, "energy_mj") > metric(metrics, "energy_mj"));
    assert_true(fabs(b.part[0].time_us - 1e6 * (layer + 1e-3)) < 1e-9 * b.part[0].time_us);
    for (int i = 1; i < b.n; i++) assert_true(b.part[i].time_us == parts.part[i].time_us);
}

static void compare_slower(void)
{
    run(ask_slower);
}

static void closed__moves_what_follows_from_a_given_number_and_nothing_else(void **state)
{
    (void)state;
    at_points(compare_slower);
}

/* ---- what is read ------------------------------------------------------------------------------------------------------------ */

static const double untouched = -12345;

static void ask_reads(struct dse_closed *c)
{
    struct brook_events_reads r;
    struct dse_oplist list;
    for (size_t i = 0; i < sizeof r / sizeof(double); i++) ((double *)&r)[i] = untouched;
    dse_workload_expand(workload(), &list);
    const struct dse_workload *read = dse_closed_workload(c); /* a copy, in which the model may choose */
    assert_true(read->llm == workload()->llm && read->batch == workload()->batch && read->context == workload()->context);
    assert_non_null(dse_closed_memory(c));
    assert_int_equal(dse_closed_events(c)->seed, field_number(schema_find(&brook->params, "seed"), point));
    assert_non_null(dse_closed_sampling(c));
    assert_null(dse_closed_cache(c));
    assert_null(dse_closed_links(c));
    assert_null(dse_closed_request(c));
    assert_null(dse_closed_economics(c));
    dse_closed_run(dse_closed_at(c, &brook_events, NULL), NULL, &r);
    assert_true(r.clock_ghz == field_number(schema_find(&brook->params, "clock_ghz"), point));
    assert_true(r.brook_pes == field_number(schema_find(&brook->params, "brook_pes"), point));
    const struct field *order = schema_find(&brook->params, "order");
    assert_true(r.by_columns == (double)(strcmp(order->choices[field_get(order, point).choice], "columns") == 0));
    assert_true(fabs(r.step_us - metric(metrics, "latency_us")) <= 1e-12 * r.step_us);
    assert_true(fabs(r.step_s * 1e6 - r.step_us) <= 1e-12 * r.step_us);
    double linear = 0;
    for (int i = 0; i < DSE_OPS_MAX; i++) {
        const bool linear_op = i < list.n && list.op[i].kind == DSE_OP_LINEAR,
                   collective = i < list.n && list.op[i].kind == DSE_OP_COLLECTIVE;
        if (linear_op) linear += r.op.time_s[i];
        assert_true((r.op.gemv_s[i] == untouched) == !linear_op);
        assert_true((r.op.time_s[i] == untouched) == !(linear_op || collective));
        if (collective) assert_true(r.op.time_s[i] == 0);
    }
    assert_true(fabs(linear * 1e6 - metric(metrics, "linear_us")) <= 1e-12 * linear * 1e6);
    for (int i = 0; i < DSE_ATTENTIONS_MAX; i++) assert_true((r.group.scores_s[i] == untouched) == (i >= list.n_attentions));
}

static void compare_reads(void)
{
    run(ask_reads);
}

static void closed__reads_numbers_in_the_units_of_their_names(void **state)
{
    (void)state;
    at_points(compare_reads);
}

/* ---- other numbers ----------------------------------------------------------------------------------------------------------- */

/* Other numbers of queries, and back; and the groups one by one. */
static void ask_unit(struct dse_closed *c)
{
    struct brook_events_reads own;
    struct brook_unit_gives gives = {0};
    struct brook_unit_reads first, other, again;
    struct dse_oplist list, part;
    dse_closed_operators(c, &list);
    dse_closed_run(dse_closed_at(c, &brook_events, NULL), NULL, &own);
    struct dse_closed_at *unit = dse_closed_at(c, &brook_unit, NULL);
    gives.queries = workload()->phase == DSE_PREFILL ? (double)workload()->context : 1;
    for (int i = 0; i < list.n_attentions; i++) gives.group.seen[i] = own.group.seen[i];
    dse_closed_run(unit, &gives, &first);
    gives.queries *= 2;
    dse_closed_run(unit, &gives, &other);
    gives.queries /= 2;
    dse_closed_run(unit, &gives, &again);
    for (int i = 0; i < list.n_attentions; i++) {
        assert_true(first.group.scores_s[i] == own.group.scores_s[i] && again.group.scores_s[i] == own.group.scores_s[i]);
        assert_true(other.group.scores_s[i] == 2 * own.group.scores_s[i]);
        struct brook_unit_gives of_part = {.queries = gives.queries, .group.seen = {own.group.seen[i]}};
        struct brook_unit_reads ret;
        part.n = 0;
        part.n_attentions = 1;
        part.attention[0] = list.attention[i];
        dse_closed_run(dse_closed_at(c, &brook_unit, &part), &of_part, &ret);
        assert_true(ret.group.scores_s[0] == own.group.scores_s[i] && ret.attention_s == own.group.scores_s[i]);
        assert_true(ret.linear_s == 0);
    }
    assert_true(first.attention_s == again.attention_s && other.attention_s == 2 * first.attention_s);
    assert_true(first.linear_s == other.linear_s && first.clock_ghz == own.clock_ghz);
    assert_true(fabs(first.linear_s * 1e6 - metric(metrics, "linear_us")) <= 1e-12 * first.linear_s * 1e6);
}

static void compare_unit(void)
{
    run(ask_unit);
}

static void closed__answers_for_other_numbers_and_for_a_part_of_a_list(void **state)
{
    (void)state;
    at_points(compare_unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry__has_a_model_in_toml_in_its_place),
        cmocka_unit_test(registry__makes_the_model_of_a_file_once),
        cmocka_unit_test(parameters__say_which_fidelity_reads_them),
        cmocka_unit_test(closed__gives_the_metrics_of_the_closed_form_for_its_numbers_to_the_bit),
        cmocka_unit_test(closed__moves_what_follows_from_a_given_number_and_nothing_else),
        cmocka_unit_test(closed__reads_numbers_in_the_units_of_their_names),
        cmocka_unit_test(closed__answers_for_other_numbers_and_for_a_part_of_a_list),
    };
    return cmocka_run_group_tests_name("closed", tests, set_up_brook, tear_down_brook);
}
