/* dse merge: databases of shards, or of different sweeps, into one. */
#include "cli/command.h"
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

static int run(const struct invocation *in)
{
    const char *out = in->operands[0];
    bool ok = store_merge(out, in->operands + 1, in->n_operands - 1, in->diags) && compute_fronts(out, in->diags);
    if (ok) fprintf(stderr, "dse: merged %zu databases into %s\n", in->n_operands - 1, out);
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
