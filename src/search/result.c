#include "search/result.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct found {
    uint64_t point;
    size_t member;
};

static int by_point(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return (x->point > y->point) - (x->point < y->point);
}

void search_result_of(const struct archive *a, size_t m, struct search_result *ret)
{
    size_t *members = xcalloc(archive_size(a), sizeof *members);
    const size_t n = archive_front(a, members);
    struct found *found = xcalloc(n, sizeof *found);
    for (size_t i = 0; i < n; i++) found[i] = (struct found){archive_at(a, members[i]).point, members[i]};
    if (n) qsort(found, n, sizeof *found, by_point);
    *ret = (struct search_result){.points = xcalloc(n, sizeof *ret->points), .values = xcalloc(n * m, sizeof *ret->values), .n = n};
    for (size_t i = 0; i < n; i++) {
        ret->points[i] = found[i].point;
        memcpy(ret->values + i * m, archive_costs(a, found[i].member), m * sizeof *ret->values);
    }
    free(found);
    free(members);
}

void search_result_release(struct search_result *r)
{
    free(r->points);
    free(r->values);
    *r = (struct search_result){0};
}
