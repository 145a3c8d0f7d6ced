/* What `dse validate` prints at its end: constants, sums of errors, and what they are evidence of. */
#include "cli/validate_print.h"

#include "claims/ensemble.h"
#include "claims/identified.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

enum { BUF = TEXT_NUMBER_MAX };

/* The size of an error as a text: "0.25". */
static const char *error_text(double v, char buf[BUF])
{
    if (isnan(v)) return NULL;
    snprintf(buf, BUF, "%.2f", v);
    return buf;
}

static void print_constants(const struct validation *list, size_t n)
{
    struct output *o = output_new(
        stdout, OUTPUT_TABLE, (const char *const[]){"SYSTEM", "CONSTANT", "VALUE", "HOW", "CLAIMS THAT USE IT", "FITTED TO"}, 6);
    for (size_t m = 0; m < n; m++) {
        size_t claims, constants;
        claims_list(list[m].set, &claims);
        const struct claim_constant *c = claims_constants(list[m].set, &constants);
        for (size_t k = 0; k < constants; k++) {
            uint64_t uses = 0;
            for (size_t i = 0; i < claims; i++) uses += list[m].answers[i].constants >> k & 1;
            if (c[k].borrowed && !uses) continue;
            output_text(o, claims_model(list[m].set)->desc->name);
            output_text(o, c[k].name);
            char buf[BUF];
            output_text(o, claim_constant_text(&c[k], c[k].shipped, buf));
            output_text(o, c[k].borrowed ? "borrowed" : c[k].fit ? "fitted" : "chosen");
            output_i64(o, (int64_t)uses);
            output_text(o, c[k].fitted_to);
        }
    }
    output_end(o);
}

/* The answers of one group of claims; at event level those of the closed form, too, on a line of their own. */
static void print_sum(struct output *o, const struct validation *v, const struct claim_answer *answers, const struct claim_group *g)
{
    struct claim_sum sum = claims_sum(v->set, answers, g);
    if (!sum.claims) return;
    const char *name = claims_model(v->set)->desc->name;
    char *system = answers == v->closed ? xasprintf("%s, closed form", name) : xstrdup(name);
    output_text(o, system);
    free(system);
    output_text(o, g->name);
    output_i64(o, (int64_t)sum.claims);
    for (int k = 0; k < CLAIM_VERDICTS; k++)
        if (k != CLAIM_INPUT && k != CLAIM_FITTED) output_i64(o, (int64_t)sum.verdicts[k]);
    output_i64(o, (int64_t)sum.errors);
    char buf[BUF];
    output_text(o, error_text(sum.mean_percent, buf));
    output_text(o, error_text(sum.factor_percent, buf));
    output_text(o, error_text(sum.worst_percent, buf));
    output_text(o, sum.worst_percent >= 0.005 ? sum.worst : NULL);
}

static void print_measured_sum(struct output *o, const struct validation *v, const struct claim_attention *on)
{
    static const enum claim_verdict verdicts[] = {CLAIM_EXACT, CLAIM_HOLDS, CLAIM_NEAR, CLAIM_OFF, CLAIM_MISSES, CLAIM_FITTED};
    struct claim_sum sum = claims_sum_measured(v->set, on);
    if (!sum.claims) return;
    output_text(o, claims_model(v->set)->desc->name);
    output_text(o, on ? on->name : "no heads");
    output_i64(o, (int64_t)sum.claims);
    for (size_t k = 0; k < sizeof verdicts / sizeof *verdicts; k++) output_i64(o, (int64_t)sum.verdicts[verdicts[k]]);
    char buf[BUF];
    output_text(o, error_text(sum.worst_percent, buf));
    output_text(o, sum.worst_percent >= 0.005 ? sum.worst : NULL);
}

/* What was measured, heads by heads: a table of its own, since it says of a paper what no model of ours says. */
static void print_measured_sums(const struct validation *list, size_t n)
{
    size_t measures = 0;
    for (size_t m = 0; m < n; m++) {
        size_t here;
        claims_measures(list[m].set, &here);
        measures += here;
    }
    if (measures == 0) return;
    static const char *const columns[] = {"SYSTEM", "MEASURED ON", "CLAIMS", "EXACT",   "HOLDS",      "NEAR",
                                          "OFF",    "MISSES",      "FITTED", "WORST %", "WORST CLAIM"};
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (size_t m = 0; m < n; m++) {
        const struct claim_attention *on;
        for (size_t i = 0; (on = claims_attention_at(list[m].set, i)); i++) print_measured_sum(o, &list[m], on);
        print_measured_sum(o, &list[m], NULL);
    }
    output_end(o);
    putchar('\n');
}

/* Print one sentence about a model: how many constants there are for how many claims. */
static void print_ratio(const struct validation *v)
{
    size_t n, fitted_to, claims, numbers = 0, fitted = 0, chosen = 0, borrowed = 0;
    const struct claim_constant *c = claims_constants(v->set, &n);
    claims_fitted(v->set, &fitted_to);
    claims_list(v->set, &claims);
    uint64_t used = 0;
    for (size_t i = 0; i < claims; i++) {
        numbers += !isnan(v->answers[i].modelled) && v->answers[i].verdict != CLAIM_INPUT;
        used |= v->answers[i].constants;
    }
    for (size_t i = 0; i < n; i++) {
        borrowed += c[i].borrowed && used >> i & 1;
        fitted += !c[i].borrowed && c[i].fit;
        chosen += !c[i].borrowed && !c[i].fit;
    }
    terminal_say(
        stdout,
        "%s: %zu claims have a number, with %zu constants fitted to %zu of them, %zu chosen and %zu borrowed from other models",
        claims_model(v->set)->desc->name, numbers, fitted, fitted_to, chosen, borrowed);
}

/* What the numbers are evidence of, class by class, beside the null model. */
static void print_evidence(const struct validation *list, size_t n)
{
    static const char *const columns[] = {"SYSTEM", "EVIDENCE", "NUMBERS",     "EXACT",    "HOLDS",   "ERRORS",
                                          "MEAN %", "WORST %",  "WORST CLAIM", "COMPARED", "MODEL %", "NULL MODEL %"};
    terminal_say(
        stdout,
        "Strength of evidence (docs/explanation/evidence.md). The null model copies the nearest published number of the same "
        "kind:");
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (size_t m = 0; m < n; m++)
        for (int class = EVIDENCE_FITTED; class <= EVIDENCE_CLASSES; class ++) {
            bool all = class == EVIDENCE_CLASSES;
            struct evidence_sum sum =
                evidence_sum(list[m].set, list[m].answers, NULL, all ? EVIDENCE_NONE : (enum evidence_class) class);
            char buf[BUF];
            if (!sum.model.claims) continue;
            output_text(o, claims_model(list[m].set)->desc->name);
            output_text(o, all ? "all" : evidence_names[class]);
            output_i64(o, (int64_t)sum.model.claims);
            output_i64(o, (int64_t)sum.model.verdicts[CLAIM_EXACT]);
            output_i64(o, (int64_t)sum.model.verdicts[CLAIM_HOLDS]);
            output_i64(o, (int64_t)sum.model.errors);
            output_text(o, error_text(sum.model.mean_percent, buf));
            output_text(o, error_text(sum.model.worst_percent, buf));
            output_text(o, sum.model.worst_percent >= 0.005 ? sum.model.worst : NULL);
            output_i64(o, (int64_t)sum.compared);
            output_text(o, error_text(sum.model_percent, buf));
            output_text(o, error_text(sum.null_percent, buf));
        }
    output_end(o);
    putchar('\n');
}

/* Print an error, with two digits in a table and in full for programs. */
static void put_error(struct output *o, double v, enum output_format format)
{
    char buf[BUF];
    if (format == OUTPUT_TABLE)
        output_text(o, error_text(v, buf));
    else
        output_f64(o, v);
}

static void print_member(struct output *o, const char *const cells[3], const struct claim_sum sums[ENSEMBLE_GROUPS],
                         const char *note, enum output_format format)
{
    for (int i = 0; i < 3; i++) output_text(o, cells[i]);
    for (int g = 0; g < ENSEMBLE_GROUPS; g++) {
        put_error(o, sums[g].mean_percent, format);
        put_error(o, sums[g].worst_percent, format);
    }
    output_text(o, note);
}

/* "2 numbers lost; cannot be fitted anew; 3: keys and values ..."; where alternatives are from is said once. The caller frees it.
 */
static char *member_note(const struct ensemble_member *m, const struct claim_constant *c, bool fits)
{
    struct text t;
    text_init(&t);
    if (m->lost) text_addf(&t, "%zu numbers lost; ", m->lost);
    if (fits && !m->fitted) text_add(&t, "cannot be fitted again; ");
    if (c && m->value == c->alternatives[0]) text_add(&t, c->source);
    return text_detach(&t);
}

/* One system: as shipped, every alternative of every chosen constant, and the text's. */
static void print_ensemble(struct output *o, const struct validation *v, enum output_format format)
{
    struct ensemble *e = ensemble_new(v->set);
    size_t n;
    const struct claim_constant *constants = claims_constants(v->set, &n);
    const char *system = claims_model(v->set)->desc->name;
    bool fits = false;
    for (size_t i = 0; i < n; i++) fits |= constants[i].fit && !constants[i].borrowed;
    print_member(o, (const char *const[]){system, "as shipped", NULL}, e->shipped, NULL, format);
    for (size_t i = 0; i < e->n; i++) {
        const struct ensemble_member *m = &e->members[i];
        const struct claim_constant *c = m->constant == SIZE_MAX ? NULL : &constants[m->constant];
        char buf[BUF], *note = member_note(m, c, fits);
        const char *const cells[] = {system, c ? c->name : "all, as the text", c ? claim_constant_text(c, m->value, buf) : NULL};
        print_member(o, cells, m->sums, note, format);
        free(note);
    }
    ensemble_free(e);
}

void validate_print_ensembles(const struct validation *list, size_t n, enum output_format format)
{
    static const char *const table[] = {"SYSTEM",      "CHOSEN CONSTANT", "VALUE",       "MEASURED %",
                                        "ITS WORST %", "HEADLINE %",      "ITS WORST %", "WHERE FROM"},
                             *const rows[] = {"system",       "constant",           "value", "measured_pct", "measured_worst_pct",
                                              "headline_pct", "headline_worst_pct", "source"};
    if (format == OUTPUT_TABLE)
        terminal_say(
            stdout,
            "Errors of held-out numbers, with every alternative value of every chosen constant and fitted constants fitted again "
            "(closed form):");
    struct output *o = output_new(stdout, format, format == OUTPUT_TABLE ? table : rows, sizeof table / sizeof *table);
    for (size_t m = 0; m < n; m++) print_ensemble(o, &list[m], format);
    output_end(o);
}

static void print_unidentified(const struct validation *v)
{
    struct unidentified *list;
    size_t n = claims_unidentified(v->set, &list);
    for (size_t i = 0; i < n; i++) {
        char *product = claims_product_text(v->set, &list[i]), number[BUF];
        terminal_say(stdout, "%s: of two constants only %s = %s is known (`dse calibrate`)", claims_model(v->set)->desc->name,
                     product, text_short_number(number, list[i].product));
        free(product);
    }
    free(list);
}

void validate_print_sums(const struct validation *list, size_t n)
{
    static const char *const columns[] = {"SYSTEM", "CLAIMS",   "ALL",           "EXACT",      "HOLDS",        "NEAR",
                                          "OFF",    "MISSES",   "CONTRADICTION", "MEASURED",   "NOT MODELLED", "ERRORS",
                                          "MEAN %", "FACTOR %", "WORST %",       "WORST CLAIM"};
    print_constants(list, n);
    putchar('\n');
    print_evidence(list, n);
    if (!list[0].closed) validate_print_ensembles(list, n, OUTPUT_TABLE);
    if (!list[0].closed) putchar('\n');
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (size_t m = 0; m < n; m++)
        for (const struct claim_group *g = claim_groups; g->name; g++) {
            print_sum(o, &list[m], list[m].answers, g);
            if (list[m].closed) print_sum(o, &list[m], list[m].closed, g);
        }
    output_end(o);
    putchar('\n');
    print_measured_sums(list, n);
    for (size_t m = 0; m < n; m++) {
        print_ratio(&list[m]);
        if (!list[m].closed) print_unidentified(&list[m]);
    }
}
