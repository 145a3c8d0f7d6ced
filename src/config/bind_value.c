/* Scalars and lists as values of a parameter. */
#include "config/bind_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool bind_error(const struct toml_doc *doc, const struct toml_node *node, const struct field *f, struct diags *diags,
                const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    char *allowed = field_allowed(f);
    diags_input(diags, toml_loc(doc, node), doc->text, allowed, "%s: %s", f->name, message);
    free(allowed);
    free(message);
    return false;
}

/* Add an error about a name that is not allowed. The hint is the nearest name, and all of them when they are few, or choices. */
static bool unknown_name(const struct toml_doc *doc, const struct toml_node *node, const struct field *f, const char *const *names,
                         size_t n, struct diags *diags)
{
    enum { FEW = 10 };
    if (diags_is_full(diags)) return false;
    struct text hint;
    text_init(&hint);
    const char *near = text_nearest(node->string, names, n);
    if (near) text_addf(&hint, "did you mean \"%s\"? ", near);
    const bool is_entry = f->type == DSE_TYPE_REF, all = !is_entry || n <= FEW;
    if (all) text_add(&hint, "There are: ");
    for (size_t i = 0; i < n && all; i++) text_addf(&hint, "%s%s", i ? ", " : "", names[i]);
    if (!all)
        text_addf(&hint, "`dse list %s` shows all %zu; entries of a file of your own need --catalog FILE (-c FILE)",
                  kind_plural(f->kind), n);
    const char *word = is_entry ? kind_singular(f->kind) : "choice";
    bool result =
        diags_input(diags, toml_loc(doc, node), doc->text, hint.s, "%s: there is no %s \"%s\"", f->name, word, node->string);
    text_release(&hint);
    return result;
}

static bool bind_choice(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, struct value *ret,
                        struct diags *diags)
{
    size_t n = 0;
    for (; f->choices[n]; n++) {
        if (strcmp(f->choices[n], node->string) != 0) continue;
        ret->choice = (int32_t)n;
        return true;
    }
    return unknown_name(doc, node, f, f->choices, n, diags);
}

static bool bind_ref(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                     struct value *ret, struct diags *diags)
{
    ret->ref = catalog_find(b->catalog, f->kind, node->string);
    if (ret->ref) return true;
    size_t n = 0;
    while (catalog_at(b->catalog, f->kind, n)) n++;
    const char **names = xcalloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = catalog_at(b->catalog, f->kind, i)->name;
    unknown_name(doc, node, f, names, n, diags);
    free(names);
    return false;
}

static bool bind_number(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, const char *what,
                        struct value *ret, struct diags *diags)
{
    if (node->type != TOML_INTEGER && node->type != TOML_FLOAT)
        return bind_error(doc, node, f, diags, "a number is needed, not %s", toml_type_name(node->type));
    double x = node->type == TOML_INTEGER ? (double)node->integer : node->number;
    if (f->type == DSE_TYPE_F64) {
        ret->f64 = x == 0 ? 0 : x; /* there is one zero */
    } else if (node->type == TOML_INTEGER) {
        ret->i64 = node->integer;
    } else if (isfinite(x) && x == floor(x) && fabs(x) <= 9007199254740992.0) {
        ret->i64 = (int64_t)x;
    } else {
        char buf[TEXT_NUMBER_MAX];
        return bind_error(doc, node, f, diags, "%s is not a whole number", text_number(buf, x));
    }
    return field_check(f, *ret, toml_loc(doc, node), doc->text, what, diags);
}

bool bind_scalar(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                 const char *what, struct value *ret, struct diags *diags)
{
    *ret = (struct value){0};
    if (f->type == DSE_TYPE_F64 || f->type == DSE_TYPE_I64) return bind_number(f, doc, node, what, ret, diags);
    if (node->type != TOML_STRING)
        return bind_error(doc, node, f, diags, "a name in quotes is needed, not %s", toml_type_name(node->type));
    return f->type == DSE_TYPE_ENUM ? bind_choice(f, doc, node, ret, diags) : bind_ref(b, f, doc, node, ret, diags);
}

static bool same_value(const struct field *f, struct value a, struct value b)
{
    switch (f->type) {
    case DSE_TYPE_F64: return a.f64 == b.f64;
    case DSE_TYPE_I64: return a.i64 == b.i64;
    case DSE_TYPE_ENUM: return a.choice == b.choice;
    default: return a.ref == b.ref;
    }
}

/* The place of a value in a list: "third of the list". buf holds 64 bytes. */
static const char *ordinal(size_t i, char buf[64])
{
    static const char *const words[] = {"first", "second",  "third",  "fourth", "fifth",
                                        "sixth", "seventh", "eighth", "ninth",  "tenth"};
    if (i < sizeof words / sizeof *words)
        snprintf(buf, 64, "%s of the list", words[i]);
    else
        snprintf(buf, 64, "number %zu of the list", i + 1);
    return buf;
}

struct listed {
    struct value value;
    size_t at;
};

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = (x->value.i64 > y->value.i64) - (x->value.i64 < y->value.i64); /* of the bits, whatever the type */
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Check that each value is given once, by sorting the bits of all values and comparing neighbours. */
static bool check_duplicates(const struct field *f, const struct toml_doc *doc, const struct toml_node *list,
                             const struct value *values, struct diags *diags)
{
    struct listed *sorted = xcalloc(list->n, sizeof *sorted);
    for (size_t i = 0; i < list->n; i++) sorted[i] = (struct listed){values[i], i};
    qsort(sorted, list->n, sizeof *sorted, compare_listed);
    bool ok = true;
    for (size_t i = 1; i < list->n; i++) {
        if (!same_value(f, sorted[i - 1].value, sorted[i].value)) continue;
        char buf[TEXT_NUMBER_MAX], place[64];
        ok = bind_error(doc, &list->children[sorted[i].at], f, diags, "%s (%s) stands in the list already",
                        value_text(f, sorted[i].value, buf), ordinal(sorted[i].at, place));
    }
    free(sorted);
    return ok;
}

static bool bind_list(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                      struct given *g, struct diags *diags)
{
    if (node->n == 0) return bind_error(doc, node, f, diags, "the list is empty");
    struct value *values = xcalloc(node->n, sizeof *values);
    bool ok = true;
    for (size_t i = 0; i < node->n; i++) {
        char place[64];
        const struct toml_node *child = &node->children[i];
        if (child->type == TOML_ARRAY || child->type == TOML_TABLE)
            ok = bind_error(doc, child, f, diags, "a list holds values, not %s", toml_type_name(child->type));
        else
            ok = bind_scalar(b, f, doc, child, ordinal(i, place), &values[i], diags) && ok;
    }
    if (ok) ok = check_duplicates(f, doc, node, values, diags);
    if (!ok) {
        free(values);
        return false;
    }
    g->n = node->n;
    g->values = values;
    return true;
}

bool bind_values(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                 struct given *g, struct diags *diags)
{
    if (node->type == TOML_ARRAY) return bind_list(b, f, doc, node, g, diags);
    if (node->type == TOML_TABLE) return bind_range(f, doc, node, g, diags);
    struct value v;
    if (!bind_scalar(b, f, doc, node, NULL, &v, diags)) return false;
    g->n = 1;
    g->values = xcalloc(1, sizeof v);
    g->values[0] = v;
    return true;
}
