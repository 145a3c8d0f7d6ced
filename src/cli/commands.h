/* All subcommands, in the order of `dse --help`. */
#ifndef DSE_CLI_COMMANDS_H
#define DSE_CLI_COMMANDS_H

#include "command/command.h"

extern const struct command command_sweep, command_eval, command_query, command_pareto, command_plot, command_list, command_llm,
    command_describe, command_merge, command_validate, command_calibrate, command_agree, command_figures, command_report,
    command_dram, command_check, command_check_front, command_front, command_measure, command_diff, command_manual,
    command_complete, command_accelergy, command_test_model;

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
