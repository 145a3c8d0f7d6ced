/* The anchors that ship, the fit to anchors, and the shipped parameters of synthetic attention, which are its result. */
#include "complaints.h"
#include "attention/anchors_file.h"
#include "config/catalog.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

static struct anchor_set shipped_anchors(void)
{
    struct diags diags;
    diags_init(&diags);
    struct anchor_set set;
    char *path = xasprintf("%s/catalog/anchors.toml", catalog_data_dir());
    if (!anchors_read_file(path, &set, &diags)) {
        diags_print(&diags, stderr, false);
        fail_msg("%s cannot be read", path);
    }
    free(path);
    diags_release(&diags);
    return set;
}

/* Keep the anchors of at most n positions; the others are measured by `dse trace fit` itself. */
static void keep_short(struct anchor_set *set, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->n; i++) {
        if (set->list[i].n <= n)
            set->list[kept++] = set->list[i];
        else
            free(set->list[i].source);
    }
    set->n = kept;
}

static void anchors__hold_at_the_shipped_parameters(void **state)
{
    (void)state;
    struct anchor_set set = shipped_anchors();
    keep_short(&set, 1024);
    assert_true(set.n >= 5);
    double *measured = xcalloc(set.n, sizeof *measured);
    struct diags diags;
    diags_init(&diags);
    assert_true(anchors_measure(&set, &generator_defaults, measured, &diags));
    size_t missed = 0;
    for (size_t i = 0; i < set.n; i++) {
        const struct anchor *a = &set.list[i];
        if (anchor_kept(a, measured[i])) continue;
        print_error("%s at %zu: %g, published %g (tolerance %g)\n", anchor_metric_names[a->metric], a->n, measured[i], a->value,
                    a->tolerance);
        missed++;
    }
    assert_true(missed == 0);
    free(measured);
    anchor_set_release(&set);
}

/* The fit that ships starts where it ended. */
static void anchors__start_from_what_ships(void **state)
{
    (void)state;
    struct anchor_set set = shipped_anchors();
    struct generator g = set.start;
    g.n = generator_defaults.n;
    assert_true(set.n_fitted > 0);
    assert_memory_equal(&g, &generator_defaults, sizeof g);
    anchor_set_release(&set);
}

/* The scores of a step are all alike and normal, so P(|x| > 3) = 0.1 asks for a deviation of 3 / 1.645. */
static void fit__finds_the_deviation_that_gives_a_frequency(void **state)
{
    (void)state;
    struct anchor a = {.metric = ANCHOR_RECOMPUTED, .kind = ANCHOR_EQUAL, .n = 400, .value = 0.1, .tolerance = 0.005};
    const struct dse_param *row = generator_params;
    while (strcmp(row->name, "step_sd") != 0) row++;
    struct anchor_set set = {.low = -3, .high = 3, .heads = 30, .fitted = &row, .n_fitted = 1, .list = &a, .n = 1};
    set.start = (struct generator){.seed = 5, .n = 1, .d = 2, .settle_steps = 1, .recency_steps = 1, .step_sd = 0.9};
    struct diags diags;
    diags_init(&diags);
    struct generator_fit fit;
    assert_true(generator_fit(&set, 60, &fit, &diags));
    assert_true(fit.misfit < 1 && fit.evaluations > 3);
    assert_true(fabs(fit.g.step_sd - 3 / 1.645) < 0.08);
    double measured;
    assert_true(anchors_measure(&set, &fit.g, &measured, &diags));
    assert_true(fabs(anchors_misfit(&set, &measured) - fit.misfit) < 1e-12);
    assert_true(fit.converged && fit.simplexes >= 2);

    /* From its end: nothing better, or a little; never worse, though the digits are rounded. A fit of no time is the start. */
    set.start = fit.g;
    struct generator_fit again;
    assert_true(generator_fit(&set, 4, &again, &diags));
    assert_true(again.misfit <= fit.misfit && again.simplexes >= 1);
    set.heads = 2;
    set.start.step_sd = 1.23456789;
    assert_true(generator_fit(&set, 1, &again, &diags) && !again.converged);
    assert_true(generator_fit(&set, 0, &again, &diags) && again.iterations == 0 && fabs(again.g.step_sd - 1.23) < 1e-12);
}

static void fit__counts_the_right_side_of_a_bound_less(void **state)
{
    (void)state;
    struct anchor a = {.metric = ANCHOR_TOP1, .n = 64, .value = 0.8, .tolerance = 0.1};
    struct anchor_set set = {.list = &a, .n = 1};
    const double above = 1, below = 0.6;
    a.kind = ANCHOR_EQUAL;
    assert_true(fabs(anchors_misfit(&set, &above) - 4) < 1e-9);
    a.kind = ANCHOR_AT_LEAST;
    assert_true(fabs(anchors_misfit(&set, &above) - 4 * anchor_slack) < 1e-9);
    assert_true(fabs(anchors_misfit(&set, &below) - 4) < 1e-9);
    assert_true(anchor_kept(&a, above) && !anchor_kept(&a, below));
    a.kind = ANCHOR_AT_MOST;
    assert_true(fabs(anchors_misfit(&set, &below) - 4 * anchor_slack) < 1e-9);
    assert_true(anchor_kept(&a, below) && !anchor_kept(&a, above));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(anchors__hold_at_the_shipped_parameters),
        cmocka_unit_test(anchors__start_from_what_ships),
        cmocka_unit_test(fit__finds_the_deviation_that_gives_a_frequency),
        cmocka_unit_test(fit__counts_the_right_side_of_a_bound_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
