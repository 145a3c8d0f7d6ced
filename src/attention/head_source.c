#include "attention/generator.h"
#include "attention/measure.h"
#include "attention/trace.h"

static bool of_trace(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    if (!trace_head_sampled(user, layer, head, ret, diags)) return false;
    ret->layer = (size_t)trace_info(user)->layer_ids[layer];
    return true;
}

struct head_source head_source_trace(struct trace *t)
{
    const struct trace_info *info = trace_info(t);
    return (struct head_source){info->layers, info->heads, info->n, of_trace, t, info->steps, info->n_steps};
}

/* Heads of a generator do not belong together: each is a layer of its own. */
static bool of_generator(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)head;
    if (!generator_head(user, layer, ret, diags)) return false;
    ret->layer = layer;
    return true;
}

struct head_source head_source_generator(struct generator *g, size_t heads)
{
    return (struct head_source){heads, 1, (size_t)g->n, of_generator, g, NULL, 0};
}
