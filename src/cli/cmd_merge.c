/* dse merge: databases of shards, or of different sweeps, into one. */
#include "cli/command.h"
#include "store/store.h"

static int run(const struct invocation *in)
{
    const char *out = in->operands[0];
    bool ok = store_merge(out, in->operands + 1, in->n_operands - 1, in->diags);
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
