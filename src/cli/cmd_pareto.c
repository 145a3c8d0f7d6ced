/* dse pareto: the front of a run, under its own objectives or others. */
#include "cli/front_table.h"
#include "command/command.h"

#include <string.h>

/* --max, --min and --per in the order given; "--per none" is *ret_one_front. False with an error when there are too many. */
static bool read_goal(const struct invocation *in, struct goal *g, bool *ret_one_front)
{
    bool per = false;
    for (size_t i = 0; i < in->n_options; i++) {
        const char *name = in->options[i].row->name, *column = in->options[i].argument;
        bool max = strcmp(name, "max") == 0;
        if ((max || strcmp(name, "min") == 0) && !goal_add(g, column, max)) {
            usage_error(in, "more than %d objectives", SWEEP_OBJECTIVES_MAX);
            return false;
        }
        if (strcmp(name, "per") != 0) continue;
        per = true;
        if (strcmp(column, "none") == 0)
            *ret_one_front = true;
        else
            goal_add_per(g, column);
    }
    if (*ret_one_front && g->n_per) {
        usage_error(in, "--per none asks for one front of all points, so no other --per can stand beside it");
        return false;
    }
    if (!per || g->n) return true;
    usage_error(in, "--per needs objectives: --max or --min");
    return false;
}

static int run(const struct invocation *in)
{
    struct goal goal;
    goal_init(&goal);
    struct front_request request = {.db = in->operands[0],
                                    .model = option_get(in, "model"),
                                    .front = option_get(in, "front"),
                                    .run = option_run(in),
                                    .limit = (size_t)option_integer(in, "limit", 1, 1LL << 40, 0)};
    bool ok = output_parse_format(in, &request.format) && read_goal(in, &goal, &request.one_front) && in->diags->errors == 0;
    if (goal.n) request.goal = &goal;
    request.summary = !goal.n;
    if (ok) pager_start();
    ok = ok && front_table_print(&request, in->diags);
    goal_release(&goal);
    return ok ? 0 : 2;
}

const struct command command_pareto = {
    .name = "pareto",
    .operands = "DB",
    .summary = "print the Pareto front of a run, for its own objectives or others",
    .options =
        (const struct option_row[]){
            {0, "max", "COLUMN", "maximise this column; any number of times"},
            {0, "min", "COLUMN", "minimise this column; any number of times"},
            {0, "per", "PARAMETER",
             "print a front for each value of this parameter, not of the run's `per`; any number of times; none: one front"},
            {'m', "model", "MODEL", "only this model"},
            {0, "front", "BUDGET",
             "of a sweep with several quality budgets, print the front of this one; unknown: of rows whose loss nobody measured"},
            OPTION_RUN("the newest that is done"),
            {'n', "limit", "N", "print at most N rows"},
            OPTION_FORMAT,
            {0},
        },
    .help = "Without --max and --min dse prints the front that the sweep stored. With them it computes a new front of the\n"
            "same points. The run's `per` applies to the new front too (one for each LLM and context, say), unless --per says\n"
            "otherwise. Only feasible points within the sweep's quality budget take part. Rows whose loss is unknown have a\n"
            "front of their own. Points that are equal in all objectives are on the front together.\n"
            "\n"
            "  dse pareto results/lad_sram.db\n"
            "  dse pareto results/lad_sram.db --max tokens_per_s --min power_w --per llm\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
