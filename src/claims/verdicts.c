/* A published number and another: whether they agree, and by how much they differ. */
#include "claims/claims.h"

#include <math.h>

const char *const claim_verdict_names[] = {
    [CLAIM_EXACT] = "exact",       [CLAIM_HOLDS] = "holds",
    [CLAIM_NEAR] = "near",         [CLAIM_OFF] = "off",
    [CLAIM_MISSES] = "misses",     [CLAIM_CONTRADICTION] = "contradiction",
    [CLAIM_INPUT] = "input",       [CLAIM_FITTED] = "fitted",
    [CLAIM_MEASURED] = "measured", [CLAIM_NOT_MODELLED] = "not modelled",
    [CLAIM_VERDICTS] = NULL,
};

static double relative_percent(double modelled, double published)
{
    return 100 * (modelled - published) / fabs(published);
}

/* Is the bound met? Numbers that may be reached count as reached when the model's rounds to them. */
static bool meets_bound(const struct claim *c, double v)
{
    switch (c->bound) {
    case CLAIM_ABOVE: return v > c->value;
    case CLAIM_BELOW: return v < c->value;
    case CLAIM_AT_LEAST: return v >= c->value - c->half_digit;
    case CLAIM_AT_MOST: return v <= c->value + c->half_digit;
    case CLAIM_RANGE: return v >= c->value - c->half_digit && v <= c->value_hi + c->half_digit_hi;
    default: break;
    }
    enum { ROUNDING = 1000000000 }; /* of the arithmetic, where a number lies just between two digits */
    return fabs(v - c->value) <= c->half_digit + fabs(c->value) / ROUNDING;
}

bool claim_is_number(const struct claim *c)
{
    return c->bound == CLAIM_EQUAL || c->bound == CLAIM_ABOUT || c->bound == CLAIM_MAX;
}

double claim_error_percent(const struct claim *c, double modelled)
{
    if (isnan(modelled)) return modelled;
    bool met = meets_bound(c, modelled);
    if (met && !claim_is_number(c)) return 0;
    double against = c->bound == CLAIM_RANGE && modelled > c->value ? c->value_hi : c->value;
    if (against != 0) return relative_percent(modelled, against);
    return met ? 0 : copysign(100, modelled);
}

enum claim_verdict claim_compare(const struct claim *c, double ours)
{
    enum { NEAR_PERCENT = 10 };
    if (meets_bound(c, ours)) return claim_is_number(c) ? CLAIM_EXACT : CLAIM_HOLDS;
    if (!claim_is_number(c)) return CLAIM_MISSES;
    return fabs(claim_error_percent(c, ours)) <= NEAR_PERCENT ? CLAIM_NEAR : CLAIM_OFF;
}
