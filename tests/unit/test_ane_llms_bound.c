/* Bounds of the Neural Engine's model on LLMs of all kinds: no point of a box is outside of them, and they are near. */
#include "bound_boxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void set_base(struct boxes *b, const char *llm, const char *more)
{
    char room[] = "capacity_gib=4096", *settings[] = {xasprintf("llm=%s", llm), room, xstrdup(more)};
    one_release(&b->one);
    const bool ok = one_init(&b->one, b->model, settings, 3);
    free(settings[0]);
    free(settings[2]);
    diags_print(&diags, stderr, false);
    assert_true(ok);
}

static void fail_box(const struct boxes *b, const char *wrong)
{
    char *text = box_text(b, wrong);
    print_error("%s\n", text);
    free(text);
    fail();
}

static void bounds__hold_in_random_boxes_of_every_llm(void **state)
{
    (void)state;
    enum { BOXES = 150, POINTS = 12 };
    static const double width[] = {1.0001, 1.02, 1.3, 2, 8, 1000}, share[] = {0.02, 0.1, 0.3};
    static const double slack = 1e-12;
    static const char *const experts[] = {"expert_dispatch=all", "expert_dispatch=gathered", "expert_dispatch=programs"};
    struct boxes b;
    const struct dse_entry *e;
    uint64_t known = 0;
    if (!boxes_init(&b, registry_find("ane"))) abort();
    const size_t latency = schema_index(&b.model->metrics, schema_find(&b.model->metrics, "latency_us"));
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_LLM, i)); i++)
        for (int k = 0; k < BOXES; k++) {
            if (k % 50 == 0) set_base(&b, e->name, experts[k / 50]);
            if (!box_draw(&b, k % 2 ? 0.05 : 0.15, share[(int)(uniform() * 3)], width[(int)(uniform() * 6)])) continue;
            const char *wrong = box_ask(&b, POINTS, slack);
            if (wrong) fail_box(&b, wrong);
        }
    known = b.asked[latency];
    print_message("%llu pairs of a point and a metric in %llu boxes; %llu times\n", (unsigned long long)b.pairs,
                  (unsigned long long)b.boxes, (unsigned long long)known);
    assert_true(known > 10000);
    boxes_release(&b);
}

/* Along one axis the floor of time is the least there is, or next to it. */
static void bounds__are_near_the_best(void **state)
{
    (void)state;
    static const struct {
        const char *llm, *more, *axis;
        double from, to, near;
    } cases[] = {
        {"gpt-oss-20b", "expert_dispatch=gathered", "context", 1000, 30000, 0.999},
        {"gpt-oss-20b", "expert_dispatch=all", "query_rows", 8, 64, 0.8},
        {"qwen3-30b-a3b", "expert_dispatch=gathered", "bandwidth_gbs", 50, 500, 0.999},
        {"deepseek-v2-lite", "expert_dispatch=programs", "weight_bits", 2, 16, 0.99},
        {"jamba-v0.1", "expert_dispatch=gathered", "engine_tflops", 1, 100, 0.999},
        {"gemma3-4b", "phase=prefill", "context", 512, 20000, 0.99},
    };
    struct boxes b;
    if (!boxes_init(&b, registry_find("ane"))) abort();
    const struct field *latency = schema_find(&b.model->metrics, "latency_us");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_base(&b, cases[i].llm, cases[i].more);
        const struct field *axis = schema_find(&b.model->params, cases[i].axis);
        double least = (double)INFINITY;
        boxes_copy(&b, b.lo, space_fixed(b.one.space));
        boxes_copy(&b, b.hi, b.lo);
        number_set(axis, b.lo, cases[i].from);
        number_set(axis, b.hi, cases[i].to);
        resolve(&b, b.lo);
        resolve(&b, b.hi);
        for (int k = 0; k <= 8; k++) {
            boxes_copy(&b, b.point, b.lo);
            number_set(axis, b.point, floor(cases[i].from + (cases[i].to - cases[i].from) * k / 8));
            resolve(&b, b.point);
            if (!accepts(&b, b.point)) continue;
            b.model->desc->estimate(b.point, b.metrics, NULL);
            least = fmin(least, field_number(latency, b.metrics));
        }
        assert_true(b.model->desc->bound(b.lo, b.hi, b.floor, b.ceiling));
        const double low = field_number(latency, b.floor);
        if (!(low <= least && low >= cases[i].near * least))
            fail_msg("%s over %s: the floor is %g of the least", cases[i].llm, cases[i].axis, low / least);
    }
    boxes_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds__hold_in_random_boxes_of_every_llm),
        cmocka_unit_test(bounds__are_near_the_best),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
