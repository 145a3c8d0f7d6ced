/* Diagnostics as values: what went wrong, where, and what is allowed.
 *
 * Every function that can fail takes a struct diags * as its last parameter, adds to it and returns false; the library never
 * prints and never exits. A reader of files goes on after an error and collects all of them. main.c prints the list once:
 *
 *     sweeps/tiles.toml:14:16: error: tiles: 0 is below the minimum 1
 *        14 | tiles    = [2, 0, 4]
 *           |                ^
 *       tiles: LAD tiles sharing the HBM; 1 to 64, default 6
 *
 * Life cycle: diags_init, any number of diags_add*, diags_release.
 */
#ifndef DSE_BASE_DIAG_H
#define DSE_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum diag_severity { DIAG_ERROR, DIAG_WARNING, DIAG_NOTE };

/* What kind of wrong it is, which decides the exit status. */
enum diag_class {
    DIAG_INPUT,   /* the user's file or arguments: exit 2 */
    DIAG_RUNTIME, /* disk, database, gnuplot: exit 1 */
};

/* A place in a file, or on the command line (file NULL, line 0). line and column count from 1, columns in characters; 0 is unknown.
 */
struct srcloc {
    const char *file; /* borrowed; a diag has a copy */
    int line, column;
};

struct diag {
    enum diag_severity severity;
    enum diag_class kind;
    char *file; /* or NULL */
    int line, column;
    char *message;     /* "tiles: 0 is below the minimum 1" */
    char *hint;        /* what is allowed; or NULL */
    char *source;      /* the source line, without its newline, or what is near the column of a long one; or NULL */
    int source_column; /* where `column` is in `source` */
};

/* At most DIAGS_MAX are kept; later errors are only counted. */
struct diags {
    struct diag *list;
    size_t n, capacity;
    size_t errors; /* how many of severity DIAG_ERROR there were */
};
enum { DIAGS_MAX = 100, DIAG_TEXT_MAX = 2000 /* bytes of a message and of a hint: of longer ones the middle is left out */ };

void diags_init(struct diags *d);
void diags_release(struct diags *d);

/* Add an error of the user's input. source_text is the whole text of the file (to quote the line from), or NULL. hint may be
 * NULL. Always returns false, so that `return diags_input(...)` reads well. */
bool diags_input(struct diags *d, struct srcloc loc, const char *source_text, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Add an error at run time, about `file` (or NULL). Always returns false. */
bool diags_runtime(struct diags *d, const char *file, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Add a warning about `file` (or NULL). */
void diags_warn(struct diags *d, struct srcloc loc, const char *source_text, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Add a note likewise: what was done with an input that is right. */
void diags_note(struct diags *d, struct srcloc loc, const char *source_text, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Move all diagnostics of `from` to `to`, which leaves `from` empty. Those that say the same of the same place as one in `to` are
 * dropped. */
void diags_move(struct diags *to, struct diags *from);

/* Quote the diagnostic's line from `text`, which is the whole file; of a long line only what is near the column. This is for an
 * error that was added where the text was not known, and replaces what it quotes. */
void diag_quote(struct diag *g, const char *text);

/* Exit status that the worst of the list asks for: 0 no errors, 1 run time, 2 input. */
int diags_exit_status(const struct diags *d);
/* Print the whole list: files in the order of their first complaints, in each by line and column; with colour when asked. */
void diags_print(const struct diags *d, FILE *out, bool colour);

#endif
