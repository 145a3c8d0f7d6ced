/* Figures: a TOML file with an SQL query and how to draw its rows, rendered by gnuplot through a pipe.
 *
 * See docs/reference/figure-file.md for the keys. Axis labels come from column_info unless the file gives them. Large clouds are
 * thinned to what the picture can show; the front is always drawn whole, on top.
 */
#ifndef DSE_FIGURE_FIGURE_H
#define DSE_FIGURE_FIGURE_H

#include "store/query.h"

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

/* What a figure file leaves to who draws it. Sizes: "single" (a column of a paper, 85 mm), "double" (178 mm), "slide" (16:9,
 * larger letters): the names are closed by NULL. Styles: "light", "dark". False when there is none of that name. */
extern const char *const figure_sizes[], *const figure_styles[];
bool figure_set_size(struct figure *f, const char *size);
bool figure_set_style(struct figure *f, const char *style);
void figure_set_dpi(struct figure *f, double dpi); /* 72 to 1200 */
/* Names of its LLMs become their titles; the catalog is borrowed. Without: names. */
struct catalog;
void figure_set_catalog(struct figure *f, const struct catalog *c);
/* The SQL query of the figure's rows. */
const char *figure_sql(const struct figure *f);

/* Write gnuplot's commands to `out`, to be edited, and its points in binary to `out`.dat. `gnuplot OUT` draws the picture into
 * OUT.pdf. Errors as of figure_render. */
bool figure_write_script(const struct figure *f, struct reader *r, const char *out, struct diags *diags);

/* Draw what the queries read through `r` into out, whose ending (.png, .svg, .pdf) names the format. The file appears only when
 * it is complete (written beside, then renamed). Errors: query fails (SQLite's message, at the figure file's line), no rows, a
 * missing column, gnuplot not on the PATH or failing (its stderr is in the message), an output that cannot be written. */
bool figure_render(const struct figure *f, struct reader *r, const char *out, struct diags *diags);
/* Draw the figure with `width` x `height` characters onto `out`. */
bool figure_render_terminal(const struct figure *f, struct reader *r, int width, int height, FILE *out, struct diags *diags);

#endif
