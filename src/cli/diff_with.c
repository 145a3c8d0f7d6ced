#include "cli/diff_with.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "diff/diff.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Run BINARY sweep SWEEP -q -o DB, whose stdout is nobody's. */
static bool run_sweep(const char *binary, const char *sweep, const char *db, struct diags *diags)
{
    char *argv[] = {xstrdup(binary), xstrdup("sweep"), xstrdup(sweep), xstrdup("-q"), xstrdup("-o"), xstrdup(db), NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    const int error = posix_spawnp(&pid, binary, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    for (size_t i = 0; argv[i]; i++) free(argv[i]);
    if (error) return diags_runtime(diags, binary, "cannot be run: %s", strerror(error));
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return diags_runtime(diags, binary, "cannot be waited for: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
    return diags_runtime(diags, binary, "could not run the sweep (%s %d)", WIFEXITED(status) ? "exit status" : "signal",
                         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

static bool make_folder(struct with_runs *w, struct diags *diags)
{
    const char *tmp = getenv("TMPDIR");
    w->folder = xasprintf("%s/dse-diff-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(w->folder)) return true;
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
        w->wrote_sweep = ok = file_write(w->sweep, d.side[0].text, strlen(d.side[0].text), diags);
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

void with_runs_release(struct with_runs *w)
{
    if (w->wrote_sweep) unlink(w->sweep);
    for (int s = 0; w->folder && s < 2; s++)
        if (w->db[s] && strncmp(w->db[s], w->folder, strlen(w->folder)) == 0) unlink(w->db[s]);
    if (w->folder) rmdir(w->folder);
    for (int s = 0; s < 2; s++) free(w->db[s]);
    free(w->sweep);
    free(w->folder);
    *w = (struct with_runs){0};
}
