#include "figure/gnuplot.h"

#include "base/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the child ------------------------------------------------------------------------------------------------------------ */

/* A program that reads its commands from standard input and prints a picture. It ends with this program, whatever ends that, and
 * is not waited for without a limit. */

/* What it may print, and as much again in messages. */
enum { CHILD_OUTPUT_MAX = 1 << 28 };

struct child {
    pid_t pid;
    int in;       /* one end of a socket pair, which unlike a pipe can be written to without the danger of a SIGPIPE; or -1 */
    int out, err; /* files in memory, which never fill up and block it */
    /* when it has ended: */
    int status; /* as waitpid has it */
    bool read;  /* it has read all that it was sent */
    bool late;  /* it was killed, for its time was over */
};

/* ---- starting --------------------------------------------------------------------------------------------------------------- */

/* What it takes to become the program, made before the fork: behind it only calls that are safe in a handler of signals are. */
struct start {
    const char *file;
    char *const *argv, *const *env;
    pid_t parent;
    int in, out, err, failed; /* the last: where the errno is written to */
};

/* Descriptor `from` as `to`. */
static void move(int from, int to)
{
    if (from == to)
        fcntl(to, F_SETFD, 0);
    else
        dup2(from, to);
}

/* Signals that this program ignores or blocks are as usual in the child, and no file of it is larger than is allowed. */
static void be_usual(void)
{
    sigset_t none;
    sigemptyset(&none);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    struct rlimit size;
    if (getrlimit(RLIMIT_FSIZE, &size) != 0 || size.rlim_cur <= CHILD_OUTPUT_MAX) return;
    size.rlim_cur = CHILD_OUTPUT_MAX;
    setrlimit(RLIMIT_FSIZE, &size);
}

__attribute__((noreturn)) static void become(const struct start *s)
{
    setpgid(0, 0); /* so that its children can be killed with it */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent) _exit(127);
    be_usual();
    move(s->in, STDIN_FILENO);
    move(s->out, STDOUT_FILENO);
    move(s->err, STDERR_FILENO);
    execve(s->file, s->argv, s->env);
    const int error = errno;
    const ssize_t written = write(s->failed, &error, sizeof error);
    _exit(written == sizeof error ? 127 : 126);
}

/* Fork, and wait until it is the program. */
static int fork_into(struct child *c, struct start *s)
{
    int ends[2], error = 0;
    if (pipe2(ends, O_CLOEXEC) != 0) return errno;
    s->failed = ends[1];
    c->pid = fork();
    if (c->pid == 0) become(s);
    if (c->pid < 0) error = errno;
    close(ends[1]);
    while (c->pid > 0 && read(ends[0], &error, sizeof error) < 0)
        if (errno != EINTR) error = errno;
    close(ends[0]);
    return error;
}

/* Start the program at `file` with the arguments and the environment. 0, or an errno. The caller releases it in any case. */
static int child_start(struct child *c, const char *file, char *const *argv, char *const *env)
{
    *c = (struct child){.in = -1, .out = -1, .err = -1};
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return errno;
    c->in = pair[0];
    c->out = memfd_create("picture", MFD_CLOEXEC);
    c->err = memfd_create("messages", MFD_CLOEXEC);
    struct start s = {.file = file, .argv = argv, .env = env, .parent = getpid(), .in = pair[1], .out = c->out, .err = c->err};
    const int error = c->out < 0 || c->err < 0 ? errno : fork_into(c, &s);
    close(pair[1]);
    return error;
}

/* ---- until it ends ---------------------------------------------------------------------------------------------------------- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void stop_sending(struct child *c)
{
    if (c->in >= 0) close(c->in);
    c->in = -1;
}

/* Send what it takes now. When all is sent, or it reads no more, the end of its input is told. */
static void send_some(struct child *c, const char **s, size_t *n)
{
    while (*n) {
        const ssize_t sent = send(c->in, *s, *n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (sent <= 0) break;
        *s += sent;
        *n -= (size_t)sent;
    }
    c->read = *n == 0;
    stop_sending(c);
}

/* Has it ended? 0: not yet; below: an errno. */
static int has_ended(struct child *c)
{
    const pid_t ended = waitpid(c->pid, &c->status, WNOHANG);
    if (ended == c->pid) {
        c->pid = 0;
        return 1;
    }
    return ended == 0 || errno == EINTR ? 0 : -errno;
}

static void kill_late(struct child *c)
{
    kill(-c->pid, SIGKILL);
    kill(c->pid, SIGKILL); /* if it has left its group */
    c->late = true;
}

/* Send it n bytes, and wait until it has ended, or kill it and its children after so many seconds. 0, or an errno. */
static int child_finish(struct child *c, const char *s, size_t n, double seconds)
{
    enum { TICK_MS = 100 };
    const double end = now() + seconds;
    const int itself = pidfd_open(c->pid, 0); /* -1, of an old kernel: it is looked at every tick */
    int ended;
    while ((ended = has_ended(c)) == 0) {
        if (c->in >= 0) send_some(c, &s, &n);
        if (!c->late && now() > end) kill_late(c);
        struct pollfd fds[] = {{.fd = itself, .events = POLLIN}, {.fd = c->in, .events = POLLOUT}};
        poll(fds, sizeof fds / sizeof *fds, itself >= 0 ? TICK_MS : TICK_MS / 10);
    }
    if (itself >= 0) close(itself);
    stop_sending(c);
    return ended < 0 ? -ended : 0;
}

static void child_release(struct child *c)
{
    stop_sending(c);
    if (c->out >= 0) close(c->out);
    if (c->err >= 0) close(c->err);
    if (c->pid > 0) waitpid(c->pid, NULL, 0); /* it could not become the program */
}

/* ---- gnuplot -------------------------------------------------------------------------------------------------------------- */

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

static const char seconds_variable[] = "DSE_GNUPLOT_SECONDS";

/* How long it is waited for. */
static double patience(void)
{
    const char *s = getenv(seconds_variable);
    double seconds;
    return s && text_parse_f64(s, &seconds) && seconds > 0 ? seconds : 300;
}

static void complain(const struct child *c, struct diags *diags)
{
    struct text raw, words;
    text_init(&raw);
    text_init(&words);
    read_all(c->err, 1 << 16, &raw);
    squeeze(&words, raw.s);
    const char *said = words.n ? words.s : "it said nothing";
    const int number = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    if (c->late)
        diags_runtime(diags, NULL, "gnuplot did not end within %g s and was killed (%s sets another limit): %s", patience(),
                      seconds_variable, said);
    else if (number == SIGXFSZ)
        diags_runtime(diags, NULL, "gnuplot printed more than %d MiB, which is no picture: %s", CHILD_OUTPUT_MAX >> 20, said);
    else if (number)
        diags_runtime(diags, NULL, "gnuplot was ended by signal %d (%s): %s", number, strsignal(number), said);
    else if (WEXITSTATUS(c->status) != 0)
        diags_runtime(diags, NULL, "gnuplot failed with exit status %d: %s", WEXITSTATUS(c->status), said);
    else
        diags_runtime(diags, NULL, "gnuplot %s: %s", c->read ? "drew nothing" : "ended before it had read everything", said);
    text_release(&raw);
    text_release(&words);
}

bool gnuplot_run(const char *script, size_t n, struct text *ret, struct diags *diags)
{
    char *file = need_gnuplot(diags);
    if (!file) return false;
    static char name[] = "gnuplot", defaults[] = "-d", standard_input[] = "-";
    char **env = make_environment();
    struct child c;
    int error = child_start(&c, file, (char *const[]){name, defaults, standard_input, NULL}, env);
    if (error) diags_runtime(diags, file, "cannot be run: %s", strerror(error));
    if (!error && (error = child_finish(&c, script, n, patience())))
        diags_runtime(diags, file, "cannot be waited for: %s", strerror(error));
    bool ok = false;
    if (!error) {
        ok = c.status == 0 && c.read && read_all(c.out, SIZE_MAX, ret) && ret->n > 0;
        if (!ok) complain(&c, diags);
    }
    child_release(&c);
    free(env);
    free(file);
    return ok;
}
