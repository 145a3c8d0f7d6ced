#include "formula/measure.h"

#include <dse/desc.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

static const char *const own_units[DIMS] = {"B", "s", "J", "m", "V", "usd", "kgCO2e"};

static const struct {
    const char *name;
    double scale;
    struct dimension dim;
} symbols[] = {
    {"1", 1, {{0}}},
    {"op", 1, {{0}}},
    {"flop", 1, {{0}}},
    {"token", 1, {{0}}},
    {"tokens", 1, {{0}}},
    {"cycle", 1, {{0}}},
    {"cycles", 1, {{0}}},
    {"%", 0.01, {{0}}},
    {"B", 1, {{[DIM_BYTE] = 2}}},
    {"bit", 0.125, {{[DIM_BYTE] = 2}}},
    {"s", 1, {{[DIM_SECOND] = 2}}},
    {"h", 3600, {{[DIM_SECOND] = 2}}},
    {"year", 31557600, {{[DIM_SECOND] = 2}}},
    {"Hz", 1, {{[DIM_SECOND] = -2}}},
    {"J", 1, {{[DIM_JOULE] = 2}}},
    {"Wh", 3600, {{[DIM_JOULE] = 2}}},
    {"W", 1, {{[DIM_JOULE] = 2, [DIM_SECOND] = -2}}},
    {"m", 1, {{[DIM_METRE] = 2}}},
    {"V", 1, {{[DIM_VOLT] = 2}}},
    {"A", 1, {{[DIM_JOULE] = 2, [DIM_SECOND] = -2, [DIM_VOLT] = -2}}},
    {"usd", 1, {{[DIM_USD] = 2}}},
    {"kgCO2e", 1, {{[DIM_KGCO2] = 2}}},
    {"gCO2e", 1e-3, {{[DIM_KGCO2] = 2}}},
};

static const struct {
    const char *name;
    double scale;
} prefixes[] = {{"Ki", 0x1p10}, {"Mi", 0x1p20}, {"Gi", 0x1p30}, {"Ti", 0x1p40}, {"k", 1e3},  {"M", 1e6},   {"G", 1e9},
                {"T", 1e12},    {"P", 1e15},    {"m", 1e-3},    {"u", 1e-6},    {"n", 1e-9}, {"p", 1e-12}, {"f", 1e-15}};

bool dimension_same(struct dimension a, struct dimension b)
{
    return memcmp(a.half, b.half, sizeof a.half) == 0;
}

bool dimension_none(struct dimension d)
{
    return dimension_same(d, (struct dimension){{0}});
}

struct dimension dimension_times(struct dimension a, struct dimension b, int sign)
{
    for (int i = 0; i < DIMS; i++) a.half[i] = (int16_t)(a.half[i] + sign * b.half[i]);
    return a;
}

/* The units with powers of one sign. */
static int add_powers(struct dimension d, int sign, struct text *ret)
{
    int n = 0;
    for (int i = 0; i < DIMS; i++) {
        const int half = sign * d.half[i];
        if (half <= 0) continue;
        text_addf(ret, "%s%s", n++ ? " " : "", own_units[i]);
        if (half % 2)
            text_addf(ret, "^%d/2", half);
        else if (half > 2)
            text_addf(ret, "%d", half / 2);
    }
    return n;
}

void dimension_text(struct dimension d, struct text *ret)
{
    if (dimension_none(d)) {
        text_add(ret, "a pure number");
        return;
    }
    struct text below;
    text_init(&below);
    const int n = add_powers(d, -1, &below);
    if (add_powers(d, 1, ret) == 0) text_add(ret, "1");
    if (n) text_addf(ret, n > 1 ? "/(%s)" : "/%s", below.s);
    text_release(&below);
}

/* ---- units as people write them ---------------------------------------------------------------------------------------------- */

static bool find_symbol(const char *s, size_t n, struct measure *ret)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (strlen(symbols[i].name) != n || strncmp(symbols[i].name, s, n) != 0) continue;
        *ret = (struct measure){symbols[i].scale, symbols[i].dim};
        return true;
    }
    return false;
}

static bool find_prefixed(const char *s, size_t n, struct measure *ret)
{
    if (find_symbol(s, n, ret)) return true;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t k = strlen(prefixes[i].name);
        if (n <= k || strncmp(prefixes[i].name, s, k) != 0 || !find_symbol(s + k, n - k, ret) || s[k] == '1') continue;
        ret->scale *= prefixes[i].scale;
        return true;
    }
    return false;
}

/* "mm2": a unit, its prefix, and what power of both. */
static bool parse_factor(const char *s, size_t n, struct measure *ret)
{
    if (find_prefixed(s, n, ret)) return true;
    if (n < 2 || s[n - 1] < '2' || s[n - 1] > '4' || !find_prefixed(s, n - 1, ret)) return false;
    const int power = s[n - 1] - '0';
    ret->scale = pow(ret->scale, power);
    for (int i = 0; i < DIMS; i++) ret->dim.half[i] = (int16_t)(ret->dim.half[i] * power);
    return true;
}

bool measure_parse(const char *s, size_t n, struct measure *ret)
{
    *ret = (struct measure){.scale = 1};
    int sign = 1;
    for (size_t i = 0; i <= n; i++) {
        size_t k = 0;
        while (i + k < n && s[i + k] != '/' && s[i + k] != ' ' && s[i + k] != '*') k++;
        struct measure factor;
        if (!parse_factor(s + i, k, &factor)) return false;
        ret->dim = dimension_times(ret->dim, factor.dim, sign);
        ret->scale = sign > 0 ? ret->scale * factor.scale : ret->scale / factor.scale;
        i += k;
        if (i < n && s[i] == '/') sign = -1;
    }
    return true;
}

/* ---- units of names ---------------------------------------------------------------------------------------------------------- */

static bool ends_in(const char *name, const char *suffix)
{
    const size_t n = strlen(name), k = strlen(suffix);
    return k > 0 && n > k && strcmp(name + n - k, suffix) == 0;
}

bool measure_of_name(const char *name, struct measure *ret, const char **ret_unit)
{
    static const struct {
        const char *unit, *suffix;
    } more[] = {
        {"s", "_s"},      {"J", "_j"}, {"Hz", "_hz"}, {"B/s", "_bytes_per_s"}, {"1/s", "_ops_per_s"}, {"J/B", "_j_per_byte"},
        {"J", "_joules"}, {NULL, NULL}};
    size_t longest = 0;
    *ret_unit = NULL;
    for (const struct dse_unit *u = dse_units; u->unit; u++)
        if (ends_in(name, u->suffix) && strlen(u->suffix) > longest) longest = strlen(u->suffix), *ret_unit = u->unit;
    for (size_t i = 0; more[i].unit; i++)
        if (ends_in(name, more[i].suffix) && strlen(more[i].suffix) > longest)
            longest = strlen(more[i].suffix), *ret_unit = more[i].unit;
    return *ret_unit && measure_parse(*ret_unit, strlen(*ret_unit), ret);
}
