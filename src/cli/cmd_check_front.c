/* dse check-front: is the certificate of an exact front true? */
#include "base/threads.h"
#include "cli/catalog_files.h"
#include "cli/check_print.h"
#include "cli/interrupt.h"
#include "command/command.h"
#include "search/check_front.h"

#include <omp.h>

static int check_certificate(const struct invocation *in, enum output_format format, struct catalog *catalog)
{
    const int wanted = (int)option_integer(in, "jobs", 1, 1024, omp_get_num_procs());
    const struct front_check_options options = {.run = option_run(in),
                                                .threads = threads_available(wanted),
                                                .samples = (int)option_integer(in, "samples", 0, 1000000, FRONT_CHECK_SAMPLES),
                                                .interrupt = interrupt_catch()};
    if (in->diags->errors) return 2;
    struct check c;
    const bool ok = front_check(in->operands[0], &options, catalog, catalog_data_dir(), &c, in->diags);
    const int status = *options.interrupt ? INTERRUPTED_STATUS : ok && c.whole ? 0 : 1;
    if (ok) check_print(&c, format);
    if (ok && !c.whole) diags_runtime(in->diags, in->operands[0], "its certificate does not hold");
    check_release(&c);
    return status;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    if (!output_parse_format(in, &format)) return 2;
    struct catalog *catalog = open_catalog(in);
    const int status = catalog ? check_certificate(in, format, catalog) : 2;
    catalog_free(catalog);
    return status;
}

const struct command command_check_front = {
    .name = "check-front",
    .operands = "DB",
    .summary = "check the certificate of an exact front",
    .options =
        (const struct option_row[]){
            OPTION_RUN("the newest with a certificate"),
            {0, "samples", "N", "points to draw in each box, besides its corners (default: 2)"},
            {'j', "jobs", "N", "number of threads (default: one for each core)"},
            OPTION_CATALOG,
            OPTION_FORMAT,
            {0},
        },
    .help =
        "`dse front --certificate` stores each box of parameters that its search closed, and why. `dse check-front`\n"
        "computes everything again from the database and says what it found. Its code shares nothing with the search. The\n"
        "exit status is 1 if something is wrong. Nothing is written.\n"
        "\n"
        "  lattice  the sweep gives the same lattice of points, with the same versions of the models\n"
        "  front    each row is what its model gives, to the last bit, and no row is better than another of its front\n"
        "  counts   there are as many boxes as the certificate says (printed only if there are not)\n"
        "  cover    each point of the lattice is in exactly one box\n"
        "  boxes    the bounds of each box are computed again: its best possible point is no better than the row that it names, or "
        "none of\n"
        "           its points is feasible. Points drawn in the box are compared with the bounds. Points of evaluated boxes are "
        "evaluated\n"
        "           again\n"
        "\n"
        "docs/explanation/exact-fronts.md says what this check cannot prove.\n"
        "\n"
        "  dse front sweeps/lad_trillion.toml --certificate -o lad.db && dse check-front lad.db\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
