/* How experts get their rows, and how FlashAttention-2 splits positions: dse/deal.h. */
#include <dse/deal.h>

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>

enum { SPLITS_MAX = 128 };

double dse_flash2_splits(double groups, double slots, double tiles)
{
    const double enough = 0.8, as_well = 0.85;
    double use[SPLITS_MAX + 1] = {0}, best = 0;
    const double most = dse_min(dse_min(SPLITS_MAX, slots), tiles);
    if (groups >= enough * slots) return 1;
    for (int s = 1; s <= (int)most; s++) {
        const double waves = groups * s / slots;
        /* Numbers that leave a block as many tiles as one split less does are passed over. */
        use[s] = s > 1 && dse_ceil(tiles / s) == dse_ceil(tiles / (s - 1)) ? 0 : waves / dse_ceil(waves);
        best = dse_max(best, use[s]);
    }
    for (int s = 1; s <= (int)most; s++)
        if (use[s] >= as_well * best) return s;
    return 1;
}

/* ---- experts ----------------------------------------------------------------------------------------------------------------- */

/* The same number for every expert: balanced ones as many as there are rows for, uniform ones as many as independent choices
 * touch. */
static void route_evenly(struct dse_dealt *ret, const struct dse_deal *l, bool is_balanced)
{
    const double experts = (double)l->experts, missed = is_balanced ? 0 : pow(1 - (double)l->chosen / experts, l->tokens);
    const double touched = is_balanced ? dse_min(experts, ret->all) : experts * (1 - missed);
    const double each = ret->all / touched;
    ret->n = (int)dse_ceil(touched / (double)l->groups - 1e-9);
    ret->even = true;
    ret->rows[0] = each;
    for (int i = 1; i < ret->n; i++) ret->rows[i] = each;
}

/* Whole rows, of as many as there are: what rounding leaves over goes to the next. */
static void round_on(double *rows, int n, double most)
{
    double exact = 0, given = 0;
    for (int i = 0; i < n; i++) {
        exact += rows[i];
        rows[i] = dse_min(most, dse_floor(exact + 0.5) - given);
        given += rows[i];
    }
}

/* Whole rows, each for itself; returns how many are left over. */
static double round_each(double *rows, int n, double most, double all)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        rows[i] = dse_min(most, dse_floor(rows[i] + 0.5));
        sum += rows[i];
    }
    const int over = (int)(sum - all);
    for (int i = 0; i < over; i++) rows[i % n]--;
    return dse_max(0, all - sum);
}

/* Rows of all experts by a power law between least and most, the most loaded first: its quantiles, scaled to the sum, no expert
 * more rows than there are tokens. */
static void draw_power_law(double *rows, const struct dse_deal *l, double exponent, double all)
{
    enum { ROUNDS = 32 };
    const int n = (int)l->experts;
    const bool is_many = all > n;
    const double tokens = l->tokens, e = 1 - exponent, least = is_many ? 1 : 0.01, most = is_many ? dse_max(2, 0.8 * tokens) : 2;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        const double u = (n - i - 0.5) / n;
        rows[i] = e == 0 ? least * pow(most / least, u) : pow((pow(most, e) - pow(least, e)) * u + pow(least, e), 1 / e);
        sum += rows[i];
    }
    for (int i = 0; i < n; i++) rows[i] *= all / sum;
    for (int round = 0; round < ROUNDS; round++) {
        double over = 0, free = 0;
        for (int i = 0; i < n; i++) {
            over += dse_max(0, rows[i] - tokens);
            rows[i] = dse_min(rows[i], tokens);
            free += rows[i] < tokens ? 1 : 0;
        }
        if (over <= 0 || free <= 0) break;
        for (int i = 0; i < n; i++)
            if (rows[i] < tokens) rows[i] += over / free;
    }
}

/* Rows left over go to experts with fewest, one each, to the first of them first: to neighbours where many have none. */
static void give_left(double *rows, int n, double left)
{
    int given = 0;
    for (int fewest = 0; given < (int)left; fewest++)
        for (int i = 0; i < n && given < (int)left; i++)
            if (rows[i] == (double)fewest) {
                rows[i]++;
                given++;
            }
}

/* Steele et al., SplitMix64: a sequence that is the same on every machine. */
static uint64_t next_number(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

static void shuffle(double *rows, int n, uint64_t *state)
{
    for (int i = n - 1; i > 0; i--) {
        const int k = (int)(next_number(state) % (uint64_t)(i + 1));
        const double kept = rows[i];
        rows[i] = rows[k];
        rows[k] = kept;
    }
}

/* A dealing of the experts to devices: where the fullest one begins, and its rows. */
static int fullest(const double *rows, int n, int each, double *ret_rows)
{
    int at = 0;
    *ret_rows = -1;
    for (int first = 0; first < n; first += each) {
        double sum = 0;
        for (int i = first; i < first + each && i < n; i++) sum += rows[i];
        if (sum <= *ret_rows) continue;
        *ret_rows = sum;
        at = first;
    }
    return at;
}

struct dealing {
    double rows;
    uint64_t state; /* before it */
};

static int by_rows(const void *a, const void *b)
{
    const struct dealing *x = a, *y = b;
    return (x->rows > y->rows) - (x->rows < y->rows);
}

/* The fullest device of the dealing that is in the middle of some. */
static void route_unevenly(struct dse_dealt *ret, const struct dse_deal *l)
{
    enum { DEALINGS = 9 };
    const int n = (int)l->experts, each = (int)dse_ceil((double)l->experts / (double)l->groups);
    double drawn[DSE_DEALT_MAX] = {0}, dealt[DSE_DEALT_MAX];
    struct dealing dealings[DEALINGS];
    uint64_t state = 1;
    double left = 0;
    draw_power_law(drawn, l, l->exponent, ret->all);
    if (l->to_neighbours)
        left = round_each(drawn, n, l->tokens, ret->all);
    else
        round_on(drawn, n, l->tokens);
    for (int d = 0; d < DEALINGS; d++) {
        dealings[d].state = state;
        for (int i = 0; i < n; i++) dealt[i] = drawn[i];
        shuffle(dealt, n, &state);
        give_left(dealt, n, left);
        fullest(dealt, n, each, &dealings[d].rows);
    }
    qsort(dealings, DEALINGS, sizeof *dealings, by_rows);
    state = dealings[DEALINGS / 2].state;
    shuffle(drawn, n, &state);
    give_left(drawn, n, left);
    double sum;
    const int first = fullest(drawn, n, each, &sum);
    for (int i = first; i < first + each && i < n; i++)
        if (drawn[i] > 0) ret->rows[ret->n++] = drawn[i];
}

/* As many experts with work as a profile of loads has on the mean, and the rows of the fullest device among them. */
static void route_by_profile(struct dse_dealt *ret, const struct dse_deal *l)
{
    ret->n = (int)dse_ceil(l->touched - 1e-9);
    ret->even = true;
    ret->rows[0] = l->own / l->touched;
    for (int i = 1; i < ret->n; i++) ret->rows[i] = ret->rows[0];
}

void dse_deal_at(const struct dse_deal *l, struct dse_dealt *ret)
{
    ret->n = 0;
    ret->even = false;
    ret->all = l->tokens * (double)l->chosen;
    ret->own = 0;
    if (l->routing == DSE_ROUTING_PROFILE && l->touched > 0)
        route_by_profile(ret, l);
    else if (l->routing == DSE_ROUTING_POWER_LAW)
        route_unevenly(ret, l);
    else
        route_evenly(ret, l, l->routing == DSE_ROUTING_BALANCED);
    for (int i = 0; i < ret->n; i++) ret->own += ret->rows[i];
}

double dse_dealt_tiles(const struct dse_dealt *r, double rows)
{
    double down = 0;
    if (r->even) return r->n > 0 ? r->n * dse_ceil(r->rows[0] / rows) : 0;
    for (int i = 0; i < r->n; i++) down += dse_ceil(r->rows[i] / rows);
    return down;
}
