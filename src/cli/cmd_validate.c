/* dse validate: every published number, and how close the models are. */
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/eval_events.h"
#include "cli/interrupt.h"
#include "cli/model_find.h"
#include "cli/progress.h"
#include "cli/validate_measured.h"
#include "cli/validate_print.h"
#include "command/command.h"
#include "command/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
