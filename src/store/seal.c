#include "store/seal.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

const char seal_sql[] = "CREATE TABLE IF NOT EXISTS seal(id INTEGER PRIMARY KEY, counter INTEGER NOT NULL, hash INTEGER NOT NULL);";

enum { CHUNK = 1 << 20, HEADER = 100 };

/* What of the file is hashed. */
struct sealed {
    sqlite3_file *file;
    int64_t size;               /* bytes of the file */
    int64_t page_from, page_to; /* bytes of the page of the table `seal` */
};

/* The file through SQLite's own handle: to open and close another would drop the locks of this process. NULL: there is none. */
static sqlite3_file *file_of(const struct db *db)
{
    sqlite3_file *file = NULL;
    if (sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return NULL;
    return file && file->pMethods ? file : NULL;
}

/* Where the table stands; *ret_there is false when there is none. */
static bool find_sealed(const struct db *db, struct sealed *ret, bool *ret_there, struct diags *diags)
{
    int64_t pages, size, root;
    if (!db_int(db, &pages, diags, "PRAGMA main.page_count") || !db_int(db, &size, diags, "PRAGMA main.page_size") ||
        !db_int(db, &root, diags, "SELECT rootpage FROM main.sqlite_schema WHERE type = 'table' AND name = 'seal'"))
        return false;
    *ret = (struct sealed){.file = file_of(db), .size = pages * size, .page_from = (root - 1) * size, .page_to = root * size};
    *ret_there = root > 0 && ret->file;
    return true;
}

int64_t seal_counter(const struct db *db)
{
    sqlite3_file *file = file_of(db);
    unsigned char b[4];
    if (!file || file->pMethods->xRead(file, b, sizeof b, 24) != SQLITE_OK) return -1;
    return (int64_t)b[0] << 24 | (int64_t)b[1] << 16 | (int64_t)b[2] << 8 | b[3];
}

/* Zero what of [from, to) is in the chunk at `at`. */
static void blank(unsigned char *chunk, int64_t at, size_t n, int64_t from, int64_t to)
{
    if (from < at) from = at;
    if (to > at + (int64_t)n) to = at + (int64_t)n;
    if (from < to) memset(chunk + (from - at), 0, (size_t)(to - from));
}

/* Every step is one-to-one in the word, so that a change of one word always changes the hash. n is a multiple of 8. */
static uint64_t add_words(uint64_t h, const unsigned char *chunk, size_t n)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t word;
        memcpy(&word, chunk + i, sizeof word);
        h = (h ^ word) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    return h;
}

static bool hash_file(const struct sealed *s, int64_t *ret)
{
    unsigned char *chunk = xmalloc(CHUNK);
    uint64_t h = (uint64_t)s->size;
    bool ok = true;
    for (int64_t at = 0; ok && at < s->size; at += CHUNK) {
        size_t n = s->size - at < CHUNK ? (size_t)(s->size - at) : CHUNK;
        ok = s->file->pMethods->xRead(s->file, chunk, (int)n, at) == SQLITE_OK;
        blank(chunk, at, n, 24, 28);
        blank(chunk, at, n, 92, HEADER);
        blank(chunk, at, n, s->page_from, s->page_to);
        if (ok) h = add_words(h, chunk, n);
    }
    free(chunk);
    *ret = (int64_t)h;
    return ok;
}

bool seal_check(const struct db *db, enum seal_state *ret, struct diags *diags)
{
    struct sealed s;
    bool there;
    int64_t counter, sealed_counter, hash, sealed_hash;
    *ret = SEAL_NONE;
    if (!find_sealed(db, &s, &there, diags)) return false;
    if (!there) return true;
    if (!db_int(db, &sealed_counter, diags, "SELECT counter FROM main.seal") ||
        !db_int(db, &sealed_hash, diags, "SELECT hash FROM main.seal"))
        return false;
    counter = seal_counter(db);
    if (counter < 0) return db_fail(db, NULL, diags);
    if (counter != sealed_counter) return true;
    if (!hash_file(&s, &hash)) return diags_runtime(diags, db->path, "is damaged: not all of it can be read");
    *ret = hash == sealed_hash ? SEAL_INTACT : SEAL_BROKEN;
    return true;
}

/* The transaction that writes the seal moves the counter on by one. */
static bool write_seal(const struct db *db, struct diags *diags)
{
    struct sealed s;
    bool there;
    int64_t counter, sealed_counter, hash;
    if (!find_sealed(db, &s, &there, diags) || !there) return false;
    if (!db_int(db, &sealed_counter, diags, "SELECT counter FROM main.seal")) return false;
    counter = seal_counter(db);
    if (counter < 0 || counter == sealed_counter || !hash_file(&s, &hash)) return false;
    return db_exec(db, diags, "INSERT OR REPLACE INTO main.seal(id, counter, hash) VALUES(1, %lld, %lld)",
                   (long long)((counter + 1) & 0xffffffff), (long long)hash);
}

void seal_write(const struct db *db)
{
    struct diags ignored;
    diags_init(&ignored);
    if (db_begin(db, &ignored)) db_end(db, write_seal(db, &ignored), &ignored);
    diags_release(&ignored);
}
