/* Kept sets from a CSV: those of a policy that dse has give that policy's numbers, and what is no set is refused at its place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/text.h"
#include "complaints.h"
#include "random_head.h"
#include "scratch.h"
#include "attention/eviction_cache.h"
#include "attention/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 80, D = 8, LAYERS = 2, HEADS = 3, SIZE = 20, FIRST = 48 };
static const int32_t layer_ids[LAYERS] = {3, 11}, head_ids[HEADS] = {0, 4, 9};
static const struct trace_info info = {.layers = LAYERS,
                                       .heads = HEADS,
                                       .layer_ids = layer_ids,
                                       .head_ids = head_ids,
                                       .n = N,
                                       .d = D,
                                       .kv_heads = HEADS,
                                       .n_steps = N};

static char *dir, *path;

static int set_up(void **state)
{
    (void)state;
    dir = scratch_new();
    path = xasprintf("%s/kept.csv", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(path);
    scratch_remove(dir);
    return 0;
}

static bool pull(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)user;
    (void)diags;
    *ret = random_head(N, D, 2, 1 + layer * HEADS + head);
    ret->layer = (size_t)layer_ids[layer];
    return true;
}

static struct kept_sets *read_text(const char *text, struct diags *diags)
{
    scratch_write(dir, "kept.csv", text);
    return kept_sets_read(path, &info, diags);
}

/* ---- the sets of a policy ------------------------------------------------------------------------------------------------ */

/* Positions of a step as ranges, or one by one. */
static void add_set(struct text *t, const uint32_t *position, size_t n, bool ranges)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; ranges && end < n && position[end] == position[end - 1] + 1;) end++;
        text_addf(t, "%s%u", i ? " " : "", position[i]);
        if (end > i + 1) text_addf(t, "-%u", position[end - 1]);
    }
    text_add(t, "\n");
}

/* What a policy reads at every step from FIRST on. */
static void add_sets(struct text *t, const struct eviction_options *o, size_t layer, size_t head)
{
    struct head h;
    struct eviction_cache c;
    double p[N], scratch[N];
    pull(NULL, layer, head, &h, NULL);
    eviction_cache_init(&c, o, SIZE, N, 0);
    for (size_t step = 0; step < N; step++) {
        eviction_cache_enter(&c);
        double w[N], mass = 0;
        head_attention(&h, step, w, NULL);
        if (o->policy->choose && !o->policy->leave) eviction_cache_choose(&c, w, scratch);
        for (size_t i = 0; i < c.n; i++) mass += w[c.position[i]];
        for (size_t i = 0; i < c.n; i++) p[i] = w[c.position[i]] / mass;
        if (step >= FIRST) {
            text_addf(t, "%d,%d,%zu,", layer_ids[layer], head_ids[head], step);
            add_set(t, c.position, c.n, step % 2);
        }
        eviction_cache_score(&c, p);
        if (o->policy->leave) eviction_cache_evict(&c);
    }
    eviction_cache_release(&c);
    head_release(&h);
}

static void sets_of_a_policy__give_the_numbers_of_the_policy(void **state)
{
    (void)state;
    const struct head_source source = {LAYERS, HEADS, N, pull, NULL, NULL, 0};
    const struct measure_plan plan = {
        .sources = &source, .n_sources = 1, .contexts = (size_t[]){64, N}, .n_contexts = 2, .steps = 16};
    static const char *const names[] = {"h2o", "window", "oracle"};
    for (size_t i = 0; i < 3; i++) {
        struct diags diags;
        struct text t;
        diags_init(&diags);
        text_init(&t);
        struct eviction_options o = eviction_defaults;
        o.policy = eviction_policy_find(names[i]);
        o.size = SIZE;
        text_add(&t, "# of a policy\nlayer,head,step,kept\n");
        for (size_t l = LAYERS; l-- > 0;) /* in any order */
            for (size_t h = 0; h < HEADS; h++) add_sets(&t, &o, l, h);
        struct kept_sets *k = read_text(t.s, &diags);
        assert_non_null(k);
        size_t n;
        struct measured_kept rows[2];
        assert_true(measure_kept(&plan, k, rows, &n, &diags));
        assert_int_equal(n, 2);
        for (size_t c = 0; c < 2; c++) {
            struct moments mass = {0}, error = {0};
            for (size_t h = 0; h < LAYERS * HEADS; h++) {
                struct head head;
                struct eviction_result r;
                pull(NULL, h / HEADS, h % HEADS, &head, NULL);
                head.n = plan.contexts[c];
                assert_true(eviction_run(&head, &o, head.n - 16, &r, &diags));
                moments_add(&mass, r.retained_mass);
                moments_add(&error, r.output_error);
                head_release(&head);
            }
            assert_int_equal(rows[c].steps, 16);
            assert_true(fabs(rows[c].retained_mass.mean - mass.mean) < 1e-13 && rows[c].retained_mass.n == LAYERS * HEADS);
            assert_true(fabs(rows[c].attention_error.mean - error.mean) < 1e-12);
            assert_true(fabs(moments_sd(&rows[c].attention_error) - moments_sd(&error)) < 1e-12);
            double ratio = 0;
            for (size_t step = plan.contexts[c] - 16; step < plan.contexts[c]; step++)
                ratio += (SIZE + 1.0) / (double)(step + 1) / 16;
            assert_true(fabs(rows[c].ratio - ratio) < 1e-12);
        }
        kept_sets_free(k);
        text_release(&t);
        diags_release(&diags);
    }
}

/* Contexts without a step have no row; without any there is an error. */
static void contexts__without_a_step_have_no_row(void **state)
{
    (void)state;
    const struct head_source source = {LAYERS, HEADS, N, pull, NULL, NULL, 0};
    struct measure_plan plan = {.sources = &source, .n_sources = 1, .contexts = (size_t[]){32, 64, N}, .n_contexts = 3, .steps = 4};
    struct diags diags;
    struct text t;
    diags_init(&diags);
    text_init(&t);
    text_add(&t, "\xEF\xBB\xBFlayer,head,step,kept\r\n");
    for (size_t i = 0; i < LAYERS * HEADS; i++) text_addf(&t, "%d,%d,61,0-61\r\n", layer_ids[i / HEADS], head_ids[i % HEADS]);
    struct kept_sets *k = read_text(t.s, &diags);
    size_t n;
    const uint32_t *steps = kept_sets_steps(k, &n);
    assert_true(n == 1 && steps[0] == 61);
    assert_true(kept_sets_at(k, 11, 2, 0, &n)->last == 61 && n == 1);
    assert_null(kept_sets_at(k, 4, 0, 0, &n));
    assert_null(kept_sets_at(k, 3, HEADS, 0, &n));
    struct measured_kept rows[3];
    assert_true(measure_kept(&plan, k, rows, &n, &diags));
    assert_true(n == 1 && rows[0].context == 64 && rows[0].steps == 1); /* all is read */
    assert_true(fabs(rows[0].retained_mass.mean - 1) < 1e-15 && rows[0].attention_error.mean < 1e-14 && rows[0].ratio == 1);
    plan.n_contexts = 1;
    assert_false(measure_kept(&plan, k, rows, &n, &diags));
    kept_sets_free(k);
    text_release(&t);
    diags_release(&diags);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------- */

static void refuse(const char *row, int column, const char *why)
{
    struct diags diags;
    diags_init(&diags);
    char *text = xasprintf("# source: ours\nlayer,head,step,kept\n3,0,70,1-4 6\n%s\n", row);
    assert_null(read_text(text, &diags));
    expect_complaint(&diags, 4, column, why);
    free(text);
}

static void rows__are_refused_at_their_place(void **state)
{
    (void)state;
    refuse("5,0,70,1", 1, "layer: the trace has no layer 5");
    refuse("3,1,70,1", 3, "head: the trace has no head 1");
    refuse("3,4,80,1", 5, "step: 80 is beyond the trace's last, 79");
    refuse("3,4,70,0-3 71", 12, "position 71 is of the future of step 70");
    refuse("3,4,70,0-71", 8, "position 71 is of the future of step 70");
    refuse("3,4,70,0-3 3", 12, "position 3 is not behind the one before it, 3");
    refuse("3,4,70,5-3", 8, "the range 5-3 ends before it begins");
    refuse("3,4,70,", 8, "nothing; a step reads at least one position");
    refuse("3,4,70,1 x", 10, "kept: \"x\" is not a whole number");
    refuse("3,4,70,1-", 10, "kept: \"\" is not a whole number");
    refuse("3,4,70,1;2", 9, "kept: \";\" is no part of a range");
    refuse("3,4,70,-1", 8, "kept: \"-1\" is not a whole number");
    refuse("3,4,99999999999,1", 5, "step: \"9999999999");
    refuse("3,4,70", 7, "a comma is missing here");
    refuse("3;4,70,1", 2, "a comma is missing here");
    refuse("3,0,70,1", 5, "layer 3, head 0: step 70 stands there twice, first in line 3");
}

static void files__are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *why;
    } cases[] = {
        {"", 0, 0, "has no rows"},
        {"layer,head,step\n", 1, 1, "the header is not layer,head,step,kept"},
        {"layer,head,step,kept\n# nothing\n", 0, 0, "has no rows"},
        {"layer,head,step,kept\n3,0,70,1\n", 2, 5, "layer 3, head 4 has no step 70, which layer 3, head 0 has"},
        {"layer,head,step,kept\n3,0,7,1\n3,4,8,1\n3,4,7,1\n", 3, 5, "layer 3, head 0 has no step 8, which layer 3, head 4 has"},
        {"layer,head,step,kept\n3,0,7,1\n3,4,6,1\n3,4,7,1\n", 3, 5, "layer 3, head 0 has no step 6, which layer 3, head 4 has"},
        {"layer,head,step,kept\n11,9,70,1\n", 2, 6, "layer 3, head 0 has no step 70, which layer 11, head 9 has"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct diags diags;
        diags_init(&diags);
        assert_null(read_text(cases[i].text, &diags));
        expect_complaint(&diags, cases[i].line, cases[i].column, cases[i].why);
    }
    struct diags diags;
    diags_init(&diags);
    assert_null(kept_sets_read("no such file", &info, &diags));
    expect_complaint(&diags, 0, 0, "cannot read the file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_a_policy__give_the_numbers_of_the_policy),
        cmocka_unit_test(contexts__without_a_step_have_no_row),
        cmocka_unit_test(rows__are_refused_at_their_place),
        cmocka_unit_test(files__are_refused),
    };
    return cmocka_run_group_tests_name("kept_sets", tests, set_up, tear_down);
}
