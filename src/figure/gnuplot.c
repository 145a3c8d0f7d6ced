#include "figure/gnuplot.h"

#include "base/xalloc.h"
#include "figure/child.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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
