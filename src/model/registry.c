#include "model/registry.h"

#include "base/xalloc.h"

#include <dse/closed.h>
#include <stdlib.h>
#include <string.h>

#define MODEL(name) extern const struct dse_model dse_model_##name;
#define MODEL_IN_TOML(name) extern const struct dse_closed_model dse_closed_##name;
#include "registry.def"
#undef MODEL
#undef MODEL_IN_TOML

enum {
#define MODEL(name) MODEL_##name,
#define MODEL_IN_TOML(name) MODEL(name)
#include "registry.def"
#undef MODEL
#undef MODEL_IN_TOML
    BUILT_IN
};

static struct model models[BUILT_IN + REGISTRY_ADDED_MAX] = {
#define MODEL(name) {.desc = &dse_model_##name},
#define MODEL_IN_TOML(name) {.in_toml = &dse_closed_##name, .make = registry_make_toml},
#include "registry.def"
#undef MODEL
#undef MODEL_IN_TOML
};
static const char *names[BUILT_IN + REGISTRY_ADDED_MAX] = {
#define MODEL(name) #name,
#define MODEL_IN_TOML(name) MODEL(name)
#include "registry.def"
#undef MODEL
#undef MODEL_IN_TOML
};
static bool ready[BUILT_IN + REGISTRY_ADDED_MAX];
static size_t n_models = BUILT_IN;

static void set_made(struct model *m, const struct made_model *made)
{
    m->desc = made->desc;
    m->plain = made->plain;
    m->made = made->files;
    m->many = made->many;
    m->slopes = made->slopes;
}

static const struct model *make_ready(size_t i)
{
    struct model *m = &models[i];
    if (ready[i]) return m;
    if (m->in_toml) {
        const struct made_model made = m->make(m->in_toml);
        set_made(m, &made);
    }
    names[i] = m->desc->name;
    schema_init_params(&m->params, m->desc->params);
    schema_read_by(&m->params, m->desc->closed_form_only, READ_BY_CLOSED_FORM);
    schema_read_by(&m->params, m->desc->event_level_only, READ_BY_EVENT_LEVEL);
    schema_init_metrics(&m->metrics, m->desc->metrics, m->desc->without);
    if (m->desc->equations) schema_init_metrics(&m->equations, m->desc->equations, NULL);
    schema_own_units(&m->metrics, m->desc->units);
    schema_own_units(&m->equations, m->desc->units);
    ready[i] = true;
    return m;
}

const struct model *registry_models(size_t *ret_n)
{
    for (size_t i = 0; i < n_models; i++) make_ready(i);
    if (ret_n) *ret_n = n_models;
    return models;
}

const struct model *registry_added(size_t *ret_n)
{
    *ret_n = n_models - BUILT_IN;
    return models + BUILT_IN;
}

const char *const *registry_names(size_t *ret_n)
{
    *ret_n = n_models;
    return names;
}

const struct model *registry_find(const char *name)
{
    for (size_t i = 0; i < n_models; i++)
        if (strcmp(names[i], name) == 0) return make_ready(i);
    return NULL;
}

bool registry_has_room(void)
{
    return n_models < BUILT_IN + REGISTRY_ADDED_MAX;
}

bool registry_full(struct srcloc loc, struct diags *diags)
{
    return diags_input(diags, loc, NULL, "leave out models that you do not need", "%d models are added already, as many as fit",
                       REGISTRY_ADDED_MAX);
}

bool registry_add(const struct dse_model *desc, const char *folder, const char *file)
{
    if (!registry_has_room()) return false;
    models[n_models] = (struct model){.desc = desc, .folder = xstrdup(folder), .file = xstrdup(file)};
    make_ready(n_models++);
    return true;
}

bool registry_add_made(const struct made_model *made, const char *folder, const char *file)
{
    if (!registry_add(made->desc, folder, file)) return false;
    set_made(&models[n_models - 1], made);
    return true;
}

char *model_file(const struct model *m, const char *data_dir, const char *name)
{
    return m->folder ? xasprintf("%s/%s", m->folder, name) : xasprintf("%s/models/%s/%s", data_dir, m->desc->name, name);
}

void registry_release(void)
{
    for (size_t i = 0; i < n_models; i++) {
        if (!ready[i]) continue;
        ready[i] = false;
        schema_release(&models[i].params);
        schema_release(&models[i].metrics);
        schema_release(&models[i].equations);
        free(models[i].folder);
        free(models[i].file);
    }
    n_models = BUILT_IN;
}
