#include "base/file.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FLUSH_BYTES = 1 << 16,
    STEM_MAX = 200, /* of the target's name, in the name of its own */
    TRIES = 100,
};

static const char suffix[] = ".dse-tmp";

struct file {
    char *path;      /* as it was given; names the file in messages */
    char *target;    /* the same, behind symbolic links */
    char *directory; /* of the target */
    char *stem;      /* "<directory>/.<name>.": what names of its own begin with */
    char *name;      /* its own; NULL: it has none */
    int fd;
    int failed; /* errno of the first write that failed, or 0 */
    struct text buffer;
};

/* ---- names ----------------------------------------------------------------------------------------------------------------- */

static void find_names(struct file *f, const char *path, bool exists)
{
    char *real = exists ? realpath(path, NULL) : NULL;
    f->path = xstrdup(path);
    f->target = real ? real : xstrdup(path);
    const char *slash = strrchr(f->target, '/'), *name = slash ? slash + 1 : f->target;
    f->directory = !slash ? xstrdup(".") : slash == f->target ? xstrdup("/") : xstrndup(f->target, (size_t)(slash - f->target));
    f->stem = xasprintf("%s/.%.*s.", f->directory, STEM_MAX, name);
}

/* A name that no other file has, in all likelihood. */
static char *new_name(const struct file *f)
{
    uint64_t r = 0;
    if (getrandom(&r, sizeof r, 0) != sizeof r) r = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)f;
    return xasprintf("%s%016llx%s", f->stem, (unsigned long long)r, suffix);
}

/* A writer locks its file. The lock ends with the process, however that ends. */
static bool lock_file(int fd)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_OFD_SETLK, &whole) == 0;
}

/* Remove a file that nobody writes to any more. */
static void remove_stale(const char *path)
{
    struct stat here, there;
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return;
    if (fstat(fd, &here) == 0 && S_ISREG(here.st_mode) && lock_file(fd) && lstat(path, &there) == 0 && here.st_ino == there.st_ino)
        unlink(path);
    close(fd);
}

/* Remove what killed processes have left beside the target. */
static void remove_stale_all(const struct file *f)
{
    const char *begin = strrchr(f->stem, '/') + 1;
    const size_t stem = strlen(begin), end = strlen(suffix);
    DIR *d = opendir(f->directory);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n != stem + 16 + end || strncmp(e->d_name, begin, stem) != 0 || strcmp(e->d_name + n - end, suffix) != 0) continue;
        char *path = xasprintf("%s/%s", f->directory, e->d_name);
        remove_stale(path);
        free(path);
    }
    if (d) closedir(d);
}

/* ---- beginning ------------------------------------------------------------------------------------------------------------- */

/* Open a file without a name. Given one later through /proc, which has to be there. */
static bool open_nameless(struct file *f)
{
    if (access("/proc/self/fd", X_OK) != 0) return false;
    f->fd = open(f->directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (f->fd < 0) return false;
    lock_file(f->fd);
    return true;
}

/* Open a new file beside the target. Somebody else who removes stale files may come between its making and its lock. */
static bool open_named(struct file *f)
{
    for (int i = 0; i < TRIES; i++) {
        struct stat st;
        free(f->name);
        f->name = new_name(f);
        f->fd = open(f->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (f->fd < 0 && errno != EEXIST) break;
        if (f->fd < 0) continue;
        lock_file(f->fd);
        if (fstat(f->fd, &st) == 0 && st.st_nlink > 0) return true;
        close(f->fd);
    }
    free(f->name);
    f->name = NULL;
    return false;
}

static void release(struct file *f)
{
    text_release(&f->buffer);
    free(f->name);
    free(f->stem);
    free(f->directory);
    free(f->target);
    free(f->path);
    free(f);
}

static bool fail_to_write(const char *path, int code, struct diags *diags)
{
    return diags_runtime(diags, path, "cannot write: %s", strerror(code));
}

struct file *file_begin(const char *path, struct diags *diags)
{
    struct stat st;
    const bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        diags_runtime(diags, path, "cannot write: it is not a regular file");
        return NULL;
    }
    struct file *f = xcalloc(1, sizeof *f);
    text_init(&f->buffer);
    find_names(f, path, exists);
    remove_stale_all(f);
    if (!open_nameless(f) && !open_named(f)) {
        fail_to_write(path, errno, diags);
        release(f);
        return NULL;
    }
    if (exists) fchmod(f->fd, st.st_mode & 0777);
    return f;
}

/* ---- writing --------------------------------------------------------------------------------------------------------------- */

static void flush(struct file *f)
{
    const char *s = f->buffer.s;
    size_t left = f->buffer.n;
    while (left > 0 && !f->failed) {
        const ssize_t n = write(f->fd, s, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            f->failed = errno;
            break;
        }
        s += n;
        left -= (size_t)n;
    }
    f->buffer.n = 0; /* keeps its memory */
}

bool file_put(struct file *f, const void *bytes, size_t n)
{
    for (const char *s = bytes; n > 0 && !f->failed;) {
        size_t part = n < FLUSH_BYTES ? n : FLUSH_BYTES;
        text_add_bytes(&f->buffer, s, part);
        if (f->buffer.n >= FLUSH_BYTES) flush(f);
        s += part;
        n -= part;
    }
    return !f->failed;
}

/* ---- the end --------------------------------------------------------------------------------------------------------------- */

/* Give a nameless file a name: the target's when nothing stands there, else one of its own. Returns errno or 0; *ret_done: it is
 * in its place. */
static int give_name(struct file *f, bool *ret_done)
{
    char from[64];
    snprintf(from, sizeof from, "/proc/self/fd/%d", f->fd);
    *ret_done = linkat(AT_FDCWD, from, AT_FDCWD, f->target, AT_SYMLINK_FOLLOW) == 0;
    if (*ret_done) return 0;
    for (int i = 0; errno == EEXIST && i < TRIES; i++) {
        free(f->name);
        f->name = new_name(f);
        if (linkat(AT_FDCWD, from, AT_FDCWD, f->name, AT_SYMLINK_FOLLOW) == 0) return 0;
    }
    int code = errno;
    free(f->name);
    f->name = NULL;
    return code;
}

void file_sync_names(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    fsync(fd);
    close(fd);
}

/* Give the written file the name of its target. Returns 0, or errno. */
static int put_in_place(struct file *f)
{
    bool done = false;
    int code = fsync(f->fd) == 0 || errno == EINVAL || errno == EROFS ? 0 : errno;
    if (!code && !f->name) code = give_name(f, &done);
    if (!code && !done && rename(f->name, f->target) != 0) code = errno;
    if (code) return code;
    free(f->name); /* it has none of its own any more */
    f->name = NULL;
    file_sync_names(f->directory); /* the name, too, is on the disk */
    return 0;
}

bool file_commit(struct file *f, struct diags *diags)
{
    flush(f);
    if (!f->failed) f->failed = put_in_place(f);
    const bool ok = f->failed ? fail_to_write(f->path, f->failed, diags) : true;
    file_abandon(f);
    return ok;
}

void file_abandon(struct file *f)
{
    if (!f) return;
    if (f->name) unlink(f->name);
    close(f->fd); /* after its name: who holds the lock may remove it */
    release(f);
}

bool file_write(const char *path, const void *bytes, size_t n, struct diags *diags)
{
    struct file *f = file_begin(path, diags);
    if (!f) return false;
    file_put(f, bytes, n);
    return file_commit(f, diags);
}

bool text_read_file(const char *path, size_t max_bytes, char **ret, size_t *ret_n, struct diags *diags)
{
    struct srcloc loc = {.file = path};
    struct stat st;
    if (stat(path, &st) != 0) return diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    if (S_ISDIR(st.st_mode)) return diags_input(diags, loc, NULL, NULL, "is a directory, a file is needed");
    FILE *f = fopen(path, "rb");
    if (!f) return diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    struct text t;
    text_init(&t);
    enum { PART = 1 << 16 };
    char *part = xmalloc(PART); /* not on the stack, which may be that of a small thread */
    size_t n;
    while (t.n <= max_bytes && (n = fread(part, 1, PART, f)) > 0) text_add_bytes(&t, part, n);
    free(part);
    bool failed = ferror(f) != 0;
    fclose(f);
    if (failed || t.n > max_bytes) {
        bool large = t.n > max_bytes;
        text_release(&t);
        if (large) return diags_input(diags, loc, NULL, NULL, "is larger than %zu bytes, the most such a file may have", max_bytes);
        return diags_input(diags, loc, NULL, NULL, "cannot read the file: %s", strerror(EIO));
    }
    if (ret_n) *ret_n = t.n;
    *ret = text_detach(&t);
    return true;
}
