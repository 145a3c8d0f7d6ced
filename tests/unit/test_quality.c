/* Quality surfaces: exact on their points, by the rule between them, silent about what was not measured; bounds hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "config/catalog.h"
#include "dse_config.h"
#include "quality/quality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 4096 };

struct rows {
    struct quality_point at[ROWS_MAX];
    size_t n;
};

static void add(struct rows *r, const char *method, double context, double ratio, enum dse_quality_metric metric, double mean)
{
    struct quality_point *p = &r->at[r->n++];
    *p = (struct quality_point){.method = method, .context = context, .ratio = ratio, .metric = metric};
    for (int i = 0; i < DSE_SETTINGS; i++) p->setting[i] = measured_otherwise((enum dse_setting)i);
    for (int i = 0; i < DSE_QUALITY_STATS; i++) p->stat[i] = mean * (i == DSE_Q_SE ? 0.1 : i == DSE_Q_SD ? 0.5 : 1);
}

static struct dse_quality *make(const struct rows *r, struct row_fault *ret_fault)
{
    char *why = NULL;
    *ret_fault = (struct row_fault){0};
    const struct quality_from from = {"quality", "test", "rows of the test", measured_new("llm=mine", &why), r->at, r->n, NULL,
                                      0,         false};
    return quality_new(&from, ret_fault);
}

static const double contexts[] = {128, 256, 512, 1024, 2048}, ratios[] = {0.1, 0.2, 0.4, 0.6, 0.8}, intervals[] = {5, 8, 16};
enum { CONTEXTS = sizeof contexts / sizeof *contexts, RATIOS = sizeof ratios / sizeof *ratios, INTERVALS = 3 };

/* Laws of the context and the ratio, of a policy; and of the context and the intervals, as LAD's. */
static double mass_law(double context, double ratio)
{
    return 1 - pow(1 - ratio, 3) * pow(context, -0.1);
}

static double error_law(double context, double ratio)
{
    return (1 / ratio - 1) * 0.1 * pow(context, 0.2);
}

static double active_law(double context, double pieces)
{
    return 0.2 * context * pow(pieces / 5, 0.3);
}

static void add_policy(struct rows *r, const char *method)
{
    for (size_t c = 0; c < CONTEXTS; c++)
        for (size_t k = c == 0 ? 1 : 0; k < RATIOS; k++) { /* the shortest context begins later */
            add(r, method, contexts[c], ratios[k], DSE_Q_RETAINED_MASS, mass_law(contexts[c], ratios[k]));
            add(r, method, contexts[c], ratios[k], DSE_Q_ATTENTION_ERROR, error_law(contexts[c], ratios[k]));
        }
}

static void add_lad(struct rows *r)
{
    for (size_t i = 0; i < INTERVALS; i++)
        for (size_t c = 0; c < CONTEXTS; c++) {
            add(r, "lad", contexts[c], 1, DSE_Q_ACTIVE, active_law(contexts[c], intervals[i]));
            r->at[r->n - 1].setting[DSE_SET_INTERVALS] = intervals[i];
            add(r, "lad", contexts[c], 1, DSE_Q_ATTENTION_ERROR, 1 / intervals[i]);
            r->at[r->n - 1].setting[DSE_SET_INTERVALS] = intervals[i];
        }
}

static struct dse_quality *laws(void)
{
    struct rows *r = xcalloc(1, sizeof *r);
    struct row_fault fault;
    add_policy(r, "h2o");
    add_lad(r);
    struct dse_quality *q = make(r, &fault);
    assert_null(fault.why);
    assert_non_null(q);
    free(r);
    return q;
}

static const char *find(const struct dse_quality *q, const char *method, double context, double ratio,
                        struct dse_quality_place *ret)
{
    return dse_quality_find(q, &(struct dse_quality_query){.method = method, .context = context, .ratio = ratio}, ret);
}

static const char *find_lad(const struct dse_quality *q, double context, double pieces, struct dse_quality_place *ret)
{
    struct dse_quality_query query = {.method = "lad", .context = context, .ratio = 1, .given = 1u << DSE_SET_INTERVALS};
    query.setting[DSE_SET_INTERVALS] = pieces;
    return dse_quality_find(q, &query, ret);
}

static void quality__is_exact_on_its_points(void **state)
{
    (void)state;
    struct dse_quality *q = laws();
    struct dse_quality_place at;
    for (size_t c = 1; c < CONTEXTS; c++)
        for (size_t k = 0; k < RATIOS; k++) {
            struct dse_quality_value v;
            assert_null(find(q, "h2o", contexts[c], ratios[k], &at));
            assert_true(dse_quality_mean(&at, DSE_Q_RETAINED_MASS) == mass_law(contexts[c], ratios[k]));
            assert_true(dse_quality_at(&at, DSE_Q_ATTENTION_ERROR, &v));
            assert_true(v.stat[DSE_Q_MEAN] == error_law(contexts[c], ratios[k]) && v.stat[DSE_Q_SD] == 0.5 * v.stat[DSE_Q_MEAN]);
            assert_true(!v.extended);
            assert_false(dse_quality_at(&at, DSE_Q_ACTIVE, &v));
        }
    for (size_t i = 0; i < INTERVALS; i++) {
        assert_null(find_lad(q, 512, intervals[i], &at));
        assert_true(dse_quality_mean(&at, DSE_Q_ACTIVE) == active_law(512, intervals[i]));
    }
    quality_free(q);
}

static void quality__follows_laws_between_its_points(void **state)
{
    (void)state;
    struct dse_quality *q = laws();
    struct dse_quality_place at;
    for (double context = 256; context <= 2048; context += 64) {
        assert_null(find_lad(q, context, 12, &at)); /* a law in both: straight in logarithms */
        assert_true(fabs(dse_quality_mean(&at, DSE_Q_ACTIVE) / active_law(context, 12) - 1) < 1e-12);
        for (double ratio = 0.1; ratio < 1; ratio += 1.0 / 64) {
            assert_null(find(q, "h2o", context, ratio, &at));
            assert_true(fabs(dse_quality_mean(&at, DSE_Q_RETAINED_MASS) / mass_law(context, ratio) - 1) < 0.02);
            if (ratio < 0.8) assert_true(fabs(dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR) / error_law(context, ratio) - 1) < 0.12);
        }
        assert_null(find(q, "h2o", context, 1, &at));
        assert_true(dse_quality_mean(&at, DSE_Q_RETAINED_MASS) == 1 && dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR) == 0);
    }
    quality_free(q);
}

static void quality__is_silent_outside_and_says_why(void **state)
{
    (void)state;
    struct dse_quality *q = laws();
    struct dse_quality_place at;
    assert_string_equal(find(q, "voting", 512, 0.5, &at), "quality test has no measurement of this method; it has h2o, lad");
    assert_string_equal(find(q, "h2o", 4096, 0.5, &at), "quality test: h2o was measured at 128 to 2048 positions");
    assert_string_equal(find(q, "h2o", 512, 0.05, &at),
                        "quality test: h2o was measured at ratios of 0.1 or more, at short contexts of still more");
    assert_non_null(find(q, "h2o", 128, 0.1, &at));
    assert_string_equal(find_lad(q, 512, 4, &at), "quality test: lad was measured with intervals from 5 to 16");
    struct dse_quality_query query = {.method = "h2o", .context = 512, .ratio = 0.5, .given = 1u << DSE_SET_KV_BITS};
    query.setting[DSE_SET_KV_BITS] = 4;
    assert_string_equal(dse_quality_find(q, &query, &at), "quality test: h2o was measured only with kv_bits = 16");
    query.setting[DSE_SET_KV_BITS] = 32; /* more than 16 loses nothing more */
    assert_null(dse_quality_find(q, &query, &at));
    quality_free(q);
}

/* 51 of 512 positions are a tenth, though a little less. */
static void quality__takes_ratios_as_whole_positions(void **state)
{
    (void)state;
    struct dse_quality *q = laws();
    struct dse_quality_place at;
    assert_null(find(q, "h2o", 512, 51.0 / 512, &at));
    assert_non_null(find(q, "h2o", 512, 50.0 / 512, &at));
    quality_free(q);
}

/* ---- bad rows ------------------------------------------------------------------------------------------------------------ */

static void expect_fault(const struct rows *r, size_t row, const char *column, const char *why)
{
    struct row_fault fault;
    struct dse_quality *q = make(r, &fault);
    assert_null(q);
    assert_non_null(fault.why);
    assert_string_equal(fault.why, why);
    assert_true(fault.row == row);
    if (column) assert_string_equal(fault.column, column);
    free(fault.why);
}

static void quality__refuses_holes_and_rows_that_stand_there_twice(void **state)
{
    (void)state;
    struct rows *r = xcalloc(1, sizeof *r);
    add_policy(r, "h2o");
    const struct rows whole = *r;
    r->n = whole.n;
    r->at[0].metric = r->at[1].metric;
    expect_fault(r, 1, "method", "attention_error of h2o at context 128, ratio 0.2 stands in row 1 already");
    *r = whole;
    memmove(&r->at[20], &r->at[22], (whole.n - 22) * sizeof *r->at); /* context 512, ratio 0.2 */
    r->n -= 2;
    expect_fault(r, 18, "context", "there is a hole: h2o at context 512 has no ratio 0.2, which other contexts have");
    *r = whole;
    memmove(&r->at[21], &r->at[22], (whole.n - 22) * sizeof *r->at);
    r->n -= 1;
    expect_fault(r, 20, "metric", "there is a hole: h2o at context 512, ratio 0.2 has no attention_error, as other points have");
    *r = whole;
    r->at[7].stat[DSE_Q_MEAN] = -1;
    expect_fault(r, 7, "mean", "attention_error -1 is outside of 0 to 1e+09");
    *r = whole;
    r->at[7].stat[DSE_Q_P50] = 0;
    expect_fault(r, 7, "p50", "p50 0 is below p10 0.0659754");
    r->n = 0;
    expect_fault(r, ROW_NONE, NULL, "there is no row");
    free(r);
}

/* ---- older files --------------------------------------------------------------------------------------------------------- */

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

static struct catalog *shipped(struct diags *diags)
{
    diags_init(diags);
    struct catalog *c = catalog_new(DSE_SOURCE_DATA, diags);
    assert_non_null(c);
    return c;
}

static void quality__of_older_files_answers_as_they_do(void **state)
{
    (void)state;
    struct diags diags;
    struct catalog *c = shipped(&diags);
    const struct dse_retention *r = (const void *)catalog_find(c, DSE_KIND_RETENTION, "codellama-13b");
    const struct dse_profile *p = (const void *)catalog_find(c, DSE_KIND_PROFILE, "codellama-13b");
    uint64_t seed = 7;
    struct dse_quality_place at;
    for (int i = 0; i < 20000; i++) {
        double context = floor(64 * pow(32, uniform(&seed))), ratio = uniform(&seed);
        struct dse_retained old;
        const char *why = find(dse_retention_quality(r), "h2o", context, ratio, &at);
        if (dse_retention_at(r, "h2o", context, ratio, &old)) {
            assert_null(why);
            assert_true(fabs(dse_quality_mean(&at, DSE_Q_RETAINED_MASS) - old.mass) < 1e-13);
            assert_true(fabs(dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR) - old.error) < 1e-13);
        }
        assert_null(find_lad(dse_profile_quality(p), context, 5, &at));
        assert_true(fabs(dse_quality_mean(&at, DSE_Q_ACTIVE) - dse_profile_at(p, context).active) < 1e-9);
        assert_true(fabs(dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR) - dse_profile_error_at(p, context).attention_error) < 1e-13);
    }
    assert_string_equal(find_lad(dse_profile_quality(p), 512, 6, &at),
                        "profile codellama-13b: lad was measured only with intervals = 5");
    catalog_free(c);
    diags_release(&diags);
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

struct drawn {
    struct dse_quality_box box;
    struct dse_quality_query query;
};

static struct dse_interval box_of(double at, double lo, double hi, uint64_t *seed)
{
    const double kind = uniform(seed);
    if (kind < 0.25) return dse_iv_of(at);
    if (kind < 0.5) return dse_iv(lo, hi);
    return dse_iv(at - uniform(seed) * uniform(seed) * (at - lo), at + uniform(seed) * uniform(seed) * (hi - at));
}

static struct drawn draw(const char *method, bool pieces, uint64_t *seed)
{
    struct drawn d = {.box = {.method = method}, .query = {.method = method}};
    d.query.context = uniform(seed) < 0.2 ? 512 : 100 + 2200 * uniform(seed) * uniform(seed);
    d.query.ratio = pieces ? 1 : uniform(seed) < 0.2 ? 0.4 : 1.1 * uniform(seed);
    d.box.context = box_of(d.query.context, 50, 3000, seed);
    d.box.ratio = pieces ? dse_iv_of(1) : box_of(d.query.ratio, 0.001, 1.2, seed);
    if (!pieces) return d;
    d.box.given = d.query.given = 1u << DSE_SET_INTERVALS;
    d.query.setting[DSE_SET_INTERVALS] = uniform(seed) < 0.3 ? 8 : 3 + 15 * uniform(seed);
    const struct dse_interval v = box_of(d.query.setting[DSE_SET_INTERVALS], 3, 20, seed);
    d.box.lo[DSE_SET_INTERVALS] = v.lo;
    d.box.hi[DSE_SET_INTERVALS] = v.hi;
    return d;
}

/* Random boxes, and a random point of each. */
static void expect_sound(const struct dse_quality *q, const char *method, bool pieces, int boxes, uint64_t seed)
{
    int known = 0;
    for (int i = 0; i < boxes; i++) {
        const struct drawn d = draw(method, pieces, &seed);
        struct dse_quality_place at;
        if (dse_quality_find(q, &d.query, &at)) continue;
        known++;
        for (int m = 0; m < DSE_QUALITY_METRICS; m++)
            for (int stat = 0; stat <= DSE_Q_SD; stat += DSE_Q_SD) {
                const double v = dse_quality_stat(&at, (enum dse_quality_metric)m, (enum dse_quality_stat)stat);
                struct dse_interval b;
                if (isnan(v)) continue;
                assert_true(dse_quality_bound(q, &d.box, (enum dse_quality_metric)m, (enum dse_quality_stat)stat, &b));
                if (!(v >= b.lo && v <= b.hi))
                    fail_msg("%s %s: context %.17g in %.17g..%.17g, ratio %.17g in %.17g..%.17g: %.17g is not in %.17g..%.17g",
                             method, dse_quality_metric_names[m], d.query.context, d.box.context.lo, d.box.context.hi,
                             d.query.ratio, d.box.ratio.lo, d.box.ratio.hi, v, b.lo, b.hi);
            }
    }
    assert_true(known > 0);
}

static void quality__bounds_hold_every_point(void **state)
{
    (void)state;
    struct dse_quality *q = laws();
    expect_sound(q, "h2o", false, 40000, 1);
    expect_sound(q, "lad", true, 40000, 2);
    quality_free(q);
    struct diags diags;
    struct catalog *c = shipped(&diags);
    const struct dse_retention *r = (const void *)catalog_find(c, DSE_KIND_RETENTION, "codellama-13b");
    expect_sound(dse_retention_quality(r), "voting", false, 40000, 3);
    const struct dse_quality *shipped_quality;
    for (size_t i = 0; (shipped_quality = (const void *)catalog_at(c, DSE_KIND_QUALITY, i)); i++) {
        expect_sound(shipped_quality, "h2o", false, 40000, 4);
        expect_sound(shipped_quality, "lad", true, 20000, 5);
    }
    catalog_free(c);
    diags_release(&diags);
}

static void quality__bounds_are_tight_where_a_box_is_a_point(void **state)
{
    (void)state;
    struct dse_quality *q = laws();
    struct dse_quality_place at;
    assert_null(find(q, "h2o", 300, 0.3, &at));
    const struct dse_quality_box box = {.method = "h2o", .context = dse_iv_of(300), .ratio = dse_iv_of(0.3)};
    struct dse_interval b;
    assert_true(dse_quality_bound(q, &box, DSE_Q_RETAINED_MASS, DSE_Q_MEAN, &b));
    assert_true(b.lo == dse_quality_mean(&at, DSE_Q_RETAINED_MASS) && b.hi == b.lo);
    quality_free(q);
}

/* ---- settings that vary together, and layers ------------------------------------------------------------------------------ */

static double pair_law(double context, double a, double reserved)
{
    return 0.1 * pow(context, 0.2) * exp(0.3 * a + 0.5 * (a + 2) * log(reserved / 32));
}

/* voting at every a and reserved length together; or one at a time. And of two layers at the settings of the head. */
static struct dse_quality *pairs(bool together)
{
    static const double a[] = {0.5, 1, 2}, reserved[] = {16, 32, 128};
    struct rows *r = xcalloc(1, sizeof *r);
    struct row_fault fault;
    for (size_t i = 0; i < 9; i++)
        for (size_t c = 0; c < CONTEXTS && (together || i % 3 == 1 || i / 3 == 1); c++) {
            add(r, "voting", contexts[c], 1, DSE_Q_ATTENTION_ERROR, pair_law(contexts[c], a[i % 3], reserved[i / 3]));
            r->at[r->n - 1].setting[DSE_SET_THRESHOLD_A] = a[i % 3];
            r->at[r->n - 1].setting[DSE_SET_RESERVED_LENGTH] = reserved[i / 3];
        }
    for (size_t c = 0; c < CONTEXTS; c++)
        for (int layer = 3; layer <= 7; layer += 4) {
            add(r, "voting", contexts[c], 1, DSE_Q_ATTENTION_ERROR, layer * (c % 2 ? 1 : 5)); /* rough: of few heads */
            r->at[r->n - 1].setting[DSE_SET_LAYER] = layer;
        }
    struct dse_quality *q = make(r, &fault);
    assert_null(fault.why);
    assert_non_null(q);
    free(r);
    return q;
}

static const char *find_pair(const struct dse_quality *q, double context, double a, double reserved, struct dse_quality_place *ret)
{
    struct dse_quality_query query = {
        .method = "voting", .context = context, .ratio = 1, .given = 1u << DSE_SET_THRESHOLD_A | 1u << DSE_SET_RESERVED_LENGTH};
    query.setting[DSE_SET_THRESHOLD_A] = a;
    query.setting[DSE_SET_RESERVED_LENGTH] = reserved;
    return dse_quality_find(q, &query, ret);
}

/* The logarithm of the law is a line in a, one in the logarithm of the length, and has their product: what four corners give. */
static void quality__knows_settings_that_vary_together(void **state)
{
    (void)state;
    struct dse_quality *q = pairs(true), *one = pairs(false);
    struct dse_quality_place at;
    for (int i = 0; i <= 12; i++)
        for (int k = 0; k <= 9; k++) {
            const double a = 0.5 + 0.125 * i, reserved = 16 * pow(1.25, k);
            assert_null(find_pair(q, 700, a, reserved, &at));
            assert_true(fabs(dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR) / pair_law(700, a, reserved) - 1) < 1e-12);
        }
    const struct dse_quality_rule *r = dse_surface_rule(dse_quality_method(q, "voting"), DSE_Q_ATTENTION_ERROR);
    assert_true(r->value == DSE_Q_LOG && r->setting_error < 1e-12 && r->context_error < 1e-12);
    assert_null(find_pair(one, 700, 0.7, 32, &at));
    assert_null(find_pair(one, 700, 1, 64, &at));
    assert_string_equal(find_pair(one, 700, 0.7, 64, &at),
                        "quality test: voting was not measured with this combination of (threshold_a, reserved_length, layer)");
    quality_free(one);
    quality_free(q);
}

static void quality__bounds_hold_settings_that_vary_together(void **state)
{
    (void)state;
    struct dse_quality *q = pairs(true);
    uint64_t seed = 9;
    for (int i = 0; i < 40000; i++) {
        const double context = 128 * pow(16, uniform(&seed)), a = 0.5 + 1.5 * uniform(&seed), reserved = 16 + 112 * uniform(&seed);
        const struct dse_interval of_a = box_of(a, 0.4, 2.1, &seed), of_reserved = box_of(reserved, 10, 140, &seed);
        struct dse_quality_box box = {.method = "voting",
                                      .context = box_of(context, 100, 3000, &seed),
                                      .ratio = dse_iv_of(1),
                                      .given = 1u << DSE_SET_THRESHOLD_A | 1u << DSE_SET_RESERVED_LENGTH};
        box.lo[DSE_SET_THRESHOLD_A] = of_a.lo;
        box.hi[DSE_SET_THRESHOLD_A] = of_a.hi;
        box.lo[DSE_SET_RESERVED_LENGTH] = of_reserved.lo;
        box.hi[DSE_SET_RESERVED_LENGTH] = of_reserved.hi;
        struct dse_quality_place at;
        struct dse_interval b;
        if (find_pair(q, context, a, reserved, &at)) continue;
        const double v = dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR);
        assert_true(dse_quality_bound(q, &box, DSE_Q_ATTENTION_ERROR, DSE_Q_MEAN, &b));
        assert_true(v >= b.lo && v <= b.hi);
    }
    quality_free(q);
}

/* Who does not ask for a layer has the model's mean; rows of layers are exact, have nothing between them, and are in no error. */
static void quality__has_layers_beside_the_model(void **state)
{
    (void)state;
    struct dse_quality *q = pairs(true);
    struct dse_quality_place at;
    struct dse_quality_query query = {.method = "voting", .context = 512, .ratio = 1};
    assert_true(dse_surface_layers(dse_quality_method(q, "voting")) == 2);
    assert_null(dse_quality_find(q, &query, &at));
    assert_true(dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR) == pair_law(512, 1, 32));
    query.given = 1u << DSE_SET_LAYER;
    query.setting[DSE_SET_LAYER] = 7;
    assert_null(dse_quality_find(q, &query, &at));
    assert_true(dse_quality_mean(&at, DSE_Q_ATTENTION_ERROR) == 7 * 5);
    query.setting[DSE_SET_LAYER] = 5;
    assert_string_equal(dse_quality_find(q, &query, &at), "quality test: voting was measured only with layer = -1, 3, 7");
    quality_free(q);
}

/* ---- rules --------------------------------------------------------------------------------------------------------------- */

static void quality__chooses_the_rule_that_is_left_out_best(void **state)
{
    (void)state;
    struct dse_quality *q = laws();
    const struct dse_quality_surface *s = dse_quality_method(q, "lad");
    const struct dse_quality_rule *r = dse_surface_rule(s, DSE_Q_ACTIVE);
    assert_true(r->value == DSE_Q_LOG && r->context == DSE_Q_LOG); /* a n^b */
    assert_true(r->context_error < 1e-12 && r->setting_error < 1e-12 && isnan(r->ratio_error));
    struct dse_quality_rule plain = *r;
    plain.value = DSE_Q_PLAIN;
    plain.over_context = DSE_Q_LINE;
    plain = quality_left_out(s, DSE_Q_ACTIVE, &plain); /* a mean of n / 2 and 2 n for n */
    assert_true(fabs(plain.context_error - 0.25) < 1e-12);
    char *text = quality_rule_text(r);
    struct dse_quality_rule back;
    assert_null(quality_rule_read(text, &back));
    assert_true(back.value == r->value && back.over_context == r->over_context && back.context == r->context &&
                back.ratio == r->ratio && back.over_ratio == r->over_ratio);
    free(text);
    quality_free(q);
}

/* ---- what is read later ------------------------------------------------------------------------------------------------------ */

static int times_read;

static struct dse_quality *read_policy(void *user, char **ret_why)
{
    times_read++;
    if (strcmp(user, "broken") == 0) {
        *ret_why = xstrdup("file.csv:7: no number");
        return NULL;
    }
    struct rows *r = xcalloc(1, sizeof *r);
    struct row_fault fault;
    add_policy(r, "policy");
    struct dse_quality *q = make(r, &fault);
    free(r);
    return q;
}

static void quality__that_is_read_later_is_read_once_when_asked(void **state)
{
    (void)state;
    times_read = 0;
    struct dse_quality *later = quality_later("test", "rows of the test", read_policy, xstrdup("well")), *now;
    char *no_why;
    now = read_policy((char[]){"well"}, &no_why);
    times_read = 0;
    assert_string_equal(((const struct dse_entry *)later)->source, "rows of the test");
    assert_int_equal(times_read, 0);
    const struct dse_quality_query query = {.method = "policy", .context = 300, .ratio = 0.3};
    struct dse_quality_place a, b;
    for (int i = 0; i < 3; i++) {
        assert_null(dse_quality_find(later, &query, &a));
        assert_null(dse_quality_find(now, &query, &b));
        assert_true(dse_quality_stat(&a, DSE_Q_RETAINED_MASS, DSE_Q_MEAN) == dse_quality_stat(&b, DSE_Q_RETAINED_MASS, DSE_Q_MEAN));
    }
    assert_non_null(dse_quality_method(later, "policy"));
    assert_int_equal(times_read, 1);
    quality_free(later);
    quality_free(now);
}

static void quality__that_cannot_be_read_later_says_why(void **state)
{
    (void)state;
    struct dse_quality *q = quality_later("test", "rows of the test", read_policy, xstrdup("broken"));
    const struct dse_quality_query query = {.method = "policy", .context = 300, .ratio = 0.3};
    struct dse_quality_place place;
    assert_string_equal(dse_quality_find(q, &query, &place), "quality test cannot be read: file.csv:7: no number");
    assert_null(dse_quality_surface_at(q, 0));
    quality_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quality__is_exact_on_its_points),
        cmocka_unit_test(quality__follows_laws_between_its_points),
        cmocka_unit_test(quality__is_silent_outside_and_says_why),
        cmocka_unit_test(quality__takes_ratios_as_whole_positions),
        cmocka_unit_test(quality__refuses_holes_and_rows_that_stand_there_twice),
        cmocka_unit_test(quality__of_older_files_answers_as_they_do),
        cmocka_unit_test(quality__bounds_hold_every_point),
        cmocka_unit_test(quality__bounds_are_tight_where_a_box_is_a_point),
        cmocka_unit_test(quality__knows_settings_that_vary_together),
        cmocka_unit_test(quality__bounds_hold_settings_that_vary_together),
        cmocka_unit_test(quality__has_layers_beside_the_model),
        cmocka_unit_test(quality__chooses_the_rule_that_is_left_out_best),
        cmocka_unit_test(quality__that_is_read_later_is_read_once_when_asked),
        cmocka_unit_test(quality__that_cannot_be_read_later_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
