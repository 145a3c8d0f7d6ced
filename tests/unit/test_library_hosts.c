/* libdse in programs of all kinds: that close early, pass NULL, go to another folder, have traps, small stacks and many threads,
 * and edit files while they run. */
#include "dse_config.h"
#include "model/registry.h"
#include "scratch.h"

#include <dse/dse.h>

#include <fenv.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>

static struct dse_problems *problems;

static int set_up(void **state)
{
    (void)state;
    problems = dse_problems_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dse_problems_free(problems);
    registry_release();
    return 0;
}

static struct dse *opened(void)
{
    struct dse *d = dse_open(NULL, problems);
    if (!d) fail_msg("%s", dse_problems_text(problems));
    return d;
}

static struct dse_points *points_of(const struct dse *d, const char *model)
{
    struct dse_points *p = dse_points_new(d, model, problems);
    if (!p) fail_msg("%s", dse_problems_text(problems));
    return p;
}

static double speed_of(struct dse_points *p)
{
    double speed = 0;
    if (!dse_points_evaluate(p, 1, NULL, 0, &(struct dse_output){.name = "tokens_per_s", .numbers = &speed}, 1, problems))
        fail_msg("%s", dse_problems_text(problems));
    return speed;
}

/* It failed, and said so. */
static void expect(bool ok, const char *message)
{
    assert_false(ok);
    const char *text = dse_problems_text(problems);
    if (!strstr(text, message)) fail_msg("\"%s\" is not in \"%s\"", message, text);
    dse_problems_clear(problems);
}

static void library__closes_before_its_points_are_freed(void **state)
{
    (void)state;
    struct dse *d = opened();
    struct dse_points *p = points_of(d, "lad");
    const double before = speed_of(p);
    dse_close(d);
    assert_true(dse_points_set(p, "llm", "llama2-7b", problems)); /* an entry of the catalog */
    assert_true(speed_of(p) == before);
    dse_points_free(p);
}

static void library__tells_of_what_is_null(void **state)
{
    (void)state;
    struct dse *d = opened();
    struct dse_points *p = points_of(d, "lad");
    const double tiles = 8;
    double speed;
    const struct dse_input in = {.name = "tiles", .numbers = &tiles};
    const struct dse_output out = {.name = "tokens_per_s", .numbers = &speed};
    expect(dse_add_catalog(d, NULL, problems), "the name of the file is NULL");
    expect(dse_add_catalog(NULL, "x.toml", problems), "the struct dse is NULL");
    expect(dse_add_plugin(d, NULL, problems), "the name of the file is NULL");
    expect(dse_add_plugin(NULL, "x.toml", problems), "the struct dse is NULL");
    expect(dse_points_new(NULL, "lad", problems) != NULL, "the struct dse is NULL");
    expect(dse_points_new(d, NULL, problems) != NULL, "the name of the model is NULL");
    expect(dse_points_set(NULL, "tiles", "8", problems), "the struct dse_points is NULL");
    expect(dse_points_set(p, NULL, "8", problems), "the name of the parameter is NULL");
    expect(dse_points_set_fidelity(p, NULL, problems), "the fidelity is NULL");
    expect(dse_points_set_fidelity(NULL, "closed-form", problems), "the struct dse_points is NULL");
    expect(dse_points_evaluate(NULL, 1, &in, 1, &out, 1, problems), "the struct dse_points is NULL");
    expect(dse_points_evaluate(p, 1, NULL, 1, &out, 1, problems), "the inputs is NULL");
    expect(dse_points_evaluate(p, 1, &in, 1, NULL, 1, problems), "the outputs is NULL");
    expect(dse_points_evaluate(p, 1, &(struct dse_input){.numbers = &tiles}, 1, &out, 1, problems), "the name of an input is NULL");
    expect(dse_points_evaluate(p, 1, &in, 1, &(struct dse_output){.numbers = &speed}, 1, problems),
           "the name of an output is NULL");
    assert_true(dse_points_evaluate(p, 0, NULL, 0, NULL, 0, problems));
    assert_false(dse_points_set(NULL, NULL, NULL, NULL));
    dse_points_free(p);
    dse_close(d);
}

static void library__has_no_answer_about_what_is_null(void **state)
{
    (void)state;
    struct dse *d = opened();
    assert_null(dse_model_at(NULL, 0));
    assert_null(dse_entry_at(NULL, "llms", 0));
    assert_null(dse_entry_at(d, NULL, 0));
    assert_null(dse_column_at(d, NULL, DSE_METRIC, 0));
    assert_null(dse_column_at(NULL, "lad", DSE_METRIC, 0));
    assert_null(dse_column_find(d, NULL, "tiles"));
    assert_null(dse_column_find(d, "lad", NULL));
    assert_null(dse_problems_at(NULL, 0));
    assert_string_equal(dse_problems_text(NULL), "");
    dse_problems_clear(NULL);
    dse_problems_free(NULL);
    dse_points_free(NULL);
    dse_close(NULL);
    dse_close(d);
}

/* Bytes that the program has of the heap. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));
static size_t allocated(void)
{
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes() : mallinfo2().uordblks;
}

static void library__keeps_nothing_of_values_that_were_set_before(void **state)
{
    (void)state;
    struct dse *d = opened();
    struct dse_points *p = points_of(d, "lad");
    size_t before = 0;
    for (int i = 0; i < 2000; i++) {
        assert_true(dse_points_set(p, "context", i % 2 ? "1024" : "2048", problems));
        assert_true(dse_points_set(p, "llm", i % 2 ? "llama2-7b" : NULL, problems));
        assert_false(dse_points_set(p, "tiles", "0", NULL));
        if (i == 999) before = allocated();
    }
    assert_int_equal(allocated(), before);
    assert_true(speed_of(p) > 0);
    dse_points_free(p);
    dse_close(d);
}

/* ---- files that are edited ------------------------------------------------------------------------------------------------ */

#define LLM(name, layers) \
    "[llms." name "]\nsource = 'me'\nlayers = " layers "\nhidden = 4096\nheads = 32\nkv_heads = 32\nhead_dim = 128\n" \
    "ffn = 11008\nffn_matrices = 3\nvocab = 32000\nembedding_tables = 2\nmax_context = 100000\n"

static void library__takes_all_of_a_catalog_or_nothing(void **state)
{
    (void)state;
    char *dir = scratch_new(), *file = xasprintf("%s/mine.toml", dir);
    struct dse *d = opened();
    scratch_write(dir, "mine.toml", LLM("first", "32") "[llms.second]\nsource = 'me'\nlayers = 'many'\n");
    expect(dse_add_catalog(d, file, problems), "many");
    struct dse_points *p = points_of(d, "lad");
    expect(dse_points_set(p, "llm", "first", problems), "there is no llm \"first\"");
    scratch_write(dir, "mine.toml", LLM("first", "16") LLM("second", "32"));
    assert_true(dse_add_catalog(d, file, problems)); /* mended */
    assert_true(dse_points_set(p, "llm", "first", problems));
    const double of_16 = speed_of(p);
    assert_true(dse_points_set(p, "llm", "second", problems));
    assert_true(of_16 > 1.5 * speed_of(p));
    assert_true(dse_add_catalog(d, file, problems)); /* the same once more */
    scratch_write(dir, "mine.toml", LLM("first", "32") LLM("second", "32"));
    expect(dse_add_catalog(d, file, problems), "has other contents than when it was read first");
    dse_points_free(p);
    dse_close(d);
    free(file);
    scratch_remove(dir);
}

/* Write a model of so many multipliers; its path, which the caller frees. */
static char *write_model(const char *dir, const char *name, int pes)
{
    char *file = xasprintf("%s.toml", name), *path = xasprintf("%s/%s", dir, file);
    char *text = xasprintf("[model]\nname = '%s'\ntitle = 'multipliers'\ncite = 'a test'\nuses = ['workload']\n"
                           "[parameters]\npes = { default = %d, range = [1, 1000000], doc = 'multipliers' }\n"
                           "clock_ghz = { default = 1, range = [0.1, 5], doc = 'clock' }\n"
                           "[equations]\npeak_ops_per_s = { is = '2 * pes * clock_ghz', doc = 'peak' }\n"
                           "step_s = 'sum(for op in operators: op.ops) / peak_ops_per_s'\n"
                           "[step]\ntime = 'step_s'\nops = 'sum(for op in operators: op.ops)'\npeak_ops = 'peak_ops_per_s'\n",
                           name, pes);
    scratch_write(dir, file, text);
    free(text);
    free(file);
    return path;
}

static void library__refuses_a_model_that_was_edited(void **state)
{
    (void)state;
    char *dir = scratch_new(), *file = write_model(dir, "edited", 1000);
    struct dse *d = opened();
    if (!dse_add_plugin(d, file, problems)) fail_msg("%s", dse_problems_text(problems));
    assert_true(dse_add_plugin(d, file, problems));
    free(write_model(dir, "edited", 2000));
    expect(dse_add_plugin(d, file, problems), "other contents than when its model was loaded");
    scratch_write(dir, "edited.toml", "[model");
    expect(dse_add_plugin(d, file, problems), "edited.toml");
    struct dse_points *p = points_of(d, "edited"); /* it is what it was */
    assert_true(speed_of(p) > 0);
    dse_points_free(p);
    dse_close(d);
    free(file);
    scratch_remove(dir);
}

static void library__refuses_a_model_whose_included_file_was_edited(void **state)
{
    (void)state;
    char *dir = scratch_new(), *file = xasprintf("%s/including.toml", dir);
    struct dse *d = opened();
    scratch_write(dir, "rates.toml", "[equations]\nrate = '1000 [Hz] * pes'\n");
    scratch_write(dir, "including.toml",
                  "include = ['rates.toml']\n[model]\nname = 'including'\ntitle = 'rates'\ncite = 'a test'\n"
                  "[parameters]\npes = { default = 4, range = [1, 10], doc = 'multipliers' }\n"
                  "[step]\ntime = '1 / rate'\ntokens = '1'\n");
    if (!dse_add_plugin(d, file, problems)) fail_msg("%s", dse_problems_text(problems));
    assert_true(dse_add_plugin(d, file, problems));
    struct dse_points *p = points_of(d, "including");
    assert_true(speed_of(p) == 4000);
    scratch_write(dir, "rates.toml", "[equations]\nrate = '2000 [Hz] * pes'\n");
    expect(dse_add_plugin(d, file, problems), "other contents than when its model was loaded");
    assert_true(speed_of(p) == 4000);
    dse_points_free(p);
    dse_close(d);
    free(file);
    scratch_remove(dir);
}

static void library__has_room_for_many_models_in_toml(void **state)
{
    (void)state;
    char *dir = scratch_new();
    struct dse *d = opened();
    double speed[60];
    int i = 0, n = 0;
    for (; i < 60; i++) {
        char *name = xasprintf("many_%d", i), *file = write_model(dir, name, 1000 + i);
        if (!dse_add_plugin(d, file, problems)) fail_msg("model %d: %s", i, dse_problems_text(problems));
        struct dse_points *p = points_of(d, name);
        speed[i] = speed_of(p);
        assert_true(fabs(speed[i] / speed[0] - (1000 + i) / 1000.) < 1e-9); /* each its own formulas */
        dse_points_free(p);
        free(file);
        free(name);
    }
    bool ok = true;
    for (; ok && i < 1000; i++) {
        char *name = xasprintf("many_%d", i), *file = write_model(dir, name, 1000);
        ok = dse_add_plugin(d, file, problems);
        free(file);
        free(name);
    }
    expect(ok, "models are added already, as many as fit");
    while (dse_model_at(d, (size_t)n)) n++;
    assert_true(n >= REGISTRY_ADDED_MAX);
    dse_close(d);
    scratch_remove(dir);
}

static void library__knows_its_folder_wherever_the_program_goes(void **state)
{
    (void)state;
    char *here = getcwd(NULL, 0);
    assert_int_equal(chdir(DSE_SOURCE_DATA "/models"), 0);
    struct dse *d = dse_open("..", problems);
    if (!d) fail_msg("%s", dse_problems_text(problems));
    assert_int_equal(chdir("/"), 0);
    for (size_t i = 0; dse_model_at(d, i); i++) {
        if (strncmp(dse_model_at(d, i), "many_", 5) == 0) continue;
        struct dse_points *p = points_of(d, dse_model_at(d, i)); /* reads defaults.toml */
        const char *quality;
        assert_true(dse_points_evaluate(p, 1, NULL, 0, &(struct dse_output){.name = "quality", .texts = &quality}, 1, problems));
        dse_points_free(p);
    }
    dse_close(d);
    assert_int_equal(chdir(here), 0);
    free(here);
}

/* ---- arithmetic and threads ----------------------------------------------------------------------------------------------- */

enum { SPEEDS = 64 };

/* The speed of every model of dse, with some of its parameters changed; in the order of models. */
static size_t speeds(struct dse_problems *to, double *ret)
{
    size_t n = 0;
    struct dse *d = dse_open(NULL, to);
    for (size_t i = 0; d && dse_model_at(d, i); i++) {
        const char *name = dse_model_at(d, i);
        if (strncmp(name, "many_", 5) == 0) continue;
        struct dse_points *p = dse_points_new(d, name, to);
        const double context[] = {1024, 4096, 0};
        double speed[3];
        const struct dse_input in = {.name = "context", .numbers = context};
        const struct dse_output out = {.name = "tokens_per_s", .numbers = speed};
        if (p && n + 3 <= SPEEDS && dse_points_evaluate(p, 3, &in, 1, &out, 1, to))
            for (int k = 0; k < 3; k++) ret[n++] = speed[k];
        dse_points_free(p);
    }
    dse_close(d);
    return n;
}

static void assert_same_speeds(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) fail_msg("speed %zu: %.17g, not %.17g", i, b[i], a[i]);
}

static void library__has_its_own_arithmetic(void **state)
{
    (void)state;
    double plain[SPEEDS], others[SPEEDS];
    const size_t n = speeds(problems, plain);
    assert_true(n >= 15);
    const int traps = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;
    assert_int_equal(fesetround(FE_UPWARD), 0);
    assert_true(feenableexcept(traps) >= 0);
    assert_int_equal(speeds(problems, others), n);
    assert_int_equal(fegetexcept(), traps); /* the program's are what they were */
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetenv(FE_DFL_ENV);
    assert_same_speeds(plain, others, n);
}

struct worker {
    pthread_t thread;
    size_t n;
    double speed[SPEEDS];
};

static void *work(void *user)
{
    struct worker *w = user;
    w->n = speeds(NULL, w->speed);
    return NULL;
}

static void library__answers_many_threads_alike(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    struct worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_true(workers[i].n >= 15 && workers[i].n == workers[0].n);
        assert_same_speeds(workers[0].speed, workers[i].speed, workers[0].n);
    }
}

/* Points of one struct dse, a thread each: what an entry reads late is read once. */
struct sharer {
    pthread_t thread;
    struct dse_points *points;
    double speed;
    const char *quality;
};

static void *share(void *user)
{
    struct sharer *s = user;
    const struct dse_output out[] = {{.name = "tokens_per_s", .numbers = &s->speed}, {.name = "quality", .texts = &s->quality}};
    if (!dse_points_evaluate(s->points, 1, NULL, 0, out, 2, NULL)) s->speed = -1;
    return NULL;
}

static void library__is_shared_by_threads_and_closed_by_the_last(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    struct dse *d = opened();
    struct sharer all[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) all[i].points = points_of(d, i % 2 ? "veda" : "lad");
    dse_close(d);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&all[i].thread, NULL, share, &all[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(all[i].thread, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_true(all[i].speed > 0 && all[i].speed == all[i % 2].speed);
        dse_points_free(all[i].points);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library__closes_before_its_points_are_freed),
        cmocka_unit_test(library__tells_of_what_is_null),
        cmocka_unit_test(library__has_no_answer_about_what_is_null),
        cmocka_unit_test(library__keeps_nothing_of_values_that_were_set_before),
        cmocka_unit_test(library__takes_all_of_a_catalog_or_nothing),
        cmocka_unit_test(library__has_its_own_arithmetic),
        cmocka_unit_test(library__answers_many_threads_alike),
        cmocka_unit_test(library__is_shared_by_threads_and_closed_by_the_last),
        cmocka_unit_test(library__refuses_a_model_that_was_edited),
        cmocka_unit_test(library__refuses_a_model_whose_included_file_was_edited),
        cmocka_unit_test(library__has_room_for_many_models_in_toml),
        cmocka_unit_test(library__knows_its_folder_wherever_the_program_goes),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
