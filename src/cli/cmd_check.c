/* dse check: is a database whole? */
#include "cli/check_print.h"
#include "cli/command.h"
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
    .summary = "is this database whole?",
    .options = (const struct option_row[]){OPTION_FORMAT, {0}},
    .help =
        "Every command that reads a database first looks whether it is damaged, as far as that is seen fast, and refuses one that "
        "is. This looks\n"
        "at everything and says what it found; the exit status is 1 when something is wrong. Nothing is written.\n\n"
        "  seal     every byte is as dse left it: the hash that it stored then. There is none after a kill, or when another program"
        " wrote\n"
        "           to the file; the other checks stand in for it\n"
        "  size     the file is as long as its header says\n"
        "  pages    SQLite's integrity_check\n"
        "  rows     each run has the rows of each model that its record and its blocks count\n"
        "  points   each row stands at the id of its point, and none is of no run\n"
        "  values   status and reason go together, numbers are numbers, names are names\n"
        "  blocks   the ranges that are done do not overlap, lie in their space, and are all of it in a run that is done\n"
        "  fronts   each point on a front has a feasible row\n"
        "  columns  each column is described in column_info\n"
        "  views    the views are those that this dse makes; it reads through its own in any case\n"
        "  digests  all values of a run are those that dse stored: rows, parameters, record, front, descriptions, certificate\n\n"
        "What can be saved of a damaged file the program sqlite3 knows: sqlite3 DB .recover. A run that lost rows is best run "
        "again with --fresh.\n\n"
        "  dse check results/lad_sram.db\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
