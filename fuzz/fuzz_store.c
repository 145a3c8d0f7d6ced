/* Damaged databases: whatever was done to the bytes, a reader gives all of its rows or an error, and nothing crashes or goes on
 * for ever.
 *
 * The input says how to damage the database of a small sweep of both toy models: its first byte how often and who reads it then,
 * each further piece of bytes one damage. The database has small pages, so that its trees are deep, and no seal, which would find
 * every damage.
 */
#include "base/file.h"
#include "base/text.h"
#include "memory_file.h"
#include "report/report_data.h"
#include "store/check.h"
#include "sweep/goal.h"
#include "sweep/sweep.h"
#include "toy_model.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { PAGE = 512, TOY_ROWS = 48, PEBBLE_ROWS = 12 };

static const char sweep_text[] =
    "# Which toy?\n[sweep]\nname = 'toys'\nmodels = ['toy', 'pebble']\n[params]\ncontext = [512, 1024, 4096]\n"
    "[params.toy]\ntiles = [1, 2, 4, 8]\nsram_mib = [0.25, 1, 2, 4]\n[params.pebble]\nlanes = [1, 2, 4, 8]\n"
    "[objectives]\ntokens_per_s = 'max'\narea_mm2 = 'min'\n";

static char folder[] = "/dev/shm/dse-fuzz-XXXXXX";
static char *db_path, *out_path;
static struct catalog *catalog;
static struct sweep_file *sweep;
static uint8_t *whole, *damaged;
static size_t whole_n, damaged_n;

/* ---- memory ---------------------------------------------------------------------------------------------------------------- */

/* SQLite allocates much, and is not what is looked at: past the address sanitizer an input takes a fraction of the time. Each
 * piece has its size in front. */
void *__libc_malloc(size_t n);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);
enum { FRONT = 16 };

static void *plain_malloc(int n)
{
    char *p = __libc_malloc((size_t)n + FRONT);
    if (!p) return NULL;
    memcpy(p, &n, sizeof n);
    return p + FRONT;
}

static void plain_free(void *p)
{
    __libc_free((char *)p - FRONT);
}

static void *plain_realloc(void *old, int n)
{
    char *p = __libc_realloc((char *)old - FRONT, (size_t)n + FRONT);
    if (!p) return NULL;
    memcpy(p, &n, sizeof n);
    return p + FRONT;
}

static int plain_size(void *p)
{
    int n = 0;
    if (p) memcpy(&n, (char *)p - FRONT, sizeof n);
    return n;
}

static int plain_round(int n)
{
    return (n + 7) / 8 * 8;
}

static int plain_init(void *user)
{
    (void)user;
    return SQLITE_OK;
}

static void plain_end(void *user)
{
    (void)user;
}

static const sqlite3_mem_methods plain_memory = {plain_malloc, plain_free, plain_realloc, plain_size,
                                                 plain_round,  plain_init, plain_end,     NULL};

/* ---- the database ---------------------------------------------------------------------------------------------------------- */

static void clean(void)
{
    static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        for (size_t k = 0; k < 2; k++) {
            char *path = xasprintf("%s%s", k ? db_path : out_path, endings[i]);
            unlink(path);
            free(path);
        }
}

static void leave(void)
{
    clean();
    rmdir(folder);
    sweep_file_free(sweep);
    catalog_free(catalog);
    free(db_path);
    free(out_path);
    free(whole);
    free(damaged);
    registry_release();
}

static void run_sweep(void)
{
    struct diags d;
    diags_init(&d);
    catalog = catalog_new(toy_data_dir(), &d);
    need(catalog != NULL);
    sweep = sweep_file_read_text("fuzz", sweep_text, strlen(sweep_text), catalog, toy_data_dir(), &d);
    struct sweep_options options = {.db = db_path, .threads = 1, .max_points = 1000};
    struct sweep_result result;
    bool ok = sweep && sweep_run(sweep, &options, &result, &d);
    diags_print(&d, stderr, false);
    need(ok && result.done == TOY_ROWS + PEBBLE_ROWS);
    diags_release(&d);
}

/* Small pages; and the change counter moves on, which ends the seal. */
static void repack(void)
{
    sqlite3 *db;
    need(sqlite3_open(db_path, &db) == SQLITE_OK);
    char *sql = xasprintf("PRAGMA page_size=%d; VACUUM", PAGE);
    need(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK);
    free(sql);
    sqlite3_close(db);
}

static void make(void)
{
    need(setenv("DSE_DATA_DIR", toy_data_dir(), 1) == 0);
    need(sqlite3_config(SQLITE_CONFIG_MALLOC, &plain_memory) == SQLITE_OK);
    need(mkdtemp(folder) != NULL);
    db_path = xasprintf("%s/a.db", folder);
    out_path = xasprintf("%s/out.db", folder);
    run_sweep();
    repack();
    struct diags d;
    diags_init(&d);
    char *bytes;
    need(text_read_file(db_path, 1 << 24, &bytes, &whole_n, &d));
    whole = (uint8_t *)bytes;
    damaged = xmalloc(whole_n);
    atexit(leave);
}

/* ---- damage ---------------------------------------------------------------------------------------------------------------- */

/* One piece of the input: what, where, how much, with what. Returns how many bytes it took. */
static size_t damage(const uint8_t *p, size_t n)
{
    size_t at = ((size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3]) % damaged_n, page = at / PAGE * PAGE, length = p[4] % 16 + 1u, k;
    switch (p[0] % 8) {
    case 0: damaged[at] = (uint8_t)(damaged[at] ^ 1u << p[4] % 8); return 5;
    case 1: /* bytes of the input */
        for (k = 0; k < length && 5 + k < n && at + k < damaged_n; k++) damaged[at + k] = p[5 + k];
        return 5 + k;
    case 2: memset(damaged + at, 0, damaged_n - at < length ? damaged_n - at : length); return 5;
    case 3: memcpy(damaged + page, damaged + p[4] * (size_t)PAGE % damaged_n / PAGE * PAGE, PAGE); return 5;
    case 4: /* the header of a page, and its first cells */ damaged[page + p[4] % 24] = n > 5 ? p[5] : 0; return 6;
    case 5: /* the header of the file */ damaged[p[4] % 100] = n > 5 ? p[5] : 0; return 6;
    case 6: memset(damaged + page, p[4], PAGE); return 5;
    default:
        if (p[4] == 0) damaged_n = at + 1;
        damaged[at] = p[4];
        return 5;
    }
}

static void write_damaged(void)
{
    int fd = open(db_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    need(fd >= 0 && write(fd, damaged, damaged_n) == (ssize_t)damaged_n);
    close(fd);
}

/* ---- readers --------------------------------------------------------------------------------------------------------------- */

/* The rows of a query, or SIZE_MAX when it failed. */
static size_t rows(struct reader *r, const char *sql, struct diags *d)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, d);
    int more = q ? 1 : -1;
    size_t n = 0;
    while (more > 0 && (more = query_step(q, d)) > 0) {
        for (int i = 0; i < query_columns(q); i++) query_text(q, i);
        n++;
    }
    query_free(q);
    need(more == 0 || d->errors > 0);
    return more == 0 ? n : SIZE_MAX;
}

/* As `dse pareto` and `query` read: what is there is all there. */
static void read_query(struct diags *d)
{
    struct reader *r = reader_open(db_path, d);
    need(r || d->errors);
    if (r && reader_show_run(r, 0, d)) {
        size_t toy = rows(r, "SELECT * FROM toy", d), pebble = rows(r, "SELECT * FROM pebble", d);
        need(toy == TOY_ROWS || toy == SIZE_MAX);
        need(pebble == PEBBLE_ROWS || pebble == SIZE_MAX);
        rows(r, "SELECT * FROM comparison_front", d);
        rows(r, "SELECT * FROM column_info", d);
        rows(r, "SELECT * FROM run", d);
    }
    reader_close(r);
}

static void read_report(struct diags *d)
{
    struct report_options options = {.db = db_path, .catalog = catalog};
    struct report_run run;
    struct text page, said;
    text_init(&page);
    text_init(&said);
    if (report_run_open(&run, &options, d) && report_data(&run, &page, &said, d)) need(!strchr(page.s, '<'));
    report_run_close(&run);
    text_release(&said);
    text_release(&page);
}

static void read_resume(struct diags *d)
{
    struct sweep_options options = {.db = db_path, .threads = 1, .max_points = 1000};
    struct sweep_result result;
    bool ok = sweep_run(sweep, &options, &result, d);
    need(ok || d->errors);
    need(!ok || result.done == TOY_ROWS + PEBBLE_ROWS);
}

static void read_merge(struct diags *d)
{
    const char *in = db_path;
    need(store_merge(out_path, &in, 1, d) || d->errors);
}

static void read_check(struct diags *d)
{
    struct check c;
    need(store_check(db_path, &c, d) || d->errors);
    check_release(&c);
}

typedef void reader_run(struct diags *d);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static reader_run *const readers[] = {read_query, read_query, read_query,  read_check,
                                          read_check, read_merge, read_resume, read_report};
    if (!whole) make();
    if (n < 6) return 0;
    memcpy(damaged, whole, damaged_n = whole_n);
    size_t reader = data[0] % (sizeof readers / sizeof *readers), pieces = data[0] / 8 % 8 + 1u;
    for (size_t at = 1; pieces > 0 && at + 5 <= n; pieces--) at += damage(data + at, n - at);
    clean();
    write_damaged();
    struct diags d;
    diags_init(&d);
    readers[reader](&d);
    diags_release(&d);
    return 0;
}
