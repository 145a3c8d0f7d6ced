/* Opening and closing databases: the locks, the checks and the settings of a connection. */
#include "store/db.h"

#include "base/xalloc.h"
#include "store/digest.h"
#include "store/seal.h"
#include "store/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    OPEN_WAIT_MS = 5000,   /* how long opening waits for another program's lock */
    WRITE_WAIT_MS = 60000, /* how long a transaction waits for readers; a sweep is not given up for a slow query */
};

/* Steps that SQLite's virtual machine may take without a row: a minute or two of them; and more for each page of the file, for a
 * query that goes through all of its rows many times over. */
#define PATIENCE UINT64_C(4000000000)
#define PATIENCE_PAGE UINT64_C(1000000)
enum { PATIENCE_UNIT = 100000 };

enum { TEXT_MAX = 1 << 28 }; /* bytes of a text or blob, the largest that a statement may make */

/* The byte of the file that the writer locks. SQLite locks bytes from 2^30 on, a few hundred. */
#define LOCK_BYTE (INT64_C(1) << 62)

/* ---- SQLite as a whole ----------------------------------------------------------------------------------------------------- */

/* The one place that configures SQLite, before its first use. Without the memory statistics there is no global mutex around
 * every allocation. If the program has used SQLite before, the call does nothing, which is harmless. */
static void configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static void initialize(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, configure);
}

/* ---- opening --------------------------------------------------------------------------------------------------------------- */

static int lose_patience(void *user)
{
    struct db_patience *p = user;
    p->ended = p->left <= PATIENCE_UNIT;
    if (!p->ended) p->left -= PATIENCE_UNIT;
    return p->ended;
}

/* A connection to a file that anyone may have written: its schema calls only what does no harm, nothing changes what SQLite
 * itself keeps, pages are looked at before they are used, and statements end. */
static void harden(struct db *db)
{
    static const int on[] = {SQLITE_DBCONFIG_DEFENSIVE},
                     off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                              SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER};
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) sqlite3_db_config(db->sqlite, on[i], 1, (int *)NULL);
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) sqlite3_db_config(db->sqlite, off[i], 0, (int *)NULL);
    sqlite3_limit(db->sqlite, SQLITE_LIMIT_LENGTH, TEXT_MAX);
    sqlite3_exec(db->sqlite, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", NULL, NULL, NULL);
    if (!db->patience) db->patience = xcalloc(1, sizeof *db->patience);
    db_set_patience(db, PATIENCE);
    sqlite3_progress_handler(db->sqlite, PATIENCE_UNIT, lose_patience, db->patience);
}

/* Paths are never URIs (file:...) nor SQLite's special names (:memory:, the empty one). */
static int open_sqlite(struct db *db, int flags)
{
    char *name = xasprintf("%s%s", db->path[0] == '/' ? "" : "./", db->path);
    int rc = sqlite3_open_v2(name, &db->sqlite, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                             db->lockless ? DB_LOCKLESS_VFS : NULL);
    free(name);
    if (!db->sqlite) out_of_memory(0);
    sqlite3_busy_timeout(db->sqlite, OPEN_WAIT_MS);
    harden(db);
    return rc;
}

/* Refuse what is no file with something in it. What is in it is for SQLite to judge: it knows about journals of killed writers. */
static bool check_file(const char *path, const struct stat *st, bool allow_empty, struct diags *diags)
{
    if (S_ISDIR(st->st_mode)) return diags_runtime(diags, path, "is a directory; a database file is needed");
    if (!S_ISREG(st->st_mode)) return diags_runtime(diags, path, "is not a regular file; a database file is needed");
    if (st->st_size == 0)
        return allow_empty || diags_runtime(diags, path,
                                            "is an empty file, not a database: a sweep that was killed before it stored "
                                            "anything leaves one, and goes on when it is run again");
    return true;
}

/* Is the database `schema` ("main", or an attached one of file `path`) one of dse that this dse knows? An empty one passes when
 * allow_empty. */
static bool db_check_identity(const struct db *db, const char *schema, const char *path, bool allow_empty, struct diags *diags)
{
    int64_t id, version, objects;
    if (!db_int(db, &id, diags, "PRAGMA \"%w\".application_id", schema) ||
        !db_int(db, &version, diags, "PRAGMA \"%w\".user_version", schema) ||
        !db_int(db, &objects, diags, "SELECT count(*) FROM \"%w\".sqlite_schema", schema))
        return false;
    if (id == 0 && version == 0 && objects == 0)
        return allow_empty || diags_runtime(diags, path, "is an empty database; no sweep was stored in it");
    if (id != DB_APPLICATION_ID) return diags_runtime(diags, path, "is a SQLite database, but not one of dse; it is left as it is");
    if (version > DB_VERSION)
        return diags_runtime(diags, path, "is from a newer dse: its layout is version %lld, this dse knows up to version %d",
                             (long long)version, DB_VERSION);
    return true;
}

/* Does this errno of a lock say that there are none? */
static bool means_lockless(int code)
{
    return code == ENOLCK || code == ENOSYS || code == EOPNOTSUPP;
}

bool db_is_lockless(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1};
    const bool lockless = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) != 0 && means_lockless(errno);
    if (fd >= 0) close(fd);
    return lockless;
}

static bool lock_for_writing(struct db *db, bool private, struct diags *diags)
{
    struct stat st;
    if (stat(db->path, &st) == 0 && !check_file(db->path, &st, true, diags)) return false;
    db->lock = open(db->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    db->created = db->lock >= 0;
    if (!db->created && errno == EEXIST) db->lock = open(db->path, O_RDWR | O_CLOEXEC);
    if (db->lock < 0) return diags_runtime(diags, db->path, "cannot be opened for writing: %s", strerror(errno));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = LOCK_BYTE, .l_len = 1};
    if (fcntl(db->lock, F_OFD_SETLK, &lock) == 0) return true;
    db->lockless = means_lockless(errno);
    if (db->lockless && private) return true;
    if (db->lockless)
        return diags_runtime(diags, db->path,
                             "the file system has no locks (%s), which a database needs: give another path with -o",
                             strerror(errno));
    if (errno == EAGAIN || errno == EACCES)
        return diags_runtime(diags, db->path,
                             "another dse is writing to it; wait for it to end, or give another file with -o "
                             "(shards write files of their own, which `dse merge` puts together)");
    return diags_runtime(diags, db->path, "cannot be locked: %s", strerror(errno));
}

static bool set_up_writer(struct db *db, struct diags *diags)
{
    return db_check_identity(db, "main", db->path, true, diags) && whole_check(db, diags) &&
           db_exec(db, diags,
                   "PRAGMA page_size=%d; PRAGMA auto_vacuum=NONE; PRAGMA journal_mode=PERSIST; PRAGMA synchronous=FULL;"
                   "PRAGMA cache_size=-8192",
                   DB_PAGE_SIZE);
}

/* A number that changes when another program writes to the file. */
static int64_t written_by_others(const struct db *db)
{
    struct diags ignored;
    int64_t n;
    diags_init(&ignored);
    if (!db_int(db, &n, &ignored, "PRAGMA main.data_version")) n = -1;
    diags_release(&ignored);
    return n;
}

/* A seal says that all is as dse left it: where another program has written meanwhile, it is looked at first. */
static bool may_be_sealed(const struct db *db)
{
    struct diags ignored;
    diags_init(&ignored);
    const bool ok = written_by_others(db) == db->others || digest_check(db, true, &ignored);
    diags_release(&ignored);
    return ok;
}

static bool open_writer(struct db *db, const char *path, bool private, struct diags *diags)
{
    initialize();
    *db = (struct db){.path = xstrdup(path), .lock = -1};
    bool ok = lock_for_writing(db, private, diags);
    if (ok && open_sqlite(db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI) != SQLITE_OK) ok = db_fail(db, NULL, diags);
    ok = db->writes = ok && set_up_writer(db, diags);
    if (ok) sqlite3_busy_timeout(db->sqlite, WRITE_WAIT_MS);
    if (ok) db->counter = seal_counter(db);
    if (ok) db->others = written_by_others(db);
    if (!ok) db_close(db);
    return ok;
}

bool db_open_writer(struct db *db, const char *path, struct diags *diags)
{
    return open_writer(db, path, false, diags);
}

bool db_open_private(struct db *db, const char *path, struct diags *diags)
{
    return open_writer(db, path, true, diags);
}

/* Read something, so that what is wrong with the file shows now. */
static int probe(struct db *db)
{
    return sqlite3_exec(db->sqlite, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
}

static int reopen(struct db *db, int flags)
{
    sqlite3_close(db->sqlite);
    int rc = open_sqlite(db, flags);
    return rc == SQLITE_OK ? probe(db) : rc;
}

/* A query of a large file may take its time. */
static bool wait_longer(const struct db *db, struct diags *diags)
{
    int64_t pages;
    if (!db_int(db, &pages, diags, "PRAGMA page_count")) return false;
    db_set_patience(db, PATIENCE + PATIENCE_PAGE * (uint64_t)pages);
    return true;
}

bool db_open_unchecked(struct db *db, const char *path, struct diags *diags)
{
    initialize();
    *db = (struct db){.path = xstrdup(path), .lock = -1};
    struct stat st;
    bool ok = stat(path, &st) == 0 || diags_runtime(diags, path, "cannot be opened: %s", strerror(errno));
    ok = ok && check_file(path, &st, false, diags);
    if (ok) {
        db->lockless = db_is_lockless(path);
        int rc = reopen(db, SQLITE_OPEN_READONLY);
        if (rc == SQLITE_READONLY_ROLLBACK && (rc = reopen(db, SQLITE_OPEN_READWRITE)) == SQLITE_OK)
            rc = reopen(db, SQLITE_OPEN_READONLY);
        if (rc != SQLITE_OK) ok = db_fail(db, NULL, diags);
    }
    ok = ok && db_check_identity(db, "main", path, false, diags) && wait_longer(db, diags);
    if (!ok) db_close(db);
    return ok;
}

bool db_open_reader(struct db *db, const char *path, struct diags *diags)
{
    if (!db_open_unchecked(db, path, diags)) return false;
    bool ok = whole_check(db, diags);
    if (!ok) db_close(db);
    return ok;
}

bool db_open_memory(struct db *db, struct diags *diags)
{
    initialize();
    *db = (struct db){.path = xstrdup("the database in memory"), .lock = -1};
    if (sqlite3_open(":memory:", &db->sqlite) == SQLITE_OK) {
        harden(db);
        return true;
    }
    db_fail(db, NULL, diags);
    db_close(db);
    return false;
}

void db_close(struct db *db)
{
    if (!db->path) return;
    /* The writer keeps its journal between transactions; a clean end removes it. */
    if (db->writes && seal_counter(db) != db->counter && may_be_sealed(db)) seal_write(db);
    if (db->writes) sqlite3_exec(db->sqlite, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    sqlite3_close(db->sqlite);
    struct stat st;
    if (db->created && fstat(db->lock, &st) == 0 && st.st_size == 0) unlink(db->path);
    /* Closing any descriptor of a file drops the locks this process has on it: so it comes after SQLite's own. */
    if (db->lock >= 0) close(db->lock);
    free(db->patience);
    free(db->path);
    *db = (struct db){.lock = -1};
}
