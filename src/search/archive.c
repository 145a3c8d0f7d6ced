#include "search/archive.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKET = 8, LOOSE_MAX = 32, LOOSE_SHARE = 64 };

struct node {
    uint32_t first, end; /* members */
    uint32_t right;      /* the second child; the first stands behind the node; 0: a leaf */
};

struct archive {
    size_t m, n, capacity, settled; /* members 0..settled-1 are in the tree */
    size_t dead;                    /* members that were driven out: their costs are INFINITY */
    double tolerance;
    double *costs; /* n * m */
    struct lattice_point *at;
    struct node *nodes;
    double *ends; /* of each node: m least, m most */
    size_t n_nodes, nodes_capacity;
};

struct archive *archive_new(size_t objectives, double tolerance)
{
    struct archive *a = xcalloc(1, sizeof *a);
    a->m = objectives;
    a->tolerance = tolerance;
    return a;
}

void archive_free(struct archive *a)
{
    if (!a) return;
    free(a->costs);
    free(a->at);
    free(a->nodes);
    free(a->ends);
    free(a);
}

size_t archive_size(const struct archive *a)
{
    return a->n;
}

const double *archive_costs(const struct archive *a, size_t member)
{
    return a->costs + member * a->m;
}

struct lattice_point archive_at(const struct archive *a, size_t member)
{
    return a->at[member];
}

/* ---- the tree -------------------------------------------------------------------------------------------------------------- */

static void swap(struct archive *a, size_t i, size_t j)
{
    double held[FRONT_OBJECTIVES_MAX];
    const size_t bytes = a->m * sizeof(double);
    const struct lattice_point at = a->at[i];
    memcpy(held, a->costs + i * a->m, bytes);
    memcpy(a->costs + i * a->m, a->costs + j * a->m, bytes);
    memcpy(a->costs + j * a->m, held, bytes);
    a->at[i] = a->at[j];
    a->at[j] = at;
}

/* Order members first..end-1 so that the one at `middle` has those below it, by one objective, before it. */
static void part(struct archive *a, size_t first, size_t end, size_t middle, size_t objective)
{
    while (end - first > 1) {
        const double pivot = a->costs[(first + (end - first - 1) / 2) * a->m + objective];
        size_t low = first, high = end - 1;
        for (;;) {
            while (a->costs[low * a->m + objective] < pivot) low++;
            while (a->costs[high * a->m + objective] > pivot) high--;
            if (low >= high) break;
            swap(a, low++, high--);
        }
        if (middle <= high)
            end = high + 1;
        else
            first = high + 1;
    }
}

static size_t widest(const struct archive *a, const double *ends)
{
    size_t best = 0;
    double most = -1;
    for (size_t j = 0; j < a->m; j++) {
        const double scale = fmax(fabs(ends[j]), fabs(ends[a->m + j])), width = scale > 0 ? (ends[a->m + j] - ends[j]) / scale : 0;
        if (!(width > most)) continue;
        most = width;
        best = j;
    }
    return best;
}

static uint32_t grow(struct archive *a, size_t first, size_t end)
{
    if (a->n_nodes == a->nodes_capacity) {
        a->nodes_capacity = a->nodes_capacity ? 2 * a->nodes_capacity : 64;
        a->nodes = xrealloc(a->nodes, a->nodes_capacity, sizeof *a->nodes);
        a->ends = xrealloc(a->ends, a->nodes_capacity * 2 * a->m, sizeof *a->ends);
    }
    const uint32_t me = (uint32_t)a->n_nodes++;
    double *ends = a->ends + (size_t)me * 2 * a->m;
    for (size_t j = 0; j < a->m; j++) {
        ends[j] = INFINITY;
        ends[a->m + j] = -INFINITY;
        for (size_t i = first; i < end; i++) {
            ends[j] = fmin(ends[j], a->costs[i * a->m + j]);
            ends[a->m + j] = fmax(ends[a->m + j], a->costs[i * a->m + j]);
        }
    }
    a->nodes[me] = (struct node){(uint32_t)first, (uint32_t)end, 0};
    if (end - first <= BUCKET) return me;
    const size_t middle = first + (end - first) / 2;
    part(a, first, end, middle, widest(a, ends));
    grow(a, first, middle);
    const uint32_t right = grow(a, middle, end);
    a->nodes[me].right = right;
    return me;
}

static bool is_dead(const struct archive *a, size_t member)
{
    return isinf(a->costs[member * a->m]);
}

static void bury(struct archive *a)
{
    size_t kept = 0;
    for (size_t i = 0; i < a->n; i++) {
        if (is_dead(a, i)) continue;
        if (kept != i) swap(a, kept, i);
        kept++;
    }
    a->n = kept;
    a->dead = 0;
}

void archive_settle(struct archive *a)
{
    if (!a->dead && (a->n - a->settled) < LOOSE_MAX) return;
    bury(a);
    a->n_nodes = 0;
    if (a->n) grow(a, 0, a->n);
    a->settled = a->n;
}

void archive_tend(struct archive *a)
{
    if (a->dead + (a->n - a->settled) >= LOOSE_MAX + a->settled / LOOSE_SHARE) archive_settle(a);
}

/* ---- looking --------------------------------------------------------------------------------------------------------------- */

static bool is_below(const double *costs, const double *limits, size_t m)
{
    for (size_t j = 0; j < m; j++)
        if (!(costs[j] <= limits[j])) return false;
    return true;
}

static void limits_of(const double *costs, size_t m, double tolerance, double *ret)
{
    for (size_t j = 0; j < m; j++) ret[j] = isinf(costs[j]) ? costs[j] : costs[j] + tolerance * fabs(costs[j]);
}

bool costs_cover(const double *costs, const double *other, size_t objectives, double tolerance)
{
    double limits[FRONT_OBJECTIVES_MAX];
    limits_of(other, objectives, tolerance, limits);
    return is_below(costs, limits, objectives);
}

static size_t find(const struct archive *a, size_t first, size_t end, const double *limits)
{
    for (size_t i = first; i < end; i++)
        if (is_below(a->costs + i * a->m, limits, a->m)) return i;
    return SIZE_MAX;
}

static size_t find_in_tree(const struct archive *a, const double *limits)
{
    uint32_t open[64];
    size_t n = 0;
    if (a->settled) open[n++] = 0;
    while (n) {
        const uint32_t me = open[--n];
        const struct node *node = &a->nodes[me];
        const double *ends = a->ends + (size_t)me * 2 * a->m;
        if (!is_below(ends, limits, a->m)) continue;
        if (!a->dead && is_below(ends + a->m, limits, a->m)) return node->first;
        if (!node->right) {
            const size_t found = find(a, node->first, node->end, limits);
            if (found != SIZE_MAX) return found;
            continue;
        }
        open[n++] = node->right;
        open[n++] = me + 1;
    }
    return SIZE_MAX;
}

static size_t find_below(const struct archive *a, const double *limits, size_t hint)
{
    if (hint < a->n && is_below(a->costs + hint * a->m, limits, a->m)) return hint;
    const size_t found = find_in_tree(a, limits);
    return found != SIZE_MAX ? found : find(a, a->settled, a->n, limits);
}

size_t archive_cover(const struct archive *a, const double *costs, size_t hint)
{
    double limits[FRONT_OBJECTIVES_MAX];
    limits_of(costs, a->m, a->tolerance, limits);
    return find_below(a, limits, hint);
}

/* How far a cost is above another, as a share of that. */
static double share_above(double cost, double of)
{
    if (cost <= of) return 0;
    return isinf(of) || of == 0 ? (double)INFINITY : (cost - of) / fabs(of);
}

/* The largest share by which one of the costs is above the vector's, or something that is no less than `enough`. */
static double worst_share(const double *costs, const double *of, size_t m, double enough)
{
    double most = 0;
    for (size_t j = 0; j < m && most < enough; j++) most = fmax(most, share_above(costs[j], of[j]));
    return most;
}

double archive_gap(const struct archive *a, const double *costs)
{
    double least = INFINITY;
    uint32_t open[64];
    size_t n = 0;
    for (size_t i = a->settled; i < a->n; i++) least = fmin(least, worst_share(a->costs + i * a->m, costs, a->m, least));
    if (a->settled) open[n++] = 0;
    while (n) {
        const uint32_t me = open[--n];
        const struct node *node = &a->nodes[me];
        if (worst_share(a->ends + (size_t)me * 2 * a->m, costs, a->m, least) >= least) continue;
        for (size_t i = node->first; !node->right && i < node->end; i++)
            least = fmin(least, worst_share(a->costs + i * a->m, costs, a->m, least));
        if (!node->right) continue;
        const double *left = a->ends + ((size_t)me + 1) * 2 * a->m, *right = a->ends + (size_t)node->right * 2 * a->m;
        const bool left_first = worst_share(left, costs, a->m, least) <= worst_share(right, costs, a->m, least);
        open[n++] = left_first ? node->right : me + 1;
        open[n++] = left_first ? me + 1 : node->right;
    }
    return least;
}

/* ---- adding ---------------------------------------------------------------------------------------------------------------- */

static void kill(struct archive *a, size_t first, size_t end, const double *costs)
{
    for (size_t i = first; i < end; i++) {
        if (is_dead(a, i) || !is_below(costs, a->costs + i * a->m, a->m)) continue;
        for (size_t j = 0; j < a->m; j++) a->costs[i * a->m + j] = INFINITY;
        a->dead++;
    }
}

/* Drive out the members that the costs are no worse than. */
static void drive_out(struct archive *a, const double *costs)
{
    uint32_t open[64];
    size_t n = 0;
    if (a->settled) open[n++] = 0;
    while (n) {
        const uint32_t me = open[--n];
        const struct node *node = &a->nodes[me];
        if (!is_below(costs, a->ends + ((size_t)me * 2 + 1) * a->m, a->m)) continue;
        if (!node->right) {
            kill(a, node->first, node->end, costs);
            continue;
        }
        open[n++] = node->right;
        open[n++] = me + 1;
    }
    kill(a, a->settled, a->n, costs);
}

bool archive_add(struct archive *a, const double *costs, struct lattice_point at)
{
    if (archive_cover(a, costs, SIZE_MAX) != SIZE_MAX) return false;
    drive_out(a, costs);
    if (a->n == a->capacity) {
        a->capacity = a->capacity ? 2 * a->capacity : 64;
        a->costs = xrealloc(a->costs, a->capacity * a->m, sizeof *a->costs);
        a->at = xrealloc(a->at, a->capacity, sizeof *a->at);
    }
    memcpy(a->costs + a->n * a->m, costs, a->m * sizeof *costs);
    a->at[a->n++] = at;
    return true;
}

/* ---- the front ------------------------------------------------------------------------------------------------------------- */

struct ranked {
    double sum; /* of the costs, each over the largest of its objective */
    struct lattice_point at;
    size_t member;
};

static int by_sum(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (a->sum != b->sum) return (a->sum > b->sum) - (a->sum < b->sum);
    if (a->at.space != b->at.space) return (a->at.space > b->at.space) - (a->at.space < b->at.space);
    return (a->at.point > b->at.point) - (a->at.point < b->at.point);
}

/* A member that another covers, and clearly betters somewhere, has the larger sum: so who is kept was covered by none before. */
size_t archive_front(const struct archive *a, size_t *ret)
{
    struct archive *kept = archive_new(a->m, a->tolerance);
    struct ranked *ranked = xcalloc(a->n, sizeof *ranked);
    double scale[FRONT_OBJECTIVES_MAX] = {0};
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        for (size_t j = 0; j < a->m; j++) scale[j] = fmax(scale[j], fabs(a->costs[i * a->m + j]));
    for (size_t i = 0; i < a->n; i++) {
        ranked[i] = (struct ranked){.at = a->at[i], .member = i};
        for (size_t j = 0; j < a->m; j++)
            if (scale[j] > 0) ranked[i].sum += a->costs[i * a->m + j] / scale[j];
    }
    if (a->n) qsort(ranked, a->n, sizeof *ranked, by_sum);
    for (size_t i = 0; i < a->n; i++) {
        if (!archive_add(kept, archive_costs(a, ranked[i].member), a->at[ranked[i].member])) continue;
        archive_tend(kept);
        ret[n++] = ranked[i].member;
    }
    archive_free(kept);
    free(ranked);
    return n;
}
