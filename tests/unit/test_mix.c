/* [requests] of a sweep with made-up models: totals by hand, what is refused, what a row depends on. */
#include "bed.h"
#include "toy_model.h"

#include <math.h>

/* Entries of one length each: lognormal without a spread. */
static const char entries[] =
    "[catalog.requests.a]\nsource = 'me'\nprompt_median = 100\nprompt_p90 = 100\ngenerate_median = 51\ngenerate_p90 = 51\n"
    "max_tokens = 2000\n"
    "[catalog.requests.b]\nsource = 'me'\nprompt_median = 1000\nprompt_p90 = 1000\ngenerate_median = 11\ngenerate_p90 = 11\n"
    "max_tokens = 2000\n"
    "[catalog.requests.wide]\nsource = 'me'\nprompt_median = 200\nprompt_p90 = 900\ngenerate_median = 100\ngenerate_p90 = 300\n"
    "max_tokens = 3000\n"
    "[catalog.requests.same]\nsource = 'me'\nprompt_median = 200\nprompt_p90 = 900\ngenerate_median = 100\ngenerate_p90 = 300\n"
    "max_tokens = 3000\n"
    "[objectives]\ntokens_per_s = 'max'\n";

static struct bed *open_mix(const char *models, const char *sections)
{
    char *text = xasprintf("%s\n%s", sections, entries);
    struct bed *b = open_bed_in(toy_data_dir(), models, text);
    free(text);
    return b;
}

/* The rows of a sweep's only model. */
struct mixed {
    struct bed *bed;
    struct rows rows;
};

static struct mixed mixed(const char *model, const char *sections)
{
    struct mixed m = {.bed = open_mix(model, sections)};
    m.rows = rows_of(m.bed, 0, 1000, false);
    return m;
}

static void mixed_release(struct mixed *m)
{
    rows_release(&m->rows);
    close_bed(m->bed);
}

/* ---- totals ------------------------------------------------------------------------------------------------------------- */

/* The columns of the plain rows but those of notes. Rows with requests have what a request costs, and one note more. */
static void check_same(const struct rows *a, const struct rows *b, size_t n)
{
    size_t all, numbers = 0;
    const struct column *columns = space_columns(a->space, &all);
    while (columns[numbers].role != COLUMN_NOTE) numbers++;
    for (size_t i = 0; i < n; i++)
        assert_memory_equal(a->cells + i * a->columns, b->cells + i * b->columns, numbers * sizeof *a->cells);
    assert_int_equal(b->columns, all + 3);
}

static void requests__of_one_length_give_the_plain_row(void **state)
{
    (void)state;
    static const struct {
        const char *model, *plain, *mix;
    } cases[] = {
        {"'pebble'", "[params]\nprompt = 100\ngenerate = 51\nbatch = [1, 2, 3]\nlanes = [7, 9]\n",
         "[params]\nbatch = [1, 2, 3]\nlanes = [7, 9]\n[requests]\nmix = 'a'\n"},
        {"'toy'", "[params]\ncontext = 126\nbatch = [1, 2, 3]\ntiles = [7, 9]\n",
         "[params]\nbatch = [1, 2, 3]\ntiles = [7, 9]\n[requests]\nmix = 'a'\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mixed plain = mixed(cases[i].model, cases[i].plain), mix = mixed(cases[i].model, cases[i].mix);
        assert_int_equal(plain.rows.n, 6);
        check_same(&plain.rows, &mix.rows, 6);
        mixed_release(&plain);
        mixed_release(&mix);
    }
}

/* What 3 requests of a and 7 of b take, and their rows: tokens, time, steps, energy. */
static void requests__are_weighed_by_what_they_take(void **state)
{
    (void)state;
    struct mixed a = mixed("'pebble'", "[params]\nbatch = 4\nprompt = 100\ngenerate = 51\n"),
                 b = mixed("'pebble'", "[params]\nbatch = 4\nprompt = 1000\ngenerate = 11\n"),
                 mix = mixed("'pebble'", "[params]\nbatch = 4\n[requests]\nmix = { b = 7, a = 3 }\n");
    double tokens_a = 3 * 51, tokens_b = 7 * 11, tokens = tokens_a + tokens_b;
    double seconds_a = tokens_a / number(&a.rows, 0, "tokens_per_s"), seconds_b = tokens_b / number(&b.rows, 0, "tokens_per_s");
    double seconds = seconds_a + seconds_b, steps = tokens / 4;
    near(number(&mix.rows, 0, "tokens_per_s"), tokens / seconds);
    near(number(&mix.rows, 0, "latency_us"), seconds * 1e6 / steps);
    near(number(&mix.rows, 0, "attention_us"),
         (tokens_a / 4 * number(&a.rows, 0, "attention_us") + tokens_b / 4 * number(&b.rows, 0, "attention_us")) / steps);
    near(number(&mix.rows, 0, "energy_mj"),
         (tokens_a * number(&a.rows, 0, "energy_mj") + tokens_b * number(&b.rows, 0, "energy_mj")) / tokens);
    near(number(&mix.rows, 0, "dram_mib"),
         (tokens_a * number(&a.rows, 0, "dram_mib") + tokens_b * number(&b.rows, 0, "dram_mib")) / tokens);
    assert_true(number(&mix.rows, 0, "area_mm2") == number(&a.rows, 0, "area_mm2")); /* to the last bit */
    assert_true(number(&mix.rows, 0, "power_w") == 1);
    mixed_release(&a);
    mixed_release(&b);
    mixed_release(&mix);
}

/* toy knows no requests: the step at the mean context, 126 and 1006; names by most time, NULL stays NULL. */
static void requests__of_a_model_that_knows_none_are_steps_at_the_mean_context(void **state)
{
    (void)state;
    struct mixed steps = mixed("'toy'", "[params]\ncontext = [126, 1006]\n"),
                 mix = mixed("'toy'", "[requests]\nmix = { a = 3, b = 7 }\n");
    double tokens[] = {3 * 51, 7 * 11}, seconds = 0, used = 0, active = 0;
    for (size_t i = 0; i < 2; i++) {
        double s = tokens[i] / number(&steps.rows, i, "tokens_per_s");
        seconds += s;
        used += s * number(&steps.rows, i, "dram_utilization");
        active += s * number(&steps.rows, i, "active");
    }
    near(number(&mix.rows, 0, "tokens_per_s"), (tokens[0] + tokens[1]) / seconds);
    near(number(&mix.rows, 0, "dram_utilization"), used / seconds);
    near(number(&mix.rows, 0, "active"), active / seconds);
    assert_true(number(&mix.rows, 0, "rounds") == number(&steps.rows, 0, "rounds"));
    assert_true(isnan(number(&mix.rows, 0, "energy_mj")));
    mixed_release(&steps);
    mixed_release(&mix);
}

/* A batch of 8 is bound by computing at short contexts, where it shares the weights, and by the DRAM at long ones. */
static void requests__give_names_by_the_most_time(void **state)
{
    (void)state;
    static const char machine[] = "tiles = 1\nclock_ghz = 1\nbandwidth_gbs = 200\noverhead_us = 0\nbatch = 8\npipeline = 'none'\n";
    char *steps = xasprintf("[params]\ncontext = [126, 1006]\n%s", machine);
    struct mixed of_steps = mixed("'toy'", steps);
    size_t bound = space_column(of_steps.rows.space, "bound"), columns = of_steps.rows.columns;
    assert_string_equal(of_steps.rows.cells[bound].text, "compute");
    assert_string_equal(of_steps.rows.cells[columns + bound].text, "dram");
    for (int share = 0; share < 2; share++) {
        char *text = xasprintf("[params]\n%s[requests]\nmix = { a = %d, b = 10 }\n", machine, share ? 1 : 100);
        struct mixed m = mixed("'toy'", text);
        assert_string_equal(m.rows.cells[bound - 1].text, share ? "dram" : "compute"); /* no column of contexts */
        mixed_release(&m);
        free(text);
    }
    mixed_release(&of_steps);
    free(steps);
}

static void requests__of_two_equal_entries_are_those_of_one(void **state)
{
    (void)state;
    struct mixed one = mixed("'pebble'", "[params]\nbatch = [1, 8]\n[requests]\nmix = 'wide'\n"),
                 two = mixed("'pebble'", "[params]\nbatch = [1, 8]\n[requests]\nmix = { wide = 0.3, same = 0.7 }\n");
    assert_int_equal(one.bed->sweep->requests.n, two.bed->sweep->requests.n);
    static const char *const columns[] = {"tokens_per_s", "latency_us", "attention_us", "energy_mj", "dram_mib"};
    for (size_t i = 0; i < 2; i++)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            near(number(&two.rows, i, columns[c]), number(&one.rows, i, columns[c]));
    mixed_release(&one);
    mixed_release(&two);
}

/* pebble is linear in the context: the mean over any number of requests is the step at the mean of all steps' contexts. */
static void requests__of_a_linear_model_need_their_mean_context_only(void **state)
{
    (void)state;
    for (int points = 1; points <= 400; points = points * 2 + 1) {
        char *text = xasprintf("[requests]\nmix = { wide = 2, b = 1 }\npoints = %d\n", points);
        struct mixed m = mixed("'pebble'", text);
        const struct request_mix *mix = &m.bed->sweep->requests;
        double tokens = 0, positions = 0, share = 0;
        for (size_t i = 0; i < mix->n; i++) {
            const struct mixed_request *q = &mix->requests[i];
            share += q->share;
            tokens += q->share * (double)q->generate;
            positions += q->share * (double)q->generate * ((double)q->prompt + 0.5 * (double)(q->generate + 1));
        }
        near(share, 1);
        struct pebble_params p;
        struct pebble_metrics metrics;
        space_point(m.rows.space, 0, &p);
        p.request.generate = 0;
        p.context = 1000000;
        dse_model_pebble.estimate(&p, &metrics, NULL);
        double far = metrics.common.latency_us;
        p.context = 1;
        dse_model_pebble.estimate(&p, &metrics, NULL);
        double slope = (far - metrics.common.latency_us) / 999999;
        double wanted = metrics.common.latency_us + slope * (positions / tokens - 1);
        assert_true(fabs(number(&m.rows, 0, "latency_us") - wanted) < 1e-9 * wanted);
        mixed_release(&m);
        free(text);
    }
}

/* ---- rows --------------------------------------------------------------------------------------------------------------- */

/* toy's LLM `tiny` knows 4096 positions. The longest request is tried first, the shortest next. */
static void requests__that_cannot_be_served_are_named(void **state)
{
    (void)state;
    static const char long_entry[] =
        "[catalog.requests.long]\nsource = 'me'\nprompt_median = 8000\nprompt_p90 = 8000\ngenerate_median = 500\n"
        "generate_p90 = 500\nmax_tokens = 9000\n";
    char *text = xasprintf("[params]\nsram_mib = [0.25, 1]\ntiles = 4\n[requests]\nmix = { a = 1, long = 1 }\n%s", long_entry);
    struct mixed m = mixed("'toy'", text);
    assert_string_equal(m.rows.rows[0].reason, "request of 8000 + 500 tokens: the context is longer than the model knows");
    assert_ptr_equal(m.rows.rows[0].reason, m.rows.rows[1].reason);
    assert_true(isnan(number(&m.rows, 0, "tokens_per_s")));
    mixed_release(&m);
    free(text);
    m = mixed("'toy'", "[params]\nsram_mib = [0.25, 1]\ntiles = 4\n[requests]\nmix = { a = 1, b = 1 }\n");
    assert_string_equal(m.rows.rows[0].reason, "request of 1000 + 11 tokens: a tile has less than 0.125 MiB of SRAM");
    assert_null(m.rows.rows[1].reason);
    mixed_release(&m);
}

static void requests__leave_rows_to_the_point_alone(void **state)
{
    (void)state;
    static const char sections[] =
        "[params]\nllm = ['tiny', 'small']\ntiles = [1, 2, 4, 8]\nsram_mib = [0.25, 1]\nbatch = { from = 1, to = 20, step = 1 }\n"
        "bandwidth_gbs = [10, 20]\n[requests]\nmix = { wide = 1, b = 2 }\n[derive]\ntwice = '2 * speedup'\n"
        "[constraints]\nfast = 'tokens_per_s > 1'\n[baseline]\nmodel = 'pebble'\n";
    struct bed *b = open_mix("'toy'", sections);
    struct rows all = rows_of(b, 0, 1000, false), one = rows_of(b, 0, 1, true), some = rows_of(b, 0, 37, false);
    assert_int_equal(all.n, 640);
    assert_memory_equal(all.cells, one.cells, all.n * all.columns * sizeof *all.cells);
    assert_memory_equal(all.cells, some.cells, all.n * all.columns * sizeof *all.cells);
    assert_true(number(&all, all.n - 1, "speedup") > 0);
    rows_release(&all);
    rows_release(&one);
    rows_release(&some);
    close_bed(b);
}

/* A parameter left "auto" is resolved at every point, and a row has what was resolved. */
static void requests__keep_resolved_parameters(void **state)
{
    (void)state;
    struct mixed plain = mixed("'toy'", "[params]\ncontext = 126\nchannels = [2, 4]\n"),
                 mix = mixed("'toy'", "[params]\nchannels = [2, 4]\n[requests]\nmix = 'a'\n");
    for (size_t i = 0; i < 2; i++) {
        assert_true(number(&mix.rows, i, "bandwidth_gbs") == number(&plain.rows, i, "bandwidth_gbs"));
        assert_true(number(&mix.rows, i, "tokens_per_s") == number(&plain.rows, i, "tokens_per_s"));
    }
    assert_int_equal(space_column(mix.rows.space, "context"), SIZE_MAX);
    mixed_release(&plain);
    mixed_release(&mix);
}

/* At event level each request is a run of its own, of the baseline too. toy's event level takes longer than its closed form. */
static void requests__run_at_event_level(void **state)
{
    (void)state;
    static const char machine[] = "[params]\nbatch = 2\ntiles = [2, 4]\noverhead_us = 3\n";
    char *plain = xasprintf("%scontext = 126\n[baseline]\nmodel = 'toy'\n", machine),
         *one = xasprintf("%s[requests]\nmix = 'a'\n[baseline]\nmodel = 'toy'\n", machine),
         *two = xasprintf("%s[requests]\nmix = { a = 3, b = 7 }\n[baseline]\nmodel = 'toy'\n", machine),
         *steps = xasprintf("%scontext = [126, 1006]\n", machine);
    struct bed *beds[] = {open_mix("'toy'", plain), open_mix("'toy'", one), open_mix("'toy'", two), open_mix("'toy'", steps)};
    struct rows rows[4], closed = rows_of(beds[2], 0, 2, false);
    for (int i = 0; i < 4; i++) rows[i] = rows_at(FIDELITY_EVENT_LEVEL, beds[i], 0, 4, false);
    check_same(&rows[0], &rows[1], 2);
    for (size_t i = 0; i < 2; i++) { /* of steps, the context varies first */
        double a = number(&rows[3], i, "tokens_per_s"), b = number(&rows[3], 2 + i, "tokens_per_s");
        near(number(&rows[2], i, "tokens_per_s"), (3 * 51 + 7 * 11) / (3 * 51 / a + 7 * 11 / b));
        assert_true(number(&rows[2], i, "tokens_per_s") < number(&closed, i, "tokens_per_s"));
    }
    rows_release(&closed);
    for (int i = 0; i < 4; i++) {
        rows_release(&rows[i]);
        close_bed(beds[i]);
    }
    free(plain);
    free(one);
    free(two);
    free(steps);
}

/* A run that is stopped ends the mix, and the block. */
static void requests__stop_when_asked(void **state)
{
    (void)state;
    struct bed *b = open_mix("'toy'", "[params]\ntiles = [1, 2]\n[requests]\nmix = { a = 1, b = 1 }");
    struct space *sp = space_new(b->sweep, 0, 10, &b->diags);
    size_t columns;
    space_columns(sp, &columns);
    union cell *cells = xcalloc(2 * columns, sizeof *cells);
    struct row rows[2];
    static volatile sig_atomic_t stop = 1;
    struct evaluator *e = evaluator_new(sp, FIDELITY_EVENT_LEVEL, &stop);
    assert_false(evaluator_run(e, 0, 2, cells, rows));
    stop = 0;
    assert_true(evaluator_run(e, 0, 2, cells, rows));
    assert_true(!rows[0].reason && !rows[1].reason);
    evaluator_free(e);
    free(cells);
    space_free(sp);
    close_bed(b);
}

/* ---- the baseline ------------------------------------------------------------------------------------------------------- */

static void requests__are_served_by_the_baseline_too(void **state)
{
    (void)state;
    struct mixed m = mixed("'pebble'", "[params]\nlanes = 8\nbatch = [1, 4]\nllm = ['tiny', 'small']\n"
                                       "[requests]\nmix = { wide = 2, b = 1 }\n[baseline]\nmodel = 'pebble'\nlanes = 8\n");
    for (size_t i = 0; i < m.rows.n; i++)
        assert_true(number(&m.rows, i, "speedup") == 1 && number(&m.rows, i, "attention_speedup") == 1 &&
                    number(&m.rows, i, "energy_ratio") == 1 && number(&m.rows, i, "latency_ratio") == 1);
    mixed_release(&m);

    /* A baseline that knows no requests beside points that do: the ratio of both models' means. */
    static const char mix[] = "[params]\nbatch = 2\nllm = 'tiny'\n[requests]\nmix = { wide = 2, b = 1 }\n";
    char *text = xasprintf("%s[baseline]\nmodel = 'toy'\n", mix);
    struct mixed ratio = mixed("'pebble'", text), pebble = mixed("'pebble'", mix), toy = mixed("'toy'", mix);
    near(number(&ratio.rows, 0, "speedup"), number(&pebble.rows, 0, "tokens_per_s") / number(&toy.rows, 0, "tokens_per_s"));
    near(number(&ratio.rows, 0, "latency_ratio"), number(&pebble.rows, 0, "latency_us") / number(&toy.rows, 0, "latency_us"));
    double share_p = number(&pebble.rows, 0, "attention_us") / number(&pebble.rows, 0, "latency_us");
    double share_t = number(&toy.rows, 0, "attention_us") / number(&toy.rows, 0, "latency_us");
    near(number(&ratio.rows, 0, "attention_speedup"),
         share_t / number(&toy.rows, 0, "tokens_per_s") / (share_p / number(&pebble.rows, 0, "tokens_per_s")));
    mixed_release(&ratio);
    mixed_release(&pebble);
    mixed_release(&toy);
    free(text);

    /* One that cannot serve all of them has no ratios. */
    m = mixed("'pebble'",
              "[requests]\nmix = { a = 1, long = 1 }\n[baseline]\nmodel = 'toy'\n[catalog.requests.long]\nsource = 'me'\n"
              "prompt_median = 8000\nprompt_p90 = 8000\ngenerate_median = 500\ngenerate_p90 = 500\nmax_tokens = 9000\n");
    assert_true(!m.rows.rows[0].reason && isnan(number(&m.rows, 0, "speedup")));
    mixed_release(&m);
}

/* ---- the run ------------------------------------------------------------------------------------------------------------ */

static uint64_t hash_of(const char *requests)
{
    char *text = xasprintf("[params]\nlanes = [1, 2]\n%s", requests);
    struct bed *b = open_mix("'pebble'", text);
    free(text);
    struct space *sp = space_new(b->sweep, 0, 1000, &b->diags);
    assert_non_null(sp);
    uint64_t h = space_hash(sp);
    space_free(sp);
    close_bed(b);
    return h;
}

static void requests__are_part_of_the_hash(void **state)
{
    (void)state;
    uint64_t h = hash_of("[requests]\nmix = { a = 1, wide = 3 }");
    assert_true(h != hash_of(""));
    assert_true(h == hash_of("[requests]\npoints = 64\nmix = { wide = 3, a = 1 }"));
    assert_true(h == hash_of("[requests.mix]\nwide = 0.75\na = 0.25"));
    assert_true(h == hash_of("[requests]\nmix = { a = 1, same = 3 }")); /* the very same requests under another name */
    assert_true(h != hash_of("[requests]\nmix = { a = 1, wide = 2 }"));
    assert_true(h != hash_of("[requests]\nmix = { a = 1, wide = 3 }\npoints = 100"));
    assert_true(h != hash_of("[requests]\nmix = { b = 1, wide = 3 }"));
}

static void requests__as_text_have_their_shares(void **state)
{
    (void)state;
    struct bed *b = open_mix("'toy'", "[requests]\nmix = { b = 3, a = 1 }");
    assert_string_equal(b->sweep->requests_text, "a 0.25, b 0.75");
    char *text = sweep_requests_description(b->sweep);
    assert_string_equal(
        text, "a 0.25, b 0.75: 2 requests a row, in the mean 775 + 21 tokens, the longest 1000 + 11, the shortest 100 + 51");
    free(text);
    close_bed(b);
    b = open_mix("'toy'", "[requests]\nmix = 'a'");
    text = sweep_requests_description(b->sweep);
    assert_string_equal(text, "a: 1 request a row, in the mean 100 + 51 tokens, the longest 100 + 51, the shortest 100 + 51");
    free(text);
    close_bed(b);
    b = open_mix("'toy'", "");
    assert_true(!b->sweep->averages && !b->sweep->requests_text && !sweep_requests_description(b->sweep));
    close_bed(b);
}

/* ---- what is refused ---------------------------------------------------------------------------------------------------- */

static void refused(const char *sections, size_t errors, const char *part)
{
    char *text = xasprintf("%s\n%s", sections, entries);
    struct bed *b = try_bed(toy_data_dir(), "'toy', 'pebble'", text);
    for (size_t m = 0; m < 2; m++) space_check(b->sweep, m, &b->diags);
    if (b->diags.errors != errors || !strstr(b->diags.list[0].message, part)) {
        diags_print(&b->diags, stderr, false);
        fail_msg("wanted: %zu errors, %s", errors, part);
    }
    close_bed(b);
    free(text);
}

static void requests__that_mean_nothing_are_refused(void **state)
{
    (void)state;
    refused("requests = 3", 1, "requests: a table is needed, not an integer");
    refused("[requests]", 1, "[requests] names no mix");
    refused("[requests]\nmix = 'aa'", 1, "there is no request mix \"aa\"");
    refused("[requests]\nmix = {}", 1, "the mix is empty");
    refused("[requests]\nmix = ['a', 'b']", 1, "mix is a name or a table of shares, not a list");
    refused("[requests]\nmix = { a = 'b' }", 1, "the share of a must be a number, not a string");
    refused("[requests]\nmix = { a = 0, b = -1, wide = nan, same = inf }", 4, "the share of a must be above 0");
    refused("[requests]\nmix = { a = 1, c = 1 }", 1, "there is no request mix \"c\"");
    refused("[requests]\nmix = 'a'\npoints = 0", 1, "points is 1 to 4096, not 0");
    refused("[requests]\nmix = 'a'\npoints = 4097", 1, "points is 1 to 4096, not 4097");
    refused("[requests]\nmix = 'a'\npoints = 1.5", 1, "points");
    refused("[requests]\nmix = 'a'\nmixture = 'b'", 1, "unknown key \"mixture\"");
    /* Lengths of their own, said once each. */
    refused("[params]\ncontext = 5\n[requests]\nmix = 'a'", 1, "context: [requests] gives each request its own");
    refused("[params]\nprompt = [5, 6]\ngenerate = 7\n[requests]\nmix = 'a'", 2, "prompt: [requests] gives each request its own");
    refused("[params.toy]\ncontext = 1\n[params.pebble]\ncontext = 2\n[requests]\nmix = 'a'", 2, "context: [requests]");
    refused("[requests]\nmix = 'a'\n[baseline]\nmodel = 'toy'\ncontext = 3", 1, "baseline: context: [requests] gives each");
    refused("[requests]\nmix = 'a'\n[constraints]\nc = '2 * context > 3'", 1, "context has no one value");
    refused("[requests]\nmix = 'a'\n[derive]\nd = 'generate + prompt'", 1, "generate has no one value");
    refused("[requests]\nmix = 'a'\n[derive]\nrequests = 'batch'", 1, "there is a column \"requests\" already");
    refused("[requests]\nmix = 'huge'\n[catalog.requests.huge]\nsource = 'me'\nprompt_median = 2e6\nprompt_p90 = 2e6\n"
            "generate_median = 2\ngenerate_p90 = 2\nmax_tokens = 3000000",
            3, "context of a request is 2,000,002; in model toy it is at most 1,000,000");
}

/* The place of an expression's fault is inside the expression. */
static void requests__faults_have_their_place(void **state)
{
    (void)state;
    char *text = xasprintf("[requests]\nmix = 'a'\n[constraints]\nc = '2 * context > 3'\n%s", entries);
    struct bed *b = open_bed_in(toy_data_dir(), "'toy'", text);
    assert_false(space_check(b->sweep, 0, &b->diags));
    assert_int_equal(b->diags.list[0].line, 5);
    assert_int_equal(b->diags.list[0].column, 10);
    close_bed(b);
    free(text);
    text = xasprintf("[objectives]\ntokens_per_s = 'max'\nper = ['llm', 'context']\n[requests]\nmix = 'a'\n%.*s",
                     (int)(strstr(entries, "[objectives]") - entries), entries);
    b = try_bed(toy_data_dir(), "'toy'", text);
    assert_int_equal(b->diags.errors, 1);
    assert_string_equal(b->diags.list[0].message, "per: context is not one value: [requests] gives each request its own");
    assert_int_equal(b->diags.list[0].line, 4);
    close_bed(b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests__of_one_length_give_the_plain_row),
        cmocka_unit_test(requests__are_weighed_by_what_they_take),
        cmocka_unit_test(requests__of_a_model_that_knows_none_are_steps_at_the_mean_context),
        cmocka_unit_test(requests__give_names_by_the_most_time),
        cmocka_unit_test(requests__of_two_equal_entries_are_those_of_one),
        cmocka_unit_test(requests__of_a_linear_model_need_their_mean_context_only),
        cmocka_unit_test(requests__that_cannot_be_served_are_named),
        cmocka_unit_test(requests__leave_rows_to_the_point_alone),
        cmocka_unit_test(requests__keep_resolved_parameters),
        cmocka_unit_test(requests__run_at_event_level),
        cmocka_unit_test(requests__stop_when_asked),
        cmocka_unit_test(requests__are_served_by_the_baseline_too),
        cmocka_unit_test(requests__are_part_of_the_hash),
        cmocka_unit_test(requests__as_text_have_their_shares),
        cmocka_unit_test(requests__that_mean_nothing_are_refused),
        cmocka_unit_test(requests__faults_have_their_place),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
