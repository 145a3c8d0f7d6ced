/* dse validate: every published number, and how close the models are. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/eval_events.h"
#include "cli/interrupt.h"
#include "cli/model_find.h"
#include "cli/progress.h"
#include "cli/validate_print.h"
#include "command/command.h"
#include "command/output.h"
#include "measured/leave_out.h"
#include "measured/measured.h"
#include "measured/notes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- --measured ----------------------------------------------------------------------------------------------------------- */

/* dse validate --measured: the models against machines that somebody measured. */

enum { BUF = TEXT_NUMBER_MAX };

/* "+12.3": of a sum without rows NULL. */
static const char *percent(bool known, bool with_sign, double v, char buf[BUF])
{
    if (!known) return NULL;
    snprintf(buf, BUF, with_sign ? "%+.1f" : "%.1f", v);
    return buf;
}

static void put_rows(const struct measured_set *s, const struct model *const *models, size_t n_models, enum output_format format)
{
    static const char *const columns[] = {"model", "source",    "kind",   "regime", "split", "measured", "modelled",
                                          "unit",  "error_pct", "reason", "file",   "line",  "settings"};
    size_t n;
    const struct measured_row *rows = measured_rows(s, &n);
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        const struct measured_row *r = &rows[i];
        bool asked = n_models == 0;
        for (size_t k = 0; k < n_models; k++) asked |= models[k] == r->model;
        if (!asked) continue;
        const struct measured_kind *kind = measured_kind_of(measured_notes(s), r->model, r->regime);
        const char *const texts[] = {r->model->desc->name, r->source, kind ? kind->name : NULL, r->regime,
                                     measured_split_names[r->split]};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) output_text(o, texts[k]);
        output_f64(o, r->measured);
        output_f64(o, r->modelled);
        output_text(o, r->unit);
        output_f64(o, 100 * (r->modelled / r->measured - 1));
        output_text(o, r->reason);
        output_text(o, r->file);
        output_i64(o, r->line);
        output_text(o, r->settings);
    }
    output_end(o);
}

/* Of the kind's error to be reached, NULL: there is none. */
static const char *target_of(const struct measured_kind *k, char buf[BUF])
{
    return percent(k && !isnan(k->target), false, k ? k->target : 0, buf);
}

static void put_sum(struct output *o, const struct measured_set *set, const struct measured_sum *s)
{
    char buf[BUF];
    const bool known = s->rows > 0;
    char *constants = measured_constants(set, s);
    output_text(o, s->model->desc->name);
    output_text(o, s->source);
    output_text(o, s->regime);
    output_text(o, measured_split_names[s->split]);
    output_i64(o, (int64_t)s->rows);
    output_text(o, percent(known, true, s->mean, buf));
    output_text(o, percent(known, false, s->mean_abs, buf));
    output_text(o, percent(known, true, s->worst, buf));
    output_text(o, percent(known, false, 100 * s->within_10, buf));
    output_text(o, percent(known, false, 100 * s->within_25, buf));
    output_text(o, s->refused ? text_count(buf, s->refused) : NULL);
    output_text(o, constants);
    free(constants);
}

/* With csv or json: all that is known of each regime. */
static void put_regime(struct output *o, const struct measured_set *set, const struct measured_sum *s)
{
    const struct measured_notes *notes = measured_notes(set);
    const struct measured_kind *kind = measured_kind_of(notes, s->model, s->regime);
    const struct measured_cause *cause = measured_cause_of(notes, s);
    const bool known = s->rows > 0, wrong = measured_is_wrong(notes, s);
    const double numbers[] = {s->mean, s->mean_abs, s->worst, 100 * s->within_10, 100 * s->within_25};
    char *constants = measured_constants(set, s);
    output_text(o, s->model->desc->name);
    output_text(o, s->source);
    output_text(o, kind ? kind->name : NULL);
    output_text(o, s->regime);
    output_text(o, measured_split_names[s->split]);
    output_i64(o, (int64_t)s->rows);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) output_f64(o, known ? numbers[i] : (double)NAN);
    output_i64(o, (int64_t)s->refused);
    output_f64(o, kind ? kind->target : (double)NAN);
    output_i64(o, wrong);
    output_text(o, constants);
    output_text(o, wrong && cause ? cause->cause : NULL);
    output_text(o, s->worst_row ? s->worst_row->settings : NULL);
    free(constants);
}

static void put_regimes(const struct measured_set *set, const struct measured_sum *list, size_t n, enum output_format format)
{
    static const char *const columns[] = {"model",      "source",       "kind",      "regime",        "split",         "rows",
                                          "mean_pct",   "mean_abs_pct", "worst_pct", "within_10_pct", "within_25_pct", "no_answer",
                                          "target_pct", "wrong",        "constants", "cause",         "worst_settings"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) put_regime(o, set, &list[i]);
    output_end(o);
}

/* Regimes that are worse than they should be, and why. */
static void put_wrong(const struct measured_set *set, const struct measured_sum *list, size_t n)
{
    static const char *const columns[] = {"REGIME", "SOURCE", "ROWS", "MEAN %", "MEAN |%|", "TARGET", "SUSPECTED CAUSE"};
    const struct measured_notes *notes = measured_notes(set);
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) wrong += measured_is_wrong(notes, &list[i]);
    if (!wrong) return;
    putchar('\n');
    terminal_say(
        stdout,
        "Regimes that stay wrong: the mean error of the test rows is above its target, or %d or more rows are biased by over %d "
        "%%:",
        MEASURED_MANY, MEASURED_BIAS);
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        const struct measured_sum *s = &list[i];
        char buf[BUF];
        if (!measured_is_wrong(notes, s)) continue;
        const struct measured_cause *cause = measured_cause_of(notes, s);
        output_text(o, s->regime);
        output_text(o, s->source);
        output_i64(o, (int64_t)s->rows);
        output_text(o, percent(true, true, s->mean, buf));
        output_text(o, percent(true, false, s->mean_abs, buf));
        output_text(o, target_of(measured_kind_of(notes, s->model, s->regime), buf));
        output_text(o, cause ? cause->cause : "no cause is known (causes.toml)");
    }
    output_end(o);
}

/* Over regimes, each counting once, and over rows. */
static void say_totals(const struct measured_sum *list, size_t n, enum measured_split split)
{
    size_t regimes = 0, rows = 0, refused = 0, biased = 0;
    double mean = 0, within_25 = 0;
    for (size_t i = 0; i < n; i++) {
        const struct measured_sum *s = &list[i];
        if (s->split != split) continue;
        refused += s->refused;
        if (s->rows == 0) continue;
        regimes++;
        rows += s->rows;
        mean += s->mean_abs;
        within_25 += s->within_25 * (double)s->rows;
        biased += s->rows >= MEASURED_MANY && fabs(s->mean) > MEASURED_BIAS;
    }
    if (!regimes && refused)
        terminal_say(stdout, "%s rows: none of %zu has an answer (--format csv says why)", measured_split_names[split], refused);
    if (!regimes) return;
    terminal_say(
        stdout,
        "%s rows: the mean absolute error of a regime is %.1f %% on average over %zu regime%s; %zu rows, %.0f %% within 25 %%; %zu "
        "regime%s of ten rows or more biased by over 20 %%; %zu without an answer (--format csv says why)",
        measured_split_names[split], mean / (double)regimes, regimes, regimes == 1 ? "" : "s", rows, 100 * within_25 / (double)rows,
        biased, biased == 1 ? "" : "s", refused);
}

static void print_sums(const struct measured_set *s, const struct measured_sum *list, size_t n)
{
    static const char *const columns[] = {"SYSTEM",   "SOURCE",  "REGIME",      "SPLIT",       "ROWS",      "MEAN %",
                                          "MEAN |%|", "WORST %", "WITHIN 10 %", "WITHIN 25 %", "NO ANSWER", "CONSTANTS"};
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) put_sum(o, s, &list[i]);
    output_end(o);
    put_wrong(s, list, n);
    putchar('\n');
    for (int k = MEASURED_SPLITS - 1; k >= 0; k--) say_totals(list, n, (enum measured_split)k);
    terminal_say(stdout, "%zu rows of these files are measured and no model answers them yet", measured_unbound(s));
}

/* Of the models named, or of all. */
static struct measured_sum *sums_of(const struct measured_set *s, const struct model *const *models, size_t n_models, size_t *ret_n)
{
    struct measured_sum *list = measured_sums(s, NULL, ret_n);
    size_t kept = 0;
    for (size_t i = 0; i < *ret_n; i++) {
        bool asked = n_models == 0;
        for (size_t k = 0; k < n_models; k++) asked = asked || models[k] == list[i].model;
        if (asked) list[kept++] = list[i];
    }
    *ret_n = kept;
    return list;
}

/* Answers with constants of others, of the models that have any; false with errors. */
static bool leave_out(const struct invocation *in, struct measured_set *s, const struct model *const *models, size_t n_models)
{
    const char *what = option_get(in, "leave-out");
    size_t moved, all = 0;
    if (!what) return true;
    for (size_t i = 0; i < n_models; i++) {
        if (!measured_leave_out(s, models[i], what, &moved, in->diags)) return false;
        all += moved;
    }
    terminal_say(stderr, "%zu rows have another answer, with constants that no row of their own %s was fitted to", all, what);
    return true;
}

static void print_set(struct measured_set *s, const struct model *const *models, size_t n_models, enum output_format format,
                      bool by_regime)
{
    size_t n;
    struct measured_sum *list = sums_of(s, models, n_models, &n);
    pager_start();
    if (format == OUTPUT_TABLE)
        print_sums(s, list, n);
    else if (by_regime)
        put_regimes(s, list, n, format);
    else
        put_rows(s, models, n_models, format);
    free(list);
}

/* 0, or the exit status of a wrong --leave-out. */
static int check_left_out(const struct invocation *in)
{
    const char *what = option_get(in, "leave-out");
    size_t n = 0;
    bool known = !what;
    for (; measured_leave_out_names[n]; n++) known = known || strcmp(measured_leave_out_names[n], what) == 0;
    if (!known) return usage_unknown(in, "--leave-out", what, measured_leave_out_names, n, ": gpu, format or engine");
    return what && in->n_operands == 0 ? usage_error(in, "--leave-out needs the name of a model: flashdecoding") : 0;
}

/* Answer and print the rows of the models named as operands, or of all. Returns the exit status. */
static int validate_measured(const struct invocation *in, enum output_format format)
{
    const int wrong = check_left_out(in);
    if (wrong) return wrong;
    const struct model **models = xcalloc(in->n_operands + 1, sizeof *models);
    bool ok = true;
    for (size_t i = 0; i < in->n_operands && ok; i++) ok = (models[i] = model_find(in, in->operands[i])) != NULL;
    struct catalog *catalog = ok ? open_catalog(in) : NULL;
    const char *own = option_get(in, "from");
    char *dir = own ? xstrdup(own) : xasprintf("%s/catalog/measured", catalog_data_dir());
    struct measured_set *s = catalog ? measured_open(dir, catalog, in->diags) : NULL;
    for (size_t i = 0; s && i < in->n_operands; i++) measured_answer(s, models[i]);
    if (s && !in->n_operands) measured_answer(s, NULL);
    if (s && leave_out(in, s, models, in->n_operands)) print_set(s, models, in->n_operands, format, option_has(in, "regimes"));
    measured_close(s);
    free(dir);
    catalog_free(catalog);
    free(models);
    return ok ? 0 : 2;
}

/* ---- the command ---------------------------------------------------------------------------------------------------------- */

/* The models asked for; without any, all that have claims and that fidelity. The caller frees the list. NULL with an error. */
static const struct model **wanted(const struct invocation *in, enum fidelity fidelity, size_t *ret_n)
{
    size_t all;
    const struct model *models = registry_models(&all);
    const struct model **list = xcalloc(all + in->n_operands, sizeof *list);
    *ret_n = 0;
    for (size_t i = 0; i < all && !in->n_operands; i++)
        if (claims_exist(&models[i], catalog_data_dir()) && fidelity_of_model(models[i].desc, fidelity))
            list[(*ret_n)++] = &models[i];
    for (size_t i = 0; i < in->n_operands; i++) {
        const struct model *m = model_find(in, in->operands[i]);
        if (!m || !fidelity_parse(in, m->desc, &fidelity)) {
            free(list);
            return NULL;
        }
        bool twice = false;
        for (size_t k = 0; k < *ret_n; k++) twice |= list[k] == m;
        if (!twice) list[(*ret_n)++] = m;
    }
    return list;
}

static void print(const struct invocation *in, const struct validation *list, size_t n, enum output_format format)
{
    if (option_has(in, "ensemble")) {
        validate_print_ensembles(list, n, format);
        return;
    }
    if (format != OUTPUT_TABLE) {
        validate_print_rows(list, n, format);
        return;
    }
    for (size_t i = 0; i < n; i++) validate_print_model(&list[i], option_has(in, "all"));
    if (n) validate_print_sums(list, n);
}

static void show_progress(void *user, double share)
{
    fprintf(stderr, "\r\033[Kmeasuring attention for %s: %d %%", (const char *)user, (int)(100 * share));
    fflush(stderr);
}

static void measure(struct claim_set *set, struct diags *diags)
{
    bool terminal = isatty(STDERR_FILENO) && claims_to_measure(set);
    char *name = xstrdup(claims_model(set)->desc->name);
    claims_measure(set, terminal ? show_progress : NULL, name, diags);
    if (terminal) fprintf(stderr, "\r\033[K");
    free(name);
}

/* The answers; at event level, with those of the closed form. False: stopped by a signal; what was not carried out has no answer.
 */
static bool answer(struct validation *v, enum fidelity fidelity, struct diags *diags)
{
    size_t claims;
    claims_list(v->set, &claims);
    v->answers = xcalloc(claims, sizeof(struct claim_answer));
    claims_answer(v->set, v->answers, diags);
    if (fidelity == FIDELITY_CLOSED_FORM) return true;
    v->closed = v->answers;
    v->answers = xcalloc(claims, sizeof(struct claim_answer));
    claims_set_fidelity(v->set, fidelity);
    struct counting counting;
    counting_init(&counting, claims_model(v->set)->desc->name, "event level");
    bool whole = claims_simulate(v->set, interrupt_catch(), counting_update, &counting);
    progress_clear(&counting.bar);
    struct diags not_carried_out; /* one a claim, of which the table says as much */
    diags_init(&not_carried_out);
    claims_answer(v->set, v->answers, whole ? diags : &not_carried_out);
    diags_release(&not_carried_out);
    return whole;
}

/* Every broken file is complained about; what is not broken is answered. */
static bool validate(const struct invocation *in, const struct model **models, size_t n, const struct catalog *catalog,
                     enum fidelity fidelity, enum output_format format)
{
    struct validation *list = xcalloc(n, sizeof *list);
    size_t opened = 0;
    bool whole = true;
    for (size_t i = 0; i < n && whole; i++) {
        if (!claims_exist(models[i], catalog_data_dir())) {
            fprintf(stderr, "dse: %s has no published numbers (models/%s/claims.csv)\n", models[i]->desc->name,
                    models[i]->desc->name);
            continue;
        }
        struct claim_set *set = claims_open(models[i], catalog, catalog_data_dir(), in->diags);
        if (!set) continue;
        list[opened] = (struct validation){.set = set};
        whole = answer(&list[opened++], fidelity, in->diags);
        if (whole && !option_has(in, "ensemble")) measure(set, in->diags);
    }
    if (opened) pager_start();
    if (opened) print(in, list, opened, format);
    for (size_t i = 0; i < opened; i++) {
        claims_free(list[i].set);
        free(list[i].answers);
        free(list[i].closed);
    }
    free(list);
    return whole;
}

static int run(const struct invocation *in)
{
    enum output_format format;
    enum fidelity fidelity;
    size_t n;
    if (!output_parse_format(in, &format) || !fidelity_parse(in, NULL, &fidelity)) return 2;
    if (option_has(in, "measured")) {
        if (option_has(in, "ensemble") || option_has(in, "all") || fidelity != FIDELITY_CLOSED_FORM)
            return usage_error(in,
                               "--measured compares the closed form with measurements: leave out --all, --ensemble and --fidelity");
        return validate_measured(in, format);
    }
    if (option_has(in, "leave-out")) return usage_error(in, "--leave-out needs --measured");
    if (option_has(in, "from")) return usage_error(in, "--from needs --measured: it names a folder of measured files");
    if (option_has(in, "ensemble") && fidelity != FIDELITY_CLOSED_FORM) {
        diags_input(in->diags, (struct srcloc){0}, NULL, "leave out --fidelity",
                    "--ensemble fits constants and gives errors in closed form only");
        return 2;
    }
    const struct model **models = wanted(in, fidelity, &n);
    struct catalog *catalog = models ? open_catalog(in) : NULL;
    bool whole = !catalog || validate(in, models, n, catalog, fidelity, format);
    if (!whole) terminal_say(stderr, "dse: stopped");
    catalog_free(catalog);
    free(models);
    return whole ? 0 : INTERRUPTED_STATUS;
}

const struct command command_validate = {
    .name = "validate",
    .operands = "[MODEL]...",
    .summary = "compare the models with the numbers that papers publish, or with measurements",
    .options =
        (const struct option_row[]){
            {'a', "all", NULL, "list each claim without a number, not one line for each reason"},
            {0, "ensemble", NULL, "print only the errors with every alternative value of every chosen constant"},
            {'m', "measured", NULL, "compare with measurements of machines, not with papers"},
            {0, "regimes", NULL, "with --measured and csv or json: print a row for each regime, not for each measurement"},
            {0, "leave-out", "WHAT",
             "with --measured: no row has constants that its own gpu or engine, or narrow format, was fitted to"},
            {0, "from", "DIR", "with --measured: read a folder of your own, with its bindings.toml (docs/how-to/fit-a-machine.md)"},
            {0, "fidelity", "F", "closed-form or event-level (default: closed-form)"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {0},
        },
    .help = "Without MODEL dse compares all models. models/NAME/claims.csv has the published numbers, and\n"
            "models/NAME/claims.toml says how the model computes each of them (docs/reference/claims-file.md). Each claim has\n"
            "a verdict (docs/explanation/evidence.md):\n"
            "\n"
            "  exact          equal in the published digits\n"
            "  near           within 10 %\n"
            "  off            more than 10 % away\n"
            "  holds          inside the published bound or range\n"
            "  misses         outside of that bound or range\n"
            "  contradiction  the paper contradicts itself or arithmetic\n"
            "  input          a parameter, or a fact about others\n"
            "  measured       a number of attention heads, of no model\n"
            "  not modelled   no model computes it\n"
            "\n"
            "An error compares with the published value, or with the bound that is missed. Numbers about attention itself are\n"
            "measured on synthetic and on real heads. \"fitted\" marks heads that were made to agree with the paper. CSV and\n"
            "JSON have a row for every claim, for each measurement of a claim (measured_on) and for each step (step).\n"
            "\n"
            "The class of a number says how strong its evidence is: fitted, identity, arithmetic, interpolation, informed\n"
            "(chosen by someone who knew it) or held out. The null model copies the nearest published number of the same\n"
            "kind.\n"
            "\n"
            "--measured compares the closed form with public measurements of GPUs and of the Neural Engine\n"
            "(catalog/measured). It gives the errors by source, regime and split. Constants were fitted to calibrate rows,\n"
            "never to test rows. CSV and JSON have a row for each measurement.\n"
            "\n"
            "  dse validate\n"
            "  dse validate lad --ensemble\n"
            "  dse validate lad --all\n"
            "  dse validate --measured flashdecoding\n"
            "  dse validate --format csv | csvsort -c error_pct\n",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
