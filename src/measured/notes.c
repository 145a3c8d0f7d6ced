/* Kinds of regimes, their targets, and why regimes are wrong. */
#include "measured/notes.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/toml.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

static const struct model *read_model(const struct toml_doc *doc, const struct toml_node *table, struct diags *diags)
{
    const struct toml_node *name = toml_expect(doc, table, "model", TOML_STRING, diags);
    const struct model *model = name ? registry_find(name->string) : NULL;
    if (!model)
        diags_input(diags, toml_loc(doc, name ? name : table), doc->text, "`dse list models`",
                    name ? "there is no such model" : "model is missing");
    return model;
}

/* A list of texts, which ends with NULL; they stay the document's. */
static const char **read_texts(const struct toml_doc *doc, const struct toml_node *table, const char *key, struct diags *diags)
{
    const struct toml_node *list = toml_expect(doc, table, key, TOML_ARRAY, diags);
    const char **ret = xcalloc((list ? list->n : 0) + 1, sizeof *ret);
    bool ok = list && list->n > 0;
    if (!ok && (list || !toml_get(table, key)))
        diags_input(diags, toml_loc(doc, list ? list : table), doc->text, "[\"attention, decode*\", ...]",
                    "%s: a list of texts is needed", key);
    for (size_t i = 0; ok && i < list->n; i++) {
        ok = list->children[i].type == TOML_STRING;
        if (!ok) diags_input(diags, toml_loc(doc, &list->children[i]), doc->text, NULL, "a text is needed");
        ret[i] = list->children[i].string;
    }
    if (ok) return ret;
    free(ret);
    return NULL;
}

static bool read_kind(struct measured_notes *n, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"model", "name", "regimes", "target"};
    const struct toml_node *target = toml_get(table, "target"), *name = toml_expect(n->doc, table, "name", TOML_STRING, diags);
    if (!toml_check_keys(n->doc, table, keys, sizeof keys / sizeof *keys, diags)) return false;
    if (!name) return diags_input(diags, toml_loc(n->doc, table), n->doc->text, NULL, "name is missing");
    const double percent = !target                        ? (double)NAN
                           : target->type == TOML_INTEGER ? (double)target->integer
                           : target->type == TOML_FLOAT   ? target->number
                                                          : -1;
    if (percent <= 0) return diags_input(diags, toml_loc(n->doc, target), n->doc->text, NULL, "target: percent, above 0");
    struct measured_kind *k = &n->kinds[n->n_kinds++];
    *k = (struct measured_kind){.name = name->string, .target = percent};
    k->model = read_model(n->doc, table, diags);
    k->regimes = read_texts(n->doc, table, "regimes", diags);
    return k->model && k->regimes;
}

static bool read_cause(struct measured_notes *n, const struct toml_node *table, struct diags *diags)
{
    static const char *const keys[] = {"model", "regimes", "source", "cause"};
    const struct toml_node *cause = toml_expect(n->doc, table, "cause", TOML_STRING, diags),
                           *source = toml_expect(n->doc, table, "source", TOML_STRING, diags);
    if (!toml_check_keys(n->doc, table, keys, sizeof keys / sizeof *keys, diags) || (!source && toml_get(table, "source")))
        return false;
    if (!cause || !*cause->string) return diags_input(diags, toml_loc(n->doc, table), n->doc->text, NULL, "cause is missing");
    struct measured_cause *c = &n->causes[n->n_causes++];
    *c = (struct measured_cause){.cause = cause->string, .source = source ? source->string : NULL};
    c->model = read_model(n->doc, table, diags);
    c->regimes = read_texts(n->doc, table, "regimes", diags);
    return c->model && c->regimes;
}

typedef bool read_one(struct measured_notes *n, const struct toml_node *table, struct diags *diags);

/* Every [[KEY]]; their number, at most. */
static size_t tables_of(const struct measured_notes *n, const char *key)
{
    const struct toml_node *list = toml_get(&n->doc->root, key);
    return list && list->type == TOML_ARRAY ? list->n : 0;
}

static bool read_all(struct measured_notes *n, const char *key, read_one *read, struct diags *diags)
{
    const struct toml_node *list = toml_expect(n->doc, &n->doc->root, key, TOML_ARRAY, diags);
    bool ok = list || !toml_get(&n->doc->root, key);
    for (size_t i = 0; list && i < list->n; i++) {
        const struct toml_node *one = &list->children[i];
        if (one->type != TOML_TABLE)
            ok = diags_input(diags, toml_loc(n->doc, one), n->doc->text, NULL, "write [[%s]]", key);
        else
            ok = read(n, one, diags) && ok;
    }
    return ok;
}

/* [constants]: lists of parameters that are numbers. */
static bool check_constants(const struct measured_notes *n, struct diags *diags)
{
    const struct toml_node *all = toml_expect(n->doc, &n->doc->root, "constants", TOML_TABLE, diags);
    bool ok = all || !toml_get(&n->doc->root, "constants");
    for (size_t i = 0; all && i < all->n; i++) {
        const struct toml_node *list = &all->children[i];
        const struct model *m = registry_find(list->key);
        if (!m || list->type != TOML_ARRAY)
            ok = diags_input(diags, toml_key_loc(n->doc, list), n->doc->text, NULL, "MODEL = [\"PARAMETER\", ...] is needed");
        for (size_t k = 0; m && list->type == TOML_ARRAY && k < list->n; k++) {
            const struct toml_node *name = &list->children[k];
            const struct field *f = name->type == TOML_STRING ? schema_find(&m->params, name->string) : NULL;
            if (!f || !field_is_number(f))
                ok = diags_input(diags, toml_loc(n->doc, name), n->doc->text, NULL, "a parameter of %s that is a number is needed",
                                 list->key);
        }
    }
    return ok;
}

static bool read_doc(struct measured_notes *n, struct diags *diags)
{
    static const char *const keys[] = {"kind", "cause", "constants"};
    n->kinds = xcalloc(tables_of(n, "kind") + 1, sizeof *n->kinds);
    n->causes = xcalloc(tables_of(n, "cause") + 1, sizeof *n->causes);
    bool ok = toml_check_keys(n->doc, &n->doc->root, keys, sizeof keys / sizeof *keys, diags);
    ok = read_all(n, "kind", read_kind, diags) && ok;
    ok = read_all(n, "cause", read_cause, diags) && ok;
    return check_constants(n, diags) && ok;
}

struct measured_notes *measured_notes_open(const char *dir, struct diags *diags)
{
    struct measured_notes *n = xcalloc(1, sizeof *n);
    char *path = xasprintf("%s/causes.toml", dir);
    const bool is_there = access(path, F_OK) == 0;
    n->doc = is_there ? toml_read_file(path, diags) : NULL;
    free(path);
    if (!is_there || (n->doc && read_doc(n, diags))) return n;
    measured_notes_free(n);
    return NULL;
}

void measured_notes_free(struct measured_notes *n)
{
    if (!n) return;
    for (size_t i = 0; i < n->n_kinds; i++) free(n->kinds[i].regimes);
    for (size_t i = 0; i < n->n_causes; i++) free(n->causes[i].regimes);
    free(n->kinds);
    free(n->causes);
    toml_free(n->doc);
    free(n);
}

/* ---- asking ---------------------------------------------------------------------------------------------------------------- */

static bool has(const char *const *patterns, const char *regime)
{
    for (; *patterns; patterns++)
        if (fnmatch(*patterns, regime, FNM_NOESCAPE) == 0) return true;
    return false;
}

const struct measured_kind *measured_kind_of(const struct measured_notes *n, const struct model *model, const char *regime)
{
    for (size_t i = 0; i < n->n_kinds; i++)
        if (n->kinds[i].model == model && has(n->kinds[i].regimes, regime)) return &n->kinds[i];
    return NULL;
}

const struct measured_cause *measured_cause_of(const struct measured_notes *n, const struct measured_sum *sum)
{
    for (size_t i = 0; i < n->n_causes; i++) {
        const struct measured_cause *c = &n->causes[i];
        if (c->model == sum->model && (!c->source || strcmp(c->source, sum->source) == 0) && has(c->regimes, sum->regime)) return c;
    }
    return NULL;
}

bool measured_is_wrong(const struct measured_notes *n, const struct measured_sum *sum)
{
    const struct measured_kind *k = measured_kind_of(n, sum->model, sum->regime);
    if (sum->split != MEASURED_TEST || sum->rows == 0) return false;
    return (k && sum->mean_abs > k->target) || (sum->rows >= MEASURED_MANY && fabs(sum->mean) > MEASURED_BIAS);
}
