/* SnapKV, PyramidKV and Quest: which positions they hold. */
#include "attention/eviction_select.h"

#include "attention/eviction_policies.h"

#include <math.h>
#include <string.h>

static const struct srcloc nowhere;

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- snapkv: Li et al., Sec. 4.1, Listing 1 ------------------------------------------------------------------------------ */

/* The last `observed` steps of a prompt vote with their probabilities; the sums are pooled over neighbours, so that what belongs
 * together stays together. The S - observed positions with the most stay, and the observed ones. */

void snapkv_score(struct eviction_cache *c, const double *p)
{
    for (size_t i = 0; i < c->n; i++) c->score[i] += p[i];
}

static double pooled(const double *score, size_t n, size_t i, const struct eviction_options *o)
{
    size_t reach = (size_t)o->pool / 2, from = i > reach ? i - reach : 0, to = smaller(n, i + reach + 1);
    double sum = 0, most = score[i];
    for (size_t j = from; j < to; j++) {
        sum += score[j];
        most = score[j] > most ? score[j] : most;
    }
    return o->pooling == EVICTION_POOL_MEAN ? sum / (double)o->pool : most;
}

void snapkv_select(struct eviction_cache *c, double *scratch)
{
    if (c->n <= c->size) return;
    size_t observed = (size_t)c->options->observed, before = c->n - observed, chosen = c->size - observed;
    for (size_t i = 0; i < before; i++) scratch[i] = pooled(c->score, before, i, c->options);
    eviction_largest(scratch, before, chosen, c->score, c->position); /* the sums are not needed any more */
    for (size_t i = 0; i < observed; i++) c->position[chosen + i] = (uint32_t)(before + i);
    c->evicted = c->n - c->size;
    c->n = c->size;
}

bool snapkv_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    const char *name = o->policy->traits->name;
    bool ok = true;
    if (!o->prompt) ok = diags_input(diags, nowhere, NULL, NULL, "eviction: %s selects when a prompt ends; give it one", name);
    if (o->evict_in_prompt)
        ok =
            diags_input(diags, nowhere, NULL, NULL, "eviction: %s keeps a prompt whole until it ends; nothing leaves before", name);
    if (o->observed < 1 || (o->prompt && (size_t)o->observed > o->prompt))
        ok = diags_input(diags, nowhere, NULL, NULL, "eviction: %s: %lld observed steps; 1 to the %zu of the prompt are possible",
                         name, (long long)o->observed, o->prompt);
    if (o->pool < 1 || o->pool % 2 == 0)
        ok = diags_input(diags, nowhere, NULL, NULL, "eviction: %s: a pool of %lld; it must be odd", name, (long long)o->pool);
    if (ok && size < eviction_policy_least(o))
        ok = diags_input(diags, nowhere, NULL, NULL,
                         "eviction: %s: %lld observed positions leave no room in a cache of %zu; they must be fewer", name,
                         (long long)o->observed, size);
    return ok;
}

/* ---- pyramidkv: Cai et al., Sec. 4.2 ------------------------------------------------------------------------------------- */

/* Budgets fall with the layer, in a line: the last layer has 1/beta of the mean, the first what is left of twice the mean; no
 * layer more than there is. What is observed is not part of it. */
size_t pyramidkv_budget(const struct eviction_options *o, size_t size, size_t layer)
{
    if (o->layers < 2 || size >= o->prompt) return size;
    double mean = (double)size - (double)o->observed, all = (double)o->prompt - (double)o->observed;
    double first = fmin(2 * mean - mean / o->beta, all), last = 2 * mean - first;
    return (size_t)(lround(first - (first - last) * (double)layer / (double)(o->layers - 1)) + o->observed);
}

bool pyramidkv_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    bool ok = true;
    if (o->layers < 1) ok = diags_input(diags, nowhere, NULL, NULL, "eviction: pyramidkv: how many layers has the model?");
    if (!(o->beta >= 1)) ok = diags_input(diags, nowhere, NULL, NULL, "eviction: pyramidkv: beta %g is below 1", o->beta);
    return snapkv_check(o, size, diags) && ok;
}

/* ---- quest: Tang et al., Sec. 3.3 ---------------------------------------------------------------------------------------- */

/* The page that is being filled is always read, then those with the largest bounds, as many whole pages as S and the step's own
 * position have room for. */
void quest_choose(struct eviction_cache *c, const double *bounds, double *scratch)
{
    size_t page = (size_t)c->options->page, last = (c->seen - 1) / page, newest = c->seen - last * page;
    size_t room = c->size + 1, pages = room > newest ? smaller(last, (room - newest) / page) : 0;
    uint32_t *chosen = c->position + (c->seen - pages); /* behind what is written of the chosen before them */
    eviction_largest(bounds, last, pages, scratch, chosen);
    c->n = 0;
    for (size_t i = 0; i < pages; i++) {
        size_t at = chosen[i] * page;
        for (size_t j = 0; j < page; j++) c->position[c->n++] = (uint32_t)(at + j);
    }
    for (size_t i = last * page; i < c->seen; i++) c->position[c->n++] = (uint32_t)i;
    c->evicted = c->seen - c->n;
}

bool quest_check(const struct eviction_options *o, size_t size, struct diags *diags)
{
    if (o->page < 1) return diags_input(diags, nowhere, NULL, NULL, "eviction: quest: a page of %lld", (long long)o->page);
    if (size >= eviction_policy_least(o)) return true;
    return diags_input(diags, nowhere, NULL, NULL, "eviction: quest: a cache of %zu has no room for a page of %lld", size,
                       (long long)o->page);
}
