/* What the piecewise linear exp does to softmax: its mean squared error, by quadrature. */
#include <dse/linear_exp.h>

#include <math.h>

enum {
    MAXIMUM_NODES = 32, /* of the largest score */
    SCORE_NODES = 160,  /* of the others, below it */
};

/* Scores below the last edge, -10, are 0; so far below the largest, exp is too. */
static const double score_floor = -18;

static void pieces_init(struct dse_pieces *ret, int64_t intervals)
{
    double edges[DSE_PIECES_MAX];
    dse_pieces_edges(edges, (size_t)intervals);
    dse_pieces_init(ret, edges, (size_t)intervals);
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

/* The largest score is z deviations above the mean, and every other one is normal below it: the expected sums. `below`: share of
 * all scores that are below. */
static struct sums expected_sums(const struct dse_pieces *pieces, double n, double sd, double z, double below)
{
    struct sums s = {0};
    double from = fmax(score_floor, -(z + 8) * sd), width = -from / SCORE_NODES;
    double others = (n - 1) * width / (sd * sqrt(2 * M_PI) * below);
    for (int i = 0; i < SCORE_NODES; i++) {
        double x = from * (i + 0.5) / SCORE_NODES, g = z + x / sd;
        sums_add(&s, others * exp(-g * g / 2), exp(x), dse_pieces_exp(pieces, x));
    }
    sums_add(&s, 1, 1, dse_pieces_exp(pieces, 0));
    return s;
}

double dse_softmax_pieces_mse(int64_t intervals, double n, double sd)
{
    struct dse_pieces pieces;
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
