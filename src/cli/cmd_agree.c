/* dse agree: how far the closed form and the event level of a model agree, and why they do not. */
#include "agree/agree.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/agree_print.h"
#include "cli/agree_sweeps.h"
#include "cli/interrupt.h"
#include "cli/model_find.h"
#include "cli/progress.h"
#include "command/command.h"
#include "command/output.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 20, POINTS_OF_SWEEPS = 100, POINTS_MAX = 1000000, WORST = 3, BUDGET_S = 60, BUDGET_MAX_S = 1000000 };

/* One model, and where its points come from. */
struct work {
    const struct model *model;
    struct agree_sweeps sweeps; /* none: near the defaults */
    char *from;                 /* owned */
    const char *operand;        /* the sweep that it is of, all of whose models are ranked together; or NULL */
};

/* What went wrong at single points: bugs, and points that could not be found. */
static void complain(const struct invocation *in, const struct agreement *a)
{
    size_t missing = 0;
    for (size_t i = 0; i < a->n; i++) {
        const struct agree_point *p = &a->points[i];
        missing += !p->settings && !p->is_measured;
        if (!p->failure) continue;
        diags_runtime(in->diags, NULL, "the event level of %s failed, which is a bug of the model: %s; %s", a->model->desc->name,
                      p->failure, p->command);
    }
    if (missing && !a->stopped)
        diags_runtime(in->diags, NULL, "%s: for %zu of %zu points none of %d tries was feasible; --set fewer parameters",
                      a->model->desc->name, missing, a->n, AGREE_TRIES);
}

/* ---- what is compared ---------------------------------------------------------------------------------------------------- */

static bool is_file(const char *operand)
{
    const size_t n = strlen(operand);
    return strchr(operand, '/') || (n > 5 && strcmp(operand + n - 5, ".toml") == 0);
}

/* Points of a model come from the sweeps that dse ships, where there are any. */
static bool add_model(const struct invocation *in, const struct model *m, struct work *ret)
{
    *ret = (struct work){.model = m};
    if (!fidelity_of_model(m->desc, FIDELITY_EVENT_LEVEL)) {
        usage_error(in, "model %s has no event level to agree with; it has: %s", m->desc->name, fidelities_text(m->desc));
        return false;
    }
    if (!option_has(in, "near")) agree_sweeps_shipped(in, m, &ret->sweeps);
    ret->from = ret->sweeps.n > 0 ? xasprintf("of the %zu sweeps that come with dse and use it", ret->sweeps.n)
                                  : xstrdup("near the defaults");
    return true;
}

/* Is the model among those of --model? Without the option every one is. */
static bool is_asked(const struct invocation *in, const struct model *m)
{
    size_t n;
    const char **names = option_all(in, "model", &n);
    bool ret = n == 0;
    for (size_t i = 0; i < n; i++) ret = ret || strcmp(names[i], m->desc->name) == 0;
    free(names);
    return ret;
}

/* The models of a sweep that have an event level. */
static bool add_sweep(const struct invocation *in, const char *file, struct work *ret, size_t *n)
{
    struct agree_sweeps first = {0};
    bool ok = agree_sweep_read(in, file, &first);
    const size_t before = *n;
    for (size_t i = 0; ok && i < first.list[0]->n_models; i++) {
        const struct model *m = first.list[0]->bindings[i]->model;
        if (!fidelity_of_model(m->desc, FIDELITY_EVENT_LEVEL) || !is_asked(in, m)) continue;
        struct work *w = &ret[(*n)++];
        *w = (struct work){.model = m, .from = xasprintf("of %s", file), .operand = file};
        ok = agree_sweep_read(in, file, &w->sweeps);
    }
    if (ok && *n == before)
        ok = usage_error(in, "%s: no model of this sweep%s has an event level", file,
                         option_has(in, "model") ? " that --model names" : "") == 0;
    agree_sweeps_release(&first);
    return ok;
}

static bool add_operand(const struct invocation *in, const char *operand, struct work *ret, size_t *n)
{
    if (is_file(operand)) {
        if (!option_has(in, "near")) return add_sweep(in, operand, ret, n);
        usage_error(in, "--near draws near the defaults of a model, and %s is a sweep", operand);
        return false;
    }
    const struct model *m = model_find(in, operand);
    return m && add_model(in, m, &ret[(*n)++]);
}

/* What is asked for; with no operands all models with an event level. The caller releases the n of *ret_list in any case. */
static bool wanted(const struct invocation *in, struct work **ret_list, size_t *ret_n)
{
    size_t models;
    const struct model *all = registry_models(&models);
    struct work *list = xcalloc((in->n_operands + 1) * (models + 1), sizeof *list);
    bool ok = true;
    *ret_list = list;
    *ret_n = 0;
    for (size_t i = 0; in->n_operands == 0 && i < models; i++)
        if (fidelity_of_model(all[i].desc, FIDELITY_EVENT_LEVEL)) ok = add_model(in, &all[i], &list[(*ret_n)++]) && ok;
    for (size_t i = 0; i < in->n_operands; i++) ok = add_operand(in, in->operands[i], list, ret_n) && ok;
    return ok;
}

static void work_release(struct work *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        agree_sweeps_release(&list[i].sweeps);
        free(list[i].from);
    }
    free(list);
}

/* "90", "90s", "5m": seconds. 0 where the option was not given. */
static double budget_of(const struct invocation *in)
{
    const char *text = option_get(in, "budget");
    if (!text) return 0;
    const size_t n = strlen(text);
    const char unit = n > 0 ? text[n - 1] : '\0';
    char *number = xstrndup(text, n - (unit == 's' || unit == 'm'));
    double v = 0;
    const bool ok = text_parse_f64(number, &v) && v > 0;
    free(number);
    if (unit == 'm') v *= 60;
    if (!ok || !(v <= BUDGET_MAX_S))
        usage_error(in, "--budget: expected a time such as 60s or 5m, above 0 and at most %d s, found \"%s\"", BUDGET_MAX_S, text);
    return v;
}

/* ---- the command --------------------------------------------------------------------------------------------------------- */

/* Points of sweeps end with a budget, whether one was given or not; those near the defaults when there are enough. */
static struct agree_options options_of(const struct invocation *in, const struct work *w)
{
    struct agree_options o = {.seed = (uint64_t)option_integer(in, "seed", 0, INT64_MAX, 1),
                              .threads = (int)option_integer(in, "jobs", 1, 1024, 0),
                              .sweeps = (const struct sweep_file *const *)w->sweeps.list,
                              .n_sweeps = w->sweeps.n,
                              .budget_s = budget_of(in),
                              .no_causes = option_has(in, "no-causes"),
                              .stop = interrupt_catch()};
    const bool counted = option_has(in, "points");
    if (o.budget_s == 0 && w->sweeps.n > 0 && !counted) o.budget_s = BUDGET_S;
    o.points = (uint64_t)option_integer(in, "points", 1, POINTS_MAX, w->sweeps.n > 0 || o.budget_s > 0 ? POINTS_OF_SWEEPS : POINTS);
    return o;
}

static bool compare(const struct invocation *in, const struct work *w, const struct catalog *catalog, struct agree_options *o,
                    struct agreement *ret)
{
    struct counting counting;
    o->progress = option_has(in, "quiet") ? NULL : counting_update;
    o->user = &counting;
    counting_init(&counting, w->model->desc->name, "event level");
    const bool ok = in->diags->errors == 0 && agree(w->model, catalog, o, ret, in->diags);
    progress_clear(&counting.bar);
    o->user = NULL;
    return ok;
}

/* One after another. Of a sweep the catalog is that with the sweep's own entries. */
static bool run_one(const struct invocation *in, const struct work *w, const struct catalog *catalog, enum output_format format,
                    struct agreement *ret)
{
    const long long worst = option_integer(in, "worst", 0, POINTS_MAX, WORST);
    struct agree_options o = options_of(in, w);
    const char **assignments = option_all(in, "set", &o.n_assignments), **catalogs = option_all(in, "catalog", &o.n_catalogs);
    o.assignments = assignments;
    o.catalogs = catalogs;
    if (w->sweeps.n == 1) catalog = w->sweeps.catalogs[0];
    const struct agree_shown shown = {ret, &o, catalog, w->from, (size_t)worst};
    const bool ok = compare(in, w, catalog, &o, ret);
    if (ok && format == OUTPUT_TABLE) agree_print_report(&shown);
    if (ok) complain(in, ret);
    if (ok && ret->spent)
        terminal_say(stderr, "dse: the budget of %g s is spent; only the finished points are shown (--budget)", o.budget_s);
    free(assignments);
    free(catalogs);
    return ok;
}

static void show_rankings(const struct agreement *list, size_t n, const struct sweep_file *sweep)
{
    putchar('\n');
    agree_print_rankings(list, n, sweep);
}

static int run_all(const struct invocation *in, const struct work *work, size_t n, const struct catalog *catalog,
                   enum output_format format)
{
    struct agreement *list = xcalloc(n + 1, sizeof *list);
    size_t done = 0, first = 0; /* the first of the same operand */
    bool ok = true, stopped = false;
    for (; ok && !stopped && done < n; done++) {
        if (format == OUTPUT_TABLE && done) putchar('\n');
        ok = run_one(in, &work[done], catalog, format, &list[done]);
        stopped = ok && list[done].stopped && !list[done].spent;
        if (work[done].operand != work[first].operand) first = done;
        const bool is_last = done + 1 == n || work[done + 1].operand != work[done].operand;
        if (ok && format == OUTPUT_TABLE && is_last && work[done].operand)
            show_rankings(list + first, done + 1 - first, work[done].sweeps.list[0]);
    }
    if (ok && format != OUTPUT_TABLE && option_has(in, "summary"))
        agree_print_summary(list, done, format);
    else if (ok && format != OUTPUT_TABLE)
        agree_print_points(list, done, format);
    if (stopped) terminal_say(stderr, "dse: stopped; only the finished points are shown");
    for (size_t i = 0; i < done; i++) agreement_release(&list[i]);
    free(list);
    return stopped ? INTERRUPTED_STATUS : ok ? 0 : 2;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    size_t n;
    struct work *work;
    if (!output_parse_format(in, &format)) return 2;
    const bool ok = wanted(in, &work, &n);
    struct catalog *catalog = ok ? open_catalog(in) : NULL;
    const int status = catalog ? run_all(in, work, n, catalog, format) : 2;
    catalog_free(catalog);
    work_release(work, n);
    return status;
}

const struct command command_agree = {
    .name = "agree",
    .operands = "[MODEL | SWEEP.toml]...",
    .summary = "compare closed form and event level of a model, and find what makes them differ",
    .options =
        (const struct option_row[]){
            {'b', "budget", "TIME", "stop after 60s, 5m (default: 60s for points of sweeps, unless --points says how many)"},
            {'n', "points", "N", "number of random feasible points (default: 100 of sweeps, 20 near the defaults)"},
            {'m', "model", "MODEL", "of SWEEP.toml compare this model alone; any number of times"},
            {0, "near", NULL, "draw near the defaults of MODEL, not of the sweeps that come with dse"},
            {0, "seed", "S", "seed of the random points (default: 1)"},
            {'s', "set", "NAME=VALUE", "set a parameter at all points; any number of times"},
            {'j', "jobs", "N", "number of threads (default: one for each core)"},
            {'w', "worst", "N", "for each metric list the N points that differ most (default: 3)"},
            {0, "no-causes", NULL, "do not look for causes: a point is run once at event level, in place of six times"},
            {0, "summary", NULL, "with csv or json: print distributions, not a row for each point"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {'q', "quiet", NULL, "no progress"},
            {0},
        },
    .help = "dse evaluates each point in closed form and at event level. Then it repeats the event level and removes the\n"
            "causes of difference one after another. The causes are fifos (bounded queues), refresh, dram (banks, rows, bus\n"
            "turn-around), draws (heads and steps that differ) and sync (barriers, dispatch). The rest of the difference is\n"
            "fill and drain. The commands at the end show the points that differ most, with as few settings as keep the\n"
            "difference within a tenth. They are found after the budget, in at most 3 s each.\n"
            "\n"
            "Of SWEEP.toml the points are feasible ones of its space, with its constraints, for each of its models. Of MODEL\n"
            "they are of all sweeps that come with dse and use it, or near the defaults where there are none. Without operands\n"
            "dse compares all models that have an event level. docs/explanation/fidelity.md says how the points are drawn.\n"
            "\n"
            "  dse agree sweeps/cloud_shootout.toml --budget 5m\n"
            "  dse agree veda --points 50\n"
            "  dse agree lad --near --points 1000 --set llm=llama2-7b --worst 20\n"
            "  dse agree --near --format csv | csvsort -c latency_us_pct\n",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
