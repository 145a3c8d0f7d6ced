/* The calls that change files: recorded, counted, made to fail; then the C library's. */
#undef _FILE_OFFSET_BITS /* both names of each call are wanted */
#include "disk.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FDS = 1024, NO_NODE = 0x7fffffff, PATH_BYTES = 4096 };

/* What is watched: the log, and names as they are now. Only one folder is at a time. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct disk_log *log_now;
static struct disk_name *current;
static size_t n_current;
static char *root;
static size_t node_of_fd[FDS]; /* node + 1; 0: none */
static bool is_stream[FDS];    /* written by stdio, behind the back of these calls */

static struct disk_fault fault;
static char *fault_root;
static size_t fault_calls;
static bool fault_next; /* after a short write */

/* dlsym gives an object pointer. */
#define NEXT(function, name) \
    const union { \
        void *object; \
        __typeof__(function) *call; \
    } next = {.object = dlsym(RTLD_NEXT, name)}

static void *more(void *list, size_t n, size_t size)
{
    void *grown = realloc(list, n * size);
    if (!grown) abort();
    return grown;
}

static char *copy_text(const char *s)
{
    char *copy = strdup(s);
    if (!copy) abort();
    return copy;
}

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

static bool is_below(const char *path, const char *folder)
{
    const size_t n = folder ? strlen(folder) : 0;
    return n && strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static void absolute(const char *path, char *ret)
{
    if (path[0] == '/' || !getcwd(ret, PATH_BYTES / 2)) {
        snprintf(ret, PATH_BYTES, "%s", path);
        return;
    }
    const size_t n = strlen(ret);
    while (path[0] == '.' && path[1] == '/') path += 2;
    snprintf(ret + n, PATH_BYTES - n, "/%s", path);
}

static struct disk_name *find_name(size_t folder, const char *name, size_t n)
{
    for (size_t i = 0; i < n_current; i++) {
        struct disk_name *c = &current[i];
        if (c->folder == folder && strncmp(c->name, name, n) == 0 && c->name[n] == '\0') return c;
    }
    return NULL;
}

/* The folder of a path, and its last name within `path`; NO_NODE when it is not watched. */
static size_t find_folder(const char *path, const char **ret_name)
{
    if (!log_now || !is_below(path, root)) return NO_NODE;
    const char *at = path + strlen(root);
    size_t folder = 0;
    for (*ret_name = ""; *at == '/';) {
        const size_t n = strcspn(++at, "/");
        *ret_name = at;
        if (at[n] == '\0') break;
        const struct disk_name *c = find_name(folder, at, n);
        if (!c) return NO_NODE;
        folder = c->node;
        at += n;
    }
    return folder;
}

static size_t find_node(const char *path)
{
    const char *name;
    const size_t folder = find_folder(path, &name);
    if (folder == NO_NODE || !*name) return folder;
    const struct disk_name *c = find_name(folder, name, strlen(name));
    return c ? c->node : NO_NODE;
}

static void add_current(size_t folder, const char *name, size_t node)
{
    struct disk_name *c = find_name(folder, name, strlen(name));
    if (!c) {
        current = more(current, n_current + 1, sizeof *current);
        c = &current[n_current++];
        *c = (struct disk_name){.folder = folder, .name = copy_text(name)};
    }
    c->node = node;
}

static void remove_current(struct disk_name *c)
{
    free(c->name);
    *c = current[--n_current];
}

/* ---- recording ------------------------------------------------------------------------------------------------------------- */

static size_t add_node(bool is_folder)
{
    log_now->nodes = more(log_now->nodes, log_now->n_nodes + 1, sizeof *log_now->nodes);
    log_now->nodes[log_now->n_nodes] = (struct disk_node){.is_folder = is_folder};
    return log_now->n_nodes++;
}

static void add_event(struct disk_event e)
{
    log_now->events = more(log_now->events, log_now->n_events + 1, sizeof e);
    log_now->events[log_now->n_events++] = e;
}

static void note_write(size_t node, uint64_t at, const void *bytes, size_t n)
{
    uint8_t *copy = more(NULL, n + 1, 1);
    memcpy(copy, bytes, n);
    add_event((struct disk_event){.kind = DISK_WRITE, .node = node, .at = at, .bytes = copy, .n = n});
}

/* A new file or folder. */
static size_t note_add(const char *path, bool is_folder)
{
    const char *name;
    const size_t folder = find_folder(path, &name);
    if (folder == NO_NODE) return NO_NODE;
    const size_t node = add_node(is_folder);
    add_current(folder, name, node);
    add_event((struct disk_event){.kind = DISK_ADD, .node = node, .folder = folder, .name = copy_text(name)});
    return node;
}

static void note_remove(const char *path)
{
    const char *name;
    const size_t folder = find_folder(path, &name);
    struct disk_name *c = folder == NO_NODE ? NULL : find_name(folder, name, strlen(name));
    if (!c) return;
    add_event((struct disk_event){.kind = DISK_REMOVE, .node = c->node, .folder = folder, .name = copy_text(name)});
    remove_current(c);
}

static void note_move(const char *from, const char *to)
{
    const char *name, *name2;
    const size_t folder2 = find_folder(from, &name2), folder = find_folder(to, &name);
    struct disk_name *c = folder2 == NO_NODE ? NULL : find_name(folder2, name2, strlen(name2));
    if (!c || folder == NO_NODE) return;
    const size_t node = c->node;
    add_event((struct disk_event){
        .kind = DISK_MOVE, .node = node, .folder = folder, .folder2 = folder2, .name = copy_text(name), .name2 = copy_text(name2)});
    remove_current(c);
    add_current(folder, name, node);
}

/* All that stdio has written to a file. */
static void note_stream(int fd, size_t node)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size == 0) return;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    uint8_t *bytes = more(NULL, (size_t)st.st_size, 1);
    FILE *f = fopen(path, "rb");
    if (!f || fread(bytes, 1, (size_t)st.st_size, f) != (size_t)st.st_size) abort();
    fclose(f);
    note_write(node, 0, bytes, (size_t)st.st_size);
    free(bytes);
}

static size_t fd_node(int fd)
{
    return log_now && fd >= 0 && fd < FDS && node_of_fd[fd] ? node_of_fd[fd] - 1 : NO_NODE;
}

/* A file was opened: it is new if it has no name yet. */
static void note_open(int fd, const char *path, bool truncates, bool stream)
{
    if (fd < 0 || fd >= FDS) return;
    char whole[PATH_BYTES];
    absolute(path, whole);
    pthread_mutex_lock(&mutex);
    node_of_fd[fd] = 0;
    if (log_now && is_below(whole, root)) {
        size_t node = find_node(whole);
        if (node == NO_NODE)
            node = note_add(whole, false);
        else if (truncates)
            add_event((struct disk_event){.kind = DISK_SIZE, .node = node});
        if (node != NO_NODE) node_of_fd[fd] = node + 1;
        is_stream[fd] = stream;
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- faults ---------------------------------------------------------------------------------------------------------------- */

/* Is this call, of this kind, one to fail? Then errno is set. */
static bool fails_at(const char *path, enum disk_fault_kind kind)
{
    char whole[PATH_BYTES];
    if (fault.kind == DISK_NO_FAULT) return false;
    absolute(path, whole);
    pthread_mutex_lock(&mutex);
    bool fails = false;
    if (fault_root && is_below(whole, fault_root) && kind == fault.kind) {
        const size_t call = fault_calls++;
        fails = call == fault.at || (fault.stays && call > fault.at);
    }
    pthread_mutex_unlock(&mutex);
    if (fails) errno = fault.code;
    return fails;
}

static bool fd_fails(int fd, enum disk_fault_kind kind)
{
    if (fault.kind == DISK_NO_FAULT) return false;
    char link[64], path[PATH_BYTES];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    if (n <= 0) return false;
    path[n] = '\0';
    return fails_at(path, kind);
}

/* How much of a write of n bytes is written: n; half of it; or 0, when it fails. */
static size_t part_of(int fd, size_t n)
{
    if (fault.kind == DISK_WRITES) return fd_fails(fd, DISK_WRITES) ? 0 : n;
    if (fault.kind != DISK_SHORT_WRITES) return n;
    if (fault_next) {
        fault_next = fault.stays;
        errno = fault.code;
        return 0;
    }
    if (!fd_fails(fd, DISK_SHORT_WRITES)) return n;
    fault_next = true;
    return n > 1 ? n / 2 : n;
}

void disk_fail(const char *folder, struct disk_fault f)
{
    pthread_mutex_lock(&mutex);
    fault_root = copy_text(folder);
    fault_calls = 0;
    fault_next = false;
    fault = f;
    pthread_mutex_unlock(&mutex);
}

size_t disk_heal(void)
{
    pthread_mutex_lock(&mutex);
    fault.kind = DISK_NO_FAULT;
    free(fault_root);
    fault_root = NULL;
    pthread_mutex_unlock(&mutex);
    return fault_calls;
}

/* ---- the calls: opening ---------------------------------------------------------------------------------------------------- */

static int open_as(const char *call, const char *path, int flags, mode_t mode)
{
    NEXT(open, call);
    struct stat st;
    const bool makes = (flags & O_CREAT) && stat(path, &st) != 0;
    if (makes && fails_at(path, DISK_NAMES)) return -1;
    const int fd = next.call(path, flags, mode);
    if ((flags & O_TMPFILE) != O_TMPFILE) note_open(fd, path, flags & O_TRUNC, false);
    return fd;
}

#define DEFINE_OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        va_list ap; \
        va_start(ap, flags); \
        const mode_t mode = flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0; \
        va_end(ap); \
        return open_as(#name, path, flags, mode); \
    }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

static FILE *fopen_as(const char *call, const char *path, const char *mode)
{
    NEXT(fopen, call);
    if (mode[0] == 'w' && fails_at(path, DISK_NAMES)) return NULL;
    FILE *f = next.call(path, mode);
    if (f && mode[0] == 'w') note_open(fileno(f), path, true, true);
    return f;
}

FILE *fopen(const char *path, const char *mode)
{
    return fopen_as("fopen", path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fopen_as("fopen64", path, mode);
}

/* What stdio wrote shows at the latest when it closes the file. */
int fclose(FILE *f)
{
    NEXT(fclose, "fclose");
    const int fd = fileno(f);
    pthread_mutex_lock(&mutex);
    const size_t node = fd_node(fd);
    if (node != NO_NODE && is_stream[fd]) {
        fflush(f);
        note_stream(fd, node);
        node_of_fd[fd] = 0;
    }
    pthread_mutex_unlock(&mutex);
    return next.call(f);
}

int close(int fd)
{
    NEXT(close, "close");
    if (fd >= 0 && fd < FDS) node_of_fd[fd] = 0;
    return next.call(fd);
}

/* ---- the calls: writing ---------------------------------------------------------------------------------------------------- */

static ssize_t pwrite_as(const char *call, int fd, const void *bytes, size_t n, off64_t at)
{
    NEXT(pwrite, call);
    const size_t part = part_of(fd, n);
    if (n && !part) return -1;
    const ssize_t written = next.call(fd, bytes, part, at);
    pthread_mutex_lock(&mutex);
    if (fd_node(fd) != NO_NODE && written > 0) note_write(fd_node(fd), (uint64_t)at, bytes, (size_t)written);
    pthread_mutex_unlock(&mutex);
    return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t n, off_t at)
{
    return pwrite_as("pwrite", fd, bytes, n, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t at)
{
    return pwrite_as("pwrite64", fd, bytes, n, at);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    NEXT(write, "write");
    const size_t part = part_of(fd, n);
    if (n && !part) return -1;
    const off64_t at = lseek64(fd, 0, SEEK_CUR);
    const ssize_t written = next.call(fd, bytes, part);
    pthread_mutex_lock(&mutex);
    if (fd_node(fd) != NO_NODE && written > 0) note_write(fd_node(fd), (uint64_t)at, bytes, (size_t)written);
    pthread_mutex_unlock(&mutex);
    return written;
}

static int truncate_as(const char *call, int fd, off64_t size)
{
    NEXT(ftruncate, call);
    if (fd_fails(fd, DISK_WRITES)) return -1;
    const int rc = next.call(fd, size);
    pthread_mutex_lock(&mutex);
    if (fd_node(fd) != NO_NODE && rc == 0)
        add_event((struct disk_event){.kind = DISK_SIZE, .node = fd_node(fd), .at = (uint64_t)size});
    pthread_mutex_unlock(&mutex);
    return rc;
}

int ftruncate(int fd, off_t size)
{
    return truncate_as("ftruncate", fd, size);
}

int ftruncate64(int fd, off64_t size)
{
    return truncate_as("ftruncate64", fd, size);
}

/* Nothing is synchronised but in the log: the machine keeps its power. */
static int sync_node(int fd)
{
    if (fd_fails(fd, DISK_SYNCS)) return -1;
    pthread_mutex_lock(&mutex);
    const size_t node = fd_node(fd);
    if (node != NO_NODE && is_stream[fd]) note_stream(fd, node);
    if (node != NO_NODE) add_event((struct disk_event){.kind = DISK_SYNC, .node = node});
    pthread_mutex_unlock(&mutex);
    return 0;
}

int fsync(int fd)
{
    return sync_node(fd);
}

int fdatasync(int fd)
{
    return sync_node(fd);
}

/* ---- the calls: names ------------------------------------------------------------------------------------------------------ */

static int remove_as(const char *call, const char *path)
{
    NEXT(unlink, call);
    char whole[PATH_BYTES];
    if (fails_at(path, DISK_NAMES)) return -1;
    absolute(path, whole);
    pthread_mutex_lock(&mutex);
    const int rc = next.call(path);
    if (rc == 0) note_remove(whole);
    pthread_mutex_unlock(&mutex);
    return rc;
}

int unlink(const char *path)
{
    return remove_as("unlink", path);
}

int rmdir(const char *path)
{
    return remove_as("rmdir", path);
}

int remove(const char *path)
{
    return remove_as("remove", path);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(mkdir, "mkdir");
    char whole[PATH_BYTES];
    if (fails_at(path, DISK_NAMES)) return -1;
    absolute(path, whole);
    const int rc = next.call(path, mode);
    pthread_mutex_lock(&mutex);
    if (rc == 0 && log_now) note_add(whole, true);
    pthread_mutex_unlock(&mutex);
    return rc;
}

int rename(const char *from, const char *to)
{
    NEXT(rename, "rename");
    char a[PATH_BYTES], b[PATH_BYTES];
    if (fails_at(to, DISK_NAMES)) return -1;
    absolute(from, a);
    absolute(to, b);
    pthread_mutex_lock(&mutex);
    const int rc = next.call(from, to);
    if (rc == 0) note_move(a, b);
    pthread_mutex_unlock(&mutex);
    return rc;
}

/* ---- the log --------------------------------------------------------------------------------------------------------------- */

static void read_file(const char *path, struct disk_node *ret)
{
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f || fstat(fileno(f), &st) != 0) abort();
    ret->n = (size_t)st.st_size;
    ret->bytes = more(NULL, ret->n + 1, 1);
    if (fread(ret->bytes, 1, ret->n, f) != ret->n) abort();
    fclose(f);
}

/* What is in a folder when recording begins. */
static void read_folder(const char *path, size_t folder)
{
    DIR *d = opendir(path);
    if (!d) abort();
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char below[PATH_BYTES];
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(below, sizeof below, "%s/%s", path, e->d_name);
        if (stat(below, &st) != 0) abort();
        const size_t node = add_node(S_ISDIR(st.st_mode));
        log_now->names = more(log_now->names, log_now->n_names + 1, sizeof *log_now->names);
        log_now->names[log_now->n_names++] = (struct disk_name){.folder = folder, .node = node, .name = copy_text(e->d_name)};
        add_current(folder, e->d_name, node);
        if (S_ISDIR(st.st_mode))
            read_folder(below, node);
        else
            read_file(below, &log_now->nodes[node]);
    }
    closedir(d);
}

void disk_watch(const char *folder)
{
    log_now = more(NULL, 1, sizeof *log_now);
    *log_now = (struct disk_log){0};
    read_folder(folder, add_node(true));
    memset(node_of_fd, 0, sizeof node_of_fd);
    root = copy_text(folder);
}

struct disk_log *disk_stop(void)
{
    pthread_mutex_lock(&mutex);
    struct disk_log *log = log_now;
    log_now = NULL;
    while (n_current) remove_current(current);
    free(current);
    current = NULL;
    free(root);
    root = NULL;
    pthread_mutex_unlock(&mutex);
    return log;
}

void disk_log_free(struct disk_log *log)
{
    for (size_t i = 0; i < log->n_nodes; i++) free(log->nodes[i].bytes);
    for (size_t i = 0; i < log->n_names; i++) free(log->names[i].name);
    for (size_t i = 0; i < log->n_events; i++) {
        free(log->events[i].bytes);
        free(log->events[i].name);
        free(log->events[i].name2);
    }
    free(log->nodes);
    free(log->names);
    free(log->events);
    free(log);
}
