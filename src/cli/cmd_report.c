/* dse report: a finished sweep as a page to explore. */
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/progress.h"
#include "command/command.h"
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* The path of the page: NAME.html beside NAME.db. The caller frees it. */
static char *page_path(const char *db)
{
    size_t n = strlen(db);
    if (n > 3 && strcmp(db + n - 3, ".db") == 0) n -= 3;
    return xasprintf("%.*s.html", (int)n, db);
}

static bool write_report(const struct invocation *in, struct catalog *catalog, const char *out)
{
    struct counting counting;
    struct report_options options = {
        .db = in->operands[0], .run = option_run(in), .catalog = catalog, .progress = counting_update, .user = &counting};
    const char **files = option_all(in, "catalog", &options.n_catalogs);
    options.catalogs = files;
    counting_init(&counting, "report", "");
    struct text said;
    text_init(&said);
    bool ok = report_write(&options, out, &said, in->diags);
    progress_clear(&counting.bar);
    if (ok) {
        fputs(said.s, stdout);
        terminal_say(stderr, "dse: report %s", out);
    }
    text_release(&said);
    free(files);
    return ok;
}

static int run(const struct invocation *in)
{
    option_run(in); /* the option's own errors first */
    if (in->diags->errors) return 2;
    struct catalog *catalog = open_catalog(in);
    if (!catalog) return 2;
    const char *given = option_get(in, "output");
    char *out = given ? xstrdup(given) : page_path(in->operands[0]);
    bool ok = write_report(in, catalog, out);
    free(out);
    catalog_free(catalog);
    return ok ? 0 : 1;
}

const struct command command_report = {
    .name = "report",
    .operands = "DB",
    .summary = "write a finished sweep as one page to explore and pass around",
    .options =
        (const struct option_row[]){
            {'o', "output", "FILE", "the page to write (default: DB with .html for .db)"},
            OPTION_RUN("the newest that is done"),
            OPTION_CATALOG,
            {0},
        },
    .help = "The page is one HTML file that needs no network. It shows the question and the front: a scatter of any two\n"
            "columns, parallel coordinates and a table, all linked. It shows how each parameter changes each objective, and\n"
            "where the time of a point goes. It says which model beats which at equal quality, and why points were\n"
            "infeasible. Each part has its SQL. dse prints the comparison at equal quality, too. docs/how-to/report.md\n"
            "explains the page.\n"
            "\n"
            "  dse report results/lad_sram.db\n"
            "  dse report results/lad_sram.db -o front.html\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
