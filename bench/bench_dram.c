/* The event-level DRAM: how it agrees with DRAMsim3 and Ramulator 2.1 on every reference run (`bench_dram agree`), how the closed
 * form compares (`bench_dram law`), and how many bursts it simulates a second of CPU time, beside theirs. Their speeds are those
 * of the reference runs (cpu_s of tests/data/dram/hbm_reference.csv), measured on another day on a machine of two cores: read the
 * ratios, not the rates. */
#include "bench.h"
#include "../tests/unit/dram_fixture.h"
#include "sim/sim.h"

#include <dse/dram_port.h>
#include <stdio.h>

static struct entries memories;

struct error {
    double sum, worst;
    int n;
};

static void add(struct error *e, double got, double want)
{
    if (!(want > 0)) return;
    const double off = fabs(got / want - 1);
    e->sum += off;
    if (off > e->worst) e->worst = off;
    e->n++;
}

static const char *family_of(const char *pattern)
{
    static const char *const families[][2] = {{"seq", "streams"}, {"rw_", "copies"},   {"rnd", "random"},      {"chunk", "chunks"},
                                              {"lad", "LAD"},     {"stri", "strided"}, {"rate", "under load"}, {"idle", "idle"}};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strncmp(pattern, families[i][0], strlen(families[i][0])) == 0) return families[i][1];
    return "other";
}

/* Mean and worst error of each kind of pattern. */
static void agree(const struct rows *r)
{
    static const char *const names[] = {"streams", "copies", "random", "chunks", "LAD", "strided", "under load", "idle"};
    struct dram_result *result = xcalloc(1, sizeof *result);
    struct error all[2] = {{0}};
    const size_t step = (size_t)bench_size(1, 24);
    printf("%-14s %-11s %5s %22s %22s %22s\n", "simulator", "patterns", "runs", "bandwidth mean, worst", "latency mean, worst",
           "energy mean, worst");
    for (int sim = 0; sim < 2; sim++)
        for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
            struct error bandwidth = {0}, latency = {0}, energy = {0};
            for (size_t i = 0; i < r->n; i += step) {
                const char *config = rows_string(r, i, "config"), *pattern = rows_string(r, i, "pattern");
                if ((config[0] == 'r') != sim || strcmp(family_of(pattern), names[f]) != 0) continue;
                struct dse_memory m;
                struct dram_spec spec;
                struct dram_map map;
                fixture_reference(&memories, config, rows_string(r, i, "mapping"), &m, &spec, &map);
                char *text = fixture_pattern(pattern);
                fixture_run(&(struct dram_setup){.spec = &spec,
                                                 .map = &map,
                                                 .front = strcmp(rows_string(r, i, "frontend"), "inorder") == 0 ? DRAM_IN_ORDER
                                                                                                                : DRAM_PER_CHANNEL},
                            text, result);
                free(text);
                const double gbs = (double)result->bytes / result->time_ns;
                add(&bandwidth, gbs, rows_number(r, i, "bw_GBps"));
                add(&all[sim], gbs, rows_number(r, i, "bw_GBps"));
                add(&latency, dram_latency_mean(&result->latency) * spec.clock_ns, rows_number(r, i, "lat_mean_ns"));
                add(&energy, result->energy_pj, rows_number(r, i, "energy_pj"));
            }
            if (bandwidth.n == 0) continue;
            printf("%-14s %-11s %5d %13.4f %% %.4f %% %11.4f %% %.4f %%", sim ? "Ramulator 2.1" : "DRAMsim3", names[f], bandwidth.n,
                   100 * bandwidth.sum / bandwidth.n, 100 * bandwidth.worst, latency.n ? 100 * latency.sum / latency.n : 0,
                   100 * latency.worst);
            if (energy.n) printf(" %11.4f %% %.4f %%", 100 * energy.sum / energy.n, 100 * energy.worst);
            printf("\n");
        }
    struct bench_row row =
        bench_row_open("bandwidth burst by burst beside simulators clock by clock, the pattern that is farthest off");
    bench_part(&row, "%d runs of DRAMsim3: off by %.2g %%", all[0].n, 100 * all[0].worst);
    bench_part(&row, "%d of Ramulator 2.1: %.2g %%", all[1].n, 100 * all[1].worst);
    bench_row_close(&row);
    free(result);
}

static void speed(const struct rows *r)
{
    static const char *const patterns[] = {"seq_rd", "chunk256_rd", "lad_n2048_il8", "rnd64_rd", "rate_det_10"};
    struct dram_result *result = xcalloc(1, sizeof *result);
    double least = HUGE_VAL, most = 0;
    struct bench_row row = bench_row_open("DRAM burst by burst, over simulators clock by clock as they ran elsewhere");
    for (size_t i = 0; i < r->n; i++) {
        const char *config = rows_string(r, i, "config"), *pattern = rows_string(r, i, "pattern");
        bool wanted = false;
        for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) wanted |= strcmp(pattern, patterns[k]) == 0;
        if (!wanted || strcmp(rows_string(r, i, "frontend"), "perch") != 0 || strcmp(rows_string(r, i, "mapping"), "c256") != 0)
            continue;
        if (strcmp(config, "ds3_hbm2_8ch") != 0 && strcmp(config, "r2_hbm2_8ch_q64") != 0) continue;
        struct dse_memory m;
        struct dram_spec spec;
        struct dram_map map;
        fixture_reference(&memories, config, "c256", &m, &spec, &map);
        char *text = fixture_pattern(pattern);
        double best = 0;
        for (int pass = 0; pass < bench_size(3, 1); pass++) {
            const double start = cpu_s();
            fixture_run(&(struct dram_setup){.spec = &spec, .map = &map}, text, result);
            const double rate = (double)result->bursts / (cpu_s() - start) * 1e-6;
            if (rate > best) best = rate;
        }
        free(text);
        printf("   %-14s %-14s %6.2f M bursts/s: %4.0f times its %.2f\n", rows_string(r, i, "sim"), pattern, best,
               best / rows_number(r, i, "mreq_per_cpu_s"), rows_number(r, i, "mreq_per_cpu_s"));
        least = fmin(least, best / rows_number(r, i, "mreq_per_cpu_s"));
        most = fmax(most, best / rows_number(r, i, "mreq_per_cpu_s"));
        if (strcmp(pattern, "seq_rd") == 0 || strcmp(pattern, "rnd64_rd") == 0)
            bench_part(&row, "%.1f million bursts a second of CPU as %s %s", best, rows_string(r, i, "sim"),
                       *pattern == 's' ? "on a stream" : "on random 64 B");
    }
    bench_part(&row, "%.0f to %.0f times their rates", least, most);
    bench_row_close(&row);
    free(result);
}

/* ---- a layer of LAD through the port ------------------------------------------------------------------------------------- */

static void nothing(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim;
    (void)object;
    (void)arg;
}

static bool next_key(void *object, uint32_t arg, struct dse_segment *ret)
{
    struct dram_pattern *p = object;
    struct dram_request q;
    (void)arg;
    if (!dram_pattern_source(p)->next(dram_pattern_source(p), &q, NULL)) return false;
    *ret = (struct dse_segment){q.address, q.bytes, false};
    return true;
}

/* Returns CPU seconds. */
static double port(const char *what, bool weights, bool keys)
{
    struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, "hbm2-5cube");
    m.entry.name = "hbm2-5cube";
    const struct dse_dram d = fixture_dram(&m);
    struct dse_sim *sim = sim_new(NULL);
    struct dse_dram_port *p = dse_dram_open(sim, &d);
    const uint32_t actor = dse_sim_actor(sim, nothing, NULL);
    struct diags diags;
    diags_init(&diags);
    char *random = xasprintf("random,size=256,count=%d,footprint=1GiB", bench_size(1500000, 10000));
    struct dram_pattern *pattern = dram_pattern_new(random, 1, "pattern", &diags);
    free(random);
    if (weights)
        dse_dram_stream(p, (struct dse_segment){UINT64_C(2) << 30, (uint64_t)bench_size(400000000, 4000000), false}, "weights",
                        actor, 0);
    if (keys)
        dse_dram_start(
            p, &(struct dse_transfer){.next = next_key, .object = pattern, .label = "keys", .access_bytes = 256, .actor = actor});
    const double start = cpu_s();
    if (!dse_sim_run(sim)) abort();
    const double took = cpu_s() - start;
    const struct dse_dram_stats s = dse_dram_stats(p, NULL);
    printf("   %-44s %5.2f s, %5.1f M bursts/s, %4.0f us simulated\n", what, took, (double)s.bursts / took * 1e-6,
           dse_s_of_ps(dse_sim_now(sim)) * 1e6);
    dram_pattern_free(pattern);
    diags_release(&diags);
    sim_free(sim);
    return took;
}

/* Share of the peak at random accesses of some sizes: the controller's, and how far the law of dse_dram_efficiency is from it. */
static void law(void)
{
    static const int sizes[] = {32, 64, 128, 256, 512, 1024, 4096};
    struct dram_result *result = xcalloc(1, sizeof *result);
    printf("%-22s", "memory");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) printf(" %10d B", sizes[k]);
    printf("\n");
    for (size_t i = 0; i < memories.n; i++) {
        struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, memories.name[i]);
        struct dse_dram d = fixture_dram(&m);
        struct dram_spec spec;
        struct dram_map map;
        d.dram_efficiency = 1;
        char *why = dram_spec_init(&spec, &d, true);
        if (why) abort();
        dram_map_default(&map, &spec);
        printf("%-22s", memories.name[i]);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            char *text = xasprintf("random,size=%d,count=%lld,footprint=4GiB", sizes[k], (long long)m.channels * 800000 / sizes[k]);
            fixture_run(&(struct dram_setup){.spec = &spec, .map = &map}, text, result);
            free(text);
            const double share = (double)result->bytes / result->time_ns / dram_spec_peak_gbs(&spec);
            printf("  %.3f%+5.0f %%", share, 100 * (dse_dram_efficiency(&d, sizes[k]) / share - 1));
        }
        printf("\n");
    }
    free(result);
}

int main(int argc, char **argv)
{
    struct rows r;
    entries_read(&memories, dse_memory_fields, "memories.toml");
    rows_read_csv(&r, DSE_SOURCE_DATA "/tests/data/dram/hbm_reference.csv");
    if (argc > 1 && strcmp(argv[1], "agree") == 0) {
        agree(&r);
    } else if (argc > 1 && strcmp(argv[1], "law") == 0) {
        law();
    } else {
        speed(&r);
        port("weights of a layer, 400 MB, 80 channels", true, false);
        port("1.5 million keys of 256 B at random", false, true);
        struct bench_row row =
            bench_row_open("DRAM of a layer of LAD burst by burst: 400 MB of weights and 1.5 million keys of 256 B at random");
        bench_part(&row, "%.2f s CPU", port("both at once: a layer of LAD", true, true));
        bench_row_close(&row);
    }
    rows_release(&r);
    entries_release(&memories);
    return 0;
}
