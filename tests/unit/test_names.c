/* model/names.h against those who make tables and columns: the store, the computed tables, sweeps, SQLite itself. */
#include "model/names.h"
#include "model/ratios.h"
#include "model/registry.h"
#include "model/served.h"
#include "space/space.h"
#include "store_fixture.h"
#include "tables/tables.h"

static int query_prepares(sqlite3 *db, const char *fmt, const char *name)
{
    sqlite3_stmt *stmt = NULL;
    char *sql = sqlite3_mprintf(fmt, name);
    const int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return rc == SQLITE_OK;
}

static void names__of_columns_that_results_have_are_taken(void **state)
{
    (void)state;
    for (int use = 0; use < NAME_USES; use++) {
        for (size_t i = 0; i < SCHEMA_LEADING; i++) assert_non_null(name_of_column(schema_leading[i], (enum name_use)use));
        for (const char *const *note = space_notes; *note; note++) assert_non_null(name_of_column(*note, (enum name_use)use));
        assert_non_null(name_of_column("Model", (enum name_use)use));
        assert_null(name_of_column("tiles", (enum name_use)use));
        assert_null(name_of_column("order", (enum name_use)use)); /* it stands in quotes */
    }
    for (const struct dse_metric *m = ratio_metrics; m->type != DSE_TYPE_END; m++)
        assert_non_null(name_of_column(m->name, NAME_OF_PARAMETER));
    for (const struct dse_metric *m = served_metrics; m->type != DSE_TYPE_END; m++)
        assert_non_null(name_of_column(m->name, NAME_OF_METRIC));
    assert_non_null(name_of_column("points", NAME_OF_PARAMETER));
    assert_null(name_of_column("points", NAME_OF_DERIVED));
}

static void names__of_computed_tables_are_taken(void **state)
{
    (void)state;
    for (size_t i = 0; tables_at(i); i++)
        if (!name_of_table(tables_at(i)->name)) fail_msg("a model may be called %s", tables_at(i)->name);
}

/* Every table of a database that is no model's. */
static void names__of_tables_of_results_are_taken(void **state)
{
    (void)state;
    store_close(toy_open("names.db", 1, 10, NULL, 0));
    sqlite3 *db;
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_open("names.db", &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT name FROM sqlite_schema WHERE type <> 'index'", -1, &stmt, NULL), SQLITE_OK);
    int tables = 0;
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        tables++;
        if (!name_of_table(name) && !name_ending(name, "toy") && strcmp(name, "toy") != 0)
            fail_msg("a model may be called %s", name);
    }
    assert_true(tables > 8);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

/* What SQL takes for no name without quotes, and what SQLite has a table of. */
static void names__of_sql_are_taken(void **state)
{
    (void)state;
    sqlite3 *db;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (int i = 0; i < sqlite3_keyword_count(); i++) {
        const char *word;
        int n;
        sqlite3_keyword_name(i, &word, &n);
        char *name = xstrndup(word, (size_t)n);
        char *sql = sqlite3_mprintf("CREATE TABLE \"%w\"(x)", name);
        sqlite3_exec(db, sql, NULL, NULL, NULL);
        sqlite3_free(sql);
        if (!query_prepares(db, "SELECT * FROM %s", name) && !name_of_table(name)) fail_msg("a model may be called %s", name);
        free(name);
    }
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(db, "SELECT name FROM pragma_module_list", -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        if (query_prepares(db, "SELECT * FROM \"%w\"", name) && !name_of_table(name)) fail_msg("a model may be called %s", name);
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

/* ---- models ------------------------------------------------------------------------------------------------------------------ */

static struct text told;

static void keep_message(void *user, const char *name, const char *message)
{
    (void)user, (void)name;
    text_addf(&told, "%s\n", message);
}

static void expect_refused(const char *name, const struct dse_param *params, const struct dse_metric *metrics, const char *message)
{
    const struct dse_model m = {.name = name, .params = params, .metrics = metrics};
    text_init(&told);
    assert_int_equal(names_check(&m, keep_message, NULL), !*message);
    if (*message ? !strstr(told.s, message) : told.n > 0) fail_msg("%s: %s", name, told.s);
    text_release(&told);
}

static void names__of_models_and_their_columns_are_checked(void **state)
{
    (void)state;
#define PARAM(n) \
    { \
        .type = DSE_TYPE_F64, .name = n, .unit = "", .doc = "doc", .max = 1 \
    }
#define METRIC(n) \
    { \
        .type = DSE_TYPE_F64, .name = n, .unit = "" \
    }
    static const struct dse_param none[] = {DSE_PARAM_END}, tiles[] = {PARAM("tiles"), DSE_PARAM_END},
                                  both[] = {PARAM("tiles"), PARAM("Tiles"), DSE_PARAM_END}, run[] = {PARAM("Run"), DSE_PARAM_END},
                                  quoted[] = {PARAM("a\"b"), DSE_PARAM_END};
    static const struct dse_metric nothing[] = {DSE_METRIC_END}, area[] = {METRIC("area"), DSE_METRIC_END},
                                   same[] = {METRIC("TILES"), DSE_METRIC_END};
    expect_refused("mine", tiles, area, "");
    expect_refused("front_of_mine", none, nothing, "");
    expect_refused("mine", both, area, "a parameter cannot be called \"Tiles\": a parameter is called \"tiles\", and SQL does not");
    expect_refused("mine", tiles, same, "a parameter cannot be called \"tiles\": a metric is called \"TILES\", and SQL does not");
    expect_refused("mine", run, area, "a parameter cannot be called \"Run\": every table of results has a column of that name");
    expect_refused("mine", quoted, area, "a name has letters, digits and _");
    expect_refused("front", tiles, area, "a model cannot be called \"front\": every database of results has a table of that name");
    expect_refused("lad_front", none, nothing, "model lad has a table of that name in SQL");
    expect_refused("lad_fixed", none, nothing, "model lad has a table of that name in SQL");
    expect_refused("nobody_front", none, nothing, "");
}

static void names__of_both_fidelities_stay_apart(void **state)
{
    (void)state;
    static const struct dse_param params[] = {PARAM("area_event"), DSE_PARAM_END};
    static const struct dse_metric metrics[] = {METRIC("area"), DSE_METRIC_END};
    struct dse_model m = {.name = "mine", .params = params, .metrics = metrics};
    text_init(&told);
    assert_true(names_check(&m, keep_message, NULL));
    m.simulate = registry_find("lad")->desc->simulate;
    assert_false(names_check(&m, keep_message, NULL));
    assert_non_null(strstr(told.s, "\"area_event\": where both fidelities stand side by side"));
    text_release(&told);
}

static void names__of_models_in_one_database_stay_apart(void **state)
{
    (void)state;
    struct diags diags;
    struct store_table table = toy_table(10);
    const struct run_info info = toy_info(2, NULL);
    diags_init(&diags);
    store_close(toy_open("apart.db", 1, 10, NULL, 0));
    table.model = "toy_front";
    assert_null(store_open_tables("apart.db", &info, &table, 1, 0, &diags));
    assert_non_null(
        strstr(diags.list[0].message, "has results of model toy, and tables of model toy_front cannot stand beside them"));
    diags_release(&diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names__of_columns_that_results_have_are_taken),
        cmocka_unit_test(names__of_computed_tables_are_taken),
        cmocka_unit_test_setup_teardown(names__of_tables_of_results_are_taken, enter_directory, leave_directory),
        cmocka_unit_test(names__of_sql_are_taken),
        cmocka_unit_test(names__of_models_and_their_columns_are_checked),
        cmocka_unit_test(names__of_both_fidelities_stay_apart),
        cmocka_unit_test_setup_teardown(names__of_models_in_one_database_stay_apart, enter_directory, leave_directory),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    registry_release();
    return failed;
}
