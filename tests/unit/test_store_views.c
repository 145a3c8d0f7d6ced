/* The schema over time: columns that come later, runs that vary and fix different parameters, several sweeps and models in one
 * file. */
#include "store_fixture.h"

static const char *const view_columns[] = {"run",      "point", "status",    "reason",  "fidelity", "tiles",
                                           "sram_mib", "llm",   "clock_ghz", "context", "pipeline", "tokens_per_s",
                                           "area_mm2", "order", "bound",     "density"};

static void views__show_every_column_under_its_own_name(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    struct text expected;
    text_init(&expected);
    for (size_t i = 0; i < COUNT(view_columns); i++) text_addf(&expected, "t%s\n", view_columns[i]);
    sql_gives("a.db", "SELECT name FROM pragma_table_info('toy') ORDER BY cid", expected.s);
    sql_gives("a.db", "SELECT name FROM pragma_table_info('toy_front') ORDER BY cid", expected.s);
    text_release(&expected);
    sql_gives("a.db", "SELECT point, tiles, context, pipeline, clock_ghz FROM toy WHERE context = 4096 AND point < 2",
              "i0|i1|i4096|teq7|r1.5\ni1|i2|i4096|teq7|r1.5\n");
    sql_gives("a.db", "SELECT count(*) FROM toy WHERE context = 4097", "i0\n");
}

/* ---- a run that varies what another fixes ---------------------------------------------------------------------------------- */

static const struct column other_columns[] = {
    {.name = "context", .unit = "", .doc = "context", .role = COLUMN_PARAM, .type = DSE_TYPE_I64},
    {.name = "tokens_per_s", .unit = "1/s", .doc = "rate", .role = COLUMN_METRIC, .type = DSE_TYPE_F64, .better = DSE_MORE},
    {.name = "energy_mj", .unit = "mJ", .doc = "a metric of a newer version", .role = COLUMN_METRIC, .type = DSE_TYPE_F64},
};

static const struct store_param other_params[] = {
    {.name = "tiles", .unit = "", .doc = "tiles", .type = DSE_TYPE_I64, .fixed = {.i64 = 6}},
    {.name = "sram_mib", .unit = "MiB", .doc = "SRAM", .type = DSE_TYPE_F64, .fixed = {.f64 = NAN}},
    {.name = "llm", .unit = "", .doc = "model", .type = DSE_TYPE_REF, .fixed = {.text = "llama2-7b"}},
    {.name = "clock_ghz", .unit = "GHz", .doc = "clock", .type = DSE_TYPE_F64, .fixed = {.f64 = 2}},
    {.name = "context", .unit = "", .doc = "context", .type = DSE_TYPE_I64, .varies = true},
    {.name = "pipeline", .unit = "", .doc = "which", .type = DSE_TYPE_ENUM, .fixed = {.text = "exact"}},
    {.name = "group", .unit = "", .doc = "a new parameter whose name is a word of SQL", .type = DSE_TYPE_I64, .fixed = {.i64 = 9}},
};

static struct store_table other_table(const char *model, uint64_t points)
{
    return (struct store_table){.model = model,
                                .version = 4,
                                .points = points,
                                .columns = other_columns,
                                .n_columns = COUNT(other_columns),
                                .params = other_params,
                                .n_params = COUNT(other_params)};
}

static const struct row_block *other_pull(void *user)
{
    static union cell cells[3];
    static struct row row;
    static struct row_block block = {.n = 1, .cells = cells, .rows = &row};
    uint64_t *p = user;
    cells[0].i64 = 512 * (int64_t)(*p + 1);
    cells[1].f64 = 7.5;
    cells[2].f64 = 0.25;
    block.first = (*p)++;
    return &block;
}

/* A complete run of sweep `name` over other_table. */
static void other_make(const char *path, const char *name, const char *model, uint64_t hash, uint64_t points)
{
    struct diags d;
    diags_init(&d);
    struct store_table t = other_table(model, points);
    struct run_info info = {
        .sweep = name, .sweep_text = "", .hash = hash, .fidelity = "closed-form", .objectives = "max tokens_per_s"};
    struct store *st = store_open_tables(path, &info, &t, 1, 0, &d);
    no_errors(&d);
    uint64_t next = 0;
    assert_true(store_write(st, 0, 0, points - 1, other_pull, &next, &d));
    const uint64_t front[] = {1};
    assert_true(store_front(st, 0, front, 1, &d));
    assert_true(store_finish(st, "done", &d));
    store_close(st);
}

static void views__show_the_newest_run_of_a_sweep(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    char *old_rows = sql_dump("a.db", "SELECT * FROM toy_all");
    other_make("a.db", "toys", "toy", 2, 3);
    sql_gives("a.db",
              "SELECT run, point, tiles, sram_mib, llm, clock_ghz, context, pipeline, \"group\", tokens_per_s, energy_mj FROM toy",
              "i2|i0|i6|n|tllama2-7b|r2|i512|texact|i9|r7.5|r0.25\n"
              "i2|i1|i6|n|tllama2-7b|r2|i1024|texact|i9|r7.5|r0.25\n"
              "i2|i2|i6|n|tllama2-7b|r2|i1536|texact|i9|r7.5|r0.25\n");
    sql_gives("a.db", "SELECT point, context, tiles FROM toy_front", "i1|i1024|i6\n");
    /* The old rows stand as they were; new columns are NULL. */
    char *now = sql_dump("a.db", "SELECT id, run, point, status, reason, fidelity, tiles, sram_mib, llm, tokens_per_s, area_mm2,"
                                 " \"order\", bound, density FROM toy_all WHERE run = 1");
    assert_string_equal(now, old_rows);
    free(now);
    free(old_rows);
    sql_gives("a.db", "SELECT count(context), count(energy_mj) FROM toy_all WHERE run = 1", "i0|i0\n");
    sql_gives("a.db", "PRAGMA integrity_check", "tok\n");
}

static void views__take_a_value_from_where_the_run_has_it(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    other_make("a.db", "toys", "toy", 2, 3);
    /* Make the first run the newest of a sweep of its own: both show, each with its own varying parameters. */
    sql_exec("a.db", "UPDATE run SET sweep = 'older toys' WHERE id = 1");
    sql_gives("a.db",
              "SELECT run, count(*), count(DISTINCT tiles), count(DISTINCT context), max(context), max(clock_ghz) FROM toy"
              " GROUP BY run",
              "i1|i100|i7|i1|i4096|r1.5\ni2|i3|i1|i3|i1536|r2\n");
    sql_gives("a.db", "SELECT point, tiles FROM toy WHERE run = 1 AND point < 3", "i0|i1\ni1|i2\ni2|i3\n");
}

static void views__use_plain_columns_while_no_run_fixes_them(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    sql_gives("a.db", "SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND sql LIKE '%coalesce%'", "i0\n");
    other_make("a.db", "toys", "toy", 2, 3);
    sql_gives("a.db",
              "SELECT name, instr(sql, 'coalesce(a.\"tiles\", f.\"tiles\")') > 0, instr(sql, 'f.\"clock_ghz\"') > 0,"
              " instr(sql, 'a.\"tokens_per_s\"') > 0 FROM sqlite_schema WHERE type = 'view' AND name = 'toy'",
              "ttoy|i1|i1|i1\n");
}

/* One pass over the ranges of ids of the newest runs: no other run's rows are read, and nothing is sorted or looked up per row. */
static void views__scan_ranges_of_ids(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    char *plan = sql_dump("a.db", "EXPLAIN QUERY PLAN SELECT max(tokens_per_s) FROM toy WHERE context = 4096");
    assert_non_null(strstr(plan, "SEARCH a USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"));
    assert_null(strstr(plan, "SCAN a"));
    free(plan);
    plan = sql_dump("a.db", "EXPLAIN QUERY PLAN SELECT * FROM toy_front");
    assert_non_null(strstr(plan, "SEARCH a USING INTEGER PRIMARY KEY (rowid=?)"));
    assert_non_null(strstr(plan, "SEARCH p USING PRIMARY KEY (run=? AND model=?)"));
    free(plan);
}

static void views__keep_models_apart(void **state)
{
    (void)state;
    toy_make("a.db", 1, 100);
    other_make("a.db", "toys", "doll", 2, 3);
    sql_gives("a.db", "SELECT (SELECT count(*) FROM toy), (SELECT count(*) FROM doll), (SELECT count(*) FROM doll_front)",
              "i100|i3|i1\n");
    sql_gives("a.db", "SELECT max(run) FROM toy", "i1\n"); /* the newest run that has this model */
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

static void one_name(const char *name, bool is_param, const char *part)
{
    struct diags d;
    diags_init(&d);
    struct column column = {.name = name, .unit = "", .doc = "", .role = COLUMN_DERIVED, .type = DSE_TYPE_F64};
    struct store_param params[] = {{.name = "Tiles", .unit = "", .doc = "", .type = DSE_TYPE_I64},
                                   {.name = name, .unit = "", .doc = "", .type = DSE_TYPE_I64}};
    struct store_table t = {.model = "toy", .points = 1, .params = params, .n_params = 1};
    if (is_param) {
        t.n_params = 2;
    } else {
        t.columns = &column;
        t.n_columns = 1;
    }
    struct run_info info = toy_info(1, NULL);
    assert_null(store_open_tables("a.db", &info, &t, 1, 0, &d));
    one_error(&d, part, 2);
    assert_int_not_equal(access("a.db", F_OK), 0); /* no file is left behind */
}

static void schema__refuses_names_that_collide_in_sql(void **state)
{
    (void)state;
    one_name("status", false, "toy: \"status\" is the name of a column that every table of results has");
    one_name("Point", false, "\"Point\" is the name of a column");
    one_name("first_id", true, "\"first_id\" is the name of a column");
    one_name("tiles", false, "two columns are named \"tiles\"");
}

static void schema__holds_names_that_are_words_of_sql(void **state)
{
    (void)state;
    toy_make("a.db", 1, 20);
    sql_gives("a.db", "SELECT \"order\" FROM toy WHERE \"order\" = 19", "i19\n");
    other_make("a.db", "toys", "toy", 2, 3);
    sql_gives("a.db", "SELECT DISTINCT \"group\" FROM toy", "i9\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(views__show_every_column_under_its_own_name),
        IN_DIRECTORY(views__show_the_newest_run_of_a_sweep),
        IN_DIRECTORY(views__take_a_value_from_where_the_run_has_it),
        IN_DIRECTORY(views__use_plain_columns_while_no_run_fixes_them),
        IN_DIRECTORY(views__scan_ranges_of_ids),
        IN_DIRECTORY(views__keep_models_apart),
        IN_DIRECTORY(schema__refuses_names_that_collide_in_sql),
        IN_DIRECTORY(schema__holds_names_that_are_words_of_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
