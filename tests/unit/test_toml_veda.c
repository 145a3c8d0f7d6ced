/* VEDA's closed form in TOML (examples/veda.toml) against the model in C, at random points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model_points.h"
#include "samples.h"
#include "toml_model/toml_model.h"
#include "veda/veda.h"

static const struct model *in_c, *in_toml;

static int load(void **state)
{
    if (set_up(state) != 0) return -1;
    char *file = xasprintf("%s/examples/veda.toml", catalog_data_dir());
    const bool ok = toml_model_load(file, &diags);
    free(file);
    diags_print(&diags, stderr, false);
    in_c = registry_find("veda");
    in_toml = registry_find("veda_toml");
    return ok ? 0 : -1;
}

/* The parameters that both have. */
static void copy(const void *from, void *to)
{
    for (size_t i = 0; i < in_toml->params.n; i++) {
        const struct field *f = &in_toml->params.fields[i], *c = schema_find(&in_c->params, f->name);
        assert_non_null(c);
        assert_int_equal(c->type, f->type);
        field_set(f, to, field_get(c, from));
    }
}

/* What a number is alike to: itself; what is left of a difference of times, the time of the step. */
static double scale_of(const struct field *f, double number, const void *metrics)
{
    const bool left = strstr(f->name, "_exposed_us") != NULL;
    return left ? field_number(schema_find(&in_c->metrics, "latency_us"), metrics) : fabs(number);
}

static void assert_same_metrics(const void *c, const void *toml, double *worst)
{
    for (size_t i = 0; i < in_toml->metrics.n; i++) {
        const struct field *f = &in_toml->metrics.fields[i], *of = schema_find(&in_c->metrics, f->name);
        assert_non_null(of);
        if (f->without) continue;
        if (f->type == DSE_TYPE_ENUM) {
            assert_int_equal(field_get(of, c).choice, field_get(f, toml).choice);
            continue;
        }
        const double a = field_number(of, c), b = field_number(f, toml);
        if (a == b || (isnan(a) && isnan(b))) continue;
        const double off = fabs(a - b) / scale_of(of, a, c);
        if (!(off <= 1e-12)) fail_msg("%s is %.17g in C and %.17g in TOML", f->name, a, b);
        *worst = fmax(*worst, off);
    }
}

static bool is_plain(const void *params)
{
    return !dse_workload_unknown(&((const struct veda_params *)params)->workload, DSE_CAN_SCALES);
}

/* A part of the points runs any LLM, on several chips, with drafts, chunks or unequal contexts, of which few are feasible with all
 * else at random. */
static void mix_in(const void *other, unsigned which, void *point)
{
    static const char *const rows[][8] = {
        {"llm", "phase", "context", "batch"},
        {"llm", "phase", "tensor_parallel", "pipeline_parallel", "expert_parallel", "data_parallel", "context", "batch"},
        {"llm", "draft_tokens", "drafter", "draft", "context"},
        {"llm", "chunk_tokens", "chunk_context", "context_spread", "latent_form", "routing"},
        {"prompt", "generate", "eviction", "boundary", "eviction_ratio", "phase", "context"},
        {"prompt", "generate", "llm", "tensor_parallel", "interconnect", "area", "technology"},
    };
    const unsigned row = which % (sizeof rows / sizeof *rows);
    for (int i = 0; i < 8 && rows[row][i]; i++) {
        const struct field *f = schema_find(&in_c->params, rows[row][i]);
        field_set(f, point, field_get(f, other));
    }
    if (row != 4) field_set(schema_find(&in_c->params, "eviction"), point, (struct value){.choice = 0});
    if (which % 2) field_set(schema_find(&in_c->params, "buffer_kib"), point, (struct value){.f64 = 16384});
    in_c->desc->resolve(point);
    field_set(schema_find(&in_c->params, "capacity_gib"), point, (struct value){.f64 = 4096});
}

/* A point that VEDA in C refuses, for what its chip is made of for example, is no point of the other. */
static void veda__is_the_same_in_toml(void **state)
{
    (void)state;
    struct one o;
    assert_true(one_init(&o, in_c, NULL, 0));
    void *c = xcalloc(1, in_c->desc->params_size), *toml = xcalloc(1, in_toml->desc->params_size);
    void *c_metrics = xcalloc(1, in_c->desc->metrics_size), *toml_metrics = xcalloc(1, in_toml->desc->metrics_size);
    void *other = xcalloc(1, in_c->desc->params_size);
    int compared = 0, plain = 0;
    double worst = 0;
    for (int trial = 0; trial < samples(20000, 400000); trial++) {
        static const double shares[] = {0.02, 0.05, 0.1, 0.3};
        random_point(in_c, space_fixed(o.space), shares[trial % 4], c);
        random_point(in_c, space_fixed(o.space), 1, other);
        if (trial % 7) mix_in(other, (unsigned)trial % 7 - 1, c);
        copy(c, toml);
        const char *why = in_toml->desc->check(toml), *in = in_c->desc->check(c);
        if (!why != !in) fail_msg("in TOML it is refused: %s; in C: %s", why ? why : "no", in ? in : "no");
        if (why) continue;
        in_c->desc->estimate(c, c_metrics, NULL);
        in_toml->desc->estimate(toml, toml_metrics, NULL);
        const bool counts = !dse_eviction_at(((const struct veda_params *)c)->cache.eviction)->keeps_all &&
                            ((const struct veda_params *)c)->workload.phase == DSE_PREFILL && !is_plain(c);
        if (counts) continue; /* C does not count what a prompt on several chips writes (E10) */
        assert_same_metrics(c_metrics, toml_metrics, &worst);
        compared++;
        plain += is_plain(c);
    }
    print_message("%d points of %zu metrics, %d of them dense, alike to %.1g\n", compared, in_toml->metrics.n, plain, worst);
    assert_true(compared > 500);
    free(c);
    free(other);
    free(toml);
    free(c_metrics);
    free(toml_metrics);
    one_release(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(veda__is_the_same_in_toml)};
    return cmocka_run_group_tests_name("toml_veda", tests, load, tear_down);
}
