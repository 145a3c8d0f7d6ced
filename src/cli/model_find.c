#include "cli/model_find.h"

#include "base/text.h"

const struct model *model_find(const struct invocation *in, const char *name)
{
    const struct model *model = registry_find(name);
    if (model) return model;
    size_t n;
    const char *const *names = registry_names(&n), *near = text_nearest(name, names, n);
    if (near)
        usage_error(in, "there is no model \"%s\"; did you mean %s?", name, near);
    else
        usage_error(in,
                    "there is no model \"%s\": `dse list models` shows all, and `dse --plugin FILE %s ...` adds one of your own",
                    name, in->command->name);
    return NULL;
}
