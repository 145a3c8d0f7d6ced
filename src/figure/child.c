#include "figure/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

int child_start(struct child *c, const char *file, char *const *argv, char *const *env)
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

int child_finish(struct child *c, const char *s, size_t n, double seconds)
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

void child_release(struct child *c)
{
    stop_sending(c);
    if (c->out >= 0) close(c->out);
    if (c->err >= 0) close(c->err);
    if (c->pid > 0) waitpid(c->pid, NULL, 0); /* it could not become the program */
}
