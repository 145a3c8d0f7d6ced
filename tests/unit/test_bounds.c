/* What the bound of any model of the registry must satisfy (dse_model.bound): no point of a box is outside of it, a box of one
 * point has the estimate, and a bound that is too high by 1 % is noticed. */
#include "bound_boxes.h"
#include "samples.h"
#include "toml_examples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double slack = 1e-12; /* of what is promised */

/* What the model's README says of a box of one point, where it is not 1e-9: of LAD's batches of best throughput that tie, the bound
 * has all. */
static double looseness(const struct boxes *b, const char *metric)
{
    const struct field *policy = schema_find(&b->model->params, "batch_policy");
    const bool ties = policy && strcmp(policy->choices[field_get(policy, b->lo).choice], "best-throughput") == 0;
    return ties && strcmp(metric, "tokens_per_s") != 0 ? (double)INFINITY : 1e-9;
}

static const struct model *bounded(size_t *ret_n)
{
    return registry_models(ret_n);
}

/* Random boxes, narrow and wide, of few and of many numbers. */
static bool draw(struct boxes *b)
{
    const double width[] = {1.0001, 1.02, 1.3, 2, 8, 1000}, share[] = {0.02, 0.1, 0.3};
    const double base = uniform() < 0.5 ? 0.1 : 0.3;
    return box_draw(b, base, share[(int)(uniform() * 3)], width[(int)(uniform() * 6)]);
}

static void fail_box(const struct boxes *b, const char *wrong)
{
    char *text = box_text(b, wrong);
    print_error("%s\n", text);
    free(text);
    fail();
}

static void bounds__hold_at_points_and_corners_of_random_boxes(void **state)
{
    (void)state;
    enum { POINTS = 12 };
    const int boxes = samples(800, 4000);
    size_t n;
    const struct model *models = bounded(&n);
    for (size_t m = 0; m < n; m++) {
        struct boxes b;
        if (!models[m].desc->bound) continue;
        assert_true(boxes_init(&b, &models[m]));
        for (int i = 0; i < boxes; i++) {
            if (!draw(&b)) continue;
            const char *wrong = box_ask(&b, POINTS, slack);
            if (wrong) fail_box(&b, wrong);
        }
        print_message("%s: %llu pairs of a point and a metric in %llu boxes, %llu of which are empty\n", models[m].desc->name,
                      (unsigned long long)b.pairs, (unsigned long long)b.boxes, (unsigned long long)b.empty);
        assert_true(b.pairs > (uint64_t)boxes);
        boxes_release(&b);
    }
}

/* The rows of an expert may be rounded to whole ones, and its operations not: here the array is so small that these decide. */
static void bounds__hold_where_rows_of_experts_are_rounded(void **state)
{
    (void)state;
    char texts[][24] = {"llm=gpt-oss-20b", "phase=prefill",        "routing=power-law", "weight_bits=3", "kv_bits=2",
                        "pe_columns=3",    "memory=ddr4-3200-2ch", "vote_fifo=4096",    "boundary=bulk", "eviction=none"};
    enum { SETTINGS = sizeof texts / sizeof *texts };
    char *small[SETTINGS];
    for (int i = 0; i < SETTINGS; i++) small[i] = texts[i];
    struct boxes b;
    struct one one;
    const struct model *veda = registry_find("veda");
    assert_true(boxes_init(&b, veda) && one_init(&one, veda, small, SETTINGS));
    for (int context = 700; context < 1100; context++) {
        boxes_copy(&b, b.lo, space_fixed(one.space));
        number_set(schema_find(&veda->params, "context"), b.lo, context);
        boxes_copy(&b, b.hi, b.lo);
        number_set(schema_find(&veda->params, "t_rtp_ns"), b.lo, 0); /* a box, of which the closed form sees one point */
        for (int i = 0; i < BOX_CORNERS; i++) boxes_copy(&b, b.corner[i], b.lo);
        const char *wrong = box_ask(&b, 1, slack);
        if (wrong) fail_box(&b, wrong);
    }
    assert_true(b.pairs > 400);
    one_release(&one);
    boxes_release(&b);
}

/* The bound of one point is its estimate. What nobody bounds is said, and is not what people look for. */
static void bounds__of_one_point_are_its_estimate(void **state)
{
    (void)state;
    const int points = samples(400, 2000);
    static const char *const asked_for[] = {"tokens_per_s", "latency_us"};
    size_t n;
    const struct model *models = bounded(&n);
    for (size_t m = 0; m < n; m++) {
        struct boxes b;
        if (!models[m].desc->bound) continue;
        assert_true(boxes_init(&b, &models[m]));
        for (int i = 0; i < points; i++) {
            if (!box_base(&b, i % 2 ? 0.1 : 0.3)) continue;
            boxes_copy(&b, b.lo, b.corner[0]);
            boxes_copy(&b, b.hi, b.corner[0]);
            const bool steps = strcmp(models[m].desc->name, "flashdecoding") == 0; /* its clock is found by halving */
            const struct field *unread = steps ? NULL : schema_find(&models[m].params, "seed");
            if (unread && i % 4 < 2) number_set(unread, b.hi, field_number(unread, b.lo) + 1); /* closed forms do not read it */
            const char *wrong = box_ask(&b, 1, slack);
            if (wrong) fail_box(&b, wrong);
            for (size_t k = 0; k < models[m].metrics.n; k++) {
                const struct field *f = &models[m].metrics.fields[k];
                if (!is_number(f) || f->without) continue;
                const double v = field_number(f, b.metrics), lo = field_number(f, b.floor), hi = field_number(f, b.ceiling);
                if (isnan(v) || isnan(lo)) continue;
                const double off = looseness(&b, f->name) * (v == 0 ? 1 : fabs(v));
                if (!(lo >= v - off && hi <= v + off)) fail_box(&b, f->name);
            }
        }
        for (size_t k = 0; k < sizeof asked_for / sizeof *asked_for; k++)
            assert_true(b.asked[schema_index(&models[m].metrics, schema_find(&models[m].metrics, asked_for[k]))] > 0);
        for (size_t k = 0; k < models[m].metrics.n; k++)
            if (is_number(&models[m].metrics.fields[k]) && !models[m].metrics.fields[k].without && b.asked[k] == 0)
                print_message("%s.%s has no bound\n", models[m].desc->name, models[m].metrics.fields[k].name);
        boxes_release(&b);
    }
}

/* In narrow boxes floors are near: raised by 1 %, each of them is caught. */
static void bounds__raised_by_one_percent_are_caught(void **state)
{
    (void)state;
    enum { POINTS = 8 };
    const int boxes = samples(500, 1500);
    size_t n;
    const struct model *models = bounded(&n);
    for (size_t m = 0; m < n; m++) {
        struct boxes b;
        if (!models[m].desc->bound) continue;
        assert_true(boxes_init(&b, &models[m]));
        b.raise = 1.01;
        for (int i = 0; i < boxes; i++)
            if (box_draw(&b, 0.05, 0.05, 1.001)) box_ask(&b, POINTS, slack);
        for (size_t k = 0; k < models[m].metrics.n; k++)
            if (b.raised[k] > 0 && b.caught[k] == 0)
                fail_msg("%s.%s: a floor raised by 1 %% is not caught", models[m].desc->name, models[m].metrics.fields[k].name);
        boxes_release(&b);
    }
}

/* What resolve makes of a number between two others lies between what it makes of these, so that the resolved ends of a range are
 * ends of a box. Rates are shared by whole channels: channel_gbs saws, and who makes a box of bandwidths looks at each. */
static void bounds__of_a_range_follow_from_its_resolved_ends(void **state)
{
    (void)state;
    static const char *const saws[] = {"channel_gbs"};
    const size_t trials = (size_t)samples(6, 20);
    size_t n;
    const struct model *models = bounded(&n);
    for (size_t m = 0; m < n; m++) {
        struct boxes b;
        if (!models[m].desc->bound) continue;
        assert_true(boxes_init(&b, &models[m]));
        for (size_t k = 0; k < trials * models[m].params.n; k++) {
            const struct field *axis = &models[m].params.fields[k % models[m].params.n];
            if (!is_number(axis) || !box_base(&b, 0.1)) continue;
            const double from = axis->min + (axis->max - axis->min) * uniform(), to = from + (axis->max - from) * uniform();
            const double value[] = {from, to, floor(from + (to - from) * uniform())};
            for (int i = 1; i < 4; i++) {
                boxes_copy(&b, b.corner[i], b.corner[0]);
                number_set(axis, b.corner[i], fmin(fmax(value[i - 1], from), to));
                resolve(&b, b.corner[i]);
            }
            boxes_copy(&b, b.lo, b.corner[1]);
            boxes_copy(&b, b.hi, b.corner[1]);
            assert_true(box_include(&b, b.corner[2]));
            for (size_t i = 0; i < sizeof saws / sizeof *saws; i++) {
                const struct field *f = schema_find(&models[m].params, saws[i]);
                if (f) field_set(f, b.corner[3], field_get(f, b.lo));
            }
            if (!in_box(&b, b.corner[3]))
                fail_msg("%s: between %s = %g and %g another parameter leaves its range", models[m].desc->name, axis->name, from,
                         to);
        }
        boxes_release(&b);
    }
}

/* Models in TOML have the bounds of their graphs. */
static int set_up_with_examples(void **state)
{
    return set_up(state) == 0 && load_toml_examples(catalog_data_dir()) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds__hold_at_points_and_corners_of_random_boxes),
        cmocka_unit_test(bounds__hold_where_rows_of_experts_are_rounded),
        cmocka_unit_test(bounds__of_one_point_are_its_estimate),
        cmocka_unit_test(bounds__raised_by_one_percent_are_caught),
        cmocka_unit_test(bounds__of_a_range_follow_from_its_resolved_ends),
    };
    return cmocka_run_group_tests(tests, set_up_with_examples, tear_down);
}
