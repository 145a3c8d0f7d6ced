/* The equations of models in TOML, walked as they stand, against their graph: the same reasons and numbers at random points, to the
 * bit, and bounds over random boxes that hold the same. */
#include "samples.h"
#include "toml_examples.h"
#include "walk_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
            compare_bounds(&b, floor, ceiling);
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
