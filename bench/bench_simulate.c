/* Time of every model's event level: one run of a point, on one core, over random feasible points near the defaults. CPU time a
 * run, mean and of the slowest hundredth, events a run, and how many times the closed form of the same points it takes. Runs of
 * more than 10 s are cut off and counted. To reach: 50 ms, 1 s of the slowest hundredth. With the name of a model: that alone.
 *
 * `bench_simulate step`: a decode step of LAD-3.5, LLaMA2-7B, 4096 positions, 12 sequences. A layer is what the second one adds
 * to a run of one; the step is the default, two layers for all. To reach: a layer in 0.3 s, the step in 0.8. `bench_simulate
 * layers`: all 32 layers, to reach: 8 s. */
#include "bench.h"
#include "../tests/unit/random_runs.h"
#include "sim/sim.h"

enum { CUT_MAX = 5, LIMIT_S = 10, POINTS = 200, TRIALS = 20000, CLOSED_REPEAT = 50 };
/* The short form has the small LLM and the small defaults of the tests. */
static bool is_short(void)
{
    return bench_size(0, 1);
}

/* A timer of the process makes its own clock coarse, but not that of its only thread. */
static double thread_ns(void)
{
    return 1e9 * bench_clock_s(CLOCK_THREAD_CPUTIME_ID);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct sums {
    double run[POINTS], runs, closed, events, spent; /* nanoseconds; spent: those that were cut off, too */
    size_t n, refused, failed, cut;
};

static void add(struct sums *s, const struct model *m, const void *params, void *metrics, struct dse_sim *sim)
{
    sim_reset(sim, &(struct sim_options){.stop = &random_stop});
    random_runs_limit(LIMIT_S);
    double start = thread_ns();
    const bool done = m->desc->simulate(params, sim, metrics, NULL);
    const double took = thread_ns() - start;
    s->spent += took;
    if (!done) {
        *(sim_end(sim) == SIM_REFUSED ? &s->refused : sim_end(sim) == SIM_STOPPED ? &s->cut : &s->failed) += 1;
        return;
    }
    s->run[s->n] = took;
    s->runs += s->run[s->n++];
    s->events += (double)sim_events(sim);
    start = thread_ns();
    for (int i = 0; i < CLOSED_REPEAT; i++) m->desc->estimate(params, metrics, NULL);
    s->closed += (thread_ns() - start) / CLOSED_REPEAT;
}

static void print_sums(const struct model *m, struct sums *s, struct bench_row *row)
{
    const double ns_per_ms = 1e6;
    qsort(s->run, s->n, sizeof *s->run, ascending);
    printf("%-16s %14.3f %14.3f %14.0f %14.0f\n", m->desc->name, s->runs / (double)s->n / ns_per_ms,
           s->run[s->n - 1 - s->n / 100] / ns_per_ms, s->events / (double)s->n, s->runs / s->closed);
    bench_part(row, "%s %.1f ms, 99 of 100 within %.1f s (%zu runs, %zu more cut off)", m->desc->name,
               s->runs / (double)s->n / ns_per_ms, s->run[s->n - 1 - s->n / 100] * 1e-9, s->n, s->cut);
    fflush(stdout);
}

/* False: a run failed, or none ended. */
static bool bench_model(const struct model *m, struct bench_row *row)
{
    const double ns_per_ms = 1e6, budget_ns = bench_size(20000, 50) * ns_per_ms; /* of a model; fewer points then */
    struct one o;
    char *small[SMALL];
    if (!one_init(&o, m, small, is_short() ? small_settings(m, small) : 0)) abort();
    void *params = xmalloc(m->desc->params_size), *metrics = xmalloc(m->desc->metrics_size);
    struct dse_sim *sim = sim_new(NULL);
    struct sums s = {.n = 0};
    for (int i = 0; i < TRIALS && s.n < POINTS && s.cut < CUT_MAX && (s.n == 0 || s.spent < budget_ns); i++)
        if (random_point(m, space_fixed(o.space), 0.1, params)) add(&s, m, params, metrics, sim);
    if (s.failed) printf("%s: %zu runs failed\n", m->desc->name, s.failed);
    if (s.refused) printf("%s: %zu more points have a DRAM that the event level refuses\n", m->desc->name, s.refused);
    if (s.cut) printf("%s: %zu runs of more than 10 s cut off\n", m->desc->name, s.cut);
    if (s.n) print_sums(m, &s, row);
    sim_free(sim);
    free(params);
    free(metrics);
    one_release(&o);
    return s.failed == 0 && s.n > 0;
}

/* ---- a step of LAD ------------------------------------------------------------------------------------------------------- */

/* CPU seconds of a run of LAD-3.5 with so many layers, 0: all; *ret_us: its time of a step. */
static double step_seconds(int layers, double *ret_us)
{
    char sram[] = "sram_mib=3.5", llm[] = "llm=thin", batch[] = "batch=1", context[32], count[32];
    snprintf(context, sizeof context, "context=%d", bench_size(4096, 256));
    snprintf(count, sizeof count, "layers_simulated=%d", layers);
    char *const settings[] = {sram, context, count, llm, batch};
    struct one o;
    const struct model *m = registry_find("lad");
    if (!m || !one_init(&o, m, settings, is_short() ? 5 : 3)) abort();
    struct dse_common *metrics = xmalloc(m->desc->metrics_size);
    struct dse_sim *sim = sim_new(NULL);
    double start = thread_ns();
    if (!m->desc->simulate(space_fixed(o.space), sim, metrics, NULL)) abort();
    double seconds = (thread_ns() - start) / 1e9;
    *ret_us = metrics->latency_us;
    sim_free(sim);
    free(metrics);
    one_release(&o);
    return seconds;
}

static void print_step(const char *what, double seconds, double target, double us)
{
    printf("%-28s %10.2f s: %5.2f of %3.1f s; a step takes %.0f us\n", what, seconds, seconds / target, target, us);
}

/* The least of three runs: the others had company. */
static double least_seconds(int layers, double *ret_us)
{
    double least = step_seconds(layers, ret_us);
    for (int i = 1; i < bench_size(3, 1); i++) least = fmin(least, step_seconds(layers, ret_us));
    return least;
}

static void bench_step(void)
{
    double us;
    double one = least_seconds(1, &us), two = least_seconds(2, &us);
    print_step("a layer", two - one, 0.3, us);
    print_step("the step, of two layers", two, 0.8, us);
    struct bench_row row = bench_row_open("LAD-3.5 at event level, burst by burst: LLaMA2-7B, 4096 positions, 12 sequences");
    bench_part(&row, "a layer %.2f s CPU", two - one);
    bench_part(&row, "the step of two layers %.2f s", two);
    bench_row_close(&row);
}

static void bench_layers(void)
{
    double us, all = step_seconds(0, &us);
    print_step("all 32 layers", all, 8, us);
    struct bench_row row = bench_row_open("LAD-3.5 at event level, as above, all 32 layers");
    bench_part(&row, "%.1f s CPU", all);
    bench_row_close(&row);
}

/* All models, or the one called `only`. */
static bool bench_models(const char *only)
{
    bool ok = true;
    size_t n;
    const struct model *models = registry_models(&n);
    printf("%-16s %14s %14s %14s %14s\n", "ms a run", "mean", "slowest 1 %", "events", "closed forms");
    struct bench_row row = bench_row_open("event level of random points near the defaults, CPU time of a run; cut off after 10 s");
    for (size_t m = 0; m < n; m++) {
        const struct dse_model *desc = models[m].desc;
        if (desc->simulate && (!only || strcmp(desc->name, only) == 0)) ok = bench_model(&models[m], &row) && ok;
    }
    bench_row_close(&row);
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = true;
    if ((is_short() ? set_up_thin(NULL) : set_up(NULL)) != 0) return 1;
    if (argc > 1 && strcmp(argv[1], "step") == 0)
        bench_step();
    else if (argc > 1 && strcmp(argv[1], "layers") == 0)
        bench_layers();
    else
        ok = bench_models(argc > 1 ? argv[1] : NULL);
    return tear_down(NULL) != 0 || !ok;
}
