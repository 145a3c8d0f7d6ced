/* For tests of the flashdecoding model: points by name, as a user sets them, and their metrics, equations and parts. */
#ifndef DSE_TESTS_FLASHDECODING_TEST_H
#define DSE_TESTS_FLASHDECODING_TEST_H

#include "by_name.h"

#include <dse/units.h>

#define FD_METRICS(X) \
    X(tokens_per_s) \
    X(latency_us) \
    X(attention_us) \
    X(energy_mj) \
    X(power_w) \
    X(dram_mib) \
    X(area_mm2) \
    X(compute_utilization) \
    X(linear_us) \
    X(sync_us) \
    X(launch_wait_us) \
    X(communication_us) \
    X(cached_positions) \
    X(technique_us) \
    X(technique_mib) \
    X(retained_mass) \
    X(attention_error) \
    X(energy_links_mj) \
    X(dram_footprint_gib) \
    X(used_clock_ghz) \
    X(fitting_tokens) \
    X(fitting_sequences) \
    X(gemv_us) \
    X(flat_gemm_us) \
    X(library_gemm_us) \
    X(vendor_gemm_us) \
    X(flat_utilization) \
    X(flat_tile_n) \
    X(flat_blocks) \
    X(flat_waves)

#define FD_EQUATIONS(X) \
    X(async_speedup) \
    X(inside_percent) \
    X(recompute_at_9999_percent) \
    X(exponent_range) \
    X(eq5_ratio) \
    X(eq5_tiles) \
    X(eq5_parallelism) \
    X(flat_load_us) \
    X(flat_sm_us) \
    X(flat_exposed) \
    X(library_load_us) \
    X(underused_percent) \
    X(flat_underused_percent) \
    X(tile_l1_kib) \
    X(tile_fits) \
    X(qkv_n) \
    X(qkv_k) \
    X(qkv_m1) \
    X(qkv_m2) \
    X(output_n) \
    X(output_k) \
    X(output_m1) \
    X(output_m2) \
    X(ffn_up_n) \
    X(ffn_up_k) \
    X(ffn_up_m1) \
    X(ffn_up_m2) \
    X(ffn_down_n) \
    X(ffn_down_k) \
    X(ffn_down_m1) \
    X(ffn_down_m2) \
    X(moe_us) \
    X(moe_gemm_us) \
    X(moe_touched) \
    X(moe_rows) \
    X(moe_weights_mib) \
    X(mla_us) \
    X(mla_expanding_us) \
    X(mla_cache_mib) \
    X(mla_gflop) \
    X(stream_us) \
    X(collective_us)

#define FIELD(name) double name;
struct metrics {
    const char *bound, *gemm_kernel;
    FD_METRICS(FIELD)
};
struct equations {
    FD_EQUATIONS(FIELD)
};
#undef FIELD

/* The defaults with settings "NAME=VALUE", separated by blanks; wrong settings fail the test. Boards have no limit that slows their
 * kernels, unless `settings` say what power is. */
static inline struct point point(const char *settings)
{
    char *text = xasprintf("%s%s", settings, strstr(settings, "power=") ? "" : " power=constant");
    const struct point p = point_of("flashdecoding", text);
    free(text);
    return p;
}

/* A random point, some of whose parameters differ from those of `base`. False: it is infeasible. */
static inline bool random_near(const struct point *base, double share, struct point *ret)
{
    ret->model = base->model;
    return random_point(base->model, base->params, share, ret->params);
}

static inline const struct dse_workload *work_of(const struct point *p)
{
    return (const void *)(p->params + param_of(p, "llm")->offset - offsetof(struct dse_workload, llm));
}

static inline const struct dse_llm *llm_of(const struct point *p)
{
    return work_of(p)->llm;
}

/* An LLM, of the catalog or not. */
static inline void set_llm(struct point *p, const struct dse_llm *llm)
{
    put(p, param_of(p, "llm"), (struct value){.ref = &llm->entry});
}

static inline const struct dse_gpu *board_of(const struct point *p)
{
    return (const void *)field_get(param_of(p, "gpu"), p->params).ref;
}

static inline bool is_chosen(const struct point *p, const char *name, const char *choice)
{
    const struct field *f = param_of(p, name);
    return strcmp(f->choices[field_get(f, p->params).choice], choice) == 0;
}

static inline double devices_of(const struct point *p)
{
    return (double)dse_workload_chips(work_of(p));
}

static inline const char *choice_of(const struct model *m, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&m->metrics, name);
    return f->choices[field_get(f, metrics).choice];
}

static inline struct metrics metrics_of(const struct model *m, const void *all)
{
#define READ(name) .name = named_metric(m, all, #name),
    return (struct metrics){.bound = choice_of(m, all, "bound"), .gemm_kernel = choice_of(m, all, "gemm_kernel"), FD_METRICS(READ)};
#undef READ
}

/* The metrics of a point that must be feasible; `parts` may be NULL. */
static inline struct metrics broken_down(const struct point *p, struct dse_breakdown *parts)
{
    const char *why = refusal(p);
    if (why) fail_msg("infeasible: %s", why);
    void *all = xcalloc(1, p->model->desc->metrics_size);
    if (parts) parts->n = parts->n_causes = 0;
    p->model->desc->estimate(p->params, all, parts);
    const struct metrics ret = metrics_of(p->model, all);
    free(all);
    return ret;
}

static inline struct metrics estimated(const struct point *p)
{
    return broken_down(p, NULL);
}

static inline struct dse_breakdown parts_of(const struct point *p)
{
    struct dse_breakdown parts;
    broken_down(p, &parts);
    return parts;
}

static inline const struct dse_part *part_named(const struct dse_breakdown *b, const char *name)
{
    for (int i = 0; i < b->n; i++)
        if (strcmp(b->part[i].name, name) == 0) return &b->part[i];
    fail_msg("no part %s", name);
    return NULL;
}

static inline struct equations equated(const struct point *p)
{
    void *all = xcalloc(1, p->model->desc->equations_size);
    p->model->desc->equate(p->params, all);
#define READ(name) .name = field_number(schema_find(&p->model->equations, #name), all),
    const struct equations ret = {FD_EQUATIONS(READ)};
#undef READ
    free(all);
    return ret;
}

static inline void assert_near(double a, double b, double relative)
{
    if (!(fabs(a - b) <= relative * fabs(b))) fail_msg("%.12g is not %.12g", a, b);
}

#endif
