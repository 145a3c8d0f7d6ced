#include "attention/eviction_pages.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void eviction_pages_init(struct eviction_pages *p, const struct head *h, size_t page)
{
    *p = (struct eviction_pages){.head = h, .page = page, .pages = (h->n - 1) / page + 1};
    p->low = xcalloc(p->pages * h->d, sizeof *p->low);
    p->high = xcalloc(p->pages * h->d, sizeof *p->high);
    p->bound = xcalloc(p->pages, sizeof *p->bound);
}

void eviction_pages_release(struct eviction_pages *p)
{
    free(p->low);
    free(p->high);
    free(p->bound);
}

void eviction_pages_enter(struct eviction_pages *p, size_t t)
{
    const float *k = p->head->k + t * p->head->d;
    bool opens = t % p->page == 0;
    for (size_t j = 0; j < p->head->d; j++) {
        double *low = &p->low[j * p->pages + t / p->page], *high = &p->high[j * p->pages + t / p->page], x = (double)k[j];
        *low = opens || x < *low ? x : *low;
        *high = opens || x > *high ? x : *high;
    }
}

void eviction_pages_bound(struct eviction_pages *p, size_t t)
{
    size_t n = t / p->page + 1;
    const float *q = head_query(p->head, t);
    double *restrict bound = p->bound;
    memset(bound, 0, n * sizeof *bound);
    for (size_t j = 0; j < p->head->d; j++) {
        double x = (double)q[j];
        const double *end = (x < 0 ? p->low : p->high) + j * p->pages; /* where x times the key is largest */
        for (size_t i = 0; i < n; i++) bound[i] += x * end[i];
    }
}
