/* dse diff: what changed between two runs, and why. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/diff_print.h"
#include "cli/diff_with.h"
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

enum { SAME, DIFFERS, FAILED };

/* --rel 1e-6, --rel energy_mj=0.01. The names are owned by the list. */
static bool read_tolerances(const struct invocation *in, struct diff_tolerance **ret, size_t *ret_n)
{
    const char **given = option_all(in, "rel", ret_n);
    *ret = xcalloc(*ret_n + 1, sizeof **ret);
    size_t at = 0;
    bool ok = true;
    for (int with_column = 0; with_column < 2; with_column++) /* those of a column win: they come last */
        for (size_t i = 0; ok && i < *ret_n; i++) {
            const char *equals = strrchr(given[i], '=');
            double rel;
            if (!text_parse_f64(equals ? equals + 1 : given[i], &rel) || !(rel >= 0) || equals == given[i]) {
                usage_error(in, "--rel: \"%s\" is neither a tolerance (1e-6) nor COLUMN=TOLERANCE", given[i]);
                ok = false;
            } else if (!equals == !with_column) {
                (*ret)[at++] = (struct diff_tolerance){equals ? xstrndup(given[i], (size_t)(equals - given[i])) : NULL, rel};
            }
        }
    free(given);
    return ok;
}

static bool read_table(const struct invocation *in, enum output_format format, int *ret)
{
    const char *show = option_get(in, "show");
    *ret = format == OUTPUT_CSV ? DIFF_TABLE_COLUMNS : -1;
    if (!show) return true;
    for (int i = 0; i < DIFF_TABLES; i++)
        if (strcmp(show, diff_table_names[i]) == 0) *ret = i;
    if (*ret >= 0 && strcmp(show, diff_table_names[*ret]) == 0) return true;
    usage_unknown(in, "unknown table", show, diff_table_names, DIFF_TABLES, ": columns, front, why or rows");
    return false;
}

static bool print(const struct invocation *in, const struct diff *d, enum output_format format, int table)
{
    enum { PEOPLE_LIMIT = 10 };
    const size_t limit = (size_t)option_integer(in, "limit", 1, 1LL << 40, format == OUTPUT_TABLE && table < 0 ? PEOPLE_LIMIT : 0);
    if (in->diags->errors) return false;
    pager_start();
    if (table >= 0) return diff_print_table(d, (enum diff_table)table, format, limit, in->diags);
    return format == OUTPUT_JSON ? diff_print_json(d, limit, in->diags) : diff_print(d, limit, in->diags);
}

/* Those of --with are gone when the runs are compared: what is printed is read from files that are open. */
static bool read_runs(const struct invocation *in, struct with_runs *runs, struct diff *d, const struct diff_options *options)
{
    const char *other = option_get(in, "with");
    bool ok = !other || with_runs_make(runs, in->operands[0], other, in->diags);
    ok = ok && diff_open(d, 0, other ? runs->db[0] : in->operands[0], in->diags) &&
         diff_open(d, 1, other ? runs->db[1] : in->operands[1], in->diags) && diff_run(d, options, in->diags);
    with_runs_release(runs);
    return ok;
}

static int compare(const struct invocation *in, struct diff_options *options)
{
    enum { CAUSES_ROWS = 1000 };
    struct diff d = {0};
    enum output_format format;
    int table;
    size_t n_catalogs;
    const char **catalogs = option_all(in, "catalog", &n_catalogs);
    options->catalogs = catalogs;
    options->n_catalogs = n_catalogs;
    options->model = option_get(in, "model");
    options->sample = (size_t)option_integer(in, "causes", 0, 1LL << 32, CAUSES_ROWS);
    bool ok = output_parse_format(in, &format) && read_table(in, format, &table) && in->diags->errors == 0;
    struct with_runs runs = {0};
    ok = ok && read_runs(in, &runs, &d, options);
    ok = ok && print(in, &d, format, table);
    const int status = !ok ? FAILED : diff_is_any(&d) ? DIFFERS : SAME;
    free(catalogs);
    diff_release(&d);
    return status;
}

static int run(const struct invocation *in)
{
    const char *other = option_get(in, "with");
    struct diff_options options = {0};
    struct diff_tolerance *tolerances = NULL;
    int status = FAILED;
    if ((in->n_operands == 1) == !other)
        usage_error(in, other ? "--with compares one sweep or database with what another dse makes of it"
                              : "two databases are needed: dse diff A.db B.db, or one and --with OTHER_DSE");
    else if (read_tolerances(in, &tolerances, &options.n_tolerances)) {
        options.tolerances = tolerances;
        status = compare(in, &options);
    }
    for (size_t i = 0; tolerances && i < options.n_tolerances; i++) free(tolerances[i].column);
    free(tolerances);
    return status;
}

const struct command command_diff = {
    .name = "diff",
    .operands = "A.db[:RUN] [B.db[:RUN]]",
    .summary = "compare two runs: what changed, and was it code, constant, catalog or sweep?",
    .options =
        (const struct option_row[]){
            {0, "rel", "TOLERANCE",
             "ignore changes of at most this share of a value (default: 0); COLUMN=TOLERANCE for one column; any number of times"},
            {'m', "model", "MODEL", "only this model"},
            {0, "with", "OTHER_DSE",
             "run the sweep of A, or a sweep file given as A, with another dse and compare with the result"},
            {0, "causes", "N", "evaluate at most N changed rows again to find the cause; 0: none (default: 1000)"},
            {0, "show", "TABLE", "print one table only: columns, front, why or rows"},
            {'n', "limit", "N", "print at most N lost and gained designs, or changed rows"},
            OPTION_CATALOG,
            OPTION_FORMAT,
            {0},
        },
    .help = "Rows are matched by the parameters that either sweep varies. Then all other columns are compared, and so are the\n"
            "fronts. To find the cause, this dse evaluates changed rows again and swaps one group of inputs at a time. A\n"
            "change that no input explains comes from the code.\n"
            "\n"
            "  dse diff old.db new.db\n"
            "  dse diff results/lad_sram.db:1 results/lad_sram.db:2\n"
            "  dse diff old.db new.db --rel 1e-9 --rel power_w=0.01 --format json\n"
            "  dse diff sweeps/lad_sram.toml --with ./dse-0.1.0\n"
            "\n"
            "Exit status: 0 nothing changed, 1 something did, 2 bad usage, bad input or a failure.\n",
    .min_operands = 1,
    .max_operands = 2,
    .failure = FAILED,
    .run = run,
};
