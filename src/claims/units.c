#include "claims/units.h"

#include "desc/schema.h"

#include <ctype.h>
#include <string.h>

/* Words for the same unit, in the form of the tables (desc/schema.h). */
static const struct {
    const char *word, *unit;
} synonyms[] = {
    {"x", ""},       {"token/s", "1/s"}, {"tokens/s", "1/s"}, {"token/J", "tokens/J"}, {"cycles", "cycle"},
    {"bits", "bit"}, {"bytes", "B"},     {"GOPS", "Gop/s"},   {"GOPS/W", "Gop/J"},     {"%-points", "%"},
};

/* Units of claims that no table has, besides what is counted. */
static const char *const others[] = {"s", "K", "M", "KB", "MB", "GB", "TB/s", "GOP", "J", "kW", "min", "hours", "days"};

static const char *canonical(const char *unit)
{
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(synonyms[i].word, unit) == 0) return synonyms[i].unit;
    return unit;
}

static bool is_known_unit(const char *unit)
{
    if (unit_find(NULL, unit)) return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], unit) == 0) return true;
    return false;
}

/* Is it the name of something that is counted, and so no unit: "rows", "tokens", "DSP"? */
static bool is_counted_thing(const char *unit)
{
    size_t n = 0;
    while (isalpha((unsigned char)unit[n])) n++;
    return !unit[n] && n > 2 && !is_known_unit(unit);
}

/* Are these two sizes in bytes that papers mix up, such as GB and GiB? */
static bool same_bytes(const char *a, const char *b)
{
    static const char *const pairs[][2] = {{"KiB", "KB"}, {"MiB", "MB"}, {"GiB", "GB"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(a, pairs[i][0]) == 0 && strcmp(b, pairs[i][1]) == 0) return true;
    return false;
}

bool claims_units_same(const char *a, const char *b)
{
    a = canonical(a);
    b = canonical(b);
    return strcmp(a, b) == 0 || (!*a && is_counted_thing(b)) || (!*b && is_counted_thing(a)) ||
           (is_counted_thing(a) && is_counted_thing(b));
}

bool claims_units_agree(const char *field, const char *claim, bool stated)
{
    if (claims_units_same(field, claim)) return true;
    field = canonical(field);
    claim = canonical(claim);
    return stated && (same_bytes(field, claim) || (!*field && !is_known_unit(claim)));
}
