/* Classes of evidence, and the null model. */
#include "claims/evidence_internal.h"

#include "claims/constants.h"
#include "claims/neighbours.h"
#include "claims/sums.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const evidence_names[] = {
    [EVIDENCE_NONE] = "",
    [EVIDENCE_FITTED] = "fitted",
    [EVIDENCE_IDENTITY] = "identity",
    [EVIDENCE_ARITHMETIC] = "arithmetic",
    [EVIDENCE_INTERPOLATION] = "interpolation",
    [EVIDENCE_INFORMED] = "informed",
    [EVIDENCE_HELD_OUT] = "held out",
    [EVIDENCE_CLASSES] = NULL,
};

/* ---- claims.toml --------------------------------------------------------------------------------------------------------- */

static bool read_class_name(const struct claim_set *s, const struct answer *a, const struct toml_node *name,
                            enum evidence_class *ret, struct diags *diags)
{
    for (int i = EVIDENCE_FITTED; i < EVIDENCE_HELD_OUT; i++)
        if (strcmp(evidence_names[i], name->string) == 0) *ret = (enum evidence_class)i;
    if (*ret) return true;
    return claims_unknown(s, toml_loc(s->doc, name), name->string, evidence_names + 1, EVIDENCE_HELD_OUT - 1,
                          "fitted, identity, arithmetic, interpolation or informed; a number without a class is held out", diags,
                          "%s: there is no class \"%s\"", a->table->key, name->string);
}

bool claims_read_class(const struct claim_set *s, struct answer *a, struct diags *diags)
{
    const struct toml_node *name = toml_expect(s->doc, a->table, "class", TOML_STRING, diags);
    const struct toml_node *because = toml_expect(s->doc, a->table, "because", TOML_STRING, diags);
    if ((!name && toml_get(a->table, "class")) || (!because && toml_get(a->table, "because"))) return false;
    if (!name && !because) return true;
    if (!name || !because || !*because->string)
        return claims_error(s, toml_key_loc(s->doc, name ? name : because), "class = \"informed\", because = \"...\"", diags,
                            "`class` and `because` go together: one of them is missing");
    a->because = because->string;
    a->class_node = name;
    return read_class_name(s, a, name, &a->class, diags);
}

/* ---- rules --------------------------------------------------------------------------------------------------------------- */

static bool is_published_alone(const struct answer *a)
{
    for (size_t i = 0; i < a->n_names; i++)
        if (a->names[i]->source != FROM_PUBLISHED) return false;
    return true;
}

static const char *kept(struct claim_set *s, char *text)
{
    s->texts = xrealloc(s->texts, s->n_texts + 1, sizeof *s->texts);
    return s->texts[s->n_texts++] = text;
}

/* Does `a` differ from the fitted answer by one number of a machine at most, in cases within those fitted? */
static bool is_neighbour(const struct answer *a, const struct answer *fitted)
{
    if (!answers_ask_the_same(a, fitted)) return false;
    struct difference d[DIFFERENCES_MAX];
    size_t n = answers_compare(a, fitted, d), machine = 0;
    for (size_t i = 0; i < n; i++) {
        bool of_machine = d[i].is_number && !d[i].of_case;
        machine += of_machine;
        if (!of_machine && !d[i].inside) return false;
    }
    return machine <= 1;
}

/* The first claim that was fitted to and stands to claim i as `relation` says; or NULL. */
static const struct claim *find_fitted(const struct claim_set *s, size_t i,
                                       bool (*relation)(const struct answer *, const struct answer *))
{
    for (size_t k = 0; k < s->n_claims; k++) {
        const struct claim *c = &s->claims[k];
        if (k != i && !c->held_out && strcmp(c->kind, "input") != 0 && relation(&s->answers[i], &s->answers[k])) return c;
    }
    return NULL;
}

/* The constants that the number depends on and that were chosen, or whose law was, knowing the numbers. NULL: none; else the
 * caller frees it. */
static char *chosen_text(const struct claim_set *s, size_t i)
{
    struct text t;
    text_init(&t);
    for (size_t k = 0; k < s->n_constants; k++) {
        const struct claim_constant *c = &s->constants[k].public;
        if (!(s->depends[i] >> k & 1) || c->borrowed || (c->fit && !*c->knowing)) continue;
        text_addf(&t, "%s%s", t.n ? ", " : "chosen knowing it: ", c->name);
        if (*c->knowing) text_addf(&t, " (%s)", c->knowing);
    }
    if (t.n) return text_detach(&t);
    text_release(&t);
    return NULL;
}

static struct evidence derive(struct claim_set *s, size_t i)
{
    const struct claim *c = &s->claims[i];
    const struct answer *a = &s->answers[i];
    bool alone = s->depends[i] == 0;
    if (!c->held_out) return (struct evidence){.class = EVIDENCE_FITTED, .because = "of split calibrate"};
    if (is_published_alone(a)) return (struct evidence){.class = EVIDENCE_IDENTITY, .because = "made of published numbers alone"};
    const struct claim *fitted = find_fitted(s, i, answers_use_the_same);
    if (fitted)
        return (struct evidence){.class = EVIDENCE_IDENTITY, .because = kept(s, xasprintf("the numbers of %s", fitted->id))};
    if (alone && strcmp(c->kind, "derived") == 0)
        return (struct evidence){.class = EVIDENCE_IDENTITY, .because = "derived from published numbers, without constants"};
    if (alone && strcmp(c->kind, "equation") == 0)
        return (struct evidence){.class = EVIDENCE_ARITHMETIC, .because = "an equation without constants"};
    fitted = find_fitted(s, i, is_neighbour);
    if (fitted) return (struct evidence){.class = EVIDENCE_INTERPOLATION, .because = kept(s, xasprintf("beside %s", fitted->id))};
    char *chosen = chosen_text(s, i);
    if (chosen) return (struct evidence){.class = EVIDENCE_INFORMED, .because = kept(s, chosen)};
    return (struct evidence){.class = EVIDENCE_HELD_OUT, .because = "no rule says otherwise"};
}

/* Find the class of a claim. A class in claims.toml takes precedence and must be weaker. */
static bool classify(struct claim_set *s, size_t i, struct diags *diags)
{
    const struct answer *a = &s->answers[i];
    if (!a->expr || strcmp(s->claims[i].kind, "input") == 0) {
        s->evidence[i] = (struct evidence){.because = ""};
        if (!a->class) return true;
        return claims_error(s, toml_loc(s->doc, a->class_node), "leave it out", diags, "%s has no number of a class",
                            s->claims[i].id);
    }
    s->evidence[i] = derive(s, i);
    if (!a->class) return true;
    if (a->class >= s->evidence[i].class)
        return claims_error(s, toml_loc(s->doc, a->class_node), "leave it out, or name a weaker class", diags,
                            "%s is \"%s\" already: %s", s->claims[i].id, evidence_names[s->evidence[i].class],
                            s->evidence[i].because);
    s->evidence[i].class = a->class;
    s->evidence[i].because = a->because;
    return true;
}

/* ---- the null model ------------------------------------------------------------------------------------------------------ */

/* How far a claim is: names that differ, numbers that differ, and by how much. */
struct distance {
    size_t names, numbers;
    double far;
};

static bool is_nearer(const struct distance *a, const struct distance *b)
{
    if (a->names != b->names) return a->names < b->names;
    if (a->numbers != b->numbers) return a->numbers < b->numbers;
    return a->far < b->far;
}

/* How far apart two claims are. False when they are of different kinds. */
static bool find_distance(const struct answer *a, const struct answer *b, struct distance *ret)
{
    if (!answers_ask_the_same(a, b)) return false;
    struct difference d[DIFFERENCES_MAX];
    size_t n = answers_compare(a, b, d);
    *ret = (struct distance){0};
    for (size_t i = 0; i < n; i++) {
        *(d[i].is_number ? &ret->numbers : &ret->names) += 1;
        ret->far += d[i].far;
    }
    return n > 0 || a->claim->value != b->claim->value; /* else it is one number, published twice */
}

void claims_find_nearest(struct claim_set *s)
{
    for (size_t i = 0; i < s->n_claims; i++) {
        struct evidence *e = &s->evidence[i];
        struct distance nearest = {0}, d;
        e->nearest = NULL;
        e->copied = e->null_percent = (double)NAN;
        for (size_t k = 0; k < s->n_claims; k++) {
            const struct claim *c = &s->claims[k];
            if (k == i || !claim_is_number(c) || !find_distance(&s->answers[i], &s->answers[k], &d)) continue;
            if (e->nearest && !is_nearer(&d, &nearest)) continue;
            nearest = d;
            e->nearest = c->id;
            e->copied = c->value;
        }
        e->null_percent = claim_error_percent(&s->claims[i], e->copied);
    }
}

bool claims_classify(struct claim_set *s, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < s->n_claims; i++) {
        struct evidence null = s->evidence[i];
        ok = classify(s, i, diags) && ok;
        s->evidence[i].nearest = null.nearest;
        s->evidence[i].copied = null.copied;
        s->evidence[i].null_percent = null.null_percent;
    }
    return ok;
}

/* ---- sums ---------------------------------------------------------------------------------------------------------------- */

const struct evidence *claims_evidence(const struct claim_set *s, size_t i)
{
    return &s->evidence[i];
}

struct evidence_sum evidence_sum(const struct claim_set *s, const struct claim_answer *answers, const struct claim_group *group,
                                 enum evidence_class class)
{
    static const struct claim_group all = {.name = "all", .calibrate = true, .holdout = true};
    if (!group) group = &all;
    struct evidence_sum sum = {.model_percent = (double)NAN, .null_percent = (double)NAN};
    bool *in = xcalloc(s->n_claims, sizeof *in);
    double model = 0, null = 0;
    for (size_t i = 0; i < s->n_claims; i++) {
        const struct evidence *e = &s->evidence[i];
        in[i] = claims_in_group(&s->claims[i], group) && e->class != EVIDENCE_NONE && (class == EVIDENCE_NONE || e->class == class);
        if (!in[i] || !claims_has_error(&answers[i]) || isnan(e->null_percent)) continue;
        sum.compared++;
        model += fabs(answers[i].error_percent);
        null += fabs(e->null_percent);
    }
    sum.model = claims_sum_of(s, answers, in);
    if (sum.compared) {
        sum.model_percent = model / (double)sum.compared;
        sum.null_percent = null / (double)sum.compared;
    }
    free(in);
    return sum;
}
