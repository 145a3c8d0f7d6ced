/* dse trace generate. */
#include "attention/action.h"
#include "attention/anchors_file.h"
#include "attention/kinds_file.h"
#include "attention/trace.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* A head of a mixture: its components in turn, then their next heads. */
struct mixed {
    struct head_mixture mixture;
    size_t n, heads; /* of a layer */
};

static bool pull_mixed(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)diags;
    const struct mixed *m = user;
    size_t i = layer * m->heads + head;
    head_component_make(&m->mixture.list[i % m->mixture.n], i / m->mixture.n, m->n, ret);
    return true;
}

static bool pull(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)layer; /* there is one */
    return generator_head(user, head, ret, diags);
}

/* What the trace says of itself: every parameter that is not its default. */
static char *source_of(const struct invocation *in, const struct head_mixture *kinds)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "dse trace generate");
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0) text_addf(&t, " --set %s", in->options[i].argument);
    if (kinds) text_addf(&t, " of kinds like: %s", kinds->source);
    char *s = xstrdup(t.s);
    text_release(&t);
    return s;
}

/* Write a trace of `count` heads: those of a mixture that are asked for once each in layers as they were, any others in one. */
static void generate(const struct invocation *in, struct generator *g, struct mixed *mixed, size_t count)
{
    const char *bits = option_get(in, "bits"), *model = option_get(in, "model");
    const struct head_mixture *kinds = mixed ? &mixed->mixture : NULL;
    size_t grid = kinds && count == kinds->n ? head_mixture_grid(kinds) : 0, in_layer = grid ? grid : count;
    if (in_layer == 0) return; /* --count is 1 or more */
    int32_t *layers = xcalloc(count, sizeof *layers), *heads = xcalloc(count, sizeof *heads);
    for (size_t i = 0; i < count; i++) {
        heads[i] = grid ? kinds->list[i].head : (int32_t)i;
        layers[i / in_layer] = grid ? kinds->list[i].layer : 0;
    }
    if (mixed) mixed->heads = in_layer;
    char *source = source_of(in, kinds);
    struct trace_info info = {.model = model ? model : "synthetic",
                              .source = source,
                              .layers = count / in_layer,
                              .heads = in_layer,
                              .layer_ids = layers,
                              .head_ids = heads,
                              .n = (size_t)g->n,
                              .d = (size_t)(kinds ? kinds->list[0].g.d : g->d),
                              .bits = bits && strcmp(bits, "32") == 0 ? 32 : 16};
    trace_write(option_get(in, "output"), &info, mixed ? pull_mixed : pull, mixed ? (void *)mixed : (void *)g, in->diags);
    free(source);
    free(heads);
    free(layers);
}

/* Of a mixture n is a parameter, and no other is. */
static bool check_kinds(const struct invocation *in, const struct head_mixture *m)
{
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0 && strncmp(in->options[i].argument, "n=", 2) != 0) {
            usage_error(in, "--set %s: with --kinds only n can be set", in->options[i].argument);
            return false;
        }
    for (size_t i = 1; i < m->n; i++)
        if (m->list[i].g.d != m->list[0].g.d) {
            usage_error(in, "--kinds: heads of dimension %lld and %lld are in one file", (long long)m->list[0].g.d,
                        (long long)m->list[i].g.d);
            return false;
        }
    return true;
}

int trace_generate_run(const struct invocation *in)
{
    struct generator g = generator_defaults;
    bool ok = true;
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "set") == 0) ok = generator_set_text(&g, in->options[i].argument, in->diags) && ok;
    const char *to = option_get(in, "output"), *bits = option_get(in, "bits"), *kinds = option_get(in, "kinds");
    if (bits && strcmp(bits, "16") != 0 && strcmp(bits, "32") != 0) return usage_error(in, "--bits: \"%s\" is not 16 or 32", bits);
    if (!to) return usage_error(in, "--output is missing; trace generate needs it");
    struct mixed mixed = {.n = (size_t)g.n};
    if (kinds) ok = kinds_read_file(kinds, &mixed.mixture, in->diags) && check_kinds(in, &mixed.mixture) && ok;
    long long otherwise = kinds && ok && mixed.mixture.n <= TRACE_HEADS_MAX ? (long long)mixed.mixture.n : 8;
    long long count = option_integer(in, "count", 1, 4096, otherwise);
    if (ok && !in->diags->errors) generate(in, &g, kinds ? &mixed : NULL, (size_t)count);
    head_mixture_release(&mixed.mixture);
    return ok ? 0 : 2;
}
