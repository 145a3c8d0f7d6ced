/* dse merge: databases of shards, or of different sweeps, into one. */
#include "cli/command.h"
#include "store/query.h"
#include "sweep/goal.h"

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

/* Runs that have all their points and whose front is still to be refined. */
static bool say_unrefined(const char *db, struct diags *diags)
{
    struct reader *r = reader_open(db, diags);
    struct query *q =
        r ? query_new(r,
                      "SELECT sweep FROM run WHERE fidelity = 'refine' AND status <> 'done' AND done = planned AND shard IS NULL",
                      (struct srcloc){0}, diags)
          : NULL;
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, diags)) > 0)
        terminal_say(stderr, "dse: the front of %s is to be refined yet: run its sweep file with -o %s", query_text(q, 0), db);
    query_free(q);
    reader_close(r);
    return status == 0;
}

static int run(const struct invocation *in)
{
    const char *out = in->operands[0];
    bool ok = store_merge(out, in->operands + 1, in->n_operands - 1, in->diags) && compute_fronts(out, in->diags);
    if (ok) terminal_say(stderr, "dse: merged %zu databases into %s", in->n_operands - 1, out);
    ok = ok && say_unrefined(out, in->diags);
    return ok ? 0 : 1;
}

const struct command command_merge = {
    .name = "merge",
    .operands = "OUT.db IN.db...",
    .summary = "join the databases of shards, or collect several sweeps in one file",
    .options = (const struct option_row[]){{0}},
    .help =
        "Runs of the same sweep become one run, with its front over all their points; others are carried over. The inputs are only read.\n\n"
        "  dse merge results/lad_sram.db results/lad_sram.shard-*.db\n",
    .min_operands = 2,
    .max_operands = 100000,
    .run = run,
};
