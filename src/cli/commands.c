#include "cli/commands.h"

#include "attention/attention.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* meson.build reads their names from here: they have pages in the manual. */
static const struct command *const list[] = {
    &command_sweep,    &command_front,       &command_eval,    &command_query,      &command_pareto,   &command_plot,
    &command_describe, &command_list,        &command_llm,     &command_merge,      &command_validate, &command_calibrate,
    &command_trace,    &command_profile,     &command_figures, &command_report,     &command_agree,    &command_dram,
    &command_check,    &command_check_front, &command_measure, &command_test_model, &command_diff,     &command_accelergy,
    &command_manual,   &command_complete,
};

const struct commands all_commands = {
    .list = list,
    .n = sizeof list / sizeof *list,
    .start = "  dse list                              what there is: models, LLMs, memories, ...\n"
             "  dse describe lad                      a model's parameters and metrics\n"
             "  dse eval lad --set context=1024       one design point\n"
             "  dse sweep sweeps/lad_sram.toml        many of them, and their Pareto front\n",
};

const char **command_names(void)
{
    const char **names = xcalloc(all_commands.n + 1, sizeof *names);
    for (size_t i = 0, n = 0; i < all_commands.n; i++)
        if (!all_commands.list[i]->hidden) names[n++] = all_commands.list[i]->name;
    return names;
}
