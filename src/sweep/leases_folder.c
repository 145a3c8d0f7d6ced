/* The files of a folder of leases: plan and blocks. */
#include "sweep/leases_internal.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLAN_BYTES = 1 << 16, BLOCKS_MAX = 1 << 20, SPACES_MAX = 1000 };

static const char *const state_names[LEASE_STATES] = {"free", "held", "done"};

/* ---- paths ----------------------------------------------------------------------------------------------------------------- */

char *lease_database_path(const char *folder, const char *worker)
{
    return xasprintf("%s/%s.db", folder, worker);
}

char *lease_alive_path(const char *folder, const char *worker)
{
    return xasprintf("%s/leases/alive/%s", folder, worker);
}

static char *block_path(const struct lease_folder *f, size_t number, enum lease_state state, const char *worker)
{
    return xasprintf("%s/leases/%s/%zu%s%s", f->path, state_names[state], number, worker ? "." : "", worker ? worker : "");
}

bool lease_time(const char *path, struct timespec *ret)
{
    struct stat st;
    if (stat(path, &st) != 0) return false;
    *ret = st.st_mtim;
    return true;
}

void lease_sleep(double seconds)
{
    const time_t whole = (time_t)seconds;
    const struct timespec t = {.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))};
    nanosleep(&t, NULL);
}

/* ---- the plan --------------------------------------------------------------------------------------------------------------- */

static uint64_t blocks_of(uint64_t points, uint64_t block)
{
    return points / block + (points % block != 0);
}

/* "WORD VALUE" at the head of *at: the value, cut out; NULL when the line is another. */
static char *take_line(char **at, const char *word)
{
    const size_t n = strlen(word);
    char *line = *at, *end = strchr(line, '\n');
    if (!end || strncmp(line, word, n) != 0 || line[n] != ' ') return NULL;
    *end = '\0';
    *at = end + 1;
    return line + n + 1;
}

static bool take_number(char **at, const char *word, uint64_t *ret)
{
    int64_t v;
    const char *s = take_line(at, word);
    if (!s || !text_parse_i64(s, &v) || v < 0) return false;
    *ret = (uint64_t)v;
    return true;
}

static bool take_hash(char **at, uint64_t *ret)
{
    const char *s = take_line(at, "hash");
    if (!s || strlen(s) != 16 || strspn(s, "0123456789abcdef") != 16) return false;
    *ret = strtoull(s, NULL, 16);
    return true;
}

static bool parse_plan(char *text, struct lease_folder *ret)
{
    const char *version = take_line(&text, "dse-leases"), *sweep = version ? take_line(&text, "sweep") : NULL;
    if (!sweep || strcmp(version, "1") != 0 || !take_hash(&text, &ret->hash) || !take_number(&text, "block", &ret->block) ||
        ret->block == 0)
        return false;
    ret->sweep = xstrdup(sweep);
    uint64_t points, blocks = 0;
    while (ret->n_spaces < SPACES_MAX && take_number(&text, "points", &points)) {
        ret->points = xrealloc(ret->points, ret->n_spaces + 1, sizeof *ret->points);
        ret->points[ret->n_spaces++] = points;
        const uint64_t n = blocks_of(points, ret->block);
        if (n > BLOCKS_MAX - blocks) return false;
        blocks += n;
    }
    ret->n_blocks = (size_t)blocks;
    return *text == '\0' && ret->n_spaces > 0;
}

bool lease_folder_read(const char *path, struct lease_folder *ret, bool *ret_there, struct diags *diags)
{
    *ret = (struct lease_folder){.path = xstrdup(path)};
    char *leases = xasprintf("%s/leases", path), *plan = xasprintf("%s/plan", leases), *text = NULL;
    struct stat st;
    *ret_there = stat(leases, &st) == 0;
    bool ok = *ret_there || errno == ENOENT || diags_runtime(diags, path, "cannot be a folder of leases: %s", strerror(errno));
    if (ok && *ret_there) {
        ok = text_read_file(plan, PLAN_BYTES, &text, NULL, diags);
        if (ok && !parse_plan(text, ret))
            ok = diags_runtime(diags, plan, "is no plan of leases that this dse knows: it is damaged, or from a newer dse");
    }
    free(text);
    free(plan);
    free(leases);
    return ok;
}

void lease_folder_release(struct lease_folder *f)
{
    free(f->path);
    free(f->points);
    free(f->sweep);
    *f = (struct lease_folder){0};
}

struct lease lease_of(const struct lease_folder *f, size_t n)
{
    size_t space = 0, k = n;
    for (uint64_t blocks; k >= (blocks = blocks_of(f->points[space], f->block)); space++) k -= (size_t)blocks;
    const uint64_t first = k * f->block, left = f->points[space] - first;
    return (struct lease){.space = space, .number = n, .first = first, .last = first + (left < f->block ? left : f->block) - 1};
}

/* ---- making the plan -------------------------------------------------------------------------------------------------------- */

static bool fail(const char *path, struct diags *diags)
{
    return diags_runtime(diags, path, "cannot be written: %s; leases take a folder that all workers can write to", strerror(errno));
}

static bool make_directory(const char *path, struct diags *diags)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST || fail(path, diags);
}

static bool write_text(const char *path, const char *text, struct diags *diags)
{
    FILE *f = fopen(path, "wx");
    bool ok = f && (fputs(text, f) != EOF) && fflush(f) == 0 && fsync(fileno(f)) == 0;
    if (f && fclose(f) != 0) ok = false;
    return ok || fail(path, diags);
}

static char *plan_text(const struct lease_plan *plan, size_t *ret_blocks)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "dse-leases 1\nsweep %s\nhash %016" PRIx64 "\nblock %" PRIu64 "\n", plan->sweep, plan->hash, plan->block);
    *ret_blocks = 0;
    for (size_t i = 0; i < plan->n_spaces; i++) {
        text_addf(&t, "points %" PRIu64 "\n", plan->points[i]);
        *ret_blocks += (size_t)blocks_of(plan->points[i], plan->block);
    }
    return text_detach(&t);
}

/* Remove what became of a plan that another worker has made first, or that failed. */
static void remove_plan(const char *path, size_t blocks)
{
    static const char *const parts[] = {"plan", "free", "held", "done", "alive", ""};
    for (size_t i = 0; i < blocks; i++) {
        char *file = xasprintf("%s/free/%zu", path, i);
        unlink(file);
        free(file);
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char *part = xasprintf("%s/%s", path, parts[i]);
        remove(part);
        free(part);
    }
}

static bool write_part(const char *path, const char *name, const char *text, struct diags *diags)
{
    char *part = xasprintf("%s/%s", path, name);
    const bool ok = text ? write_text(part, text, diags) : make_directory(part, diags);
    free(part);
    return ok;
}

/* The names of all blocks are on the disk: if the machine loses its power, there are none of a plan, or all. */
static void sync_plan(const char *path)
{
    char *blocks = xasprintf("%s/%s", path, state_names[LEASE_FREE]);
    file_sync_names(blocks);
    file_sync_names(path);
    free(blocks);
}

/* All of a plan, at a path of its own. */
static bool write_plan(const char *path, const char *text, size_t blocks, struct diags *diags)
{
    bool ok = make_directory(path, diags) && write_part(path, "alive", NULL, diags);
    for (size_t i = 0; ok && i < LEASE_STATES; i++) ok = write_part(path, state_names[i], NULL, diags);
    for (size_t i = 0; ok && i < blocks; i++) {
        char *file = xasprintf("%s/free/%zu", path, i);
        FILE *f = fopen(file, "wx");
        ok = (f && fclose(f) == 0) || fail(file, diags);
        free(file);
    }
    ok = ok && write_part(path, "plan", text, diags);
    if (ok) sync_plan(path);
    return ok;
}

static bool make_plan(const char *folder, const struct lease_plan *plan, const char *name, struct diags *diags)
{
    size_t blocks;
    char *own = xasprintf("%s/%s", folder, name), *leases = xasprintf("%s/leases", folder), *text = plan_text(plan, &blocks);
    bool ok = write_plan(own, text, blocks, diags);
    if (ok && rename(own, leases) != 0) { /* somebody was faster: his plan it is */
        ok = errno == EEXIST || errno == ENOTEMPTY || fail(leases, diags);
        remove_plan(own, blocks);
    } else if (!ok) {
        remove_plan(own, blocks);
    }
    if (ok) file_sync_names(folder);
    free(text);
    free(leases);
    free(own);
    return ok;
}

/* Many begin at once: one makes the plan, the others wait for it, though not for ever. */
static bool make_plan_alone(const char *folder, const struct lease_plan *plan, double age, struct diags *diags)
{
    char *planning = xasprintf("%s/planning", folder), *leases = xasprintf("%s/leases", folder);
    char *name = xasprintf("planning-%ld-%lx", (long)getpid(), (unsigned long)time(NULL) ^ (unsigned long)gethostid());
    bool alone = mkdir(planning, 0777) == 0, ok = alone || errno == EEXIST || fail(folder, diags);
    for (double waited = 0; ok && !alone && waited < age && access(leases, F_OK) != 0 && access(planning, F_OK) == 0;
         waited += 0.05)
        lease_sleep(0.05);
    if (ok && access(leases, F_OK) != 0) ok = make_plan(folder, plan, name, diags);
    if (alone || ok) rmdir(planning);
    free(name);
    free(leases);
    free(planning);
    return ok;
}

static bool is_same(const struct lease_folder *f, const struct lease_plan *plan, struct diags *diags)
{
    if (!f->sweep || strcmp(f->sweep, plan->sweep) != 0)
        return diags_runtime(diags, f->path,
                             "belongs to another sweep: its leases are of %s, not of %s; give each a folder of its own",
                             f->sweep ? f->sweep : "", plan->sweep);
    bool same = f->hash == plan->hash && f->n_spaces == plan->n_spaces;
    for (size_t i = 0; same && i < f->n_spaces; i++) same = f->points[i] == plan->points[i];
    return same || diags_runtime(diags, f->path,
                                 "has leases of another run of %s: its file, its catalog or dse have changed since; give it a new"
                                 " folder",
                                 f->sweep);
}

bool leases_plan(const char *folder, const struct lease_plan *plan, double age, struct diags *diags)
{
    struct lease_folder f = {0};
    bool there = false;
    bool ok = make_directory(folder, diags) && lease_folder_read(folder, &f, &there, diags);
    if (ok && !there) {
        lease_folder_release(&f);
        ok = make_plan_alone(folder, plan, age, diags) && lease_folder_read(folder, &f, &there, diags);
        ok = ok && (there || diags_runtime(diags, folder, "has lost its leases: somebody removed them"));
    }
    ok = ok && is_same(&f, plan, diags);
    lease_folder_release(&f);
    return ok;
}

bool leases_is_folder(const char *path)
{
    char *plan = xasprintf("%s/leases/plan", path);
    const bool there = access(plan, F_OK) == 0;
    free(plan);
    return there;
}

/* ---- blocks ------------------------------------------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    const struct lease_entry *x = (const struct lease_entry *)a, *y = (const struct lease_entry *)b;
    return (x->number > y->number) - (x->number < y->number);
}

/* "17" or "17.WORKER". */
static bool parse_entry(const char *name, size_t blocks, bool owned, struct lease_entry *ret)
{
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 9 || (name[0] == '0' && digits > 1)) return false;
    ret->number = (size_t)strtoull(name, NULL, 10);
    if (ret->number >= blocks || name[digits] != (owned ? '.' : '\0')) return false;
    if (owned && !text_is_file_name(name + digits + 1)) return false;
    ret->worker = owned ? xstrdup(name + digits + 1) : NULL;
    return true;
}

bool lease_list_read(const struct lease_folder *f, enum lease_state state, struct lease_list *ret, struct diags *diags)
{
    *ret = (struct lease_list){0};
    char *path = xasprintf("%s/leases/%s", f->path, state_names[state]);
    DIR *d = opendir(path);
    bool ok = d || diags_runtime(diags, path, "cannot be read: %s", strerror(errno));
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct lease_entry entry;
        if (!parse_entry(e->d_name, f->n_blocks, state != LEASE_FREE, &entry)) continue;
        if (ret->n % 64 == 0) ret->entries = xrealloc(ret->entries, ret->n + 64, sizeof *ret->entries);
        ret->entries[ret->n++] = entry;
    }
    if (d) closedir(d);
    if (ret->n) qsort(ret->entries, ret->n, sizeof *ret->entries, ascending);
    free(path);
    return ok;
}

void lease_list_release(struct lease_list *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->entries[i].worker);
    free(l->entries);
    *l = (struct lease_list){0};
}

int lease_move(const struct lease_folder *f, size_t number, enum lease_state from, const char *from_worker, enum lease_state to,
               const char *to_worker, struct diags *diags)
{
    char *a = block_path(f, number, from, from_worker), *b = block_path(f, number, to, to_worker);
    int moved = rename(a, b) == 0;
    const int code = errno;
    /* A server that was asked twice says the second time that there is no such file. */
    if (!moved && code == ENOENT) moved = access(b, F_OK) == 0;
    if (!moved && code != ENOENT) {
        diags_runtime(diags, a, "cannot be renamed: %s", strerror(code));
        moved = -1;
    }
    free(a);
    free(b);
    return moved;
}

static bool has_all(const struct lease_folder *f, const struct lease_list *done, struct diags *diags)
{
    char left[TEXT_NUMBER_MAX], all[TEXT_NUMBER_MAX];
    if (done->n >= f->n_blocks) return true;
    return diags_runtime(diags, f->path,
                         "%s of its %s blocks are not done: `dse sweep FILE --lease %s` does them, also those of dead workers",
                         text_count(left, f->n_blocks - done->n), text_count(all, f->n_blocks), f->path);
}

/* The workers of the list, each once. */
static char **workers_of(const struct lease_list *done, size_t *ret_n)
{
    char **workers = xcalloc(done->n + 1, sizeof *workers);
    *ret_n = 0;
    for (size_t i = 0; i < done->n; i++) {
        size_t k = 0;
        while (k < *ret_n && strcmp(workers[k], done->entries[i].worker) != 0) k++;
        if (k == *ret_n) workers[(*ret_n)++] = xstrdup(done->entries[i].worker);
    }
    return workers;
}

char **leases_databases(const char *folder, size_t *ret_n, struct diags *diags)
{
    struct lease_folder f;
    struct lease_list done = {0};
    bool there, ok = lease_folder_read(folder, &f, &there, diags);
    *ret_n = 0;
    ok = ok && (there || diags_runtime(diags, folder, "has no leases")) && lease_list_read(&f, LEASE_DONE, &done, diags) &&
         has_all(&f, &done, diags);
    char **paths = ok ? workers_of(&done, ret_n) : NULL;
    for (size_t i = 0; i < *ret_n; i++) {
        char *path = lease_database_path(folder, paths[i]);
        free(paths[i]);
        paths[i] = path;
        if (access(path, F_OK) != 0)
            ok = diags_runtime(diags, path, "is not there: `dse sweep FILE --lease %s` does its blocks again", folder);
    }
    lease_list_release(&done);
    lease_folder_release(&f);
    if (ok) return paths;
    for (size_t i = 0; i < *ret_n; i++) free(paths[i]);
    free(paths);
    return NULL;
}
