/* dse diff: what changed between two runs, and why. */
#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/diff_print.h"
#include "command/command.h"
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

/* ---- --with --------------------------------------------------------------------------------------------------------------- */

/* `dse diff --with OTHER_DSE`: a sweep run by other binaries, into databases that are gone afterwards. */

struct with_runs {
    char *folder; /* or NULL */
    char *sweep, *db[2];
};

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

/* Run a sweep, a .toml file or that of a database's run ("a.db", "a.db:2"), with `other` into *ret's db[1]; of a file also with
 * this dse into db[0], else db[0] is a copy of the name of the database. Talk of the binaries goes to stderr. False with errors.
 * Release in any case, which removes the files. */
static bool with_runs_make(struct with_runs *w, const char *what, const char *other, struct diags *diags)
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

static void with_runs_release(struct with_runs *w)
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

/* ---- the command ---------------------------------------------------------------------------------------------------------- */

enum { SAME, DIFFERS, FAILED };

/* --rel 1e-6, --rel energy_mj=0.01. The names are owned by the list. */
static bool read_tolerances(const struct invocation *in, struct diff_tolerance **ret, size_t *ret_n)
{
    const char **given = option_all(in, "rel", ret_n);
    *ret = xcalloc(*ret_n + 1, sizeof **ret);
    size_t at = 0;
    bool ok = true;
    for (int with_column = 0; with_column < 2; with_column++) /* those of a column win: they come last */
        for (size_t i = 0; ok && i < *ret_n; i++) {
            const char *equals = strrchr(given[i], '=');
            double rel;
            if (!text_parse_f64(equals ? equals + 1 : given[i], &rel) || !(rel >= 0) || equals == given[i]) {
                usage_error(in, "--rel: \"%s\" is neither a tolerance (1e-6) nor COLUMN=TOLERANCE", given[i]);
                ok = false;
            } else if (!equals == !with_column) {
                (*ret)[at++] = (struct diff_tolerance){equals ? xstrndup(given[i], (size_t)(equals - given[i])) : NULL, rel};
            }
        }
    free(given);
    return ok;
}

static bool read_table(const struct invocation *in, enum output_format format, int *ret)
{
    const char *show = option_get(in, "show");
    *ret = format == OUTPUT_CSV ? DIFF_TABLE_COLUMNS : -1;
    if (!show) return true;
    for (int i = 0; i < DIFF_TABLES; i++)
        if (strcmp(show, diff_table_names[i]) == 0) *ret = i;
    if (*ret >= 0 && strcmp(show, diff_table_names[*ret]) == 0) return true;
    usage_unknown(in, "unknown table", show, diff_table_names, DIFF_TABLES, ": columns, front, why or rows");
    return false;
}

static bool print(const struct invocation *in, const struct diff *d, enum output_format format, int table)
{
    enum { PEOPLE_LIMIT = 10 };
    const size_t limit = (size_t)option_integer(in, "limit", 1, 1LL << 40, format == OUTPUT_TABLE && table < 0 ? PEOPLE_LIMIT : 0);
    if (in->diags->errors) return false;
    pager_start();
    if (table >= 0) return diff_print_table(d, (enum diff_table)table, format, limit, in->diags);
    return format == OUTPUT_JSON ? diff_print_json(d, limit, in->diags) : diff_print(d, limit, in->diags);
}

/* Those of --with are gone when the runs are compared: what is printed is read from files that are open. */
static bool read_runs(const struct invocation *in, struct with_runs *runs, struct diff *d, const struct diff_options *options)
{
    const char *other = option_get(in, "with");
    bool ok = !other || with_runs_make(runs, in->operands[0], other, in->diags);
    ok = ok && diff_open(d, 0, other ? runs->db[0] : in->operands[0], in->diags) &&
         diff_open(d, 1, other ? runs->db[1] : in->operands[1], in->diags) && diff_run(d, options, in->diags);
    with_runs_release(runs);
    return ok;
}

static int compare(const struct invocation *in, struct diff_options *options)
{
    enum { CAUSES_ROWS = 1000 };
    struct diff d = {0};
    enum output_format format;
    int table;
    size_t n_catalogs;
    const char **catalogs = option_all(in, "catalog", &n_catalogs);
    options->catalogs = catalogs;
    options->n_catalogs = n_catalogs;
    options->model = option_get(in, "model");
    options->sample = (size_t)option_integer(in, "causes", 0, 1LL << 32, CAUSES_ROWS);
    bool ok = output_parse_format(in, &format) && read_table(in, format, &table) && in->diags->errors == 0;
    struct with_runs runs = {0};
    ok = ok && read_runs(in, &runs, &d, options);
    ok = ok && print(in, &d, format, table);
    const int status = !ok ? FAILED : diff_is_any(&d) ? DIFFERS : SAME;
    free(catalogs);
    diff_release(&d);
    return status;
}

static int run(const struct invocation *in)
{
    const char *other = option_get(in, "with");
    struct diff_options options = {0};
    struct diff_tolerance *tolerances = NULL;
    int status = FAILED;
    if ((in->n_operands == 1) == !other)
        usage_error(in, other ? "--with compares one sweep or database with what another dse makes of it"
                              : "two databases are needed: dse diff A.db B.db, or one and --with OTHER_DSE");
    else if (read_tolerances(in, &tolerances, &options.n_tolerances)) {
        options.tolerances = tolerances;
        status = compare(in, &options);
    }
    for (size_t i = 0; tolerances && i < options.n_tolerances; i++) free(tolerances[i].column);
    free(tolerances);
    return status;
}

const struct command command_diff = {
    .name = "diff",
    .operands = "A.db[:RUN] [B.db[:RUN]]",
    .summary = "compare two runs: what changed, and was it code, constant, catalog or sweep?",
    .options =
        (const struct option_row[]){
            {0, "rel", "TOLERANCE",
             "ignore changes of at most this share of a value (default: 0); COLUMN=TOLERANCE for one column; any number of times"},
            {'m', "model", "MODEL", "only this model"},
            {0, "with", "OTHER_DSE",
             "run the sweep of A, or a sweep file given as A, with another dse and compare with the result"},
            {0, "causes", "N", "evaluate at most N changed rows again to find the cause; 0: none (default: 1000)"},
            {0, "show", "TABLE", "print one table only: columns, front, why or rows"},
            {'n', "limit", "N", "print at most N lost and gained designs, or changed rows"},
            OPTION_CATALOG,
            OPTION_FORMAT,
            {0},
        },
    .help = "Rows are matched by the parameters that either sweep varies. Then all other columns are compared, and so are the\n"
            "fronts. To find the cause, this dse evaluates changed rows again and swaps one group of inputs at a time. A\n"
            "change that no input explains comes from the code.\n"
            "\n"
            "  dse diff old.db new.db\n"
            "  dse diff results/lad_sram.db:1 results/lad_sram.db:2\n"
            "  dse diff old.db new.db --rel 1e-9 --rel power_w=0.01 --format json\n"
            "  dse diff sweeps/lad_sram.toml --with ./dse-0.1.0\n"
            "\n"
            "Exit status: 0 nothing changed, 1 something did, 2 bad usage, bad input or a failure.\n",
    .min_operands = 1,
    .max_operands = 2,
    .failure = FAILED,
    .run = run,
};
