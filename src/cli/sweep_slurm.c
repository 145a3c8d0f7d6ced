#include "cli/sweep_slurm.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/sweep_leased.h"
#include "sweep/leases.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 8, WORKERS_MAX = 100000, ANSWER_BYTES = 4096, COMMAND_NOT_FOUND = 127 /* of the shell */ };

/* One call of dse sweep --slurm. */
struct submission {
    const struct invocation *in;
    const struct sweep_file *sweep;
    const char *options;        /* sbatch's */
    long long workers, at_once; /* at_once: how many of them run at the same time; 0: as many as the cluster lets */
    long long array_max;        /* tasks that one job array may have */
    char *folder, *db;          /* absolute */
    char *here, *dse;           /* the present directory, this program */
    char *worker_path, *merge_path;
};

/* ---- options of sbatch ------------------------------------------------------------------------------------------------------ */

/* Is it an option that the scripts must set themselves? */
static bool is_own(const char *word, size_t n)
{
    static const char *const own[] = {"--array",    "--dependency", "--job-name", "--output", "--error",
                                      "--parsable", "--wrap",       "--chdir",    "--wait",   "--test-only"};
    const char *equals = memchr(word, '=', n);
    const size_t name = equals ? (size_t)(equals - word) : n;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strlen(own[i]) == name && strncmp(own[i], word, name) == 0) return true;
    return false;
}

/* Each word is one long option. */
static bool check_options(const struct invocation *in, const char *options)
{
    for (const char *s = options; *s; s++)
        if (iscntrl((unsigned char)*s) || strchr("\"'\\", *s))
            return usage_error(in, "--slurm: options are words, without quotes: \"%s\"", options), false;
    for (const char *s = options + strspn(options, " "); *s; s += strspn(s, " ")) {
        const size_t n = strcspn(s, " ");
        if (n < 4 || strncmp(s, "--", 2) != 0)
            return usage_error(in, "--slurm: \"%.*s\" is no long option of sbatch, such as --partition=long", (int)n, s), false;
        if (is_own(s, n))
            return usage_error(in, "--slurm: %.*s is set by dse: --workers N says how many, --lease FOLDER where", (int)n, s),
                   false;
        s += n;
    }
    return true;
}

/* ---- scripts ----------------------------------------------------------------------------------------------------------------- */

/* A word for the shell. */
static void add_quoted(struct text *t, const char *word)
{
    text_add(t, "'");
    for (; *word; word++) {
        if (*word == '\'')
            text_add(t, "'\\''");
        else
            text_add_bytes(t, word, 1);
    }
    text_add(t, "'");
}

static void add_word(struct text *t, const char *word)
{
    text_add(t, " ");
    add_quoted(t, word);
}

static void add_directives(const struct submission *b, const char *name, const char *log, struct text *t)
{
    text_addf(t, "#!/bin/sh\n#SBATCH --job-name=dse-%s%s\n#SBATCH --output=\"", b->sweep->name, name);
    for (const char *c = b->folder; *c; c++) text_addf(t, *c == '%' ? "%%%%" : "%c", *c);
    text_addf(t, "/%s\"\n#SBATCH --requeue\n", log);
    for (const char *s = b->options + strspn(b->options, " "); *s; s += strspn(s, " ")) {
        const size_t n = strcspn(s, " ");
        text_addf(t, "#SBATCH %.*s\n", (int)n, s);
        s += n;
    }
}

/* Where it is run, with the environment that dse reads. */
static void add_place(const struct submission *b, struct text *t)
{
    static const char *const variables[] = {"DSE_DATA_DIR", "DSE_CATALOG", "DSE_PLUGINS"};
    text_add(t, "set -e\ncd");
    add_word(t, b->here);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (!value) continue;
        text_addf(t, "\nexport %s=", variables[i]);
        add_quoted(t, value);
    }
    text_add(t, "\n");
}

/* dse sweep FILE with the options of this call that say how. `jobs` when none were asked for: as many as the task has. */
static void add_sweep(const struct submission *b, struct text *t)
{
    static const char *const names[] = {"catalog", "fidelity", "max-points", "lease-age", "jobs"};
    add_quoted(t, b->dse);
    for (size_t i = 0; i < b->in->n_plugins; i++) {
        text_add(t, " --plugin");
        add_word(t, b->in->plugins[i]);
    }
    text_add(t, " sweep");
    add_word(t, b->in->operands[0]);
    for (size_t i = 0; i < b->in->n_options; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            if (strcmp(b->in->options[i].row->name, names[k]) != 0) continue;
            text_addf(t, " --%s", names[k]);
            add_word(t, b->in->options[i].argument);
        }
    if (!option_has(b->in, "jobs")) text_add(t, " --jobs \"${SLURM_CPUS_PER_TASK:-1}\"");
}

/* The tasks of a job array of n workers, or as many as one may have: "1-64%16". The caller frees it. */
static char *array_of(const struct submission *b, long long n)
{
    const long long tasks = n < b->array_max ? n : b->array_max;
    return b->at_once ? xasprintf("1-%lld%%%lld", tasks, b->at_once) : xasprintf("1-%lld", tasks);
}

static char *worker_script(const struct submission *b)
{
    struct text t;
    text_init(&t);
    add_directives(b, "", "slurm-%A_%a.txt", &t);
    char *tasks = array_of(b, b->workers);
    text_addf(&t,
              "#SBATCH --array=%s\n"
              "# A worker: takes blocks of points until all are done. Any number may run, die, and be submitted anew.\n",
              tasks);
    free(tasks);
    add_place(b, &t);
    text_add(&t, "exec ");
    add_sweep(b, &t);
    text_add(&t, " --quiet --lease");
    add_word(&t, b->folder);
    text_add(&t, "\n");
    return text_detach(&t);
}

static char *merge_script(const struct submission *b)
{
    struct text t;
    text_init(&t);
    add_directives(b, "-merge", "slurm-merge-%j.txt", &t);
    text_add(&t,
             "# When the workers have ended, in whatever way: the blocks that they have left, then one database of all, then its "
             "front.\n");
    add_place(b, &t);
    add_sweep(b, &t);
    text_add(&t, " --quiet --lease");
    add_word(&t, b->folder);
    text_add(&t, "\n");
    add_quoted(&t, b->dse);
    text_add(&t, " merge");
    add_word(&t, b->db);
    add_word(&t, b->folder);
    text_add(&t, "\n");
    add_sweep(b, &t);
    if (option_has(b->in, "no-figures")) text_add(&t, " --no-figures");
    text_add(&t, " --output");
    add_word(&t, b->db);
    text_add(&t, "\n");
    return text_detach(&t);
}

/* ---- submitting -------------------------------------------------------------------------------------------------------------- */

/* Run sbatch with one more option; *ret is the number of the job, which the caller frees. */
static bool sbatch(const char *option, const char *script, char **ret, struct diags *diags)
{
    struct text command;
    char answer[ANSWER_BYTES];
    text_init(&command);
    text_add(&command, "exec sbatch --parsable");
    add_word(&command, option);
    add_word(&command, script);
    text_add(&command, " 2>&1");
    FILE *f = popen(command.s, "r");
    text_release(&command);
    const size_t n = f ? fread(answer, 1, sizeof answer - 1, f) : 0;
    const int status = f ? pclose(f) : -1;
    answer[n] = '\0';
    const size_t digits = strspn(answer, "0123456789");
    if (status == 0 && digits) {
        *ret = xstrndup(answer, digits);
        return true;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == COMMAND_NOT_FOUND)
        return diags_runtime(diags, script,
                             "is written, but there is no sbatch to submit it: is this a machine of a SLURM cluster?");
    answer[n && answer[n - 1] == '\n' ? n - 1 : n] = '\0';
    return diags_runtime(diags, script, "was not submitted: sbatch: %s", n ? answer : strerror(errno));
}

/* Job arrays of as many tasks as one may have, until all workers have one; *ret lists their numbers, with colons between. */
static bool submit_workers(const struct submission *b, struct text *ret, struct diags *diags)
{
    for (long long left = b->workers; left > 0; left -= b->array_max) {
        char *tasks = array_of(b, left), *option = xasprintf("--array=%s", tasks), *job = NULL;
        const bool ok = sbatch(option, b->worker_path, &job, diags);
        if (ok) text_addf(ret, "%s%s", ret->n ? ":" : "", job);
        free(job);
        free(option);
        free(tasks);
        if (!ok) return false;
    }
    return true;
}

static bool submit(const struct submission *b, struct diags *diags)
{
    struct text workers;
    char *merge = NULL;
    text_init(&workers);
    bool ok = submit_workers(b, &workers, diags);
    if (workers.n) { /* what was submitted works, and is merged, even if not all could be */
        char *option = xasprintf("--dependency=afterany:%s", workers.s);
        const bool merging = sbatch(option, b->merge_path, &merge, diags);
        if (!merging)
            diags_warn(diags, (struct srcloc){.file = b->worker_path}, NULL, "is submitted as job %s; when it has ended: sbatch %s",
                       workers.s, b->merge_path);
        ok = ok && merging;
        free(option);
    }
    if (ok)
        terminal_say(stderr, "%s: job %s has %lld workers, job %s merges what they have done into %s; more workers: sbatch %s",
                     b->sweep->name, workers.s, b->workers, merge, b->db, b->worker_path);
    text_release(&workers);
    free(merge);
    return ok;
}

/* How many tasks a job array of this cluster may have: MaxArraySize, which counts the 0 that dse leaves out. Where nobody can be
 * asked, SLURM's default. */
static long long array_tasks_max(void)
{
    enum { DEFAULT = 1001 };
    char line[ANSWER_BYTES];
    long long size = DEFAULT;
    FILE *f = popen("scontrol show config 2>/dev/null", "r");
    while (f && fgets(line, sizeof line, f)) {
        static const char key[] = "MaxArraySize";
        int64_t found;
        if (strncmp(line, key, strlen(key)) != 0) continue;
        char *value = line + strcspn(line, "0123456789");
        value[strspn(value, "0123456789")] = '\0';
        if (text_parse_i64(value, &found) && found > 1) size = found;
    }
    if (f) pclose(f);
    return size - 1;
}

static bool write_and_submit(const struct submission *b, const char *worker, const char *merge)
{
    struct diags *diags = b->in->diags;
    struct sweep_options options = sweep_options_of(b->in, NULL);
    options.lease = b->folder;
    return diags->errors == 0 && sweep_plan_leases(b->sweep, &options, diags) &&
           file_write(b->worker_path, worker, strlen(worker), diags) && file_write(b->merge_path, merge, strlen(merge), diags) &&
           submit(b, diags);
}

static void show(const struct submission *b, const char *worker, const char *merge)
{
    printf("# %s\n%s\n# %s, after the job array, however that ends\n%s", b->worker_path, worker, b->merge_path, merge);
}

/* ---- the call ---------------------------------------------------------------------------------------------------------------- */

/* Directories above the folder and the database that are dse's own to make. */
static bool make_results(const struct submission *b)
{
    const bool needed = !option_has(b->in, "lease") || !option_has(b->in, "output");
    return !needed || mkdir("results", 0777) == 0 || errno == EEXIST ||
           diags_runtime(b->in->diags, "results", "cannot make the directory: %s", strerror(errno));
}

/* The path from the root, as jobs run elsewhere. */
static char *absolute(const char *here, const char *path)
{
    return *path == '/' ? xstrdup(path) : xasprintf("%s/%s", here, path);
}

static void find_paths(struct submission *b)
{
    const char *folder = option_get(b->in, "lease"), *out = option_get(b->in, "output");
    char *own_folder = xasprintf("results/%s.leases", b->sweep->name), *own_out = xasprintf("results/%s.db", b->sweep->name);
    b->here = realpath(".", NULL);
    if (!b->here) b->here = xstrdup(".");
    b->dse = realpath("/proc/self/exe", NULL);
    if (!b->dse) b->dse = xstrdup("dse");
    b->folder = absolute(b->here, folder ? folder : own_folder);
    b->db = absolute(b->here, out ? out : own_out);
    b->worker_path = xasprintf("%s/worker.sbatch", b->folder);
    b->merge_path = xasprintf("%s/merge.sbatch", b->folder);
    free(own_folder);
    free(own_out);
}

static void release(const struct submission *b)
{
    char *const all[] = {b->here, b->dse, b->folder, b->db, b->worker_path, b->merge_path};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

/* --workers N, or N%K: no more than K of them at the same time. */
static bool read_workers(const struct invocation *in, struct submission *b)
{
    const char *given = option_get(in, "workers"), *percent = given ? strchr(given, '%') : NULL;
    int64_t workers = WORKERS, at_once = 0;
    char *n = given ? xstrndup(given, strcspn(given, "%")) : NULL;
    const bool ok = (!n || (text_parse_i64(n, &workers) && workers >= 1 && workers <= WORKERS_MAX)) &&
                    (!percent || (text_parse_i64(percent + 1, &at_once) && at_once >= 1 && at_once <= WORKERS_MAX));
    free(n);
    b->workers = workers;
    b->at_once = at_once;
    if (!ok)
        usage_error(in, "--workers: \"%s\" is not N from 1 to %d, nor N%%K, of which K work at the same time", given,
                    (int)WORKERS_MAX);
    return ok;
}

int sweep_slurm(const struct invocation *in, const struct sweep_file *s)
{
    const char *options = option_get(in, "slurm");
    struct submission b = {.in = in, .sweep = s, .options = options ? options : ""};
    if (!read_workers(in, &b) || !check_options(in, b.options)) return 2;
    b.array_max = array_tasks_max();
    find_paths(&b);
    bool ok = true;
    if (strpbrk(b.folder, "\"\\\n")) ok = diags_runtime(in->diags, b.folder, "has a character that Slurm cannot have in a path");
    char *worker = worker_script(&b), *merge = merge_script(&b);
    if (ok && option_has(in, "dry-run"))
        show(&b, worker, merge);
    else
        ok = ok && make_results(&b) && write_and_submit(&b, worker, merge);
    free(worker);
    free(merge);
    release(&b);
    return ok ? 0 : 1;
}
