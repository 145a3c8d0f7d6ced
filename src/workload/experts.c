/* Experts at work: docs/explanation/llms.md has the laws. */
#include "workload/experts.h"

#include "workload/expert_loads.h"

#include <dse/num.h>

#include <math.h>

/* The largest of n standard normal numbers on the mean: the quantile at (n - 3/8) / (n + 1/4) (Blom 1958), by the rational
 * approximation of Abramowitz and Stegun, 26.2.23 (within 4.5e-4). */
static double largest_of(double n)
{
    const double t = sqrt(-2 * log((0.625) / (n + 0.25)));
    const double over = 2.515517 + t * (0.802853 + t * 0.010328), under = 1 + t * (1.432788 + t * (0.189269 + t * 0.001308));
    return dse_max(0, t - over / under);
}

/* Popularity of experts: strata of equal numbers of experts, each with its mean; their mean is 1. Density x^-a from 1 to the number
 * of experts. */
enum { STRATA = EXPERTS_STRATA };

void experts_popularity(int64_t routed, double exponent, double ret[EXPERTS_STRATA])
{
    const double experts = (double)routed, a = exponent, e = 1 - a;
    double sum = 0;
    for (int i = 0; i < STRATA; i++) {
        const double u = (i + 0.5) / STRATA;
        ret[i] = fabs(e) < 1e-9 ? pow(experts, u) : pow(1 + u * (pow(experts, e) - 1), 1 / e);
        sum += ret[i] / STRATA;
    }
    for (int i = 0; i < STRATA; i++) ret[i] /= sum;
}

/* Probability that some of `tokens` choose an expert that each chooses with probability p. */
static double chosen(double p, double tokens)
{
    return p >= 1 ? 1 : -expm1(tokens * log1p(-p));
}

bool experts_profiled(const struct dse_workload *w, int64_t routed)
{
    return w->routing == DSE_ROUTING_PROFILE && w->expert_loads && dse_expert_loads_experts(w->expert_loads) == routed;
}

double dse_experts_at_work(const struct dse_workload *w, struct dse_choice choice, double tokens)
{
    return experts_at_work(w, choice, tokens, (double)dse_degree(w->expert_parallel)).touched;
}

struct experts_at_work experts_at_work(const struct dse_workload *w, struct dse_choice choice, double tokens, double chips)
{
    const double experts = (double)choice.routed, active = (double)choice.chosen;
    const double all = tokens * active, mean = all / chips, share = experts > 0 ? active / experts : 0;
    struct experts_at_work ret = {.held = dse_ceil(experts / chips), .rows = mean};
    if (experts < 1) return ret;
    const double most = tokens * dse_min(active, ret.held);
    if (w->routing == DSE_ROUTING_BALANCED) {
        ret.touched = dse_min(ret.held, dse_max(1, mean));
        return ret;
    }
    double variance = 0; /* of a chip's rows, by the experts that it holds */
    double excess = 0;   /* of the fullest chip's rows, where measured */
    if (w->routing == DSE_ROUTING_UNIFORM || (w->routing == DSE_ROUTING_PROFILE && !experts_profiled(w, choice.routed))) {
        ret.touched = ret.held * chosen(share, tokens);
    } else if (w->routing == DSE_ROUTING_PROFILE) {
        ret.touched = ret.held / experts * expert_loads_touched(w->expert_loads, active, tokens);
        excess = dse_max(0, all * expert_loads_fullest(w->expert_loads, (int64_t)ret.held) - mean);
    } else {
        double loads[STRATA], square = 0;
        experts_popularity(choice.routed, w->routing_exponent, loads);
        for (int i = 0; i < STRATA; i++) {
            ret.touched += ret.held / STRATA * chosen(dse_min(1, share * loads[i]), tokens);
            square += (loads[i] - 1) * (loads[i] - 1) / STRATA;
        }
        variance = square * mean * mean / ret.held * (1 - 1 / chips);
    }
    if (chips > 1) { /* each token draws without putting back */
        const double drawn = experts > 1 ? (experts - active) / (experts - 1) : 0;
        variance += all / chips * (1 - 1 / chips) * drawn;
        const double z = largest_of(chips);
        const double above = excess > 0 ? sqrt(excess * excess + z * z * variance) : z * sqrt(variance);
        ret.rows = dse_min(most, dse_max(1, mean + above)); /* some chip has a row */
    }
    return ret;
}
