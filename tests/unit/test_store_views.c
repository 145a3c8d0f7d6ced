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

/* ---- the comparison -------------------------------------------------------------------------------------------------------- */

/* Two models of one run: table t of `toy` with its rows, other_table of `doll` with its own. */
static void make_two(const char *path, uint64_t hash, const char *baseline)
{
    struct diags d;
    diags_init(&d);
    struct store_table tables[] = {toy_table(20), other_table("doll", 3)};
    struct run_info info = toy_info(hash, NULL);
    info.baseline = baseline;
    struct store *st = store_open_tables(path, &info, tables, 2, 0, &d);
    no_errors(&d);
    assert_true(toy_write(st, 0, 19, &d));
    uint64_t next = 0;
    assert_true(store_write(st, 1, 0, 2, other_pull, &next, &d));
    const uint64_t front[] = {1};
    assert_true(store_front(st, 0, front, 1, &d) && store_front(st, 1, front, 1, &d) && store_finish(st, "done", &d));
    store_close(st);
}

/* llm and context are of the workload, tokens_per_s, area_mm2, energy_mj and bound are common metrics: one model is enough.
 * tiles, clock_ghz and pipeline are there because both have them. */
static void comparison__has_what_models_share(void **state)
{
    (void)state;
    make_two("a.db", 1, "pebble: lanes=8");
    static const char *const names[] = {"model",        "run",       "point",    "status",   "reason",    "fidelity",
                                        "llm",          "context",   "tiles",    "sram_mib", "clock_ghz", "pipeline",
                                        "tokens_per_s", "energy_mj", "area_mm2", "bound"};
    struct text expected;
    text_init(&expected);
    for (size_t i = 0; i < COUNT(names); i++) text_addf(&expected, "t%s\n", names[i]);
    sql_gives("a.db", "SELECT name FROM pragma_table_info('comparison') ORDER BY cid", expected.s);
    sql_gives("a.db", "SELECT name FROM pragma_table_info('comparison_front') ORDER BY cid", expected.s);
    text_release(&expected);
    sql_gives("a.db", "SELECT model, count(*), count(DISTINCT point), count(area_mm2), count(energy_mj) FROM comparison GROUP BY 1",
              "tdoll|i3|i3|i0|i3\nttoy|i20|i20|i18|i0\n");
    sql_gives("a.db", "SELECT model, point, tiles, context, clock_ghz, pipeline FROM comparison_front ORDER BY 1",
              "tdoll|i1|i6|i1024|r2|texact\nttoy|i1|i2|i4096|r1.5|teq7\n");
    sql_gives("a.db", "SELECT baseline FROM run", "tpebble: lanes=8\n");
}

static void comparison__describes_its_columns(void **state)
{
    (void)state;
    make_two("a.db", 1, NULL);
    sql_gives("a.db",
              "SELECT count(*) FROM pragma_table_info('comparison') WHERE name NOT IN"
              " (SELECT column_name FROM column_info WHERE table_name = 'comparison')",
              "i0\n");
    sql_gives("a.db", "SELECT count(*) FROM column_info WHERE table_name = 'comparison'", "i16\n");
    sql_gives("a.db",
              "SELECT column_name, unit, doc, direction FROM column_info WHERE table_name = 'comparison'"
              " AND column_name IN ('llm', 'area_mm2', 'energy_mj', 'tokens_per_s')",
              "tarea_mm2|tmm2|tarea|i-1\ntenergy_mj|tmJ|ta metric of a newer version|i0\ntllm|t|tmodel|i0\n"
              "ttokens_per_s|t1/s|trate|i1\n");
}

static void comparison__tells_descriptions_of_models_apart(void **state)
{
    (void)state;
    make_two("a.db", 1, NULL);
    sql_exec("a.db", "UPDATE column_info SET doc = 'other tiles' WHERE table_name = 'doll' AND column_name = 'tiles';"
                     "DROP VIEW comparison");
    struct diags d;
    diags_init(&d);
    struct store_table tables[] = {toy_table(20), other_table("doll", 3)};
    struct run_info info = toy_info(1, NULL);
    store_close(store_open_tables("a.db", &info, tables, 2, 0, &d)); /* complete: the view is made again, and described */
    no_errors(&d);
    sql_gives("a.db", "SELECT doc FROM column_info WHERE table_name = 'comparison' AND column_name = 'tiles'",
              "tdoll: other tiles; toy: tiles\n");
}

/* Models whose rows stand apart from those of the newest run of the sweep are not compared with it. */
static void comparison__leaves_older_runs_out(void **state)
{
    (void)state;
    make_two("a.db", 1, NULL);
    toy_make("a.db", 2, 50);
    sql_gives("a.db", "SELECT model, run, count(*) FROM comparison GROUP BY 1, 2", "ttoy|i2|i50\n");
    sql_gives("a.db", "SELECT count(*) FROM doll", "i3\n");
    sql_gives("a.db", "SELECT count(density) > 0 FROM comparison", "i1\n"); /* nothing but what the one model has */
    sql_gives("a.db", "SELECT count(*) FROM comparison_front", "i0\n");
    /* Another sweep, as after a merge, has a newest run of its own. */
    sql_exec("a.db", "UPDATE run SET sweep = 'older toys' WHERE id = 1");
    toy_make("a.db", 2, 50);
    sql_gives("a.db", "SELECT model, run, count(*) FROM comparison GROUP BY 1, 2", "tdoll|i1|i3\nttoy|i1|i20\nttoy|i2|i50\n");
}

/* What an older dse made has neither the views nor run.baseline and run.requests. */
static void comparison__comes_to_an_older_database(void **state)
{
    (void)state;
    static const char *const old = "DROP VIEW comparison; DROP VIEW comparison_front; ALTER TABLE run DROP COLUMN baseline;"
                                   "ALTER TABLE run DROP COLUMN requests;"
                                   "DELETE FROM column_info WHERE table_name = 'comparison'";
    toy_make("a.db", 1, 30);
    toy_make("b.db", 7, 30);
    sql_exec("a.db", old);
    sql_exec("b.db", old);
    toy_make("a.db", 1, 30); /* complete already */
    sql_gives("a.db", "SELECT count(*), max(tiles), (SELECT count(baseline) FROM run) FROM comparison", "i30|i7|i0\n");
    sql_gives("a.db", "SELECT count(*) > 10 FROM column_info WHERE table_name = 'comparison'", "i1\n");
    struct diags d;
    diags_init(&d);
    const char *const in[] = {"a.db", "b.db"};
    assert_true(store_merge("c.db", in, 2, &d));
    no_errors(&d);
    sql_gives("c.db", "SELECT run, count(*) FROM comparison GROUP BY 1", "i2|i30\n");
    sql_gives("c.db", "SELECT count(*), count(baseline), count(requests) FROM run", "i2|i0|i0\n");
}

/* As the views of single models: ranges of ids, and only those of the model that is asked for. */
static void comparison__scans_ranges_of_ids(void **state)
{
    (void)state;
    make_two("a.db", 1, NULL);
    char *plan = sql_dump("a.db", "EXPLAIN QUERY PLAN SELECT max(tokens_per_s) FROM comparison WHERE context = 4096");
    assert_non_null(strstr(plan, "SEARCH a USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"));
    assert_null(strstr(plan, "SCAN a"));
    free(plan);
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
        IN_DIRECTORY(comparison__has_what_models_share),
        IN_DIRECTORY(comparison__describes_its_columns),
        IN_DIRECTORY(comparison__tells_descriptions_of_models_apart),
        IN_DIRECTORY(comparison__leaves_older_runs_out),
        IN_DIRECTORY(comparison__comes_to_an_older_database),
        IN_DIRECTORY(comparison__scans_ranges_of_ids),
        IN_DIRECTORY(schema__refuses_names_that_collide_in_sql),
        IN_DIRECTORY(schema__holds_names_that_are_words_of_sql),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
