/* What the bounds of VEDA and SwiftKV take apart: boxes around the settings in which a term does not follow the others, and boxes
 * of one axis over which factors of a product go opposite ways, whose floors must be near the least value all the same. */
#include "bound_boxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Boxes of a model whose defaults have these settings: "NAME=VALUE NAME=VALUE". */
static void boxes_of(struct boxes *b, const char *model, const char *settings)
{
    enum { MOST = 8 };
    char *text = xstrndup(settings, strlen(settings)), *list[MOST];
    size_t n = 0;
    for (char *at = text; *at && n < MOST; n++) {
        list[n] = at;
        at += strcspn(at, " ");
        if (*at) *at++ = '\0';
    }
    assert_true(boxes_init(b, registry_find(model)));
    one_release(&b->one);
    assert_true(one_init(&b->one, b->model, list, n));
    free(text);
}

static void bounds__hold_under_every_setting_that_they_take_apart(void **state)
{
    (void)state;
    enum { BOXES = 400, POINTS = 12 };
    static const struct {
        const char *model;
        const char *settings;
    } cases[] = {
        {"veda", "phase=prefill batch=4 context=2000 buffer_kib=1024"},
        {"veda", "generate=300 eviction_ratio=0.15 cache_length=300"},
        {"veda", "generate=100 boundary=as-listed batch=8"},
        {"veda", "dataflow=adder-tree softmax=stage batch=3"},
        {"veda", "gather=rows eviction=h2o kv_bits=8"},
        {"veda", "power=constant area=core sram=cacti-28nm-lstp-1rw"},
        {"veda", "technology=7nm eviction=window devices=8 exchange_us=1"},
        {"veda", "llm=llama2-70b weight_bits=4 devices=16 buffer_kib=512"},
        {"swiftkv", "phase=prefill batch=4 weight_reuse=64 head=included"},
        {"swiftkv", "phase=prefill context=1 head=included"},
        {"swiftkv", "attention=native kv_fetch=head llm=llama3-8b batch=8"},
        {"swiftkv", "attention=flash value_update=own"},
        {"swiftkv", "value_update=single kv_bits=16 gemv_stalls=both"},
        {"swiftkv", "power=constant batch=16 gemv_mapping=several-outputs value_update=shared"},
        {"lad", "kv_bits=4 kv_scale_bits=1 pipeline=exact sram_mib=6"},
        {"lad", "kv_bits=4 kv_scale_bits=1 decoding=full-cache eviction=quest"},
        {"veda", "kv_bits=4 kv_scale_bits=1 llm=llama3-8b"},
        {"flashdecoding", "kv_bits=4 kv_scale_bits=1 batch=16"},
        {"flashdecoding", "kv_bits=4 kv_scale_bits=1 batch=16 kernel_losses=measured llm=llama3-8b"},
        {"flashdecoding", "engine=vllm-0.14 gpu=h100 activation_bits=8 format=fp8-blocks llm=llama3.1-8b batch=64"},
        {"flashdecoding", "engine=vllm-0.14 gpu=h100 activation_bits=8 format=checkpoint llm=gpt-oss-20b"},
        {"flashdecoding", "engine=vllm-0.14 gpu=h100 activation_bits=8 quantizing=kernel phase=prefill"},
        {"flashdecoding", "dataflow=static gpu=h100 weight_bits=32 format=int4-linears llm=llama3.1-8b batch=512"},
        {"ane", "kv_bits=4 kv_scale_bits=1"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct boxes b;
        boxes_of(&b, cases[k].model, cases[k].settings);
        for (int i = 0; i < BOXES; i++) {
            const double width[] = {1.02, 2, 50};
            if (!box_draw(&b, 0.1, i % 2 ? 0.1 : 0.3, width[i % 3])) continue;
            const char *wrong = box_ask(&b, POINTS, 1e-12);
            char *text = wrong ? box_text(&b, wrong) : NULL;
            if (wrong) print_error("%s: %s\n", cases[k].settings, text);
            free(text);
            assert_null(wrong);
        }
        assert_true(b.pairs > BOXES);
        boxes_release(&b);
    }
}

/* The box of an axis from its points, all resolved, and the best of a metric at those that are feasible. */
static double best_over(struct boxes *b, const char *axis, double from, double to, const struct field *metric, bool more)
{
    enum { STEPS = 200 };
    const struct field *f = schema_find(&b->model->params, axis);
    double best = more ? 0 : (double)INFINITY;
    for (int i = 0; b->point && i <= STEPS; i++) {
        const double v = from + (to - from) * i / STEPS;
        boxes_copy(b, b->point, space_fixed(b->one.space));
        number_set(f, b->point, f->type == DSE_TYPE_I64 ? floor(v) : v);
        resolve(b, b->point);
        if (i == 0) {
            boxes_copy(b, b->lo, b->point);
            boxes_copy(b, b->hi, b->point);
        }
        assert_true(box_include(b, b->point));
        if (!accepts(b, b->point)) continue;
        b->model->desc->estimate(b->point, b->metrics, NULL);
        const double x = field_number(metric, b->metrics);
        best = more ? fmax(best, x) : fmin(best, x);
    }
    return best;
}

/* Over these axes naive products of intervals would be off by up to the ratio of the axis. Where the bounds are those of equations,
 * they are (the READMEs of VEDA and SwiftKV): a search splits such a box first, and it is enough that halves are near. */
static void bounds__of_factors_that_go_opposite_ways_are_near(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        const char *settings;
        const char *axis;
        double from, to;
        const char *metric;
        bool more;
        double share; /* of what is there that the bound reaches at least */
    } cases[] = {
        {"veda", "power=constant bandwidth_gbs=1024", "clock_ghz", 0.25, 1, "energy_mj", false, 0.88},
        {"veda", "bandwidth_gbs=1024", "clock_ghz", 0.5, 1.2, "energy_mj", false, 0.99},
        {"veda", "power=constant bandwidth_gbs=1024", "pe_copies", 2, 12, "energy_mj", false, 0.98},
        {"veda", "bandwidth_gbs=1024", "batch", 1, 2, "tokens_per_s", true, 0.49},
        {"veda", "", "batch", 1, 2, "energy_mj", false, 0.5},
        {"veda", "", "batch", 1, 2, "power_w", false, 0.5},
        {"veda", "", "devices", 1, 2, "usd_per_mtoken", false, 0.5},
        {"veda", "", "devices", 1, 8, "energy_mj", false, 0.98},
        {"veda", "dataflow=adder-tree softmax=stage", "tree_width", 32, 256, "tokens_per_s", true, 0.99},
        {"veda", "", "eviction_ratio", 0.3, 0.5, "attention_error", false, 0.99},
        {"swiftkv", "power=constant", "processors", 32, 64, "energy_mj", false, 0.95},
        {"swiftkv", "", "processors", 32, 40, "energy_mj", false, 0.99},
        {"swiftkv", "", "clock_mhz", 200, 400, "energy_mj", false, 0.92},
        {"swiftkv", "", "clock_mhz", 200, 400, "power_w", false, 0.89},
        {"swiftkv", "weight_reuse=4", "batch", 1, 2, "tokens_per_s", true, 0.49},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct boxes b;
        boxes_of(&b, cases[k].model, cases[k].settings);
        const struct field *metric = schema_find(&b.model->metrics, cases[k].metric);
        const double best = best_over(&b, cases[k].axis, cases[k].from, cases[k].to, metric, cases[k].more);
        assert_true(b.model->desc->bound(b.lo, b.hi, b.floor, b.ceiling));
        const double bound = field_number(metric, cases[k].more ? b.ceiling : b.floor);
        const double share = cases[k].more ? best / bound : bound / best;
        print_message("%s.%s over %s: %.4f\n", cases[k].model, cases[k].metric, cases[k].axis, share);
        assert_true(share >= cases[k].share && share <= 1 + 1e-12);
        boxes_release(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds__hold_under_every_setting_that_they_take_apart),
        cmocka_unit_test(bounds__of_factors_that_go_opposite_ways_are_near),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
