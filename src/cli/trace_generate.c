/* dse trace generate. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/trace_action.h"
#include "config/anchors_file.h"
#include "workload/trace.h"

#include <stdlib.h>
#include <string.h>

static bool pull(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)layer; /* there is one */
    return generator_head(user, head, ret, diags);
}

/* What the trace says of itself: every parameter that is not its default. */
static char *source_of(const struct invocation *in)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "dse trace generate");
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0) text_addf(&t, " --set %s", in->options[i].argument);
    char *s = xstrdup(t.s);
    text_release(&t);
    return s;
}

int trace_generate_run(const struct invocation *in)
{
    struct generator g = generator_defaults;
    bool ok = true;
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0) ok = generator_set_text(&g, in->options[i].argument, in->diags) && ok;
    const char *to = option_get(in, "output"), *bits = option_get(in, "bits"), *model = option_get(in, "model");
    long long count = option_integer(in, "count", 1, 4096, 8);
    if (bits && strcmp(bits, "16") != 0 && strcmp(bits, "32") != 0) return usage_error(in, "--bits: \"%s\" is not 16 or 32", bits);
    if (!to) return usage_error(in, "--output is missing; trace generate needs it");
    if (!ok || in->diags->errors) return 2;
    int32_t layer = 0, *heads = xcalloc((size_t)count, sizeof *heads);
    for (int32_t i = 0; i < count; i++) heads[i] = i;
    char *source = source_of(in);
    struct trace_info info = {.model = model ? model : "synthetic",
                              .source = source,
                              .layers = 1,
                              .heads = (size_t)count,
                              .layer_ids = &layer,
                              .head_ids = heads,
                              .n = (size_t)g.n,
                              .d = (size_t)g.d,
                              .bits = bits && strcmp(bits, "32") == 0 ? 32 : 16};
    trace_write(to, &info, pull, &g, in->diags);
    free(source);
    free(heads);
    return 0;
}
