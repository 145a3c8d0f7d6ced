/* All subcommands, in the order of `dse --help`. */
#ifndef DSE_CLI_COMMANDS_H
#define DSE_CLI_COMMANDS_H

#include "command/command.h"

extern const struct command command_sweep, command_eval, command_query, command_pareto, command_plot, command_list, command_llm,
    command_describe, command_merge, command_validate, command_calibrate, command_agree, command_figures, command_report,
    command_dram, command_check, command_check_front, command_front, command_measure, command_diff, command_manual,
    command_complete, command_accelergy, command_test_model;

extern const struct commands all_commands;

/* The names of those that people call, closed by NULL. The caller frees the array. */
const char **command_names(void);

#endif
