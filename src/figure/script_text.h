/* What a script for gnuplot is made of: quoted texts, numbers, paths and colours.
 *
 * gnuplot's parser never sees the text of a file or a database: script_add_string writes every character that could mean something
 * to gnuplot (or to the shell it would call) as an octal escape inside a quoted string, and enhanced text is switched off. The text
 * of a tick alone is read once more, as the format of a number: script_add_tick.
 */
#ifndef DSE_FIGURE_SCRIPT_TEXT_H
#define DSE_FIGURE_SCRIPT_TEXT_H

#include "base/text.h"
#include "figure/spec.h"

enum format { FORMAT_PNG, FORMAT_SVG, FORMAT_PDF, FORMAT_TEXT };

/* What a picture is drawn on. */
struct canvas {
    enum format format;
    int columns, rows; /* of FORMAT_TEXT, in characters; the other formats take their size from the figure */
    /* For a script that is kept: the file that holds its points, and the path that the picture's name is made of. NULL: all of it
     * is inline. */
    const char *data_path, *picture_path;
};

/* The colours of a style, as "#RRGGBB". */
struct palette {
    const char *background, *ink, *border, *faint, *grid;
};
const struct palette *script_palette(const struct figure *f);
/* The background as 0xRRGGBB. */
uint32_t script_background(const struct figure *f);

/* Add a quoted string. Bytes that are not UTF-8 become U+FFFD, and control characters other than a newline become spaces. */
void script_add_string(struct text *t, const char *s);
/* The same for a text that must stay on one line: newlines become spaces, too. */
void script_add_line(struct text *t, const char *s);
/* The same as script_add_string for the text of a tick, which gnuplot takes for the format of a number where it has a percent
 * sign. It shows SCRIPT_FORMAT_MAX bytes of such a text at most, and all of any other. */
enum { SCRIPT_FORMAT_MAX = 49 };
void script_add_tick(struct text *t, const char *s);
/* Add the name of a file. A relative path is written with "./" in front, since gnuplot runs names that begin with '|' or '<' as
 * commands and takes '-' and '+' for its own streams. */
void script_add_path(struct text *t, const char *path);
/* Add some words and a number behind them: " dx=" 0.25. */
void script_add_number(struct text *t, const char *words, double v);

#endif
