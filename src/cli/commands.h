/* All subcommands, in the order of `dse --help`. */
#ifndef DSE_CLI_COMMANDS_H
#define DSE_CLI_COMMANDS_H

#include "cli/command.h"

extern const struct command *const commands[];
extern const size_t n_commands;

/* The command of that name, or NULL. */
const struct command *command_find(const char *name);
/* The names of those that people call, closed by NULL. The caller frees the array. */
const char **command_names(void);

/* The help of an option, with the words that it takes. The caller frees it. */
char *option_help(const struct option_row *o);
/* Every command's --help. */
extern const struct option_row option_row_help;
/* Which commands to start with: examples and a line about the exit status. */
extern const char commands_start[];

#endif
