/* dse plot: a figure file and a database in; a picture out. */
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/front_table.h"
#include "figure/figure.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* The size of the terminal on stdout, or 100 x 30. */
static void terminal_size(int *ret_width, int *ret_height)
{
    struct winsize w;
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 && w.ws_row > 10;
    *ret_width = known ? w.ws_col : 100;
    *ret_height = known ? w.ws_row - 2 : 30;
}

/* The database named, or that of the figure's sweep. NULL with an error; the caller frees it. */
static char *find_database(const struct invocation *in, const struct figure *f)
{
    if (in->n_operands > 1) return xstrdup(in->operands[1]);
    if (!figure_sweep(f)) {
        usage_error(in, "%s does not say which sweep feeds it: name the database", in->operands[0]);
        return NULL;
    }
    char *db = xasprintf("results/%s.db", figure_sweep(f));
    if (access(db, F_OK) == 0) return db;
    diags_runtime(in->diags, db, "is not there; `dse sweep sweeps/%s.toml` makes it", figure_sweep(f));
    free(db);
    return NULL;
}

static int run(const struct invocation *in)
{
    struct figure *f = figure_read(in->operands[0], in->diags);
    if (!f) return 2;
    char *db = find_database(in, f);
    bool ok = db != NULL;
    if (ok && option_has(in, "terminal")) {
        int width, height;
        terminal_size(&width, &height);
        ok = figure_render_terminal(f, db, width, height, stdout, in->diags);
    } else if (ok) {
        const char *given = option_get(in, "output");
        char *out = given ? xstrdup(given) : figure_path(db, figure_name(f), "png");
        ok = figure_render(f, db, out, in->diags);
        if (ok) fprintf(stderr, "dse: figure %s\n", out);
        free(out);
    }
    free(db);
    figure_free(f);
    return ok ? 0 : 1;
}

const struct command command_plot = {
    .name = "plot",
    .operands = "FIGURE.toml [DB]",
    .summary = "draw a figure from a database",
    .options =
        (const struct option_row[]){
            {'o', "output", "FILE", "the picture: .png, .svg or .pdf (default: a .png beside the database)"},
            {'t', "terminal", NULL, "draw into the terminal"},
            {0},
        },
    .help =
        "A figure file holds an SQL query and how to draw its rows: docs/figures.md. `dse list figures` shows those that come with dse.\n\n"
        "  dse plot plots/lad_sram_pareto.toml -o front.pdf\n"
        "  dse plot plots/lad_hbm.toml results/lad_hbm.db --terminal\n",
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
