#include "model/plugin.h"

#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "model/names.h"
#include "model/plugin_tables.h"
#include "model/plugin_try.h"

#include <ctype.h>
#include <dlfcn.h>
#include <dse/plugin.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- does it fit? ------------------------------------------------------------------------------------------------------------ */

static const char again[] = "compile it against the headers of this dse: `pkg-config --cflags dse`";

static size_t size_of(const struct dse_plugin_size *list, const char *name)
{
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0) return list->size;
    return 0;
}

static bool check_abi(const char *file, const struct dse_plugin *p, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    if (p->abi != DSE_PLUGIN_ABI)
        return diags_input(diags, loc, NULL, again, "the plug-in has ABI version %d, and this dse has %d", p->abi, DSE_PLUGIN_ABI);
    for (const struct dse_plugin_size *ours = DSE_PLUGIN_SIZES; ours->name; ours++) {
        const size_t theirs = size_of(p->sizes, ours->name);
        if (theirs != ours->size)
            return diags_input(diags, loc, NULL, again, "%s has %zu bytes in the plug-in and %zu in this dse", ours->name, theirs,
                               ours->size);
    }
    if (strcmp(p->headers, DSE_HEADERS) != 0)
        return diags_input(diags, loc, NULL, again,
                           "the plug-in was compiled against other headers (%s) than those of this dse (%s)", p->headers,
                           DSE_HEADERS);
    return true;
}

static bool is_identifier(const char *s)
{
    if (!s || !(islower((unsigned char)*s) || *s == '_')) return false;
    while (islower((unsigned char)*s) || isdigit((unsigned char)*s) || *s == '_') s++;
    return *s == '\0';
}

/* Where the names of a plug-in are refused. */
struct refusing {
    const char *file, *model;
    struct diags *diags;
};

static void refuse_name(void *user, const char *name, const char *message)
{
    const struct refusing *r = user;
    (void)name;
    diags_input(r->diags, (struct srcloc){.file = r->file}, NULL, "give it another name", "model %s: %s", r->model, message);
}

static bool check_model(const char *file, const struct dse_model *m, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    if (!is_identifier(m->name))
        return diags_input(diags, loc, NULL, "small letters, digits and _", "the name of a model, \"%s\", is no identifier",
                           m->name ? m->name : "");
    if (registry_find(m->name))
        return diags_input(diags, loc, NULL, "give it another name", "there is a model %s already", m->name);
    if (!m->params || !m->metrics || !m->estimate || !m->title || !m->cite)
        return diags_input(diags, loc, NULL, "include/dse/model.h says which members may be NULL",
                           "the model %s lacks params, metrics, estimate, title or cite", m->name);
    return plugin_tables_check(file, m, diags) && names_check(m, refuse_name, &(struct refusing){file, m->name, diags});
}

/* ---- loading ----------------------------------------------------------------------------------------------------------------- */

/* What is loaded. It stays so until the process ends. */
static struct plugin {
    char *file;        /* its real path */
    uint64_t contents; /* a hash of them */
    void *handle;
} * plugins;
static size_t n_plugins;

static const struct plugin *find_loaded(const char *file)
{
    for (size_t i = 0; i < n_plugins; i++)
        if (strcmp(plugins[i].file, file) == 0) return &plugins[i];
    return NULL;
}

bool plugin_changed(const char *file, struct diags *diags)
{
    return diags_input(
        diags, (struct srcloc){.file = file}, NULL,
        "a model that is loaded stays as it is: start the program again, or give the new one a file and a name of its own",
        "the file has other contents than when its model was loaded");
}

/* DIR/NAME of the plug-in DIR/ANY.so, or DIR itself where there is no such folder. The caller frees it. */
static char *folder_of(const char *file, const char *model)
{
    const char *slash = strrchr(file, '/');
    char *dir = xstrndup(file, slash ? (size_t)(slash - file) : 0), *own = xasprintf("%s/%s", dir, model);
    struct stat st;
    const bool has_own = stat(own, &st) == 0 && S_ISDIR(st.st_mode);
    free(has_own ? dir : own);
    return has_own ? own : dir;
}

static bool add_models(const char *file, const struct dse_plugin *p, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    bool ok = p->models && p->models[0];
    if (!ok) return diags_input(diags, loc, NULL, "DSE_PLUGIN(&dse_model_NAME)", "the plug-in has no model");
    for (const struct dse_model *const *m = p->models; *m && ok; m++) {
        if (!check_model(file, *m, diags)) return false;
        char *folder = folder_of(file, (*m)->name);
        ok = registry_add(*m, folder, file) || registry_full(loc, diags);
        free(folder);
    }
    return ok;
}

static bool open_plugin(const char *file, uint64_t contents, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        const bool symbol = why && strstr(why, "undefined symbol: dse_");
        return diags_input(diags, loc, NULL, symbol ? "link it with libdse: `pkg-config --libs dse`" : NULL,
                           "the plug-in cannot be loaded: %s", why ? why : "no reason was given");
    }
    const struct dse_plugin *p = dlsym(handle, "dse_plugin");
    if (!p)
        diags_input(diags, loc, NULL, "DSE_PLUGIN(&dse_model_NAME) of <dse/plugin.h> makes it",
                    "this is no plug-in: it has no symbol dse_plugin");
    if (!p || !check_abi(file, p, diags)) {
        dlclose(handle);
        return false;
    }
    plugins = xrealloc(plugins, n_plugins + 1, sizeof *plugins);
    plugins[n_plugins++] = (struct plugin){xstrdup(file), contents, handle};
    return add_models(file, p, diags);
}

static bool open_in_child(const char *file, struct diags *diags)
{
    return open_plugin(file, 0, diags);
}

static bool hash_contents(const char *file, uint64_t *ret, struct diags *diags)
{
    const struct srcloc loc = {.file = file};
    struct stat st;
    char *bytes;
    size_t n;
    if (stat(file, &st) != 0) return diags_input(diags, loc, NULL, NULL, "the plug-in cannot be loaded: %s", strerror(errno));
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return diags_input(diags, loc, NULL, NULL, "the plug-in is no regular file");
    if (st.st_size > (off_t)PLUGIN_FILE_MIB_MAX << 20)
        return diags_input(diags, loc, NULL, NULL, "the plug-in has %lld MiB; at most %d", (long long)st.st_size >> 20,
                           PLUGIN_FILE_MIB_MAX);
    if (!text_read_file(file, (size_t)PLUGIN_FILE_MIB_MAX << 20, &bytes, &n, diags)) return false;
    *ret = text_hash(TEXT_HASH_INIT, bytes, n);
    free(bytes);
    return true;
}

bool plugin_load(const char *file, struct diags *diags)
{
    char real[PATH_MAX];
    if (!realpath(file, real))
        return diags_input(diags, (struct srcloc){.file = file}, NULL, NULL, "the plug-in cannot be loaded: %s", strerror(errno));
    uint64_t contents = 0;
    if (!hash_contents(real, &contents, diags)) return false;
    const struct plugin *before = find_loaded(real);
    if (!before) return plugin_try(real, open_in_child, diags) && open_plugin(real, contents, diags);
    return before->contents == contents || plugin_changed(file, diags);
}

const struct model *plugin_model(const char *file)
{
    char real[PATH_MAX];
    size_t n;
    const struct model *all = registry_models(&n);
    for (size_t i = 0; realpath(file, real) && i < n; i++)
        if (all[i].file && strcmp(all[i].file, real) == 0) return &all[i];
    return NULL;
}

/* ---- crashes ----------------------------------------------------------------------------------------------------------------- */

/* The function of the model that the address is in: the one that begins last before it. *last: where it begins; of another
 * model, no earlier. */
static const char *function_at(const struct dse_model *m, uintptr_t at, uintptr_t *last)
{
    const struct {
        const char *name;
        uintptr_t begin;
    } all[] = {{"resolve", (uintptr_t)m->resolve},   {"check", (uintptr_t)m->check},   {"shortage", (uintptr_t)m->shortage},
               {"estimate", (uintptr_t)m->estimate}, {"bound", (uintptr_t)m->bound},   {"simulate", (uintptr_t)m->simulate},
               {"stand", (uintptr_t)m->stand},       {"equate", (uintptr_t)m->equate}, {"why_null", (uintptr_t)m->why_null}};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].begin || all[i].begin > at || all[i].begin < *last) continue;
        *last = all[i].begin;
        name = all[i].name;
    }
    return name;
}

/* The outermost address in a plug-in is in the function that dse called. */
const struct model *plugin_at_fault(void *const *stack, int n, const char **ret_function)
{
    size_t n_models;
    const struct model *models = registry_models(&n_models), *found = NULL;
    for (int i = 0; i < n; i++) {
        Dl_info frame, model;
        uintptr_t last = 0;
        if (!dladdr(stack[i], &frame)) continue;
        for (size_t k = 0; k < n_models; k++) {
            if (!models[k].file || !dladdr(models[k].desc, &model) || model.dli_fbase != frame.dli_fbase) continue;
            const char *function = function_at(models[k].desc, (uintptr_t)stack[i], &last);
            if (function || !found) found = &models[k], *ret_function = function ? function : "a function of its own";
        }
    }
    return found;
}
