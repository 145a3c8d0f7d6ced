/* The models as tables of SQL, in `dse query` and in any SQLite that loads the extension. docs/reference/sql.md is the manual.
 *
 * A model is a table of its name, and of NAME_model where the database has a table of that name: metrics, status, reason,
 * quality and beyond are columns, its parameters hidden ones. What a query says of a parameter makes the points: a value, IN, a
 * join, a range. What it does not speak of has its default.
 */
#ifndef DSE_SQL_SQL_H
#define DSE_SQL_SQL_H

#include "config/catalog.h"
#include "sql/sqlite.h"

/* What the tables of a connection share; tables hold it as long as they live. */
struct sql_models;
/* catalog: borrowed, and outlives all tables; NULL: opened when the first table is read, and freed at the end. */
struct sql_models *sql_models_new(const struct catalog *catalog);
void sql_models_release(struct sql_models *m);

/* Make everything known to a connection: the tables of models, pareto() and hypervolume(). Returns a result code of SQLite. */
int sql_register(sqlite3 *db, struct sql_models *models);

/* Points that one scan may have, unless the query says max_points = N. */
#define SQL_POINTS_MAX 10000000

#endif
