/* The exact fronts of random lattices of every model that has a bound are those of all their points, whatever boxes are bounded
 * together. */
#include "samples.h"
#include "search_lattices.h"
#include "toml_examples.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { TRIES = 60 };

/* Another number of threads takes other boxes together, where boxes are bounded at once: nothing else may differ. */
static void assert_same_alone(struct search_bed *b, const struct exact_result *r)
{
    struct exact_result alone;
    const struct exact_options options = {.threads = 40}; /* so that each box goes by itself */
    assert_true(exact_search(b->sweep, b->spaces, &options, &alone, &b->diags));
    assert_int_equal(alone.n_front, r->n_front);
    assert_int_equal(alone.bounds, r->bounds);
    assert_int_equal(alone.certificate.evaluations, r->certificate.evaluations);
    assert_memory_equal(alone.certificate.boxes, r->certificate.boxes, sizeof r->certificate.boxes);
    for (size_t i = 0; i < r->n_front; i++) assert_true(alone.front[i].at.point == r->front[i].at.point);
    exact_result_release(&alone);
}

/* Returns how many rows the front has; -1: such a lattice has none (its tables refuse it, or an objective has no bound there). */
static long compare(const char *text, const char **ret_why)
{
    struct search_bed b;
    long n = -1;
    *ret_why = NULL;
    if (open_search(&b, catalog_data_dir(), text)) {
        struct exact_result r;
        const struct exact_options options = {.threads = 2};
        if (exact_search(b.sweep, b.spaces, &options, &r, &b.diags)) {
            struct vectors truth, found;
            brute_force(&b, &truth);
            row_vectors(&b, &r, &found);
            char *wrong = compare_fronts(&found, &truth);
            if (wrong) fail_msg("%s:\n%s", wrong, text);
            assert_true(r.certificate.complete);
            assert_true(rows_are_true(&b, &r));
            if (space_model(b.spaces[0])->many) assert_same_alone(&b, &r);
            print_message("  %.0f points, %zu rows, %llu evaluated, %llu bounded\n", r.points, r.n_front,
                          (unsigned long long)r.certificate.evaluations, (unsigned long long)r.bounds);
            n = (long)r.n_front;
            vectors_release(&truth);
            vectors_release(&found);
        }
        exact_result_release(&r);
    }
    if (n < 0 && b.diags.n) print_message("  left out: %s\n", b.diags.list[0].message);
    close_search(&b);
    return n;
}

static void exact__is_the_front_of_all_points_of_every_model(void **state)
{
    (void)state;
    size_t n;
    const struct model *models = registry_models(&n);
    const int lattices = samples(4, 10), points = samples(5000, 20000); /* at most, of a lattice */
    for (size_t m = 0; m < n; m++) {
        struct lattice_draw d;
        if (!lattice_draw_init(&d, &models[m], catalog_data_dir(), 7 + m)) {
            lattice_draw_release(&d);
            continue;
        }
        print_message("%s\n", models[m].desc->name);
        int done = 0;
        for (int i = 0; i < TRIES && done < lattices; i++) {
            const char *why;
            char *text = draw_lattice(&d, points, 12);
            done += compare(text, &why) > 0;
            free(text);
        }
        assert_int_equal(done, lattices);
        lattice_draw_release(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact__is_the_front_of_all_points_of_every_model),
    };
    if (!load_toml_examples(catalog_data_dir())) return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
