#include "toml_model/toml_model.h"
#include "toml_model/internal.h"

#include "base/limits.h"
#include "base/xalloc.h"
#include "model/names.h"
#include "model/plugin.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- one model --------------------------------------------------------------------------------------------------------------- */

static void free_equations(struct toml_model *m)
{
    for (int i = 0; i < m->n_equations; i++) {
        struct equation *e = &m->equations[i];
        if (!e->borrows) formula_release(&e->formula);
        free(e->name);
        free(e->trying);
    }
    free(m->equations);
}

static void free_inputs(struct toml_model *m)
{
    for (int i = 0; i < m->n_inputs; i++) {
        free(m->inputs[i].name);
        free(m->inputs[i].text);
    }
    free(m->inputs);
}

static void free_functions(struct toml_model *m)
{
    for (int i = 0; i < m->n_functions; i++) {
        for (int k = 0; k < m->functions[i].n_arguments; k++) free(m->functions[i].arguments[k]);
        free(m->functions[i].arguments);
        free(m->functions[i].name);
        formula_release(&m->functions[i].formula);
    }
    free(m->functions);
}

static void free_parts(struct toml_model *m)
{
    for (int i = 0; i < m->n_parts; i++) free(m->parts[i].name);
    free(m->parts);
}

static void free_constants(struct toml_model *m)
{
    for (int i = 0; i < m->n_constants; i++) free(m->constants[i].name);
    free(m->constants);
}

static void free_choices(struct toml_model *m)
{
    for (size_t i = 0; i < m->n_choices; i++) free(m->choices[i]);
    free(m->choices);
}

void toml_model_free(struct toml_model *m)
{
    if (!m) return;
    free_variants(m);
    point_pool_release(m);
    plans_free(m->plans);
    graph_release(&m->graph);
    free(m->varying.is);
    schema_release(&m->schema);
    free_equations(m);
    free_inputs(m);
    free_functions(m);
    constants_free(m);
    autos_free(m);
    free_parts(m);
    free_choices(m);
    free_constants(m);
    free(m->check.list);
    free(m->beyond.list);
    free(m->unmeasured.list);
    free(m->own);
    free(m->shown);
    free(m->params);
    free(m->only[0]);
    free(m->only[1]);
    free(m->metrics);
    free(m->equation_rows);
    free(m->without);
    free(m->defaults);
    free(m->trends);
    free(m->claims_csv);
    free(m->claims_toml);
    includes_release(&m->includes);
    free(m->included);
    toml_free(m->doc);
    free(m);
}

bool check_entries(const struct toml_doc *doc, const struct toml_node *n, struct diags *diags)
{
    if (n->type != TOML_TABLE && n->type != TOML_ARRAY) return true;
    if (n->n > MODEL_ENTRIES_MAX) {
        char entries[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
        return diags_input(diags, n->key ? toml_key_loc(doc, n) : toml_loc(doc, n), doc->text, NULL,
                           "%s has %s entries; at most %s", n->key ? n->key : "the list", text_count(entries, n->n),
                           text_count(limit, MODEL_ENTRIES_MAX));
    }
    bool ok = true;
    for (size_t i = 0; i < n->n; i++) ok = check_entries(doc, &n->children[i], diags) && ok;
    return ok;
}

bool check_room(const struct toml_doc *doc, const struct toml_node *section, int there, struct diags *diags)
{
    char entries[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    const size_t n = section->n + (size_t)there;
    return n <= MODEL_ENTRIES_MAX || diags_input(diags, toml_key_loc(doc, section), doc->text, NULL,
                                                 "%s has %s entries, with those of other files of the model; at most %s",
                                                 section->key, text_count(entries, n), text_count(limit, MODEL_ENTRIES_MAX));
}

struct toml_model *toml_model_new(struct toml_doc *doc, bool is_open, const struct dse_closed_model *built_in, struct diags *diags)
{
    enum { POOL = 64 };
    struct toml_model *m = xcalloc(1, sizeof *m);
    m->doc = doc;
    m->is_open = is_open;
    m->built_in = built_in;
    m->pool = xcalloc(POOL, sizeof *m->pool);
    m->plans = plans_new();
    graph_init(&m->graph);
    bool ok =
        includes_read(doc, &m->includes, diags) && read_parameters(m, diags) && read_formulas(m, diags) && compile_all(m, diags);
    if (ok) make_tables(m);
    ok = ok && (is_open || read_events(m, diags));
    if (ok) {
        m->included = includes_text(&m->includes);
        m->many = many_of(m);
        m->slopes = slopes_of(m);
        walk_prepare(m);
        return m;
    }
    toml_model_free(m);
    return NULL;
}

struct made_model toml_model_made(const struct toml_model *m)
{
    return (struct made_model){.desc = &m->desc,
                               .plain = &m->plain,
                               .files = {m->doc->file, m->defaults, m->doc->text, m->included, m->claims_csv, m->claims_toml},
                               .many = &m->many,
                               .slopes = &m->slopes};
}

bool toml_model_check(const char *name, const char *text, size_t n, struct diags *diags)
{
    struct toml_doc *doc = toml_read_text(name, text, n, diags);
    struct toml_model *m = doc ? toml_model_new(doc, false, NULL, diags) : NULL;
    const bool ok = m != NULL;
    toml_model_free(m);
    return ok;
}

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

static bool ends_in(const char *s, const char *end)
{
    const size_t n = strlen(s), k = strlen(end);
    return n > k && strcmp(s + n - k, end) == 0;
}

bool toml_model_is_file(const char *file)
{
    return ends_in(file, ".toml");
}

/* Of claims: DIR/NAME of the file DIR/ANY.toml. The caller frees it. */
static char *folder_of(const char *file, const char *model)
{
    const char *slash = strrchr(file, '/');
    return xasprintf("%.*s/%s", slash ? (int)(slash - file) : 1, slash ? file : ".", model);
}

struct refusing {
    const struct toml_model *m;
    struct diags *diags;
};

/* The key of a parameter or a metric; what neither section has is the model's name, or of a shared group. */
static void refuse_name(void *user, const char *name, const char *message)
{
    const struct refusing *r = user;
    const struct toml_doc *doc = r->m->doc;
    const struct toml_node *model = toml_get(toml_get(&doc->root, "model"), "name"),
                           *parameters = toml_get(&doc->root, "parameters"), *metrics = toml_get(&doc->root, "metrics"),
                           *key = NULL;
    if (name != r->m->desc.name) key = toml_get(parameters, name) ? toml_get(parameters, name) : toml_get(metrics, name);
    const struct srcloc loc = key ? toml_key_loc(doc, key) : toml_loc(doc, model);
    diags_input(r->diags, loc, doc->text, "give it another name", "%s", message);
}

static bool add_model(struct toml_model *m, const char *file, struct diags *diags)
{
    const struct toml_node *name = toml_get(toml_get(&m->doc->root, "model"), "name");
    if (registry_find(m->desc.name))
        return diags_input(diags, toml_loc(m->doc, name), m->doc->text, "give it another name", "there is a model %s already",
                           m->desc.name);
    if (!names_check(&m->desc, refuse_name, &(struct refusing){m, diags})) return false;
    if (!registry_has_room() || !toml_model_place(m)) return registry_full(toml_loc(m->doc, name), diags);
    char *folder = folder_of(file, m->desc.name);
    const struct made_model made = toml_model_made(m);
    const bool ok = registry_add_made(&made, folder, file);
    free(folder);
    return ok;
}

/* Are the file, and those that it includes, what they were? */
static bool is_same(const struct toml_doc *doc, const struct made_files *made)
{
    struct includes now = {0};
    struct diags diags;
    diags_init(&diags);
    bool same = strcmp(doc->text, made->source) == 0 && includes_read(doc, &now, &diags);
    char *text = same ? includes_text(&now) : NULL;
    same = same && strcmp(text, made->included) == 0;
    free(text);
    includes_release(&now);
    diags_release(&diags);
    return same;
}

bool toml_model_load(const char *file, struct diags *diags)
{
    char real[PATH_MAX];
    if (!realpath(file, real))
        return diags_input(diags, (struct srcloc){.file = file}, NULL, NULL, "the model cannot be read: %s", strerror(errno));
    struct toml_doc *doc = toml_read_file(file, diags);
    const struct model *loaded = plugin_model(file);
    if (loaded) {
        const bool is_read = doc != NULL, same = is_read && is_same(doc, &loaded->made);
        toml_free(doc);
        return same || (is_read && plugin_changed(file, diags));
    }
    struct toml_model *m = doc ? toml_model_new(doc, false, NULL, diags) : NULL;
    if (m && add_model(m, real, diags)) return true;
    toml_model_free(m);
    return false;
}

bool model_load(const char *file, struct diags *diags)
{
    return toml_model_is_file(file) ? toml_model_load(file, diags) : plugin_load(file, diags);
}

/* ---- those that are there ---------------------------------------------------------------------------------------------------- */

static int is_model(const struct dirent *d)
{
    return (ends_in(d->d_name, ".toml") || ends_in(d->d_name, ".so")) && strcmp(d->d_name, "shared.toml") != 0;
}

static void load_folder(const char *folder, struct diags *diags)
{
    struct dirent **files;
    const int n = scandir(folder, &files, is_model, alphasort);
    for (int i = 0; i < n; i++) {
        char *path = xasprintf("%s/%s", folder, files[i]->d_name);
        struct diags own;
        diags_init(&own);
        if (!model_load(path, &own))
            diags_warn(diags, (struct srcloc){.file = path}, NULL, "left out: %s", own.n ? own.list[0].message : "");
        diags_release(&own);
        free(path);
        free(files[i]);
    }
    if (n >= 0) free(files);
}

bool model_load_all(const char *data_dir, struct diags *diags)
{
    static const char share[] = "/share/dse";
    const char *list = getenv("DSE_PLUGINS");
    bool ok = true;
    for (const char *s = list ? list : ""; *s;) {
        const size_t n = strcspn(s, ":");
        char *file = xstrndup(s, n);
        if (n) ok = model_load(file, diags) && ok;
        free(file);
        s += n + (s[n] == ':');
    }
    char *models = xasprintf("%s/models", data_dir);
    load_folder(models, diags);
    free(models);
    const size_t n = strlen(data_dir), k = sizeof share - 1;
    if (n > k && strcmp(data_dir + n - k, share) == 0) {
        char *folder = xasprintf("%.*s/lib/dse/plugins", (int)(n - k), data_dir);
        load_folder(folder, diags);
        free(folder);
    }
    return ok;
}
