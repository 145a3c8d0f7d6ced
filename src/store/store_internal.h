/* Internal to src/store: an open store. */
#ifndef DSE_STORE_INTERNAL_H
#define DSE_STORE_INTERNAL_H

#include "store/db.h"
#include "store/schema.h"

/* Where one transaction's rows come from, and how far it is. */
struct source {
    row_source pull;
    void *user;
    uint64_t next, end; /* points: the next one wanted, and one past the last */
    uint64_t feasible;  /* among those that came */
};

/* One space. Its rows reach SQLite as the table-valued source dse_rows_<index>. */
struct store_model {
    char *name;
    int64_t run, first_id;
    uint64_t points;
    const char *fidelity;
    enum dse_type *types; /* of a row's cells */
    size_t n_columns;
    struct source source;
    sqlite3_stmt *insert; /* INSERT INTO MODEL_all SELECT * FROM dse_rows_<index> */
};

struct store {
    struct db db;
    int64_t run;
    bool complete;
    char *fidelity, *objectives;
    struct store_model *models;
    size_t n_models;
    sqlite3_stmt *block, *count;
};

/* Register the table-valued source of models[m] and prepare what store_write needs. */
bool source_prepare(struct store *st, size_t m, const struct store_table *t, struct diags *diags);

#endif
