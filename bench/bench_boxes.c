/* The bound of a box of VEDA, whose equations are in TOML: box by box, and in blocks, with three objectives and checks, and with
 * all metrics. The boxes are the halves of random boxes of a lattice along each of its axes, as the
 * exact search asks for them. CPU time. To reach: 250 ns a box with three objectives, whose parameters are known. */
#include "bench.h"
#include "../tests/unit/model_points.h"
#include "../tests/unit/search_bed.h"
#include "search/lattice.h"
#include "space/bounds.h"

enum { COLUMNS = 3, PASSES = 5 };

static const char grid[] = "pe_rows = [2, 4, 6, 8, 10, 12, 14, 16]\npe_columns = [2, 4, 6, 8, 10, 12, 14, 16]\n"
                           "pe_copies = [1, 2, 4, 8]\nclock_ghz = { from = 0.5, to = 2, points = 16 }\n"
                           "buffer_kib = [64, 96, 128, 192, 256, 384, 512, 1024]\ncontext = { from = 512, to = 4096, points = 8 }\n"
                           "batch = [1, 2, 4, 8, 16]\nbandwidth_gbs = { from = 16, to = 256, points = 16 }\neviction = \"none\"\n"
                           "[objectives]\ntokens_per_s = \"max\"\narea_mm2 = \"min\"\nenergy_mj = \"min\"\n";

struct bed {
    struct search_bed b;
    const struct space *sp;
    struct lattice *l;
    struct bounds *bounds;
    size_t columns[COLUMNS];
    uint32_t lo[BOUNDS_MANY_MAX][SPACE_AXES_MAX], hi[BOUNDS_MANY_MAX][SPACE_AXES_MAX];
    const uint32_t *los[BOUNDS_MANY_MAX], *his[BOUNDS_MANY_MAX];
    char *ends; /* the parameters that enclose them */
    bool is_enclosed, is_moved;
    double sum;
};

/* While boxes are enclosed beforehand, the bounds ask for those. */
static void enclose(const void *bed, const uint32_t *lo, const uint32_t *hi, void *lo_params, void *hi_params)
{
    const struct bed *d = bed;
    const size_t size = space_model(d->sp)->desc->params_size;
    if (!d->is_enclosed) {
        lattice_enclose(d->l, lo, hi, lo_params, hi_params);
        return;
    }
    const size_t box = (size_t)((const char *)lo - (const char *)d->lo) / sizeof *d->lo;
    const char *from = d->ends + 2 * box * size;
    memcpy(lo_params, from, size);
    memcpy(hi_params, from + size, size);
}

static void open_bed(struct bed *d, const char *model)
{
    static const char *const objectives[COLUMNS] = {"tokens_per_s", "area_mm2", "energy_mj"};
    char *text = xasprintf("[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[params]\n%s", model, grid);
    *d = (struct bed){.bounds = NULL};
    if (!open_search(&d->b, catalog_data_dir(), text)) abort();
    free(text);
    d->sp = d->b.spaces[0];
    d->l = lattice_new(d->sp, &d->b.diags);
    if (!d->l) abort();
    d->bounds = bounds_new(d->sp);
    bounds_set_lattice(d->bounds, &(struct bounds_lattice){d, enclose, lattice_moves(d->l)});
    d->ends = xcalloc((size_t)2 * BOUNDS_MANY_MAX, space_model(d->sp)->desc->params_size);
    for (int j = 0; j < COLUMNS; j++) d->columns[j] = space_column(d->sp, objectives[j]);
    for (int i = 0; i < BOUNDS_MANY_MAX; i++) d->los[i] = d->lo[i], d->his[i] = d->hi[i];
}

static void close_bed(struct bed *d)
{
    bounds_free(d->bounds);
    lattice_free(d->l);
    free(d->ends);
    close_search(&d->b);
}

/* Halves of random boxes; the same every time. */
static void draw(struct bed *d, uint64_t *state, size_t n)
{
    uint32_t lo[SPACE_AXES_MAX], hi[SPACE_AXES_MAX];
    const size_t axes = lattice_axes(d->l);
    for (size_t i = 0; i < n; i++) {
        const size_t half = i % (2 * axes), axis = half / 2;
        for (size_t a = 0; a < axes && half == 0; a++) {
            uint32_t places, at[2];
            lattice_axis(d->l, a, &places);
            for (int k = 0; k < 2; k++) {
                *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                at[k] = (uint32_t)((*state >> 33) % places);
            }
            const bool single = lattice_axis_is_split(d->l, a);
            lo[a] = single || at[0] < at[1] ? at[0] : at[1];
            hi[a] = single || at[0] > at[1] ? at[0] : at[1];
        }
        memcpy(d->lo[i], lo, sizeof lo);
        memcpy(d->hi[i], hi, sizeof hi);
        const uint32_t middle = lo[axis] + (hi[axis] - lo[axis]) / 2;
        if (half % 2)
            d->lo[i][axis] = lo[axis] < hi[axis] ? middle + 1 : middle;
        else
            d->hi[i][axis] = middle;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t size = space_model(d->sp)->desc->params_size;
        lattice_enclose(d->l, d->lo[i], d->hi[i], d->ends + 2 * i * size, d->ends + (2 * i + 1) * size);
    }
}

static void read_columns(struct bed *d)
{
    for (int j = 0; j < COLUMNS; j++) {
        const struct dse_interval v = bounds_column(d->bounds, d->columns[j]);
        d->sum += isfinite(v.lo) ? v.lo : 0;
    }
}

/* CPU time of a box, in blocks of n (0: box by box), whose parameters are known or not. */
static double box_ns(struct bed *d, size_t n, bool all, bool is_enclosed)
{
    const size_t block = n ? n : 128, size = space_model(d->sp)->desc->params_size;
    const int blocks = bench_size(200, 2);
    bool *wanted = n && !all ? bounds_wanted(d->bounds, d->columns, COLUMNS) : NULL;
    double best = HUGE_VAL;
    d->is_enclosed = is_enclosed;
    for (int pass = 0; pass < bench_size(PASSES, 1); pass++) {
        uint64_t state = 1;
        double ns = 0;
        for (int k = 0; k < blocks; k++) {
            size_t constraint;
            draw(d, &state, block);
            const double start = cpu_ns();
            if (n) (d->is_moved ? bounds_many_moved : bounds_many)(d->bounds, d->los, d->his, block, wanted);
            for (size_t i = 0; i < block; i++) {
                char *lo = d->ends + 2 * i * size;
                if (!n && !is_enclosed) lattice_enclose(d->l, d->lo[i], d->hi[i], lo, lo + size);
                const enum bounds_of of =
                    n ? bounds_take(d->bounds, i, &constraint) : bounds_box(d->bounds, lo, lo + size, &constraint);
                if (of == BOUNDS_SOME) read_columns(d);
            }
            ns += cpu_ns() - start;
        }
        best = fmin(best, ns / (blocks * (double)block));
    }
    free(wanted);
    return best;
}

int main(void)
{
    static struct bed d;
    if (set_up(NULL) != 0) return 1;
    open_bed(&d, "veda");
    const double alone = box_ns(&d, 0, true, true), three = box_ns(&d, 128, false, true), of_16 = box_ns(&d, 16, false, true),
                 all = box_ns(&d, 128, true, true), enclosed = box_ns(&d, 128, false, false);
    d.is_moved = true;
    const double moved = box_ns(&d, 128, false, true);
    printf("VEDA, ns a box: alone %.0f; in blocks of 128: three objectives %.0f, all metrics %.0f; in blocks of 16: %.0f\n", alone,
           three, all, of_16);
    printf("with the parameters of the box, which the lattice gives: %.0f; with how metrics move along axes: %.0f\n", enclosed,
           moved);
    struct bench_row row = bench_row_open("the bound of a box of VEDA in blocks over that of a box alone, CPU time");
    bench_part(&row, "three objectives %.3f times", three / alone);
    bench_part(&row, "all metrics %.3f times", all / alone);
    bench_row_close(&row);
    close_bed(&d);
    return tear_down(NULL);
}
