/* Writing encoded rows: `INSERT INTO main.MODEL_all SELECT * FROM image.MODEL_all`, which SQLite carries out record by record
 * when both tables are declared alike and the target has no index and no trigger. */
#include "base/xalloc.h"
#include "store/db.h"
#include "store/encode.h"
#include "store/store_internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the image ------------------------------------------------------------------------------------------------------------ */

/* Internal to src/store: encoded blocks as a database that SQLite reads while they come.
 *
 * The image is a read-only database of one table, MODEL_all, attached to the connection as "image" through a VFS of its own. Its
 * file exists nowhere: a page is handed out when SQLite asks for it. In one transaction it is, from the root down,
 *
 *     page 1          header and schema: the very CREATE statement of the file's MODEL_all
 *     page 2          root: one child a block            (of a single block: that block's top page)
 *     3 + i * 2048    top page of block i: one child a leaf; then the leaves   (of a single leaf: that leaf)
 *
 * A scan asks for blocks in order and never goes back, so that only the current one has to be there; the next is pulled from the
 * source when its top page is asked for. SQLite copies whole records from such a table (its "transfer optimization") without
 * taking them apart.
 */

enum {
    PAGES_A_BLOCK = 2048, /* page numbers reserved for a block */
    BLOCKS_MAX = 4096,    /* children that fit the root */
    INTERIOR_HEADER = 12,
    SCHEMA_ROW_MAX = ENCODE_PAGE - 512,
};

struct image {
    uint8_t *first, *root, *top; /* page 1, page 2, the top page of the current block */
    uint32_t version;            /* grows with each transaction, so that SQLite forgets what it read */
    uint64_t first_point;
    uint64_t n_blocks, block; /* of the transaction; the current one */
    struct store_model *model;
    const struct store_pages *pages; /* of the current block; NULL before the first */
};

struct image_file {
    sqlite3_file base;
    struct image *image;
};

/* ---- pages ----------------------------------------------------------------------------------------------------------------- */

/* An interior page in the making: children with their largest row ids, but for the last. content is where the lowest cell begins.
 */
struct interior {
    uint8_t *page;
    size_t cells, content;
};

static void interior_add(struct interior *in, uint32_t child, int64_t largest)
{
    uint8_t cell[16];
    encode_u32(cell, child);
    size_t n = (size_t)(encode_varint(cell + 4, (uint64_t)largest) - cell);
    in->content -= n;
    memcpy(in->page + in->content, cell, n);
    encode_u16(in->page + INTERIOR_HEADER + 2 * in->cells++, (uint32_t)in->content);
}

static void interior_end(struct interior *in, uint32_t last_child)
{
    memset(in->page, 0, INTERIOR_HEADER);
    in->page[0] = 5;
    encode_u16(in->page + 3, (uint32_t)in->cells);
    encode_u16(in->page + 5, (uint32_t)in->content);
    encode_u32(in->page + 8, last_child);
}

static uint32_t top_page(uint64_t block)
{
    return (uint32_t)(3 + block * PAGES_A_BLOCK);
}

/* Row id of the last of the first n points of the transaction. */
static int64_t row_id(const struct image *image, uint64_t n)
{
    return image->model->first_id + (int64_t)(image->first_point + n) - 1;
}

static void make_root(struct image *image)
{
    struct interior in = {.page = image->root, .content = ENCODE_PAGE};
    for (uint64_t i = 0; i + 1 < image->n_blocks; i++) interior_add(&in, top_page(i), row_id(image, (i + 1) * STORE_BLOCK));
    interior_end(&in, top_page(image->n_blocks - 1));
}

static void make_top(struct image *image)
{
    const struct store_pages *p = image->pages;
    struct interior in = {.page = image->top, .content = ENCODE_PAGE};
    uint64_t rows = image->block * STORE_BLOCK;
    for (size_t i = 0; i + 1 < p->n; i++) {
        rows += p->rows[i];
        interior_add(&in, top_page(image->block) + 1 + (uint32_t)i, row_id(image, rows));
    }
    interior_end(&in, top_page(image->block) + (uint32_t)p->n);
}

/* Pull block number `block`, the one after the current. */
static bool pull_block(struct image *image, uint64_t block)
{
    if (block != (image->pages ? image->block + 1 : 0)) return false;
    const struct row_block *b = source_next(image->model);
    if (!b) return false;
    image->block = block;
    image->pages = b->pages;
    if (b->pages->n > 1) make_top(image);
    return true;
}

/* Page `number` of block `block`, 0 being its top page. */
static const uint8_t *page_of_block(struct image *image, uint64_t block, uint64_t number)
{
    if ((!image->pages || block != image->block) && !pull_block(image, block)) return NULL;
    if (number == 0 && image->pages->n > 1) return image->top;
    size_t leaf = image->pages->n > 1 ? (size_t)number - 1 : 0;
    return leaf < image->pages->n ? image->pages->bytes + leaf * ENCODE_PAGE : NULL;
}

/* NULL when there is no such page, or not yet, or not any more. */
static const uint8_t *find_page(struct image *image, uint64_t number)
{
    if (number == 1) return image->first;
    if (number == 2 && image->n_blocks != 1) return image->root;
    if (number == 2) return page_of_block(image, 0, 0);
    number -= 3;
    return page_of_block(image, number / PAGES_A_BLOCK, number % PAGES_A_BLOCK);
}

/* ---- the file -------------------------------------------------------------------------------------------------------------- */

static int file_close(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int file_read(sqlite3_file *file, void *buf, int n, sqlite3_int64 offset)
{
    const uint8_t *page = find_page(((struct image_file *)file)->image, (uint64_t)offset / ENCODE_PAGE + 1);
    if (!page) return SQLITE_IOERR_READ;
    memcpy(buf, page + offset % ENCODE_PAGE, (size_t)n);
    return SQLITE_OK;
}

static int file_fetch(sqlite3_file *file, sqlite3_int64 offset, int n, void **ret)
{
    (void)n; /* one page */
    union {
        const uint8_t *page;
        void *pointer; /* SQLite only reads from a file it opened read-only */
    } found = {.page = find_page(((struct image_file *)file)->image, (uint64_t)offset / ENCODE_PAGE + 1)};
    *ret = found.page ? found.pointer : NULL; /* NULL: SQLite goes on to file_read, which fails */
    return SQLITE_OK;
}

static int file_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *page)
{
    (void)file, (void)offset, (void)page;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *ret)
{
    const struct image *image = ((struct image_file *)file)->image;
    *ret = (sqlite3_int64)ENCODE_PAGE * top_page(image->n_blocks);
    return SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *buf, int n, sqlite3_int64 offset)
{
    (void)file, (void)buf, (void)n, (void)offset;
    return SQLITE_READONLY;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    (void)file, (void)size;
    return SQLITE_READONLY;
}

static int file_int(sqlite3_file *file, int i)
{
    (void)file, (void)i;
    return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *file, int *ret)
{
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int op, void *arg)
{
    (void)file, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_zero(sqlite3_file *file)
{
    (void)file;
    return 0;
}

static const sqlite3_io_methods file_methods = {
    .iVersion = 3,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_int,
    .xFileSize = file_size,
    .xLock = file_int,
    .xUnlock = file_int,
    .xCheckReservedLock = file_is_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_zero,
    .xDeviceCharacteristics = file_zero,
    .xFetch = file_fetch,
    .xUnfetch = file_unfetch,
};

/* ---- the VFS --------------------------------------------------------------------------------------------------------------- */

/* What image_new is attaching; its thread opens the file within ATTACH. */
static _Thread_local struct image *opening;

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
    (void)vfs, (void)name;
    file->pMethods = NULL;
    if (!opening || !(flags & SQLITE_OPEN_MAIN_DB)) return SQLITE_CANTOPEN;
    file->pMethods = &file_methods;
    ((struct image_file *)file)->image = opening;
    if (ret_flags) *ret_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
    (void)vfs, (void)name, (void)flags;
    *ret = 0; /* no journal */
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int n, char *ret)
{
    (void)vfs;
    sqlite3_snprintf(n, ret, "%s", name);
    return SQLITE_OK;
}

static const char vfs_name[] = "dse-image";

/* Register the VFS of the image, which leaves all but files to SQLite's default one. */
static void register_vfs(void)
{
    static sqlite3_vfs vfs;
    vfs = *sqlite3_vfs_find(NULL);
    vfs.zName = vfs_name;
    vfs.szOsFile = sizeof(struct image_file);
    vfs.pNext = NULL;
    vfs.xOpen = vfs_open;
    vfs.xAccess = vfs_access;
    vfs.xFullPathname = vfs_full_path;
    sqlite3_vfs_register(&vfs, 0);
}

/* ---- the image ------------------------------------------------------------------------------------------------------------- */

/* Page 1: the header, and sqlite_schema with one row: 'table', name, name, root page 2, sql. */
static void make_first(struct image *image, const char *table, const char *sql)
{
    static const uint8_t magic[] = "SQLite format 3";
    uint8_t *h = image->first, row[64], *at = row;
    size_t name_n = strlen(table), sql_n = strlen(sql);
    memcpy(h, magic, sizeof magic);
    encode_u16(h + 16, 1); /* page size 65536 */
    memcpy(h + 18, (const uint8_t[]){1, 1, 0, 64, 32, 32}, 6);
    encode_u32(h + 40, 1); /* schema cookie */
    encode_u32(h + 44, 4); /* schema format */
    encode_u32(h + 56, 1); /* UTF-8 */
    encode_u32(h + 96, SQLITE_VERSION_NUMBER);
    at = encode_varint(at, 13 + 2 * 5);
    at = encode_varint(at, 13 + 2 * name_n);
    at = encode_varint(at, 13 + 2 * name_n);
    at = encode_varint(at, 1);
    at = encode_varint(at, 13 + 2 * sql_n);
    size_t types_n = (size_t)(at - row), record_n = 1 + types_n + 5 + 2 * name_n + 1 + sql_n;
    uint8_t head[16], *end = encode_varint(head, record_n);
    *end++ = 1;                      /* row id */
    *end++ = (uint8_t)(1 + types_n); /* bytes of the header */
    uint8_t *cell = h + ENCODE_PAGE - (size_t)(end - head) - record_n + 1;
    h[100] = 13;
    encode_u16(h + 103, 1);
    encode_u16(h + 105, (uint32_t)(cell - h));
    encode_u16(h + 108, (uint32_t)(cell - h));
    const void *const parts[] = {head, row, "table", table, table, "\2", sql};
    const size_t sizes[] = {(size_t)(end - head), types_n, 5, name_n, name_n, 1, sql_n};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memcpy(cell, parts[i], sizes[i]);
        cell += sizes[i];
    }
}

static void set_version(struct image *image)
{
    image->version++;
    encode_u32(image->first + 24, image->version);
    encode_u32(image->first + 28, top_page(image->n_blocks)); /* pages */
    encode_u32(image->first + 92, image->version);
}

static bool attach(const struct db *db, struct image *image, struct diags *diags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_vfs);
    opening = image;
    bool ok = db_exec(db, diags, "ATTACH 'file:image?vfs=%s&mode=ro' AS image", vfs_name);
    opening = NULL;
    return ok && db_exec(db, diags, "PRAGMA image.cache_size=16; PRAGMA image.mmap_size=%lld", INT64_MAX >> 1);
}

/* Detach the image and free it. Statements that use it must be finalized before. */
static void image_free(const struct db *db, struct image *image)
{
    if (!image) return;
    sqlite3_exec(db->sqlite, "DETACH image", NULL, NULL, NULL);
    free(image->first);
    free(image->root);
    free(image->top);
    free(image);
}

/* Attach an image of `table`, which is declared by `sql`. NULL with an error; NULL without one when the statement is too long. */
static struct image *image_new(const struct db *db, const char *table, const char *sql, struct diags *diags)
{
    if (strlen(sql) + 2 * strlen(table) > SCHEMA_ROW_MAX) return NULL;
    struct image *image = xcalloc(1, sizeof *image);
    image->first = xcalloc(1, ENCODE_PAGE + ENCODE_PADDING);
    image->root = xcalloc(1, ENCODE_PAGE + ENCODE_PADDING);
    image->top = xcalloc(1, ENCODE_PAGE + ENCODE_PADDING);
    make_first(image, table, sql);
    set_version(image);
    if (attach(db, image, diags)) return image;
    image_free(db, image);
    return NULL;
}

/* Take the next transaction's rows from the model's source, whose blocks are encoded. False when there are too many. */
static bool image_begin(struct image *image, struct store_model *model)
{
    uint64_t n = model->source.end - model->source.next;
    image->n_blocks = (n + STORE_BLOCK - 1) / STORE_BLOCK;
    if (image->n_blocks > BLOCKS_MAX) return false;
    image->first_point = model->source.next;
    image->model = model;
    image->pages = NULL;
    make_root(image);
    set_version(image);
    return true;
}

/* ---- the transfer --------------------------------------------------------------------------------------------------------- */

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
