#include "search/missing.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

enum { MANY_4 = 3000, MANY = 300 }; /* points: of four objectives; of more */

/* The best and the worst of each objective; false: a side of the box between them is 0. */
static bool find_ends(const struct archive *a, size_t m, double *best, double *worst)
{
    for (size_t j = 0; j < m; j++) {
        best[j] = INFINITY;
        worst[j] = -INFINITY;
        for (size_t i = 0; i < archive_size(a); i++) {
            best[j] = fmin(best[j], archive_costs(a, i)[j]);
            worst[j] = fmax(worst[j], archive_costs(a, i)[j]);
        }
        if (!(worst[j] > best[j])) return false;
    }
    return true;
}

double missing_hypervolume(const struct archive *a, size_t objectives, const double *const *boxes, size_t n)
{
    const size_t m = objectives, members = archive_size(a), all = members + n;
    double best[FRONT_OBJECTIVES_MAX], worst[FRONT_OBJECTIVES_MAX], ref[FRONT_OBJECTIVES_MAX];
    if (n == 0) return 0;
    if ((m > 4 && all > MANY) || (m == 4 && all > MANY_4) || !find_ends(a, m, best, worst)) return (double)NAN;
    double *points = xcalloc(all * m, sizeof *points);
    bool known = true;
    for (size_t i = 0; i < all; i++)
        for (size_t j = 0; j < m; j++) {
            const double cost = i < members ? archive_costs(a, i)[j] : boxes[i - members][j];
            known = known && isfinite(cost);
            points[i * m + j] = (cost - best[j]) / (worst[j] - best[j]);
        }
    for (size_t j = 0; j < m; j++) ref[j] = 1;
    const double with = known ? hypervolume(points, all, (int)m, ref) : (double)NAN;
    const double without = known ? hypervolume(points, members, (int)m, ref) : 0;
    free(points);
    return with - without;
}
