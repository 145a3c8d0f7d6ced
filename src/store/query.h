/* Reading a database of dse: queries, row by row. Opens read-only; nothing can be written through it. The views of dse's own
 * names are made anew for the reader from the tables, so that what a file says they are is not believed. */
#ifndef DSE_STORE_QUERY_H
#define DSE_STORE_QUERY_H

#include "base/diag.h"

#include <stdint.h>

struct reader;
struct query;

/* NULL with errors: missing, a directory, empty, not a database, not one of dse, of a newer dse, damaged, locked. If a writer was
 * killed in the middle of a transaction, that transaction is rolled back first, as every reader of SQLite does. Path NULL: a
 * database without tables. */
struct reader *reader_open(const char *path, struct diags *diags);
void reader_close(struct reader *r);

/* Let a statement take so many steps of SQLite's virtual machine without a row before it ends with an error. The default is some
 * minutes' worth, more in a large file. */
void reader_set_patience(struct reader *r, uint64_t steps);

/* Which run to read: the one `wanted`, or with 0 the newest that is done. From then on the views (MODEL, MODEL_front,
 * MODEL_refined, comparison, comparison_front) show that run, whatever newer ones there are, and nothing of others. Returns its
 * id; 0 with an error: there is none. */
int64_t reader_show_run(struct reader *r, int64_t wanted, struct diags *diags);

/* Add a name to SQL, as "tiles", or a string, as 'lad'. Both are quoted, whatever characters they have. */
struct text;
void sql_add_name(struct text *sql, const char *name);
void sql_add_string(struct text *sql, const char *s);

enum cell_type { CELL_NULL, CELL_INTEGER, CELL_REAL, CELL_TEXT, CELL_BLOB };

/* Prepare one read-only statement that gives rows. NULL with SQLite's message and the place in the SQL, line and column, when it
 * tells. loc is where the first character of the SQL stands (a figure file), or {0} for the command line: then lines and columns
 * are the SQL's own. */
struct query *query_new(struct reader *r, const char *sql, struct srcloc loc, struct diags *diags);
void query_free(struct query *q);
int query_columns(const struct query *q);
const char *query_column_name(const struct query *q, int i);
/* The next row: 1, none left: 0, failed: -1 with an error. */
int query_step(struct query *q, struct diags *diags);
enum cell_type query_type(const struct query *q, int i);
double query_f64(const struct query *q, int i); /* NaN for NULL and text */
int64_t query_i64(const struct query *q, int i);
const char *query_text(const struct query *q, int i); /* NULL for NULL; valid until the next step */

/* Unit, doc and direction (-1: less is better, 1: more is better, 0: neither) of a column by its name (any table; a model's view
 * first). False when unknown. Strings are freed by the caller with free(). */
bool reader_column_info(struct reader *r, const char *column, char **ret_unit, char **ret_doc, int *ret_direction);

/* The notices of a front other than the stored one, in the form of run.notices (store/notices.h). The caller frees *ret. */
struct notice_front;
bool reader_notices(struct reader *r, int64_t run, const struct notice_front *front, char **ret, struct diags *diags);

#endif
