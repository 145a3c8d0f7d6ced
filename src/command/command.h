/* What a command is, and what it is called with. A command is a constant; cli/commands.c has the list. Options are declared once,
 * in the command's table: parsing and --help come from it. */
#ifndef DSE_COMMAND_COMMAND_H
#define DSE_COMMAND_COMMAND_H

#include "base/diag.h"
#include "command/terminal.h"

#include <stdbool.h>
#include <stddef.h>

struct option_row {
    char letter;          /* or 0 */
    const char *name;     /* long name, without dashes */
    const char *argument; /* "FILE"; "[=FILE]": may be left out; NULL: a flag */
    const char *help;
    const char *const *(*words)(void); /* of an argument that is one, or several: written for %s in help; or NULL */
};

/* One option as given, in the order given. */
struct option_value {
    const struct option_row *row;
    const char *argument; /* NULL for a flag, and where it was left out */
};

/* All commands, in the order of `dse --help`. */
struct commands {
    const struct command *const *list;
    size_t n;
    const char *start; /* which ones to start with: examples */
};
/* The command of that name, or NULL. */
const struct command *command_find(const struct commands *all, const char *name);

/* What a command is called with. */
struct invocation {
    const struct commands *all;
    const struct command *command;
    struct option_value *options;
    size_t n_options;
    const char **operands;
    size_t n_operands;
    const char *const *plugins; /* files of --plugin, which stands before the command */
    size_t n_plugins;
    struct diags *diags;
};

struct command {
    const char *name, *operands, *summary;
    bool hidden;                      /* from people: it serves the build, or a shell */
    const char *help;                 /* paragraphs and examples, below the options */
    const struct option_row *options; /* closed by a row without a name; may be NULL */
    size_t min_operands, max_operands;
    int failure; /* the exit status of a failure at run time, where it is not 1 */
    /* Returns the exit status; errors are in diags, whose status wins when it is not 0. */
    int (*run)(const struct invocation *in);
};

/* The last argument given for an option, or NULL; whether a flag was given. */
const char *option_get(const struct invocation *in, const char *name);
/* All arguments given for an option. The caller frees the array. */
const char **option_all(const struct invocation *in, const char *name, size_t *ret_n);
bool option_has(const struct invocation *in, const char *name);
/* A whole number from min to max, or `otherwise` when the option was not given. Adds an error when it is anything else. */
long long option_integer(const struct invocation *in, const char *name, long long min, long long max, long long otherwise);

/* The help of an option, with the words that it takes. The caller frees it. */
char *option_help(const struct option_row *o);
/* Every command's --help. */
extern const struct option_row option_row_help;

/* A usage error: what is wrong, then where to read on. Always returns 2. */
int usage_error(const struct invocation *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same about a word that is none of names[0..n): "WHAT "WORD"; did you mean NEAREST?", or with `otherwise` as its end when no
 * name is near. */
int usage_unknown(const struct invocation *in, const char *what, const char *word, const char *const *names, size_t n,
                  const char *otherwise);

#define OPTION_RUN(otherwise) \
    { \
        'r', "run", "N", "a run of the database, by its id (default: " otherwise ")" \
    }
/* The run that --run (-r) asks for; 0 when it was not given. */
long long option_run(const struct invocation *in);
/* The options of commands that print rows (command/terminal.h). */
#define OPTION_FORMAT \
    {'f', "format", "table|csv|json", "how to print rows (default: table)"}, \
        {0, "wide", NULL, "do not fit lines to the width of the terminal"}, \
    { \
        0, "no-pager", NULL, "print without a pager ($DSE_PAGER, $PAGER or less)" \
    }

#endif
