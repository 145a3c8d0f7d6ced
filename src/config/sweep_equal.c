/* [equal] of a sweep file: terms on which all of its models are put on one value (config/equal_terms.h). */
#include "config/sweep_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"
#include "config/equal_terms.h"

#include <stdlib.h>
#include <string.h>

/* TERM = VALUE, or TERM = { value = VALUE, except = ["MODEL"] }. */
struct equal {
    const struct equal_term *term;
    const struct toml_node *value, *except; /* the names; NULL: no model is left out */
    struct srcloc first;                    /* of what another section gives instead, and was told of; line 0: nothing */
    bool is_bad;                            /* the value is none, which was said */
};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static const struct equal_term *find_term(struct reading *r, const struct toml_node *node)
{
    const struct equal_term *t = equal_term_find(node->key);
    if (t) return t;
    struct text all;
    text_init(&all);
    const char **names = NULL;
    size_t n = 0;
    for (const struct equal_term *k = equal_terms; k->name; k++) {
        names = xrealloc(names, n + 1, sizeof *names);
        names[n++] = k->name;
        text_addf(&all, "%s%s", n > 1 ? ", " : "", k->name);
    }
    const char *near = text_nearest(node->key, names, n);
    char *hint = xasprintf("%s%s%sthe terms are %s; a parameter that all models have under one name belongs into [params]",
                           near ? "did you mean \"" : "", near ? near : "", near ? "\"? " : "", all.s);
    diags_input(r->diags, toml_key_loc(r->doc, node), r->doc->text, hint, "[equal] has no term \"%s\"", node->key);
    free(hint);
    free(names);
    text_release(&all);
    return NULL;
}

/* Every name of `except` is a model of the sweep. */
static bool check_except(struct reading *r, const struct toml_node *except)
{
    bool ok = true;
    const char **names = xcalloc(r->out->n_models, sizeof *names);
    for (size_t m = 0; m < r->out->n_models; m++) names[m] = r->out->bindings[m]->model->desc->name;
    for (size_t i = 0; i < except->n; i++) {
        const struct toml_node *node = &except->children[i];
        bool found = false;
        for (size_t m = 0; m < r->out->n_models && node->type == TOML_STRING; m++)
            found = found || strcmp(names[m], node->string) == 0;
        if (found) continue;
        ok = false;
        if (node->type != TOML_STRING)
            diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "a model's name is needed, not %s",
                        toml_type_name(node->type));
        else if (!r->model_missing)
            diags_unknown(r->diags, toml_loc(r->doc, node), r->doc->text, node->string, names, r->out->n_models,
                          "`models` of [sweep] lists the models of the sweep", "the sweep has no model \"%s\"", node->string);
    }
    free(names);
    return ok;
}

static bool read_term(struct reading *r, const struct toml_node *node, struct equal *ret)
{
    static const char *const keys[] = {"value", "except"};
    *ret = (struct equal){.term = find_term(r, node), .value = node};
    if (!ret->term) return false;
    if (node->type == TOML_TABLE && toml_get(node, "value")) {
        const bool ok = toml_check_keys(r->doc, node, keys, sizeof keys / sizeof *keys, r->diags);
        ret->value = toml_get(node, "value");
        ret->except = toml_expect(r->doc, node, "except", TOML_ARRAY, r->diags);
        if (!ok || (!ret->except && toml_get(node, "except")) || (ret->except && !check_except(r, ret->except))) return false;
    }
    const enum toml_type type = ret->value->type;
    if (type == TOML_STRING || type == TOML_INTEGER || type == TOML_FLOAT) return true;
    return diags_input(r->diags, toml_loc(r->doc, ret->value), r->doc->text,
                       "one value, or { value = ..., except = [\"MODEL\"] }; an axis belongs into [params]",
                       "[equal] %s: one value is needed, not %s", node->key, toml_type_name(type));
}

static bool is_left_out(const struct equal *e, const char *model)
{
    for (size_t i = 0; e->except && i < e->except->n; i++)
        if (strcmp(e->except->children[i].string, model) == 0) return true;
    return false;
}

/* ---- one model ----------------------------------------------------------------------------------------------------------- */

static double number_of(const struct toml_node *value)
{
    return value->type == TOML_INTEGER ? (double)value->integer : value->number;
}

/* The value as the user wrote it, without quotes. buf holds TEXT_NUMBER_MAX bytes. */
static const char *written(const struct toml_node *value, char *buf)
{
    if (value->type == TOML_STRING) return value->string;
    return text_number(buf, number_of(value));
}

/* "a100-80gb has it; ", with the names in quotes: the entries that have the value. */
static void add_fitting(struct text *hint, const struct equal *e, const struct binding *b, const struct field *names)
{
    enum { FEW = 6 };
    const bool is_name = e->value->type == TOML_STRING;
    const struct dse_entry *entry;
    size_t found = 0;
    for (size_t i = 0; (entry = catalog_at(b->catalog, names->kind, i)); i++) {
        if (!equal_entry_is(e->term, b, names, entry, is_name ? e->value->string : NULL, is_name ? 0 : number_of(e->value)))
            continue;
        if (found++ < FEW) text_addf(hint, "%s\"%s\"", found > 1 ? ", " : "", entry->name);
    }
    if (found) text_addf(hint, "%s %s it; ", found > FEW ? ", ..." : "", found > 1 ? "have" : "has");
}

/* Add that the model cannot have the value, because of what `why` says, which is freed; `names`: the parameter whose entry says
 * otherwise, or NULL. Always false. */
static bool refuse(struct reading *r, const struct equal *e, const struct binding *b, const struct field *names, char *why)
{
    char buf[TEXT_NUMBER_MAX];
    const char *quote = e->value->type == TOML_STRING ? "\"" : "", *value = written(e->value, buf), *name = b->model->desc->name;
    struct text hint;
    text_init(&hint);
    if (names) add_fitting(&hint, e, b, names);
    text_addf(&hint, "%s = { value = %s%s%s, except = [\"%s\"] } keeps its own value, and the run notes this", e->term->name, quote,
              value, quote, name);
    diags_input(r->diags, toml_loc(r->doc, e->value), r->doc->text, hint.s, "[equal] %s: %s cannot have %s: %s", e->term->name,
                name, value, why);
    text_release(&hint);
    free(why);
    return false;
}

/* Add that the parameter is given elsewhere, once for what [params] gives to all models. Always false. */
static bool refuse_given(struct reading *r, struct equal *e, const struct binding *b, const struct field *f)
{
    const struct given *g = &b->given[schema_index(&b->model->params, f)];
    if (e->first.line == g->loc.line && e->first.column == g->loc.column) return false;
    e->first = g->loc;
    char *hint =
        xasprintf("%s was given first at %s:%d:%d: leave one of the two out", f->name, g->loc.file, g->loc.line, g->loc.column);
    diags_input(r->diags, toml_loc(r->doc, e->value), r->doc->text, hint, "[equal] %s: %s of %s is given twice", e->term->name,
                f->name, b->model->desc->name);
    free(hint);
    return false;
}

/* All parameters of the term that the model has get the value. */
static bool set_params(struct reading *r, struct equal *e, struct binding *b)
{
    bool ok = true;
    for (const char *const *p = e->term->params; *p && !e->is_bad; p++) {
        const struct field *f = schema_find(&b->model->params, *p);
        if (!f) continue;
        struct given *g = &b->given[schema_index(&b->model->params, f)];
        if (g->is_given) {
            ok = refuse_given(r, e, b, f);
            continue;
        }
        g->is_equal = binding_set_node(b, f, r->doc, e->value, r->diags);
        e->is_bad = !g->is_equal;
    }
    return ok && !e->is_bad;
}

/* What is made of an entry takes what the entry says already, whichever of its entries the sweep names. */
static bool check_entry(struct reading *r, const struct equal *e, const struct binding *b, const struct field *names)
{
    char have[EQUAL_TEXT_MAX];
    const bool is_name = e->value->type == TOML_STRING;
    size_t n = 1;
    for (size_t i = 0; i < n; i++) {
        const struct dse_entry *entry = equal_entry_at(b, names, i, &n);
        if (equal_entry_is(e->term, b, names, entry, is_name ? e->value->string : NULL, is_name ? 0 : number_of(e->value)))
            continue;
        const char *text = equal_entry_text(e->term, b, names, entry, have);
        char *why = text
                        ? xasprintf("its %s \"%s\" %s %s", names->name, entry->name, e->term->entry_has, text)
                        : xasprintf("the catalog does not say %s of its %s \"%s\"", e->term->entry_field, names->name, entry->name);
        return refuse(r, e, b, names, why);
    }
    return true;
}

static bool apply(struct reading *r, struct equal *e, struct binding *b)
{
    const struct field *f;
    char buf[TEXT_NUMBER_MAX];
    switch (equal_hold_of(e->term, b, &f)) {
    case EQUAL_BY_PARAMS: return set_params(r, e, b);
    case EQUAL_BY_ENTRY: return check_entry(r, e, b, f);
    case EQUAL_ELSEWHERE:
        return refuse(r, e, b, NULL,
                      xasprintf("its parameter for it is %s, in %s; [params.%s] sets this one", f->name,
                                *f->unit ? f->unit : "another unit", b->model->desc->name));
    case EQUAL_BY_NATURE:
        if (e->value->type != TOML_STRING && number_of(e->value) == e->term->without) return true;
        return refuse(r, e, b, NULL,
                      xasprintf("it has no parameter for it, and its value is always %s", text_number(buf, e->term->without)));
    default: return refuse(r, e, b, NULL, xasprintf("it has no parameter for it, and no catalog entry gives its value"));
    }
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

/* "technology = 7nm (not swiftkv)", for people. */
static void describe(struct text *t, const struct equal *e)
{
    char buf[TEXT_NUMBER_MAX];
    text_addf(t, "%s%s = %s", t->n ? ", " : "", e->term->name, written(e->value, buf));
    for (size_t i = 0; e->except && i < e->except->n; i++)
        text_addf(t, "%s%s%s", i ? ", " : " (not ", e->except->children[i].string, i + 1 == e->except->n ? ")" : "");
}

bool sweep_read_equal(struct reading *r)
{
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "equal", TOML_TABLE, r->diags);
    bool ok = table || !toml_get(&r->doc->root, "equal");
    struct text described;
    text_init(&described);
    for (size_t i = 0; table && i < table->n; i++) {
        struct equal e;
        if (!read_term(r, &table->children[i], &e)) {
            ok = false;
            continue;
        }
        for (size_t m = 0; m < r->out->n_models; m++)
            if (!is_left_out(&e, r->out->bindings[m]->model->desc->name)) ok = apply(r, &e, r->out->bindings[m]) && ok;
        describe(&described, &e);
    }
    r->out->equal_text = described.n ? text_detach(&described) : NULL;
    text_release(&described);
    return ok;
}
