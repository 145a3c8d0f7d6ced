/* Numbers of models as they were before a model was written anew, at random points: tests/data/frozen/NAME.csv. A change alarm: a
 * model change that is meant writes the answers again (DSE_FREEZE=1), and says so.
 *
 * A point is drawn name by name, so that it stays the same when parameters are added or stand in another order. A line has its
 * place in the sequence, a digest of its parameters, and either what refuses it, as a digest, or one number that every metric
 * moves: the sum of their logarithms with weights of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model_points.h"

#include <inttypes.h>

enum { POINTS = 10000, REFUSED_EVERY = 16, LINE = 256 };

static uint64_t digest_of(const char *text, uint64_t from)
{
    for (; *text; text++) from = (from ^ (unsigned char)*text) * 0x100000001b3;
    from = (from ^ from >> 33) * 0xff51afd7ed558ccd;
    return from ^ from >> 29;
}

/* ---- points ------------------------------------------------------------------------------------------------------------------ */

/* The entry that this draw takes, whatever other entries there are. */
static struct value entry_drawn(const struct field *f, uint64_t draw)
{
    const struct dse_entry *found = NULL, *e;
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; (e = catalog_at(catalog, f->kind, i)); i++) {
        const uint64_t d = digest_of(e->name, draw);
        if (d < least) found = e;
        if (d < least) least = d;
    }
    return (struct value){.ref = found};
}

/* How often the parameter is not the default: those of which most values fit nothing less often. */
static double share_of(const char *name, double share)
{
    static const char *const seldom[] = {"parallel",   "banks",   "bytes",     "interleave", "context_spread", "chunk_",
                                         "scale_bits", "draft_",  "accept",    "column",     "activation",     "vote_fifo",
                                         "devices",    "refresh", "processor", "fpga",       "resident_"};
    for (size_t i = 0; i < sizeof seldom / sizeof *seldom; i++)
        if (strstr(name, seldom[i]) || strncmp(name, "t_", 2) == 0) return share / 10;
    return share;
}

/* What a kind of points draws always: other LLMs, several chips, drafts, chunks, generations; and what is the model's own. */
static const char *const kinds_of_all[] = {
    " ",
    " llm phase context batch attention value_update kv_fetch weight_reuse query_rows overlap expert_dispatch ",
    " llm phase context tensor_parallel pipeline_parallel data_parallel expert_parallel interconnect head attention ",
    " llm draft_tokens drafter draft context head gemv_mapping ",
    " llm chunk_tokens context_spread latent_form routing kv_bits attention block ",
    " eviction boundary eviction_ratio prompt generate phase context attention value_update arithmetic_error ",
    " llm prompt generate area power technology clock_ghz memory clock_mhz lut_bits q_frac_bits kv_fetch gemv_stalls cache"
    " layout npu ",
    " llm phase context batch pipeline_parallel data_parallel interconnect query_rows ",
    " eviction eviction_ratio query_rows head_rows joining ",
    " llm draft_tokens drafter query_rows expert_dispatch layout "};
static const char *const kinds_of_lad[] = {
    " ",
    " llm phase context batch batch_policy ",
    " llm phase context tensor_parallel pipeline_parallel data_parallel expert_parallel interconnect ",
    " llm draft_tokens drafter draft context decoding ",
    " llm chunk_tokens context_spread latent_form routing kv_bits ",
    " eviction boundary eviction_ratio decoding phase context ",
    " llm area power technology clock_ghz memory sram sram_word_bits ",
    " draws profile recording intervals recent context center_scale active_cv ",
    " llm batch context slots fill gather prefetch vain_prefetch counters pipeline ",
    " llm batch context group_reads kv_scale_bits vpu_eas vpu_md vpu_ac vpu_width tiles draws ",
    " batch context batch_policy tiles elementwise draws prefetch ",
};
static const char *const kinds_of_flashdecoding[] = {
    " ",
    " llm phase context batch engine gpu ",
    " llm phase context batch engine gpu tensor_parallel pipeline_parallel data_parallel expert_parallel collectives ",
    " llm draft_tokens drafter draft context engine gpu ",
    " llm chunk_tokens context_spread latent_form routing kv_bits latent_heads engine expert_tiles expert_ties ",
    " eviction boundary eviction_ratio phase context kv_format kv_residual engine gpu arithmetic_error ",
    " llm format weight_bits activation_bits weight_scale_bits kv_bits kv_scale_bits engine gpu narrow_numbers quantizing"
    " phase batch"
    " context ",
    " clock_ghz sms board_power_w gpu engine power phase batch context llm ",
    " gemm gemm_m gemm_k gemm_n tile_n tile_k pad_rows double_buffering resident_blocks batch gpu engine cache cache_turns ",
    " llm batch context phase kernel_losses dataflow softmax launches elementwise_kernels split_positions attention_tile ",
    " llm batch context phase engine gpu sms bandwidth_gbs l1_kib l2_mib tensor_tflops vector_tflops capacity_gib ",
    " llm batch context tensor_parallel gpu tenure engine prices price_year costs ",
};
/* Values among which three of four points are drawn: the whole range fits nothing more often. */
struct near {
    const char *name;
    double least, most;
};
static const struct near near_lad[] = {
    {"context", 512, 4096},
    {"batch", 1, 48},
    {"tiles", 1, 16},
    {"sram_mib", 1.5, 3.5},
    {"clock_ghz", 0.3, 1.4},
    {"intervals", 5, 12},
    {"recent", 0, 64},
    {"active_cv", 0, 2},
    {"center_scale", 0.2, 2},
    {"vpu_eas", 1, 8},
    {"vpu_md", 1, 8},
    {"vpu_ac", 1, 8},
    {"kv_bits", 4, 16},
    {"kv_scale_bits", 0, 2},
    {"sram_word_bits", 8, 512},
    {"tensor_parallel", 1, 4},
    {"apid_width", 1, 64},
    {"chunk_tokens", 0, 2048},
    {"pipeline_parallel", 1, 4},
    {"data_parallel", 1, 4},
    {"vpu_width", 32, 512},
    {"draft_tokens", 0, 8},
    {"expert_parallel", 1, 4},
    {"context_spread", 0, 1},
    {NULL, 0, 0},
};
static const struct near near_flashdecoding[] = {
    {"context", 128, 8192},
    {"batch", 1, 128},
    {"clock_ghz", 0.5, 2.5},
    {"sms", 32, 256},
    {"board_power_w", 150, 1000},
    {"pad_rows", 1, 64},
    {"tensor_parallel", 1, 8},
    {"pipeline_parallel", 1, 4},
    {"data_parallel", 1, 4},
    {"expert_parallel", 1, 4},
    {"draft_tokens", 0, 8},
    {"chunk_tokens", 0, 2048},
    {"context_spread", 0, 1},
    {"kv_bits", 4, 16},
    {"kv_scale_bits", 0, 2},
    {"weight_bits", 4, 16},
    {"weight_scale_bits", 0, 1},
    {"activation_bits", 4, 16},
    {"gemm_m", 0, 512},
    {"gemm_k", 128, 16384},
    {"gemm_n", 128, 32768},
    {"tile_n", 0, 512},
    {"tile_k", 16, 256},
    {"resident_blocks", 1, 4},
    {"elementwise_kernels", 0, 12},
    {"split_positions", 0, 2048},
    {"attention_tile", 32, 256},
    {"bandwidth_gbs", 300, 8000},
    {"l1_kib", 64, 512},
    {"l2_mib", 4, 128},
    {"tensor_tflops", 50, 2500},
    {"vector_tflops", 10, 100},
    {"cache_turns", 1, 8},
    {"latent_heads", 0, 64},
    {"devices_per_server", 1, 16},
    {NULL, 0, 0},
};
/* A model was frozen with the first `n` of `kinds`; `evicting` has a bit for each kind that may have eviction. */
static const struct frozen {
    const char *model, *const *kinds;
    int n, evicting;
    const struct near *near;
} frozen[] = {{"veda", kinds_of_all, 7, 0x161, NULL},
              {"swiftkv", kinds_of_all, 7, 0x161, NULL},
              {"ane", kinds_of_all, 10, 0x161, NULL},
              {"lad", kinds_of_lad, 11, 0x7e1, near_lad},
              {"flashdecoding", kinds_of_flashdecoding, 12, 0x21, near_flashdecoding}};

static const struct frozen *frozen_of(const struct model *m)
{
    int i = 0;
    while (strcmp(frozen[i].model, m->desc->name) != 0) i++;
    return &frozen[i];
}

static bool is_of_kind(const char *name, const char *kind)
{
    char *word = xasprintf(" %s ", name);
    const bool ret = strstr(kind, word) != NULL;
    free(word);
    return ret;
}

/* A number that the model makes of others as long as none is given: it is none, unless it is drawn. */
static bool is_left_open(const struct field *f)
{
    static const char *const open[] = {"gemv_dsps", "fxp_dsps", "static_share", "value_bits", "exchange_bits"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (strcmp(f->name, open[i]) == 0) return true;
    return false;
}

/* What the point has, drawn or not: room on the chip and beside it, and no eviction. */
static bool is_eased(const struct field *f, const struct frozen *of, int kind, struct value *ret)
{
    enum { LARGE_GIB = 4096, LARGE_KIB = 16384 };
    static const double large_mib = 3.5; /* of the table of LAD's paper */
    const bool large = kind > 0 && strcmp(f->name, "capacity_gib") == 0, buffer = kind % 2 && strcmp(f->name, "buffer_kib") == 0,
               sram = kind % 2 && strcmp(f->name, "sram_mib") == 0,
               off = !(of->evicting >> kind & 1) && strcmp(f->name, "eviction") == 0;
    *ret = off ? (struct value){.choice = 0} : (struct value){.f64 = large ? LARGE_GIB : buffer ? LARGE_KIB : large_mib};
    return large || buffer || sram || off;
}

static struct value value_drawn(const struct field *f, const struct near *near, int i, uint64_t draw)
{
    struct field closer = *f;
    for (; near && near->name && i / 4 % 4; near++)
        if (strcmp(near->name, f->name) == 0) closer.min = near->least, closer.max = near->most;
    if (strcmp(f->name, "batch") == 0) closer.max = fmin(closer.max, 4096); /* as it was */
    return f->type == DSE_TYPE_REF ? entry_drawn(f, draw) : random_value_of(&closer, catalog, &draw);
}

/* Draw point i of the sequence. */
/* Parameters that are not among `names`, between blanks, keep their defaults: they came later than the file. */
static void draw_point(const struct model *m, const char *names, const void *base, int i, void *ret)
{
    static const double shares[] = {0.02, 0.05, 0.1, 0.2};
    const struct frozen *of = frozen_of(m);
    const int kind = i % of->n;
    memcpy(ret, base, m->desc->params_size);
    for (size_t k = 0; k < m->params.n; k++) {
        const struct field *f = &m->params.fields[k];
        uint64_t draw = digest_of(f->name, (uint64_t)i * 0x9e3779b97f4a7c15);
        struct value v;
        char *word = xasprintf(" %s ", f->name);
        const bool is_later = strcmp(f->name, "value_bits") == 0 || strcmp(f->name, "exchange_bits") == 0,
                   is_known = f->without || f->may_be_auto || strstr(names, word);
        free(word);
        if (is_left_open(f)) field_set(f, ret, (struct value){.f64 = (double)NAN});
        if (is_later || !is_known) continue;
        const bool eased = is_eased(f, of, kind, &v);
        if (eased) field_set(f, ret, v);
        if (eased || !(random_uniform(&draw) < share_of(f->name, shares[i % 4]) || is_of_kind(f->name, of->kinds[kind]))) continue;
        field_set(f, ret, value_drawn(f, of->near, i, draw));
    }
    if (m->desc->resolve) m->desc->resolve(ret);
}

/* Parameters that were there when the file was written, `names` between blanks. */
static uint64_t digest_of_params(const struct model *m, const char *names, const void *params)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < m->params.n; k++) {
        const struct field *f = &m->params.fields[k];
        char *word = xasprintf(" %s ", f->name), number[64];
        const struct value v = field_get(f, params);
        const char *text = number;
        if (f->type == DSE_TYPE_REF)
            text = v.ref->name;
        else if (f->type == DSE_TYPE_ENUM)
            text = f->choices[v.choice];
        else
            snprintf(number, sizeof number, "%.17g", field_number(f, params));
        if (strstr(names, word)) sum += digest_of(text, digest_of(f->name, 1));
        free(word);
    }
    return sum;
}

/* ---- answers ----------------------------------------------------------------------------------------------------------------- */

/* What is left of a difference of times is small beside the step, and no more exact than that. */
static double term(const struct field *f, const struct model *m, const void *metrics)
{
    if (f->type == DSE_TYPE_ENUM) return field_get(f, metrics).choice;
    const double x = field_number(f, metrics), step = field_number(schema_find(&m->metrics, "latency_us"), metrics);
    enum { NONE = 777, ZERO = 555 };
    if (strstr(f->name, "_exposed_us")) return log2(1 + x / step);
    return isnan(x) ? NONE : x == 0 ? ZERO : log2(fabs(x)) + (x < 0);
}

static double sum_of(const struct model *m, const char *names, const void *metrics)
{
    double sum = 0;
    for (size_t k = 0; k < m->metrics.n; k++) {
        const struct field *f = &m->metrics.fields[k];
        char *word = xasprintf(" %s ", f->name);
        if (strstr(names, word)) sum += (0.5 + (double)(digest_of(f->name, 7) >> 40) / (1 << 24)) * term(f, m, metrics);
        free(word);
    }
    return sum;
}

static void answer(const struct model *m, const char *names, const void *params, void *metrics, char ret[LINE])
{
    const char *why = m->desc->check(params);
    if (!why) m->desc->estimate(params, metrics, NULL);
    if (why)
        snprintf(ret, LINE, "refused %08" PRIx32, (uint32_t)digest_of(why, 3));
    else
        snprintf(ret, LINE, "%.17g", sum_of(m, names, metrics));
}

/* ---- the file ---------------------------------------------------------------------------------------------------------------- */

static char *path_of(const char *model)
{
    return xasprintf("%s/tests/data/frozen/%s.csv", catalog_data_dir(), model);
}

/* What may be "auto" is left out: whether a model keeps it or computes a number of it is no matter of its answers. */
static void names_of(const struct schema *s, char *ret, size_t size)
{
    size_t n = (size_t)snprintf(ret, size, " ");
    for (size_t k = 0; k < s->n; k++)
        if (!s->fields[k].without && !s->fields[k].may_be_auto) n += (size_t)snprintf(ret + n, size - n, "%s ", s->fields[k].name);
}

static void freeze(const struct model *m, const void *base)
{
    enum { NAMES = 16384 };
    char *file = path_of(m->desc->name), params[NAMES], metrics[NAMES], line[LINE];
    FILE *out = fopen(file, "w");
    void *p = xcalloc(1, m->desc->params_size), *r = xcalloc(1, m->desc->metrics_size);
    names_of(&m->params, params, sizeof params);
    names_of(&m->metrics, metrics, sizeof metrics);
    fprintf(out, "%s\n%s\n", params, metrics);
    for (int i = 0, n = 0; n < POINTS; i++) {
        draw_point(m, params, base, i, p);
        if (m->desc->check(p) && i % REFUSED_EVERY) continue;
        answer(m, metrics, p, r, line);
        fprintf(out, "%d,%08" PRIx32 ",%s\n", i, (uint32_t)digest_of_params(m, params, p), line);
        n++;
    }
    fclose(out);
    free(p);
    free(r);
    free(file);
}

/* True: the same. */
static bool is_same(const char *was, const char *is)
{
    const bool refused = strncmp(was, "refused", 7) == 0;
    if (refused || strncmp(is, "refused", 7) == 0) return strcmp(was, is) == 0;
    return fabs(strtod(was, NULL) - strtod(is, NULL)) <= 1e-10;
}

/* Write the answers again, of the same points. */
static void renew(const struct model *m, const void *base)
{
    enum { NAMES = 16384 };
    char *file = path_of(m->desc->name), params[NAMES], metrics[NAMES], line[LINE];
    FILE *in = fopen(file, "r");
    int at[POINTS], n = 0;
    if (!in) {
        freeze(m, base);
        free(file);
        return;
    }
    assert_true(fgets(params, sizeof params, in) && fgets(metrics, sizeof metrics, in));
    while (n < POINTS && fgets(line, sizeof line, in)) at[n++] = (int)strtol(line, NULL, 10);
    fclose(in);
    FILE *out = fopen(file, "w");
    void *p = xcalloc(1, m->desc->params_size), *r = xcalloc(1, m->desc->metrics_size);
    fprintf(out, "%s%s", params, metrics);
    for (int i = 0; i < n; i++) {
        draw_point(m, params, base, at[i], p);
        answer(m, metrics, p, r, line);
        fprintf(out, "%d,%08" PRIx32 ",%s\n", at[i], (uint32_t)digest_of_params(m, params, p), line);
    }
    fclose(out);
    free(p);
    free(r);
    free(file);
}

static void compare(const struct model *m, const void *base)
{
    enum { NAMES = 16384, SHOWN = 10 };
    char *file = path_of(m->desc->name), params[NAMES], metrics[NAMES], line[LINE], is[LINE];
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    void *p = xcalloc(1, m->desc->params_size), *r = xcalloc(1, m->desc->metrics_size);
    assert_true(fgets(params, sizeof params, in) && fgets(metrics, sizeof metrics, in));
    int n = 0, other = 0, off = 0;
    while (fgets(line, sizeof line, in)) {
        char *rest, *was;
        const int i = (int)strtol(line, &rest, 10);
        const uint32_t drawn = (uint32_t)strtoul(rest + 1, &was, 16);
        was[strcspn(was, "\n")] = '\0';
        draw_point(m, params, base, i, p);
        n++;
        if (drawn != (uint32_t)digest_of_params(m, params, p)) {
            other++;
            continue;
        }
        answer(m, metrics, p, r, is);
        if (is_same(was + 1, is)) continue;
        if (off++ < SHOWN) print_message("%s: point %d was %s and is %s\n", m->desc->name, i, was + 1, is);
    }
    print_message("%s: %d points, %d of them drawn differently since, %d off\n", m->desc->name, n, other, off);
    assert_int_equal(n, POINTS);
    assert_int_equal(off, 0);
    assert_true(other < POINTS / 5);
    fclose(in);
    free(p);
    free(r);
    free(file);
}

static void models__have_the_numbers_they_had(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof frozen / sizeof *frozen; i++) {
        const struct model *m = registry_find(frozen[i].model);
        struct one o;
        assert_true(one_init(&o, m, NULL, 0));
        (getenv("DSE_FREEZE") ? renew : compare)(m, space_fixed(o.space));
        one_release(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models__have_the_numbers_they_had)};
    return cmocka_run_group_tests_name("frozen", tests, set_up, tear_down);
}
