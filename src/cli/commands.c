#include "cli/commands.h"

#include "attention/attention.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* meson.build reads their names from here: they have pages in the manual. */
const struct command *const commands[] = {
    &command_sweep,    &command_front,       &command_eval,    &command_query,      &command_pareto,   &command_plot,
    &command_describe, &command_list,        &command_llm,     &command_merge,      &command_validate, &command_calibrate,
    &command_trace,    &command_profile,     &command_figures, &command_report,     &command_agree,    &command_dram,
    &command_check,    &command_check_front, &command_measure, &command_test_model, &command_diff,     &command_accelergy,
    &command_manual,   &command_complete,
};
const size_t n_commands = sizeof commands / sizeof *commands;

const struct option_row option_row_help = {'h', "help", NULL, "print this", NULL};

const char commands_start[] = "  dse list                              what there is: models, LLMs, memories, ...\n"
                              "  dse describe lad                      a model's parameters and metrics\n"
                              "  dse eval lad --set context=1024       one design point\n"
                              "  dse sweep sweeps/lad_sram.toml        many of them, and their Pareto front\n";

const struct command *command_find(const char *name)
{
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(name, commands[i]->name) == 0) return commands[i];
    return NULL;
}

const char **command_names(void)
{
    const char **names = xcalloc(n_commands + 1, sizeof *names);
    for (size_t i = 0, n = 0; i < n_commands; i++)
        if (!commands[i]->hidden) names[n++] = commands[i]->name;
    return names;
}

char *option_help(const struct option_row *o)
{
    char *words = o->words ? text_join(o->words(), ",") : xstrdup("");
    const char *gap = o->words ? strstr(o->help, "%s") : NULL;
    char *help = xasprintf("%.*s%s%s", gap ? (int)(gap - o->help) : INT_MAX, o->help, words, gap ? gap + 2 : "");
    free(words);
    return help;
}
