#include "search/row_groups.h"

const char *row_group(const struct sweep_file *s, const struct model *m, const void *params, struct text *t)
{
    t->n = 0;
    char buf[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < s->n_per; i++) {
        const struct field *f = schema_find(&m->params, s->per[i]);
        text_addf(t, "%s%s", i ? ", " : "", f ? value_text(f, field_get(f, params), buf) : "");
    }
    return t->n ? t->s : "";
}

bool row_group_is_one(const struct sweep_file *s, const struct model *m, const void *lo, const void *hi)
{
    for (size_t i = 0; i < s->n_per; i++) {
        const struct field *f = schema_find(&m->params, s->per[i]);
        if (f && !field_same(f, lo, hi)) return false;
    }
    return true;
}
