/* The names in an expression: numbers of machines, published numbers, and statistics of heads. */
#include "claims/answers.h"
#include "claims/rows.h"

#include "base/xalloc.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* What an expression's names are looked up in while it is compiled. */
struct scope {
    struct claim_set *set;
    struct answer *answer;
    const struct toml_node *published;
};

/* ---- the numbers of machines ----------------------------------------------------------------------------------------------- */

static struct name *add_name(struct answer *a, const char *text, enum source source)
{
    struct name *n = xcalloc(1, sizeof *n);
    *n = (struct name){.text = xstrdup(text), .source = source, .value = 1};
    a->names = xrealloc(a->names, a->n_names + 1, sizeof(struct name *));
    a->names[a->n_names++] = n;
    return n;
}

static bool unknown_machine(const struct claim_set *s, const char *name, struct srcloc loc, struct diags *diags)
{
    size_t models;
    const struct model *all = registry_models(&models);
    const char **names = xcalloc(s->n_machines + models, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < s->n_machines; i++) names[n++] = s->machines[i]->name;
    for (size_t i = 0; i < models; i++) names[n++] = all[i].desc->name;
    claims_unknown(s, loc, name, names, n, "write [machines.NAME], or the name of a model", diags, "there is no machine \"%s\"",
                   name);
    free(names);
    return false;
}

static bool unknown_number(const struct claim_set *s, const struct model *m, const char *name, struct srcloc loc,
                           struct diags *diags)
{
    const struct schema *schemas[] = {&m->params, &m->metrics, &m->equations};
    const char **names = xcalloc(m->params.n + m->metrics.n + m->equations.n, sizeof *names);
    size_t n = 0;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < schemas[k]->n; i++)
            if (field_is_number(&schemas[k]->fields[i])) names[n++] = schemas[k]->fields[i].name;
    char *otherwise = xasprintf("`dse describe %s` lists them", m->desc->name);
    claims_unknown(s, loc, name, names, n, otherwise, diags, "%s has no parameter, metric or equation \"%s\"", m->desc->name, name);
    free(otherwise);
    free(names);
    return false;
}

/* "llm.layers": a field of the entry that a parameter refers to. */
static bool find_entry_field(const struct claim_set *s, const struct model *m, const char *text, struct srcloc loc, struct name *n,
                             struct diags *diags)
{
    const char *dot = strchr(text, '.');
    char *param = xstrndup(text, (size_t)(dot - text));
    n->ref = schema_find(&m->params, param);
    free(param);
    if (!n->ref || n->ref->type != DSE_TYPE_REF) return unknown_number(s, m, text, loc, diags);
    const struct schema *fields = catalog_fields(s->catalog, n->ref->kind);
    n->field = schema_find(fields, dot + 1);
    n->source = FROM_ENTRY;
    if (n->field && field_is_number(n->field)) return true;
    const char **names = schema_names(fields);
    claims_unknown(s, loc, dot + 1, names, fields->n, NULL, diags, "an entry of the %s has no number \"%s\"",
                   kind_plural(n->ref->kind), dot + 1);
    free(names);
    return false;
}

/* Find NAME of MACHINE.NAME, a number of the machine's model. */
static bool find_field(const struct claim_set *s, const struct model *m, const char *text, struct srcloc loc, struct name *n,
                       struct diags *diags)
{
    static const enum source sources[] = {FROM_PARAMS, FROM_METRICS, FROM_EQUATIONS};
    const struct schema *schemas[] = {&m->params, &m->metrics, &m->equations};
    if (strchr(text, '.')) return find_entry_field(s, m, text, loc, n, diags);
    for (size_t k = 0; k < 3 && !n->field; k++) {
        n->field = schema_find(schemas[k], text);
        n->source = sources[k];
    }
    if (!n->field) return unknown_number(s, m, text, loc, diags);
    if (n->field->without) return claims_error(s, loc, NULL, diags, "%s has no meaning for model %s", text, m->desc->name);
    if (field_is_number(n->field)) return true;
    return claims_error(s, loc, NULL, diags, "%s is a name, not a number: it cannot stand in an expression", text);
}

static double *find_machine_number(struct scope *in, const char *text, struct srcloc loc, struct diags *diags)
{
    struct claim_set *s = in->set;
    const char *dot = strchr(text, '.');
    char *name = xstrndup(text, (size_t)(dot - text));
    struct machine *m = claims_machine(s, name);
    if (!m) unknown_machine(s, name, loc, diags);
    free(name);
    if (!m || !m->model) return NULL;
    struct name *n = add_name(in->answer, text, FROM_PARAMS);
    if (!find_field(s, m->model, dot + 1, loc, n, diags)) return NULL;
    n->place = claims_place(s, m, in->answer->cases, in->answer->set, diags);
    return n->place ? &n->value : NULL;
}

/* ---- published numbers ------------------------------------------------------------------------------------------------------- */

static bool match_published(const struct claim_set *s, const struct answer *a, const struct toml_node *node, struct name *n,
                            struct diags *diags)
{
    for (size_t i = 0; i < s->n_claims; i++) {
        if (fnmatch(node->string, s->claims[i].id, 0) != 0) continue;
        if (&s->claims[i] == a->claim)
            return claims_error(s, toml_loc(s->doc, node), NULL, diags, "a claim cannot be its own answer");
        n->published = xrealloc(n->published, n->n_published + 1, sizeof *n->published);
        n->published[n->n_published++] = &s->claims[i];
    }
    if (n->n_published) return true;
    return claims_no_such_id(s, node->string, toml_loc(s->doc, node), diags);
}

static double *find_published(struct scope *in, const char *text, struct srcloc loc, struct diags *diags)
{
    const struct claim_set *s = in->set;
    const struct toml_node *node = in->published ? toml_get(in->published, text) : NULL;
    if (!node) {
        claims_error(s, loc, "MACHINE.NAME, or a name of `published`", diags, "there is no number \"%s\"", text);
        return NULL;
    }
    struct name *n = add_name(in->answer, text, FROM_PUBLISHED);
    if (node->type == TOML_STRING) return match_published(s, in->answer, node, n, diags) ? &n->value : NULL;
    claims_error(s, toml_loc(s->doc, node), "published = { name = \"id of a claim\" }", diags, "%s: an id is needed, not %s", text,
                 toml_type_name(node->type));
    return NULL;
}

/* ---- statistics -------------------------------------------------------------------------------------------------------------- */

static double *find_statistic(struct scope *in, const char *text, struct srcloc loc, struct diags *diags)
{
    size_t i = 0;
    while (i < STATISTICS && strcmp(statistic_names[i], text) != 0) i++;
    if (i == STATISTICS) {
        struct text all;
        text_init(&all);
        for (size_t k = 0; k < STATISTICS; k++) text_addf(&all, "%s%s", k ? ", " : "one of ", statistic_names[k]);
        claims_unknown(in->set, loc, text, statistic_names, STATISTICS, all.s, diags, "there is no statistic \"%s\"", text);
        text_release(&all);
        return NULL;
    }
    struct name *n = add_name(in->answer, text, FROM_STATISTIC);
    n->statistic = (enum statistic)i;
    return &n->value;
}

static double *find_name(void *context, const char *text, struct srcloc loc, const char *source_text, struct diags *diags)
{
    struct scope *in = context;
    (void)source_text; /* claims_error quotes the set's own */
    for (size_t i = 0; i < in->answer->n_names; i++)
        if (strcmp(in->answer->names[i]->text, text) == 0) return &in->answer->names[i]->value;
    if (in->answer->measured) return find_statistic(in, text, loc, diags);
    return strchr(text, '.') ? find_machine_number(in, text, loc, diags) : find_published(in, text, loc, diags);
}

struct expr *claims_compile(struct claim_set *s, struct answer *a, const struct toml_node *published, struct diags *diags)
{
    struct scope scope = {s, a, published};
    struct expr_scope names = {.find = find_name, .context = &scope};
    return expr_new_in(a->value->string, toml_string_loc(s->doc, a->value), s->doc->text, &names, diags);
}
