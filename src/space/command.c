#include "space/command.h"

#include "base/xalloc.h"
#include "space/space_internal.h"

#include <stdlib.h>
#include <string.h>

/* A word of a command line: quoted unless no shell sees anything in it. */
static void add_word(struct text *t, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-/=,:@%";
    text_add(t, " ");
    if (*s && s[strspn(s, plain)] == '\0') {
        text_add(t, s);
        return;
    }
    text_add(t, "'");
    for (; *s; s++) {
        if (*s == '\'')
            text_add(t, "'\\''");
        else
            text_add_bytes(t, s, 1);
    }
    text_add(t, "'");
}

/* Does an entry of some catalog set the parameter when it is not given? */
static bool is_followed(const struct binding *b, const struct field *param)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < params->n; i++) {
        if (params->fields[i].type != DSE_TYPE_REF || params->fields[i].alone) continue;
        const struct field *from = schema_find(catalog_fields(b->catalog, params->fields[i].kind), param->name);
        if (from && from->type == param->type && !from->optional) return true;
    }
    return false;
}

/* Do names of another kind set what this name sets? Then it matters that it was given (see follow_list_new). */
static bool has_a_rival(const struct binding *b, const struct field *name)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; name->type == DSE_TYPE_REF && !name->alone && i < params->n; i++) {
        const struct field *other = &params->fields[i];
        if (other->type != DSE_TYPE_REF || other->alone || other->kind == name->kind) continue;
        for (size_t k = 0; k < params->n; k++)
            if (is_told_by(b, name->kind, &params->fields[k]) && is_told_by(b, other->kind, &params->fields[k])) return true;
    }
    return false;
}

/* Is it the same point without being told this value? So it is with a default, unless an entry would set another, here or in a
 * parameter that this one excludes, or unless it keeps another name from setting its own. */
static bool goes_without(const struct binding *b, const struct field *f, const void *params)
{
    if (!field_same(f, params, b->defaults) || is_followed(b, f) || has_a_rival(b, f)) return false;
    for (const char *const *other = f->excludes; other && *other; other++) {
        const struct field *excluded = schema_find(&b->model->params, *other);
        if (excluded && is_followed(b, excluded)) return false;
    }
    return true;
}

char **space_assignments(const struct space *sp, uint64_t index, size_t *ret_n)
{
    const struct binding *b = sp->binding;
    void *params = xmalloc(sp->model->desc->params_size);
    char **ret = xcalloc(b->model->params.n + 1, sizeof *ret);
    space_start_of(sp, index, params);
    *ret_n = 0;
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        char buf[TEXT_NUMBER_MAX];
        if (!b->given[i].is_given || goes_without(b, f, params)) continue;
        ret[(*ret_n)++] = xasprintf("%s=%s", f->name, value_text(f, field_get(f, params), buf));
    }
    free(params);
    return ret;
}

char *space_settings(const struct space *sp, uint64_t index)
{
    size_t n;
    char **list = space_assignments(sp, index, &n);
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++) {
        text_add(&t, t.n ? " --set" : "--set");
        add_word(&t, list[i]);
        free(list[i]);
    }
    free(list);
    return text_detach(&t);
}

char *eval_command(const char *model, enum fidelity fidelity, const char *const *catalogs, size_t n_catalogs, const char *requests,
                   const char *settings)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "dse eval %s", model);
    if (fidelity != FIDELITY_CLOSED_FORM) text_addf(&t, " --fidelity %s", fidelity_names[fidelity]);
    for (size_t i = 0; i < n_catalogs; i++) text_add(&t, " --catalog"), add_word(&t, catalogs[i]);
    if (requests) text_add(&t, " --requests"), add_word(&t, requests);
    if (*settings) text_addf(&t, " %s", settings);
    return text_detach(&t);
}

char *space_command(const struct space *sp, uint64_t index, enum fidelity fidelity, const char *const *catalogs, size_t n_catalogs)
{
    char *settings = space_settings(sp, index);
    char *command =
        eval_command(sp->model->desc->name, fidelity, catalogs, n_catalogs, sp->mix ? sp->sweep->requests_option : NULL, settings);
    free(settings);
    return command;
}
