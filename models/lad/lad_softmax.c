/* What the piecewise linear exp does to softmax: its mean squared error (E23), by quadrature. */
#include "lad.h"

#include <math.h>

enum {
    PIECES_MAX = 16,
    MAXIMUM_NODES = 32, /* of the largest score */
    SCORE_NODES = 160,  /* of the others, below it */
};

/* Scores below the last edge are 0; so far below the largest, exp is too. */
static const double last_edge = -10, score_floor = -18;

/* exp(x) = slope x + offset from `from` to the next piece; the pieces from left to right, 0 left of the first. */
struct piece {
    double from, slope, offset;
};

struct pieces {
    struct piece piece[PIECES_MAX];
    int n;
};

/* The line that is nearest to exp on [from, to] in the mean square. */
static struct piece least_squares(double from, double to)
{
    double width = to - from, middle = (from + to) / 2, mean = (exp(to) - exp(from)) / width;
    double moment = (to - middle - 1) * exp(to) - (from - middle - 1) * exp(from); /* of exp about the middle */
    double slope = 12 * moment / (width * width * width);
    return (struct piece){.from = from, .slope = slope, .offset = mean - slope * middle};
}

/* Edges at -10 T(k) / T(intervals - 1), T(k) = k (k + 1) / 2: five intervals are the paper's. */
static void pieces_init(struct pieces *ret, int64_t intervals)
{
    *ret = (struct pieces){.n = (int)intervals - 1};
    double all = (double)ret->n * (ret->n + 1) / 2;
    for (int i = 0; i < ret->n; i++) {
        double k = ret->n - i;
        ret->piece[i] = least_squares(last_edge * k * (k + 1) / 2 / all, last_edge * (k - 1) * k / 2 / all);
    }
}

static double linear_exp(const struct pieces *p, double x)
{
    for (int i = p->n - 1; i >= 0; i--)
        if (x > p->piece[i].from) return p->piece[i].slope * x + p->piece[i].offset;
    return 0;
}

/* Sums over the n scores x - max of exp, its approximation, and their products. */
struct sums {
    double e, p, ee, ep, pp;
};

static void sums_add(struct sums *s, double weight, double e, double p)
{
    s->e += weight * e;
    s->p += weight * p;
    s->ee += weight * e * e;
    s->ep += weight * e * p;
    s->pp += weight * p * p;
}

/* The largest score is z deviations above the mean, and every other one is normal below it: the expected sums. `below`: share of all
 * scores that are below. */
static struct sums expected_sums(const struct pieces *pieces, double n, double sd, double z, double below)
{
    struct sums s = {0};
    double from = fmax(score_floor, -(z + 8) * sd), width = -from / SCORE_NODES;
    double others = (n - 1) * width / (sd * sqrt(2 * M_PI) * below);
    for (int i = 0; i < SCORE_NODES; i++) {
        double x = from * (i + 0.5) / SCORE_NODES, g = z + x / sd;
        sums_add(&s, others * exp(-g * g / 2), exp(x), linear_exp(pieces, x));
    }
    sums_add(&s, 1, 1, linear_exp(pieces, 0));
    return s;
}

double lad_softmax_mse(int64_t intervals, double n, double sd)
{
    struct pieces pieces;
    pieces_init(&pieces, intervals);
    double center = sqrt(2 * log(n)), from = center - 2.5, width = 5.5 / MAXIMUM_NODES, sum = 0, weights = 0;
    for (int i = 0; i < MAXIMUM_NODES; i++) {
        double z = from + (i + 0.5) * width, above = 0.5 * erfc(z / M_SQRT2);
        double weight = exp(-z * z / 2 + (n - 1) * log1p(-above)); /* density of the largest of n, but for a factor */
        if (weight < 1e-14) continue;
        struct sums s = expected_sums(&pieces, n, sd, z, 1 - above);
        sum += weight * (s.ee / (s.e * s.e) - 2 * s.ep / (s.e * s.p) + s.pp / (s.p * s.p)) / n;
        weights += weight;
    }
    return sum / weights;
}
