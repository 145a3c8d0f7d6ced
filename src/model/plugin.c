#include "model/plugin.h"

#include "base/diag.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "model/names.h"
#include "model/plugin_try.h"

#include <ctype.h>
#include <dlfcn.h>
#include <dse/model.h>
#include <dse/plugin.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tables --------------------------------------------------------------------------------------------------------------- */

/* The tables of a foreign model, before anything else reads them: a row that lies, or a list without an end, is not followed. */

/* Of the model that is checked. */
struct checking {
    const char *file;
    const struct dse_model *m;
    struct diags *diags;
    const char *table; /* "parameters" */
    size_t size;       /* of its struct */
    size_t rows;       /* seen so far, of all tables */
    int depth;         /* tables inside each other */
};

/* What is checked of a row of either table. */
struct row {
    enum dse_type type;
    const char *name, *unit, *doc, *source;
    size_t offset;
    const char *const *choices;
    double min, max;
    enum dse_kind kind;
};

static bool wrong(const struct checking *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(const struct checking *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *why = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(c->diags, (struct srcloc){.file = c->file}, NULL,
                "include/dse/desc.h and include/dse/model.h say what stands there", "model %s: %s", c->m->name, why);
    free(why);
    return false;
}

/* ---- texts and lists --------------------------------------------------------------------------------------------------------- */

static bool check_text(const struct checking *c, const char *of, const char *what, const char *s)
{
    if (!s) return wrong(c, "%s has no %s", of, what);
    return strnlen(s, MODEL_TEXT_MAX + 1) <= MODEL_TEXT_MAX ||
           wrong(c, "%s has a %s of more than %d characters", of, what, MODEL_TEXT_MAX);
}

/* A list of texts that NULL closes. */
static bool check_list(const struct checking *c, const char *of, const char *what, const char *const *list)
{
    for (size_t n = 0; list && list[n]; n++) {
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "%s has more than %d %s", of, MODEL_ENTRIES_MAX, what);
        if (!check_text(c, of, what, list[n])) return false;
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static size_t size_of_type(enum dse_type type)
{
    switch (type) {
    case DSE_TYPE_F64: return sizeof(double);
    case DSE_TYPE_I64: return sizeof(int64_t);
    case DSE_TYPE_ENUM: return sizeof(int32_t);
    case DSE_TYPE_REF: return sizeof(void *);
    default: return 0;
    }
}

static bool check_row(struct checking *c, const struct row *r, size_t base)
{
    const size_t size = size_of_type(r->type);
    if (!r->name) return wrong(c, "row %zu of the %s has no name", c->rows, c->table);
    if (!check_text(c, c->table, "name", r->name) || !check_text(c, r->name, "unit", r->unit) ||
        !check_text(c, r->name, "doc", r->doc) || !check_text(c, r->name, "source", r->source))
        return false;
    if (size == 0) return wrong(c, "%s has the type %d, and rows have none such", r->name, (int)r->type);
    if (r->offset > c->size || base > c->size - r->offset || size > c->size - r->offset - base)
        return wrong(c, "%s lies outside of the struct of the %s, which has %zu bytes", r->name, c->table, c->size);
    if (r->type == DSE_TYPE_ENUM && !(r->choices && r->choices[0])) return wrong(c, "%s has nothing to choose from", r->name);
    if ((r->type == DSE_TYPE_F64 || r->type == DSE_TYPE_I64) && !(r->min <= r->max))
        return wrong(c, "%s has the range %g to %g", r->name, r->min, r->max);
    if (r->type == DSE_TYPE_REF && (unsigned)r->kind >= DSE_KIND_COUNT)
        return wrong(c, "%s is of catalog %d, and there is none such", r->name, (int)r->kind);
    return r->type != DSE_TYPE_ENUM || check_list(c, r->name, "choices", r->choices);
}

enum { DEPTH_MAX = 8 };

/* Is there room for one row more, in a table that stands so deep? */
static bool take_row(struct checking *c)
{
    if (c->depth > DEPTH_MAX) return wrong(c, "tables of %s stand inside each other; at most %d do", c->table, DEPTH_MAX);
    return ++c->rows <= MODEL_ENTRIES_MAX || wrong(c, "it has more than %d rows of parameters and metrics", MODEL_ENTRIES_MAX);
}

static bool check_params(struct checking *c, const struct dse_param *table, size_t base)
{
    bool ok = true;
    if (!table) return wrong(c, "a table of %s is not there", c->table);
    c->depth++;
    for (const struct dse_param *p = table; ok && p->type != DSE_TYPE_END; p++) {
        if (!take_row(c)) return false;
        if (p->type == DSE_TYPE_EMBED && p->offset > c->size)
            return wrong(c, "a table lies outside of the struct of the %s", c->table);
        const struct row r = {p->type, p->name, p->unit, p->doc, p->source, p->offset, p->choices_of ? p->choices_of() : p->choices,
                              p->min,  p->max,  p->kind};
        ok = p->type == DSE_TYPE_EMBED ? check_params(c, p->embed, base + p->offset)
                                       : check_row(c, &r, base) && check_list(c, p->name, "excluded names", p->excludes);
    }
    c->depth--;
    return ok;
}

static bool check_metrics(struct checking *c, const struct dse_metric *table, size_t base)
{
    bool ok = true;
    if (!table) return wrong(c, "a table of %s is not there", c->table);
    c->depth++;
    for (const struct dse_metric *m = table; ok && m->type != DSE_TYPE_END; m++) {
        if (!take_row(c)) return false;
        if (m->type == DSE_TYPE_EMBED && m->offset > c->size)
            return wrong(c, "a table lies outside of the struct of the %s", c->table);
        const struct row r = {.type = m->type, m->name, m->unit, m->doc, m->source, m->offset, m->choices};
        ok = m->type == DSE_TYPE_EMBED ? check_metrics(c, m->embed, base + m->offset)
             : m->type == DSE_TYPE_REF ? wrong(c, "the metric %s is of a catalog", m->name ? m->name : "")
                                       : check_row(c, &r, base);
        if (ok && m->type != DSE_TYPE_EMBED && (unsigned)m->mean >= DSE_MEAN_COUNT)
            ok = wrong(c, "%s has the mean %d, and there is none such", m->name, (int)m->mean);
    }
    c->depth--;
    return ok;
}

/* ---- the model --------------------------------------------------------------------------------------------------------------- */

static bool check_size(struct checking *c, const char *table, size_t size)
{
    c->table = table;
    c->size = size;
    return size <= MODEL_STRUCT_MAX || wrong(c, "the struct of the %s has %zu bytes; at most %d", table, size, MODEL_STRUCT_MAX);
}

static bool check_trends(const struct checking *c)
{
    bool ok = true;
    const struct dse_trend *trends = c->m->trends;
    for (size_t n = 0; ok && trends && trends[n].param; n++) {
        const struct dse_trend *t = &trends[n];
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "it has more than %d trends", MODEL_ENTRIES_MAX);
        ok = check_text(c, "a trend", "parameter", t->param) && check_text(c, "a trend", "metric", t->metric) &&
             (!t->along || check_text(c, "a trend", "along", t->along)) &&
             (!t->where || check_text(c, "a trend", "where", t->where));
    }
    return ok;
}

static bool check_techniques(const struct checking *c)
{
    bool ok = true;
    const struct dse_technique *techniques = c->m->techniques;
    for (size_t n = 0; ok && techniques && techniques[n].param; n++) {
        const struct dse_technique *t = &techniques[n];
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "it has more than %d techniques", MODEL_ENTRIES_MAX);
        ok = check_text(c, "a technique", "parameter", t->param) && check_text(c, "a technique", "value", t->off) &&
             check_list(c, "a technique", "parameters", t->only);
    }
    return ok;
}

static bool check_units(const struct checking *c)
{
    bool ok = true;
    const struct dse_unit *units = c->m->units;
    for (size_t n = 0; ok && units && units[n].unit; n++) {
        if (n == MODEL_ENTRIES_MAX) return wrong(c, "it has more than %d units", MODEL_ENTRIES_MAX);
        ok = check_text(c, "a unit", "name", units[n].unit) && check_text(c, "a unit", "suffix", units[n].suffix);
    }
    return ok;
}

/* Are the texts of the model there and short, its rows inside their structs, its ranges and choices such, its lists closed and of
 * names that are there? False, with an error that names the file. It crashes where a pointer points nowhere (plugin_try.h). */
static bool plugin_tables_check(const char *file, const struct dse_model *m, struct diags *diags)
{
    struct checking c = {.file = file, .m = m, .diags = diags};
    return check_text(&c, "it", "title", m->title) && check_text(&c, "it", "cite", m->cite) && check_units(&c) &&
           check_size(&c, "parameters", m->params_size) && check_params(&c, m->params, 0) &&
           check_size(&c, "metrics", m->metrics_size) && check_metrics(&c, m->metrics, 0) &&
           check_size(&c, "equations", m->equations_size) && (!m->equations || check_metrics(&c, m->equations, 0)) &&
           check_list(&c, "it", "metrics without a meaning", m->without) &&
           check_list(&c, "it", "parameters of the closed form", m->closed_form_only) &&
           check_list(&c, "it", "parameters of the event level", m->event_level_only) && check_trends(&c) && check_techniques(&c);
}

/* ---- loading -------------------------------------------------------------------------------------------------------------- */

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
    const struct model *all = registry_added(&n);
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
    const struct model *models = registry_added(&n_models), *found = NULL;
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
