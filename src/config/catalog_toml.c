/* Entries in TOML: a table each, in the files that ship and in the user's. */
#include "base/file.h"
#include "config/catalog_internal.h"

#include "base/limits.h"
#include "base/xalloc.h"
#include "config/catalog_kinds.h"
#include "workload/requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A name among the choices of the field. */
static bool set_choice(const struct field *f, void *entry, const struct toml_doc *doc, const struct toml_node *node,
                       struct diags *diags)
{
    struct value v = {0};
    size_t n = 0;
    for (; node->type == TOML_STRING && f->choices[n]; n++) {
        if (strcmp(f->choices[n], node->string) != 0) continue;
        v.choice = (int32_t)n;
        field_set(f, entry, v);
        return true;
    }
    char *allowed = field_allowed(f);
    if (node->type == TOML_STRING)
        diags_input(diags, toml_loc(doc, node), doc->text, allowed, "%s: there is no \"%s\"", f->name, node->string);
    else
        diags_input(diags, toml_loc(doc, node), doc->text, allowed, "%s: a name is needed, not %s", f->name,
                    toml_type_name(node->type));
    free(allowed);
    return false;
}

/* One element of a pattern: "full" or "window*5". */
static bool add_to_pattern(const struct field *f, struct dse_pattern *p, const struct toml_doc *doc, const struct toml_node *node,
                           struct diags *diags)
{
    const char *name = node->type == TOML_STRING ? node->string : "";
    const size_t n = strcspn(name, "*");
    char *end = NULL;
    const long times = name[n] ? strtol(name + n + 1, &end, 10) : 1;
    size_t choice = 0;
    while (f->choices[choice] && (strlen(f->choices[choice]) != n || strncmp(f->choices[choice], name, n) != 0)) choice++;
    const bool counted = !name[n] || (end && !*end && name[n + 1] >= '1' && name[n + 1] <= '9');
    if (node->type == TOML_STRING && f->choices[choice] && counted && times <= DSE_PATTERN_MAX - p->n) {
        memset(p->at + p->n, (int)choice, (size_t)times);
        p->n += times;
        return true;
    }
    char *allowed = field_allowed(f);
    struct srcloc loc = toml_loc(doc, node);
    if (node->type != TOML_STRING)
        diags_input(diags, loc, doc->text, allowed, "%s: a name is needed, not %s", f->name, toml_type_name(node->type));
    else if (!f->choices[choice])
        diags_input(diags, loc, doc->text, allowed, "%s: there is no \"%.*s\"", f->name, (int)n, name);
    else if (!counted)
        diags_input(diags, loc, doc->text, allowed, "%s: \"%s\" is not NAME*TIMES", f->name, name);
    else
        diags_input(diags, loc, doc->text, NULL, "%s: more than %d names", f->name, DSE_PATTERN_MAX);
    free(allowed);
    return false;
}

/* A list of names, or one. */
static bool set_pattern(const struct field *f, void *entry, const struct toml_doc *doc, const struct toml_node *node,
                        struct diags *diags)
{
    struct dse_pattern p = {0};
    if (node->type != TOML_ARRAY && !add_to_pattern(f, &p, doc, node, diags)) return false;
    for (size_t i = 0; node->type == TOML_ARRAY && i < node->n; i++)
        if (!add_to_pattern(f, &p, doc, &node->children[i], diags)) return false;
    if (p.n == 0) return diags_input(diags, toml_loc(doc, node), doc->text, "leave it out", "%s: an empty list", f->name);
    field_set(f, entry, (struct value){.pattern = &p});
    return true;
}

bool catalog_set_key(const struct field *f, void *entry, const struct toml_doc *doc, const struct toml_node *node,
                     struct diags *diags)
{
    struct value v = {0};
    if (f->type == DSE_TYPE_ENUM) return set_choice(f, entry, doc, node, diags);
    if (f->type == DSE_TYPE_PATTERN) return set_pattern(f, entry, doc, node, diags);
    bool number = node->type == TOML_INTEGER || (node->type == TOML_FLOAT && f->type == DSE_TYPE_F64);
    if (!number) {
        char *allowed = field_allowed(f);
        diags_input(diags, toml_loc(doc, node), doc->text, allowed, "%s: %s is needed, not %s", f->name,
                    f->type == DSE_TYPE_I64 ? "a whole number" : "a number", toml_type_name(node->type));
        free(allowed);
        return false;
    }
    if (f->type == DSE_TYPE_I64)
        v.i64 = node->integer;
    else
        v.f64 = node->type == TOML_INTEGER ? (double)node->integer : node->number;
    if (!field_check(f, v, toml_loc(doc, node), doc->text, NULL, diags)) return false;
    field_set(f, entry, v);
    return true;
}

/* One error that names all keys an entry lacks. */
static bool missing_keys(const struct toml_doc *doc, enum dse_kind kind, const struct toml_node *table, const char *names,
                         struct diags *diags)
{
    bool dotted = false;
    for (size_t i = 0; i < table->n; i++)
        dotted |= table->children[i].type == TOML_TABLE && strcmp(table->children[i].key, "kinds") != 0;
    const char *hint = dotted ? "a name with a dot in it needs quotes: [\"opt-2.7b\"]" : "`dse list` shows what the others have";
    return diags_input(diags, toml_key_loc(doc, table), doc->text, hint, "%s %s has no %s", kind_singular(kind), table->key, names);
}

/* Has the table none of those that are left out together? */
static bool all_left_out(const struct schema *fields, const struct toml_node *table)
{
    for (size_t i = 0; i < fields->n; i++)
        if (fields->fields[i].together && toml_get(table, fields->fields[i].name)) return false;
    return true;
}

/* The table's keys into the entry, which holds zeros, or what it is like. */
static bool set_fields(const struct catalog *c, enum dse_kind kind, void *entry, const struct toml_doc *doc,
                       const struct toml_node *table, bool is_like, struct diags *diags)
{
    bool ok = true;
    const struct schema *fields = &c->fields[kind];
    const bool left_out = all_left_out(fields, table);
    struct text missing;
    text_init(&missing);
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = &fields->fields[i];
        const struct toml_node *node = toml_get(table, f->name);
        const bool may_lack = f->optional || (f->together && left_out);
        if (node)
            ok = catalog_set_key(f, entry, doc, node, diags) && ok;
        else if (is_like)
            continue;
        else if (may_lack && f->type == DSE_TYPE_F64)
            field_set(f, entry, (struct value){.f64 = (double)NAN});
        else if (!may_lack)
            text_addf(&missing, "%s%s", missing.n ? ", " : "", f->name);
    }
    if (!is_like && !toml_get(table, "source")) text_addf(&missing, "%ssource", missing.n ? ", " : "");
    if (missing.n) ok = missing_keys(doc, kind, table, missing.s, diags);
    text_release(&missing);
    return ok;
}

static bool check_entry_keys(const struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *table,
                             struct diags *diags)
{
    const struct schema *fields = &c->fields[kind];
    static const char *const others[] = {"source", "like", "title"};
    enum { OTHERS = sizeof others / sizeof *others, KINDS = 2 };
    const char **names = xcalloc(fields->n + OTHERS + KINDS, sizeof *names);
    size_t n = 0;
    for (size_t i = 0; i < fields->n; i++) names[n++] = fields->fields[i].name;
    for (size_t i = 0; i < OTHERS; i++) names[n++] = others[i];
    for (size_t i = 0; kind == DSE_KIND_LLM && catalog_kind_keys[i]; i++) names[n++] = catalog_kind_keys[i];
    bool ok = toml_check_keys(doc, table, names, n, diags);
    free(names);
    return ok;
}

/* Refuse a name that is empty or exists. */
static bool is_new(const struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *node,
                   struct diags *diags)
{
    enum { ENTRY_NAME_MAX = 200 };
    if (strlen(node->key) > ENTRY_NAME_MAX)
        return diags_input(diags, toml_key_loc(doc, node), NULL, NULL, "a name of %zu characters; at most %d", strlen(node->key),
                           ENTRY_NAME_MAX);
    if (!catalog_has_room(c, kind, toml_key_loc(doc, node), doc->text, diags)) return false;
    if (!*node->key)
        return diags_input(diags, toml_key_loc(doc, node), doc->text, NULL, "the name of a %s is empty", kind_singular(kind));
    const struct dse_entry *old = catalog_find(c, kind, node->key);
    if (!old || c->replaces) return true;
    return diags_input(diags, toml_key_loc(doc, node), doc->text, "give yours another name", "%s \"%s\" exists already (%s)",
                       kind_singular(kind), node->key, old->source);
}

/* Why nothing can be like this entry, or NULL. */
static const char *no_pattern(enum dse_kind kind, const struct dse_entry *entry)
{
    const struct dse_requests *r = (const struct dse_requests *)(const void *)entry;
    return kind == DSE_KIND_REQUESTS && r->list ? "is a list of requests, which has no keys" : NULL;
}

static bool unknown_pattern(const struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *like,
                            struct diags *diags)
{
    const struct entry_list *list = &c->lists[kind];
    const char **names = xcalloc(list->n + 1, sizeof *names);
    for (size_t i = 0; i < list->n; i++) names[i] = list->entries[i]->name;
    const char *near = text_nearest(like->string, names, list->n);
    char *hint = near ? xasprintf("did you mean \"%s\"?", near) : xasprintf("`dse list %s` shows all", kind_plural(kind));
    diags_input(diags, toml_loc(doc, like), doc->text, hint, "like: there is no %s \"%s\"", kind_singular(kind), like->string);
    free(hint);
    free(names);
    return false;
}

/* `like = "NAME"`: the entry of that name; NULL where there is no such key. False with an error. */
static bool find_pattern(const struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *table,
                         const struct dse_entry **ret, struct diags *diags)
{
    *ret = NULL;
    if (!toml_get(table, "like")) return true;
    const struct toml_node *like = toml_expect(doc, table, "like", TOML_STRING, diags);
    if (!like) return false;
    *ret = catalog_find(c, kind, like->string);
    if (!*ret) return unknown_pattern(c, kind, doc, like, diags);
    const char *why = no_pattern(kind, *ret);
    return !why ||
           diags_input(diags, toml_loc(doc, like), doc->text, NULL, "like: %s \"%s\" %s", kind_singular(kind), like->string, why);
}

/* Where the numbers come from: the entry's own words, or those of what it is like. */
static const char *source_of(struct catalog *c, const struct toml_node *source, const struct dse_entry *pattern)
{
    if (source) return catalog_intern(c, source->string);
    char *s = xasprintf("like %s: %s", pattern->name, pattern->source);
    const char *kept = catalog_intern(c, s);
    free(s);
    return kept;
}

/* The keys of the table, and what is to hold between them. */
static bool fill_entry(struct catalog *c, enum dse_kind kind, struct dse_entry *entry, const struct toml_doc *doc,
                       const struct toml_node *table, bool is_like, struct diags *diags)
{
    bool ok = check_entry_keys(c, kind, doc, table, diags);
    ok = set_fields(c, kind, entry, doc, table, is_like, diags) && ok;
    if (kind == DSE_KIND_LLM) ok = catalog_read_kinds(c, (struct dse_llm *)(void *)entry, doc, table, diags) && ok;
    const bool has_source = toml_get(table, "source");
    if (toml_get(table, "title") && !toml_expect(doc, table, "title", TOML_STRING, diags)) ok = false;
    if ((has_source || !is_like) && !toml_expect(doc, table, "source", TOML_STRING, diags)) ok = false;
    const char *fault = ok && entry_kinds[kind].check ? entry_kinds[kind].check(entry) : NULL;
    return !fault
               ? ok
               : diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s %s: %s", kind_singular(kind), table->key, fault);
}

/* A table of one entry: [llms.NAME], or [NAME] in llms.toml. */
static bool add_toml_entry(struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *table,
                           struct diags *diags)
{
    if (table->type != TOML_TABLE)
        return diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s is %s; an entry is a table", table->key,
                           toml_type_name(table->type));
    const struct dse_entry *pattern;
    if (!is_new(c, kind, doc, table, diags) || !find_pattern(c, kind, doc, table, &pattern, diags)) return false;
    struct dse_entry *entry = xcalloc(1, entry_kinds[kind].size);
    if (pattern) memcpy(entry, pattern, entry_kinds[kind].size);
    if (!fill_entry(c, kind, entry, doc, table, pattern != NULL, diags)) {
        free(entry);
        return false;
    }
    entry->name = catalog_intern(c, table->key);
    entry->source = source_of(c, toml_get(table, "source"), pattern);
    const struct toml_node *title = toml_get(table, "title");
    entry->title = title ? catalog_intern(c, title->string) : NULL; /* that of what it is like is not its own */
    catalog_add(c, kind, entry);
    return true;
}

/* [costs.NAME]: a book that is like another. */
static bool add_book(struct catalog *c, const struct toml_doc *doc, const struct toml_node *table, struct diags *diags)
{
    const struct dse_entry *pattern;
    if (table->type != TOML_TABLE)
        return diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s is %s; a book is a table", table->key,
                           toml_type_name(table->type));
    if (!is_new(c, DSE_KIND_COSTS, doc, table, diags) || !find_pattern(c, DSE_KIND_COSTS, doc, table, &pattern, diags))
        return false;
    if (!pattern)
        return diags_input(diags, toml_key_loc(doc, table), doc->text, "like = \"public\", and the constants that differ",
                           "book of costs %s has no like", table->key);
    if (toml_get(table, "source") && !toml_expect(doc, table, "source", TOML_STRING, diags)) return false;
    if (toml_get(table, "title") && !toml_expect(doc, table, "title", TOML_STRING, diags)) return false;
    const struct toml_node *title = toml_get(table, "title");
    const char *source = source_of(c, toml_get(table, "source"), pattern);
    struct dse_entry *book = catalog_read_book(c, doc, table, source, pattern, diags);
    if (!book) return false;
    book->name = catalog_intern(c, table->key);
    book->source = source;
    book->title = title ? catalog_intern(c, title->string) : NULL;
    catalog_add(c, DSE_KIND_COSTS, book);
    return true;
}

/* Of the CSV file that a node names, relative to the TOML file. The caller frees it. */
static char *csv_path(const struct toml_doc *doc, const struct toml_node *node)
{
    const char *slash = strrchr(doc->file, '/');
    const int folder = slash && node->string[0] != '/' ? (int)(slash - doc->file + 1) : 0;
    return xasprintf("%.*s%s", folder, doc->file, node->string);
}

/* profiles.NAME = "file.csv" and the like. */
static bool add_csv_entry(struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *node,
                          struct diags *diags)
{
    if (node->type != TOML_STRING)
        return diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s: the name of a CSV file is needed, not %s", node->key,
                           toml_type_name(node->type));
    if (!is_new(c, kind, doc, node, diags)) return false;
    char *path = csv_path(doc, node);
    bool ok = catalog_add_csv(c, kind, node->key, path, diags);
    free(path);
    return ok;
}

/* A kind's entry, in the form that it may have. */
static bool add_entry(struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *node,
                      struct diags *diags)
{
    if (kind == DSE_KIND_COSTS) return add_book(c, doc, node, diags);
    bool csv = !entry_kinds[kind].fields || (catalog_has_csv(kind) && node->type == TOML_STRING);
    return csv ? add_csv_entry(c, kind, doc, node, diags) : add_toml_entry(c, kind, doc, node, diags);
}

/* ---- tables of entries, in any order ------------------------------------------------------------------------------------- */

enum adding { ADD_LATER, ADDING, ADDED, REFUSED };

struct entries {
    struct catalog *c;
    enum dse_kind kind;
    const struct toml_doc *doc;
    const struct toml_node *table;
    enum adding *state; /* one a child */
    int depth;
    struct diags *diags;
};
enum { DEPTH_MAX = 64 };

/* What an entry is like must be there first: a sister that comes later is added before it. */
static bool add_with_pattern(struct entries *e, size_t i)
{
    const struct toml_node *node = &e->table->children[i];
    if (e->state[i] != ADD_LATER) return e->state[i] == ADDED;
    e->state[i] = ADDING;
    e->depth++;
    const struct toml_node *like = node->type == TOML_TABLE ? toml_get(node, "like") : NULL;
    bool ok = true;
    for (size_t k = 0; ok && like && like->type == TOML_STRING && k < e->table->n; k++) {
        if (strcmp(e->table->children[k].key, like->string) != 0) continue;
        if (e->depth > DEPTH_MAX)
            ok = diags_input(e->diags, toml_loc(e->doc, like), e->doc->text, NULL, "like: more than %d entries, each like the next",
                             DEPTH_MAX);
        else
            ok = e->state[k] == ADDING ? diags_input(e->diags, toml_loc(e->doc, like), e->doc->text, NULL,
                                                     "like: \"%s\" is in the end like \"%s\" itself", like->string, node->key)
                                       : add_with_pattern(e, k); /* its own errors say why it is refused */
    }
    ok = ok && add_entry(e->c, e->kind, e->doc, node, e->diags);
    e->depth--;
    e->state[i] = ok ? ADDED : REFUSED;
    return ok;
}

static bool add_entries(struct catalog *c, enum dse_kind kind, const struct toml_doc *doc, const struct toml_node *table,
                        struct diags *diags)
{
    char entries[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    if (table->n > CATALOG_ENTRIES_MAX)
        return diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s has %s entries; at most %s", kind_plural(kind),
                           text_count(entries, table->n), text_count(limit, CATALOG_ENTRIES_MAX));
    struct entries e = {c, kind, doc, table, xcalloc(table->n + 1, sizeof *e.state), 0, diags};
    bool ok = true;
    for (size_t i = 0; i < table->n; i++) ok = add_with_pattern(&e, i) && ok;
    free(e.state);
    return ok;
}

bool catalog_load_toml(struct catalog *c, enum dse_kind kind, const char *data_dir, struct diags *diags)
{
    char *path = xasprintf("%s/catalog/%s.toml", data_dir, kind_plural(kind));
    struct toml_doc *doc = toml_read_file(path, diags);
    bool ok = doc && add_entries(c, kind, doc, &doc->root, diags);
    toml_free(doc);
    free(path);
    return ok;
}

/* May a user's file have entries of the kind? */
static bool is_extended(enum dse_kind kind)
{
    return catalog_has_toml(kind) || catalog_has_csv(kind);
}

bool catalog_add_table(struct catalog *c, const struct toml_doc *doc, const struct toml_node *table, struct diags *diags)
{
    const char *allowed[DSE_KIND_COUNT];
    size_t n_allowed = 0;
    for (int k = 0; k < DSE_KIND_COUNT; k++)
        if (is_extended((enum dse_kind)k)) allowed[n_allowed++] = kind_plural((enum dse_kind)k);
    bool ok = toml_check_keys(doc, table, allowed, n_allowed, diags);
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        if (!is_extended((enum dse_kind)k)) continue;
        const struct toml_node *entries = toml_expect(doc, table, kind_plural((enum dse_kind)k), TOML_TABLE, diags);
        if (!entries && toml_get(table, kind_plural((enum dse_kind)k))) ok = false;
        if (entries) ok = add_entries(c, (enum dse_kind)k, doc, entries, diags) && ok;
    }
    return ok;
}

static uint64_t hash_file(uint64_t h, const char *path)
{
    struct diags unread; /* whoever reads it as a catalog says so */
    diags_init(&unread);
    char *bytes;
    size_t n;
    if (text_read_file(path, CATALOG_FILE_MAX, &bytes, &n, &unread)) {
        h = text_hash(h, bytes, n);
        free(bytes);
    }
    diags_release(&unread);
    return h;
}

uint64_t catalog_contents(const struct toml_doc *doc)
{
    uint64_t h = text_hash(TEXT_HASH_INIT, doc->text, strlen(doc->text));
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        const struct toml_node *table =
            catalog_has_csv((enum dse_kind)k) ? toml_get(&doc->root, kind_plural((enum dse_kind)k)) : NULL;
        for (size_t i = 0; table && table->type == TOML_TABLE && i < table->n; i++) {
            if (table->children[i].type != TOML_STRING) continue;
            char *path = csv_path(doc, &table->children[i]);
            h = hash_file(h, path);
            free(path);
        }
    }
    return h;
}
