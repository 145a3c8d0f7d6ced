/* CSV files of the catalog: tables, and the profiles, recordings and retentions that users add. */
#include "catalog_test.h"

#include "base/text.h"
#include "config/csv_table.h"
#include "quality/profile.h"

#include <dse/task.h>
#include <math.h>

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

/* Cells are separated by what separates the header's. */
static void csv__reads_semicolons_and_tabs(void **state)
{
    (void)state;
    static const char *const columns[] = {"name", "a_ns"}, *const texts[] = {"name;a_ns\n\"a;b\";1.5\n",
                                                                             "\"name\"\ta_ns\n\"a;b\"\t1.5\n",
                                                                             "# a,b\n\nname,a_ns\na;b,1.5\n"};
    char *dir = scratch_new(), *path = xasprintf("%s/t.csv", dir);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        scratch_write(dir, "t.csv", texts[i]);
        struct csv_table t;
        double v;
        assert_true(csv_table_read(&t, path, columns, 2, &diags));
        assert_string_equal(t.rows[0].cells[0], "a;b");
        assert_true(csv_table_number(&t, 0, 1, false, &v, &diags) && v == 1.5);
        assert_int_equal(csv_table_cell_loc(&t, 0, 1).column, i < 2 ? 7 : 5);
        csv_table_release(&t);
    }
    expect_silence(&diags);
    free(path);
    scratch_remove(dir);
    refuse_csv("name;a_ns\nx;1,5\n", 2, 3, "a decimal point");
}

/* What begins with # inside of a cell of several lines is no comment. */
static void csv__cells_may_have_lines_with_a_hash(void **state)
{
    (void)state;
    static const char *const columns[] = {"name", "a_ns"};
    struct csv_table t;
    assert_true(csv_table_read_text(&t, "t", "name,a_ns\n\"x\n# y\",1\n# z\n", columns, 2, &diags));
    assert_int_equal(t.n_rows, 1);
    assert_string_equal(t.rows[0].cells[0], "x\n# y");
    csv_table_release(&t);
}

/* A file whose cells have commas of their own is no list of thousands of errors. */
static void csv__complains_of_a_few_rows(void **state)
{
    (void)state;
    static const char *const columns[] = {"name", "a_ns"};
    struct text text;
    struct csv_table t;
    text_init(&text);
    text_add(&text, "name,a_ns\n");
    for (int i = 0; i < 1000; i++) text_add(&text, "x,y,1\n");
    assert_false(csv_table_read_text(&t, "t", text.s, columns, 2, &diags));
    assert_int_equal(diags.errors, 10);
    diags_release(&diags);
    csv_table_release(&t);
    text_release(&text);
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
        {HEADER ",false_negative\n", 1, 1, "hit_ratio; optional: attention_error,false_negative"},
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
    assert_true(catalog_add_file(c, path, &diags)); /* the same once more */
    scratch_write(dir, "own.csv", "# source: here\ncontext,head,step,centers,large,active,updates,hits\n64,0,64,8,4,20,1,19\n");
    assert_false(catalog_add_file(c, path, &diags));
    expect_complaint(&diags, ANYWHERE, 0, "the file, or a CSV file of it, has other contents than when it was read first");
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
    free(from);
    free(to);
    free(path);
    scratch_remove(dir);
    catalog_free(c);
}

/* A task is the rows of one task and score; those of a user's file are of one. */
static struct catalog *with_tasks(const char *rows)
{
    struct catalog *c = toy_catalog();
    char *dir = scratch_new(), *path = xasprintf("%s/mine.toml", dir);
    char *text = xasprintf("method,ratio,settings,llm,task,score,value,unit,better,reference,source,claim\n%s", rows);
    scratch_write(dir, "mine.toml", "[tasks]\nown = 'own.csv'\n");
    scratch_write(dir, "own.csv", text);
    const bool ok = catalog_add_file(c, path, &diags);
    free(text);
    free(path);
    scratch_remove(dir);
    if (ok) return c;
    catalog_free(c);
    return NULL;
}

static void catalog__takes_a_users_task(void **state)
{
    (void)state;
    struct catalog *c = with_tasks("lazy,,sinks=4,small,mine,right,0.5,,more,0.6,me,\n");
    expect_silence(&diags);
    const struct dse_llm *small = (const struct dse_llm *)catalog_find(c, DSE_KIND_LLM, "small");
    const struct dse_task *own = (const struct dse_task *)catalog_find(c, DSE_KIND_TASK, "own"),
                          *solved = (const struct dse_task *)catalog_find(c, DSE_KIND_TASK, "riddles-solved");
    assert_string_equal(((const struct dse_entry *)own)->source, "me");
    struct dse_score s;
    struct dse_task_query q = {.llm = small, .method = "lazy", .ratio = NAN, .given = 1u << DSE_SET_SINKS | 1u << DSE_SET_KV_BITS};
    q.setting[DSE_SET_SINKS] = 4;
    q.setting[DSE_SET_KV_BITS] = 16;
    assert_null(dse_task_find(own, &q, &s));
    assert_true(s.task_score == 0.5 && fabs(s.task_loss - 1.0 / 6) < 1e-12);
    q.setting[DSE_SET_SINKS] = 8;
    assert_non_null(strstr(dse_task_find(own, &q, &s), "other ratios or settings"));
    assert_true(isnan(s.task_score) && isnan(s.task_loss));
    assert_non_null(strstr(dse_task_find(solved, &q, &s), "other ratios or settings")); /* half of the positions are not all */
    q.ratio = 0.5;
    assert_null(dse_task_find(solved, &q, &s));
    assert_true(s.task_score == 40 && fabs(s.task_loss - 0.2) < 1e-12);
    q = (struct dse_task_query){.llm = small, .method = "hasty", .ratio = NAN};
    assert_null(dse_task_find(solved, &q, &s));
    assert_true(s.task_score == 30 && isnan(s.task_loss));
    q.method = NULL;
    assert_null(dse_task_find(solved, &q, &s));
    assert_true(s.task_score == 50 && s.task_loss == 0);
    catalog_free(c);

    static const struct {
        const char *rows, *part;
    } bad[] = {
        {"", "has no row"},
        {"lazy,,,small,mine,right,0.5,,more,,me,\nlazy,,,small,mine,wrong,0.5,,more,,me,\n",
         "task own is of mine, right, not of mine, wrong"},
        {"lazy,,sink=4,small,mine,right,0.5,,more,,me,\n", "sink"},
        {"lazy,2,,small,mine,right,0.5,,more,,me,\n", "ratio 2 is not above 0 and at most 1"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(with_tasks(bad[i].rows));
        expect_complaint(&diags, ANYWHERE, 0, bad[i].part);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv__names_the_line_of_what_is_wrong),
        cmocka_unit_test(csv__reads_cells_and_comments),
        cmocka_unit_test(csv__reads_semicolons_and_tabs),
        cmocka_unit_test(csv__cells_may_have_lines_with_a_hash),
        cmocka_unit_test(csv__complains_of_a_few_rows),
        cmocka_unit_test(catalog__profiles_may_know_their_error),
        cmocka_unit_test(catalog__profiles_may_know_their_scores),
        cmocka_unit_test(catalog__takes_a_users_task),
        cmocka_unit_test(catalog__takes_a_users_recording),
        cmocka_unit_test(catalog__takes_a_users_retention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
