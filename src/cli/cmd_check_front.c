/* dse check-front: is the certificate of an exact front true? */
#include "base/threads.h"
#include "cli/check_print.h"
#include "cli/command.h"
#include "cli/interrupt.h"
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
    .summary = "is the certificate of an exact front true?",
    .options =
        (const struct option_row[]){
            OPTION_RUN("the newest with a certificate"),
            {0, "samples", "N", "points drawn in each box, besides its corners (default: 2)"},
            {'j', "jobs", "N", "threads (default: one a core)"},
            OPTION_CATALOG,
            OPTION_FORMAT,
            {0},
        },
    .help =
        "`dse front --certificate` stores each box that its search closed, and why. This makes everything anew from what is "
        "stored, with\n"
        "code that knows nothing of the search, and says what it found; the exit status is 1 when something is wrong. Nothing is "
        "written.\n\n"
        "  lattice  the sweep gives the same lattice, with the same versions of the models\n"
        "  front    each row is what its model gives, to the last bit, and no row is better than another of its front\n"
        "  counts   the boxes are as many as the certificate says (told when they are not)\n"
        "  cover    each point of the lattice is in one box\n"
        "  boxes    each box is bounded again: the best that it can hold is no better than the row that it names, or nothing in it"
        " is\n"
        "           feasible. Points are drawn in it and held against the bound. Points of boxes that were evaluated are evaluated"
        " again\n\n"
        "docs/explanation/exact-fronts.md says what is left to believe.\n\n"
        "  dse front sweeps/lad_trillion.toml --certificate -o lad.db && dse check-front lad.db\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
