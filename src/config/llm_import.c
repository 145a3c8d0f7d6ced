#include "config/llm_import.h"

#include "config/catalog_kinds.h"
#include "config/llm_config.h"
#include "config/llm_formats.h"
#include "config/llm_headers.h"
#include "desc/schema.h"

#include <jansson.h>
#include <stdlib.h>

void llm_said_init(struct llm_said *said)
{
    for (size_t i = 0; i < DSE_LAYER_KINDS_MAX; i++) text_init(&said->names[i]);
    text_init(&said->notes);
    text_init(&said->formats);
    text_init(&said->left_out);
}

void llm_said_release(struct llm_said *said)
{
    text_release(&said->left_out);
    text_release(&said->formats);
    text_release(&said->notes);
    for (size_t i = 0; i < DSE_LAYER_KINDS_MAX; i++) text_release(&said->names[i]);
}

/* Is every number one that the rows of the table may have? */
static void check_numbers(struct llm_config *c, const struct dse_param *table, const void *object)
{
    struct schema fields;
    schema_init_params(&fields, table);
    for (size_t i = 0; i < fields.n && c->ok; i++) {
        const struct field *f = &fields.fields[i];
        if (f->type != DSE_TYPE_I64) continue;
        const int64_t v = field_get(f, object).i64;
        const bool left_out = v == 0 && f->optional;
        if (!left_out && !((double)v >= f->min && (double)v <= f->max))
            config_error(c, "model_type", "%s: %lld; %s takes %g to %g", f->name, (long long)v, f->doc, f->min, f->max);
    }
    schema_release(&fields);
}

static bool check_ranges(struct llm_config *c, const struct dse_llm *llm)
{
    check_numbers(c, dse_llm_fields, llm);
    for (size_t i = 0; i < llm->n_kinds; i++) check_numbers(c, dse_layer_kind_fields, &llm->kinds[i]);
    return c->ok;
}

/* The header of a file of weights that was named, instead of those beside the configuration. */
static bool read_weights(struct llm_config *c, const char *path)
{
    json_t *metadata = NULL;
    if (!path) return true;
    json_decref(c->tensors);
    c->tensors = json_array();
    c->ok =
        llm_is_gguf(path) ? llm_gguf_read(path, &metadata, c->tensors, c->diags) : llm_safetensors_read(path, c->tensors, c->diags);
    json_decref(metadata);
    return c->ok;
}

bool llm_import(const char *path, const char *weights, bool approximate, struct dse_llm *ret, struct llm_said *said,
                struct diags *diags)
{
    struct llm_config c;
    char *source = NULL;
    bool ok = config_open(&c, path, approximate, &source, said, diags) && config_check_kind(&c) && read_weights(&c, weights) &&
              config_shape(&c, ret) && check_ranges(&c, ret);
    if (ok) catalog_own_kinds(ret);
    const char *fault = ok ? dse_llm_resolve(ret) : NULL;
    if (fault) ok = config_error(&c, "model_type", "the numbers do not fit together: %s", fault);
    ok = ok && llm_find_formats(&c, ret, &said->formats) && config_check_unread(&c);
    if (ok) ret->details.approximate = said->left_out.n > 0;
    config_close(&c);
    free(source);
    return ok;
}
