/* What to write instead of a name that an SQL query has and the database has not. */
#ifndef DSE_STORE_SQL_HINT_H
#define DSE_STORE_SQL_HINT_H

#include <sqlite3.h>

/* For SQLite's "no such column: tokens" and "no such table: ladd", as it prepared `sql`: the nearest name, and how to list all.
 * NULL for other messages, or where nothing can be read. The caller frees it. */
char *sql_hint(sqlite3 *db, const char *sql, const char *message);

#endif
