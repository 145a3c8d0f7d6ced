/* The blocks that a source pulls, looked over as they come. */
#include "store/store_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

/* A block must go on where the last one ended, not further than the transaction, and be encoded or not as the first one. */
static bool check_block(struct source *s, const struct row_block *b)
{
    if (b->first != s->next)
        s->wrong = xasprintf("rows from point %llu on came where those from %llu were due", (unsigned long long)b->first,
                             (unsigned long long)s->next);
    else if (b->n == 0 || b->n > s->end - s->next)
        s->wrong = xasprintf("%zu rows came from point %llu on where 1 to %llu were due", b->n, (unsigned long long)b->first,
                             (unsigned long long)(s->end - s->next));
    else if ((b->pages != NULL) != s->encoded)
        s->wrong = xasprintf("rows from point %llu on are %s, unlike those before", (unsigned long long)b->first,
                             b->pages ? "encoded" : "not encoded");
    else if (s->encoded && b->n != STORE_BLOCK && b->n != s->end - s->next)
        s->wrong = xasprintf("an encoded block from point %llu on has %zu rows where %d were due", (unsigned long long)b->first,
                             b->n, STORE_BLOCK);
    return !s->wrong;
}

static uint64_t digest_of(const struct store_model *model, const struct row_block *b)
{
    return b->pages ? b->pages->digest : digest_block_of(&model->digest, b, model->at_events);
}

static uint64_t count_feasible(const struct row_block *b)
{
    if (b->pages) return b->pages->feasible;
    uint64_t n = 0;
    for (size_t i = 0; i < b->n; i++) n += !b->rows[i].reason;
    return n;
}

const struct row_block *source_next(struct store_model *model)
{
    struct source *s = &model->source;
    if (!s->pull || s->next >= s->end || s->ended || s->wrong) return NULL;
    const struct row_block *b = s->ahead ? s->ahead : s->pull(s->user);
    s->ahead = NULL;
    s->ended = !b;
    if (!b || !check_block(s, b)) return NULL;
    s->next += b->n;
    s->feasible += count_feasible(b);
    s->digest += digest_of(model, b);
    return b;
}
