/* A scene as commands for gnuplot, with its points inline in binary. */
#ifndef DSE_FIGURE_SCRIPT_H
#define DSE_FIGURE_SCRIPT_H

#include "figure/kinds.h"
#include "figure/script_text.h"

/* How many labelled ticks fit on an axis. */
int script_ticks_x(const struct figure *f, const struct canvas *c);
int script_ticks_y(const struct figure *f, const struct canvas *c);
/* The whole input of gnuplot, which writes the picture to its standard output. Commands go to `ret` and points to `data`, which may
 * be the same text. The scene's axes are fitted already; its clouds may be thinned further. */
void script_write(struct text *ret, struct text *data, struct scene *s, const struct canvas *c);
#endif
