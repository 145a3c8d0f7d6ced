/* Internal to src/store: an open store. */
#ifndef DSE_STORE_INTERNAL_H
#define DSE_STORE_INTERNAL_H

#include "store/db.h"
#include "store/digest.h"
#include "store/encode.h"
#include "store/schema.h"

/* Where one transaction's rows come from, and how far it is. */
struct source {
    row_source pull;
    void *user;
    uint64_t next, end;            /* the next point that is wanted, and one past the last */
    uint64_t feasible;             /* how many of the points that came are feasible */
    uint64_t digest;               /* of their rows */
    const struct row_block *ahead; /* a block that was pulled to see whether it is encoded, and not handed out yet */
    bool encoded;                  /* are the blocks of this transaction encoded? */
    bool ended;                    /* the caller had no more, although some were due */
    char *wrong;                   /* what was wrong with a block, or NULL */
};

/* One space. Its rows reach SQLite as the table-valued source dse_rows_<index>. */
struct store_model {
    char *name;
    int64_t run, first_id;
    uint64_t points;
    bool at_events;       /* its rows, but for those beside others */
    enum dse_type *types; /* of a row's cells */
    size_t n_columns;
    struct digest_row digest; /* how rows are digested */
    uint64_t hash;            /* of all rows that are stored */
    struct source source;
    sqlite3_stmt *one;             /* INSERT of one row */
    sqlite3_stmt *insert;          /* INSERT INTO MODEL_all SELECT * FROM dse_rows_<index> */
    struct store_encoder *encoder; /* NULL when rows cannot be encoded */
};

struct store {
    struct db db;
    int64_t run;
    bool complete;
    char *fidelity, *objectives; /* of the run */
    bool refines;
    struct store_model *models;
    size_t n_models;
    sqlite3_stmt *block, *count;
    struct image *image; /* of models[image_model]; NULL before it is needed */
    size_t image_model;
    sqlite3_stmt *transfer; /* INSERT INTO main.MODEL_all SELECT * FROM image.MODEL_all */
};

/* Take away the runs of this search that were killed, with their rows, and say so; for one that cannot be gone on with. */
bool store_reclaim(const struct db *db, const struct run_info *info, struct diags *diags);

/* Register the table-valued source of models[m] and prepare what store_write needs. */
bool source_prepare(struct store *st, size_t m, const struct store_table *t, struct diags *diags);

/* Prepare what store_write_points and store_write_refined need; `names` are the columns of a row as source_prepare lists them. */
bool points_prepare(const struct store *st, struct store_model *model, const char *names, struct diags *diags);
/* What a row says of its fidelity. A string constant. */
const char *store_row_fidelity(bool at_events, const struct row *row);
/* Bind a cell; one that is NULL stays as it is. */
void store_bind_cell(sqlite3_stmt *stmt, int i, enum dse_type type, union cell cell);

/* End a transaction that changed what tells of the run, its digests with it. */
bool store_end(struct store *st, bool ok, struct diags *diags);
/* The same of one that added rows of the model, which all rows with them have this digest. */
bool store_end_rows(struct store *st, struct store_model *model, uint64_t hash, bool ok, struct diags *diags);
/* Did the last INSERT leave n rows in the table? Something in a file of others may swallow them. */
bool store_check_inserted(const struct store *st, const struct store_model *model, uint64_t n, struct diags *diags);

/* The next block of the model's source; NULL at the end, and when the block is not what is due (then source.wrong says why). */
const struct row_block *source_next(struct store_model *model);

/* Close st->image and st->transfer, which are of one model at a time. */
void transfer_close(struct store *st);
/* Let the next rows of the image be those of models[m].source, which are encoded. To be called before BEGIN, which makes SQLite
 * look at the image. */
bool transfer_begin(struct store *st, size_t m, struct diags *diags);

#endif
