/* dse validate: every published number, and how close the models are. */
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/model_find.h"
#include "cli/output.h"
#include "cli/validate_print.h"

#include <stdlib.h>
#include <string.h>

/* The models asked for; without any, all that have claims. The caller frees the list. NULL with an error. */
static const struct model **wanted(const struct invocation *in, size_t *ret_n)
{
    size_t all;
    const struct model *models = registry_models(&all);
    const struct model **list = xcalloc(all + in->n_operands, sizeof *list);
    *ret_n = 0;
    for (size_t i = 0; i < all && !in->n_operands; i++)
        if (claims_exist(&models[i], catalog_data_dir())) list[(*ret_n)++] = &models[i];
    for (size_t i = 0; i < in->n_operands; i++) {
        const struct model *m = model_find(in, in->operands[i]);
        if (!m) {
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
    if (format != OUTPUT_TABLE) {
        validate_print_rows(list, n, format);
        return;
    }
    for (size_t i = 0; i < n; i++) validate_print_model(&list[i], option_has(in, "all"));
    if (n) validate_print_sums(list, n);
}

/* Every broken file is complained about; what is not broken is answered. */
static void validate(const struct invocation *in, const struct model **models, size_t n, const struct catalog *catalog,
                     enum output_format format)
{
    struct validation *list = xcalloc(n, sizeof *list);
    size_t opened = 0;
    for (size_t i = 0; i < n; i++) {
        struct claim_set *set = claims_open(models[i], catalog, catalog_data_dir(), in->diags);
        if (!set) continue;
        size_t claims;
        claims_list(set, &claims);
        list[opened] = (struct validation){set, xcalloc(claims, sizeof(struct claim_answer))};
        claims_answer(set, NULL, list[opened].answers, in->diags);
        opened++;
    }
    print(in, list, opened, format);
    for (size_t i = 0; i < opened; i++) {
        claims_free(list[i].set);
        free(list[i].answers);
    }
    free(list);
}

static int run(const struct invocation *in)
{
    enum output_format format;
    if (!output_parse_format(in, &format)) return 2;
    const char *fidelity = option_get(in, "fidelity");
    if (fidelity && strcmp(fidelity, "closed-form") != 0)
        return usage_error(in, "there is no fidelity \"%s\": closed-form", fidelity);
    size_t n;
    const struct model **models = wanted(in, &n);
    struct catalog *catalog = models ? open_catalog(in) : NULL;
    if (catalog) validate(in, models, n, catalog, format);
    catalog_free(catalog);
    free(models);
    return 0;
}

const struct command command_validate = {
    .name = "validate",
    .operands = "[MODEL]...",
    .summary = "compare the models with every number that the papers publish",
    .options =
        (const struct option_row[]){
            {'a', "all", NULL, "list each claim without a number, not one line a reason"},
            {0, "fidelity", "F", "closed-form"},
            OPTION_FORMAT,
            OPTION_CATALOG,
            {0},
        },
    .help =
        "Without a MODEL: all of them. The numbers stand in models/NAME/claims.csv, how the model answers in models/NAME/claims.toml\n"
        "(docs/claims.md). Verdicts: exact (rounds to the published digits), holds (a bound or range is met), near (within 10 %),\n"
        "off, misses (a bound or range is not met), contradiction (the paper contradicts itself or arithmetic), input, not modelled.\n"
        "An error is that of the published value, or of the bound that is missed. CSV and JSON have a row for every claim.\n\n"
        "  dse validate\n"
        "  dse validate lad --all\n"
        "  dse validate --format csv | csvsort -c error_pct\n",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
