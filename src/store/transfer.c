/* Writing encoded rows: `INSERT INTO main.MODEL_all SELECT * FROM image.MODEL_all`, which SQLite carries out record by record
 * when both tables are declared alike and the target has no index and no trigger. */
#include "store/encode.h"
#include "store/image.h"
#include "store/store_internal.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void transfer_close(struct store *st)
{
    sqlite3_finalize(st->transfer);
    image_free(&st->db, st->image);
    st->transfer = NULL;
    st->image = NULL;
}

/* Does SQLite copy whole records? Its program for the statement tells: it moves them, and makes none. */
static bool copies_records(const struct db *db, const char *sql, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags, "EXPLAIN %s", sql);
    bool moves = false, makes = false;
    while (stmt && db_step(db, stmt, diags) > 0) {
        const char *opcode = (const char *)sqlite3_column_text(stmt, 1);
        if (strcmp(opcode, "RowData") == 0 || strcmp(opcode, "RowCell") == 0) moves = true;
        if (strcmp(opcode, "MakeRecord") == 0) makes = true;
    }
    sqlite3_finalize(stmt);
    return moves && !makes;
}

/* The statement that declares a table; NULL when there is none. The caller frees it. */
static char *declaration(const struct db *db, const char *table, struct diags *diags)
{
    sqlite3_stmt *stmt = db_prepare(db, diags, "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = %Q", table);
    char *sql = stmt && db_step(db, stmt, diags) > 0 ? xstrdup((const char *)sqlite3_column_text(stmt, 0)) : NULL;
    sqlite3_finalize(stmt);
    return sql;
}

static bool open_image(struct store *st, const char *table, struct diags *diags)
{
    char *sql = declaration(&st->db, table, diags);
    st->image = sql ? image_new(&st->db, table, sql, diags) : NULL;
    free(sql);
    if (!st->image) return false;
    char *insert = sqlite3_mprintf("INSERT INTO main.\"%w\" SELECT * FROM image.\"%w\"", table, table);
    if (!insert) out_of_memory(0);
    if (copies_records(&st->db, insert, diags)) st->transfer = db_prepare(&st->db, diags, "%s", insert);
    sqlite3_free(insert);
    return st->transfer != NULL;
}

/* Make st->image and st->transfer those of models[m]. False when SQLite would not copy whole records. */
static bool transfer_open(struct store *st, size_t m)
{
    if (st->transfer && st->image_model == m) return true;
    transfer_close(st);
    struct diags ignored; /* whatever is wrong, the other way remains */
    diags_init(&ignored);
    char *table = xasprintf("%s_all", st->models[m].name);
    bool ok = open_image(st, table, &ignored);
    free(table);
    diags_release(&ignored);
    if (!ok) transfer_close(st);
    st->image_model = m;
    return ok;
}

const struct store_encoder *store_encoder(struct store *st, size_t m)
{
    return st->models[m].encoder && transfer_open(st, m) ? st->models[m].encoder : NULL;
}

bool transfer_begin(struct store *st, size_t m, struct diags *diags)
{
    struct store_model *model = &st->models[m];
    if (!transfer_open(st, m))
        return diags_runtime(diags, st->db.path, "rows of %s cannot be written as encoded; ask store_encoder first", model->name);
    if (image_begin(st->image, model)) return true;
    return diags_runtime(diags, st->db.path, "%llu rows are too many for one transaction",
                         (unsigned long long)(model->source.end - model->source.next));
}
