#include "figure/gnuplot.h"

#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- finding ---------------------------------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* gnuplot's path; the caller frees it. NULL when it is not on the PATH. An empty entry, which would mean the working directory,
 * is skipped. */
static char *find_gnuplot(void)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t n = strcspn(path, ":");
        char *file = xasprintf("%.*s/gnuplot", (int)n, path);
        if (n && is_program(file)) return file;
        free(file);
        path += n + (path[n] == ':');
    }
    return NULL;
}

static char *need_gnuplot(struct diags *diags)
{
    char *file = find_gnuplot();
    if (!file)
        diags_runtime(diags, NULL,
                      "gnuplot, which draws the figures, is not on the PATH: install it (on Debian: apt-get install gnuplot-nox)");
    return file;
}

bool gnuplot_check(struct diags *diags)
{
    char *file = need_gnuplot(diags);
    free(file);
    return file != NULL;
}

/* ---- running ---------------------------------------------------------------------------------------------------------- */

/* The environment without the user's settings for gnuplot and locale. The caller frees the array; strings are borrowed. */
static char **make_environment(void)
{
    static char locale[] = "LC_ALL=C.UTF-8";
    static const char *const dropped[] = {"LC_", "LANG", "GNUTERM=", "GNUPLOT_", "GDFONTPATH="};
    size_t n = 0, kept = 0;
    while (environ && environ[n]) n++;
    char **env = xcalloc(n + 2, sizeof *env);
    for (size_t i = 0; i < n; i++) {
        bool drop = false;
        for (size_t j = 0; j < sizeof dropped / sizeof *dropped; j++)
            if (strncmp(environ[i], dropped[j], strlen(dropped[j])) == 0) drop = true;
        if (!drop) env[kept++] = environ[i];
    }
    env[kept] = locale;
    return env;
}

/* The three standard streams of the child: in is one end of a socket pair, which unlike a pipe can be written to without the
 * danger of a SIGPIPE; out and err are files in memory, which never fill up and block it. */
struct streams {
    int in, in_child, out, err;
};

static void close_streams(struct streams *s)
{
    int *const all[] = {&s->in, &s->in_child, &s->out, &s->err};
    for (size_t i = 0; i < 4; i++) {
        if (*all[i] >= 0) close(*all[i]);
        *all[i] = -1;
    }
}

static bool open_streams(struct streams *s)
{
    int pair[2];
    *s = (struct streams){-1, -1, -1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
    s->in = pair[0];
    s->in_child = pair[1];
    s->out = memfd_create("picture", MFD_CLOEXEC);
    s->err = memfd_create("messages", MFD_CLOEXEC);
    return s->out >= 0 && s->err >= 0;
}

/* Start file with the streams; returns 0 or an errno. */
static int start(const char *file, const struct streams *s, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, s->in_child, 0);
    posix_spawn_file_actions_adddup2(&actions, s->out, 1);
    posix_spawn_file_actions_adddup2(&actions, s->err, 2);
    sigset_t usual; /* signals that this program ignores or blocks are as usual in gnuplot */
    sigemptyset(&usual);
    posix_spawnattr_setsigmask(&attributes, &usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    static char name[] = "gnuplot", defaults[] = "-d", standard_input[] = "-";
    char *const argv[] = {name, defaults, standard_input, NULL};
    char **env = make_environment();
    int failed = posix_spawn(ret, file, &actions, &attributes, argv, env);
    free(env);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* Send everything. False when the child stops reading before the end. */
static bool send_all(int fd, const char *s, size_t n)
{
    while (n) {
        ssize_t sent = send(fd, s, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        s += sent;
        n -= (size_t)sent;
    }
    return true;
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return status;
}

/* The contents of a file from its beginning, at most `most` bytes. */
static bool read_all(int fd, size_t most, struct text *ret)
{
    char buf[1 << 16];
    off_t at = 0;
    while (ret->n < most) {
        ssize_t n = pread(fd, buf, sizeof buf, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n == 0;
        text_add_bytes(ret, buf, (size_t)n);
        at += n;
    }
    return true;
}

/* gnuplot's messages in one line: lines without the prompt's arrows, joined by "; ". */
static void squeeze(struct text *ret, const char *messages)
{
    while (*messages) {
        size_t n = strcspn(messages, "\n");
        const char *line = messages + strspn(messages, " \t\r^");
        size_t length = line < messages + n ? (size_t)(messages + n - line) : 0;
        if (length) {
            if (ret->n) text_add(ret, "; ");
            for (size_t i = 0; i < length && ret->n < 1000; i++) {
                unsigned char c = (unsigned char)line[i];
                text_add_bytes(ret, c < ' ' || c == 0x7F ? "?" : line + i, 1);
            }
        }
        messages += n + (messages[n] == '\n');
    }
}

static void complain(int status, bool sent, int fd, struct diags *diags)
{
    struct text raw, words;
    text_init(&raw);
    text_init(&words);
    read_all(fd, 1 << 16, &raw);
    squeeze(&words, raw.s);
    const char *said = words.n ? words.s : "it said nothing";
    if (status >= 0 && WIFSIGNALED(status))
        diags_runtime(diags, NULL, "gnuplot was ended by signal %d (%s): %s", WTERMSIG(status), strsignal(WTERMSIG(status)), said);
    else if (status >= 0 && WEXITSTATUS(status) != 0)
        diags_runtime(diags, NULL, "gnuplot failed with exit status %d: %s", WEXITSTATUS(status), said);
    else
        diags_runtime(diags, NULL, "gnuplot %s: %s", sent ? "drew nothing" : "ended before it had read everything", said);
    text_release(&raw);
    text_release(&words);
}

bool gnuplot_run(const char *script, size_t n, struct text *ret, struct diags *diags)
{
    char *file = need_gnuplot(diags);
    if (!file) return false;
    bool ok = false;
    struct streams streams;
    pid_t pid;
    int failed;
    if (!open_streams(&streams)) {
        diags_runtime(diags, NULL, "cannot talk to gnuplot: %s", strerror(errno));
        goto out;
    }
    failed = start(file, &streams, &pid);
    if (failed) {
        diags_runtime(diags, file, "cannot be run: %s", strerror(failed));
        goto out;
    }
    close(streams.in_child);
    streams.in_child = -1;
    bool sent = send_all(streams.in, script, n);
    shutdown(streams.in, SHUT_WR);
    int status = wait_for(pid);
    if (status != 0 || !sent || !read_all(streams.out, SIZE_MAX, ret) || ret->n == 0)
        complain(status, sent, streams.err, diags);
    else
        ok = true;
out:
    close_streams(&streams);
    free(file);
    return ok;
}
