/* The terminal: how wide it is, whether it wants colour, and the pager before it. */
#ifndef DSE_COMMAND_TERMINAL_H
#define DSE_COMMAND_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Characters in a line of the terminal that f is, or that the pager shows what is written to f on; 0: lines may be as long as
 * they like, as in a file, or with --wide. $COLUMNS wins over what the terminal says. */
size_t terminal_width(FILE *f);
/* The same with --wide, too: for what is drawn over. 0: no terminal. */
size_t terminal_columns(FILE *f);
/* The height of that terminal in lines; 0 when it is no terminal. */
size_t terminal_height(FILE *f);
/* Does this stream want colour? A terminal, unless NO_COLOR is set. */
bool wants_colour(FILE *f);

/* What the options --wide and --no-pager ask for. */
void terminal_set_wide(void);
void terminal_set_no_pager(void);

/* Print, in lines as wide as the terminal that f is; lines after the first are indented by two spaces more. */
void terminal_say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* From here on a terminal's stdout goes through a pager, as git has it: the command $DSE_PAGER, else $PAGER, else less -FRX;
 * empty or "cat": none. So does stderr. Before the first output, after all long work. Does nothing the second time. */
void pager_start(void);
/* Wait for its end. False: it ended before it had read all, which is no error. */
bool pager_finish(void);

#endif
