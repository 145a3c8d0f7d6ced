#include "cli/model_find.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>

const struct model *model_find(const struct invocation *in, const char *name)
{
    const struct model *model = registry_find(name);
    if (model) return model;
    size_t n;
    const struct model *all = registry_models(&n);
    const char **names = xcalloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = all[i].desc->name;
    const char *near = text_nearest(name, names, n);
    usage_error(in, "there is no model \"%s\"%s%s; `dse list models` shows all", name, near ? "; did you mean " : "",
                near ? near : "");
    free(names);
    return NULL;
}
