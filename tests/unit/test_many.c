/* Rows of points that are evaluated at once are those of points that are evaluated one by one, to the bit: in random lattices and
 * samples of models in TOML, in blocks of any size. */
#include "samples.h"
#include "search_lattices.h"
#include "toml_examples.h"

#include "space/many_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct rows {
    union cell *cells;
    struct row *rows;
    struct evaluator *evaluator; /* which reasons and notes live as long as */
};

/* `step` points at a time. */
static struct rows evaluate(const struct space *sp, size_t n, size_t step)
{
    size_t columns;
    space_columns(sp, &columns);
    struct rows r = {xcalloc(n * columns, sizeof *r.cells), xcalloc(n, sizeof *r.rows),
                     evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL)};
    for (size_t i = 0; i < n; i += step)
        assert_true(evaluator_run(r.evaluator, i, step < n - i ? step : n - i, r.cells + i * columns, r.rows + i));
    return r;
}

static void release(struct rows *r)
{
    free(r->cells);
    free(r->rows);
    evaluator_free(r->evaluator);
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_cell(const struct column *c, union cell a, union cell b)
{
    if (c->type == DSE_TYPE_F64) return a.f64 == b.f64 || (isnan(a.f64) && isnan(b.f64));
    return c->type == DSE_TYPE_I64 ? a.i64 == b.i64 : same_text(a.text, b.text);
}

static void assert_same(const struct space *sp, size_t n, const struct rows *a, const struct rows *b, const char *sweep)
{
    size_t columns;
    const struct column *c = space_columns(sp, &columns);
    for (size_t i = 0; i < n; i++) {
        if (!same_text(a->rows[i].reason, b->rows[i].reason) || a->rows[i].fronts != b->rows[i].fronts)
            fail_msg("point %zu: %s, and one by one: %s\n%s", i, a->rows[i].reason, b->rows[i].reason, sweep);
        for (size_t k = 0; k < columns; k++)
            if (!same_cell(&c[k], a->cells[i * columns + k], b->cells[i * columns + k]))
                fail_msg("point %zu: %s is %.17g, and one by one %.17g\n%s", i, c[k].name, a->cells[i * columns + k].f64,
                         b->cells[i * columns + k].f64, sweep);
    }
}

/* How many of the points are feasible; -1: there is no such sweep. */
static long compare(const char *text)
{
    struct search_bed b;
    long feasible = -1;
    if (open_search(&b, catalog_data_dir(), text)) {
        const struct space *sp = b.spaces[0];
        const size_t n = (size_t)space_count(sp), steps[] = {n, 100, MANY_POINTS_MIN};
        struct rows single = evaluate(sp, n, 1);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            struct rows many = evaluate(sp, n, steps[i]);
            assert_same(sp, n, &many, &single, text);
            release(&many);
        }
        feasible = 0;
        for (size_t i = 0; i < n; i++) feasible += single.rows[i].reason == NULL;
        release(&single);
    }
    close_search(&b);
    return feasible;
}

static void many__give_the_rows_of_points_one_by_one(void **state)
{
    (void)state;
    const int lattices = samples(12, 100);
    for (size_t m = 0; m < TOML_EXAMPLES; m++) {
        struct lattice_draw d;
        const struct model *model = registry_find(toml_examples[m].model);
        assert_non_null(model->many);
        assert_true(lattice_draw_init(&d, model, catalog_data_dir(), 11 + m));
        long feasible = 0, done = 0;
        for (int i = 0; i < 10 * lattices && done < lattices; i++) {
            char *text = draw_lattice(&d, 3000, 9);
            char *sample = xasprintf("%s[sample]\nmethod = \"%s\"\npoints = 500\nseed = %d\n", text, i % 2 ? "random" : "lhs", i);
            const long n = compare(text);
            if (n >= 0) {
                compare(sample);
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
