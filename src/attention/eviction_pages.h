/* Bounds of the scores of pages, as Quest has them: of each page the smallest and the largest of every element of its keys. A key
 * in the page has at most the score sum over elements of max(q low, q high) (times 1 / sqrt(d), which all share).
 */
#ifndef DSE_ATTENTION_EVICTION_PAGES_H
#define DSE_ATTENTION_EVICTION_PAGES_H

#include "attention/head.h"

struct eviction_pages {
    const struct head *head;
    size_t page, pages; /* positions of one; how many the head has */
    double *low, *high; /* of element j and page i at [j * pages + i] */
    double *bound;      /* of each page that has a position, after eviction_pages_bound */
};

void eviction_pages_init(struct eviction_pages *p, const struct head *h, size_t page);
void eviction_pages_release(struct eviction_pages *p);
/* Let position t in; positions come in their order. */
void eviction_pages_enter(struct eviction_pages *p, size_t t);
/* Bounds of the pages of positions 0..t by the query of step t. */
void eviction_pages_bound(struct eviction_pages *p, size_t t);

#endif
