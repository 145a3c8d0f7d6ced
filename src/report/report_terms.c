#include "report/report_terms.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* What a model has of a term. */
struct held {
    char *term, *model, *value;
};

struct report_terms {
    struct held *list; /* term by term */
    size_t n;
};

static char *text_of(const struct query *q, int i)
{
    return xstrdup(query_text(q, i) ? query_text(q, i) : "");
}

struct report_terms *report_terms_new(const struct report_run *r, struct diags *diags)
{
    struct report_terms *t = xcalloc(1, sizeof *t);
    struct name_list columns = {0};
    bool ok = read_columns(r->reader, "run", &columns, diags);
    const bool there = ok && name_list_have(&columns, "unequal");
    name_list_release(&columns);
    char *sql = xasprintf("SELECT json_extract(n.value, '$.term'), v.key, v.value FROM run,"
                          " json_each(CASE WHEN json_valid(unequal) THEN unequal ELSE '[]' END) n,"
                          " json_each(coalesce(json_extract(n.value, '$.values'), '{}')) v"
                          " WHERE run.id = %lld AND json_extract(n.value, '$.kind') = 'unequal-terms'",
                          (long long)r->id);
    struct query *q = there ? query_new(r->reader, sql, (struct srcloc){0}, diags) : NULL;
    int more = q ? 1 : there ? -1 : 0;
    while (more > 0 && (more = query_step(q, diags)) > 0) {
        t->list = xrealloc(t->list, t->n + 1, sizeof *t->list);
        t->list[t->n++] = (struct held){text_of(q, 0), text_of(q, 1), text_of(q, 2)};
    }
    query_free(q);
    free(sql);
    if (ok && more == 0) return t;
    report_terms_free(t);
    return NULL;
}

void report_terms_free(struct report_terms *t)
{
    if (!t) return;
    for (size_t i = 0; i < t->n; i++) {
        free(t->list[i].term);
        free(t->list[i].model);
        free(t->list[i].value);
    }
    free(t->list);
    free(t);
}

static const struct held *find(const struct report_terms *t, const char *term, const char *model)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->list[i].term, term) == 0 && strcmp(t->list[i].model, model) == 0) return &t->list[i];
    return NULL;
}

/* The same value, or the same node by the foundry's own name: "tsmc-4nm" and "4nm". */
static bool is_same(const char *a, const char *b)
{
    static const char foundry[] = "tsmc-";
    const size_t n = strlen(foundry);
    return strcmp(strncmp(a, foundry, n) == 0 ? a + n : a, strncmp(b, foundry, n) == 0 ? b + n : b) == 0;
}

void report_terms_add(const struct report_terms *t, const char *a, const char *b, struct text *to)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->list[i].model, a) != 0) continue;
        const struct held *mine = &t->list[i], *other = find(t, mine->term, b);
        if (!other || is_same(mine->value, other->value)) continue;
        text_addf(to, "%s%s (%s, %s)", n++ ? " and " : " They differ in ", mine->term, mine->value, other->value);
    }
    if (n) text_add(to, ".");
}
