/* What `dse sweep` and `dse front` begin and end with: the file that is read, the database, figures. */
#ifndef DSE_CLI_SWEEP_ENDS_H
#define DSE_CLI_SWEEP_ENDS_H

#include "command/command.h"
#include "config/sweep_file.h"

/* The sweep file that is the first operand; NULL with all its errors: those in expressions too. */
struct sweep_file *sweep_open_file(const struct invocation *in, struct catalog *catalog);
/* Warn of axes that move no metric of the closed form in any model that has them. Nothing is said of sweeps at event level, which
 * reads more. */
void sweep_warn_idle(const struct sweep_file *s, struct diags *diags);
/* The path of the database: what --output says, or results/NAME.db, with `part` behind the name. The caller frees it; NULL with
 * errors. */
char *sweep_database_path(const struct invocation *in, const struct sweep_file *s, const char *part);
/* Draw the sweep's figures beside the database. front_alone: it has the rows of a front and no others, so a figure may find none of
 * its own, and is left out. False with errors. */
bool sweep_draw_figures(const struct sweep_file *s, const struct catalog *catalog, const char *db, bool front_alone, bool quiet,
                        struct diags *diags);
/* Rows of the front that are printed at the end: as many as the screen has beside what else is said, and its headings. */
size_t sweep_front_rows(void);

#endif
