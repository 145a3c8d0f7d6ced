/* The part of an input that becomes a trace: some layers and heads, the first positions. */
#include "attention/trace_format.h"
#include "base/xalloc.h"

#include <stdlib.h>

size_t trace_place(const int32_t *ids, size_t n, int32_t id)
{
    size_t at = 0;
    while (at < n && ids[at] != id) at++;
    return at;
}

static bool check_picked(const int32_t *picked, size_t n, const int32_t *ids, size_t n_ids, const char *what, struct srcloc loc,
                         struct diags *diags)
{
    for (size_t i = 0; i < n; i++)
        if (trace_place(ids, n_ids, picked[i]) == n_ids)
            return diags_input(diags, loc, NULL, NULL, "%s %ld is picked, but not there", what, (long)picked[i]);
    return true;
}

/* The groups of the picked heads, counted anew. */
static void pick_groups(const struct trace_info *of, struct trace_picked *ret)
{
    struct trace_info *info = &ret->info;
    int32_t *anew = xcalloc(of->heads, sizeof *anew);
    ret->kv_of = xcalloc(info->heads, sizeof *ret->kv_of);
    info->kv_heads = 0;
    for (size_t g = 0; g < of->heads; g++) anew[g] = -1;
    for (size_t i = 0; i < info->heads; i++) {
        size_t group = trace_kv_of(of, trace_place(of->head_ids, of->heads, info->head_ids[i]));
        if (anew[group] < 0) anew[group] = (int32_t)info->kv_heads++;
        ret->kv_of[i] = anew[group];
    }
    info->kv_of = ret->kv_of;
    free(anew);
}

/* The steps within the positions that are picked. */
static void pick_steps(const struct trace_info *of, struct trace_picked *ret)
{
    size_t n = 0;
    ret->steps = xcalloc(of->n_steps, sizeof *ret->steps);
    for (size_t i = 0; i < of->n_steps; i++)
        if ((size_t)of->steps[i] < ret->info.n) ret->steps[n++] = of->steps[i];
    ret->info.steps = ret->steps;
    ret->info.n_steps = n;
}

bool trace_pick_apply(const struct trace_pick *pick, const struct trace_info *of, struct trace_picked *ret, struct srcloc loc,
                      struct diags *diags)
{
    *ret = (struct trace_picked){.info = *of};
    struct trace_info *info = &ret->info;
    if (pick->layers) {
        info->layers = pick->layers;
        info->layer_ids = pick->layer_ids;
    }
    if (pick->heads) {
        info->heads = pick->heads;
        info->head_ids = pick->head_ids;
    }
    if (pick->first) info->n = pick->first;
    bool ok = check_picked(pick->layer_ids, pick->layers, of->layer_ids, of->layers, "layer", loc, diags);
    ok = check_picked(pick->head_ids, pick->heads, of->head_ids, of->heads, "head", loc, diags) && ok;
    if (pick->first > of->n)
        ok = diags_input(diags, loc, NULL, NULL, "the first %zu positions are picked; there are %zu", pick->first, of->n);
    if (!ok) return false;
    if (of->kv_of) pick_groups(of, ret);
    if (of->steps) pick_steps(of, ret);
    return trace_check(info, loc, diags);
}

void trace_picked_release(struct trace_picked *p)
{
    free(p->kv_of);
    free(p->steps);
    *p = (struct trace_picked){0};
}
