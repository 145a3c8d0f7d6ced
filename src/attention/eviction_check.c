/* The options of eviction.h: the size of the cache that they ask for, and what can be wrong with them. */
#include "attention/eviction_cache.h"
#include "attention/eviction_format.h"

#include <math.h>

static const struct srcloc nowhere;

size_t eviction_size(const struct eviction_options *o, size_t n)
{
    return o->size ? o->size : (size_t)lround(o->ratio * (double)(o->prompt ? o->prompt : n));
}

static bool check_size(const struct eviction_options *o, size_t n, struct diags *diags)
{
    bool ok = true;
    if (o->prompt && o->prompt >= n)
        ok = diags_input(diags, nowhere, NULL, NULL,
                         "eviction: a prompt of %zu leaves no step of %zu to generate; it must be shorter", o->prompt, n);
    if (!o->size && !(o->ratio > 0 && o->ratio <= 1))
        return diags_input(diags, nowhere, NULL, NULL, "eviction: ratio %g is outside of (0, 1]", o->ratio);
    if (eviction_size(o, n) == 0)
        return diags_input(diags, nowhere, NULL, NULL,
                           "eviction: ratio %g of %zu positions rounds to none; a cache holds at least one", o->ratio,
                           o->prompt ? o->prompt : n);
    return ok;
}

static bool check_policy(const struct eviction_options *o, size_t size, struct diags *diags)
{
    if (!o->policy) return diags_input(diags, nowhere, NULL, NULL, "eviction: no policy is given");
    return !o->policy->check || o->policy->check(o, size, diags);
}

static bool check_layer(const struct eviction_options *o, size_t layer, struct diags *diags)
{
    if (!o->policy->traits->by_layer || layer < (size_t)o->layers) return true;
    return diags_input(diags, nowhere, NULL, NULL, "eviction: %s: layer %zu of a model of %lld; layers count from 0",
                       o->policy->traits->name, layer, (long long)o->layers);
}

/* Of a head with q of some steps alone: are those there that a policy looks at? */
static bool check_steps(const struct eviction_options *o, const struct head *h, size_t first, struct diags *diags)
{
    const char *name = o->policy->traits->name;
    if (head_whole(h)) return true;
    if (o->policy->score && !o->policy->select)
        return diags_input(diags, nowhere, NULL, NULL, "eviction: %s follows every step, and the head has q of %zu of %zu", name,
                           h->n_steps, h->n);
    for (size_t t = o->prompt - (size_t)o->observed; t < o->prompt && o->policy->select; t++)
        if (!head_query(h, t))
            return diags_input(diags, nowhere, NULL, NULL, "eviction: %s selects by step %zu, of which the head has no q", name, t);
    for (size_t t = first; t < h->n; t++)
        if (head_query(h, t)) return true;
    return diags_input(diags, nowhere, NULL, NULL, "eviction: the head has q of none of the steps %zu to %zu", first, h->n - 1);
}

/* Heads of a group stand side by side. */
static bool check_groups(const struct eviction_options *o, const struct head *heads, size_t n_heads, struct diags *diags)
{
    for (size_t h = 1; h < n_heads && o->decides == EVICTION_BY_GROUP && !o->shared; h++)
        for (size_t i = 0; i + 1 < h && heads[h].group != heads[h - 1].group; i++)
            if (heads[i].group == heads[h].group)
                return diags_input(diags, nowhere, NULL, "decides=head lets every head decide for itself",
                                   "eviction: heads %zu and %zu of the layer share keys, and others stand between them", i, h);
    return true;
}

static bool check_heads(const struct head *heads, size_t n_heads, size_t first, struct diags *diags)
{
    if (n_heads == 0) return diags_input(diags, nowhere, NULL, NULL, "eviction: no heads");
    size_t n = heads->n, d = heads->d;
    if (n == 0 || d == 0) return diags_input(diags, nowhere, NULL, NULL, "eviction: a head of %zu positions of %zu elements", n, d);
    if (n > UINT32_MAX)
        return diags_input(diags, nowhere, NULL, NULL, "eviction: %zu positions; at most %u", n, (unsigned)UINT32_MAX);
    if (first >= n)
        return diags_input(diags, nowhere, NULL, NULL, "eviction: the first measured step %zu is beyond the last, %zu", first,
                           n - 1);
    for (size_t i = 1; i < n_heads; i++)
        if (heads[i].n != n || heads[i].d != d)
            return diags_input(diags, nowhere, NULL, NULL,
                               "eviction: head %zu of the layer is %zu x %zu, the first %zu x %zu; they must be alike", i,
                               heads[i].n, heads[i].d, n, d);
    return true;
}

static bool same_format(const struct kv_format *a, const struct kv_format *b)
{
    return a->kv_bits == b->kv_bits && a->scales == b->scales && a->group == b->group && a->residual == b->residual;
}

static bool check_format(const struct head *heads, const struct eviction_options *options, size_t n_options, struct diags *diags)
{
    for (size_t i = 1; i < n_options; i++)
        if (!same_format(&options[i].format, &options->format))
            return diags_input(diags, nowhere, NULL, NULL,
                               "eviction: caches of %lld and %lld bits in one run, or with other scales",
                               (long long)options->format.kv_bits, (long long)options[i].format.kv_bits);
    return n_options == 0 || !eviction_rounds(&options->format) || kv_format_check(&options->format, heads->d, diags);
}

bool eviction_check(const struct head *heads, size_t n_heads, const struct eviction_options *options, size_t n_options,
                    size_t first, struct diags *diags)
{
    if (!check_heads(heads, n_heads, first, diags) || !check_format(heads, options, n_options, diags)) return false;
    bool ok = true;
    for (size_t i = 0; i < n_options; i++) {
        const struct eviction_options *o = &options[i];
        if (!check_size(o, heads->n, diags) || !check_policy(o, eviction_size(o, heads->n), diags) ||
            !check_layer(o, heads->layer, diags) || !check_groups(o, heads, n_heads, diags) || !check_steps(o, heads, first, diags))
            ok = false;
    }
    return ok;
}

size_t eviction_policy_least(const struct eviction_options *o)
{
    const struct eviction_policy *p = o->policy;
    return p->least ? p->least(o) : (size_t)eviction_least(p->traits, o->sinks, o->observed, o->page);
}
