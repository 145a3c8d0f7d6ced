/* What is said of how rows move along an axis (bounds_better) is so: in random lattices of models in TOML no point at another place
 * of the box is infeasible, without a value or worse where it cannot be. And the walk of a check says the same as the graph. */
#include "samples.h"
#include "search_lattices.h"
#include "toml_examples.h"

#include "search/lattice.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { COLUMNS_MAX = 512, BOXES = 64, PAIRS = 4 };

struct bed {
    struct search_bed b, plain;
    const struct space *sp;
    struct lattice *l;
    struct bounds *many, *walked;
    struct evaluator *evaluator;
    void *lo_params, *hi_params;
    uint32_t lo[BOXES][SPACE_AXES_MAX], hi[BOXES][SPACE_AXES_MAX];
    const uint32_t *los[BOXES], *his[BOXES];
    size_t columns[COLUMNS_MAX], n_columns;
    const char *text;
};

struct counts {
    long boxes, axes, fixed, pairs;
};

static void enclose(const void *l, const uint32_t *lo, const uint32_t *hi, void *lo_params, void *hi_params)
{
    lattice_enclose(l, lo, hi, lo_params, hi_params);
}

static bool open_bed(struct bed *d, const char *text)
{
    *d = (struct bed){.text = text};
    const bool ok = open_search(&d->b, catalog_data_dir(), text) & open_search(&d->plain, catalog_data_dir(), text);
    if (!ok) return false;
    d->sp = d->b.spaces[0];
    d->l = lattice_new(d->sp, &d->b.diags);
    if (!d->l) return false;
    d->many = bounds_new(d->sp);
    space_check_plainly(d->plain.spaces[0]);
    d->walked = bounds_new(d->plain.spaces[0]);
    bounds_set_lattice(d->many, &(struct bounds_lattice){d->l, enclose, lattice_moves(d->l)});
    d->evaluator = evaluator_new(d->sp, FIDELITY_CLOSED_FORM, NULL);
    d->lo_params = xcalloc(1, space_model(d->sp)->desc->params_size);
    d->hi_params = xcalloc(1, space_model(d->sp)->desc->params_size);
    return true;
}

static void close_bed(struct bed *d)
{
    bounds_free(d->many);
    bounds_free(d->walked);
    lattice_free(d->l);
    evaluator_free(d->evaluator);
    free(d->lo_params);
    free(d->hi_params);
    close_search(&d->b);
    close_search(&d->plain);
}

/* Boxes of a few places on each axis, and now and then of many. */
static void draw_boxes(struct bed *d, struct lattice_draw *draw, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t a = 0; a < lattice_axes(d->l); a++) {
            uint32_t places;
            lattice_axis(d->l, a, &places);
            const uint32_t x = (uint32_t)draw_below(draw, places), wide = (uint32_t)draw_below(draw, i % 4 ? 3 : places);
            d->lo[i][a] = x;
            d->hi[i][a] = lattice_axis_is_split(d->l, a) ? x : x + wide < places ? x + wide : places - 1;
        }
        d->los[i] = d->lo[i];
        d->his[i] = d->hi[i];
    }
}

/* A point's value of a column; false: it is infeasible or has none. */
static bool value_at(struct bed *d, const uint32_t *at, size_t column, double *ret)
{
    union cell cells[COLUMNS_MAX];
    struct row row;
    assert_true(evaluator_run(d->evaluator, lattice_index(d->l, at), 1, cells, &row));
    *ret = cells[column].f64;
    return !row.reason && row_is_within(&row) && isfinite(*ret);
}

/* Two points of box i that differ along an axis alone, of which the second one cannot be worse. */
static void assert_pair(struct bed *d, struct lattice_draw *draw, size_t i, size_t axis, bool is_earlier, size_t column,
                        bool maximise)
{
    uint32_t at[SPACE_AXES_MAX];
    double here, there;
    for (size_t a = 0; a < lattice_axes(d->l); a++) at[a] = d->lo[i][a] + (uint32_t)draw_below(draw, d->hi[i][a] - d->lo[i][a] + 1);
    const uint32_t x = d->lo[i][axis] + (uint32_t)draw_below(draw, d->hi[i][axis] - d->lo[i][axis]),
                   y = x + 1 + (uint32_t)draw_below(draw, d->hi[i][axis] - x);
    at[axis] = is_earlier ? y : x;
    if (!value_at(d, at, column, &here)) return;
    at[axis] = is_earlier ? x : y;
    const double slack = 1e-13 * fabs(here);
    if (!value_at(d, at, column, &there) || (maximise ? there < here - slack : there > here + slack))
        fail_msg("column %zu, %s: along axis %zu from place %u to %u it is %.17g, then %.17g\n%s", column, maximise ? "max" : "min",
                 axis, is_earlier ? y : x, is_earlier ? x : y, here, there, d->text);
}

/* The walk says the same of an axis of several places. */
static void compare_walk(struct bed *d, size_t i, size_t column, bool maximise, struct graph_moves better)
{
    size_t constraint;
    lattice_enclose(d->l, d->lo[i], d->hi[i], d->lo_params, d->hi_params);
    if (bounds_box(d->walked, d->lo_params, d->hi_params, &constraint) != BOUNDS_SOME) return;
    bounds_walk_moves(d->walked, lattice_moves(d->l));
    const struct graph_moves walked = bounds_better(d->walked, &column, &maximise, 1);
    for (size_t a = 0; a < lattice_axes(d->l); a++)
        if (d->lo[i][a] < d->hi[i][a] && ((walked.up ^ better.up) >> a & 1 || (walked.down ^ better.down) >> a & 1))
            fail_msg("column %zu of box %zu, axis %zu: up %x down %x, walked %x %x\n%s", column, i, a, better.up, better.down,
                     walked.up, walked.down, d->text);
}

static void assert_box(struct bed *d, struct lattice_draw *draw, size_t i, struct counts *n)
{
    size_t constraint;
    if (bounds_take(d->many, i, &constraint) != BOUNDS_SOME) return;
    const size_t column = d->columns[draw_below(draw, d->n_columns)];
    const bool maximise = draw_below(draw, 2);
    const struct graph_moves better = bounds_better(d->many, &column, &maximise, 1);
    n->boxes++;
    for (size_t a = 0; a < lattice_axes(d->l); a++) {
        if (d->lo[i][a] == d->hi[i][a]) continue;
        n->axes++;
        for (int down = 0; down < 2; down++) {
            if ((down ? better.down : better.up) >> a & 1) continue;
            n->fixed++;
            for (int k = 0; k < PAIRS; k++) assert_pair(d, draw, i, a, !down, column, maximise);
            n->pairs += PAIRS;
        }
    }
    if (i % 4 == 0) compare_walk(d, i, column, maximise, better);
}

static bool look_at(struct lattice_draw *draw, const char *text, struct counts *n)
{
    static struct bed d;
    const bool ok = open_bed(&d, text);
    size_t n_columns;
    const struct column *columns = ok ? space_columns(d.sp, &n_columns) : NULL;
    for (size_t c = 0; ok && c < n_columns; c++)
        if ((columns[c].role == COLUMN_METRIC || columns[c].role == COLUMN_DERIVED) && columns[c].type == DSE_TYPE_F64)
            d.columns[d.n_columns++] = c;
    if (ok) {
        draw_boxes(&d, draw, BOXES);
        bounds_many_moved(d.many, d.los, d.his, BOXES, NULL);
        for (size_t i = 0; i < BOXES; i++) assert_box(&d, draw, i, n);
    }
    close_bed(&d);
    return ok;
}

static void moves__are_those_of_points(void **state)
{
    (void)state;
    const int lattices = samples(6, 300);
    struct counts all = {0};
    for (size_t m = 0; m < TOML_EXAMPLES; m++) {
        struct lattice_draw d;
        struct counts n = {0};
        int done = 0;
        assert_true(lattice_draw_init(&d, registry_find(toml_examples[m].model), catalog_data_dir(), 11 + m));
        for (int i = 0; i < 10 * lattices && done < lattices; i++) {
            char *plain = draw_lattice(&d, 1e6, 12),
                 *more = xasprintf("%s[derived]\nedp = \"energy_mj * latency_us\"\nslack = \"100 - min(power_w, 90)\"\n"
                                   "[constraints]\nhot = \"power_w < 20 || clock_ghz < 3\"\n"
                                   "fast = \"clock_ghz <= 1.05\"\nlarge = \"8 < area_mm2\"\n",
                                   plain);
            done += look_at(&d, i % 2 ? plain : more, &n);
            free(plain);
            free(more);
        }
        print_message("%s: %d lattices, %ld boxes; of %ld axes %ld directions are known, %ld pairs of points\n",
                      toml_examples[m].model, done, n.boxes, n.axes, n.fixed, n.pairs);
        all.boxes += n.boxes;
        all.axes += n.axes;
        all.fixed += n.fixed;
        lattice_draw_release(&d);
    }
    assert_true(all.boxes > 200 && all.fixed > all.axes / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves__are_those_of_points)};
    if (!load_toml_examples(catalog_data_dir())) return 1;
    const int failed = cmocka_run_group_tests_name("moves", tests, NULL, NULL);
    registry_release();
    return failed;
}
