/* Sweep files: what is read from them, and that every fault is found, where it stands, in one go. */
#include "complaints.h"
#include "scratch.h"
#include "toy_model.h"

#include "config/sweep_file.h"

#include <math.h>

static struct diags diags;

static int tear_down(void **state)
{
    (void)state;
    registry_release();
    return 0;
}

static struct catalog *toy_catalog(void)
{
    struct catalog *c = catalog_new(toy_data_dir(), &diags);
    expect_silence(&diags);
    assert_non_null(c);
    return c;
}

/* The file's text; the catalog must be freed after the sweep. */
static struct sweep_file *read_text(const char *text, struct catalog **ret_catalog)
{
    *ret_catalog = toy_catalog();
    return sweep_file_read_text("dir/t.toml", text, strlen(text), *ret_catalog, toy_data_dir(), &diags);
}

static void refuse_all(const char *text, const struct complaint *want, size_t n)
{
    struct catalog *c;
    struct sweep_file *s = read_text(text, &c);
    sweep_file_free(s);
    catalog_free(c);
    expect_complaints(&diags, want, n);
}

static void refuse(const char *text, int line, int column, const char *part)
{
    const struct complaint want = {line, column, part};
    refuse_all(text, &want, 1);
}

/* A sweep of toy whose [params] are `lines`, which start at line 3. */
static void refuse_params(const char *lines, int line, int column, const char *part)
{
    char *text = xasprintf("sweep = { name = 's', models = ['toy'] }\n[params]\n%s\n[objectives]\ntokens_per_s = 'max'\n", lines);
    refuse(text, line, column, part);
    free(text);
}

/* A good sweep with `lines` at its end, which start at line 4. */
static void refuse_section(const char *lines, int line, int column, const char *part)
{
    char *text = xasprintf("sweep = { name = 's', models = ['toy'] }\n[objectives]\ntokens_per_s = 'max'\n%s", lines);
    refuse(text, line, column, part);
    free(text);
}

static const struct given *given_of(const struct binding *b, const char *name)
{
    const struct field *f = schema_find(&b->model->params, name);
    assert_non_null(f);
    return &b->given[schema_index(&b->model->params, f)];
}

static void sweep_file__knows_three_fidelities(void **state)
{
    (void)state;
    static const struct {
        const char *head, *name;
        enum fidelity fidelity;
        bool refine;
        uint64_t runs;
    } good[] = {
        {"", "closed-form", FIDELITY_CLOSED_FORM, false, SWEEP_REFINE_RUNS},
        {"fidelity = 'closed-form'\n", "closed-form", FIDELITY_CLOSED_FORM, false, SWEEP_REFINE_RUNS},
        {"fidelity = 'event-level'\n", "event-level", FIDELITY_EVENT_LEVEL, false, SWEEP_REFINE_RUNS},
        {"fidelity = 'refine'\n", "refine", FIDELITY_CLOSED_FORM, true, SWEEP_REFINE_RUNS},
        {"fidelity = 'refine'\n[refine]\nruns = 12\n", "refine", FIDELITY_CLOSED_FORM, true, 12},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char *text = xasprintf("[sweep]\nname = 's'\nmodels = ['toy']\n%s[objectives]\ntokens_per_s = 'max'\n", good[i].head);
        struct catalog *c;
        struct sweep_file *s = read_text(text, &c);
        expect_silence(&diags);
        assert_string_equal(sweep_fidelity_text(s), good[i].name);
        assert_true(s->fidelity == good[i].fidelity && s->refine == good[i].refine && s->refine_runs == good[i].runs);
        sweep_file_free(s);
        catalog_free(c);
        free(text);
    }
    refuse_section("[refine]\nruns = 5\n", 4, 2, "does not refine");
    refuse_section("[[refine]]\nruns = 5\n", 4, 1, "table");
    static const char head[] =
        "sweep = { name = 's', models = ['toy'], fidelity = 'refine' }\nobjectives = { tokens_per_s = 'max' }\n";
    static const struct complaint bad[] = {
        {4, 8, "1 to 10000000"}, {4, 8, "an integer is needed"}, {4, 1, "did you mean \"runs\""}};
    static const char *const runs[] = {"runs = 0", "runs = 1.5", "run = 5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = xasprintf("%s[refine]\n%s\n", head, runs[i]);
        refuse_all(text, &bad[i], 1);
        free(text);
    }
}

static void sweep_file__refuses_a_baseline_that_is_not_one_point(void **state)
{
    (void)state;
    refuse_section("[baseline]\nlanes = 2\n", 4, 2, "[baseline] names no model");
    refuse_section("[baseline]\nmodel = 'peble'\n", 5, 9, "did you mean \"pebble\"");
    refuse_section("[baseline]\nmodel = 4\n", 5, 9, "a model's name is needed, not an integer");
    refuse_section("[baseline]\nmodel = 'pebble'\nlanes = [2, 4]\n", 6, 9, "lanes: one value is needed, not a list");
    refuse_section("[baseline]\nmodel = 'pebble'\nlanes = [2]\n", 6, 9, "lanes: one value is needed, not a list");
    refuse_section("[baseline]\nmodel = 'pebble'\nlanes = { from = 1, to = 2, step = 1 }\n", 6, 9, "not a range");
    refuse_section("[baseline]\nmodel = 'pebble'\ntiles = 2\n", 6, 1, "pebble has no parameter \"tiles\"");
    refuse_section("[baseline]\nmodel = 'pebble'\nlane = 2\n", 6, 1, "did you mean \"lanes\"");
    refuse_section("[baseline]\nmodel = 'pebble'\nlanes = 0\n", 6, 9, "below the minimum");
    refuse_section("[baseline]\nmodel = 'toy'\nchannel_gbs = 2\nbandwidth_gbs = 8\n", 7, 17, "cannot both be given");
    refuse_section("[[baseline]]\nmodel = 'pebble'\n", 4, 1, "table");
    refuse_section("[derive]\nspeedup = 'tiles'\n[baseline]\nmodel = 'pebble'\n", 5, 1, "there is a column \"speedup\" already");
    refuse_section("[derive]\nModel = 'tiles'\n", 5, 1, "there is a column \"Model\" already");
    refuse("baseline = 'pebble'\nsweep = { name = 's', models = ['toy'] }\n[objectives]\ntokens_per_s = 'max'\n", 1, 12, "table");
}

static void sweep_file__reads_every_section(void **state)
{
    (void)state;
    struct catalog *c;
    struct sweep_file *s = read_text("# Which toy is best?\n"
                                     "[sweep]\n"
                                     "name = \"toys-1\"\n"
                                     "models = [\"toy\", \"pebble\"]\n"
                                     "fidelity = \"closed-form\"\n"
                                     "[params]\n"
                                     "llm = [\"tiny\", \"mine\"]\n"
                                     "clock_ghz = { from = 0.5, to = 2.5, step = 0.5 }\n"
                                     "[params.toy]\n"
                                     "tiles = 4\n"
                                     "[params.pebble]\n"
                                     "lanes = [1, 2, 4]\n"
                                     "[constraints]\n"
                                     "small = \"area_mm2 <= 25\"\n"
                                     "fast = '''\nlatency_us < 5'''\n"
                                     "[derive]\n"
                                     "zeta = 'tiles'\n"
                                     "density = \"\"\"tokens_per_s / area_mm2\"\"\"\n"
                                     "[objectives]\n"
                                     "tokens_per_s = \"max\"\n"
                                     "area_mm2 = \"min\"\n"
                                     "per = [\"llm\", \"context\"]\n"
                                     "[sample]\n"
                                     "method = \"grid\"\n"
                                     "[catalog.llms.mine]\n"
                                     "source = 'me'\nlayers = 1\nhidden = 64\nheads = 1\nkv_heads = 1\nhead_dim = 64\nffn = 64\n"
                                     "ffn_matrices = 2\nvocab = 10\nembedding_tables = 1\nmax_context = 100\n",
                                     &c);
    expect_silence(&diags);
    assert_non_null(s);
    assert_string_equal(s->question, "Which toy is best?");
    assert_string_equal(s->name, "toys-1");
    assert_int_equal(s->n_models, 2);
    const struct binding *toy = s->bindings[0], *pebble = s->bindings[1];
    assert_string_equal(pebble->model->desc->name, "pebble");
    assert_int_equal(given_of(toy, "clock_ghz")->n, 5);
    assert_int_equal(given_of(pebble, "clock_ghz")->n, 5);
    assert_string_equal(given_of(pebble, "llm")->values[1].ref->name, "mine");
    assert_true(given_of(toy, "tiles")->is_given);
    assert_int_equal(given_of(pebble, "lanes")->n, 3);
    assert_false(given_of(toy, "batch")->is_given);
    assert_int_equal(given_of(toy, "clock_ghz")->loc.line, 8);

    assert_int_equal(s->n_constraints, 2); /* sorted by name; the place is behind the quotes */
    assert_string_equal(s->constraints[0].name, "fast");
    assert_string_equal(s->constraints[0].expr, "latency_us < 5");
    assert_int_equal(s->constraints[0].loc.line, 16);
    assert_int_equal(s->constraints[0].loc.column, 1);
    assert_int_equal(s->constraints[1].loc.line, 14);
    assert_int_equal(s->constraints[1].loc.column, 10);
    assert_int_equal(s->n_derived, 2);
    assert_string_equal(s->derived[0].name, "density");
    assert_int_equal(s->derived[0].loc.column, 14);
    assert_int_equal(s->n_objectives, 2);
    assert_string_equal(s->objectives[1].column, "area_mm2");
    assert_true(s->objectives[0].maximise && !s->objectives[1].maximise);
    assert_int_equal(s->n_per, 2);
    sweep_file_free(s);
    catalog_free(c);
}

static void sweep_file__the_question_is_the_first_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *question;
    } cases[] = {{"#Why?\r\n", "Why?"}, {"", ""}, {"[sweep] # no\n# no\n", ""}, {"#\n", ""}, {"\xEF\xBB\xBF# Why?", "Why?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct catalog *c;
        struct sweep_file *s = read_text(cases[i].text, &c);
        assert_string_equal(s->question, cases[i].question);
        sweep_file_free(s);
        catalog_free(c);
        diags_release(&diags);
    }
}

static void sweep_file__reports_all_errors_at_once(void **state)
{
    (void)state;
    const struct complaint want[] = {
        {14, 2, "unknown key \"figure\""},
        {2, 8, "\"a b\" cannot be the name"},
        {5, 10, "0 (first of the list) is below"},
        {5, 13, "2.5 is not a whole number"},
        {5, 18, "a number is needed, not a string"},
        {6, 1, "did you mean \"clock_ghz\""},
        {7, 12, "did you mean \"exact\""},
        {9, 5, "an expression in quotes is needed, not an integer"},
        {11, 1, "there is a column \"tiles\" already"},
        {13, 16, "\"max\" or \"min\" is needed"},
        {16, 10, "did you mean \"sobol\""},
    };
    refuse_all("[sweep]\nname = 'a b'\nmodels = ['toy']\n[params]\ntiles = [0, 2.5, 'x']\nclok_ghz = 1\npipeline = 'exactly'\n"
               "[constraints]\na = 1\n[derive]\ntiles = 'batch'\n[objectives]\ntokens_per_s = 'more'\n[figure]\n"
               "[sample]\nmethod = 'sobel'\n",
               want, sizeof want / sizeof *want);
}

static void sweep_file__refuses_sections_that_are_not(void **state)
{
    (void)state;
    const struct complaint nothing[] = {{0, 0, "has no [sweep]"}, {0, 0, "at least one objective"}};
    refuse_all("", nothing, 2);
    const struct complaint types[] = {{1, 9, "sweep: a table is needed, not an integer"},
                                      {2, 10, "params: a table is needed"},
                                      {3, 15, "constraints: a table is needed"},
                                      {4, 10, "derive: a table is needed"},
                                      {5, 14, "objectives: a table is needed"},
                                      {6, 10, "sample: a table is needed"},
                                      {7, 11, "figures: a table is needed"},
                                      {8, 11, "catalog: a table is needed"}};
    struct catalog *c;
    struct sweep_file *s = read_text("sweep = 1\nparams = 1\nconstraints = 1\nderive = 1\nobjectives = 1\nsample = 1\n"
                                     "figures = 1\ncatalog = 1\n",
                                     &c);
    sweep_file_free(s);
    catalog_free(c);
    assert_int_equal(diags.errors, 8);
    for (size_t i = 0; i < 8; i++) { /* in whatever order the sections are read */
        bool said = false;
        for (size_t k = 0; k < diags.n; k++)
            said |= strstr(diags.list[k].message, strchr(types[i].part, ':')) && diags.list[k].line == types[i].line;
        assert_true(said);
    }
    diags_release(&diags);
    refuse_section("[sweeps]\n", 4, 2, "did you mean \"sweep\"");
}

static void sweep_file__refuses_a_bad_head(void **state)
{
    (void)state;
    static const char rest[] = "objectives = { tokens_per_s = 'max' }\n";
    static const struct {
        const char *head;
        int line, column;
        const char *part;
    } bad[] = {
        {"[sweep]\nmodels = ['toy']\n", 2, 2, "[sweep] has no name"},
        {"[sweep]\nname = 1\nmodels = ['toy']\n", 3, 8, "name: a string is needed"},
        {"[sweep]\nname = ''\nmodels = ['toy']\n", 3, 8, "cannot be the name"},
        {"[sweep]\nname = '../x'\nmodels = ['toy']\n", 3, 8, "cannot be the name"},
        {"[sweep]\nname = 's'\n", 2, 2, "names no models"},
        {"[sweep]\nname = 's'\nmodels = []\n", 4, 1, "names no models"},
        {"[sweep]\nname = 's'\nmodels = 'toy'\n", 4, 10, "a list is needed, not a string"},
        {"[sweep]\nname = 's'\nmodels = [1]\n", 4, 11, "a model's name is needed, not an integer"},
        {"[sweep]\nname = 's'\nmodels = ['tyo']\n", 4, 11, "did you mean \"toy\""},
        {"[sweep]\nname = 's'\nmodels = ['toy', 'toy']\n", 4, 18, "stands in the list already"},
        {"[sweep]\nname = 's'\nmodels = ['pebble']\nfidelity = 'event-level'\n", 5, 12, "model pebble has no event level"},
        {"[sweep]\nname = 's'\nmodels = ['toy', 'pebble']\nfidelity = 'refine'\n", 5, 12, "model pebble has no event level"},
        {"[sweep]\nname = 's'\nmodels = ['toy']\nfidelity = 'guess'\n", 5, 12, "there is no fidelity \"guess\""},
        {"[sweep]\nname = 's'\nmodels = ['toy']\nfidelity = 'refined'\n", 5, 12, "did you mean \"refine\""},
        {"[sweep]\nname = 's'\nmodels = ['toy']\nfidelity = 3\n", 5, 12, "a string is needed"},
        {"[sweep]\nname = 's'\nmodels = ['toy']\nseed = 1\n", 5, 1, "unknown key \"seed\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = xasprintf("%s%s", rest, bad[i].head);
        refuse(text, bad[i].line, bad[i].column, bad[i].part);
        free(text);
    }
}

static void sweep_file__refuses_bad_parameters(void **state)
{
    (void)state;
    refuse_params("clok_ghz = 1", 3, 1, "did you mean \"clock_ghz\"");
    refuse_params("Tiles = 4", 3, 1, "did you mean \"tiles\"");
    refuse_params("lanes = 4", 3, 1, "toy has no parameter \"lanes\"");
    refuse_params("bandwidth_gbs = -1555", 3, 17, "-1555 is below the minimum");
    refuse_params("context = -5", 3, 11, "-5 is below the minimum");
    refuse_params("sram_mib = -1.0", 3, 12, "-1 is below the minimum");
    refuse_params("memory = 'HBM99'", 3, 10, "there is no memory \"HBM99\"");
    refuse_params("tiles = [2, 2]", 3, 13, "stands in the list already");
    refuse_params("clock_ghz = { from = 1, to = 0.5, step = 0.1 }", 3, 13, "the range from 1 to 0.5 is empty");
    refuse_params("channel_gbs = 10\nbandwidth_gbs = 100", 4, 17, "cannot both be given");
    refuse_params("tiles = 2\n[params.toy]\ntiles = [4]", 5, 9, "given first at dir/t.toml:3:9");
    refuse_params("[params.toy]\nlanes = 4", 4, 1, "toy has no parameter \"lanes\"");
    refuse_params("[params.pebble]\nlanes = 4", 3, 9, "the sweep has no model \"pebble\"");
    refuse_params("[params.tyo]\ntiles = 4", 3, 9, "did you mean \"toy\"");
    refuse_params("[params.tiles]\nfrom = 1\nto = 4\nstep = 0", 6, 8, "step: 0 is not above 0");
}

static void sweep_file__a_misspelt_model_is_one_error(void **state)
{
    (void)state;
    const struct complaint one = {1, 39, "did you mean \"pebble\""};
    refuse_all("sweep = { name = 's', models = ['toy','pebbel'] }\nobjectives = { area_mm2 = 'min' }\n[params]\nlanes = 4\n"
               "[params.pebble]\nbatch = 2\n",
               &one, 1);
    const struct complaint two[] = {{1, 33, "did you mean \"toy\""}, {4, 1, "did you mean \"lanes\""}};
    refuse_all(
        "sweep = { name = 's', models = ['tyo','pebble'] }\nobjectives = { area_mm2 = 'min' }\n[params]\nlane = 4\ntiles = 4\n",
        two, 2);
}

static void sweep_file__refuses_bad_columns(void **state)
{
    (void)state;
    static const char *const taken[] = {"tiles",  "TILES",    "tokens_per_s", "run", "point", "status",
                                        "reason", "fidelity", "id",           "ID",  "rowid"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        char *lines = xasprintf("[derive]\n%s = 'batch'\n", taken[i]);
        refuse_section(lines, 5, 1, "already");
        free(lines);
    }
    refuse_section("[derive]\na = '1'\nA = '2'\n", 6, 1, "there is a column \"A\" already");
    refuse_section("[derive]\na-b = '1'\n", 5, 1, "cannot name a column");
    refuse_section("[derive]\n1a = '1'\n", 5, 1, "cannot name a column");
    refuse_section("[derive]\n'' = '1'\n", 5, 1, "cannot name a column");
    refuse_section("[derive]\na = 1\n", 5, 5, "an expression in quotes is needed");
    refuse_section("[constraints]\na = true\n", 5, 5, "an expression in quotes is needed");
    struct text many;
    text_init(&many);
    text_add(&many, "[constraints]\n");
    for (int i = 0; i <= SWEEP_EXPRESSIONS_MAX; i++) text_addf(&many, "c%d = '1'\n", i);
    refuse_section(many.s, 4, 2, "has 257 expressions; at most 256");
    text_release(&many);
}

static void sweep_file__refuses_bad_objectives(void **state)
{
    (void)state;
    static const char head[] = "sweep = { name = 's', models = ['toy', 'pebble'] }\n[objectives]\n";
    static const struct {
        const char *lines;
        int line, column;
        const char *part;
    } bad[] = {
        {"", 0, 0, "at least one objective"},
        {"area_mm2 = 'less'", 3, 12, "\"max\" or \"min\""},
        {"area_mm2 = -1", 3, 12, "\"max\" or \"min\""},
        {"area_mm2 = 'min'\nper = 'llm'", 4, 7, "a list of parameters"},
        {"area_mm2 = 'min'\nper = ['tiles']", 4, 8, "tiles is not a parameter of every model"},
        {"area_mm2 = 'min'\nper = ['llm', 3]", 4, 15, "an integer is not a parameter"},
        {"area_mm2 = 'min'\nper = ['llm', 'llm']", 4, 15, "stands in the list already"},
        {"a1='min'\na2='min'\na3='min'\na4='min'\na5='min'\na6='min'\na7='min'\na8='min'\na9='min'\na10='min'\na11='min'\n"
         "a12='min'\na13='min'\na14='min'\na15='min'\na16='min'\na17='min'\n",
         2, 2, "17 objectives; at most 16"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *text = xasprintf("%s%s", head, bad[i].lines);
        refuse(text, bad[i].line, bad[i].column, bad[i].part);
        free(text);
    }
}

static void sweep_file__refuses_what_it_cannot_do(void **state)
{
    (void)state;
    refuse_section("[sample]\nmethod = 'nsga2'\n", 5, 10, "no sampling method \"nsga2\"");
    refuse_section("[sample]\nmethod = 1\n", 5, 10, "method: a string is needed");
    refuse_section("[sample]\nmethod = 'grid'\npoints = 9\n", 6, 1, "points does not go with method = \"grid\"");
    refuse_section("[sample]\nmethod = 'halton'\n", 4, 2, "needs the number of points");
    refuse_section("[sample]\nmethod = 'lhs'\npoints = 0\n", 6, 10, "0 is not from 1");
    refuse_section("[sample]\nmethod = 'lhs'\npoints = 9\nscramble = true\n", 7, 1, "scramble does not go with method = \"lhs\"");
    refuse_section("[sample]\npoints = 9\n", 4, 2, "[sample] has no method");
    refuse_section("[search]\nmethod = 'sobol'\n", 5, 10, "no search method \"sobol\"");
    refuse_section("[search]\nseed = 1\n", 4, 2, "[search] has no method");
    refuse_section("[search]\nmethod = 'local'\npopulation = 8\n", 6, 1, "population does not go with method = \"local\"");
    refuse_section("[search]\nmethod = 'nsga2'\nevaluations = 0\n", 6, 15, "evaluations: 0 is not from 1");
    refuse_section("[search]\nmethod = 'nsga2'\npopulation = 3\n", 6, 14, "population: 3 is not from 4");
    refuse_section("[search]\nmethod = 'exact'\nseed = 1\n", 6, 1, "seed does not go with method = \"exact\"");
    refuse_section("[sample]\nmethod = 'lhs'\npoints = 9\n[search]\nmethod = 'local'\n", 7, 2, "so does [sample]");
    refuse_section("[figures]\nfiles = 'a.toml'\n", 5, 9, "files: a list is needed");
    refuse_section("[figures]\nfiles = [1]\n", 5, 10, "not an integer");
    refuse_section("[figures]\nfiles = ['nowhere.toml']\n", 5, 10, "no figure file \"nowhere.toml\"");
    refuse_section("[figures]\nfiles = ['/']\n", 5, 10, "no figure file \"/\"");
    refuse_section("[figures]\nfile = []\n", 5, 1, "did you mean \"files\"");
    refuse_section("[catalog.llms.tiny]\n", 4, 15, "exists already");
    refuse_section("[catalog.tpus.x]\n", 4, 10, "unknown key \"tpus\"");
}

static void sweep_file__finds_figures(void **state)
{
    (void)state;
    char *dir = scratch_new();
    scratch_write(dir, "sub/s.toml",
                  "[sweep]\nname = 's'\nmodels = ['toy']\n[objectives]\narea_mm2 = 'min'\n[figures]\n"
                  "files = ['figures/a.toml', 'catalog/llms.toml']\n");
    scratch_write(dir, "sub/figures/a.toml", "");
    char *path = xasprintf("%s/sub/s.toml", dir), *beside = xasprintf("%s/sub/figures/a.toml", dir);
    char *shipped = xasprintf("%s/catalog/llms.toml", toy_data_dir());
    char cwd[4096];
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_int_equal(chdir("/"), 0);
    struct catalog *c = toy_catalog();
    struct sweep_file *s = sweep_file_read(path, c, toy_data_dir(), &diags);
    expect_silence(&diags);
    assert_int_equal(s->n_figures, 2);
    assert_string_equal(s->figures[0], beside);
    assert_string_equal(s->figures[1], shipped);
    sweep_file_free(s);

    assert_int_equal(chdir(dir), 0); /* as given comes first */
    scratch_write(dir, "figures/a.toml", "");
    s = sweep_file_read("sub/s.toml", c, toy_data_dir(), &diags);
    expect_silence(&diags);
    assert_string_equal(s->figures[0], "figures/a.toml");
    sweep_file_free(s);
    assert_int_equal(chdir(cwd), 0);
    catalog_free(c);
    free(path);
    free(beside);
    free(shipped);
    scratch_remove(dir);
}

static void sweep_file__refuses_files_that_cannot_be_read(void **state)
{
    (void)state;
    struct catalog *c = toy_catalog();
    assert_null(sweep_file_read("/nowhere/s.toml", c, toy_data_dir(), &diags));
    expect_complaint(&diags, 0, 0, "No such file");
    assert_null(sweep_file_read("/", c, toy_data_dir(), &diags));
    expect_complaint(&diags, 0, 0, "is a directory");
    assert_null(sweep_file_read_text("t", "[sweep\n", 7, c, toy_data_dir(), &diags));
    expect_complaint(&diags, 1, 7, "is not TOML");
    sweep_file_free(NULL);
    catalog_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_file__reads_every_section),
        cmocka_unit_test(sweep_file__knows_three_fidelities),
        cmocka_unit_test(sweep_file__refuses_a_baseline_that_is_not_one_point),
        cmocka_unit_test(sweep_file__the_question_is_the_first_line),
        cmocka_unit_test(sweep_file__reports_all_errors_at_once),
        cmocka_unit_test(sweep_file__refuses_sections_that_are_not),
        cmocka_unit_test(sweep_file__refuses_a_bad_head),
        cmocka_unit_test(sweep_file__refuses_bad_parameters),
        cmocka_unit_test(sweep_file__a_misspelt_model_is_one_error),
        cmocka_unit_test(sweep_file__refuses_bad_columns),
        cmocka_unit_test(sweep_file__refuses_bad_objectives),
        cmocka_unit_test(sweep_file__refuses_what_it_cannot_do),
        cmocka_unit_test(sweep_file__finds_figures),
        cmocka_unit_test(sweep_file__refuses_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
