#include "command/terminal.h"

#include "base/text.h"
#include "base/wrap.h"
#include "base/xalloc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    bool wide, no_pager;
    pid_t pager;                /* 0: none */
    int out, err;               /* the terminal, while the pager runs; -1: stderr is none */
    struct winsize size;        /* of the terminal behind the pager */
    struct sigaction interrupt; /* what SIGINT did before */
} state;

void terminal_set_wide(void)
{
    state.wide = true;
}

void terminal_set_no_pager(void)
{
    state.no_pager = true;
}

/* ---- size ---------------------------------------------------------------------------------------------------------------- */

static bool terminal_size(FILE *f, struct winsize *ret)
{
    *ret = state.size;
    if (state.pager && (f == stdout || f == stderr)) return true;
    *ret = (struct winsize){0};
    if (!isatty(fileno(f))) return false;
    if (ioctl(fileno(f), TIOCGWINSZ, ret) != 0) *ret = (struct winsize){0};
    return true;
}

/* The variable's number, if it is one of a terminal that is there; else what the terminal says; else what terminals had. */
static size_t extent(const char *variable, unsigned short told, size_t otherwise)
{
    enum { EXTENT_MAX = 10000 };
    const char *s = getenv(variable);
    int64_t n;
    if (s && text_parse_i64(s, &n) && n > 0 && n < EXTENT_MAX) return (size_t)n;
    return told ? told : otherwise;
}

size_t terminal_columns(FILE *f)
{
    struct winsize size;
    return terminal_size(f, &size) ? extent("COLUMNS", size.ws_col, 80) : 0;
}

size_t terminal_width(FILE *f)
{
    return state.wide ? 0 : terminal_columns(f);
}

size_t terminal_height(FILE *f)
{
    struct winsize size;
    return terminal_size(f, &size) ? extent("LINES", size.ws_row, 24) : 0;
}

bool wants_colour(FILE *f)
{
    const char *no = getenv("NO_COLOR");
    struct winsize size;
    return terminal_size(f, &size) && !(no && *no);
}

void terminal_say(FILE *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *raw = xvasprintf(fmt, ap), *message = text_printable(raw, SIZE_MAX);
    va_end(ap);
    free(raw);
    size_t width = terminal_width(f);
    struct text t;
    text_init(&t);
    if (width)
        wrap_add(&t, message, width, 0, 2 + strspn(message, " "), NULL);
    else
        text_add(&t, message);
    fprintf(f, "%s\n", t.s);
    text_release(&t);
    free(message);
}

/* ---- pager --------------------------------------------------------------------------------------------------------------- */

/* Is there a program of this name in $PATH? */
static bool is_program(const char *name, size_t n)
{
    const char *path = getenv("PATH");
    bool found = false;
    while (path && !found) {
        size_t folder = strcspn(path, ":");
        char *file =
            memchr(name, '/', n) ? xasprintf("%.*s", (int)n, name) : xasprintf("%.*s/%.*s", (int)folder, path, (int)n, name);
        found = access(file, X_OK) == 0;
        free(file);
        path = path[folder] ? path + folder + 1 : NULL;
    }
    return found;
}

/* The command for the shell; NULL: none. One that is not there would lose what is written. */
static const char *pager_command(void)
{
    const char *s = getenv("DSE_PAGER");
    if (!s) s = getenv("PAGER");
    if (!s) s = state.wide ? "less -FRXS" : "less -FRX";
    size_t first = strcspn(s, " ");
    bool plain = strcspn(s, "|&;<>()$`\\\"'*?[#~=%") == strlen(s);
    return *s && strcmp(s, "cat") != 0 && (!plain || is_program(s, first)) ? s : NULL;
}

/* Ctrl-C ends what writes, not the pager, which has the terminal until its user leaves it. */
static void on_interrupt(int number)
{
    close(STDOUT_FILENO);
    if (state.err >= 0) close(STDERR_FILENO);
    waitpid(state.pager, NULL, 0);
    _exit(128 + number);
}

static void catch_interrupt(void)
{
    sigaction(SIGINT, NULL, &state.interrupt);
    if (state.interrupt.sa_handler == SIG_DFL) signal(SIGINT, on_interrupt);
}

static pid_t spawn(const char *command, const int ends[2])
{
    pid_t child = fork();
    if (child != 0) return child;
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

void pager_start(void)
{
    const char *command = pager_command();
    int ends[2];
    if (state.no_pager || state.pager || !command || !terminal_size(stdout, &state.size) || pipe(ends) != 0) return;
    fflush(stdout);
    pid_t child = spawn(command, ends);
    close(ends[0]);
    if (child > 0) {
        state.pager = child;
        state.out = dup(STDOUT_FILENO);
        state.err = isatty(STDERR_FILENO) ? dup(STDERR_FILENO) : -1;
        dup2(ends[1], STDOUT_FILENO);
        if (state.err >= 0) dup2(ends[1], STDERR_FILENO);
        catch_interrupt();
    }
    close(ends[1]);
}

bool pager_finish(void)
{
    if (!state.pager) return true;
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    clearerr(stdout);
    signal(SIGINT, SIG_IGN);
    dup2(state.out, STDOUT_FILENO);
    close(state.out);
    if (state.err >= 0) {
        dup2(state.err, STDERR_FILENO);
        close(state.err);
    }
    while (waitpid(state.pager, NULL, 0) < 0 && errno == EINTR) continue;
    sigaction(SIGINT, &state.interrupt, NULL);
    state.pager = 0;
    return written;
}
