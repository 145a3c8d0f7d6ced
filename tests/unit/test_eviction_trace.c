/* Eviction on a real model's heads: against an independent implementation (tests/data/eviction_tinyllama.csv), and what the
 * paper's tie rule does to a sink. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dse_config.h"
#include "rows.h"
#include "attention/eviction_policies.h"
#include "attention/trace.h"

#include <math.h>
#include <string.h>

static void expect_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%.17g, expected %.17g within %g", got, want, tolerance);
}

static void must(bool ok, struct diags *diags)
{
    if (!ok) {
        diags_print(diags, stderr, false);
        fail_msg("refused");
    }
}

/* The policy that a row of the reference names. */
static struct eviction_options of_row(const struct rows *r, size_t i)
{
    struct eviction_options o = eviction_defaults;
    const char *name = rows_string(r, i, "policy");
    o.policy = eviction_policy_find(strcmp(name, "accumulate") == 0 ? "h2o-accumulate" : name);
    o.ratio = rows_number(r, i, "ratio");
    o.below_reserved = true;
    return o;
}

/* Rows first..last are of one head and n. Six digits are printed; single precision has been seen to move an output error by 2e-6.
 */
static void check_rows(const struct rows *r, size_t first, size_t last, const struct head *head)
{
    enum { ROWS_MAX = 32 };
    struct eviction_options o[ROWS_MAX];
    struct eviction_result got[ROWS_MAX];
    struct diags diags;
    diags_init(&diags);
    assert_true(last - first <= ROWS_MAX);
    for (size_t i = first; i < last; i++) o[i - first] = of_row(r, i);
    must(eviction_run_many(head, 1, o, last - first, head->n / 2, got, &diags), &diags);
    for (size_t i = first; i < last; i++) {
        double mass = rows_number(r, i, "retained_mass"), error = rows_number(r, i, "output_error");
        expect_near(got[i - first].retained_mass, mass, 5.1e-6 * mass);
        expect_near(got[i - first].output_error, error, 5.1e-6 * error + 2e-6);
    }
    diags_release(&diags);
}

static void a_real_models_heads__give_what_an_independent_implementation_gives(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    must(t != NULL, &diags);
    struct rows r;
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/eviction_tinyllama.csv");
    const struct trace_info *info = trace_info(t);
    size_t checked = 0;
    for (size_t l = 0; l < info->layers; l++)
        for (size_t h = 0; h < info->heads; h++) {
            struct head head;
            must(trace_head(t, l, h, &head, &diags), &diags);
            for (size_t i = 0, end; i < r.n; i = end) {
                double n = rows_number(&r, i, "n");
                for (end = i; end < r.n && rows_number(&r, end, "n") == n;) end++;
                if (rows_number(&r, i, "layer") != info->layer_ids[l] || rows_number(&r, i, "head") != info->head_ids[h]) continue;
                struct head prefix = head;
                prefix.n = (size_t)n;
                check_rows(&r, i, end, &prefix);
                checked += end - i;
            }
            head_release(&head);
        }
    assert_int_equal(checked, r.n);
    rows_release(&r);
    trace_close(t);
    diags_release(&diags);
}

/* A sink leaves nearly all steps with T <= 0: one vote a step, 480 on 512 positions, many on the same. Half of the positions must
 * go at the prompt's end; those without votes are tied, and the sink is the earliest. */
static void voting__at_the_prompts_end_loses_the_sink_unless_it_is_reserved(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    struct trace *t = trace_open(DSE_SOURCE_DATA "/catalog/traces/tinyllama.trace", &diags);
    must(t != NULL, &diags);
    struct head head;
    must(trace_head(t, 1, 1, &head, &diags), &diags); /* layer 5, head 16: a sink with 95 % of the mass */
    head.n = 640;
    struct eviction_options o[3] = {eviction_defaults, eviction_defaults, eviction_defaults};
    for (size_t i = 0; i < 3; i++) o[i].prompt = 512;
    o[1].reserve_positions = true;
    o[2].evict_in_prompt = true;
    struct eviction_result r[3];
    must(eviction_run_many(&head, 1, o, 3, 512, r, &diags), &diags);
    assert_true(r[0].retained_mass < 0.1 && r[0].output_error > 1);
    assert_true(r[1].retained_mass > 0.95 && r[2].retained_mass > 0.95);
    head_release(&head);
    trace_close(t);
    diags_release(&diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_models_heads__give_what_an_independent_implementation_gives),
        cmocka_unit_test(voting__at_the_prompts_end_loses_the_sink_unless_it_is_reserved),
    };
    return cmocka_run_group_tests_name("eviction_trace", tests, NULL, NULL);
}
