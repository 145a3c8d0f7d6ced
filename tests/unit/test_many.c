/* Rows of points that are evaluated at once are those of points that are evaluated one by one, to the bit: in random lattices and
 * samples of models in TOML, in blocks of any size. */
#include "many_rows.h"
#include "samples.h"
#include "search_lattices.h"
#include "toml_examples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void many__give_the_rows_of_points_one_by_one(void **state)
{
    (void)state;
    const int lattices = samples(6, 100);
    for (size_t m = 0; m < TOML_EXAMPLES; m++) {
        struct lattice_draw d;
        const struct model *model = registry_find(toml_examples[m].model);
        assert_non_null(model->many);
        assert_true(lattice_draw_init(&d, model, catalog_data_dir(), 11 + m));
        long feasible = 0, done = 0;
        for (int i = 0; i < 10 * lattices && done < lattices; i++) {
            char *text = draw_lattice(&d, 3000, 9);
            char *sample = xasprintf("%s[sample]\nmethod = \"%s\"\npoints = 500\nseed = %d\n", text, i % 2 ? "random" : "lhs", i);
            const long n = compare_many(text);
            if (n >= 0) {
                compare_many(sample);
                done++;
                feasible += n;
            }
            free(text);
            free(sample);
        }
        print_message("%s: %ld lattices, %ld feasible points\n", model->desc->name, done, feasible);
        assert_int_equal(done, lattices);
        assert_true(feasible > 100);
        lattice_draw_release(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many__give_the_rows_of_points_one_by_one),
    };
    if (!load_toml_examples(catalog_data_dir())) return 1;
    const int failed = cmocka_run_group_tests_name("many", tests, NULL, NULL);
    registry_release();
    return failed;
}
