/* A scene as commands for gnuplot, its points inline in binary.
 *
 * No text of a file or a database is ever seen by gnuplot's parser: script_add_string writes every character that could mean
 * something to gnuplot (or to the shell it would call) as an octal escape inside of a quoted string, and enhanced text is
 * switched off.
 */
#ifndef DSE_FIGURE_SCRIPT_H
#define DSE_FIGURE_SCRIPT_H

#include "base/text.h"
#include "figure/kinds.h"

enum format { FORMAT_PNG, FORMAT_SVG, FORMAT_PDF, FORMAT_TEXT };

struct canvas {
    enum format format;
    int columns, rows; /* FORMAT_TEXT: characters; the others take their size from the figure */
    /* A script to be kept: where its points are, and the path that the picture's is made of. NULL: all inline. */
    const char *data_path, *picture_path;
};

/* The colours of a style, as "#RRGGBB". */
struct palette {
    const char *background, *ink, *border, *faint, *grid;
};
const struct palette *script_palette(const struct figure *f);
/* 0xRRGGBB of the background. */
uint32_t script_background(const struct figure *f);

/* Labelled ticks that fit on an axis. */
int script_ticks_x(const struct figure *f, const struct canvas *c);
int script_ticks_y(const struct figure *f, const struct canvas *c);
/* The whole input of gnuplot: commands to `ret`, points to `data`, which may be the same; the picture comes out of its standard
 * output. The scene's axes are fitted. Its clouds may be thinned further. */
void script_write(struct text *ret, struct text *data, struct scene *s, const struct canvas *c);
/* A quoted string. Bytes that are not UTF-8 become U+FFFD, control characters other than a newline a space. */
void script_add_string(struct text *t, const char *s);

/* The same for what must stay on one line: a newline is a space too. */
void script_add_line(struct text *t, const char *s);
/* A file. gnuplot runs what begins with '|' or '<' and takes '-' and '+' for no file: a relative path begins with "./". */
void script_add_path(struct text *t, const char *path);
/* A number behind its words: " dx=" 0.25. */
void script_add_number(struct text *t, const char *words, double v);

#endif
