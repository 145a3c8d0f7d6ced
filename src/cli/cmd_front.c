/* dse front: the exact front of a lattice that nobody can enumerate, with a certificate. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/front_table.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/sweep_ends.h"
#include "command/command.h"
#include "sweep/certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options --------------------------------------------------------------------------------------------------------------- */

/* "60s", "1.5min", "2h", "500ms", or seconds: how long the search may take; 0 when nothing was given. An error when it is anything
 * else. */
static double read_budget(const struct invocation *in)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ms", 1e-3}, {"s", 1}, {"min", 60}, {"h", 3600}, {"", 1}};
    const char *given = option_get(in, "budget");
    if (!given) return 0;
    const size_t digits = strspn(given, "0123456789.");
    char *number = xasprintf("%.*s", (int)digits, given);
    double seconds = 0;
    const bool ok = text_parse_f64(number, &seconds);
    free(number);
    for (size_t i = 0; ok && i < sizeof units / sizeof *units; i++) {
        if (strcmp(given + digits, units[i].unit) != 0) continue;
        if (seconds > 0) return seconds * units[i].seconds;
        usage_error(in, "--budget %s: a search needs time; without --budget it takes what it needs", given);
        return 0;
    }
    usage_error(in, "--budget %s: a time is written 60s, 5min, 2h or 500ms", given);
    return 0;
}

/* ---- what is said ---------------------------------------------------------------------------------------------------------- */

static const char *percent(char buf[TEXT_NUMBER_MAX], double share)
{
    if (!isfinite(share)) return "?";
    snprintf(buf, TEXT_NUMBER_MAX, share < 0.0995 ? "%.2g %%" : "%.0f %%", 100 * share);
    return buf;
}

static void show_progress(void *user, const struct exact_progress *p)
{
    char text[160], points[TEXT_NUMBER_MAX], front[TEXT_NUMBER_MAX], gap[TEXT_NUMBER_MAX], time[32];
    snprintf(text, sizeof text, "of %s points are decided; front %s, gap %s; %s", text_about_count(points, p->points),
             text_count(front, p->front), percent(gap, p->epsilon), progress_duration(time, p->seconds));
    progress_show(user, p->closed / p->points, text, p->seconds);
}

static uint64_t closed_boxes(const struct certificate *c)
{
    uint64_t sum = 0;
    for (int e = 0; e < BOX_END_COUNT; e++)
        if (e != BOX_OPEN) sum += c->boxes[e];
    return sum;
}

/* What the certificate is about, in words. */
static void say_certainty(const struct sweep_file *s, const struct certified_result *r)
{
    const struct certificate *c = &r->certificate;
    char gap[TEXT_NUMBER_MAX], left[TEXT_NUMBER_MAX], open[TEXT_NUMBER_MAX];
    if (c->complete && r->front == 0 && s->budget.n) {
        terminal_say(stderr,
                     "%s: certain: no feasible point of this lattice is known to stay within the quality budget; [quality] trust = "
                     "\"unknown\" keeps points whose loss nobody measured",
                     s->name);
        return;
    }
    if (c->complete) {
        terminal_say(
            stderr,
            "%s: certain: in closed form no point of this lattice is missing from the front; of points with the same objectives "
            "(to %g) one has a row",
            s->name, c->tolerance);
        return;
    }
    terminal_say(stderr,
                 "%s: the search is not finished (%s boxes are open): a missing point is better than a row by at most %s%s%s%s",
                 s->name, text_count(open, c->boxes[BOX_OPEN]), percent(gap, c->epsilon),
                 isnan(c->hypervolume_left) ? "" : ", and missing points add to the hypervolume at most ",
                 isnan(c->hypervolume_left) ? "" : percent(left, c->hypervolume_left),
                 isfinite(c->epsilon) ? "" : "; some boxes have no bound yet");
}

static void say_result(const struct sweep_file *s, const struct certified_result *r, const char *db)
{
    const struct certificate *c = &r->certificate;
    char points[TEXT_NUMBER_MAX], front[TEXT_NUMBER_MAX], boxes[TEXT_NUMBER_MAX], bounds[TEXT_NUMBER_MAX],
        evaluated[TEXT_NUMBER_MAX];
    if (r->was_complete) {
        terminal_say(stderr, "%s: %s has the exact front already (run %lld); --fresh searches again", s->name, db,
                     (long long)r->run);
        return;
    }
    terminal_say(stderr,
                 "%s: %s of %s points in %.2f s on %d thread%s: %s rows; %s boxes closed, %s bounded, %s points evaluated; "
                 "database %s",
                 s->name, c->complete ? "the exact front" : "a front", text_about_count(points, r->points), c->seconds, c->threads,
                 c->threads == 1 ? "" : "s", text_count(front, r->front), text_count(boxes, closed_boxes(c)),
                 text_count(bounds, r->bounds), text_count(evaluated, c->evaluations), db);
    say_certainty(s, r);
}

/* ---- the command ----------------------------------------------------------------------------------------------------------- */

static bool show(const struct invocation *in, const struct sweep_file *s, const struct catalog *catalog, const char *db,
                 const struct certified_result *r)
{
    const bool quiet = option_has(in, "quiet");
    if (!quiet) say_result(s, r, db);
    struct front_request front = {.db = db, .run = r->run, .limit = sweep_front_rows(), .pick = true, .summary = !quiet};
    const bool ok = front_table_print(&front, in->diags);
    return (option_has(in, "no-figures") || sweep_draw_figures(s, catalog, db, true, quiet, in->diags)) && ok;
}

static int run_front(const struct invocation *in, const struct sweep_file *s, const struct catalog *catalog)
{
    char *db = sweep_database_path(in, s, "");
    if (!db) return 1;
    struct progress bar;
    progress_init(&bar, stderr, s->name);
    struct certified_options options = {.db = db,
                                        .threads = (int)option_integer(in, "jobs", 1, 1024, 0),
                                        .seconds = read_budget(in),
                                        .fresh = option_has(in, "fresh"),
                                        .boxes = option_has(in, "certificate"),
                                        .interrupt = interrupt_catch(),
                                        .progress = option_has(in, "quiet") ? NULL : show_progress,
                                        .user = &bar};
    struct certified_result result;
    const bool ok = in->diags->errors == 0 && certified_run(s, &options, &result, in->diags);
    progress_clear(&bar);
    int status = 1;
    if (ok && show(in, s, catalog, db, &result)) status = result.interrupted ? INTERRUPTED_STATUS : 0;
    free(db);
    return status;
}

static int run(const struct invocation *in)
{
    struct catalog *catalog = open_catalog(in);
    struct sweep_file *s = catalog ? sweep_open_file(in, catalog) : NULL;
    const int status = s ? run_front(in, s, catalog) : 2;
    sweep_file_free(s);
    catalog_free(catalog);
    return status;
}

const struct command command_front = {
    .name = "front",
    .operands = "FILE.toml",
    .summary = "find the exact front of a sweep without evaluating every point, with a certificate",
    .options =
        (const struct option_row[]){
            {'o', "output", "DB", "the database (default: results/<sweep name>.db)"},
            {'j', "jobs", "N", "number of threads (default: one for each core)"},
            {0, "budget", "TIME", "stop after 60s, 5min or 2h, with the front so far and how much it can miss"},
            {0, "certificate", NULL, "store every box of parameters that was closed, for dse check-front"},
            {0, "fresh", NULL, "search again even if the front is there"},
            {0, "no-figures", NULL, "do not draw the sweep's figures"},
            OPTION_CATALOG,
            {'q', "quiet", NULL, "no progress and no summary"},
            {0},
        },
    .help = "A sweep evaluates every point; `dse front` evaluates few. For a box of parameter values a model gives a lower\n"
            "and an upper bound of each metric. If the best values that a box can hold are no better than a known point, dse\n"
            "closes the box. In the end the remaining points are the front. The front is exact for the closed form on this\n"
            "lattice of points. Of points with the same objectives (to 1e-9) it has one row. docs/explanation/exact-fronts.md\n"
            "explains the search and the certificate.\n"
            "\n"
            "FILE.toml is a sweep file. [params] may span any number of points, but each objective needs a bound in every\n"
            "model. Ctrl-C ends the search, as --budget does: with the front so far and how much it can still miss. The rows\n"
            "are stored as those of a sweep, so dse pareto, query, report and figures can read them.\n"
            "\n"
            "  dse front sweeps/lad_trillion.toml\n"
            "  dse front sweeps/lad_trillion.toml --certificate -o lad.db && dse check-front lad.db\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
