/* A subcommand is a constant; main.c has the list. Options are declared once, in the command's table: parsing and --help come
 * from it. */
#ifndef DSE_CLI_COMMAND_H
#define DSE_CLI_COMMAND_H

#include "base/diag.h"
#include "cli/terminal.h"
#include "config/catalog.h"

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

/* What a command is called with. */
struct invocation {
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

/* A usage error: what is wrong, then where to read on. Always returns 2. */
int usage_error(const struct invocation *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same about a word that is none of names[0..n): "WHAT "WORD"; did you mean NEAREST?", or with `otherwise` as its end when no
 * name is near. */
int usage_unknown(const struct invocation *in, const char *what, const char *word, const char *const *names, size_t n,
                  const char *otherwise);

/* The catalog, with the user's own files and every --catalog FILE added. NULL with errors. */
struct catalog *open_catalog(const struct invocation *in);
/* The option --catalog, shared by the commands that have it. */
#define OPTION_CATALOG \
    { \
        'c', "catalog", "FILE", "add catalog entries of your own from a TOML file, or those of a sweep from its database" \
    }
#define OPTION_RUN(otherwise) \
    { \
        'r', "run", "N", "a run of the database, by its id (default: " otherwise ")" \
    }
/* The run that --run (-r) asks for; 0 when it was not given. */
long long option_run(const struct invocation *in);
/* The options of commands that print rows (cli/terminal.h). */
#define OPTION_FORMAT \
    {'f', "format", "table|csv|json", "how to print rows (default: table)"}, \
        {0, "wide", NULL, "do not fit lines to the width of the terminal"}, \
    { \
        0, "no-pager", NULL, "print without a pager ($DSE_PAGER, $PAGER or less)" \
    }

extern const struct command command_sweep, command_eval, command_query, command_pareto, command_plot, command_list, command_llm,
    command_describe, command_merge, command_validate, command_calibrate, command_trace, command_profile, command_agree,
    command_figures, command_report, command_dram, command_check, command_check_front, command_front, command_measure, command_diff,
    command_manual, command_complete, command_accelergy, command_test_model;

#endif
