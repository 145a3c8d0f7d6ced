/* space/bounds.h: every number of a row lies between the bounds of its column, in every model that has bounds, over random boxes of
 * lattices with a baseline, derived columns and constraints. */
#include "search_bed.h"

#include "dse_config.h"
#include "search/lattice.h"
#include "space/bounds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static const char common[] =
    "[constraints]\nfast = \"tokens_per_s >= 2 && latency_us < 4e6\"\nslower = \"latency_ratio > 0.1 || batch > 2\"\n"
    "[derive]\nper_watt = \"tokens_per_s / power_w\"\nmixed = \"speedup > 1 ? energy_mj : 2 * energy_mj + context\"\n"
    "worst = \"max(latency_us / 1e6, energy_ratio ^ 0.5)\"\n"
    "[objectives]\nlatency_us = \"min\"\n"
    "[baseline]\nmodel = \"flashdecoding\"\ngpu = \"a100-80gb\"\n";

static const struct {
    const char *model, *params;
} cases[] = {
    {"lad", "tiles = [1, 2, 4, 8, 12, 20]\nsram_mib = { from = 0.5, to = 6, points = 9 }\n"
            "bandwidth_gbs = { from = 100, to = 2000, points = 12 }"},
    {"veda",
     "pe_copies = [1, 2, 4, 16]\nbandwidth_gbs = { from = 100, to = 2000, points = 12 }\neviction = [\"none\", \"voting\"]"},
    {"swiftkv", "processors = [4, 8, 16, 32]\nbandwidth_gbs = { from = 100, to = 460, points = 12 }"},
    {"ane", "engine_tflops = { from = 2, to = 40, points = 7 }\nquery_rows = [1, 8, 32]\n"
            "bandwidth_gbs = { from = 60, to = 400, points = 12 }"},
    {"flashdecoding", "gpu = [\"a100-80gb\", \"rtx-3090\"]\nengine = [\"vllm\", \"flashdecoding++\"]"},
};

static uint32_t below(uint32_t n)
{
    return (uint32_t)rand() % n;
}

static long rows, bounded, refused;

/* Random places of a box, one place on the axes that are split. */
static void any_box(const struct lattice *l, uint32_t *lo, uint32_t *hi)
{
    for (size_t a = 0; a < lattice_axes(l); a++) {
        uint32_t n;
        lattice_axis(l, a, &n);
        const uint32_t x = below(n), y = lattice_axis_is_split(l, a) || below(3) == 0 ? x : below(n);
        lo[a] = x < y ? x : y;
        hi[a] = x < y ? y : x;
    }
}

static void check_row(const struct space *sp, struct bounds *b, enum bounds_of of, const union cell *cells, const struct row *row,
                      const char *model)
{
    size_t n;
    const struct column *columns = space_columns(sp, &n);
    if (row->reason) return;
    rows++;
    if (of != BOUNDS_SOME) fail_msg("%s: a box without a feasible point has one", model);
    for (size_t c = 0; c < n; c++) {
        if ((columns[c].role != COLUMN_METRIC && columns[c].role != COLUMN_DERIVED) || columns[c].type == DSE_TYPE_ENUM) continue;
        const double v = columns[c].type == DSE_TYPE_F64 ? cells[c].f64 : (double)cells[c].i64;
        const struct dse_interval is = bounds_column(b, c);
        bounded += isfinite(is.lo) && isfinite(is.hi);
        if (!isnan(v) && !dse_iv_contains(is, v))
            fail_msg("%s: %s is %.17g, which is not in [%.17g, %.17g]", model, columns[c].name, v, is.lo, is.hi);
    }
}

static void check_boxes(const struct space *sp, const struct lattice *l, const char *model)
{
    enum { BOXES = 400, POINTS = 6, AXES_MAX = 16 };
    size_t n;
    space_columns(sp, &n);
    union cell *cells = xcalloc(n, sizeof *cells);
    const size_t size = space_model(sp)->desc->params_size;
    void *low = xmalloc(size), *high = xmalloc(size);
    struct bounds *b = bounds_new(sp);
    struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    for (int i = 0; i < BOXES; i++) {
        uint32_t lo[AXES_MAX], hi[AXES_MAX], at[AXES_MAX];
        size_t constraint;
        any_box(l, lo, hi);
        lattice_enclose(l, lo, hi, low, high);
        const enum bounds_of of = bounds_box(b, low, high, &constraint);
        refused += of == BOUNDS_REFUSED;
        for (int k = 0; k < POINTS; k++) {
            struct row row;
            for (size_t a = 0; a < lattice_axes(l); a++) at[a] = k < 2 ? (k ? hi : lo)[a] : lo[a] + below(hi[a] - lo[a] + 1);
            assert_true(evaluator_run(e, lattice_index(l, at), 1, cells, &row));
            check_row(sp, b, of, cells, &row, model);
        }
    }
    evaluator_free(e);
    bounds_free(b);
    free(low);
    free(high);
    free(cells);
}

static void bounds__hold_every_row(void **state)
{
    (void)state;
    srand(1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct search_bed bed;
        char *text = xasprintf(
            "[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[params]\nllm = [\"llama2-7b\", \"llama3.1-8b\"]\nbatch = [1, 2, 3, 4]\n"
            "context = [512, 1000, 2048, 4096]\n%s\n%s",
            cases[i].model, cases[i].params, common);
        if (!open_search(&bed, DSE_SOURCE_DATA, text)) {
            diags_print(&bed.diags, stderr, false);
            fail_msg("%s", text);
        }
        rows = bounded = refused = 0;
        if (space_model(bed.spaces[0])->desc->bound) {
            struct lattice *l = lattice_new(bed.spaces[0], &bed.diags);
            assert_non_null(l);
            check_boxes(bed.spaces[0], l, cases[i].model);
            lattice_free(l);
            if (rows < 100 || bounded < 10 * rows) fail_msg("%s: %ld rows, %ld bounds", cases[i].model, rows, bounded);
        }
        close_search(&bed);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds__hold_every_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
