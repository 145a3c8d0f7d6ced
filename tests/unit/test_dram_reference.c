/* The event-level DRAM against 179 runs of DRAMsim3 and Ramulator 2.1, each with its own memory of the catalog.
 * "test_dram_reference all" has them all; without an argument those of fewer requests, and a sample of each kind of the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dram_fixture.h"

static struct entries memories;
static bool all;

/* Is it one for the short test? */
static bool is_sampled(const struct rows *r, size_t i)
{
    const char *pattern = rows_string(r, i, "pattern"), *front = rows_string(r, i, "frontend"),
               *config = rows_string(r, i, "config");
    if (all || rows_number(r, i, "n_requests") < 150000) return true;
    if (strcmp(front, "inorder") == 0) return strcmp(pattern, "chunk256_rd") == 0;
    if (strcmp(config, "ds3_hbm2_8ch") != 0 && strcmp(config, "r2_hbm2_8ch_q64") != 0) return strcmp(pattern, "chunk256_rd") == 0;
    static const char *const sample[] = {"seq_rd",      "seq_wr",        "rw_g256_al", "rnd64_rd",
                                         "chunk256_wr", "lad_n2048_il8", "rate_det_50"};
    for (size_t k = 0; k < sizeof sample / sizeof *sample; k++)
        if (strcmp(pattern, sample[k]) == 0) return true;
    return false;
}

static double off(double got, double want)
{
    return fabs(got - want) / fmax(1, fabs(want));
}

/* Not only within a few per cent: clock for clock. */
static void runs__take_the_clocks_that_the_simulators_take(void **state)
{
    (void)state;
    struct rows r;
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/dram/hbm_reference.csv");
    struct dram_result *result = xcalloc(1, sizeof *result);
    size_t n = 0;
    for (size_t i = 0; i < r.n; i++) {
        if (!is_sampled(&r, i)) continue;
        struct dse_memory m;
        struct dram_spec spec;
        struct dram_map map;
        const char *config = rows_string(&r, i, "config"), *name = rows_string(&r, i, "pattern"),
                   *front = rows_string(&r, i, "frontend");
        fixture_reference(&memories, config, rows_string(&r, i, "mapping"), &m, &spec, &map);
        const struct dram_setup setup = {
            .spec = &spec, .map = &map, .front = strcmp(front, "inorder") == 0 ? DRAM_IN_ORDER : DRAM_PER_CHANNEL};
        char *pattern = fixture_pattern(name);
        fixture_run(&setup, pattern, result);
        free(pattern);
        const double reads = rows_number(&r, i, "lat_mean_ns") > 0;
        const struct {
            const char *what;
            double got, want, tolerance;
        } checks[] = {
            {"requests", (double)result->requests, rows_number(&r, i, "n_segments"), 0},
            {"bursts", (double)result->bursts, rows_number(&r, i, "n_requests"), 0},
            {"bytes", (double)result->bytes, rows_number(&r, i, "req_bytes"), 0},
            {"clocks", (double)result->clocks, rows_number(&r, i, "cycles"), 0},
            {"reads", (double)result->tally.reads, rows_number(&r, i, "dram_rd"), 0},
            {"writes", (double)result->tally.writes, rows_number(&r, i, "dram_wr"), 0},
            {"activates", (double)result->tally.activates, rows_number(&r, i, "act_cmds"), 0},
            {"mean latency", dram_latency_mean(&result->latency), reads ? rows_number(&r, i, "lat_mean_ns") : (double)NAN, 1e-5},
            {"median latency", dram_latency_quantile(&result->latency, 0.5), reads ? rows_number(&r, i, "lat_p50_ns") : (double)NAN,
             0.011},
            {"99 % latency", dram_latency_quantile(&result->latency, 0.99), reads ? rows_number(&r, i, "lat_p99_ns") : (double)NAN,
             0.011},
            {"total latency", dram_latency_mean(&result->total), rows_number(&r, i, "tot_mean_ns"), 1e-5},
            {"row hits", (double)result->tally.hits / (double)(result->tally.hits + result->tally.misses),
             rows_number(&r, i, "row_hit_rate"), 1e-4},
            {"energy", result->energy_pj, rows_number(&r, i, "energy_pj"), 1e-5},
            {"energy of activates", result->act_pj, rows_number(&r, i, "e_act_pj"), 1e-9},
            {"energy of reads", result->rd_pj, rows_number(&r, i, "e_rd_pj"), 1e-9},
            {"energy of refreshes", result->ref_pj, rows_number(&r, i, "e_ref_pj"), 1e-9},
        };
        for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
            if (isnan(checks[k].want) || off(checks[k].got, checks[k].want) <= checks[k].tolerance) continue;
            fail_msg("%s %s %s %s: %s %.10g, not %.10g", config, rows_string(&r, i, "mapping"), front, name, checks[k].what,
                     checks[k].got, checks[k].want);
        }
        n++;
    }
    print_message("%zu of %zu reference runs agree\n", n, r.n);
    assert_true(n == (all ? r.n : n) && n >= 60 && r.n == 179);
    free(result);
    rows_release(&r);
}

int main(int argc, char **argv)
{
    all = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs__take_the_clocks_that_the_simulators_take)};
    entries_read(&memories, dse_memory_fields, "memories.toml");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    entries_release(&memories);
    return failed;
}
