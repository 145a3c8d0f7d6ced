/* dse plot: a figure file and a database in; a picture out. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/figure_feed.h"
#include "cli/front_table.h"
#include "command/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The size of the terminal on stdout, or 100 x 30. */
static void terminal_size(int *ret_width, int *ret_height)
{
    struct winsize w;
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 && w.ws_row > 10;
    *ret_width = known ? w.ws_col : 100;
    *ret_height = known ? w.ws_row - 2 : 30;
}

/* Draw from the database named, or that of the figure's sweep, or from the computed tables alone. */
static bool draw(const struct invocation *in, const struct figure *f, const char *db, const struct catalog *catalog)
{
    struct figure_feed feed = {0};
    size_t before = in->diags->n;
    const long long run = option_run(in);
    bool ok = figure_feed_open(&feed, db, catalog, in->diags) && (!run || reader_show_run(feed.reader, run, in->diags));
    if (ok && option_has(in, "terminal")) {
        int width, height;
        terminal_size(&width, &height);
        ok = figure_render_terminal(f, feed.reader, width, height, stdout, in->diags);
    } else if (ok) {
        const char *given = option_get(in, "output");
        char *out = given ? xstrdup(given) : figure_picture_path(db ? db : "results/", figure_name(f), "png");
        if (!given && !db && mkdir("results", 0777) != 0 && errno != EEXIST)
            ok = diags_runtime(in->diags, "results", "cannot make the directory: %s", strerror(errno));
        ok = ok && figure_render(f, feed.reader, out, in->diags);
        if (ok) terminal_say(stderr, "dse: figure %s", out);
        free(out);
    }
    if (ok && option_get(in, "gnuplot-script"))
        ok = figure_write_script(f, feed.reader, option_get(in, "gnuplot-script"), in->diags);
    if (ok && option_get(in, "data")) ok = figure_feed_write_data(&feed, f, option_get(in, "data"), in->diags);
    figure_feed_close(&feed);
    figure_feed_hint(in->operands[0], db, in->diags, before);
    return ok;
}

static int run(const struct invocation *in)
{
    option_run(in); /* what is wrong with it is told before a sweep is run */
    struct figure *f = in->diags->errors ? NULL : figure_read(in->operands[0], in->diags);
    struct catalog *catalog = f && figure_options(in, f) ? open_catalog(in) : NULL;
    int status = 2;
    if (catalog) {
        figure_set_catalog(f, catalog);
        char *db = NULL;
        bool ok = true;
        if (in->n_operands > 1)
            db = xstrdup(in->operands[1]);
        else
            ok = figure_feed_database(in->operands[0], f, "results", false, &db, in->diags);
        status = ok && draw(in, f, db, catalog) ? 0 : 1;
        free(db);
    }
    catalog_free(catalog);
    figure_free(f);
    return status;
}

const struct command command_plot = {
    .name = "plot",
    .operands = "FIGURE.toml [DB]",
    .summary = "draw a figure, and run its sweep if there is no database",
    .options =
        (const struct option_row[]){
            {'o', "output", "FILE", "the picture: .png, .svg or .pdf (default: a .png beside the database, or in results)"},
            {'t', "terminal", NULL, "draw into the terminal"},
            OPTION_RUN("the newest of each sweep"),
            OPTIONS_FIGURE,
            {0, "gnuplot-script", "FILE", "write the gnuplot commands for you to edit, and their points to FILE.dat"},
            {0, "data", "FILE", "write the rows of the figure's query as CSV"},
            OPTION_CATALOG,
            {0},
        },
    .help = "A figure file holds an SQL query and says how to draw its rows: docs/reference/figure-file.md. `dse list\n"
            "figures` shows the figures that come with dse. Without DB dse reads results/SWEEP.db of the figure's sweep. If\n"
            "this database is missing, dse runs the sweep first. A figure that names no sweep is drawn from computed tables\n"
            "(docs/reference/tables.md).\n"
            "\n"
            "  dse plot plots/lad_sram_pareto.toml -o front.pdf\n"
            "  dse plot plots/lad_hbm.toml results/lad_hbm.db --terminal\n",
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
