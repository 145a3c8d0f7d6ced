/* What was typed and describes nothing: parameters that the tables of a model refuse together (DSE_EMBED_REFUSING). */
#include "space/space_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Does the name stand in the sentence, as a word? */
static bool is_named(const char *sentence, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(sentence, name); at; at = strstr(at + n, name)) {
        const bool begins = at == sentence || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        if (begins && !isalnum((unsigned char)at[n]) && at[n] != '_') return true;
    }
    return false;
}

/* "t_ras_ns is 1, t_rcd_ns is 14": the values of what the sentence names. The caller frees it. */
static char *values_of(const struct schema *params, const char *sentence, const void *point)
{
    struct text t;
    text_init(&t);
    char buf[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < params->n; i++) {
        const struct field *f = &params->fields[i];
        if (is_named(sentence, f->name))
            text_addf(&t, "%s%s is %s", t.n ? ", " : "", f->name, value_text(f, field_get(f, point), buf));
    }
    return text_detach(&t);
}

bool space_check_possible(const struct binding *b, const void *point, struct diags *diags)
{
    const struct schema *params = &b->model->params;
    const char *why = schema_refuse(params, point);
    if (!why) return true;
    const struct given *at = NULL; /* what was given of it; the last of several */
    size_t axes = 0;
    for (size_t i = 0; i < params->n; i++) {
        if (!b->given[i].is_given || !is_named(why, params->fields[i].name)) continue;
        at = &b->given[i];
        axes += space_is_axis(b, i);
    }
    if (axes > 1) return true; /* other points of the grid are possible */
    char *values = values_of(params, why, point);
    diags_input(diags, at ? at->loc : (struct srcloc){0}, at ? at->source_text : NULL, values, "%s", why);
    free(values);
    return false;
}
