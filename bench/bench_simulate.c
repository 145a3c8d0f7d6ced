/* Time of every model's event level: one run of a point, on one core, over random feasible points near the defaults. CPU time a
 * run, mean and of the slowest hundredth, events a run, and how many times the closed form of the same points it takes. To reach:
 * under 1 s.
 *
 * `bench_simulate step`: a decode step of LAD-3.5, LLaMA2-7B, 4096 positions, 12 sequences. A layer is what the second one adds
 * to a run of one; the step is the default, two layers for all. To reach: a layer in 2 s, the step in 4. `bench_simulate layers`:
 * all 32 layers, to reach: 60 s. */
#include "../tests/unit/model_points.h"
#include "sim/sim.h"

#include <time.h>

enum { POINTS = 200, TRIALS = 20000, CLOSED_REPEAT = 50 };
static const double budget_ns = 5e9; /* of a model; fewer points then */

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct sums {
    double run[POINTS], runs, closed, events; /* nanoseconds */
    size_t n, refused, failed;
};

static void add(struct sums *s, const struct model *m, const void *params, void *metrics, struct dse_sim *sim)
{
    sim_reset(sim, NULL);
    double start = cpu_ns();
    if (!m->desc->simulate(params, sim, metrics, NULL)) {
        *(sim_end(sim) == SIM_REFUSED ? &s->refused : &s->failed) += 1;
        return;
    }
    s->run[s->n] = cpu_ns() - start;
    s->runs += s->run[s->n++];
    s->events += (double)sim_events(sim);
    start = cpu_ns();
    for (int i = 0; i < CLOSED_REPEAT; i++) m->desc->estimate(params, metrics, NULL);
    s->closed += (cpu_ns() - start) / CLOSED_REPEAT;
}

static void bench_model(const struct model *m)
{
    const double ns_per_ms = 1e6;
    struct one o;
    if (!one_init(&o, m, NULL, 0)) abort();
    void *params = xmalloc(m->desc->params_size), *metrics = xmalloc(m->desc->metrics_size);
    struct dse_sim *sim = sim_new(NULL);
    struct sums s = {.n = 0};
    for (int i = 0; i < TRIALS && s.n < POINTS && s.runs < budget_ns; i++)
        if (random_point(m, space_fixed(o.space), 0.1, params)) add(&s, m, params, metrics, sim);
    if (s.failed) printf("%s: %zu runs failed\n", m->desc->name, s.failed);
    if (s.refused) printf("%s: %zu more points have a DRAM that the event level refuses\n", m->desc->name, s.refused);
    if (s.n == 0) abort();
    qsort(s.run, s.n, sizeof *s.run, ascending);
    printf("%-16s %14.3f %14.3f %14.0f %14.0f\n", m->desc->name, s.runs / (double)s.n / ns_per_ms,
           s.run[s.n - 1 - s.n / 100] / ns_per_ms, s.events / (double)s.n, s.runs / s.closed);
    sim_free(sim);
    free(params);
    free(metrics);
    one_release(&o);
}

/* ---- a step of LAD ------------------------------------------------------------------------------------------------------- */

/* CPU seconds of a run of LAD-3.5 with so many layers, 0: all; *ret_us: its time of a step. */
static double step_seconds(int layers, double *ret_us)
{
    char sram[] = "sram_mib=3.5", context[] = "context=4096", count[32];
    snprintf(count, sizeof count, "layers_simulated=%d", layers);
    char *const settings[] = {sram, context, count};
    struct one o;
    const struct model *m = registry_find("lad");
    if (!m || !one_init(&o, m, settings, sizeof settings / sizeof *settings)) abort();
    struct dse_common *metrics = xmalloc(m->desc->metrics_size);
    struct dse_sim *sim = sim_new(NULL);
    double start = cpu_ns();
    if (!m->desc->simulate(space_fixed(o.space), sim, metrics, NULL)) abort();
    double seconds = (cpu_ns() - start) / 1e9;
    *ret_us = metrics->latency_us;
    sim_free(sim);
    free(metrics);
    one_release(&o);
    return seconds;
}

static void print_step(const char *what, double seconds, double target, double us)
{
    printf("%-28s %10.2f s: %5.2f of %2.0f s; a step takes %.0f us\n", what, seconds, seconds / target, target, us);
}

/* The least of three runs: the others had company. */
static double least_seconds(int layers, double *ret_us)
{
    double least = step_seconds(layers, ret_us);
    for (int i = 1; i < 3; i++) least = fmin(least, step_seconds(layers, ret_us));
    return least;
}

static void bench_step(void)
{
    double us;
    double one = least_seconds(1, &us), two = least_seconds(2, &us);
    print_step("a layer", two - one, 2, us);
    print_step("the step, of two layers", two, 4, us);
}

static void bench_layers(void)
{
    double us, all = step_seconds(0, &us);
    print_step("all 32 layers", all, 60, us);
}

static void bench_models(void)
{
    size_t n;
    const struct model *models = registry_models(&n);
    printf("%-16s %14s %14s %14s %14s\n", "ms a run", "mean", "slowest 1 %", "events", "closed forms");
    for (size_t m = 0; m < n; m++)
        if (models[m].desc->simulate) bench_model(&models[m]);
}

int main(int argc, char **argv)
{
    if (set_up(NULL) != 0) return 1;
    if (argc > 1 && strcmp(argv[1], "step") == 0)
        bench_step();
    else if (argc > 1 && strcmp(argv[1], "layers") == 0)
        bench_layers();
    else
        bench_models();
    return tear_down(NULL);
}
