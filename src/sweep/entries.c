/* The catalog's entries that the points of a sweep refer to, as a run keeps them. */
#include "sweep/sweep_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>

struct entries {
    const struct dse_entry **list;
    size_t n;
    struct text text;
};

/* Write the entry, if it has not been written yet. */
static void add_entry(struct entries *e, const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry)
{
    if (!entry) return;
    for (size_t i = 0; i < e->n; i++)
        if (e->list[i] == entry) return;
    e->list = xrealloc(e->list, e->n + 1, sizeof *e->list);
    e->list[e->n++] = entry;
    catalog_write_state(c, kind, entry, &e->text);
}

/* What was given of each catalog name, or what `params` have. */
static void add_binding(struct entries *e, const struct binding *b, const void *params)
{
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct field *f = &b->model->params.fields[i];
        if (f->type != DSE_TYPE_REF) continue;
        const struct given *g = &b->given[i];
        if (!g->is_given || !g->values) add_entry(e, b->catalog, f->kind, field_get(f, params).ref);
        for (uint64_t k = 0; g->is_given && g->values && k < g->n; k++) add_entry(e, b->catalog, f->kind, g->values[k].ref);
    }
}

char *sweep_entries(const struct sweep_file *s, struct space *const *spaces)
{
    struct entries e = {0};
    text_init(&e.text);
    for (size_t m = 0; m < s->n_models; m++) add_binding(&e, s->bindings[m], space_fixed(spaces[m]));
    if (s->baseline) add_binding(&e, s->baseline, s->baseline->defaults);
    free(e.list);
    if (e.text.n) return text_detach(&e.text);
    text_release(&e.text);
    return NULL;
}
