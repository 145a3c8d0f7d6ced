/* The catalog: what is shipped, what users add, and every way a file is refused. */
#include "catalog_test.h"

#include "desc/schema.h"
#include "dse_config.h"
#include "quality/profile.h"
#include "workload/requests.h"

#include <dse/hw.h>
#include <math.h>

static void catalog__loads_what_is_shipped(void **state)
{
    (void)state;
    struct catalog *c = catalog_new(DSE_SOURCE_DATA, &diags);
    expect_silence(&diags);
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        enum dse_kind kind = (enum dse_kind)k;
        assert_non_null(catalog_at(c, kind, 0));
        const struct dse_entry *e;
        for (size_t i = 0; (e = catalog_at(c, kind, i)) != NULL; i++) {
            assert_ptr_equal(catalog_find(c, kind, e->name), e);
            if (!*e->source) fail_msg("%s %s names no source", kind_singular(kind), e->name);
        }
    }
    catalog_free(c);
}

static void catalog__entries_hold_what_the_file_says(void **state)
{
    (void)state;
    struct catalog *c = toy_catalog();
    const struct dse_llm *small = (const struct dse_llm *)catalog_find(c, DSE_KIND_LLM, "small");
    assert_true(small->layers == 4 && small->kv_heads == 2 && small->max_context == 8192);
    assert_string_equal(small->entry.source, "made up");
    const struct dse_memory *m = (const struct dse_memory *)catalog_at(c, DSE_KIND_MEMORY, 1);
    assert_string_equal(m->entry.name, "eight-channels");
    assert_true(m->channel_gbs == 16 && m->timing.t_rfc_ns == 260);
    assert_null(catalog_at(c, DSE_KIND_MEMORY, 2));
    assert_null(catalog_find(c, DSE_KIND_MEMORY, "small"));

    const struct dse_sram_table *t = (const struct dse_sram_table *)catalog_find(c, DSE_KIND_SRAM, "toy-sram");
    struct dse_sram macro;
    assert_true(dse_sram_at(t, 2, 64, &macro));
    assert_true(macro.area_mm2 == 1.9 && macro.read_pj == 14 && isnan(macro.dynamic_mw));
    const struct dse_profile *p = (const struct dse_profile *)catalog_find(c, DSE_KIND_PROFILE, "sparse");
    assert_true(dse_profile_at(p, 1024).active == 120);
    assert_string_equal(((const struct dse_entry *)p)->source, "made up");

    assert_non_null(schema_find(catalog_fields(c, DSE_KIND_MEMORY), "channels"));
    assert_int_equal(catalog_fields(c, DSE_KIND_SRAM)->n, 0);
    catalog_free(c);
    catalog_free(NULL);
}

static void catalog__technologies_of_a_method_are_a_ring(void **state)
{
    (void)state;
    struct catalog *c = toy_catalog();
    const struct dse_technology *t22 = (const struct dse_technology *)catalog_find(c, DSE_KIND_TECHNOLOGY, "toy-22");
    assert_string_equal(t22->sibling->entry.name, "toy-14");
    assert_string_equal(t22->sibling->sibling->entry.name, "toy-7");
    assert_ptr_equal(t22->sibling->sibling->sibling, t22);
    const struct dse_technology *alone = (const struct dse_technology *)catalog_find(c, DSE_KIND_TECHNOLOGY, "other-7");
    assert_ptr_equal(alone->sibling, alone);
    assert_true(isnan(alone->vdd_v) && isnan(alone->energy) && alone->power == 1);
    catalog_free(c);
}

/* ---- users' files ------------------------------------------------------------------------------------------------------- */

static const char mine[] = "[llms.mine]\nsource = 'me'\nlayers = 1\nhidden = 64\nheads = 1\nkv_heads = 1\nhead_dim = 64\n"
                           "ffn = 64\nffn_matrices = 2\nvocab = 10\nembedding_tables = 1\nmax_context = 100\n";

static void catalog__takes_a_users_file(void **state)
{
    (void)state;
    struct catalog *c = toy_catalog();
    char *dir = scratch_new(), *text = xasprintf("%s[profiles]\nown = 'data/own.csv'\n", mine);
    scratch_write(dir, "mine.toml", text);
    scratch_write(dir, "data/own.csv",
                  "\xEF\xBB\xBF# source: line one,\r\n# A remark.\r\n# source: line two\r\n"
                  "context,centers,large,active,updates,hit_ratio\r\n64,4,2,16,1,0.5\r\n128,5,2,20,1,0.5\r\n256,6,3,30,2,0.5\r\n");
    char *path = xasprintf("%s/mine.toml", dir);
    assert_true(catalog_add_file(c, path, &diags));
    expect_silence(&diags);
    assert_true(((const struct dse_llm *)catalog_find(c, DSE_KIND_LLM, "mine"))->hidden == 64);
    const struct dse_entry *own = catalog_find(c, DSE_KIND_PROFILE, "own");
    assert_string_equal(own->source, "line one, line two");
    assert_true(dse_profile_at((const struct dse_profile *)own, 128).active == 20);
    free(path);
    free(text);
    scratch_remove(dir);
    catalog_free(c);
}

/* A [catalog]-like document: what is complained about. Nothing may have been added but what `want` does not speak of. */
static void refuse(const char *text, const struct complaint *want, size_t n)
{
    struct catalog *c = toy_catalog();
    struct toml_doc *doc = toml_read_text("t", text, strlen(text), &diags);
    assert_non_null(doc);
    assert_false(catalog_add_table(c, doc, &doc->root, &diags));
    expect_complaints(&diags, want, n);
    toml_free(doc);
    catalog_free(c);
}

static void refuse_one(const char *text, int line, int column, const char *part)
{
    const struct complaint want = {line, column, part};
    refuse(text, &want, 1);
}

static void catalog__refuses_entries_that_are_not_whole(void **state)
{
    (void)state;
    refuse_one("[llm.x]\n", 1, 2, "did you mean \"llms\"");
    refuse_one("llms = 3\n", 1, 8, "a table is needed, not an integer");
    refuse_one("[llms]\nx = 3\n", 2, 1, "an entry is a table");
    refuse_one("[llms.x]\n", 1, 7, "has no layers, hidden, ffn_matrices");
    refuse_one("[llms.tiny]\n", 1, 7, "exists already (made up)");
    refuse_one("[llms.\"\"]\n", 1, 7, "is empty");
    refuse_one("[profiles]\nx = 3\n", 2, 5, "the name of a CSV file is needed");
    refuse_one("[profiles]\nx = 'nowhere.csv'\n", 0, 0, "No such file");
    refuse_one("[profiles]\nsparse = 'nowhere.csv'\n", 2, 1, "exists already");
    refuse_one("[recordings]\nsteady = 'nowhere.csv'\n", 2, 1, "exists already");
    refuse_one("[expert_loads]\nsteady = 'nowhere.csv'\n", 2, 1, "exists already");
    refuse_one("[drafts.toy-mtp]\nlength_1 = 1.5\n", 1, 9, "exists already");
    refuse_one("[drafts.x]\nlength_1 = 2.5\nsource = 'x'\n", 2, 12, "length_1");
    refuse_one("[retentions]\nsteady = 'nowhere.csv'\n", 2, 1, "exists already");
    refuse_one("[retentions]\nx = 3\n", 2, 5, "the name of a CSV file is needed");
}

static void catalog__refuses_values_of_entries(void **state)
{
    (void)state;
    char *text = xasprintf("%s", mine);
    memcpy(strstr(text, "layers = 1"), "layerz = 1", 10);
    const struct complaint misspelt[] = {{3, 1, "did you mean \"layers\""}, {1, 7, "has no layers"}};
    refuse(text, misspelt, 2);
    strcpy(text, mine);
    memcpy(strstr(text, "layers = 1"), "layers = 0", 10);
    refuse_one(text, 3, 10, "below the minimum 1");
    strcpy(text, mine);
    memcpy(strstr(text, "vocab = 10"), "vocab =1.5", 10);
    refuse_one(text, 10, 8, "a whole number is needed");
    strcpy(text, mine);
    memcpy(strstr(text, "'me'"), "1234", 4);
    refuse_one(text, 2, 10, "source: a string is needed");
    strcpy(text, mine);
    memcpy(strstr(text, "heads = 1\nkv_heads = 1"), "heads = 3\nkv_heads = 2", 22);
    refuse_one(text, 1, 7, "llm mine: ");
    free(text);
    const struct complaint choice[] = {{2, 11, "softmax: there is no \"late\""}, {1, 10, "has no "}};
    refuse("[engines.x]\nsoftmax = 'late'\nsource = 'me'\n", choice, 2);
    const struct complaint kind[] = {{2, 11, "softmax: a name is needed, not an integer"}, {1, 10, "has no "}};
    refuse("[engines.x]\nsoftmax = 7\nsource = 'me'\n", kind, 2);
}

static void catalog__refuses_requests_that_do_not_fit_together(void **state)
{
    (void)state;
    static const char good[] = "[requests.x]\nprompt_median = 9\nprompt_p90 = 8\ngenerate_median = 1\ngenerate_p90 = 1\n"
                               "max_tokens = 20\nsource = 'me'\n";
    refuse_one(good, 1, 11, "request mix x: prompt_p90 is below prompt_median");
    refuse_one("requests.x = 'no such file.csv'\n", 0, 0, "No such file");
    refuse_one("requests.x = 7\n", 1, 10, "x is an integer; an entry is a table");
    refuse_one("requests.short = 'short.csv'\n", 1, 10, "request mix \"short\" exists already");
}

static void catalog__reads_requests_that_were_seen(void **state)
{
    (void)state;
    char *dir = scratch_new(), *path = xasprintf("%s/mine.toml", dir);
    scratch_write(dir, "mine.toml", "[requests]\nseen = 'seen.csv'\nnone = 'none.csv'\n");
    scratch_write(dir, "seen.csv", "# source: the test\nprompt,generate\n100,7\n20,900\n3000,1\n");
    scratch_write(dir, "none.csv", "prompt,generate\n100,7\n20,0.5\n");
    struct catalog *c = catalog_new(toy_data_dir(), &diags);
    assert_false(catalog_add_file(c, path, &diags));
    expect_complaint(&diags, 3, 4, "request mix none: 0.5 tokens generated; 1 to 10000000");
    assert_null(catalog_find(c, DSE_KIND_REQUESTS, "seen")); /* all of a file, or nothing */
    scratch_write(dir, "mine.toml", "[requests]\nseen = 'seen.csv'\n");
    assert_true(catalog_add_file(c, path, &diags));
    const struct dse_requests *r = (const struct dse_requests *)catalog_find(c, DSE_KIND_REQUESTS, "seen");
    assert_non_null(r);
    assert_string_equal(r->entry.source, "the test");
    assert_true(r->prompt_median == 100 && r->generate_p90 == 900 && r->max_tokens == 3001);
    assert_null(catalog_find(c, DSE_KIND_REQUESTS, "none"));
    catalog_free(c);
    free(path);
    scratch_remove(dir);
}

/* ---- a broken data directory ------------------------------------------------------------------------------------------------ */

/* The toy data with one file replaced. */
static void refuse_shipped(const char *name, const char *text, int line, int column, const char *part)
{
    static const char *const files[] = {"catalog/llms.toml",
                                        "catalog/memories.toml",
                                        "catalog/gpus.toml",
                                        "catalog/fpgas.toml",
                                        "catalog/engines.toml",
                                        "catalog/npus.toml",
                                        "catalog/interconnects.toml",
                                        "catalog/requests.toml",
                                        "catalog/costs.toml",
                                        "catalog/drafts.toml",
                                        "catalog/formats.toml",
                                        "catalog/expert_loads/steady.csv",
                                        "catalog/technology.csv",
                                        "catalog/sram.csv",
                                        "catalog/task_quality.csv",
                                        "catalog/profiles/sparse.csv",
                                        "catalog/retentions/steady.csv",
                                        "catalog/recordings/steady.csv"};
    char *dir = scratch_new();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i], name) != 0) scratch_copy(dir, toy_data_dir(), files[i]);
    if (text) scratch_write(dir, name, text);
    assert_null(catalog_new(dir, &diags));
    expect_complaint(&diags, line, column, part);
    scratch_remove(dir);
}

static void catalog__refuses_a_broken_data_directory(void **state)
{
    (void)state;
    static const char technology[] = "name,method,node_nm,vdd_v,area,sram_area,energy,delay,power,source\n";
    static const char sram[] =
        "name,node_nm,capacity_mib,word_bits,area_mm2,read_pj,write_pj,leakage_mw,dynamic_mw,access_ns,source\n";
    static const char profile[] = "context,centers,large,active,updates,hit_ratio\n";
    refuse_shipped("catalog/llms.toml", NULL, 0, 0, "No such file");
    refuse_shipped("catalog/costs.toml", NULL, 0, 0, "No such file");
    refuse_shipped("catalog/costs.toml", "wafer_mm = 300\n", 0, 0, "the book has no source");
    refuse_shipped("catalog/costs.toml", "source = \"x\"\n[wafer_mm]\ntypical = 300\nevidence = \"A\"\nsource = \"x\"\n", 2, 2,
                   "wafer_mm has no year");
    refuse_shipped("catalog/technology.csv", NULL, 0, 0, "No such file");
    char *text = xasprintf("%sa,m,7,,1,,,,,x\na,m,8,,1,,,,,x\n", technology);
    refuse_shipped("catalog/technology.csv", text, 3, 1, "stands here twice");
    free(text);
    text = xasprintf("%sa,m,,,1,,,,,x\n", technology);
    refuse_shipped("catalog/technology.csv", text, 2, 5, "node_nm: \"\" is not a finite number");
    free(text);
    text = xasprintf("%sa,22,1,64,1,,,,,,x\nb,22,1,64,1,,,,,,x\na,22,2,64,1,,,,,,x\n", sram);
    refuse_shipped("catalog/sram.csv", text, 4, 1, "do not stand together");
    free(text);
    text = xasprintf("layer,expert,load\n0,0,3\n0,1,1\n1,1,3\n");
    refuse_shipped("catalog/expert_loads/steady.csv", text, 4, 3,
                   "profile of expert loads steady: layer 1, expert 1 stand where 1, 0");
    free(text);
    text = xasprintf("layer,expert,load\n0,0,3\n0,1,-1\n");
    refuse_shipped("catalog/expert_loads/steady.csv", text, 3, 5, "load -1 is below 0");
    free(text);
    text = xasprintf("%s64,4,2,16,1,0.5\n128,5,2,x,1,0.5\n", profile);
    refuse_shipped("catalog/profiles/sparse.csv", text, 3, 9, "active: \"x\"");
    free(text);
    text = xasprintf("policy,context,ratio,retained_mass,retained_mass_sd,attention_error,attention_error_sd\n"
                     "a,64,0.25,0.5,0,0.5,0\na,64,0.5,0.5,-1,0.5,0\n");
    refuse_shipped("catalog/retentions/steady.csv", text, 3, 14, "retained_mass_sd: -1 is below 0");
    free(text);
    text =
        xasprintf("policy,context,ratio,retained_mass,retained_mass_sd,attention_error,attention_error_sd\na,64,0.5,0.5,0,0.5,0\n");
    refuse_shipped("catalog/retentions/steady.csv", text, 2, 6, "retention steady: policy \"a\" at context 64: 1 ratio below 1");
    free(text);
    text = xasprintf(
        "context,head,step,centers,large,active,updates,hits\n64,0,63,1,1,20,1,19\n64,0,64,1,1,20,1,19\n64,2,63,1,1,20,1,19\n");
    refuse_shipped("catalog/recordings/steady.csv", text, 4, 4,
                   "recording steady: context 64, head 2, step 63 stand where 64, 1, 63 should");
    free(text);
    text = xasprintf("context,head,step,centers,large,active,updates,hits\n64,0,64,1,,20,1,19\n");
    refuse_shipped("catalog/recordings/steady.csv", text, 2, 11, "large: \"\" is not a finite number");
    free(text);
    text = xasprintf("%s64,4,2,16,1,0.5\n128,4,2,16,1,0.5\n32,5,2,16,1,0.5\n", profile);
    refuse_shipped("catalog/profiles/sparse.csv", text, ANYWHERE, 0, "profile sparse: ");
    free(text);
}

static void catalog__finds_its_data(void **state)
{
    (void)state;
    unsetenv("DSE_DATA_DIR");
    assert_string_equal(catalog_data_dir(), DSE_SOURCE_DATA); /* a test program lies in a build tree */
    setenv("DSE_DATA_DIR", "/elsewhere", 1);
    assert_string_equal(catalog_data_dir(), "/elsewhere");
    setenv("DSE_DATA_DIR", "", 1);
    assert_string_equal(catalog_data_dir(), DSE_SOURCE_DATA);
    unsetenv("DSE_DATA_DIR");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalog__loads_what_is_shipped),
        cmocka_unit_test(catalog__entries_hold_what_the_file_says),
        cmocka_unit_test(catalog__technologies_of_a_method_are_a_ring),
        cmocka_unit_test(catalog__takes_a_users_file),
        cmocka_unit_test(catalog__refuses_entries_that_are_not_whole),
        cmocka_unit_test(catalog__refuses_values_of_entries),
        cmocka_unit_test(catalog__refuses_requests_that_do_not_fit_together),
        cmocka_unit_test(catalog__reads_requests_that_were_seen),
        cmocka_unit_test(catalog__refuses_a_broken_data_directory),
        cmocka_unit_test(catalog__finds_its_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
