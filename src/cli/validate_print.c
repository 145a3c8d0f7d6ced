#include "cli/validate_print.h"

#include "claims/steps.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUF = TEXT_NUMBER_MAX };

/* ---- cells --------------------------------------------------------------------------------------------------------------- */

/* The names of the constants that a number depends on, with `separator` between them. The caller frees it. */
static char *constants_text(const struct validation *v, uint64_t which, const char *separator)
{
    struct text t;
    text_init(&t);
    size_t n;
    const struct claim_constant *constants = claims_constants(v->set, &n);
    for (size_t i = 0; i < n; i++)
        if (which >> i & 1) text_addf(&t, "%s%s", t.n ? separator : "", constants[i].name);
    return text_detach(&t);
}

/* "10.0", "> 65", "128 to 256". The caller frees it. */
static char *published_text(const struct claim *c)
{
    char buf[BUF];
    const char *bound = claim_bound_text(c, buf);
    if (c->bound == CLAIM_RANGE) return xasprintf("%s to %s", c->value_text, bound);
    return xasprintf("%s%s%s", bound, *bound ? " " : "", c->value_text);
}

/* An error as a text: "-0.3 %", "0", "+12 %". */
static const char *percent_text(double v, char buf[BUF])
{
    if (isnan(v)) return NULL;
    if (fabs(v) < 0.005)
        snprintf(buf, BUF, "0");
    else
        snprintf(buf, BUF, "%+.*f %%", fabs(v) < 1 ? 2 : fabs(v) < 100 ? 1 : 0, v);
    return buf;
}

static const char *verdict_colour(enum claim_verdict verdict)
{
    switch (verdict) {
    case CLAIM_EXACT:
    case CLAIM_HOLDS: return "\033[32m";
    case CLAIM_NEAR: return "\033[33m";
    case CLAIM_OFF:
    case CLAIM_MISSES: return "\033[31m";
    case CLAIM_CONTRADICTION: return "\033[35m";
    default: return NULL;
    }
}

/* ---- rows for programs --------------------------------------------------------------------------------------------------- */

/* What the model's answer and a measurement share. */
struct row {
    double ours, error_percent;
    enum claim_verdict verdict;
    const char *constants, *measured_on, *reason;
    const struct claim_answer *closed; /* at event level; or NULL */
    const struct evidence *evidence;   /* NULL: a measurement, or a step */
    const char *step;                  /* ""; or of a step, what */
};

static void put_evidence(struct output *o, const struct evidence *e, enum output_format format)
{
    output_text(o, e ? evidence_names[e->class] : "");
    if (format == OUTPUT_JSON) output_text(o, e ? e->because : "");
    output_text(o, e ? e->nearest : NULL);
    output_f64(o, e ? e->null_percent : (double)NAN);
}

static void put_row(struct output *o, const struct claim *c, const struct row *r, bool events, enum output_format format)
{
    char buf[BUF];
    output_text(o, c->system);
    output_text(o, c->id);
    output_text(o, c->location);
    output_text(o, c->kind);
    output_text(o, c->split);
    if (format == OUTPUT_CSV)
        output_text(o, c->value_text); /* with its digits: 10.0 */
    else
        output_f64(o, c->value);
    output_text(o, claim_bound_text(c, buf));
    output_f64(o, r->ours);
    output_text(o, c->unit);
    output_f64(o, r->error_percent);
    output_text(o, claim_verdict_names[r->verdict]);
    output_text(o, r->constants);
    output_text(o, r->measured_on);
    put_evidence(o, r->evidence, format);
    output_text(o, r->step);
    if (events) {
        output_f64(o, r->closed ? r->closed->modelled : (double)NAN);
        output_f64(o, r->closed ? r->closed->error_percent : (double)NAN);
    }
    if (format == OUTPUT_JSON) output_text(o, r->reason);
}

static const char *attention_name(const struct claim_measure *m)
{
    return m->on ? m->on->name : "no heads";
}

static struct output *output_of_rows(bool events, enum output_format format)
{
    static const char *const columns[] = {"system",   "claim", "location",  "kind",    "split",     "published",  "bound",
                                          "modelled", "unit",  "error_pct", "verdict", "constants", "measured_on"};
    const char *all[sizeof columns / sizeof *columns + 8];
    size_t n = sizeof columns / sizeof *columns;
    memcpy(all, columns, sizeof columns);
    all[n++] = "class";
    if (format == OUTPUT_JSON) all[n++] = "because";
    all[n++] = "null_model";
    all[n++] = "null_error_pct";
    all[n++] = "step";
    if (events) {
        all[n++] = "closed_form";
        all[n++] = "closed_form_error_pct";
    }
    if (format == OUTPUT_JSON) all[n++] = "reason";
    return output_new(stdout, format, all, n);
}

/* The rows of one claim: the model's answer, its steps, and measurements. */
static void put_claim(struct output *o, const struct validation *v, size_t i, bool events, enum output_format format)
{
    size_t n, claims;
    const struct claim *c = &claims_list(v->set, &claims)[i];
    const struct claim_answer *a = &v->answers[i];
    char *constants = constants_text(v, a->constants, " ");
    put_row(o, c,
            &(struct row){a->modelled, a->error_percent, a->verdict, constants, "", a->reason, events ? &v->closed[i] : NULL,
                          claims_evidence(v->set, i), ""},
            events, format);
    free(constants);
    const struct claim_step *steps = claims_steps(v->set, &n);
    for (size_t k = 0; k < n; k++) {
        const struct claim_step *s = &steps[k];
        enum claim_verdict verdict = isnan(s->modelled) ? CLAIM_NOT_MODELLED : claim_compare(c, s->modelled);
        if (s->claim == i)
            put_row(o, c, &(struct row){s->modelled, s->error_percent, verdict, "", "", s->reason, NULL, NULL, s->what}, events,
                    format);
    }
    const struct claim_measure *measured = claims_measures(v->set, &n);
    for (size_t k = 0; k < n; k++) {
        const struct claim_measure *m = &measured[k];
        const char *note = *m->fitted ? m->fitted : m->note;
        if (m->claim == i)
            put_row(o, c, &(struct row){m->value, m->error_percent, m->verdict, "", attention_name(m), note, NULL, NULL, ""},
                    events, format);
    }
}

void validate_print_rows(const struct validation *list, size_t n, enum output_format format)
{
    bool events = n && list[0].closed;
    struct output *o = output_of_rows(events, format);
    for (size_t m = 0; m < n; m++) {
        size_t claims;
        claims_list(list[m].set, &claims);
        for (size_t i = 0; i < claims; i++) put_claim(o, &list[m], i, events, format);
    }
    output_end(o);
}

/* ---- the report ------------------------------------------------------------------------------------------------------------ */

static void print_numbers(const struct validation *v)
{
    size_t n;
    const struct claim *claims = claims_list(v->set, &n);
    static const char *const closed[] = {"CLAIM", "PUBLISHED", "MODELLED", "UNIT",    "ERROR",
                                         "NULL",  "KIND",      "CLASS",    "VERDICT", "CONSTANTS"},
                             *const both[] = {"CLAIM",     "PUBLISHED", "EVENT LEVEL", "UNIT",  "ERROR",   "CLOSED FORM",
                                              "ITS ERROR", "NULL",      "KIND",        "CLASS", "VERDICT", "CONSTANTS"};
    struct output *o = v->closed ? output_new(stdout, OUTPUT_TABLE, both, 12) : output_new(stdout, OUTPUT_TABLE, closed, 10);
    for (size_t i = 0; i < n; i++) {
        const struct claim *c = &claims[i];
        const struct claim_answer *a = &v->answers[i];
        const struct evidence *e = claims_evidence(v->set, i);
        if (isnan(a->modelled)) continue;
        char *published = published_text(c), *constants = constants_text(v, a->constants, ", "), buf[BUF];
        output_text(o, c->id);
        output_text(o, published);
        output_f64(o, a->modelled);
        output_text(o, c->unit);
        output_text(o, percent_text(a->error_percent, buf));
        if (v->closed) output_f64(o, v->closed[i].modelled);
        if (v->closed) output_text(o, percent_text(v->closed[i].error_percent, buf));
        output_text(o, percent_text(e->null_percent, buf));
        output_text(o, c->kind);
        output_text(o, evidence_names[e->class]);
        output_coloured(o, claim_verdict_names[a->verdict], verdict_colour(a->verdict));
        output_text(o, constants);
        free(constants);
        free(published);
    }
    output_end(o);
}

/* Why a measured number is no evidence, or what it is about. The caller frees it. */
static char *measure_note(const struct claim_measure *m)
{
    if (!*m->fitted) return xstrdup(m->note);
    return xasprintf("no evidence: %s%s%s", m->fitted, *m->note ? "; " : "", m->note);
}

/* Claims whose number is taken step by step, each in a table of its own. */
static void print_steps(const struct validation *v)
{
    size_t n, claims;
    const struct claim_step *steps = claims_steps(v->set, &n);
    const struct claim *list = claims_list(v->set, &claims);
    for (size_t i = 0; i < n;) {
        const struct claim *c = &list[steps[i].claim];
        char *published = published_text(c);
        printf("\n%s, published: %s%s%s. Step by step:\n", c->id, published, *c->unit ? " " : "", c->unit);
        free(published);
        struct output *o = output_new(stdout, OUTPUT_TABLE,
                                      (const char *const[]){"STEP", "MODELLED", "CHANGE", "ERROR", "FIDELITY", "WHY NOT"}, 6);
        for (size_t claim = steps[i].claim; i < n && steps[i].claim == claim; i++) {
            char buf[BUF];
            output_text(o, steps[i].what);
            output_f64(o, steps[i].modelled);
            output_f64(o, steps[i].change);
            output_text(o, percent_text(steps[i].error_percent, buf));
            output_text(o, fidelity_names[steps[i].fidelity]);
            output_text(o, steps[i].reason);
        }
        output_end(o);
    }
}

static void print_measures(const struct validation *v)
{
    size_t n, claims;
    const struct claim_measure *measures = claims_measures(v->set, &n);
    const struct claim *list = claims_list(v->set, &claims);
    if (n == 0) return;
    printf("\nMeasured on heads:\n");
    struct output *o = output_new(
        stdout, OUTPUT_TABLE,
        (const char *const[]){"CLAIM", "PUBLISHED", "MEASURED", "UNIT", "ERROR", "SPLIT", "VERDICT", "HEADS", "POSITIONS", "NOTE"},
        10);
    for (size_t i = 0; i < n; i++) {
        const struct claim_measure *m = &measures[i];
        const struct claim *c = &list[m->claim];
        char *published = published_text(c), *note = measure_note(m), buf[BUF];
        output_text(o, c->id);
        output_text(o, published);
        output_f64(o, m->value);
        output_text(o, c->unit);
        output_text(o, percent_text(m->error_percent, buf));
        output_text(o, c->split);
        output_coloured(o, claim_verdict_names[m->verdict], verdict_colour(m->verdict));
        output_text(o, attention_name(m));
        output_text(o, m->at);
        output_text(o, note);
        free(note);
        free(published);
    }
    output_end(o);
    const struct claim_attention *a;
    for (size_t i = 0; (a = claims_attention_at(v->set, i)); i++) terminal_say(stdout, "  %s: %s", a->name, a->source);
}

static const char *reason_text(const struct claim_answer *a)
{
    return a->reason ? a->reason : "";
}

/* One line for each reason, with how many claims have it. */
static void print_reasons(const struct validation *v)
{
    size_t n;
    const struct claim *claims = claims_list(v->set, &n);
    bool *done = xcalloc(n, sizeof *done);
    struct output *o =
        output_new(stdout, OUTPUT_TABLE, (const char *const[]){"CLAIMS", "WITHOUT A NUMBER", "REASON", "SUCH AS"}, 4);
    for (size_t i = 0; i < n; i++) {
        const struct claim_answer *a = &v->answers[i];
        if (done[i] || !isnan(a->modelled)) continue;
        bool input = a->verdict == CLAIM_INPUT;
        int64_t same = 0;
        for (size_t k = i; k < n; k++) {
            const struct claim_answer *b = &v->answers[k];
            if (!isnan(b->modelled) || b->verdict != a->verdict || (!input && strcmp(reason_text(a), reason_text(b)) != 0))
                continue;
            done[k] = true;
            same++;
        }
        output_i64(o, same);
        output_coloured(o, claim_verdict_names[a->verdict], verdict_colour(a->verdict));
        output_text(o, input ? "parameters of the model, and facts about others" : reason_text(a));
        output_text(o, claims[i].id);
    }
    output_end(o);
    free(done);
}

static void print_each_without(const struct validation *v)
{
    size_t n;
    const struct claim *claims = claims_list(v->set, &n);
    struct output *o =
        output_new(stdout, OUTPUT_TABLE,
                   (const char *const[]){"CLAIM", "PUBLISHED", "UNIT", "KIND", "SPLIT", "WITHOUT A NUMBER", "REASON"}, 7);
    for (size_t i = 0; i < n; i++) {
        const struct claim_answer *a = &v->answers[i];
        if (!isnan(a->modelled)) continue;
        char *published = published_text(&claims[i]);
        output_text(o, claims[i].id);
        output_text(o, published);
        output_text(o, claims[i].unit);
        output_text(o, claims[i].kind);
        output_text(o, claims[i].split);
        output_coloured(o, claim_verdict_names[a->verdict], verdict_colour(a->verdict));
        output_text(o, reason_text(a));
        free(published);
    }
    output_end(o);
}

static void print_contradictions(const struct validation *v)
{
    size_t n;
    const struct claim_contradiction *list = claims_contradictions(v->set, &n);
    if (n) printf("\nContradictions in the paper, or between it and arithmetic:\n");
    for (size_t i = 0; i < n; i++) {
        const struct claim_contradiction *c = &list[i];
        char buf[BUF];
        terminal_say(stdout, "  %-4s %s", c->tag, c->text);
        struct text t;
        text_init(&t);
        if (*c->says) text_addf(&t, "the paper: %s%s%s; ", c->says, *c->unit ? " " : "", c->unit);
        if (!isnan(c->modelled))
            text_addf(&t, "the model: %s%s%s; ", text_short_number(buf, c->modelled), *c->unit ? " " : "", c->unit);
        terminal_say(stdout, "       %s%s", t.s, c->verdict);
        text_release(&t);
    }
}

void validate_print_model(const struct validation *v, bool all)
{
    printf("%s\n\n", claims_model(v->set)->desc->title);
    print_numbers(v);
    print_steps(v);
    print_measures(v);
    putchar('\n');
    if (all)
        print_each_without(v);
    else
        print_reasons(v);
    print_contradictions(v);
    putchar('\n');
}
