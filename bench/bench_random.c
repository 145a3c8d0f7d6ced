/* Random feasible points of every model that has an event level, N of each at both fidelities (tests/unit/random_runs.h). None
 * may fail, and no number may be other than a number. A run that takes more than a second of CPU time is cut off and counted
 * apart.
 *
 *     bench_random [N [MODEL [FIRST]]]      N points (1000), of one model, from number FIRST on (0) */
#include "bench.h"
#include "../tests/unit/random_runs.h"

enum { POINTS = 1000 };
static const double LATE_S = 2; /* a run that does not end when told to */

/* Far apart: the largest and the smallest ratio of a metric at event level to that in closed form. */
struct extremes {
    double ratio[2];
    uint64_t number[2];
};
static const char *const compared[] = {"latency_us", "attention_us", "energy_mj", "dram_mib"};
enum { COMPARED = sizeof compared / sizeof *compared };

static void compare(struct extremes *list, const struct random_runs *r, uint64_t number)
{
    for (int i = 0; i < COMPARED; i++) {
        double ratio = metric_at(r->model, r->events, compared[i]) / metric_at(r->model, r->closed, compared[i]);
        if (ratio < list[i].ratio[0] || list[i].ratio[0] == 0) list[i].ratio[0] = ratio, list[i].number[0] = number;
        if (ratio > list[i].ratio[1]) list[i].ratio[1] = ratio, list[i].number[1] = number;
    }
}

static size_t run_model(const struct model *m, uint64_t first, uint64_t n, struct bench_row *row)
{
    struct one defaults, small;
    char *settings[SMALL];
    if (!one_init(&defaults, m, NULL, 0) || !one_init(&small, m, settings, small_settings(m, settings))) abort();
    struct random_runs r;
    random_runs_init(&r, &defaults, &small, &(struct sim_options){.stop = &random_stop});
    uint64_t ends[RANDOM_ENDS] = {0};
    struct extremes far[COMPARED] = {0};
    double slowest = 0;
    for (uint64_t i = first; i < first + n; i++) {
        random_runs_limit(1);
        double start = cpu_s();
        enum random_end end = random_run(&r, i);
        const double took = cpu_s() - start;
        slowest = fmax(slowest, took);
        if (end == RANDOM_DONE) compare(far, &r, i);
        ends[end]++;
        if (n > 1 && (end == RANDOM_DONE || end == RANDOM_CUT) && took < LATE_S) continue;
        printf("%s %llu %s after %.2f s: %s\n   dse eval %s --fidelity event-level", m->desc->name, (unsigned long long)i,
               random_end_names[end], took, r.why, m->desc->name);
        print_settings(&r, stdout);
        putchar('\n');
        fflush(stdout);
    }
    printf("%-16s", m->desc->name);
    for (int i = 0; i < RANDOM_ENDS; i++) printf(" %8llu %s", (unsigned long long)ends[i], random_end_names[i]);
    printf(", longest %.2f s; %llu draws refused\n", slowest, (unsigned long long)r.refusals.all);
    bench_part(row, "%s %llu done and %llu cut off", m->desc->name, (unsigned long long)ends[RANDOM_DONE],
               (unsigned long long)ends[RANDOM_CUT]);
    for (int i = 0; i < REASONS_MAX && r.refusals.reason[i]; i++)
        printf("   %8llu %s\n", (unsigned long long)r.refusals.n[i], r.refusals.reason[i]);
    for (int i = 0; i < COMPARED; i++)
        printf("   %-14s %10.4f (point %llu) to %10.4f (point %llu) of the closed form\n", compared[i], far[i].ratio[0],
               (unsigned long long)far[i].number[0], far[i].ratio[1], (unsigned long long)far[i].number[1]);
    fflush(stdout);
    random_runs_release(&r);
    one_release(&defaults);
    one_release(&small);
    return ends[RANDOM_FAILED] + ends[RANDOM_WRONG] + ends[RANDOM_NONE];
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : (uint64_t)bench_size(POINTS, 2),
             first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    size_t models, bad = 0;
    if (set_up_thin(NULL) != 0) return 1;
    const struct model *list = registry_models(&models);
    struct bench_row row =
        bench_row_open("random feasible points of each model at both fidelities, none failed or wrong; cut off after 1 s of CPU");
    for (size_t i = 0; i < models; i++) {
        bool asked = argc <= 2 || strcmp(argv[2], list[i].desc->name) == 0;
        if (asked && fidelity_of_model(list[i].desc, FIDELITY_EVENT_LEVEL)) bad += run_model(&list[i], first, n, &row);
    }
    bench_row_close(&row);
    return tear_down(NULL) != 0 || bad > 0;
}
