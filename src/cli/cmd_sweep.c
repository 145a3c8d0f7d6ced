/* dse sweep: a sweep file in; a database, its front and its figures out. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/dry_run.h"
#include "cli/front_table.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/shard.h"
#include "cli/sweep_ends.h"
#include "cli/sweep_leased.h"
#include "cli/sweep_slurm.h"
#include "command/command.h"
#include "sweep/sweep.h"

#include <stdlib.h>
#include <string.h>

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

/* What event level made of the front of the closed form. */
static void say_refined(const struct sweep_file *s, const struct sweep_result *r)
{
    char added[TEXT_NUMBER_MAX], before[TEXT_NUMBER_MAX], stayed[TEXT_NUMBER_MAX], now[TEXT_NUMBER_MAX], refined[TEXT_NUMBER_MAX];
    bool some = r->event_rows < r->refined;
    terminal_say(
        stderr,
        "%s: event level for %s points in %d rounds%s%s%s; of the %s points on the closed form's front %s stay, and the front has "
        "%s",
        s->name, text_count(refined, r->refined), r->rounds, some ? ", " : "", some ? text_count(added, r->event_rows) : "",
        some ? " of them now" : "", text_count(before, r->front_before), text_count(stayed, r->front_stayed),
        text_count(now, r->front));
    if (r->front_unrefined)
        terminal_say(stderr,
                     "%s: warning: [refine] runs = %llu are used up: %zu points that may be on the front have no event level",
                     s->name, (unsigned long long)s->refine_runs, r->front_unrefined);
}

/* A part of a sweep that refines is the closed form alone. */
static void say_part(const struct invocation *in, const struct sweep_file *s)
{
    terminal_say(stderr, "%s: this part is in closed form; merge all parts, and `dse sweep %s%s -o MERGED.db` refines their front",
                 s->name, in->operands[0], option_has(in, "fidelity") ? " --fidelity refine" : "");
}

/* What came of a run that evaluates more points than it stores. */
static void say_kept(const struct sweep_file *s, const struct sweep_result *r, const char *db)
{
    const uint64_t now = r->evaluations - r->resumed;
    char evaluated[TEXT_NUMBER_MAX], rows[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX], resumed[TEXT_NUMBER_MAX];
    if (r->was_complete) {
        terminal_say(stderr, "%s: %s has the result already (run %lld); --fresh starts anew", s->name, db, (long long)r->run);
        return;
    }
    const char *method = search_names[s->search.method];
    terminal_say(stderr, "%s: %s%s%s points evaluated in %.2f s (%s a second)%s%s%s, %s rows stored; database %s", s->name, method,
                 *method ? ": " : "", text_count(evaluated, now), r->store_seconds,
                 text_count(rate, r->store_seconds > 0 ? (uint64_t)((double)now / r->store_seconds) : 0), r->resumed ? "; " : "",
                 r->resumed ? text_count(resumed, r->resumed) : "", r->resumed ? " were evaluated before" : "",
                 text_count(rows, r->done), db);
}

static void say_result(const struct sweep_file *s, const struct sweep_result *r, const char *db)
{
    char done[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX], resumed[TEXT_NUMBER_MAX];
    uint64_t this_time = r->done - r->resumed;
    if (s->search.method != SEARCH_NONE || s->keep != KEEP_ALL) {
        say_kept(s, r, db);
        return;
    }
    if (r->was_complete) {
        terminal_say(stderr, "%s: %s has all %s points already (run %lld); --fresh runs them again", s->name, db,
                     text_count(done, r->done), (long long)r->run);
        return;
    }
    terminal_say(stderr, "%s: %s points in %.2f s (%s a second), front in %.2f s%s%s%s; database %s", s->name,
                 text_count(done, this_time), r->store_seconds,
                 text_count(rate, r->store_seconds > 0 ? (uint64_t)((double)this_time / r->store_seconds) : 0), r->front_seconds,
                 r->resumed ? "; " : "", r->resumed ? text_count(resumed, r->resumed) : "", r->resumed ? " were there already" : "",
                 db);
    if (r->refining) say_refined(s, r);
}

/* Tell of a run that a signal has stopped. */
static void say_interrupted(const struct sweep_file *s, const struct sweep_result *r)
{
    char left[TEXT_NUMBER_MAX];
    if (s->search.method != SEARCH_NONE)
        terminal_say(stderr, "%s: interrupted; %s rows are stored, the same command searches again", s->name,
                     text_count(left, r->done));
    else if (s->keep != KEEP_ALL)
        terminal_say(stderr, "%s: interrupted after %s points; the same command goes on", s->name,
                     text_count(left, r->evaluations));
    else if (r->refining)
        terminal_say(stderr, "%s: interrupted while refining; the same command goes on", s->name);
    else
        terminal_say(stderr, "%s: interrupted; %s points are still to do, the same command goes on", s->name,
                     text_count(left, r->planned - r->done));
}

/* Print the front of a run that is done, and draw its figures. */
static bool show_run(const struct invocation *in, const struct sweep_file *s, const struct catalog *catalog, const char *db,
                     const struct sweep_result *r, bool is_part)
{
    bool quiet = option_has(in, "quiet");
    if (!quiet) say_result(s, r, db);
    if (!quiet && s->refine && is_part) say_part(in, s);
    struct front_request front = {.db = db, .run = r->run, .limit = sweep_front_rows(), .pick = true, .summary = !quiet};
    bool ok = front_table_print(&front, in->diags);
    if (ok && !r->was_complete && r->front == 0 && s->n_figures && !is_part && !option_has(in, "no-figures")) {
        terminal_say(stderr, "%s: its figures are not drawn: the front is empty", s->name);
        return true;
    }
    return (option_has(in, "no-figures") || is_part || sweep_draw_figures(s, catalog, db, s->keep != KEEP_ALL, quiet, in->diags)) &&
           ok;
}

static int run_sweep(const struct invocation *in, const struct sweep_file *s, const struct catalog *catalog,
                     const struct shard *shard)
{
    char *part = shard->shards < 2
                     ? xstrdup("")
                     : xasprintf(".shard-%llu-of-%llu", (unsigned long long)shard->shard, (unsigned long long)shard->shards);
    char *db = sweep_database_path(in, s, part);
    free(part);
    if (!db) return 1;
    struct progress bar;
    progress_init(&bar, stderr, s->name);
    struct sweep_options options = sweep_options_of(in, &bar);
    options.db = db;
    options.shard = shard->shard;
    options.shards = shard->shards;
    struct sweep_result result;
    int status = 1;
    bool ok = in->diags->errors == 0 && sweep_run(s, &options, &result, in->diags);
    progress_clear(&bar);
    if (ok && result.interrupted) {
        say_interrupted(s, &result);
        status = INTERRUPTED_STATUS;
    } else if (ok && show_run(in, s, catalog, db, &result, shard->shards > 1)) {
        status = 0;
    }
    free(db);
    return status;
}

static int run(const struct invocation *in)
{
    struct shard shard;
    struct catalog *catalog = shard_parse(in, &shard) ? open_catalog(in) : NULL;
    struct sweep_file *s = catalog ? sweep_open_file(in, catalog) : NULL;
    int status = 2;
    const char *folder = option_get(in, "lease");
    const bool slurm = option_has(in, "slurm");
    if (s && !folder && !slurm && !option_has(in, "quiet")) sweep_warn_idle(s, in->diags);
    if (s && (folder || slurm) && !sweep_leased_alone(in))
        status = 2;
    else if (s && slurm)
        status = sweep_slurm(in, s);
    else if (s && option_has(in, "dry-run"))
        status = dry_run(s, in->diags);
    else if (s)
        status = folder ? sweep_leased(in, s, folder) : run_sweep(in, s, catalog, &shard);
    sweep_file_free(s);
    catalog_free(catalog);
    return status;
}

const struct command command_sweep = {
    .name = "sweep",
    .operands = "FILE.toml",
    .summary = "evaluate every point of a sweep, find the front, draw the figures",
    .options =
        (const struct option_row[]){
            {'o', "output", "DB", "the database (default: results/<sweep name>.db)"},
            {'j', "jobs", "N", "number of threads (default: one for each core)"},
            {0, "shard", "K/N", "evaluate part K of N equal parts, for dse merge; `auto` takes K and N from SLURM or MPI"},
            {0, "lease", "FOLDER",
             "work with others: take blocks of points from a shared folder until all are done, for dse merge"},
            {0, "lease-age", "S", "seconds without a sign of life after which a worker counts as dead (default: 120)"},
            {0, "slurm", "[=OPTIONS]",
             "submit workers and a final merge to SLURM; OPTIONS go to sbatch: '--partition=long --time=60'"},
            {0, "workers", "N[%K]", "number of workers that --slurm submits (default: 8); at most K work at the same time"},
            {0, "fidelity", "F", "in place of the file's: %s", .words = sweep_fidelity_words},
            {0, "fresh", NULL, "start a new run even if one can be resumed or is done"},
            {0, "dry-run", NULL, "show axes, points, size and the cost of event level, or the scripts of --slurm; store nothing"},
            {0, "max-points", "N", "refuse sweeps with more points (default: 1000000000)"},
            {0, "no-figures", NULL, "do not draw the sweep's figures"},
            OPTION_CATALOG,
            {'q', "quiet", NULL, "no progress and no summary"},
            {0},
        },
    .help = "The sweep file names the models, the values of their parameters and the objectives. sweeps/ has examples, and\n"
            "docs/reference/sweep-file.md explains every key. After a crash, a kill or Ctrl-C the same command goes on where\n"
            "it stopped. dse prints the front to standard output and draws the figures beside the database.\n"
            "\n"
            "A sweep need not evaluate its whole grid. [sample] spreads points over the grid (sobol, halton, lhs, random).\n"
            "[search] looks for the front (exact, local, nsga2). keep = \"front\" or \"sample\" in [sweep] evaluates every point\n"
            "and stores a part.\n"
            "--fidelity closed-form runs a sweep that refines without any event level. The run stores the fidelity, and another\n"
            "fidelity is another run of the same database.\n"
            "\n"
            "Several machines can share a sweep. With --lease FOLDER workers join and leave when they like. With --slurm dse\n"
            "submits the workers. With --shard each job does a fixed part. docs/how-to/many-machines.md explains all three.\n"
            "\n"
            "  dse sweep sweeps/lad_sram.toml\n"
            "  sqlite3 results/lad_sram.db 'select tiles, sram_mib, max(tokens_per_s) from lad where context=4096 group by 1,2'\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
