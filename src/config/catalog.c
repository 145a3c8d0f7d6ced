#include "config/catalog_internal.h"

#include "base/limits.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "dse_config.h"
#include "hw/sram.h"
#include "workload/expert_loads.h"
#include "quality/profile.h"
#include "quality/quality.h"
#include "quality/recording.h"
#include "workload/requests.h"
#include "quality/retention.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- where the data are -------------------------------------------------------------------------------------------------- */

static bool has_catalog(const char *dir)
{
    char *path = xasprintf("%s/catalog/llms.toml", dir);
    struct stat st;
    bool found = stat(path, &st) == 0;
    free(path);
    return found;
}

/* PREFIX/share/dse of a file that is installed in a folder at most three below PREFIX: PREFIX/bin/dse, PREFIX/lib/libdse.so.1,
 * PREFIX/lib/x86_64-linux-gnu/dse.so; wherever the prefix was moved to. `path` is cut, ret holds n bytes. */
static const char *beside(char *path, char *ret, size_t n)
{
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(path, '/');
        if (!slash) return NULL;
        *slash = '\0';
        if (up == 0) continue;
        snprintf(ret, n, "%s/share/dse", path);
        if (has_catalog(ret)) return ret;
    }
    return NULL;
}

enum { DIR_LENGTH = 4096, FILE_LENGTH = DIR_LENGTH - 16 };

static const char *beside_binary(void)
{
    static char dir[DIR_LENGTH];
    char exe[FILE_LENGTH];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    if (n <= 0) return NULL;
    exe[n] = '\0';
    return beside(exe, dir, sizeof dir);
}

/* Of the shared library that this is part of, if it is. */
static const char *beside_library(void)
{
    static char dir[DIR_LENGTH];
    Dl_info info;
    char file[PATH_MAX];
    if (!dladdr(&dir, &info) || !info.dli_fname || !realpath(info.dli_fname, file)) return NULL;
    return strlen(file) < FILE_LENGTH ? beside(file, dir, sizeof dir) : NULL;
}

/* It is looked for once: many threads may ask. */
static pthread_once_t searched = PTHREAD_ONCE_INIT;
static const char *found;

static void search(void)
{
    found = beside_library();
    if (!found) found = beside_binary();
    if (!found) found = has_catalog(DSE_SOURCE_DATA) ? DSE_SOURCE_DATA : DSE_INSTALLED_DATA;
}

const char *catalog_data_dir(void)
{
    const char *dir = getenv("DSE_DATA_DIR");
    if (dir && *dir) return dir;
    pthread_once(&searched, search);
    return found;
}

/* ---- entries ------------------------------------------------------------------------------------------------------------- */

static const char *resolve_llm(void *entry)
{
    return dse_llm_resolve(entry);
}

static const char *check_memory(void *entry)
{
    return dse_memory_check(entry);
}

static const char *check_gpu(void *entry)
{
    return dse_gpu_check(entry);
}

static const char *check_interconnect(void *entry)
{
    return dse_interconnect_check(entry);
}

static const char *check_formats(void *entry)
{
    return dse_formats_check(entry);
}

static const char *check_requests(void *entry)
{
    return dse_requests_check(entry);
}

const struct entry_kind entry_kinds[DSE_KIND_COUNT] = {
    [DSE_KIND_LLM] = {dse_llm_fields, sizeof(struct dse_llm), resolve_llm},
    [DSE_KIND_MEMORY] = {dse_memory_fields, sizeof(struct dse_memory), check_memory},
    [DSE_KIND_GPU] = {dse_gpu_fields, sizeof(struct dse_gpu), check_gpu},
    [DSE_KIND_FPGA] = {dse_fpga_fields, sizeof(struct dse_fpga), NULL},
    [DSE_KIND_ENGINE] = {dse_engine_fields, sizeof(struct dse_engine), NULL},
    [DSE_KIND_NPU] = {dse_npu_fields, sizeof(struct dse_npu), NULL},
    [DSE_KIND_INTERCONNECT] = {dse_interconnect_fields, sizeof(struct dse_interconnect), check_interconnect},
    [DSE_KIND_REQUESTS] = {dse_requests_fields, sizeof(struct dse_requests), check_requests},
    [DSE_KIND_DRAFTS] = {dse_drafts_fields, sizeof(struct dse_drafts), NULL},
    [DSE_KIND_FORMATS] = {dse_formats_fields, sizeof(struct dse_formats), check_formats},
};

const struct dse_param *catalog_kind_fields(enum dse_kind kind)
{
    return entry_kinds[kind].fields;
}

void catalog_add(struct catalog *c, enum dse_kind kind, struct dse_entry *entry)
{
    struct entry_list *list = &c->lists[kind];
    list->entries = xrealloc(list->entries, list->n + 1, sizeof *list->entries);
    list->files = xrealloc(list->files, list->n + 1, sizeof *list->files);
    size_t at = list->n++;
    for (size_t i = 0; c->replaces && i < at; i++) {
        if (strcmp(list->entries[i]->name, entry->name) != 0) continue;
        list->entries[at] = list->entries[i];
        list->files[at] = list->files[i];
        at = i;
    }
    list->entries[at] = entry;
    list->files[at] = c->reading;
}

bool catalog_has_room(const struct catalog *c, enum dse_kind kind, struct srcloc loc, const char *source_text, struct diags *diags)
{
    char limit[TEXT_NUMBER_MAX];
    return c->lists[kind].n < CATALOG_ENTRIES_MAX || diags_input(diags, loc, source_text, NULL, "there are more %s; at most %s",
                                                                 kind_plural(kind), text_count(limit, CATALOG_ENTRIES_MAX));
}

const char *catalog_intern(struct catalog *c, const char *s)
{
    for (size_t i = 0; i < c->n_interned; i++)
        if (text_equal(c->interned[i], s)) return c->interned[i];
    c->interned = xrealloc(c->interned, c->n_interned + 1, sizeof *c->interned);
    return c->interned[c->n_interned++] = xstrdup(s);
}

static void free_entry(enum dse_kind kind, struct dse_entry *entry)
{
    if (kind == DSE_KIND_SRAM)
        sram_table_free((struct dse_sram_table *)entry);
    else if (kind == DSE_KIND_PROFILE)
        profile_free((struct dse_profile *)entry);
    else if (kind == DSE_KIND_REQUESTS)
        requests_free((struct dse_requests *)entry);
    else if (kind == DSE_KIND_RETENTION)
        retention_free((struct dse_retention *)entry);
    else if (kind == DSE_KIND_RECORDING)
        recording_free((struct dse_recording *)entry);
    else if (kind == DSE_KIND_QUALITY)
        quality_free((struct dse_quality *)entry);
    else if (kind == DSE_KIND_EXPERT_LOADS)
        expert_loads_free((struct dse_expert_loads *)entry);
    else if (kind == DSE_KIND_COSTS)
        costs_free((struct dse_costs *)entry);
    else
        free(entry); /* its strings are interned */
}

struct catalog_mark catalog_mark(const struct catalog *c)
{
    struct catalog_mark m = {.interned = c->n_interned, .files = c->n_files};
    for (int k = 0; k < DSE_KIND_COUNT; k++) m.entries[k] = c->lists[k].n;
    return m;
}

void catalog_forget(struct catalog *c, const struct catalog_mark *since)
{
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        struct entry_list *list = &c->lists[k];
        while (list->n > since->entries[k]) free_entry((enum dse_kind)k, list->entries[--list->n]);
    }
    while (c->n_interned > since->interned) free(c->interned[--c->n_interned]);
    c->n_files = since->files;
    c->reading = NULL;
}

void catalog_free(struct catalog *c)
{
    if (!c) return;
    catalog_forget(c, &(struct catalog_mark){0});
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        free(c->lists[k].entries);
        free(c->lists[k].files);
        schema_release(&c->fields[k]);
    }
    free(c->interned);
    free(c->files);
    free(c);
}

const struct dse_entry *catalog_at(const struct catalog *c, enum dse_kind kind, size_t i)
{
    return i < c->lists[kind].n ? c->lists[kind].entries[i] : NULL;
}

const struct dse_entry *catalog_find(const struct catalog *c, enum dse_kind kind, const char *name)
{
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(c, kind, i)) != NULL; i++)
        if (strcmp(e->name, name) == 0) return e;
    return NULL;
}

const struct schema *catalog_fields(const struct catalog *c, enum dse_kind kind)
{
    return &c->fields[kind];
}

/* ---- the whole ----------------------------------------------------------------------------------------------------------- */

/* A file that has been read: its names are there already. Else it is remembered. */
static bool was_read(struct catalog *c, const struct toml_doc *doc, bool *ret_changed)
{
    struct stat st;
    *ret_changed = false;
    if (stat(doc->file, &st) != 0) return false;
    const struct file_id id = {st.st_dev, st.st_ino, catalog_contents(doc)};
    for (size_t i = 0; i < c->n_files; i++) {
        if (c->files[i].device != id.device || c->files[i].inode != id.inode) continue;
        *ret_changed = c->files[i].contents != id.contents;
        return true;
    }
    c->files = xrealloc(c->files, c->n_files + 1, sizeof *c->files);
    c->files[c->n_files++] = id;
    return false;
}

static bool add_own(struct catalog *c, struct diags *diags)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME"), *files = getenv("DSE_CATALOG");
    char *path = config && *config ? xasprintf("%s/dse/catalog.toml", config)
                 : home && *home   ? xasprintf("%s/.config/dse/catalog.toml", home)
                                   : NULL;
    bool ok = !path || access(path, F_OK) != 0 || catalog_add_file(c, path, diags);
    free(path);
    for (const char *p = files; p && *p;) {
        size_t n = strcspn(p, ":");
        char *file = xstrndup(p, n);
        if (n) ok = catalog_add_file(c, file, diags) && ok;
        free(file);
        p += n + (p[n] == ':');
    }
    return ok;
}

/* All of a file or, if something is wrong with it, nothing. */
static bool add_doc(struct catalog *c, const struct toml_doc *doc, struct diags *diags)
{
    const struct catalog_mark before = catalog_mark(c);
    bool changed;
    if (was_read(c, doc, &changed))
        return !changed ||
               diags_input(diags, (struct srcloc){.file = doc->file}, NULL,
                           "what was read is in use: open the catalog anew, or put new entries into a file of their own",
                           "the file, or a CSV file of it, has other contents than when it was read first");
    if (catalog_add_table(c, doc, &doc->root, diags)) return true;
    catalog_forget(c, &before);
    return false;
}

bool catalog_add_file(struct catalog *c, const char *path, struct diags *diags)
{
    struct toml_doc *doc = toml_read_file(path, diags);
    const bool ok = doc && add_doc(c, doc, diags);
    toml_free(doc);
    return ok;
}

struct catalog *catalog_new(const char *data_dir, struct diags *diags)
{
    struct catalog *c = xcalloc(1, sizeof *c);
    for (int k = 0; k < DSE_KIND_COUNT; k++)
        if (entry_kinds[k].fields) schema_init_params(&c->fields[k], entry_kinds[k].fields);
    bool ok = true;
    for (int k = 0; k < DSE_KIND_COUNT; k++)
        if (entry_kinds[k].fields) ok = catalog_load_toml(c, (enum dse_kind)k, data_dir, diags) && ok;
    ok = catalog_load_costs(c, data_dir, diags) && ok;
    ok = catalog_load_csv(c, data_dir, diags) && ok;
    if (ok) return c;
    catalog_free(c);
    return NULL;
}

struct catalog *catalog_open(struct diags *diags)
{
    return catalog_open_in(catalog_data_dir(), diags);
}

struct catalog *catalog_open_in(const char *data_dir, struct diags *diags)
{
    struct catalog *c = catalog_new(data_dir, diags);
    if (!c || add_own(c, diags)) return c;
    catalog_free(c);
    return NULL;
}
