/* Time of every model's closed form on LLMs of today: resolve, check and estimate of a point, on one core, CPU nanoseconds, the
 * best of several passes. To reach: 1500 ns of DeepSeek-V3 (61 layers), on one chip and on several. */
#include "bench.h"
#include "../tests/unit/model_points.h"

enum { PASSES = 400, REPEAT = 50 };

static const struct {
    const char *llm;
    int64_t tensor, data, expert;
} cases[] = {{"llama2-7b", 1, 1, 1},   {"gpt-oss-20b", 1, 1, 1},  {"qwen3-30b-a3b", 1, 1, 1},
             {"deepseek-v3", 1, 1, 1}, {"deepseek-v3", 8, 4, 32}, {"jamba-v0.1", 1, 1, 1}};
enum { DEEPSEEK = 3 }; /* of these, on one chip */

static void put(const struct model *m, void *params, const char *name, struct value v)
{
    const struct field *f = schema_find(&m->params, name);
    if (f) field_set(f, params, v);
}

/* VEDA's defaults evict, which needs dense LLMs. */
static void keep_all(const struct model *m, void *params)
{
    const struct field *f = schema_find(&m->params, "eviction");
    for (int32_t i = 0; f && f->choices[i]; i++)
        if (strcmp(f->choices[i], "none") == 0) field_set(f, params, (struct value){.choice = i});
}

/* 0: the model refuses it. */
static void print_case(const char *model, size_t which, double ns, struct bench_row *row)
{
    if (ns > 0)
        printf(" %17.0f", ns);
    else
        printf(" %17s", "refused");
    if (which == DEEPSEEK && ns > 0) bench_part(row, "%s %.2f us", model, ns / 1000);
}

static double measure(const struct model *m, const struct one *o, size_t which)
{
    const struct dse_entry *llm = catalog_find(catalog, DSE_KIND_LLM, cases[which].llm);
    char *point = xmalloc(m->desc->params_size), *params = xmalloc(m->desc->params_size),
         *metrics = xcalloc(1, m->desc->metrics_size);
    double best = (double)INFINITY;
    memcpy(point, space_fixed(o->space), m->desc->params_size);
    if (llm) put(m, point, "llm", (struct value){.ref = llm});
    keep_all(m, point);
    put(m, point, "capacity_gib", (struct value){.f64 = 1e5});
    put(m, point, "batch", (struct value){.i64 = 32});
    put(m, point, "tensor_parallel", (struct value){.i64 = cases[which].tensor});
    put(m, point, "data_parallel", (struct value){.i64 = cases[which].data});
    put(m, point, "expert_parallel", (struct value){.i64 = cases[which].expert});
    memcpy(params, point, m->desc->params_size);
    if (m->desc->resolve) m->desc->resolve(params);
    bool feasible = llm && !(m->desc->check && m->desc->check(params));
    for (int pass = 0; pass < bench_size(PASSES, 4) && feasible; pass++) {
        const double start = cpu_ns();
        for (int k = 0; k < REPEAT; k++) {
            memcpy(params, point, m->desc->params_size); /* as a sweep does */
            if (m->desc->resolve) m->desc->resolve(params);
            feasible &= !(m->desc->check && m->desc->check(params));
            m->desc->estimate(params, metrics, NULL);
        }
        best = fmin(best, (cpu_ns() - start) / REPEAT);
    }
    free(point);
    free(params);
    free(metrics);
    return feasible ? best : 0;
}

int main(void)
{
    size_t n;
    if (set_up(NULL)) return 1;
    const struct model *models = registry_models(&n);
    struct bench_row row = bench_row_open("closed form of DeepSeek-V3 on one chip, a point and core");
    printf("%-16s", "ns a point");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        printf(" %13s x%-2d", cases[c].llm, (int)(cases[c].tensor * cases[c].data));
    printf("\n");
    for (size_t m = 0; m < n; m++) {
        struct one o;
        if (!one_init(&o, &models[m], NULL, 0)) return 1;
        printf("%-16s", models[m].desc->name);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            print_case(models[m].desc->name, c, measure(&models[m], &o, c), &row);
        printf("\n");
        one_release(&o);
    }
    bench_row_close(&row);
    tear_down(NULL);
    return 0;
}
