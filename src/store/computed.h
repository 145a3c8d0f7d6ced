/* Tables that are computed when a query reads them: functions that give tables, as in
 *
 *     SELECT part, time_us FROM breakdown('lad', 'context=4096')
 *
 * Their arguments are texts, and may come from other tables of the query: FROM lad, breakdown('lad', 'tiles=' || tiles).
 */
#ifndef DSE_STORE_COMPUTED_H
#define DSE_STORE_COMPUTED_H

#include "store/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows that are being filled, cell after cell and row after row. */
struct computed_rows;
void computed_f64(struct computed_rows *r, double v); /* NaN: NULL */
void computed_i64(struct computed_rows *r, int64_t v);
void computed_text(struct computed_rows *r, const char *s); /* copied; NULL: NULL */

enum { COMPUTED_ARGUMENTS_MAX = 8 };

/* A computed table. It is constant data. */
struct computed_table {
    const char *name, *doc;
    const char *const *columns;   /* NULL-terminated */
    const char *const *arguments; /* names, NULL-terminated */
    size_t required;              /* how many of the first arguments must be given */
    /* Add whole rows. args: as many as `arguments` names, NULL where not given. False, with *ret_error (freed by the caller with
     * free()): SQLite's error of the query. */
    bool (*fill)(void *context, const char *const *args, struct computed_rows *ret, char **ret_error);
};

/* Make the table known to the reader's queries, but not to the views of a file, which may be anyone's; one of the database of the
 * same name hides it. `table` and `context` outlive the reader. */
bool reader_add_table(struct reader *r, const struct computed_table *table, void *context, struct diags *diags);

/* Let somebody else add what queries can read: `add` gets the connection and gives a result code of SQLite. */
struct sqlite3;
bool reader_add(struct reader *r, int (*add)(struct sqlite3 *db, void *context), void *context, struct diags *diags);

#endif
