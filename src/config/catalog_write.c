/* Entries as TOML, to start one's own from. */
#include "config/catalog_internal.h"

#include "workload/requests.h"

#include <math.h>
#include <string.h>

/* A key as it is, or in quotes. */
static void add_key(struct text *t, const char *key)
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

static void add_value(struct text *t, const struct field *f, struct value v)
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

void catalog_write_entry(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry, const char *name,
                         struct text *ret)
{
    const struct schema *fields = catalog_fields(c, kind);
    if (kind == DSE_KIND_REQUESTS && ((const struct dse_requests *)(const void *)entry)->list) {
        text_addf(ret, "# %s is a list of requests, kept in a CSV file\n", entry->name);
        return;
    }
    text_addf(ret, "[%s.", kind_plural(kind));
    add_key(ret, name);
    text_add(ret, "]\n");
    if (kind == DSE_KIND_COSTS) text_addf(ret, "like = \"%s\"\n", entry->name);
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = &fields->fields[i];
        struct value v = field_get(f, entry);
        if (is_left_out(f, v)) continue;
        size_t start = ret->n;
        text_addf(ret, "%s = ", f->name);
        add_value(ret, f, v);
        size_t used = ret->n - start;
        text_addf(ret, "%*s# %s%s%s\n", used < 32 ? (int)(32 - used) : 1, "", f->doc, *f->unit ? ", " : "", f->unit);
    }
    if (kind == DSE_KIND_COSTS) catalog_write_book((const void *)entry, ret);
    if (entry->title) {
        text_add(ret, "title = ");
        text_add_json(ret, entry->title);
        text_add(ret, "\n");
    }
    text_add(ret, "source = ");
    text_add_json(ret, entry->source);
    text_add(ret, "\n");
}
