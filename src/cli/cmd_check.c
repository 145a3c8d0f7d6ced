/* dse check: is a database whole? */
#include "cli/check_print.h"
#include "command/command.h"
#include "store/check.h"

static int run(const struct invocation *in)
{
    enum output_format format;
    struct check c;
    if (!output_parse_format(in, &format)) return 2;
    bool ok = store_check(in->operands[0], &c, in->diags);
    if (ok) check_print(&c, format);
    if (ok && !c.whole) diags_runtime(in->diags, in->operands[0], "is not what dse wrote");
    ok = ok && c.whole;
    check_release(&c);
    return ok ? 0 : 1;
}

const struct command command_check = {
    .name = "check",
    .operands = "DB",
    .summary = "check a database for damage",
    .options = (const struct option_row[]){OPTION_FORMAT, {0}},
    .help =
        "Every command that reads a database first makes a quick check, and refuses a damaged one. `dse check` checks\n"
        "everything and says what it found. The exit status is 1 if something is wrong. Nothing is written.\n"
        "\n"
        "  seal     every byte is as dse left it, by the hash that dse stored; after a kill, or when another program wrote to the "
        "file,\n"
        "           there is no hash, and the other checks replace it\n"
        "  size     the file is as long as its header says\n"
        "  pages    SQLite's integrity_check finds nothing\n"
        "  rows     each run has as many rows of each model as its record and its blocks count\n"
        "  points   each row has the id of its point and belongs to a run\n"
        "  values   status and reason fit together, and each value has the type of its column\n"
        "  blocks   the finished blocks do not overlap, lie inside their space, and cover all of it in a finished run\n"
        "  fronts   each point on a front has a feasible row\n"
        "  columns  each column is described in column_info\n"
        "  views    the views are those of this dse, which reads through views of its own in any case\n"
        "  digests  all values of a run are those that dse stored: rows, parameters, record, front, descriptions, certificate\n"
        "\n"
        "The program sqlite3 can save the rest of a damaged file: sqlite3 DB .recover. If a run lost rows, run its sweep\n"
        "again with --fresh.\n"
        "\n"
        "  dse check results/lad_sram.db\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
