/* A program whose locale has a decimal comma: comma_locale MODEL.toml EXTENSION. It calls libdse and a SQLite that loads the
 * extension, and prints numbers byte by byte, which no locale changes. LOCALE in the environment chooses the locale. */
#include <dse/dse.h>
#include <locale.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    return 1;
}

static void print(const char *model, const char *status, double speed)
{
    unsigned char bytes[sizeof speed];
    memcpy(bytes, &speed, sizeof speed);
    printf("%s %s ", model, status);
    for (size_t i = 0; i < sizeof bytes; i++) printf("%02x", bytes[i]);
    putchar('\n');
}

static int through_library(const char *toml)
{
    struct dse_problems *problems = dse_problems_new();
    struct dse *d = dse_open(NULL, problems);
    if (!d || !dse_add_plugin(d, toml, problems)) return fail(dse_problems_text(problems));
    const char *model, *status;
    double speed;
    for (size_t i = 0; (model = dse_model_at(d, i)) != NULL; i++) {
        struct dse_points *p = dse_points_new(d, model, problems);
        const struct dse_output out[] = {{.name = "tokens_per_s", .numbers = &speed}, {.name = "status", .texts = &status}};
        if (!p) return fail(dse_problems_text(problems));
        if (dse_column_find(d, model, "clock_ghz") && !dse_points_set(p, "clock_ghz", "0.5", problems))
            return fail(dse_problems_text(problems));
        if (!dse_points_evaluate(p, 1, NULL, 0, out, 2, problems)) return fail(dse_problems_text(problems));
        print(model, status, speed);
        dse_points_free(p);
    }
    dse_close(d);
    dse_problems_free(problems);
    return 0;
}

static int through_sql(const char *extension)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    char *error = NULL;
    sqlite3_open(":memory:", &db);
    sqlite3_enable_load_extension(db, 1);
    if (sqlite3_load_extension(db, extension, NULL, &error) != SQLITE_OK) return fail(error);
    if (sqlite3_prepare_v2(
            db, "SELECT tokens_per_s FROM comma WHERE clock_ghz = 0.5 UNION ALL SELECT tokens_per_s FROM lad WHERE clock_ghz = 0.5",
            -1, &s, NULL) != SQLITE_OK)
        return fail(sqlite3_errmsg(db));
    while (sqlite3_step(s) == SQLITE_ROW) print("SQL", "ok", sqlite3_column_double(s, 0));
    if (sqlite3_finalize(s) != SQLITE_OK) return fail(sqlite3_errmsg(db));
    sqlite3_close(db);
    return 0;
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("LOCALE");
    if (argc != 3) return fail("comma_locale MODEL.toml EXTENSION");
    if (wanted && (!setlocale(LC_ALL, wanted) || strcmp(localeconv()->decimal_point, ",") != 0))
        return fail("there is no locale with a comma");
    if (through_sql(argv[2]) || through_library(argv[1])) return 1;
    if (wanted && strcmp(localeconv()->decimal_point, ",") != 0) return fail("the program's locale is another behind the calls");
    return 0;
}
