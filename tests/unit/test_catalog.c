/* The catalog: what is shipped, what users add, and every way a file is refused. */
#include "complaints.h"
#include "scratch.h"
#include "toy_model.h"

#include "config/catalog.h"
#include "config/csv_table.h"
#include "desc/schema.h"
#include "dse_config.h"
#include "workload/profile.h"
#include "workload/requests.h"

#include <dse/hw.h>
#include <math.h>

static struct diags diags;

static struct catalog *toy_catalog(void)
{
    struct catalog *c = catalog_new(toy_data_dir(), &diags);
    expect_silence(&diags);
    assert_non_null(c);
    return c;
}

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
    scratch_write(dir, "none.csv", "prompt,generate\n100,7\n20,0\n");
    struct catalog *c = catalog_new(toy_data_dir(), &diags);
    assert_false(catalog_add_file(c, path, &diags));
    expect_complaint(&diags, 3, 4, "request mix none: 0 tokens generated; 1 to 10000000");
    const struct dse_requests *r = (const struct dse_requests *)catalog_find(c, DSE_KIND_REQUESTS, "seen");
    assert_non_null(r);
    assert_string_equal(r->entry.source, "the test");
    assert_true(r->prompt_median == 100 && r->generate_p90 == 900 && r->max_tokens == 3001);
    assert_null(catalog_find(c, DSE_KIND_REQUESTS, "none"));
    catalog_free(c);
    free(path);
    scratch_remove(dir);
}

/* ---- CSV ------------------------------------------------------------------------------------------------------------------- */

static void refuse_csv(const char *text, int line, int column, const char *part)
{
    static const char *const columns[] = {"name", "a_ns"};
    char *dir = scratch_new(), *path = xasprintf("%s/t.csv", dir);
    scratch_write(dir, "t.csv", text);
    struct csv_table t;
    bool ok = csv_table_read(&t, path, columns, 2, &diags);
    double v;
    for (size_t i = 0; ok && i < t.n_rows; i++) ok = csv_table_number(&t, i, 1, true, &v, &diags);
    assert_false(ok);
    expect_complaint(&diags, line, column, part);
    csv_table_release(&t);
    free(path);
    scratch_remove(dir);
}

static void csv__names_the_line_of_what_is_wrong(void **state)
{
    (void)state;
    refuse_csv("", 1, 1, "is empty");
    refuse_csv("# only a remark\n", 1, 1, "is empty");
    refuse_csv("name,b_ns\n", 1, 1, "the header is: name,a_ns");
    refuse_csv("# remark\n\nname\n", 3, 1, "the header is: name,a_ns");
    refuse_csv("name,a_ns\nx,1\ny\n", 3, 1, "1 cells in this row; the header has 2");
    refuse_csv("name,a_ns\r\nx,1\r\ny,1,2\r\n", 3, 1, "3 cells in this row");
    refuse_csv("name,a_ns\n\"x\nx\",1\ny,z\n", 4, 3, "a_ns: \"z\" is not a finite number");
    refuse_csv("name,a_ns\n\"x, \xC3\xA4\",z\n", 2, 8, "\"z\" is not a finite number");
    refuse_csv("name,a_ns\n\"x\ny\",z\n", 3, 4, "\"z\" is not a finite number");
    refuse_csv("name,a_ns\nx,inf\n", 2, 3, "\"inf\" is not a finite number");
    refuse_csv("name,a_ns\nx,1e999\n", 2, 3, "is not a finite number");
    refuse_csv("name,a_ns\nx,1 2\n", 2, 3, "is not a finite number");
    refuse_csv("name,a_ns\nx,1\ny,\"2\n", 3, 1, "is not CSV");
    refuse_csv("name,a_ns\nx\"y,1\n", 2, 2, "is not CSV");
}

static void csv__reads_cells_and_comments(void **state)
{
    (void)state;
    static const char *const columns[] = {"name", "a_ns"};
    char *dir = scratch_new(), *path = xasprintf("%s/t.csv", dir);
    scratch_write(dir, "t.csv", "# source: here\nname,a_ns\n\"a,\"\"b\"\"\",1.5\n# remark\nc,\n");
    struct csv_table t;
    assert_true(csv_table_read(&t, path, columns, 2, &diags));
    assert_string_equal(t.source, "here");
    assert_int_equal(t.n_rows, 2);
    assert_string_equal(t.rows[0].cells[0], "a,\"b\"");
    assert_int_equal(t.rows[1].line, 5);
    double v;
    assert_true(csv_table_number(&t, 0, 1, false, &v, &diags) && v == 1.5);
    assert_true(csv_table_number(&t, 1, 1, true, &v, &diags) && isnan(v));
    expect_silence(&diags);
    assert_false(csv_table_number(&t, 1, 1, false, &v, &diags));
    expect_complaint(&diags, 5, 3, "is not a finite number");
    csv_table_release(&t);
    free(path);
    scratch_remove(dir);
}

static const struct dse_profile *own_profile(struct catalog *c, const char *dir, const char *text)
{
    scratch_write(dir, "own.csv", text);
    char *path = xasprintf("%s/own.csv", dir), *toml = xasprintf("profiles.own = '%s'\n", path);
    struct toml_doc *doc = toml_read_text("t", toml, strlen(toml), &diags);
    catalog_add_table(c, doc, &doc->root, &diags);
    toml_free(doc);
    free(toml);
    free(path);
    return (const struct dse_profile *)catalog_find(c, DSE_KIND_PROFILE, "own");
}

/* Files with the five statistics alone stay what they are; two more columns are what LAD loses; the rest is spread. */
static void catalog__profiles_may_know_their_error(void **state)
{
    (void)state;
    struct catalog *c = toy_catalog();
    char *dir = scratch_new();
    const struct dse_profile *sparse = (const struct dse_profile *)catalog_find(c, DSE_KIND_PROFILE, "sparse");
    assert_true(isnan(dse_profile_error_at(sparse, 256).attention_error) &&
                isnan(dse_profile_error_at(sparse, 256).false_negative));
#define HEADER "context,centers,large,active,updates,hit_ratio"
    const struct dse_profile *own = own_profile(c, dir,
                                                HEADER ",attention_error,false_negative,centers_sd\n64,4,2,16,1,0.5,0.25,0.125,0\n"
                                                       "128,5,2,20,1,0.5,0.5,0.0625,1\n256,6,3,30,2,0.5,0.75,0.03125,2\n");
    assert_non_null(own);
    assert_true(dse_profile_error_at(own, 128).attention_error == 0.5 && dse_profile_error_at(own, 128).false_negative == 0.0625);
    assert_false(profile_has_scores(own));
    catalog_free(c);
    const struct {
        const char *text;
        int line, column;
        const char *part;
    } bad[] = {
        {HEADER ",attention_error\n64,4,2,16,1,0.5,0.25\n", 1, 1, "has attention_error without false_negative"},
        {HEADER ",false_negative\n", 1, 1, "hit_ratio; then, if at all, attention_error,false_negative"},
        {HEADER ",attention_error,false_negative\n64,4,2,16,1,0.5,1,0\n128,4,2,16,1,0.5,1,2\n256,4,2,16,1,0.5,1,0\n", 3, 20,
         "profile own: false_negative 2 is outside of 0 to 1"},
        {HEADER ",attention_error,false_negative\n64,4,2,16,1,0.5,1,0\n128,4,2,16,1,0.5,-1,0\n256,4,2,16,1,0.5,1,0\n", 3, 18,
         "profile own: attention_error -1 is not a positive number"},
        {HEADER ",attention_error,false_negative,centers_sd\n64,4,2,16,1,0.5,1,0,-3\n128,4,2,16,1,0.5,1,0,0\n"
                "256,4,2,16,1,0.5,1,0,0\n",
         2, 21, "centers_sd: -3 is below 0"},
    };
#undef HEADER
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        c = toy_catalog();
        assert_null(own_profile(c, dir, bad[i].text));
        expect_complaint(&diags, bad[i].line, bad[i].column, bad[i].part);
        catalog_free(c);
    }
    scratch_remove(dir);
}

/* What was found of the scores stands behind the spread, all of it or none; models do not see it. */
static void catalog__profiles_may_know_their_scores(void **state)
{
    (void)state;
#define HEADER \
    "context,centers,large,active,updates,hit_ratio,attention_error,false_negative,centers_sd,large_sd,active_sd,updates_sd," \
    "hit_ratio_sd,false_positive"
#define WHOLE HEADER ",top1,top1_plus_top2,softmax_mse,lines_mse\n"
#define POINT(context) context ",4,2,16,1,0.5,1,0,0,0,0,0,0,"
#define REST POINT("128") "0,0.5,1,1e-6,1e-7\n" POINT("256") "0,1,1,0,0\n"
    char *dir = scratch_new();
    struct catalog *c = toy_catalog();
    const struct dse_profile *own = own_profile(c, dir, WHOLE POINT("64") "0.25,0.5,0.75,0.125,0.0625\n" REST);
    assert_non_null(own);
    struct profile_scores scores = {.top1 = 7};
    assert_true(profile_has_scores(own) && !profile_scores_at(own, 100, &scores) && scores.top1 == 7);
    assert_true(profile_scores_at(own, 64, &scores) && scores.false_positive == 0.25 && scores.top1 == 0.5 &&
                scores.top1_plus_top2 == 0.75 && scores.softmax_mse == 0.125 && scores.lines_mse == 0.0625);
    size_t n;
    assert_true(profile_contexts(own, &n)[2] == 256 && n == 3);
    catalog_free(c);
    static const struct {
        const char *text, *part;
    } bad[] = {
        {WHOLE POINT("64") "0,0.5,0.25,0,0\n" REST, "top1_plus_top2 0.25 is outside of top1 0.5 to 1"},
        {WHOLE POINT("64") "0,2,0,0,0\n" REST, "profile own: top1 2 is outside of 0 to 1"},
        {WHOLE POINT("64") "-1,0,0,0,0\n" REST, "profile own: false_positive -1 is outside of 0 to 1"},
        {WHOLE POINT("64") "0,0,0,-1,0\n" REST, "profile own: softmax_mse -1 is not a positive number"},
        {WHOLE POINT("64") "0,0,0,0,-1\n" REST, "profile own: lines_mse -1 is not a positive number"},
        {HEADER "\n" POINT("64") "0\n", "ends behind false_positive"},
    };
#undef REST
#undef POINT
#undef WHOLE
#undef HEADER
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        c = toy_catalog();
        assert_null(own_profile(c, dir, bad[i].text));
        expect_complaint(&diags, ANYWHERE, 0, bad[i].part);
        catalog_free(c);
    }
    scratch_remove(dir);
}

static void catalog__takes_a_users_recording(void **state)
{
    (void)state;
    struct catalog *c = toy_catalog();
    char *dir = scratch_new(), *path = xasprintf("%s/mine.toml", dir);
    scratch_write(dir, "mine.toml", "[recordings]\nown = 'own.csv'\n");
    scratch_write(dir, "own.csv", "# source: here\ncontext,head,step,centers,large,active,updates,hits\n64,0,64,9,4,20,1,19\n");
    assert_true(catalog_add_file(c, path, &diags));
    expect_silence(&diags);
    const struct dse_recording *own = (const struct dse_recording *)catalog_find(c, DSE_KIND_RECORDING, "own");
    assert_string_equal(((const struct dse_entry *)own)->source, "here");
    assert_true(dse_recording_at(own, 64, 0, 0).centers == 9);
    refuse_one("[recordings]\nsteady = 'nowhere.csv'\n", 2, 1, "exists already");
    free(path);
    scratch_remove(dir);
    catalog_free(c);
}

static void catalog__takes_a_users_retention(void **state)
{
    (void)state;
    struct catalog *c = toy_catalog();
    char *dir = scratch_new(), *path = xasprintf("%s/mine.toml", dir);
    scratch_write(dir, "mine.toml", "[retentions]\nown = 'own.csv'\n");
    scratch_copy(dir, toy_data_dir(), "catalog/retentions/steady.csv");
    char *from = xasprintf("%s/catalog/retentions/steady.csv", dir), *to = xasprintf("%s/own.csv", dir);
    assert_int_equal(rename(from, to), 0);
    assert_true(catalog_add_file(c, path, &diags));
    expect_silence(&diags);
    const struct dse_retention *own = (const struct dse_retention *)catalog_find(c, DSE_KIND_RETENTION, "own");
    struct dse_retained at;
    assert_true(dse_retention_at(own, "voting", 1024, 0.5, &at) && at.mass == 0.75 && at.error == 0.5);
    refuse_one("[retentions]\nsteady = 'nowhere.csv'\n", 2, 1, "exists already");
    refuse_one("[retentions]\nx = 3\n", 2, 5, "the name of a CSV file is needed");
    free(from);
    free(to);
    free(path);
    scratch_remove(dir);
    catalog_free(c);
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
                                        "catalog/technology.csv",
                                        "catalog/sram.csv",
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
    static const char technology[] = "name,method,node_nm,vdd_v,area,energy,delay,power,source\n";
    static const char sram[] =
        "name,node_nm,capacity_mib,word_bits,area_mm2,read_pj,write_pj,leakage_mw,dynamic_mw,access_ns,source\n";
    static const char profile[] = "context,centers,large,active,updates,hit_ratio\n";
    refuse_shipped("catalog/llms.toml", NULL, 0, 0, "No such file");
    refuse_shipped("catalog/costs.toml", NULL, 0, 0, "No such file");
    refuse_shipped("catalog/costs.toml", "wafer_mm = 300\n", 0, 0, "the book has no source");
    refuse_shipped("catalog/costs.toml", "source = \"x\"\n[wafer_mm]\ntypical = 300\nevidence = \"A\"\nsource = \"x\"\n", 2, 2,
                   "wafer_mm has no year");
    refuse_shipped("catalog/technology.csv", NULL, 0, 0, "No such file");
    char *text = xasprintf("%sa,m,7,,1,,,,x\na,m,8,,1,,,,x\n", technology);
    refuse_shipped("catalog/technology.csv", text, 3, 1, "stands here twice");
    free(text);
    text = xasprintf("%sa,m,,,1,,,,x\n", technology);
    refuse_shipped("catalog/technology.csv", text, 2, 5, "node_nm: \"\" is not a finite number");
    free(text);
    text = xasprintf("%sa,22,1,64,1,,,,,,x\nb,22,1,64,1,,,,,,x\na,22,2,64,1,,,,,,x\n", sram);
    refuse_shipped("catalog/sram.csv", text, 4, 1, "do not stand together");
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
        cmocka_unit_test(csv__names_the_line_of_what_is_wrong),
        cmocka_unit_test(csv__reads_cells_and_comments),
        cmocka_unit_test(catalog__profiles_may_know_their_error),
        cmocka_unit_test(catalog__profiles_may_know_their_scores),
        cmocka_unit_test(catalog__takes_a_users_recording),
        cmocka_unit_test(catalog__takes_a_users_retention),
        cmocka_unit_test(catalog__refuses_a_broken_data_directory),
        cmocka_unit_test(catalog__finds_its_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
