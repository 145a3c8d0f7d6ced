#include "model/nulls.h"

#include "base/text.h"

#include <math.h>

bool metric_is_null(const struct field *f, const void *object)
{
    return f->without || (f->may_be_null && isnan(field_get(f, object).f64));
}

const char *metric_why_null(const struct model *m, const struct field *f, const void *params, const void *metrics, const char *mean)
{
    if (f->without) return "not defined for this model";
    if (!metric_is_null(f, metrics)) return NULL;
    return mean ? mean : m->desc->why_null ? m->desc->why_null(params, f->name) : NULL;
}

char *nulls_text(const struct model *m, const struct schema *of, const void *params, const void *metrics, const char *mean)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < of->n; i++) {
        const struct field *f = &of->fields[i];
        const char *why = f->without ? NULL : metric_why_null(m, f, params, metrics, mean);
        if (why) text_addf(&t, "%s%s: %s", t.n ? "; " : "", f->name, why);
    }
    return text_detach(&t);
}
