/* dse query: SQL over a database of results. */
#include "cli/catalog_files.h"
#include "cli/query_print.h"
#include "command/command.h"
#include "command/output.h"
#include "tables/tables.h"

#include <string.h>

static int run(const struct invocation *in)
{
    enum output_format format;
    const long long run = option_run(in), steps = option_integer(in, "steps", 1, INT64_MAX, 0);
    if (!output_parse_format(in, &format) || in->diags->errors) return 2;
    const char *db = strcmp(in->operands[0], ":memory:") == 0 ? NULL : in->operands[0];
    struct reader *r = reader_open(db, in->diags);
    if (!r) return 1;
    if (steps) reader_set_patience(r, (uint64_t)steps);
    struct catalog *catalog = open_catalog(in);
    struct tables *tables = tables_new(catalog);
    struct query *q = NULL;
    bool ok = catalog && tables_attach(tables, r, in->diags) && (!run || reader_show_run(r, run, in->diags));
    if (ok) q = query_new(r, in->operands[1], (struct srcloc){0}, in->diags);
    if (q) pager_start();
    ok = q && query_print(q, format, stdout, in->diags);
    query_free(q);
    reader_close(r);
    tables_free(tables);
    catalog_free(catalog);
    return ok ? 0 : 1;
}

const struct command command_query = {
    .name = "query",
    .operands = "DB SQL",
    .summary = "query a database in SQL",
    .options = (const struct option_row[]){OPTION_RUN("the newest of each sweep"),
                                           {0, "steps", "N",
                                            "give up after N steps of SQLite without a row (default: some minutes of work)"},
                                           OPTION_FORMAT,
                                           OPTION_CATALOG,
                                           {0}},
    .help = "dse opens the database for reading only. Each model has a view of its name, with every parameter and metric. The\n"
            "view shows the newest run of each sweep, or with -r one run. MODEL_front has the rows of the front. column_info\n"
            "explains every column.\n"
            "\n"
            "  dse query results/lad_sram.db 'select tiles, max(tokens_per_s) from lad where context = 4096 group by tiles'\n"
            "  dse query results/lad_sram.db 'select reason, count(*) from lad group by reason'\n"
            "  dse query results/lad_sram.db 'select id, sweep, status, started from run'\n"
            "  dse query results/lad_sram.db -r 1 'select count(*) from lad_front'\n",
    .min_operands = 2,
    .max_operands = 2,
    .run = run,
};
