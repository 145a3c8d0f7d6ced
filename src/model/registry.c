#include "model/registry.h"

#include <string.h>

#define MODEL(name) extern const struct dse_model dse_model_##name;
#include "registry.def"
#undef MODEL

static struct model models[] = {
#define MODEL(name) {.desc = &dse_model_##name},
#include "registry.def"
#undef MODEL
    {.desc = NULL},
};
enum { MODELS = sizeof models / sizeof *models - 1 };
static const char *names[MODELS];
static bool ready;

const struct model *registry_models(size_t *ret_n)
{
    for (size_t i = 0; !ready && i < MODELS; i++) {
        names[i] = models[i].desc->name;
        schema_init_params(&models[i].params, models[i].desc->params);
        schema_read_by(&models[i].params, models[i].desc->closed_form_only, READ_BY_CLOSED_FORM);
        schema_read_by(&models[i].params, models[i].desc->event_level_only, READ_BY_EVENT_LEVEL);
        schema_init_metrics(&models[i].metrics, models[i].desc->metrics, models[i].desc->without);
        if (models[i].desc->equations) schema_init_metrics(&models[i].equations, models[i].desc->equations, NULL);
        schema_own_units(&models[i].metrics, models[i].desc->units);
        schema_own_units(&models[i].equations, models[i].desc->units);
    }
    ready = true;
    if (ret_n) *ret_n = MODELS;
    return models;
}

const char *const *registry_names(size_t *ret_n)
{
    registry_models(ret_n);
    return names;
}

const struct model *registry_find(const char *name)
{
    size_t n;
    const struct model *m = registry_models(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(m[i].desc->name, name) == 0) return &m[i];
    return NULL;
}

void registry_release(void)
{
    for (size_t i = 0; ready && i < MODELS; i++) {
        schema_release(&models[i].params);
        schema_release(&models[i].metrics);
        schema_release(&models[i].equations);
    }
    ready = false;
}
