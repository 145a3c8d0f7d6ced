/* Entries as TOML, to start one's own from. */
#include "base/file.h"
#include "config/catalog_internal.h"

#include "config/catalog_kinds.h"
#include "workload/requests.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void catalog_add_key(struct text *t, const char *key)
{
    static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (*key && key[strspn(key, bare)] == '\0')
        text_add(t, key);
    else
        text_add_json(t, key); /* a basic string of TOML is one of JSON */
}

/* Does the entry leave it out? */
static bool is_left_out(const struct field *f, struct value v)
{
    if (f->type == DSE_TYPE_F64) return isnan(v.f64);
    if (f->type == DSE_TYPE_PATTERN) return v.pattern->n == 0;
    if (f->type == DSE_TYPE_ENUM) /* what an entry does not have */
        return f->optional && v.choice == 0 && (strcmp(f->choices[0], "no") == 0 || strcmp(f->choices[0], "none") == 0);
    return f->type == DSE_TYPE_I64 && v.i64 == 0 && f->min > 0;
}

void catalog_add_value(struct text *t, const struct field *f, struct value v)
{
    char buf[TEXT_NUMBER_MAX];
    if (f->type == DSE_TYPE_ENUM)
        text_addf(t, "\"%s\"", f->choices[v.choice]);
    else if (f->type == DSE_TYPE_PATTERN)
        pattern_text(f, v.pattern, t);
    else
        text_add(t, value_text(f, v, buf));
}

bool catalog_has_toml(enum dse_kind kind)
{
    return entry_kinds[kind].fields != NULL || kind == DSE_KIND_COSTS;
}

bool catalog_is_left_out(const struct field *f, const struct dse_entry *entry)
{
    return is_left_out(f, field_get(f, entry));
}

static void write_kinds(const struct dse_entry *entry, const char *name, struct text *ret)
{
    struct text path;
    text_init(&path);
    text_addf(&path, "%s.", kind_plural(DSE_KIND_LLM));
    catalog_add_key(&path, name);
    catalog_write_kinds((const struct dse_llm *)(const void *)entry, path.s, ret);
    text_release(&path);
}

/* With what each key means behind it when `explained`. */
static void write_entry(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry, const char *name,
                        bool explained, struct text *ret)
{
    const struct schema *fields = catalog_fields(c, kind);
    if (kind == DSE_KIND_REQUESTS && ((const struct dse_requests *)(const void *)entry)->list) {
        text_addf(ret, "# %s is a list of requests, kept in a CSV file\n", entry->name);
        return;
    }
    text_addf(ret, "[%s.", kind_plural(kind));
    catalog_add_key(ret, name);
    text_add(ret, "]\n");
    if (kind == DSE_KIND_COSTS) text_addf(ret, "like = \"%s\"\n", entry->name);
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = &fields->fields[i];
        struct value v = field_get(f, entry);
        if (is_left_out(f, v)) continue;
        size_t start = ret->n;
        text_addf(ret, "%s = ", f->name);
        catalog_add_value(ret, f, v);
        size_t used = ret->n - start;
        if (!explained)
            text_add(ret, "\n");
        else
            text_addf(ret, "%*s# %s%s%s\n", used < 32 ? (int)(32 - used) : 1, "", f->doc, *f->unit ? ", " : "", f->unit);
    }
    if (kind == DSE_KIND_COSTS) catalog_write_book((const void *)entry, ret);
    if (kind == DSE_KIND_LLM) catalog_write_layer_kinds((const void *)entry, ret);
    if (entry->title) {
        text_add(ret, "title = ");
        text_add_json(ret, entry->title);
        text_add(ret, "\n");
    }
    text_add(ret, "source = ");
    text_add_json(ret, entry->source);
    text_add(ret, "\n");
    if (kind == DSE_KIND_LLM) write_kinds(entry, name, ret);
}

void catalog_write_entry(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry, const char *name,
                         struct text *ret)
{
    write_entry(c, kind, entry, name, true, ret);
}

/* ---- what a run was made with ---------------------------------------------------------------------------------------------- */

/* The CSV file that the entry came from; NULL when it cannot be read any more. The caller frees it. */
static char *file_of(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry, size_t *ret_n)
{
    const struct entry_list *list = &c->lists[kind];
    const char *path = NULL;
    for (size_t i = 0; i < list->n; i++)
        if (list->entries[i] == entry) path = list->files[i];
    char *bytes = NULL;
    struct diags unread;
    diags_init(&unread);
    if (!path || !text_read_file(path, CATALOG_FILE_MAX, &bytes, ret_n, &unread)) bytes = NULL;
    diags_release(&unread);
    return bytes;
}

/* A hash of what the entry says: of a book of costs, which has hundreds of constants, and of what comes from a file. */
static uint64_t digest(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry)
{
    size_t n = 0;
    char *bytes;
    if (kind == DSE_KIND_COSTS) {
        struct text book;
        text_init(&book);
        catalog_write_book((const void *)entry, &book);
        n = book.n;
        bytes = text_detach(&book);
    } else {
        bytes = file_of(c, kind, entry, &n);
    }
    const uint64_t h = bytes ? text_hash(TEXT_HASH_INIT, bytes, n) : 0;
    free(bytes);
    return h;
}

void catalog_write_state(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry, struct text *ret)
{
    const bool list = kind == DSE_KIND_REQUESTS && ((const struct dse_requests *)(const void *)entry)->list;
    if (entry_kinds[kind].fields && !list) {
        write_entry(c, kind, entry, entry->name, false, ret);
        return;
    }
    text_addf(ret, "# %s.", kind_plural(kind));
    catalog_add_key(ret, entry->name);
    text_addf(ret, " %016" PRIx64 "\n", digest(c, kind, entry));
}

bool catalog_restore(struct catalog *c, const char *text, struct diags *diags)
{
    struct toml_doc *doc = toml_read_text("the catalog of the run", text, strlen(text), diags);
    c->replaces = true;
    bool ok = doc && catalog_add_table(c, doc, &doc->root, diags);
    c->replaces = false;
    toml_free(doc);
    return ok;
}
