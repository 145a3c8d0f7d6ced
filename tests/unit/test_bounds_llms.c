/* Bounds over boxes of LLMs of all kinds, on one chip and on several: every point lies within, boxes that become narrow become
 * tight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bound_boxes.h"
#include "samples.h"

static const double slack = 1e-12;
/* Of which boxes of such LLMs have bounds. Others say that they know nothing, or are asked all the same. */
static const char *const followed[] = {"lad", "swiftkv", "veda", "flashdecoding"};

static bool is_followed(const struct model *m)
{
    for (size_t i = 0; i < sizeof followed / sizeof *followed; i++)
        if (strcmp(followed[i], m->desc->name) == 0) return true;
    return false;
}

static void put(struct boxes *b, void *params, const char *name, struct value v)
{
    const struct field *f = schema_find(&b->model->params, name);
    if (f) field_set(f, params, v);
}

static int64_t any(int64_t least, int64_t most)
{
    return least + (int64_t)(uniform() * (double)(most - least + 1));
}

/* A few at least as often as many. */
static int64_t some(int64_t most)
{
    return (int64_t)fmax(1, floor(exp(uniform() * log((double)most + 1))));
}

static const struct dse_entry *any_llm(void)
{
    size_t n = 0;
    while (catalog_at(catalog, DSE_KIND_LLM, n)) n++;
    return catalog_at(catalog, DSE_KIND_LLM, (size_t)(uniform() * (double)n));
}

static void put_degrees(struct boxes *b, void *params)
{
    put(b, params, "tensor_parallel", (struct value){.i64 = (int64_t)1 << any(0, 3)});
    put(b, params, "pipeline_parallel", (struct value){.i64 = uniform() < 0.7 ? 1 : any(1, 4)});
    put(b, params, "data_parallel", (struct value){.i64 = (int64_t)1 << any(0, 4)});
    put(b, params, "expert_parallel", (struct value){.i64 = uniform() < 0.6 ? 1 : (int64_t)1 << any(0, 4)});
}

/* A feasible point of a random LLM on a machine with room for it. */
static bool base(struct boxes *b, double share)
{
    void *p = b->corner[0];
    const bool chips = uniform() < 0.4, decode = uniform() < 0.8;
    for (int i = 0; i < BOX_TRIES; i++) {
        random_point(b->model, space_fixed(b->one.space), share, p);
        put(b, p, "llm", (struct value){.ref = any_llm()});
        put(b, p, "capacity_gib", (struct value){.f64 = 1e5});
        put(b, p, "batch", (struct value){.i64 = some(128)});
        put(b, p, "context", (struct value){.i64 = some(20000)});
        put(b, p, "phase", (struct value){.choice = decode ? 0 : 1});
        put(b, p, "draft_tokens", (struct value){.i64 = decode && uniform() < 0.2 ? any(1, 5) : 0});
        put(b, p, "chunk_tokens", (struct value){.i64 = decode && uniform() < 0.2 ? any(1, 600) : 0});
        put(b, p, "context_spread", (struct value){.f64 = decode && uniform() < 0.1 ? uniform() : 0});
        put(b, p, "accepted_length", (struct value){.f64 = 0});
        put(b, p, "routing", (struct value){.choice = (int32_t)any(0, 3)});
        if (uniform() < 0.8) put(b, p, "eviction", (struct value){.choice = 0});
        put(b, p, "generate", (struct value){.i64 = 0});
        if (chips) put_degrees(b, p);
        resolve(b, p);
        if (accepts(b, p)) return true;
    }
    return false;
}

static const char *const counts[] = {"batch",           "context",      "tensor_parallel", "pipeline_parallel", "data_parallel",
                                     "expert_parallel", "draft_tokens", "chunk_tokens",    "kv_bits",           "bandwidth_gbs",
                                     "processors",      "weight_reuse", "acceptance",      "link_gbs",          NULL};
static const char *const rates[] = {"clock_mhz",
                                    "acceptance",
                                    "link_gbs",
                                    "dram_pj_per_bit",
                                    "gemv_efficiency",
                                    "link_latency_us",
                                    "linear_efficiency",
                                    "attention_efficiency",
                                    "host_us",
                                    "reference_power_w",
                                    NULL};

/* `share` of all numbers vary, and a quarter of those `often`. */
static bool draw(struct boxes *b, double base_share, double share, const char *const often[], double width)
{
    bool varies[SPACE_AXES_MAX] = {false};
    if (!base(b, base_share)) return false;
    for (size_t i = 0; i < b->model->params.n; i++) varies[i] = is_number(&b->model->params.fields[i]) && uniform() < share;
    for (size_t k = 0; often[k]; k++) {
        const struct field *f = schema_find(&b->model->params, often[k]);
        if (f && uniform() < 0.25) varies[schema_index(&b->model->params, f)] = true;
    }
    boxes_copy(b, b->lo, b->corner[0]);
    boxes_copy(b, b->hi, b->corner[0]);
    for (int c = 1; c < BOX_CORNERS; c++) {
        boxes_copy(b, b->corner[c], b->corner[0]);
        for (size_t i = 0; i < b->model->params.n; i++) {
            const struct field *f = &b->model->params.fields[i];
            const double at = is_number(f) ? field_number(f, b->corner[0]) : 0;
            if (varies[i] && !isnan(at)) field_set(f, b->corner[c], value_near(f, at, width));
        }
        resolve(b, b->corner[c]);
        if (!box_include(b, b->corner[c])) return false;
    }
    return true;
}

static void fail_box(const struct boxes *b, const char *wrong)
{
    char *text = box_text(b, wrong);
    print_error("%s\n", text);
    free(text);
    fail();
}

static uint64_t asked_of(const struct boxes *b, const char *metric)
{
    return b->asked[schema_index(&b->model->metrics, schema_find(&b->model->metrics, metric))];
}

static void bounds__of_llms_hold_at_points_of_random_boxes(void **state)
{
    (void)state;
    enum { POINTS = 12 };
    const int boxes = samples(1200, 4000);
    const uint64_t known = (uint64_t)boxes * 5 / 2;
    const double width[] = {1.001, 1.02, 1.3, 2, 8, 100}, share[] = {0, 0.03, 0.1, 0.3};
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        struct boxes b;
        if (!models[m].desc->bound) continue;
        assert_true(boxes_init(&b, &models[m]));
        for (int i = 0; i < boxes; i++) {
            if (!draw(&b, uniform() < 0.5 ? 0 : 0.15, share[any(0, 3)], counts, width[any(0, 5)])) continue;
            const char *wrong = box_ask(&b, POINTS, slack);
            if (wrong) fail_box(&b, wrong);
        }
        print_message(
            "%s: %llu pairs of a point and a metric in %llu boxes, %llu of which are empty; %llu points have a bound of speed\n",
            models[m].desc->name, (unsigned long long)b.pairs, (unsigned long long)b.boxes, (unsigned long long)b.empty,
            (unsigned long long)asked_of(&b, "tokens_per_s"));
        if (is_followed(&models[m])) assert_true(asked_of(&b, "tokens_per_s") > known && asked_of(&b, "energy_mj") > known);
        boxes_release(&b);
    }
}

/* Of boxes a millionth wide in what is no count, speed is known to a ten-thousandth. */
static void bounds__of_llms_close_in(void **state)
{
    (void)state;
    const int boxes = samples(200, 600);
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t m = 0; m < n; m++) {
        struct boxes b;
        size_t close = 0, all = 0;
        if (!is_followed(&models[m])) continue;
        assert_true(boxes_init(&b, &models[m]));
        const struct field *speed = schema_find(&models[m].metrics, "tokens_per_s");
        for (int i = 0; i < boxes; i++) {
            if (!draw(&b, 0.05, 0, rates, 1 + 1e-6) || box_ask(&b, 1, slack)) continue;
            const double lo = field_number(speed, b.floor), hi = field_number(speed, b.ceiling);
            if (isnan(lo)) continue;
            all++;
            close += hi <= lo * (1 + 1e-4);
        }
        print_message("%s: %zu of %zu narrow boxes are close\n", models[m].desc->name, close, all);
        assert_true(all > (size_t)boxes / 2 && close > all * 9 / 10);
        boxes_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds__of_llms_hold_at_points_of_random_boxes),
        cmocka_unit_test(bounds__of_llms_close_in),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
