/* dse sweep: a sweep file in; a database, its front and its figures out. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/front_table.h"
#include "cli/progress.h"
#include "cli/shard.h"
#include "figure/figure.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const long long MAX_POINTS_DEFAULT = 1000000000, MAX_POINTS_LIMIT = 1000000000000;

enum { FRONT_ROWS = 20 }; /* of the front are printed when a sweep is done */

static volatile sig_atomic_t interrupt_asked;

static void on_signal(int number)
{
    (void)number;
    interrupt_asked = 1;
}

/* The first Ctrl-C asks the sweep to stop with its state saved; the second ends the process at once, which loses only the open
 * transaction. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- where things go --------------------------------------------------------------------------------------------------------------- */

static bool ensure_results(struct diags *diags)
{
    if (mkdir("results", 0777) == 0 || errno == EEXIST) return true;
    return diags_runtime(diags, "results", "cannot make the directory: %s", strerror(errno));
}

/* results/NAME.db, or results/NAME.shard-K-of-N.db. The caller frees it. */
static char *database_path(const struct invocation *in, const struct sweep_file *s, const struct shard *shard)
{
    const char *out = option_get(in, "output");
    if (out && !*out) usage_error(in, "--output needs the name of a file");
    if (out) return *out ? xstrdup(out) : NULL;
    if (!ensure_results(in->diags)) return NULL;
    if (shard->shards < 2) return xasprintf("results/%s.db", s->name);
    return xasprintf("results/%s.shard-%llu-of-%llu.db", s->name, (unsigned long long)shard->shard,
                     (unsigned long long)shard->shards);
}

/* The figure's picture stands beside the database. The caller frees it. */
char *figure_path(const char *db, const char *figure, const char *ending)
{
    const char *slash = strrchr(db, '/');
    return xasprintf("%.*s%s.%s", slash ? (int)(slash - db + 1) : 0, db, figure, ending);
}

/* ---- dry run -------------------------------------------------------------------------------------------------------------------------- */

static void print_axes(const struct binding *b)
{
    char count[TEXT_NUMBER_MAX], lo[TEXT_NUMBER_MAX], hi[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct given *g = &b->given[i];
        const struct field *f = &b->model->params.fields[i];
        if (!g->is_given || g->n < 2) continue;
        if (g->values)
            printf("  %-18s %9s values, %s to %s %s\n", f->name, text_about_count(count, (double)g->n),
                   value_text(f, g->values[0], lo), value_text(f, g->values[g->n - 1], hi), f->unit);
        else
            printf("  %-18s %9s values\n", f->name, text_about_count(count, (double)g->n));
    }
}

/* Are all axes expanded, and is the space one that a run would take? */
static bool can_build(const struct binding *b)
{
    for (size_t i = 0; i < b->model->params.n; i++)
        if (b->given[i].is_given && !b->given[i].values) return false;
    return space_count_of(b) <= (uint64_t)MAX_POINTS_DEFAULT;
}

/* What does not hold for all models of the sweep: the workload that the baseline shares with these points, and expressions. */
static void print_comparison(const struct sweep_file *s, const struct space *sp)
{
    size_t taken = 0;
    for (size_t i = 0; s->baseline && i < s->baseline->model->params.n; i++)
        if (space_baseline_takes(sp, i))
            printf("%s%s", taken++ ? ", " : "  compared with the baseline at the same ", s->baseline->model->params.fields[i].name);
    if (taken) printf("\n");
    for (size_t i = 0; i < s->n_constraints; i++)
        if (!space_constraint_applies(sp, i)) printf("  the constraint %s does not apply\n", s->constraints[i].name);
    for (size_t i = 0; i < s->n_derived; i++)
        if (!space_derived_applies(sp, i)) printf("  the derived column %s has no value\n", s->derived[i].name);
}

static bool show_size(const struct sweep_file *s, size_t m, struct diags *diags)
{
    struct space *sp = space_new(s, m, UINT64_MAX, diags);
    if (!sp) return false;
    size_t columns;
    space_columns(sp, &columns);
    printf("  a row has %zu columns; about %.3g MB of database\n", columns, (double)space_count(sp) * (double)columns * 8.5 / 1e6);
    print_comparison(s, sp);
    space_free(sp);
    return true;
}

static int dry_run(const struct sweep_file *s, struct diags *diags)
{
    bool ok = true;
    for (size_t m = 0; m < s->n_models; m++) {
        char count[TEXT_NUMBER_MAX];
        uint64_t n = space_count_of(s->bindings[m]);
        printf("%s: %s%s points\n", s->bindings[m]->model->desc->name, n == UINT64_MAX ? "more than " : "",
               text_about_count(count, (double)n));
        print_axes(s->bindings[m]);
        ok = (can_build(s->bindings[m]) ? show_size(s, m, diags) : space_check(s, m, diags)) && ok;
    }
    char *baseline = sweep_baseline_text(s);
    if (baseline) printf("baseline: %s\n", baseline);
    free(baseline);
    return ok ? 0 : 2;
}

/* ---- the run ---------------------------------------------------------------------------------------------------------------------------- */

static void say_result(const struct sweep_file *s, const struct sweep_result *r, const char *db)
{
    char done[TEXT_NUMBER_MAX], rate[TEXT_NUMBER_MAX], resumed[TEXT_NUMBER_MAX];
    uint64_t this_time = r->done - r->resumed;
    if (r->was_complete) {
        fprintf(stderr, "%s: %s has all %s points already (run %lld); --fresh runs them again\n", s->name, db,
                text_count(done, r->done), (long long)r->run);
        return;
    }
    fprintf(stderr, "%s: %s points in %.2f s (%s a second), front in %.2f s", s->name, text_count(done, this_time),
            r->store_seconds, text_count(rate, r->store_seconds > 0 ? (uint64_t)((double)this_time / r->store_seconds) : 0),
            r->front_seconds);
    if (r->resumed) fprintf(stderr, "; %s were there already", text_count(resumed, r->resumed));
    fprintf(stderr, "; database %s\n", db);
}

static bool draw_figures(const struct sweep_file *s, const char *db, bool quiet, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < s->n_figures; i++) {
        struct figure *f = figure_read(s->figures[i], diags);
        char *out = f ? figure_path(db, figure_name(f), "png") : NULL;
        bool drawn = f && figure_render(f, db, out, diags);
        if (drawn && !quiet) fprintf(stderr, "%s: figure %s\n", s->name, out);
        ok = drawn && ok;
        free(out);
        figure_free(f);
    }
    return ok;
}

static int run_sweep(const struct invocation *in, const struct sweep_file *s, const struct shard *which)
{
    const struct shard shard = *which;
    char *db = database_path(in, s, &shard);
    if (!db) return 1;
    bool quiet = option_has(in, "quiet");
    struct progress bar;
    progress_init(&bar, stderr, s->name);
    catch_signals();
    struct sweep_options options = {.db = db,
                                    .threads = (int)option_integer(in, "jobs", 1, 1024, 0),
                                    .shard = shard.shard,
                                    .shards = shard.shards,
                                    .fresh = option_has(in, "fresh"),
                                    .max_points =
                                        (uint64_t)option_integer(in, "max-points", 1, MAX_POINTS_LIMIT, MAX_POINTS_DEFAULT),
                                    .interrupt = &interrupt_asked,
                                    .progress = quiet ? NULL : progress_update,
                                    .user = &bar};
    struct sweep_result result;
    int status = 1;
    bool ok = in->diags->errors == 0 && sweep_run(s, &options, &result, in->diags);
    progress_clear(&bar);
    if (ok && result.interrupted) {
        char left[TEXT_NUMBER_MAX];
        fprintf(stderr, "%s: interrupted; %s points are still to do, the same command goes on\n", s->name,
                text_count(left, result.planned - result.done));
        status = 130;
    } else if (ok) {
        if (!quiet) say_result(s, &result, db);
        struct front_request front = {.db = db, .run = result.run, .limit = FRONT_ROWS, .summary = !quiet};
        ok = front_table_print(&front, in->diags);
        ok = (option_has(in, "no-figures") || shard.shards > 1 || draw_figures(s, db, quiet, in->diags)) && ok;
        status = ok ? 0 : 1;
    }
    free(db);
    return status;
}

/* The file, with all its errors: those in expressions too. */
static struct sweep_file *read_file(const struct invocation *in, struct catalog *catalog)
{
    struct sweep_file *s = sweep_file_read(in->operands[0], catalog, catalog_data_dir(), in->diags);
    if (!s || in->diags->errors == 0) return s;
    for (size_t m = 0; m < s->n_models; m++) space_check(s, m, in->diags);
    sweep_file_free(s);
    return NULL;
}

static int run(const struct invocation *in)
{
    struct shard shard;
    struct catalog *catalog = shard_parse(in, &shard) ? open_catalog(in) : NULL;
    struct sweep_file *s = catalog ? read_file(in, catalog) : NULL;
    int status = 2;
    if (s) status = option_has(in, "dry-run") ? dry_run(s, in->diags) : run_sweep(in, s, &shard);
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
            {'j', "jobs", "N", "threads (default: one a core)"},
            {0, "shard", "K/N", "only the K-th of N equal parts; `auto` asks SLURM or MPI (dse merge joins them)"},
            {0, "fresh", NULL, "start a new run even if one can be resumed or is done"},
            {0, "dry-run", NULL, "show axes, points and size; evaluate nothing"},
            {0, "max-points", "N", "refuse larger sweeps (default: 1000000000)"},
            {0, "no-figures", NULL, "do not draw the sweep's figures"},
            OPTION_CATALOG,
            {'q', "quiet", NULL, "no progress and no summary"},
            {0},
        },
    .help =
        "The file says which models, which values of which parameters, what to optimise: see sweeps/ for examples and\n"
        "docs/sweep-file.md for every key. The same command after a crash, a kill or Ctrl-C goes on where it stopped. The front goes\n"
        "to standard output; figures are drawn beside the database.\n\n"
        "  dse sweep sweeps/lad_sram.toml\n"
        "  sqlite3 results/lad_sram.db 'select tiles, sram_mib, max(tokens_per_s) from lad where context=4096 group by 1,2'\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
