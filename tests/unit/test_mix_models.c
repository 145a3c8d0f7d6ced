/* [requests] over the real models: totals agree, limits hold, means lie between what they are means of. */
#include "bed.h"
#include "dse_config.h"
#include "samples.h"

#include <gsl/gsl_randist.h>
#include <math.h>

/* Requests of one length each, a few, on a machine that holds them. */
static const char *const lengths[] = {"400, 50", "1300, 700", "2200, 20", "3000, 1000"};
enum { LENGTHS = sizeof lengths / sizeof *lengths };
static const double shares[LENGTHS] = {5, 2, 2, 1};

static const char machine[] =
    "[quality]\nexact = false\n[params]\nllm = 'llama2-7b'\ncapacity_gib = 40\nweight_bits = 4\nbatch = [1, 6]\n"
    "phase = ['decode', 'prefill']\n";

static char *entries(void)
{
    struct text t;
    text_init(&t);
    for (int i = 0; i < LENGTHS; i++) {
        int64_t prompt = strtoll(lengths[i], NULL, 10), generate = strtoll(strchr(lengths[i], ',') + 1, NULL, 10);
        text_addf(&t,
                  "[catalog.requests.r%d]\nsource = 'made up'\nprompt_median = %lld\nprompt_p90 = %lld\ngenerate_median = %lld\n"
                  "generate_p90 = %lld\nmax_tokens = 4096\n",
                  i, (long long)prompt, (long long)prompt, (long long)generate, (long long)generate);
    }
    text_add(&t, "[objectives]\ntokens_per_s = 'max'\n");
    return text_detach(&t);
}

/* A sweep of several models with these sections is read once, and asked for the rows of one of them at a time. */
enum { BEDS_MAX = 40 };
static struct {
    char *models, *sections;
    struct bed *bed;
} beds[BEDS_MAX];

static struct bed *bed_of(const char *models, const char *sections)
{
    size_t i = 0;
    while (i < BEDS_MAX && beds[i].bed && (strcmp(beds[i].models, models) != 0 || strcmp(beds[i].sections, sections) != 0)) i++;
    assert_true(i < BEDS_MAX);
    if (!beds[i].bed) {
        /* Room for what LAD keeps of 4000 positions; eviction of VEDA that has a prefill. */
        const char *lad = strstr(models, "'lad'") ? "[params.lad]\nsram_mib = 4\n" : "",
                   *veda = strstr(models, "'veda'") ? "[params.veda]\nboundary = 'bulk'\n" : "";
        char *all = entries(), *text = xasprintf("%s\n%s%s%s", sections, lad, veda, all);
        beds[i].models = xstrdup(models);
        beds[i].sections = xstrdup(sections);
        beds[i].bed = open_bed_in(DSE_SOURCE_DATA, models, text);
        free(all);
        free(text);
    }
    return beds[i].bed;
}

static int close_beds(void **state)
{
    (void)state;
    for (size_t i = 0; i < BEDS_MAX && beds[i].bed; i++) {
        close_bed(beds[i].bed);
        free(beds[i].models);
        free(beds[i].sections);
    }
    return 0;
}

/* Models that a sweep file names: all, or those that know, or do not know, requests of a prompt and what it generates. */
enum which { ALL, WITH_REQUESTS, WITHOUT_REQUESTS };

static char *names_of(enum which which)
{
    struct text t;
    size_t n;
    const struct model *models = registry_models(&n);
    text_init(&t);
    for (size_t i = 0; i < n; i++) {
        const bool with = schema_find(&models[i].params, "generate") != NULL;
        if (which == ALL || with == (which == WITH_REQUESTS)) text_addf(&t, "%s'%s'", t.n ? ", " : "", models[i].desc->name);
    }
    return text_detach(&t);
}

/* The rows of one model under one choice of requests: for each batch, decode and prefill. */
struct mixed {
    struct bed *bed;
    struct rows rows;
};

static struct mixed mixed(enum which which, const char *model, const char *sections)
{
    char *models = names_of(which);
    struct mixed m = {.bed = bed_of(models, sections)};
    size_t at = 0;
    while (at < m.bed->sweep->n_models && strcmp(m.bed->sweep->bindings[at]->model->desc->name, model) != 0) at++;
    assert_true(at < m.bed->sweep->n_models);
    m.rows = rows_of(m.bed, at, 64, false);
    for (size_t i = 0; i < m.rows.n; i++)
        if (m.rows.rows[i].reason) fail_msg("%s: row %zu: %s", model, i, m.rows.rows[i].reason);
    free(models);
    return m;
}

static struct mixed mix_of(const char *model, const char *requests)
{
    char *text = xasprintf("%s[requests]\n%s\n", machine, requests);
    struct mixed m = mixed(ALL, model, text);
    free(text);
    return m;
}

/* All of `lengths` by their shares. */
static struct mixed mix_of_all(const char *model)
{
    return mix_of(model, "mix = { r0 = 5, r1 = 2, r2 = 2, r3 = 1 }");
}

static void mixed_release(struct mixed *m)
{
    rows_release(&m->rows);
}

static const struct field *metric(const struct mixed *m, const char *name)
{
    const struct field *f = schema_find(&space_model(m->rows.space)->metrics, name);
    return f && !f->without ? f : NULL;
}

static bool has_requests(const struct mixed *m)
{
    return schema_find(&space_model(m->rows.space)->params, "generate") != NULL;
}

static void near_metric(const struct mixed *m, size_t row, const char *name, double wanted)
{
    double got = number(&m->rows, row, name);
    if (!(fabs(got - wanted) <= 1e-11 * fabs(wanted)))
        fail_msg("%s, row %zu: %s is %.17g, not %.17g", space_model(m->rows.space)->desc->name, row, name, got, wanted);
}

/* Every test is of every model. */
static void for_each_model(void (*test)(const char *model))
{
    size_t n;
    const struct model *models = registry_models(&n);
    assert_true(n >= 5);
    for (size_t i = 0; i < n; i++) test(models[i].desc->name);
}

/* ---- limits ------------------------------------------------------------------------------------------------------------- */

/* One request is the plain row, to the last bit: with prompt and generate, or at its mean context, or with its prompt as context.
 */
static void check_one(const char *model)
{
    struct mixed one = mix_of(model, "mix = 'r1'");
    for (int prefill = 0; prefill < 2; prefill++) {
        char *own = has_requests(&one) ? xasprintf("prompt = 1300\ngenerate = 700\ncontext = %d\n", prefill ? 1300 : 5)
                                       : xasprintf("context = %d\n", prefill ? 1300 : 1651);
        char *text = xasprintf("%s%s", machine, own);
        struct mixed plain = mixed(has_requests(&one) ? WITH_REQUESTS : WITHOUT_REQUESTS, model, text);
        size_t first = 0, n = one.rows.columns, n_plain = plain.rows.columns;
        const struct column *columns = space_columns(one.rows.space, &n);
        while (columns[first].role == COLUMN_PARAM) first++;
        const size_t end = first + space_model(one.rows.space)->metrics.n;
        for (size_t i = (size_t)prefill; i < one.rows.n; i += 2)
            assert_memory_equal(plain.rows.cells + i * n_plain + first, one.rows.cells + i * n + first,
                                (end - first) * sizeof *one.rows.cells);
        mixed_release(&plain);
        free(text);
        free(own);
    }
    mixed_release(&one);
}

static void one_request__gives_the_plain_row(void **state)
{
    (void)state;
    for_each_model(check_one);
}

/* ---- dollars ------------------------------------------------------------------------------------------------------------ */

/* Rows are decode and prefill of each batch: both say what a request costs, from what a token of either phase costs alone. */
static void check_dollars(const char *model)
{
    struct mixed all = mix_of_all(model), alone[LENGTHS];
    for (int k = 0; k < LENGTHS; k++) {
        char *one = xasprintf("mix = 'r%d'", k);
        alone[k] = mix_of(model, one);
        free(one);
    }
    for (size_t i = 0; i < all.rows.n; i++) {
        double usd = 0, tokens = 0, requests = 0;
        for (int k = 0; k < LENGTHS; k++) {
            const double prompt = strtod(lengths[k], NULL), generate = strtod(strchr(lengths[k], ',') + 1, NULL);
            usd += shares[k] *
                   (prompt * number(&alone[k].rows, i / 2 * 2 + 1, "usd_per_mtoken") +
                    generate * number(&alone[k].rows, i / 2 * 2, "usd_per_mtoken")) /
                   1e6;
            tokens += shares[k] * (prompt + generate);
            requests += shares[k];
        }
        if (!(usd > 0)) fail_msg("%s, row %zu: requests cost %g", model, i, usd);
        near_metric(&all, i, "request_usd", usd / requests);
        near_metric(&all, i, "request_usd_per_mtoken", usd / tokens * 1e6);
    }
    mixed_release(&all);
    for (int k = 0; k < LENGTHS; k++) mixed_release(&alone[k]);
}

static void dollars__are_those_of_prompt_and_generation(void **state)
{
    (void)state;
    for_each_model(check_dollars);
}

/* ---- totals ------------------------------------------------------------------------------------------------------------- */

static void check_conservation(const char *model)
{
    struct mixed m = mix_of_all(model);
    for (size_t i = 0; i < m.rows.n; i++) {
        double rate = number(&m.rows, i, "tokens_per_s"), latency = number(&m.rows, i, "latency_us");
        near_metric(&m, i, "power_w", number(&m.rows, i, "energy_mj") * rate / 1e3);
        if (metric(&m, "attention_share")) near_metric(&m, i, "attention_share", number(&m.rows, i, "attention_us") / latency);
        if (metric(&m, "tokens_per_j")) near_metric(&m, i, "tokens_per_j", 1e3 / number(&m.rows, i, "energy_mj"));
        if (metric(&m, "chip_gop_per_j")) {
            const char *rate_of = metric(&m, "matmul_gops") ? "matmul_gops" : "effective_gops";
            near_metric(&m, i, "chip_gop_per_j", number(&m.rows, i, rate_of) / number(&m.rows, i, "chip_power_w"));
        }
        /* Bytes of a second: a token's times tokens, and the bandwidth times its utilization. */
        double bandwidth =
            field_number(schema_find(&space_model(m.rows.space)->params, "bandwidth_gbs"), space_fixed(m.rows.space));
        const struct field *devices = schema_find(&space_model(m.rows.space)->params, "devices");
        const struct field *tensor = schema_find(&space_model(m.rows.space)->params, "tensor_parallel");
        double n = field_number(devices ? devices : tensor, space_fixed(m.rows.space));
        near_metric(&m, i, "dram_utilization", number(&m.rows, i, "dram_mib") * 1048576 * rate / (n * bandwidth * 1e9));
        if (i % 2 == 0) near_metric(&m, i, "latency_us", (i / 2 ? 6 : 1) / rate * 1e6); /* a decode step yields the batch */
    }
    mixed_release(&m);
}

static void totals__agree(void **state)
{
    (void)state;
    for_each_model(check_conservation);
}

/* The mean from rows of each request alone, by totals. */
static void check_totals(const char *model)
{
    struct mixed all = mix_of_all(model), alone[LENGTHS];
    for (int k = 0; k < LENGTHS; k++) {
        char *mix = xasprintf("mix = 'r%d'", k);
        alone[k] = mix_of(model, mix);
        free(mix);
    }
    for (size_t i = 0; i < all.rows.n; i++) {
        double tokens = 0, seconds = 0, steps = 0, millijoules = 0, attention = 0, bytes = 0, whole = 0, largest = 0;
        for (int k = 0; k < LENGTHS; k++) {
            const struct rows *r = &alone[k].rows;
            double n = shares[k] * (double)(i % 2 ? strtoll(lengths[k], NULL, 10) : strtoll(strchr(lengths[k], ',') + 1, NULL, 10));
            double s = n / number(r, i, "tokens_per_s"), steps_k = s * 1e6 / number(r, i, "latency_us");
            tokens += n;
            seconds += s;
            steps += steps_k;
            millijoules += n * number(r, i, "energy_mj");
            attention += steps_k * number(r, i, "attention_us");
            bytes += n * number(r, i, "dram_mib");
            if (metric(&all, "eviction_speedup"))
                whole += steps_k * number(r, i, "attention_us") * number(r, i, "eviction_speedup");
            largest = fmax(largest, number(r, i, "dram_footprint_gib"));
        }
        near_metric(&all, i, "tokens_per_s", tokens / seconds);
        near_metric(&all, i, "latency_us", seconds * 1e6 / steps);
        near_metric(&all, i, "attention_us", attention / steps);
        near_metric(&all, i, "energy_mj", millijoules / tokens);
        near_metric(&all, i, "power_w", millijoules / 1e3 / seconds);
        near_metric(&all, i, "dram_mib", bytes / tokens);
        if (metric(&all, "eviction_speedup")) near_metric(&all, i, "eviction_speedup", whole / attention);
        assert_true(number(&all.rows, i, "dram_footprint_gib") == largest);
    }
    for (int k = 0; k < LENGTHS; k++) mixed_release(&alone[k]);
    mixed_release(&all);
}

static void totals__are_those_of_the_requests_alone(void **state)
{
    (void)state;
    for_each_model(check_totals);
}

/* A request of a batch of one: its prefill, and a decode step for each token generated. One model says it itself. */
static void totals__make_up_whole_requests(void **state)
{
    (void)state;
    struct mixed m = mix_of_all("ane");
    double generated = request_mix_mean(&m.bed->sweep->requests).generate;
    near(number(&m.rows, 1, "latency_us") + generated * number(&m.rows, 0, "latency_us"), 1e3 * number(&m.rows, 0, "request_ms"));
    mixed_release(&m);
}

/* No mean is outside of what it is a mean of, whatever its weight. */
static void check_between(const char *model)
{
    struct mixed all = mix_of_all(model), alone[LENGTHS];
    for (int k = 0; k < LENGTHS; k++) {
        char *mix = xasprintf("mix = 'r%d'", k);
        alone[k] = mix_of(model, mix);
        free(mix);
    }
    const struct schema *metrics = &space_model(all.rows.space)->metrics;
    for (size_t i = 0; i < all.rows.n; i++)
        for (size_t f = 0; f < metrics->n; f++) {
            if (metrics->fields[f].type == DSE_TYPE_ENUM || metrics->fields[f].without) continue;
            const char *name = metrics->fields[f].name;
            double low = INFINITY, high = -(double)INFINITY, v = number(&all.rows, i, name);
            for (int k = 0; k < LENGTHS; k++) { /* what is not known of one length is left out by fmin and fmax */
                double x = number(&alone[k].rows, i, name);
                low = fmin(low, x);
                high = fmax(high, x);
            }
            bool null = low > high;
            if (null ? !isnan(v) : !(v >= low - 1e-12 * fabs(low) && v <= high + 1e-12 * fabs(high)))
                fail_msg("%s, row %zu: %s is %.17g, of %.17g to %.17g", model, i, name, v, low, high);
            if (low == high) assert_true(v == low);
        }
    for (int k = 0; k < LENGTHS; k++) mixed_release(&alone[k]);
    mixed_release(&all);
}

static void means__lie_between_what_they_are_means_of(void **state)
{
    (void)state;
    for_each_model(check_between);
}

/* The more requests have long contexts, the fewer tokens a second and the more energy a token, in decode. */
static void check_monotone(const char *model)
{
    double rate[2] = {INFINITY, INFINITY}, energy[2] = {0, 0};
    for (int share = 0; share <= 10; share += samples(5, 1)) {
        char *mix = share == 0    ? xstrdup("mix = 'r0'")
                    : share == 10 ? xstrdup("mix = 'r3'")
                                  : xasprintf("mix = { r0 = %d, r3 = %d }", 10 - share, share);
        struct mixed m = mix_of(model, mix);
        free(mix);
        for (size_t b = 0; b < 2; b++) {
            double r = number(&m.rows, 2 * b, "tokens_per_s"), e = number(&m.rows, 2 * b, "energy_mj");
            assert_true(r <= rate[b] && e >= energy[b]);
            rate[b] = r;
            energy[b] = e;
        }
        mixed_release(&m);
    }
}

static void longer_requests__never_help_decoding(void **state)
{
    (void)state;
    for_each_model(check_monotone);
}

/* ---- the points --------------------------------------------------------------------------------------------------------- */

/* The mean context of decode steps over random requests, and over the points that stand for them. */
static double random_context(const struct dse_requests *r)
{
    enum { SAMPLES = 400000 };
    double z90 = 1.2815515655446004, steps = 0, positions = 0, most = (double)r->max_tokens;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < SAMPLES; i++) {
        double p = r->prompt_median * exp(log(r->prompt_p90 / r->prompt_median) / z90 * gsl_ran_ugaussian(rng));
        double g = r->generate_median * exp(log(r->generate_p90 / r->generate_median) / z90 * gsl_ran_ugaussian(rng));
        p = fmin(p, most - 1);
        g = fmin(g, most - p);
        steps += g;
        positions += g * (p + (g + 1) / 2);
    }
    gsl_rng_free(rng);
    return positions / steps;
}

static double context_of(const struct request_mix *mix)
{
    double steps = 0, positions = 0;
    for (size_t i = 0; i < mix->n; i++) {
        const struct mixed_request *q = &mix->requests[i];
        steps += q->share * (double)q->generate;
        positions += q->share * (double)q->generate * ((double)q->prompt + (double)(q->generate + 1) / 2);
    }
    return positions / steps;
}

static void points__stand_for_random_requests(void **state)
{
    (void)state;
    static const struct {
        size_t points;
        double within;
    } cases[] = {{1, 0.11}, {64, 0.025}, {4096, 0.006}};
    struct diags d;
    diags_init(&d);
    struct catalog *c = catalog_new(DSE_SOURCE_DATA, &d);
    const struct dse_entry *entry;
    for (size_t i = 0; (entry = catalog_at(c, DSE_KIND_REQUESTS, i)) != NULL; i++) {
        const struct dse_requests *r = (const struct dse_requests *)entry;
        double wanted = random_context(r);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            struct request_mix mix;
            request_mix_init(&mix, &r, &(double){1}, 1, cases[k].points);
            double error = context_of(&mix) / wanted - 1;
            print_message("%s: %zu points, %zu requests: mean context %+.2f %%\n", entry->name, cases[k].points, mix.n,
                          100 * error);
            assert_true(fabs(error) < cases[k].within);
            request_mix_release(&mix);
        }
    }
    catalog_free(c);
    diags_release(&d);
}

/* A model that evaluates many requests at once gives what it gives one by one, to the bit, and the same dollars of whole requests.
 * With parts they are one by one. */
static void check_at_once(const char *model)
{
    enum { POINTS_OF_ROWS = 4 };
    if (!registry_find(model)->many) return;
    /* Of LAD's decoding nothing was measured below 128 positions, which some chats have. */
    struct mixed m = strcmp(model, "lad") == 0 ? mix_of_all(model) : mix_of(model, "mix = 'chat'\npoints = 40");
    const struct space *sp = m.rows.space;
    const struct dse_model *desc = space_model(sp)->desc;
    struct runner *runner = runner_new(FIDELITY_CLOSED_FORM, NULL);
    struct mixer *mixer = mixer_new(sp->mix, runner, NULL, true);
    char *start = xcalloc(1, desc->params_size), *a = xcalloc(1, desc->metrics_size), *b = xcalloc(1, desc->metrics_size);
    for (uint64_t i = 0; i < POINTS_OF_ROWS; i++) {
        uint64_t digits[SPACE_AXES_MAX];
        struct dse_breakdown parts = {0};
        const char *reason;
        space_digits(sp, i, digits);
        space_start_of_digits(sp, digits, start);
        assert_int_equal(mixer_run(mixer, start, a, NULL, &reason), RUN_DONE);
        assert_null(reason);
        const struct served at_once = mixer_served(mixer);
        assert_int_equal(mixer_run(mixer, start, b, &parts, &reason), RUN_DONE);
        const struct served one_by_one = mixer_served(mixer);
        assert_memory_equal(a, b, desc->metrics_size);
        assert_memory_equal(&at_once, &one_by_one, sizeof at_once);
    }
    mixer_free(mixer);
    runner_free(runner);
    free(start);
    free(a);
    free(b);
    mixed_release(&m);
}

static void requests__at_once_are_those_one_by_one(void **state)
{
    (void)state;
    for_each_model(check_at_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests__at_once_are_those_one_by_one),
        cmocka_unit_test(one_request__gives_the_plain_row),
        cmocka_unit_test(totals__agree),
        cmocka_unit_test(totals__are_those_of_the_requests_alone),
        cmocka_unit_test(totals__make_up_whole_requests),
        cmocka_unit_test(means__lie_between_what_they_are_means_of),
        cmocka_unit_test(longer_requests__never_help_decoding),
        cmocka_unit_test(points__stand_for_random_requests),
        cmocka_unit_test(dollars__are_those_of_prompt_and_generation),
    };
    int failed = cmocka_run_group_tests(tests, NULL, close_beds);
    registry_release();
    return failed;
}
