#include "cli/diff_with.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "diff/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- signals ---------------------------------------------------------------------------------------------------------------- */

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING = sizeof ending / sizeof *ending };

/* What a signal that ends this program has to do first, while there is a folder. */
static struct {
    char *folder;
    volatile pid_t child; /* a sweep that runs; or 0 */
    struct sigaction before[ENDING];
} state;

static void on_end(int number)
{
    if (state.child > 0 && kill(state.child, SIGKILL) == 0) waitpid(state.child, NULL, 0);
    const pid_t pid = _Fork();
    if (pid == 0) {
        execl("/bin/rm", "rm", "-rf", "--", state.folder, (char *)NULL);
        _exit(127);
    }
    if (pid > 0) waitpid(pid, NULL, 0);
    signal(number, SIG_DFL);
    raise(number);
}

static sigset_t ending_set(void)
{
    sigset_t ret;
    sigemptyset(&ret);
    for (size_t i = 0; i < ENDING; i++) sigaddset(&ret, ending[i]);
    return ret;
}

static void catch_end(char *folder)
{
    const struct sigaction action = {.sa_handler = on_end, .sa_mask = ending_set()};
    state.folder = folder;
    for (size_t i = 0; i < ENDING; i++) {
        sigaction(ending[i], NULL, &state.before[i]);
        if (state.before[i].sa_handler != SIG_IGN) sigaction(ending[i], &action, NULL);
    }
}

static void release_end(void)
{
    for (size_t i = 0; i < ENDING; i++) sigaction(ending[i], &state.before[i], NULL);
}

/* ---- sweeps ----------------------------------------------------------------------------------------------------------------- */

/* Start it with the signals that this program has when none is held back, and no stdout. 0, or an errno. */
static int spawn(const char *binary, char *const *argv, const sigset_t *signals, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int error = posix_spawnp(ret, binary, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* The child is known before a signal comes. 0, or an errno. */
static int start(const char *binary, char *const *argv)
{
    const sigset_t held = ending_set();
    sigset_t usual;
    pid_t pid;
    pthread_sigmask(SIG_BLOCK, &held, &usual);
    const int error = spawn(binary, argv, &usual, &pid);
    if (!error) state.child = pid;
    pthread_sigmask(SIG_SETMASK, &usual, NULL);
    return error;
}

/* Run BINARY sweep SWEEP -q -o DB. */
static bool run_sweep(const char *binary, const char *sweep, const char *db, struct diags *diags)
{
    char *argv[] = {xstrdup(binary), xstrdup("sweep"), xstrdup(sweep), xstrdup("-q"), xstrdup("-o"), xstrdup(db), NULL};
    const int error = start(binary, argv);
    for (size_t i = 0; argv[i]; i++) free(argv[i]);
    if (error) return diags_runtime(diags, binary, "cannot be run: %s", strerror(error));
    int status;
    while (waitpid(state.child, &status, 0) < 0)
        if (errno != EINTR) return diags_runtime(diags, binary, "cannot be waited for: %s", strerror(errno));
    state.child = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    return diags_runtime(diags, binary, "could not run the sweep (%s %d)", WIFEXITED(status) ? "exit status" : "signal",
                         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static bool make_folder(struct with_runs *w, struct diags *diags)
{
    const char *tmp = getenv("TMPDIR");
    w->folder = xasprintf("%s/dse-diff-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(w->folder)) {
        catch_end(w->folder);
        return true;
    }
    diags_runtime(diags, w->folder, "cannot be made: %s", strerror(errno));
    free(w->folder);
    w->folder = NULL;
    return false;
}

/* The sweep file of the database's run, in the folder. */
static bool write_sweep(struct with_runs *w, const char *what, struct diags *diags)
{
    struct diff d = {0};
    bool ok = diff_open(&d, 0, what, diags);
    if (ok) {
        w->sweep = xasprintf("%s/sweep.toml", w->folder);
        ok = file_write(w->sweep, d.side[0].text, strlen(d.side[0].text), diags);
    }
    diff_release(&d);
    return ok;
}

static bool is_sweep_file(const char *what)
{
    const size_t n = strlen(what);
    return n > 5 && strcmp(what + n - 5, ".toml") == 0;
}

bool with_runs_make(struct with_runs *w, const char *what, const char *other, struct diags *diags)
{
    *w = (struct with_runs){0};
    if (!make_folder(w, diags)) return false;
    w->db[1] = xasprintf("%s/b.db", w->folder);
    if (!is_sweep_file(what)) {
        w->db[0] = xstrdup(what);
        return write_sweep(w, what, diags) && run_sweep(other, w->sweep, w->db[1], diags);
    }
    w->sweep = xstrdup(what);
    w->db[0] = xasprintf("%s/a.db", w->folder);
    return run_sweep("/proc/self/exe", what, w->db[0], diags) && run_sweep(other, what, w->db[1], diags);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

void with_runs_release(struct with_runs *w)
{
    enum { DESCRIPTORS = 8 };
    if (w->folder) {
        nftw(w->folder, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS); /* databases, their journals, pictures */
        release_end();
    }
    for (int s = 0; s < 2; s++) free(w->db[s]);
    free(w->sweep);
    free(w->folder);
    *w = (struct with_runs){0};
}
