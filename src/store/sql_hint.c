#include "store/sql_hint.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct names {
    char **list;
    size_t n;
};
enum { NAMES_MAX = 4096 }; /* of a database of others */

static void names_release(struct names *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->list[i]);
    free(l->list);
}

/* The first column of a query's rows; `of` is bound to ?1, or is NULL. Nothing where it cannot be read. */
static struct names read_names(sqlite3 *db, const char *sql, const char *of)
{
    struct names l = {0};
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) return l;
    if (of) sqlite3_bind_text(stmt, 1, of, -1, SQLITE_STATIC);
    while (l.n < NAMES_MAX && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 0);
        if (!name) continue;
        l.list = xrealloc(l.list, l.n + 1, sizeof *l.list);
        l.list[l.n++] = xstrdup(name);
    }
    sqlite3_finalize(stmt);
    return l;
}

/* The nearest by its letters, or else the first of those that begin as it does. */
static const char *nearest(const char *name, const struct names *l)
{
    enum { BEGIN_MIN = 4 };
    const char *near = text_nearest(name, (const char *const *)l->list, l->n);
    for (size_t i = 0; i < l->n && !near && strlen(name) >= BEGIN_MIN; i++)
        if (strncasecmp(name, l->list[i], BEGIN_MIN) == 0) near = l->list[i];
    return near;
}

/* Tables and views, first of the database's own, then those that dse computes. */
static struct names tables_of(sqlite3 *db)
{
    return read_names(
        db,
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') UNION SELECT name FROM sqlite_temp_schema WHERE "
        "type IN ('table', 'view') UNION SELECT name FROM pragma_module_list WHERE name NOT LIKE 'pragma%' AND name NOT "
        "LIKE 'fts%' AND name NOT LIKE 'rtree%'",
        NULL);
}

/* The query without what stands in quotes: 'lad' is a text, and no table. The caller frees it. */
static char *without_texts(const char *sql)
{
    char *ret = xstrdup(sql);
    bool quoted = false;
    for (char *at = ret; *at; at++) {
        if (*at == '\'') quoted = !quoted;
        if (quoted) *at = ' ';
    }
    return ret;
}

/* Does the name stand in the query as a word? */
static bool has_word(const char *sql, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = strcasestr(sql, word); at; at = strcasestr(at + 1, word)) {
        const bool begins = at == sql || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_') return true;
    }
    return false;
}

static char *column_hint(sqlite3 *db, const char *sql, const char *column)
{
    const char *dot = strrchr(column, '.');
    struct names tables = tables_of(db);
    char *ret = NULL, *words = without_texts(sql);
    for (size_t i = 0; i < tables.n && !ret; i++) {
        if (!has_word(words, tables.list[i])) continue;
        struct names columns = read_names(db, "SELECT name FROM pragma_table_xinfo(?1)", tables.list[i]);
        const char *near = nearest(dot ? dot + 1 : column, &columns);
        if (near) ret = xasprintf("did you mean %s? All: select name from pragma_table_xinfo('%s')", near, tables.list[i]);
        names_release(&columns);
    }
    for (size_t i = 0; i < tables.n && !ret; i++)
        if (has_word(words, tables.list[i]))
            ret = xasprintf("all there are: select name from pragma_table_xinfo('%s')", tables.list[i]);
    free(words);
    names_release(&tables);
    return ret;
}

#define ALL_TABLES "select name from pragma_table_list union select name from pragma_module_list"

static char *table_hint(sqlite3 *db, const char *table)
{
    struct names tables = tables_of(db);
    const char *near = nearest(table, &tables);
    char *ret = near ? xasprintf("did you mean %s? All: " ALL_TABLES, near) : xstrdup("all there are: " ALL_TABLES);
    names_release(&tables);
    return ret;
}

char *sql_hint(sqlite3 *db, const char *sql, const char *message)
{
    static const char no_column[] = "no such column: ", no_table[] = "no such table: ";
    char *said = xstrdup(message), *ret = NULL; /* which the next statement overwrites */
    if (strncmp(said, no_column, strlen(no_column)) == 0)
        ret = column_hint(db, sql, said + strlen(no_column));
    else if (strncmp(said, no_table, strlen(no_table)) == 0)
        ret = table_hint(db, said + strlen(no_table));
    free(said);
    return ret;
}
