/* Bounds of boxes that are bounded at once are those of each by itself, to the bit, in random lattices of models in TOML, whatever
 * is wanted of them; and no point of a box is outside of its bounds. */
#include "samples.h"
#include "search_lattices.h"
#include "toml_examples.h"

#include "search/lattice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { COLUMNS_MAX = 512, POINTS = 3 };

struct bed {
    struct search_bed b;
    const struct space *sp;
    struct lattice *l;
    struct bounds *many, *single;
    struct evaluator *evaluator;
    void *lo_params, *hi_params;
    uint32_t lo[BOUNDS_MANY_MAX][SPACE_AXES_MAX], hi[BOUNDS_MANY_MAX][SPACE_AXES_MAX];
    const uint32_t *los[BOUNDS_MANY_MAX], *his[BOUNDS_MANY_MAX];
    size_t columns[COLUMNS_MAX], n_columns; /* that are compared */
    const char *text;
};

struct counts {
    long boxes, some, bounded, points;
};

static void enclose(const void *l, const uint32_t *lo, const uint32_t *hi, void *lo_params, void *hi_params)
{
    lattice_enclose(l, lo, hi, lo_params, hi_params);
}

/* False: there is no such sweep, or no lattice of it. */
static bool open_bed(struct bed *d, const char *text)
{
    *d = (struct bed){.text = text};
    if (!open_search(&d->b, catalog_data_dir(), text)) return false;
    d->sp = d->b.spaces[0];
    d->l = lattice_new(d->sp, &d->b.diags);
    if (!d->l) return false;
    d->many = bounds_new(d->sp);
    d->single = bounds_new(d->sp);
    bounds_set_lattice(d->many, &(struct bounds_lattice){d->l, enclose});
    d->evaluator = evaluator_new(d->sp, FIDELITY_CLOSED_FORM, NULL);
    d->lo_params = xcalloc(1, space_model(d->sp)->desc->params_size);
    d->hi_params = xcalloc(1, space_model(d->sp)->desc->params_size);
    return true;
}

static void close_bed(struct bed *d)
{
    bounds_free(d->many);
    bounds_free(d->single);
    lattice_free(d->l);
    evaluator_free(d->evaluator);
    free(d->lo_params);
    free(d->hi_params);
    close_search(&d->b);
}

/* Wide boxes, or (halves) those of one box along its axes, as a search asks for them. */
static void draw_boxes(struct bed *d, struct lattice_draw *draw, size_t n, bool halves)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t a = 0; a < lattice_axes(d->l); a++) {
            uint32_t places;
            lattice_axis(d->l, a, &places);
            const uint32_t x = (uint32_t)draw_below(draw, places), y = (uint32_t)draw_below(draw, places);
            const bool single = lattice_axis_is_split(d->l, a);
            d->lo[i][a] = halves && i ? d->lo[0][a] : single || x < y ? x : y;
            d->hi[i][a] = halves && i ? d->hi[0][a] : single || x > y ? x : y;
        }
        const size_t axis = lattice_axes(d->l) ? draw_below(draw, lattice_axes(d->l)) : 0;
        const uint32_t middle = (d->lo[0][axis] + d->hi[0][axis]) / 2;
        if (halves && i) *(i % 2 ? &d->hi[i][axis] : &d->lo[i][axis]) = middle;
        d->los[i] = d->lo[i];
        d->his[i] = d->hi[i];
    }
}

static bool same_end(double a, double b)
{
    return a == b && signbit(a) == signbit(b);
}

/* Points of the box that was bounded last lie in its bounds. */
static void assert_points_in(struct bed *d, struct lattice_draw *draw, size_t i, enum bounds_of of, struct counts *n)
{
    union cell cells[COLUMNS_MAX];
    for (int p = 0; p < POINTS; p++) {
        uint32_t at[SPACE_AXES_MAX];
        struct row row;
        for (size_t a = 0; a < lattice_axes(d->l); a++)
            at[a] = d->lo[i][a] + (uint32_t)draw_below(draw, d->hi[i][a] - d->lo[i][a] + 1);
        assert_true(evaluator_run(d->evaluator, lattice_index(d->l, at), 1, cells, &row));
        if (row.reason) continue;
        if (of != BOUNDS_SOME) fail_msg("a feasible point is in a box that is said to have none\n%s", d->text);
        n->points++;
        for (size_t k = 0; k < d->n_columns; k++) {
            const double v = cells[d->columns[k]].f64, slack = 1e-12 * fabs(v);
            const struct dse_interval b = bounds_column(d->many, d->columns[k]);
            if (!isnan(v) && !(b.lo <= v + slack && v - slack <= b.hi))
                fail_msg("column %zu is %.17g, outside of [%.17g, %.17g]\n%s", d->columns[k], v, b.lo, b.hi, d->text);
        }
    }
}

static void compare(struct bed *d, struct lattice_draw *draw, size_t n, const bool *wanted, struct counts *counts)
{
    bounds_many(d->many, d->los, d->his, n, wanted);
    for (size_t i = 0; i < n; i++) {
        size_t refused = 0, alone = 0;
        lattice_enclose(d->l, d->lo[i], d->hi[i], d->lo_params, d->hi_params);
        const enum bounds_of of = bounds_take(d->many, i, &refused),
                             by_itself = bounds_box(d->single, d->lo_params, d->hi_params, &alone);
        if (of != by_itself || refused != alone) fail_msg("box %zu of %zu is %d, by itself %d\n%s", i, n, of, by_itself, d->text);
        counts->boxes++;
        counts->some += of == BOUNDS_SOME;
        for (size_t k = 0; of == BOUNDS_SOME && k < d->n_columns; k++) {
            const struct dse_interval x = bounds_column(d->many, d->columns[k]), y = bounds_column(d->single, d->columns[k]);
            counts->bounded += isfinite(x.lo) && isfinite(x.hi);
            if (!same_end(x.lo, y.lo) || !same_end(x.hi, y.hi))
                fail_msg("box %zu of %zu: column %zu is in [%.17g, %.17g], by itself [%.17g, %.17g]\n%s", i, n, d->columns[k], x.lo,
                         x.hi, y.lo, y.hi, d->text);
        }
        assert_points_in(d, draw, i, of, counts);
    }
}

/* What is asked for: all metrics, the objectives, or one metric alone. */
enum asked { ASK_ALL, ASK_OBJECTIVES, ASK_ONE, ASKED = ASK_ONE + 4 };

static void find_columns(struct bed *d, struct lattice_draw *draw, int asked)
{
    size_t n;
    const struct column *columns = space_columns(d->sp, &n);
    assert_true(n <= COLUMNS_MAX);
    d->n_columns = 0;
    for (size_t j = 0; asked == ASK_OBJECTIVES && j < d->b.sweep->n_objectives; j++)
        d->columns[d->n_columns++] = space_column(d->sp, d->b.sweep->objectives[j].column);
    for (size_t c = 0; asked != ASK_OBJECTIVES && c < n; c++)
        if ((columns[c].role == COLUMN_METRIC || columns[c].role == COLUMN_DERIVED) && columns[c].type == DSE_TYPE_F64)
            d->columns[d->n_columns++] = c;
    if (asked < ASK_ONE) return;
    d->columns[0] = d->columns[draw_below(draw, d->n_columns)];
    d->n_columns = 1;
}

static bool compare_in(struct lattice_draw *draw, const char *text, struct counts *counts)
{
    static struct bed d;
    const bool ok = open_bed(&d, text);
    bool *wanted[ASKED] = {NULL}; /* as long as boxes are bounded */
    for (int asked = 0; ok && asked < ASKED; asked++) {
        find_columns(&d, draw, asked);
        wanted[asked] = bounds_wanted(d.many, d.columns, d.n_columns);
        for (int halves = 0; halves < 2; halves++) {
            const size_t n = 1 + draw_below(draw, halves ? 40 : BOUNDS_MANY_MAX);
            draw_boxes(&d, draw, n, halves);
            compare(&d, draw, n, wanted[asked], counts);
        }
    }
    close_bed(&d);
    for (int asked = 0; asked < ASKED; asked++) free(wanted[asked]);
    return ok;
}

static void boxes__have_the_bounds_of_each_by_itself(void **state)
{
    (void)state;
    const int lattices = samples(4, 200);
    struct counts all = {0}; /* of one model few lattices may have no point */
    for (size_t m = 0; m < TOML_EXAMPLES; m++) {
        struct lattice_draw d;
        const struct model *model = registry_find(toml_examples[m].model);
        assert_non_null(model->many);
        assert_true(lattice_draw_init(&d, model, catalog_data_dir(), 5 + m));
        struct counts n = {0};
        int done = 0;
        for (int i = 0; i < 10 * lattices && done < lattices; i++) {
            char *plain = draw_lattice(&d, 1e6, 12),
                 *more = xasprintf(
                     "%s[derived]\nedp = \"energy_mj * latency_us\"\n[constraints]\nhot = \"power_w < 20 && clock_ghz < 3\"\n",
                     plain);
            done += compare_in(&d, i % 3 ? plain : more, &n);
            free(plain);
            free(more);
        }
        print_message("%s: %d lattices, %ld boxes, %ld with feasible points, %ld bounds, %ld points\n", model->desc->name, done,
                      n.boxes, n.some, n.bounded, n.points);
        assert_int_equal(done, lattices);
        all.boxes += n.boxes;
        all.some += n.some;
        all.bounded += n.bounded;
        all.points += n.points;
        lattice_draw_release(&d);
    }
    assert_true(all.some > all.boxes / 20 && all.some < all.boxes && all.bounded > all.some && all.points > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes__have_the_bounds_of_each_by_itself),
    };
    if (!load_toml_examples(catalog_data_dir())) return 1;
    const int failed = cmocka_run_group_tests_name("many boxes", tests, NULL, NULL);
    registry_release();
    return failed;
}
