/* What [requests] costs: CPU nanoseconds of a row that is the mean over 64 requests, for each of them, beside those of a plain
 * row at one context. Evaluation alone, no store; one core, the best of several passes. To reach: within a fifth of the plain
 * row. */
#include "bench.h"
#include "../tests/unit/model_points.h"

enum { PASSES = 7, ROWS = 512 };

/* A space of ROWS machines that serve what `workload` says. */
static struct sweep_file *read_sweep(const struct model *m, const char *workload)
{
    /* LAD by what its paper publishes: of measured heads long requests do not fit its SRAM */
    const char *published = strcmp(m->desc->name, "lad") == 0 ? "draws = 'profile'\nintervals = 5\n" : "";
    char *text =
        xasprintf("sweep = { name = 't', models = ['%s'] }\n[params]\nllm = 'llama2-7b'\nweight_bits = 4\ncapacity_gib = 200\n"
                  "bandwidth_gbs = { from = 100, to = 1000, points = %d }\n%s%s\n"
                  "[quality]\nexact = false\nattention_error = inf\ntrust = 'unknown'\n"
                  "[objectives]\ntokens_per_s = 'max'\n",
                  m->desc->name, (int)ROWS, published, workload);
    struct sweep_file *s = sweep_file_read_text("t.toml", text, strlen(text), catalog, DSE_SOURCE_DATA, &diags);
    free(text);
    return s;
}

/* Nanoseconds a row; *ret_requests: of so many requests. */
static double measure(const struct model *m, const char *workload, size_t *ret_requests)
{
    struct sweep_file *s = read_sweep(m, workload);
    struct space *sp = s ? space_new(s, 0, ROWS, &diags) : NULL;
    if (!sp) {
        diags_print(&diags, stderr, false);
        exit(1);
    }
    size_t columns;
    space_columns(sp, &columns);
    union cell *cells = xcalloc(ROWS * columns, sizeof *cells);
    struct row *rows = xcalloc(ROWS, sizeof *rows);
    struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    const size_t n = (size_t)bench_size(ROWS, 16);
    double best = INFINITY;
    for (int pass = 0; pass < bench_size(PASSES, 1); pass++) {
        double start = cpu_ns();
        evaluator_run(e, 0, n, cells, rows);
        best = fmin(best, (cpu_ns() - start) / (double)n);
    }
    for (size_t i = 0; i < n; i++)
        if (rows[i].reason) {
            fprintf(stderr, "%s: %s\n", m->desc->name, rows[i].reason);
            exit(1);
        }
    *ret_requests = space_requests(sp) ? space_requests(sp)->n : 1;
    evaluator_free(e);
    free(cells);
    free(rows);
    space_free(sp);
    sweep_file_free(s);
    return best;
}

int main(void)
{
    if (set_up(NULL) != 0) return 1;
    size_t n, one, many;
    const struct model *models = registry_models(&n);
    struct bench_row row = bench_row_open("a row that is the mean over requests, for each of them, over a plain row");
    printf("%-16s %14s %14s %8s\n", "ns", "a plain row", "a request", "ratio");
    for (size_t m = 0; m < n; m++) {
        double plain = measure(&models[m], "context = 1896", &one),
               mix = measure(&models[m], "[requests]\nmix = 'translation'", &many);
        printf("%-16s %14.0f %14.0f %8.2f\n", models[m].desc->name, plain, mix / (double)many, mix / (double)many / plain);
        bench_part(&row, "%s %.2f times", models[m].desc->name, mix / (double)many / plain);
    }
    bench_row_close(&row);
    return tear_down(NULL);
}
