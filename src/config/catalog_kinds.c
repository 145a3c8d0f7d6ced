#include "config/catalog_kinds.h"

#include "base/xalloc.h"
#include "config/catalog_internal.h"

#include <stdlib.h>
#include <string.h>

const char *const catalog_kind_keys[] = {"layer_kinds", "kinds", NULL};

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

/* Attention and network as an LLM without lists has them. */
static struct dse_layer_kind usual_kind(const struct dse_llm *llm)
{
    return (struct dse_layer_kind){.attention = llm->latent.kv_rank > 0 ? DSE_LATENT : DSE_FULL,
                                   .beside = DSE_NO_MIXER,
                                   .feed_forward = llm->moe.experts > 0 ? DSE_FFN_EXPERTS : DSE_FFN_DENSE,
                                   .shape = llm->shape};
}

static bool read_kind(struct catalog *c, const struct schema *fields, struct dse_llm *llm, const struct toml_doc *doc,
                      const struct toml_node *table, struct diags *diags)
{
    if (table->type != TOML_TABLE)
        return diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s is %s; a kind of layers is a table", table->key,
                           toml_type_name(table->type));
    if (llm->n_kinds == DSE_LAYER_KINDS_MAX)
        return diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "more than %d kinds of layers", DSE_LAYER_KINDS_MAX);
    const char **names = schema_names(fields);
    bool ok = toml_check_keys(doc, table, names, fields->n, diags);
    free(names);
    struct dse_layer_kind *k = &llm->kinds[llm->n_kinds++];
    *k = usual_kind(llm);
    k->name = catalog_intern(c, table->key);
    for (size_t i = 0; i < fields->n; i++) {
        const struct toml_node *node = toml_get(table, fields->fields[i].name);
        if (!node) continue;
        ok = catalog_set_key(&fields->fields[i], k, doc, node, diags) && ok;
        k->own |= (uint64_t)1 << i;
    }
    return ok;
}

static bool read_kinds(struct catalog *c, const struct schema *fields, struct dse_llm *llm, const struct toml_doc *doc,
                       const struct toml_node *kinds, struct diags *diags)
{
    bool ok = true;
    if (kinds->type != TOML_TABLE)
        return diags_input(diags, toml_key_loc(doc, kinds), doc->text, NULL, "kinds is %s; it has a table for each kind of layers",
                           toml_type_name(kinds->type));
    llm->n_kinds = 0;
    for (size_t i = 0; i < kinds->n; i++) ok = read_kind(c, fields, llm, doc, &kinds->children[i], diags) && ok;
    return ok;
}

/* As a list of names of the entry's own kinds. */
static bool read_layers(struct dse_llm *llm, const struct toml_doc *doc, const struct toml_node *node, struct diags *diags)
{
    const char *names[DSE_LAYER_KINDS_MAX + 1] = {NULL};
    for (size_t i = 0; i < llm->n_kinds; i++) names[i] = llm->kinds[i].name;
    const struct field f = {.type = DSE_TYPE_PATTERN,
                            .name = "layer_kinds",
                            .unit = "",
                            .doc = "kind of each layer; a shorter list repeats",
                            .source = "",
                            .offset = offsetof(struct dse_llm, layer_kinds),
                            .choices = names};
    return catalog_set_key(&f, llm, doc, node, diags);
}

bool catalog_read_kinds(struct catalog *c, struct dse_llm *llm, const struct toml_doc *doc, const struct toml_node *table,
                        struct diags *diags)
{
    const struct toml_node *kinds = toml_get(table, "kinds"), *layers = toml_get(table, "layer_kinds");
    if (llm->layer_kinds.n == 0) llm->n_kinds = 0; /* of an entry that this one is like, and made of its lists */
    if (!kinds && !layers && llm->layer_kinds.n == 0) return true;
    if (kinds && !layers)
        return diags_input(diags, toml_key_loc(doc, kinds), doc->text, "layer_kinds = [\"local*5\", \"global\"]",
                           "kinds without layer_kinds: which layer is of which kind?");
    if (layers && !kinds && llm->layer_kinds.n == 0)
        return diags_input(diags, toml_key_loc(doc, layers), doc->text, NULL,
                           "layer_kinds without kinds: a table [%s.kinds.NAME] each", table->key);
    struct schema fields;
    schema_init_params(&fields, dse_layer_kind_fields);
    bool ok = !kinds || read_kinds(c, &fields, llm, doc, kinds, diags);
    ok = ok && (!layers || read_layers(llm, doc, layers, diags));
    schema_release(&fields);
    return ok;
}

void catalog_own_kinds(struct dse_llm *llm)
{
    struct schema fields;
    schema_init_params(&fields, dse_layer_kind_fields);
    for (size_t i = 0; llm->layer_kinds.n > 0 && i < llm->n_kinds; i++) {
        struct dse_layer_kind *k = &llm->kinds[i], usual = usual_kind(llm);
        k->own = 0;
        for (size_t j = 0; j < fields.n; j++)
            if (!field_same(&fields.fields[j], k, &usual)) k->own |= (uint64_t)1 << j;
    }
    schema_release(&fields);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

void catalog_write_layer_kinds(const struct dse_llm *llm, struct text *ret)
{
    const char *names[DSE_LAYER_KINDS_MAX + 1] = {NULL};
    if (llm->layer_kinds.n == 0) return;
    for (size_t i = 0; i < llm->n_kinds; i++) names[i] = llm->kinds[i].name;
    const struct field f = {.type = DSE_TYPE_PATTERN, .choices = names};
    text_add(ret, "layer_kinds = ");
    pattern_text(&f, &llm->layer_kinds, ret);
    text_add(ret, "\n");
}

void catalog_write_kinds(const struct dse_llm *llm, const char *path, struct text *ret)
{
    struct schema fields;
    if (llm->layer_kinds.n == 0) return;
    schema_init_params(&fields, dse_layer_kind_fields);
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &llm->kinds[i];
        text_addf(ret, "[%s.kinds.", path);
        catalog_add_key(ret, k->name);
        text_add(ret, "]\n");
        for (size_t j = 0; j < fields.n; j++) {
            if (!(k->own >> j & 1)) continue;
            text_addf(ret, "%s = ", fields.fields[j].name);
            catalog_add_value(ret, &fields.fields[j], field_get(&fields.fields[j], k));
            text_add(ret, "\n");
        }
    }
    schema_release(&fields);
}

static char *text_of(const struct dse_llm *llm)
{
    struct text t;
    text_init(&t);
    catalog_write_layer_kinds(llm, &t);
    catalog_write_kinds(llm, "", &t);
    return text_detach(&t);
}

bool catalog_same_kinds(const struct dse_llm *a, const struct dse_llm *b)
{
    char *x = text_of(a), *y = text_of(b);
    const bool same = strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}
