/* dse merge: databases of shards, of workers, or of different sweeps, into one. */
#include "base/xalloc.h"
#include "cli/merge_shards.h"
#include "command/command.h"
#include "store/query.h"
#include "sweep/goal.h"
#include "sweep/leases.h"

#include <stdlib.h>

/* A run put together from shards has no front yet. */
static bool compute_front(const char *db, int64_t run, struct diags *diags)
{
    struct store *st = store_open_run(db, run, diags);
    struct goal goal;
    goal_init(&goal);
    size_t n;
    bool ok = st && (goal_parse(&goal, store_objectives(st)) ||
                     diags_runtime(diags, db, "run %lld has unreadable objectives", (long long)run));
    ok = ok && goal_front(st, &goal, &n, diags);
    goal_release(&goal);
    store_close(st);
    return ok;
}

static bool compute_fronts(const char *db, struct diags *diags)
{
    size_t n;
    int64_t *runs = store_runs(db, &n, diags);
    bool ok = runs != NULL;
    for (size_t i = 0; ok && i < n; i++) ok = compute_front(db, runs[i], diags);
    free(runs);
    return ok;
}

/* Say SAID of the sweep of each run that a query finds. */
static bool say_each(struct reader *r, const char *sql, const char *said, const char *db, struct diags *diags)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, diags);
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, diags)) > 0)
        terminal_say(stderr, "dse: the %s of %s is not %s yet: run its sweep file with -o %s", query_text(q, 1), query_text(q, 0),
                     said, db);
    query_free(q);
    return status == 0;
}

/* What is missing of runs that workers have done their part of: a front is to be refined, or what is kept is to be stored. */
static bool say_open(const char *db, struct diags *diags)
{
    struct reader *r = reader_open(db, diags);
    const bool ok =
        r &&
        say_each(
            r, "SELECT sweep, 'front' FROM run WHERE fidelity = 'refine' AND status <> 'done' AND done = planned AND shard IS NULL",
            "refined", db, diags) &&
        say_each(r, "SELECT sweep, substr(method, 6) FROM run WHERE method LIKE 'keep %' AND status <> 'done' AND shard IS NULL",
                 "stored", db, diags);
    reader_close(r);
    return ok;
}

/* The databases to be merged. */
struct inputs {
    char **paths;
    size_t n;
};

static void inputs_release(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) free(inputs->paths[i]);
    free(inputs->paths);
}

/* An operand is a database, or a folder of leases with those of all workers. */
static bool add_operand(struct inputs *inputs, const char *operand, struct diags *diags)
{
    size_t n = 1;
    char *one = NULL, **paths = &one;
    if (leases_is_folder(operand))
        paths = leases_databases(operand, &n, diags);
    else
        one = xstrdup(operand);
    if (!paths) return false;
    inputs->paths = xrealloc(inputs->paths, inputs->n + n, sizeof(char *));
    for (size_t i = 0; i < n; i++) inputs->paths[inputs->n++] = paths[i];
    if (paths != &one) free(paths);
    return true;
}

static int run(const struct invocation *in)
{
    const char *out = in->operands[0];
    struct inputs inputs = {0};
    bool ok = true;
    for (size_t i = 1; i < in->n_operands; i++) ok = add_operand(&inputs, in->operands[i], in->diags) && ok;
    ok = ok && merge_check_shards((const char *const *)inputs.paths, inputs.n, in->diags);
    ok = ok && store_merge(out, (const char *const *)inputs.paths, inputs.n, in->diags) && compute_fronts(out, in->diags);
    if (ok) terminal_say(stderr, "dse: merged %zu databases into %s", inputs.n, out);
    ok = ok && say_open(out, in->diags) && merge_say_missing(out, in->diags);
    inputs_release(&inputs);
    return ok ? 0 : 1;
}

const struct command command_merge = {
    .name = "merge",
    .operands = "OUT.db IN...",
    .summary = "join the databases of shards or workers, or collect several sweeps in one file",
    .options = (const struct option_row[]){{0}},
    .help = "Runs of the same sweep become one run with one front over all their points. Other runs are copied as they are.\n"
            "dse only reads the inputs. An input is a database, or a folder of `dse sweep --lease` whose blocks are all done.\n"
            "Shards of different sweeps are refused, unless all shards of each sweep are there. If shards of one sweep are\n"
            "missing, dse merges the others and says so.\n"
            "\n"
            "  dse merge results/lad_sram.db results/lad_sram.shard-*.db\n"
            "  dse merge results/lad_sram.db /shared/lad_sram\n",
    .min_operands = 2,
    .max_operands = 100000,
    .run = run,
};
