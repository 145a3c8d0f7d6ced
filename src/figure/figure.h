/* Figures: a TOML file with an SQL query and how to draw its rows, rendered by gnuplot through a pipe.
 *
 * See docs/figures.md for the keys. Axis labels come from column_info unless the file gives them. Large clouds are thinned to what the
 * picture can show; the front is always drawn whole, on top.
 */
#ifndef DSE_FIGURE_FIGURE_H
#define DSE_FIGURE_FIGURE_H

#include "base/diag.h"

#include <stdio.h>

struct figure;

/* Read and check a figure file; all errors at once. NULL with errors. Free with figure_free. */
struct figure *figure_read(const char *path, struct diags *diags);
void figure_free(struct figure *f);
const char *figure_title(const struct figure *f);
/* Name of the sweep whose database feeds the figure unless another is named, or NULL. */
const char *figure_sweep(const struct figure *f);
/* Name of the figure: its file name without directory and ".toml". */
const char *figure_name(const struct figure *f);

/* Draw from database db into out, whose ending (.png, .svg, .pdf) names the format. The file appears only when it is complete (written
 * beside, then renamed). Errors: query fails (SQLite's message, at the figure file's line), no rows, a missing column, gnuplot not on the PATH or
 * failing (its stderr is in the message), an output that cannot be written. */
bool figure_render(const struct figure *f, const char *db, const char *out, struct diags *diags);
/* Draw with characters, `width` x `height`, onto `out`. */
bool figure_render_terminal(const struct figure *f, const char *db, int width, int height, FILE *out, struct diags *diags);

#endif
