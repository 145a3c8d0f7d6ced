/* Internal to src/store: what the tables of one model are, and making them. Nothing here knows of a struct space, so that tests and
 * `merge` can make tables from plain descriptions.
 */
#ifndef DSE_STORE_SCHEMA_H
#define DSE_STORE_SCHEMA_H

#include "space/space.h"
#include "store/store.h"

#include <sqlite3.h>

struct db;

/* One parameter of a model and, unless it varies, its value in this run. */
struct store_param {
    const char *name, *unit, *doc;
    enum dse_type type;
    bool varies;
    union cell fixed; /* NULL is NaN, INT64_MIN, NULL, as in a row */
};

/* One space, as the store sees it. */
struct store_table {
    const char *model;
    int version;
    uint64_t points;              /* of the whole space: the length of its range of ids */
    const struct column *columns; /* of a row: varying parameters, metrics, derived; `field` is not used */
    size_t n_columns;
    const struct store_param *params; /* all of the model */
    size_t n_params;
};

/* What store_open does, without spaces. The tables are borrowed for the call. */
struct store *store_open_tables(const char *path, const struct run_info *info, const struct store_table *tables, size_t n_tables,
                                unsigned flags, struct diags *diags);

/* The columns that MODEL_all and MODEL_fixed start with. */
enum { SCHEMA_LEADING = 6, SCHEMA_FIXED_LEADING = 3 };   /* MODEL_fixed: run, first_id, points */
extern const char *const schema_leading[SCHEMA_LEADING]; /* id, run, point, status, reason, fidelity */

/* The tables that tell of a run, besides MODEL_all and MODEL_fixed, closed by NULL: not all databases have all of them. The column
 * that names the run is `run`, and in table run itself `id`. */
extern const char *const schema_run_tables[];
const char *schema_run_column(const char *table);
/* Has the database `schema` ("main", or an attached one) a table of that name? */
bool schema_has_table(const struct db *db, const char *schema, const char *table, bool *ret, struct diags *diags);

/* SQL's name for a type: REAL, INTEGER or TEXT. */
const char *schema_sql_type(enum dse_type type);

/* The names and declared types of a table's columns, in order. */
struct column_list {
    char **names, **types;
    size_t n;
};
bool column_list_read(const struct db *db, const char *schema, const char *table, struct column_list *ret, struct diags *diags);
void column_list_release(struct column_list *l);
/* Index of a column (names compare without case, as in SQL), or SIZE_MAX. */
size_t column_list_find(const struct column_list *l, const char *name);

/* Check for names that collide in SQL, where case does not count, with each other or with the leading columns. An input error for
 * each. */
bool schema_check_names(const struct store_table *t, struct diags *diags);
/* Create what every database has (run, front, column_info, block) and set its identity. An existing database gets the
 * columns of `run` that it lacks and is left untouched else. */
bool schema_create_common(const struct db *db, struct diags *diags);
/* Create MODEL_all and MODEL_fixed, or add the columns they lack. */
bool schema_create_model(const struct db *db, const struct store_table *t, struct diags *diags);
/* Create the two tables without the model's own columns. schema_add_column adds one of those unless `l`, the list of the table's
 * columns, has it. */
bool schema_create_bare(const struct db *db, const char *model, struct diags *diags);
bool schema_add_column(const struct db *db, const char *table, const struct column_list *l, const char *name, const char *type,
                       struct diags *diags);
/* Describe the model's columns in column_info. */
bool schema_describe(const struct db *db, const struct store_table *t, struct diags *diags);

/* What a view shows: the newest run of each sweep, kept in the file or, as SCHEMA_NEWEST_HERE, in views of this connection alone
 * (SQLite's TEMP), which hide those of the file; or the run of that id, in such. */
enum { SCHEMA_NEWEST = 0, SCHEMA_NEWEST_HERE = -1 };

/* The views MODEL and MODEL_front, and MODEL_refined when there is a run that refines, made from the columns the tables have now;
 * those of the file are left alone when they are that already. Expects the runs' fixed rows to be there: a column that some runs
 * fix and others vary takes its value from either. */
bool schema_create_views(const struct db *db, const char *model, int64_t run, struct diags *diags);
/* Make the views of all models, for this connection alone, show one run or SCHEMA_NEWEST_HERE. */
bool schema_show_run(const struct db *db, int64_t run, struct diags *diags);
/* Does the database have a run of the model that refines? If so, a point may have two rows, of which a view shows the finer one. */
bool schema_model_refines(const struct db *db, const char *model, bool *ret, struct diags *diags);
/* " FROM <tables> WHERE <of the run>": f is MODEL_fixed, a the row of each point, or of each on the front, in MODEL_all: the
 * finest when `refines`. The caller adds which runs. Freed with free(). */
char *view_rows(const char *model, bool refines, bool front);
/* The views comparison and comparison_front, over all models, likewise; those of the file are described in column_info when they
 * changed or, as columns_described says, the models' columns may have got another description. */
bool schema_create_comparison(const struct db *db, int64_t run, bool columns_described, struct diags *diags);
/* The models of a database: those that have both tables, in the order of their names. */
struct model_list {
    char **names;
    size_t n;
};
bool model_list_read(const struct db *db, const char *schema, struct model_list *ret, struct diags *diags);
void model_list_release(struct model_list *l);
/* A text that SQLite has formatted ("%w" inside double quotes, %Q). The caller frees it with free(). */
char *schema_sql(const char *fmt, ...);
/* Column `name` of a model as an SQL expression over `a` (MODEL_all) and `f` (MODEL_fixed). False, without an error, when the model
 * has no such column. The caller frees *ret. */
struct view_columns {
    struct column_list all, fixed;
    bool *mixed; /* column i of `fixed` is fixed in some run although MODEL_all has it */
};
bool view_columns_read(const struct db *db, const char *model, struct view_columns *ret, struct diags *diags);
void view_columns_release(struct view_columns *v);
bool view_column_expression(const struct view_columns *v, const char *name, char **ret);

#endif
