#include "cli/sweep_leased.h"

#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/dry_run.h"
#include "sweep/leases.h"

#include <string.h>

static const long long MAX_POINTS_LIMIT = 1000000000000;
enum { LEASE_AGE_LIMIT = 86400 };

struct sweep_options sweep_options_of(const struct invocation *in, void *user)
{
    return (struct sweep_options){.threads = (int)option_integer(in, "jobs", 1, 1024, 0),
                                  .fresh = option_has(in, "fresh"),
                                  .lease_age = (double)option_integer(in, "lease-age", 1, LEASE_AGE_LIMIT, LEASE_AGE),
                                  .max_points = (uint64_t)option_integer(in, "max-points", 1, MAX_POINTS_LIMIT, SWEEP_POINTS_MAX),
                                  .interrupt = interrupt_catch(),
                                  .progress = option_has(in, "quiet") ? NULL : progress_update,
                                  .user = user};
}

/* What a worker did, and what is to be done now. */
static void say_leased(const struct invocation *in, const struct sweep_file *s, const struct sweep_result *r, const char *folder)
{
    const bool more = s->refine || s->keep != KEEP_ALL;
    const char *fidelity = option_get(in, "fidelity");
    char done[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX], dead[TEXT_NUMBER_MAX];
    text_count(rate, r->store_seconds > 0 ? (uint64_t)((double)r->done / r->store_seconds) : 0);
    terminal_say(stderr, "%s: %zu of the %zu blocks in %s%s%s%s: %s points in %.2f s (%s a second)", s->name, r->blocks,
                 r->all_blocks, folder, r->taken_over ? ", " : "", r->taken_over ? text_count(dead, r->taken_over) : "",
                 r->taken_over ? " of them of workers that had died" : "", text_count(done, r->done), r->store_seconds, rate);
    if (r->interrupted)
        terminal_say(stderr, "%s: interrupted; %zu blocks are still to do, by other workers or the same command", s->name,
                     r->all_blocks - r->done_blocks);
    else
        terminal_say(stderr, "%s: all blocks are done; put them together: dse merge results/%s.db %s%s%s%s%s%s", s->name, s->name,
                     folder,
                     s->refine             ? ", and refine the front: dse sweep "
                     : s->keep != KEEP_ALL ? ", and store what is kept: dse sweep "
                                           : "",
                     more ? in->operands[0] : "", more && fidelity ? " --fidelity " : "", more && fidelity ? fidelity : "",
                     more ? " -o with that database" : "");
}

bool sweep_leased_alone(const struct invocation *in)
{
    const bool slurm = option_has(in, "slurm");
    static const struct {
        const char *option, *why;
    } others[] = {{"shard", "a worker takes what blocks are free"},
                  {"fresh", "a new folder starts anew"},
                  {"output", "workers write into the folder, and dse merge says where it all goes"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (!option_has(in, others[i].option) || (slurm && strcmp(others[i].option, "output") == 0)) continue;
        usage_error(in, "--%s and --%s do not go together: %s", slurm ? "slurm" : "lease", others[i].option, others[i].why);
        return false;
    }
    const char *folder = option_get(in, "lease");
    if (folder && !*folder) return usage_error(in, "--lease needs the name of a folder"), false;
    return true;
}

int sweep_leased(const struct invocation *in, const struct sweep_file *s, const char *folder)
{
    struct progress bar;
    progress_init(&bar, stderr, s->name);
    struct sweep_options options = sweep_options_of(in, &bar);
    options.lease = folder;
    struct sweep_result result;
    const bool ok = in->diags->errors == 0 && sweep_run(s, &options, &result, in->diags);
    progress_clear(&bar);
    if (ok && !option_has(in, "quiet")) say_leased(in, s, &result, folder);
    return !ok ? 1 : result.interrupted ? INTERRUPTED_STATUS : 0;
}
