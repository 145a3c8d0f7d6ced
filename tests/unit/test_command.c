/* The command of a point: typed into a shell it is the same point, to the last digit. */
#include "bed.h"
#include "dse_config.h"
#include "samples.h"
#include "space/command.h"
#include "space/point.h"

#include <glob.h>
#include <gsl/gsl_rng.h>
#include <wordexp.h>

/* What the words of a command make: options as main.c reads them. */
struct typed {
    wordexp_t words;
    const char *settings[200], *requests;
    size_t n;
};

static void type(struct typed *t, const char *command, const char *model)
{
    *t = (struct typed){0};
    if (wordexp(command, &t->words, WRDE_NOCMD | WRDE_UNDEF)) fail_msg("a shell does not take: %s", command);
    assert_true(t->words.we_wordc >= 3);
    assert_string_equal(t->words.we_wordv[1], "eval");
    assert_string_equal(t->words.we_wordv[2], model);
    for (size_t i = 3; i + 1 < t->words.we_wordc; i += 2) {
        const char *option = t->words.we_wordv[i], *argument = t->words.we_wordv[i + 1];
        if (strcmp(option, "--set") == 0)
            t->settings[t->n++] = argument;
        else if (strcmp(option, "--requests") == 0)
            t->requests = argument;
        else
            fail_msg("%s in: %s", option, command);
    }
}

static void assert_same_value(const struct field *f, const void *typed, const void *stored, const char *command)
{
    char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
    if (field_same(f, typed, stored)) return;
    fail_msg("%s is %s, not %s: %s", f->name, value_text(f, field_get(f, typed), a), value_text(f, field_get(f, stored), b),
             command);
}

static void assert_same_metrics(const struct space *sp, const struct design_point *p, const union cell *cells, const char *command)
{
    const struct model *m = space_model(sp);
    for (size_t i = 0; i < m->metrics.n; i++) {
        const struct field *f = &m->metrics.fields[i];
        union cell cell = cells[space_column(sp, f->name)];
        bool same = true;
        if (f->type == DSE_TYPE_F64) same = f->without || cell.f64 == field_number(f, p->metrics) || isnan(cell.f64);
        if (f->type == DSE_TYPE_F64 && isnan(cell.f64)) same = f->without || isnan(field_number(f, p->metrics));
        if (f->type == DSE_TYPE_I64) same = cell.i64 == field_get(f, p->metrics).i64;
        if (f->type == DSE_TYPE_ENUM) same = strcmp(cell.text, f->choices[field_get(f, p->metrics).choice]) == 0;
        if (!same) fail_msg("%s is %.17g, not %.17g: %s", f->name, field_number(f, p->metrics), cell.f64, command);
    }
}

static void assert_same_point(struct bed *b, const struct space *sp, struct evaluator *e, uint64_t point)
{
    const struct model *m = space_model(sp);
    char *command = space_command(sp, point, FIDELITY_CLOSED_FORM, NULL, 0);
    struct typed t;
    struct design_point p;
    type(&t, command, m->desc->name);
    if (!design_point_init_mix(&p, m, b->catalog, t.settings, t.n, t.requests, &b->diags)) {
        diags_print(&b->diags, stderr, false);
        fail_msg("refused: %s", command);
    }
    void *params = xcalloc(1, m->desc->params_size);
    space_point(sp, point, params);
    for (size_t i = 0; i < m->params.n; i++) assert_same_value(&m->params.fields[i], p.params, params, command);
    size_t n;
    space_columns(sp, &n);
    union cell *cells = xcalloc(n, sizeof *cells);
    struct row row;
    assert_true(evaluator_run(e, point, 1, cells, &row));
    if (t.requests)
        assert_true(design_point_mean(&p, FIDELITY_CLOSED_FORM, NULL));
    else if (!p.reason)
        m->desc->estimate(p.params, p.metrics, NULL);
    const bool is_copy = row.reason == space_copy_reason; /* its machine has a row elsewhere */
    if (p.reason && !is_copy)
        assert_string_equal(p.reason, row.reason);
    else if (!is_copy)
        assert_same_metrics(sp, &p, cells, command);
    design_point_release(&p);
    wordfree(&t.words);
    free(command);
    free(params);
    free(cells);
}

/* Random rows of each model of a sweep. */
static void assert_same_points(struct bed *b, size_t rows)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t m = 0; m < b->sweep->n_models; m++) {
        struct space *sp = space_new(b->sweep, m, UINT64_MAX, &b->diags);
        assert_non_null(sp);
        struct evaluator *e = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
        for (size_t i = 0; i < rows; i++) assert_same_point(b, sp, e, (uint64_t)(gsl_rng_uniform(rng) * (double)space_count(sp)));
        evaluator_free(e);
        space_free(sp);
    }
    gsl_rng_free(rng);
}

static void command__gives_the_rows_of_every_shipped_sweep(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(DSE_SOURCE_DATA "/sweeps/*.toml", 0, NULL, &files), 0);
    assert_true(files.gl_pathc >= 16);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct bed b = {0};
        diags_init(&b.diags);
        b.catalog = catalog_new(DSE_SOURCE_DATA, &b.diags);
        b.sweep = sweep_file_read(files.gl_pathv[i], b.catalog, DSE_SOURCE_DATA, &b.diags);
        if (b.diags.errors) fail_msg("%s is refused", files.gl_pathv[i]);
        assert_same_points(&b, (size_t)samples(8, 50));
        sweep_file_free(b.sweep);
        catalog_free(b.catalog);
        diags_release(&b.diags);
    }
    globfree(&files);
}

static void same_points_of(const char *models, const char *sections, size_t rows)
{
    struct bed *b = open_bed_in(DSE_SOURCE_DATA, models, sections);
    assert_same_points(b, rows);
    close_bed(b);
}

static const char goal[] = "[objectives]\ntokens_per_s = 'max'\n";

/* A value that is the default is told where an entry would set another one. */
static void command__tells_what_an_entry_would_set_otherwise(void **state)
{
    (void)state;
    char *text = xasprintf("[params]\nmemory = ['hbm2-5cube', 'hbm3-h100-80gb']\nchannels = 80\ndram_pj_per_bit = 3.9\n%s", goal);
    same_points_of("'lad', 'veda'", text, 10);
    free(text);
    text = xasprintf(
        "[params]\nllm = ['llama2-7b', 'llama3-8b']\nprofile = ['published-fit', 'codellama-13b']\nsram_mib = [0.1, 2.5]\n%s",
        goal);
    same_points_of("'lad'", text, 20);
    free(text);
}

static void command__tells_a_mix_with_its_shares(void **state)
{
    (void)state;
    char *text = xasprintf("[params]\nbatch = [1, 3]\ncapacity_gib = 200\n[requests]\n"
                           "mix = { chat = 0.1, summarization = 3, translation = 1e-3 }\npoints = 7\n%s",
                           goal);
    same_points_of("'lad', 'veda', 'swiftkv', 'flashdecoding', 'ane'", text, 4);
    free(text);
}

static void command__is_safe_in_a_shell(void **state)
{
    (void)state;
    char *text =
        xasprintf("[catalog.requests]\n\"it's $(false) `a`; b\" = { source = 'made up', prompt_median = 100, prompt_p90 = 200, "
                  "generate_median = 50, generate_p90 = 60, max_tokens = 512 }\n"
                  "[params]\nllm = 'opt-2.7b'\n[requests]\nmix = \"it's $(false) `a`; b\"\n%s",
                  goal);
    struct bed *b = open_bed_in(DSE_SOURCE_DATA, "'lad'", text);
    struct space *sp = space_new(b->sweep, 0, 2, &b->diags);
    const char *catalogs[] = {"my own.toml", "-c"};
    char *command = space_command(sp, 0, FIDELITY_EVENT_LEVEL, catalogs, 2);
    assert_string_equal(command, "dse eval lad --fidelity event-level --catalog 'my own.toml' --catalog -c"
                                 " --requests 'mix = { \"it'\\''s $(false) `a`; b\" = 1 }, points = 64' --set llm=opt-2.7b");
    free(command);
    space_free(sp);
    close_bed(b);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command__gives_the_rows_of_every_shipped_sweep),
        cmocka_unit_test(command__tells_what_an_entry_would_set_otherwise),
        cmocka_unit_test(command__tells_a_mix_with_its_shares),
        cmocka_unit_test(command__is_safe_in_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
