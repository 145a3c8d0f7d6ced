/* The equations of models in TOML, walked as they stand, against their graph: the same reasons and numbers at random points, to the
 * bit, and bounds over random boxes that hold the same. */
#include "bound_boxes.h"
#include "samples.h"
#include "toml_examples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void fail_at(const struct boxes *b, const char *what, double walked, double graph)
{
    char *text = box_text(b, what);
    print_error("%.17g walked, %.17g by the graph: %s\n", walked, graph, text);
    free(text);
    fail();
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* The graph leaves out what changes nothing, as a factor of 1, and with it a rounding outward. */
static bool near(double a, double b)
{
    return same(a, b) || fabs(a - b) <= 1e-12 * fabs(b);
}

/* The metrics by both at the point; false: it is refused. */
static bool compare_points(struct boxes *b, const void *point, void *walked)
{
    const struct dse_model *plain = b->model->plain, *desc = b->model->desc;
    const char *why = desc->check(point), *plain_why = plain->check(point);
    boxes_copy(b, b->lo, point);
    boxes_copy(b, b->hi, point);
    if (why != plain_why) fail_at(b, "the reason", 0, 0);
    if (why) return false;
    desc->estimate(point, b->metrics, NULL);
    plain->estimate(point, walked, NULL);
    for (size_t k = 0; k < b->model->metrics.n; k++) {
        const struct field *f = &b->model->metrics.fields[k];
        if (!is_number(f) || f->without) continue;
        const double x = field_number(f, walked), y = field_number(f, b->metrics);
        if (!same(x, y)) fail_at(b, f->name, x, y);
    }
    return true;
}

static void walk__gives_the_numbers_of_the_graph(void **state)
{
    (void)state;
    const int points = samples(300, 3000);
    for (size_t i = 0; i < TOML_EXAMPLES; i++) {
        struct boxes b;
        assert_true(boxes_init(&b, registry_find(toml_examples[i].model)));
        void *walked = xcalloc(1, b.model->desc->metrics_size), *point = xcalloc(1, b.model->desc->params_size);
        int feasible = 0;
        for (int k = 0; k < points; k++) {
            if (!random_point(b.model, space_fixed(b.one.space), k % 2 ? 0.05 : 0.2, point)) continue;
            feasible += compare_points(&b, point, walked);
        }
        print_message("%s: %d feasible points\n", toml_examples[i].model, feasible);
        assert_true(feasible > points / 30);
        free(walked);
        free(point);
        boxes_release(&b);
    }
}

static void walk__bounds_what_the_graph_bounds(void **state)
{
    (void)state;
    const int boxes = samples(150, 1500);
    for (size_t i = 0; i < TOML_EXAMPLES; i++) {
        struct boxes b;
        assert_true(boxes_init(&b, registry_find(toml_examples[i].model)));
        void *floor = xcalloc(1, b.model->desc->metrics_size), *ceiling = xcalloc(1, b.model->desc->metrics_size);
        for (int k = 0; k < boxes; k++) {
            if (!box_draw(&b, 0.2, 0.2, 2)) continue;
            const bool some = b.model->desc->bound(b.lo, b.hi, b.floor, b.ceiling);
            if (b.model->plain->bound(b.lo, b.hi, floor, ceiling) != some) fail_at(&b, "whether there are points", 0, 0);
            for (size_t m = 0; m < b.model->metrics.n && some; m++) {
                const struct field *f = &b.model->metrics.fields[m];
                if (!is_number(f) || f->without) continue;
                const double lo = field_number(f, floor), hi = field_number(f, ceiling), graph_lo = field_number(f, b.floor),
                             graph_hi = field_number(f, b.ceiling);
                if (!near(lo, graph_lo) || !near(hi, graph_hi)) fail_at(&b, f->name, lo, graph_lo);
            }
        }
        free(floor);
        free(ceiling);
        boxes_release(&b);
    }
}

static int set_up_with_examples(void **state)
{
    return set_up(state) == 0 && load_toml_examples(catalog_data_dir()) ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk__gives_the_numbers_of_the_graph),
        cmocka_unit_test(walk__bounds_what_the_graph_bounds),
    };
    return cmocka_run_group_tests_name("walk", tests, set_up_with_examples, tear_down);
}
