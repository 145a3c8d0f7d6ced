/* For tests: entries of llms.toml and memories.toml, filled in through their row tables. */
#ifndef DSE_TESTS_ENTRIES_H
#define DSE_TESTS_ENTRIES_H

#include "desc/schema.h"
#include "dse_config.h"
#include "rows.h"

#include <dse/hw.h>
#include <dse/workload.h>

enum { ENTRIES_MAX = 32, ENTRY_SIZE_MAX = 512 };

/* Entries of one kind: `object[i]` is a struct dse_llm or dse_memory. */
struct entries {
    struct schema schema;
    size_t n, keys; /* keys given so far in the entry being read */
    bool complete;  /* every entry named every row and a source */
    bool in_range;
    char *name[ENTRIES_MAX];
    _Alignas(16) unsigned char object[ENTRIES_MAX][ENTRY_SIZE_MAX];
};

static inline void entries_add(void *context, const char *name, const char *key, const char *value)
{
    struct entries *e = context;
    if (!key) {
        e->name[e->n++] = xstrdup(name);
        if (e->keys != e->schema.n + 1) e->complete = false;
        e->keys = 0;
        return;
    }
    e->keys++;
    if (strcmp(key, "source") == 0) return;
    const struct field *f = schema_find(&e->schema, key);
    double number;
    if (!f || !text_parse_f64(value, &number)) abort();
    struct value v = {0};
    if (f->type == DSE_TYPE_I64)
        v.i64 = (int64_t)number;
    else
        v.f64 = number;
    field_set(f, e->object[e->n], v);
    if (!(number >= f->min && number <= f->max)) e->in_range = false;
}

static inline void entries_read(struct entries *e, const struct dse_param *table, const char *file)
{
    *e = (struct entries){.complete = true, .in_range = true};
    schema_init_params(&e->schema, table);
    char *path = xasprintf("%s/catalog/%s", DSE_SOURCE_DATA, file);
    rows_read_toml(path, entries_add, e);
    free(path);
}

static inline const void *entries_find(const struct entries *e, const char *name)
{
    for (size_t i = 0; i < e->n; i++)
        if (strcmp(e->name[i], name) == 0) return e->object[i];
    abort();
}

static inline void entries_release(struct entries *e)
{
    for (size_t i = 0; i < e->n; i++) free(e->name[i]);
    schema_release(&e->schema);
}

#endif
