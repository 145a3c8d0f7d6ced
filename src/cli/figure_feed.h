/* What a figure is drawn from: a database, the sweep that makes it when it is missing, and the computed tables. */
#ifndef DSE_CLI_FIGURE_FEED_H
#define DSE_CLI_FIGURE_FEED_H

#include "command/command.h"
#include "figure/figure.h"
#include "tables/tables.h"

/* The options of how to draw, shared by the commands that do: given to a figure. False with a usage error. */
#define OPTIONS_FIGURE \
    {0, "size", "single|double|slide", "one column of a paper (85 mm), both columns, or a slide (default: the file's)"}, \
        {0, "style", "light|dark", "colours for paper or for a dark slide (default: the file's)"}, \
    { \
        0, "dpi", "N", "dots per inch of a PNG, 72 to 1200 (default: the file's, else 300)" \
    }
bool figure_options(const struct invocation *in, struct figure *f);
/* The path of a figure's picture, which stands beside the database: "results/NAME.png". The caller frees it. */
char *figure_picture_path(const char *db, const char *figure, const char *ending);

/* An open source of rows, for one thread. */
struct figure_feed {
    struct tables *tables;
    struct reader *reader;
};
/* *f is zero, or was opened before: then it turns to another database, and what was computed for its tables stays. db NULL: the
 * computed tables alone. False with errors; close it whatever comes back. */
bool figure_feed_open(struct figure_feed *f, const char *db, const struct catalog *catalog, struct diags *diags);
void figure_feed_close(struct figure_feed *f);
/* Write the rows of the figure's query to a file as CSV. */
bool figure_feed_write_data(struct figure_feed *feed, const struct figure *f, const char *path, struct diags *diags);
/* Say how to name a database, in errors about a missing table that were added since `from` to a figure drawn without one. */
void figure_feed_hint(const char *figure_path, const char *db, struct diags *diags, size_t from);

/* The database of the figure's sweep in directory `dir`: DIR/NAME.db. When there is none the sweep is run, from sweeps/NAME.toml
 * beside the figure's directory, in the current one, or among those that come with dse. *ret: freed by the caller; NULL for a
 * figure that no sweep feeds. False with errors. */
bool figure_feed_database(const char *figure_path, const struct figure *f, const char *dir, bool quiet, char **ret,
                          struct diags *diags);

#endif
