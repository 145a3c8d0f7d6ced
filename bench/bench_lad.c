/* Time of LAD's closed form: resolve, check and estimate of a point, on one core, over the grid of sweeps/lad_sram.toml and
 * variants. Prints CPU nanoseconds a point, the best of several passes, and each variant's ratio to the first. */
#include "bench.h"
#include "../tests/unit/lad_fixture.h"

#include <stdio.h>

enum { PASSES = 5 };

/* Evaluate the grid once; returns how many points, adds to *ret_sum so that nothing is optimised away. */
static size_t run_grid(const struct lad_fixture *f, struct lad_params p, double *ret_sum)
{
    static const char *const llms[] = {"opt-2.7b", "opt-6.7b", "llama2-7b", "llama2-13b", "llama3-8b"};
    size_t n = 0;
    for (size_t l = 0; l < 5; l++) {
        p.workload.llm = fixture_llm(f, llms[l]);
        for (p.workload.context = 512; p.workload.context <= 4096; p.workload.context += 512)
            for (p.tiles = 1; p.tiles <= 16; p.tiles++)
                for (p.sram_mib = 0.5; p.sram_mib <= 8; p.sram_mib += 0.25, n++) {
                    struct lad_params point = p; /* a sweep fills in a fresh struct for every point */
                    struct lad_metrics m;
                    dse_model_lad.resolve(&point);
                    if (dse_model_lad.check(&point)) continue;
                    dse_model_lad.estimate(&point, &m, NULL);
                    *ret_sum += m.common.tokens_per_s + m.common.energy_mj;
                }
    }
    return n;
}

static double ns_a_point(const struct lad_fixture *f, const struct lad_params *p)
{
    double best = INFINITY, sum = 0;
    for (int i = 0; i < bench_size(PASSES, 1); i++) {
        double start = cpu_s();
        size_t n = run_grid(f, *p, &sum);
        double ns = 1e9 * (cpu_s() - start) / (double)n;
        if (ns < best) best = ns;
    }
    if (!(sum > 0)) abort();
    return best;
}

int main(void)
{
    struct lad_fixture f;
    lad_fixture_init(&f);
    struct lad_params base = f.defaults;
    base.dram.capacity_gib = 1024; /* no point is refused for its batch: check and estimate both run */
    struct lad_params one_head = base, exact = base, best_batch = base, full = base, prefill = base;
    one_head.local.active_cv = 0;
    exact.pipeline = LAD_EXACT;
    best_batch.batch_policy = LAD_BATCH_BEST_THROUGHPUT;
    best_batch.workload.batch = 256;
    full.local.decoding = DSE_FULL_CACHE;
    prefill.workload.phase = DSE_PREFILL;
    const struct {
        const char *name;
        const struct lad_params *p;
    } variants[] = {{"defaults", &base},   {"all heads alike", &one_head}, {"exact pipeline", &exact},
                    {"full cache", &full}, {"prefill", &prefill},          {"best batch of 256", &best_batch}};
    double first = 0, with_exact = 0;
    printf("%-20s %12s %8s\n", "lad closed form", "ns a point", "ratio");
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        double ns = ns_a_point(&f, variants[i].p);
        if (i == 0) first = ns;
        if (variants[i].p == &exact) with_exact = ns;
        printf("%-20s %12.0f %8.2f\n", variants[i].name, ns, ns / first);
    }
    struct bench_row row = bench_row_open("closed form of LAD");
    bench_part(&row, "%.0f ns a point and core", first);
    bench_part(&row, "%.0f with the exact pipeline", with_exact);
    bench_row_close(&row);
    lad_fixture_release(&f);
    return 0;
}
