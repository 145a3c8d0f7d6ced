/* What dse knows beside a database, as tables of SQL: published numbers, models, attention. docs/reference/tables.md is the
 * manual. The models themselves are tables, too (sql/sql.h).
 *
 * They can be read in every query of `dse query` and of a figure, beside the tables of the database or without any.
 */
#ifndef DSE_TABLES_TABLES_H
#define DSE_TABLES_TABLES_H

#include "config/catalog.h"
#include "store/computed.h"

/* The computed tables of one thread. They borrow the catalog. */
struct tables;
struct tables *tables_new(const struct catalog *catalog);
void tables_free(struct tables *t);
/* Make all of them known to a reader; `t` outlives it. */
bool tables_attach(struct tables *t, struct reader *r, struct diags *diags);
/* Table i of all, or NULL behind the last: for docs and `dse list`. */
const struct computed_table *tables_at(size_t i);

#endif
