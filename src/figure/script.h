/* A scene as commands for gnuplot, its points inline in binary.
 *
 * No text of a file or a database is ever seen by gnuplot's parser: script_add_string writes every character that could mean something to
 * gnuplot (or to the shell it would call) as an octal escape inside of a quoted string, and enhanced text is switched off.
 */
#ifndef DSE_FIGURE_SCRIPT_H
#define DSE_FIGURE_SCRIPT_H

#include "base/text.h"
#include "figure/kinds.h"

enum format { FORMAT_PNG, FORMAT_SVG, FORMAT_PDF, FORMAT_TEXT };

struct canvas {
    enum format format;
    int columns, rows; /* FORMAT_TEXT: characters; the others take their size from the figure */
};

/* Labelled ticks that fit on an axis. */
int script_ticks_x(const struct figure *f, const struct canvas *c);
int script_ticks_y(const struct figure *f, const struct canvas *c);
/* The whole input of gnuplot; the picture comes out of its standard output. The scene's axes are fitted. Its clouds may be thinned further. */
void script_write(struct text *ret, struct scene *s, const struct canvas *c);
/* A quoted string. Bytes that are not UTF-8 become U+FFFD, control characters other than a newline a space. */
void script_add_string(struct text *t, const char *s);

/* The same for what must stay on one line: a newline is a space too. */
void script_add_line(struct text *t, const char *s);
/* A number behind its words: " dx=" 0.25. */
void script_add_number(struct text *t, const char *words, double v);

#endif
