/* Numbers of models as they were before a model was written anew, at random points: tests/data/frozen/NAME.csv. A change alarm: a
 * model change that is meant writes them again (DSE_FREEZE=1), and says so.
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
                                         "devices",    "refresh", "processor", "fpga"};
    for (size_t i = 0; i < sizeof seldom / sizeof *seldom; i++)
        if (strstr(name, seldom[i]) || strncmp(name, "t_", 2) == 0) return share / 10;
    return share;
}

/* What a kind of points has besides: other LLMs, several chips, drafts, chunks, generations. */
static bool is_of_kind(const char *name, int kind)
{
    static const char *const kinds[] = {
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
    char *word = xasprintf(" %s ", name);
    const bool ret = strstr(kinds[kind], word) != NULL;
    free(word);
    return ret;
}

/* A number that the model makes of others as long as none is given: it is none, unless it is drawn. */
static bool is_left_open(const struct field *f)
{
    static const char *const open[] = {"gemv_dsps", "fxp_dsps", "static_share"};
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (strcmp(f->name, open[i]) == 0) return true;
    return false;
}

/* Of the kinds those that were there when the model was frozen. */
static const struct frozen {
    const char *model;
    int kinds;
} frozen[] = {{"veda", 7}, {"swiftkv", 7}, {"ane", 10}};

static int kinds_of(const struct model *m)
{
    int i = 0;
    while (strcmp(frozen[i].model, m->desc->name) != 0) i++;
    return frozen[i].kinds;
}

/* Draw point i of the sequence. */
static void draw_point(const struct model *m, const void *base, int i, void *ret)
{
    static const double shares[] = {0.02, 0.05, 0.1, 0.2};
    enum { LARGE_GIB = 4096, LARGE_KIB = 16384, EVICTING = 8 };
    const int kind = i % kinds_of(m);
    memcpy(ret, base, m->desc->params_size);
    for (size_t k = 0; k < m->params.n; k++) {
        const struct field *f = &m->params.fields[k];
        uint64_t draw = digest_of(f->name, (uint64_t)i * 0x9e3779b97f4a7c15);
        const bool large = kind > 0 && strcmp(f->name, "capacity_gib") == 0,
                   buffer = kind % 2 && strcmp(f->name, "buffer_kib") == 0,
                   off = kind > 0 && kind != 5 && kind != 6 && kind != EVICTING && strcmp(f->name, "eviction") == 0;
        if (large || buffer) field_set(f, ret, (struct value){.f64 = large ? LARGE_GIB : LARGE_KIB});
        if (off) field_set(f, ret, (struct value){.choice = 0});
        if (is_left_open(f)) field_set(f, ret, (struct value){.f64 = (double)NAN});
        if (large || buffer || off || !(random_uniform(&draw) < share_of(f->name, shares[i % 4]) || is_of_kind(f->name, kind)))
            continue;
        const struct value v = f->type == DSE_TYPE_REF ? entry_drawn(f, draw) : random_value_of(f, catalog, &draw);
        field_set(f, ret, v);
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
        draw_point(m, base, i, p);
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
        draw_point(m, base, i, p);
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
        (getenv("DSE_FREEZE") ? freeze : compare)(m, space_fixed(o.space));
        one_release(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(models__have_the_numbers_they_had)};
    return cmocka_run_group_tests_name("frozen", tests, set_up, tear_down);
}
