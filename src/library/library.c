/* Opening models and catalog, and what a model has. */
#include "library/library.h"

#include "base/xalloc.h"
#include "dse_config.h"
#include "toml_model/toml_model.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *dse_version(void)
{
    return DSE_VERSION;
}

/* ---- columns ----------------------------------------------------------------------------------------------------------------- */

static struct dse_column column_of(const struct field *f, enum dse_role role)
{
    return (struct dse_column){
        .name = f->name,
        .unit = f->unit,
        .doc = f->doc,
        .role = (int)role,
        .type = f->type == DSE_TYPE_F64   ? DSE_REAL
                : f->type == DSE_TYPE_I64 ? DSE_INTEGER
                                          : DSE_TEXT,
        .better = role == DSE_PARAMETER || f->better == DSE_NEITHER ? 0
                  : f->better == DSE_MORE                           ? 1
                                                                    : -1,
        .min = f->min,
        .max = f->max,
        .choices = f->type == DSE_TYPE_ENUM ? f->choices : NULL,
        .catalog = f->type == DSE_TYPE_REF ? kind_plural(f->kind) : NULL,
    };
}

static void describe(struct described *d, const struct model *m)
{
    d->model = m;
    d->columns = xcalloc(m->params.n + m->metrics.n, sizeof *d->columns);
    struct dse_column *c = d->columns;
    for (size_t i = 0; i < m->params.n; i++) *c++ = column_of(&m->params.fields[i], DSE_PARAMETER);
    for (size_t i = 0; i < m->metrics.n; i++) *c++ = column_of(&m->metrics.fields[i], DSE_METRIC);
}

static const struct described *find(const struct dse *d, const char *model)
{
    for (size_t i = 0; d && model && i < d->n_described; i++)
        if (strcmp(d->described[i].model->desc->name, model) == 0) return &d->described[i];
    return NULL;
}

const struct dse_column *dse_column_at(const struct dse *d, const char *model, enum dse_role role, size_t i)
{
    const struct described *m = find(d, model);
    if (!m) return NULL;
    const size_t n = m->model->params.n;
    if (role == DSE_METRIC) return i < m->model->metrics.n ? &m->columns[n + i] : NULL;
    return i < n ? &m->columns[i] : NULL;
}

const struct dse_column *dse_column_find(const struct dse *d, const char *model, const char *name)
{
    const struct described *m = find(d, model);
    for (size_t i = 0; m && name && i < m->model->params.n + m->model->metrics.n; i++)
        if (strcmp(m->columns[i].name, name) == 0) return &m->columns[i];
    return NULL;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* The registry is one for all: it grows under this lock. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;

/* Describe the models that are new. */
static void describe_all(struct dse *d)
{
    size_t n;
    const struct model *models = registry_models(&n);
    d->described = xrealloc(d->described, n, sizeof *d->described);
    for (; d->n_described < n; d->n_described++) describe(&d->described[d->n_described], &models[d->n_described]);
}

/* The folder, wherever the program goes later. The caller frees it. */
static char *from_root(const char *folder)
{
    char *here = *folder == '/' ? NULL : getcwd(NULL, 0);
    char *ret = here ? xasprintf("%s/%s", here, folder) : xstrdup(folder);
    free(here);
    return ret;
}

struct dse *dse_open(const char *data_dir, struct dse_problems *problems)
{
    struct call call;
    struct diags *diags = call_begin(&call, problems);
    struct dse *d = xcalloc(1, sizeof *d);
    d->self = d;
    d->owners = 1;
    d->data_dir = from_root(data_dir ? data_dir : catalog_data_dir());
    d->catalog = catalog_open_in(d->data_dir, diags);
    pthread_mutex_lock(&registry_lock);
    const bool ok = model_load_all(d->data_dir, diags) && d->catalog;
    describe_all(d);
    pthread_mutex_unlock(&registry_lock);
    call_end(&call);
    if (ok) return d;
    dse_close(d);
    return NULL;
}

void library_release(struct dse *d)
{
    if (!d || atomic_fetch_sub(&d->owners, 1) != 1) return;
    for (size_t i = 0; i < d->n_described; i++) free(d->described[i].columns);
    free(d->described);
    catalog_free(d->catalog);
    free(d->data_dir);
    free(d);
}

void dse_close(struct dse *d)
{
    library_release(d);
}

bool library_given(const void *argument, const char *what, struct diags *diags)
{
    return argument || diags_input(diags, (struct srcloc){0}, NULL, NULL, "%s is NULL", what);
}

static bool have(const struct dse *d, const char *file, struct diags *diags)
{
    return library_given(d, "the struct dse", diags) && library_given(file, "the name of the file", diags);
}

bool dse_add_catalog(struct dse *d, const char *file, struct dse_problems *problems)
{
    struct call call;
    struct diags *diags = call_begin(&call, problems);
    const bool ok = have(d, file, diags) && catalog_add_file(d->catalog, file, diags);
    call_end(&call);
    return ok;
}

bool dse_add_plugin(struct dse *d, const char *file, struct dse_problems *problems)
{
    struct call call;
    struct diags *diags = call_begin(&call, problems);
    pthread_mutex_lock(&registry_lock);
    const bool ok = have(d, file, diags) && model_load(file, diags);
    if (d) describe_all(d);
    pthread_mutex_unlock(&registry_lock);
    call_end(&call);
    return ok;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

const char *dse_model_at(const struct dse *d, size_t i)
{
    return d && i < d->n_described ? d->described[i].model->desc->name : NULL;
}

const char *dse_entry_at(const struct dse *d, const char *catalog, size_t i)
{
    for (int kind = 0; d && catalog && kind < DSE_KIND_COUNT; kind++) {
        if (strcmp(kind_plural((enum dse_kind)kind), catalog) != 0) continue;
        const struct dse_entry *e = catalog_at(d->catalog, (enum dse_kind)kind, i);
        return e ? e->name : NULL;
    }
    return NULL;
}

bool library_unknown(const char *what, const char *name, const char *const *names, size_t n, struct diags *diags)
{
    const char *near = text_nearest(name, names, n);
    char *hint = near ? xasprintf("did you mean \"%s\"?", near) : NULL;
    diags_input(diags, (struct srcloc){0}, NULL, hint, "%s \"%s\"", what, name);
    free(hint);
    return false;
}

const struct model *library_model(const struct dse *d, const char *name, struct diags *diags)
{
    if (!library_given(d, "the struct dse", diags) || !library_given(name, "the name of the model", diags)) return NULL;
    const struct described *found = find(d, name);
    if (found) return found->model;
    size_t n;
    const char *const *names = registry_names(&n);
    library_unknown("there is no model", name, names, n, diags);
    return NULL;
}
