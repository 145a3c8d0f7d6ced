/* What a point costs through libdse beyond the model itself: LAD's closed form over batches of columns, against a loop that
 * sets the same fields of the same struct, with the check of what every row must satisfy (model/row_check.h) and without. CPU
 * nanoseconds a point, the best of several passes. To reach: under 50 more than the checked row. */
#include "bench.h"
#include "lad_struct.h"
#include "config/bind.h"
#include "model/row_check.h"

#include <dse/dse.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PASSES = 9, TILES = 16, CONTEXTS = 64, SRAMS = 31, POINTS = TILES * CONTEXTS * SRAMS };

static double tiles[POINTS], contexts[POINTS], srams[POINTS], speeds[POINTS], energies[POINTS];
static const char *statuses[POINTS];

/* `defaults` is not resolved: what is "auto" is made anew for each point, as it must be. */
static void run_bare(const struct lad_params *defaults, const struct row_check *check)
{
    struct lad_params p = *defaults;
    p.dram.capacity_gib = 1024; /* no point is refused: check and estimate both run */
    for (size_t i = 0; i < POINTS; i++) {
        p.tiles = (int64_t)tiles[i];
        p.workload.context = (int64_t)contexts[i];
        p.sram_mib = srams[i];
        struct lad_params point = p;
        struct lad_metrics m;
        dse_model_lad.resolve(&point);
        if (dse_model_lad.check(&point)) continue;
        dse_model_lad.estimate(&point, &m, NULL);
        if (check && row_check_run(check, &m, NULL)) abort();
        speeds[i] = m.common.tokens_per_s;
        energies[i] = m.common.energy_mj;
    }
}

static void run_library(struct dse_points *p, size_t batch)
{
    for (size_t i = 0; i < POINTS; i += batch) {
        const size_t n = POINTS - i < batch ? POINTS - i : batch;
        const struct dse_input in[] = {{.name = "tiles", .numbers = tiles + i},
                                       {.name = "context", .numbers = contexts + i},
                                       {.name = "sram_mib", .numbers = srams + i}};
        const struct dse_output out[] = {{.name = "tokens_per_s", .numbers = speeds + i},
                                         {.name = "energy_mj", .numbers = energies + i},
                                         {.name = "status", .texts = statuses + i}};
        if (!dse_points_evaluate(p, n, in, 3, out, 3, NULL)) abort();
    }
}

int main(void)
{
    struct diags diags;
    diags_init(&diags);
    struct catalog *catalog = catalog_open(&diags);
    struct binding *lad = catalog ? binding_new(registry_find("lad"), catalog, catalog_data_dir(), &diags) : NULL;
    if (!lad) abort();
    for (size_t i = 0; i < POINTS; i++) {
        tiles[i] = (double)(1 + i % TILES);
        contexts[i] = (double)(64 * (1 + i / TILES % CONTEXTS));
        srams[i] = 0.5 + 0.25 * (double)(i / TILES / CONTEXTS);
    }
    struct dse *d = dse_open(NULL, NULL);
    struct dse_points *p = d ? dse_points_new(d, "lad", NULL) : NULL;
    if (!p || !dse_points_set(p, "capacity_gib", "1024", NULL)) abort();
    struct row_check *check = row_check_new(&dse_model_lad);
    enum { WAYS = 4, CHECKED = 1 };
    static const char *const names[WAYS] = {"the model alone", "with what rows must satisfy", "libdse, batches of 1000",
                                            "libdse, one batch"};
    double best[WAYS] = {INFINITY, INFINITY, INFINITY, INFINITY};
    for (int pass = 0; pass < bench_size(PASSES, 1); pass++)
        for (int k = 0; k < WAYS; k++) {
            const double start = cpu_s();
            if (k <= CHECKED)
                run_bare(lad->defaults, k == CHECKED ? check : NULL);
            else
                run_library(p, k == CHECKED + 1 ? 1000 : POINTS);
            best[k] = fmin(best[k], 1e9 * (cpu_s() - start) / POINTS);
        }
    printf("%-28s %12s %8s %8s\n", "lad, 3 inputs, 3 outputs", "ns a point", "more", "ratio");
    for (int k = 0; k < WAYS; k++)
        printf("%-28s %12.0f %+8.0f %8.2f\n", names[k], best[k], best[k] - best[CHECKED], best[k] / best[CHECKED]);
    struct bench_row row =
        bench_row_open("a point of LAD through libdse, in batches of 1000, over the model with the checks of its row");
    bench_part(&row, "%.2f times the time: %.0f ns, %+.0f", best[CHECKED + 1] / best[CHECKED], best[CHECKED + 1],
               best[CHECKED + 1] - best[CHECKED]);
    bench_row_close(&row);
    row_check_free(check);
    dse_points_free(p);
    dse_close(d);
    binding_free(lad);
    catalog_free(catalog);
    return 0;
}
