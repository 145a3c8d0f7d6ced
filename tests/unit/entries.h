/* For tests: entries of llms.toml and memories.toml, filled in through their row tables. */
#ifndef DSE_TESTS_ENTRIES_H
#define DSE_TESTS_ENTRIES_H

#include "desc/schema.h"
#include "dse_config.h"
#include "rows.h"

#include <dse/hw.h>
#include <dse/workload.h>

enum { ENTRIES_MAX = 120, ENTRY_SIZE_MAX = (sizeof(struct dse_llm) + 63) / 64 * 64 };

/* How many rows an entry must name. */
static inline size_t entries_required(const struct schema *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) n += !s->fields[i].optional;
    return n;
}

/* What an entry leaves out is NaN. */
static inline void entries_clear(const struct schema *s, void *object)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->fields[i].optional && s->fields[i].type == DSE_TYPE_F64)
            field_set(&s->fields[i], object, (struct value){.f64 = (double)NAN});
}

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
        if (e->keys != entries_required(&e->schema) + 1) e->complete = false;
        e->keys = 0;
        if (e->n < ENTRIES_MAX) entries_clear(&e->schema, e->object[e->n]);
        return;
    }
    if (strcmp(key, "title") == 0) return; /* for figures; an entry may do without */
    if (strcmp(key, "layer_kinds") == 0) { /* what the kinds are is not read: it is no plain LLM */
        ((struct dse_llm *)(void *)e->object[e->n])->layer_kinds.n = 1;
        return;
    }
    const struct field *f = schema_find(&e->schema, key);
    e->keys += !f || !f->optional;
    if (strcmp(key, "source") == 0) return;
    double number;
    if (f && f->type == DSE_TYPE_PATTERN) return; /* layers of several kinds, which these tests do not look at */
    if (f && f->type == DSE_TYPE_ENUM) {
        for (int32_t i = 0; f->choices[i]; i++)
            if (strncmp(value + 1, f->choices[i], strlen(f->choices[i])) == 0 && value[1 + strlen(f->choices[i])] == '"')
                field_set(f, e->object[e->n], (struct value){.choice = i});
        return;
    }
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
    entries_clear(&e->schema, e->object[0]);
    char *path = xasprintf("%s/catalog/%s", DSE_SOURCE_DATA, file);
    rows_read_toml(path, entries_add, e);
    free(path);
}

/* Layers of several kinds are not read here: keep the LLMs that are whole without them. */
static inline void entries_keep_plain_llms(struct entries *e)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        struct dse_llm *llm = (struct dse_llm *)(void *)e->object[i];
        if (dse_llm_resolve(llm) || !dse_llm_is_plain(llm)) {
            free(e->name[i]);
            continue;
        }
        e->name[n] = e->name[i];
        if (n != i) memcpy(e->object[n], e->object[i], ENTRY_SIZE_MAX);
        n++;
    }
    e->n = n;
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
