#include "desc/label.h"

#include "base/xalloc.h"
#include "desc/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void label_add_superscript(struct text *t, int n)
{
    static const char *const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char buf[16];
    snprintf(buf, sizeof buf, "%d", n);
    for (const char *p = buf; *p; p++) text_add(t, *p == '-' ? "⁻" : digits[*p - '0']);
}

/* The ending that a unit leaves in a column's name: "GB/s" "_gbs", "tokens/s" "_tokens_per_s". */
static char *spelled_suffix(const char *unit, const char *slash)
{
    struct text t;
    text_init(&t);
    text_add(&t, "_");
    for (const char *p = unit; *p; p++) {
        char c = (char)tolower((unsigned char)*p);
        if (*p == '/') text_add(&t, slash);
        if (isalnum((unsigned char)c)) text_add_bytes(&t, &c, 1);
    }
    return text_detach(&t);
}

/* Cut a suffix from the length of a name; 0 when the name is the suffix without its underscore. */
static void cut(const char *column, const char *suffix, size_t *length)
{
    size_t n = strlen(column), m = strlen(suffix);
    if (m && n >= m && strcmp(column + n - m, suffix) == 0) *length = n - m;
    if (m && strcmp(column, suffix + 1) == 0) *length = 0;
}

/* Length of the column's name without the unit it ends in, and the underscore before that. Columns of tables have the suffix of
 * the list of units ("1/s" "_per_s"); those of a query may spell theirs out. */
static size_t length_without_unit(const char *column, const char *unit)
{
    size_t length = strlen(column);
    if (!unit || !*unit) return length;
    const char *const slashes[] = {"", "_per_"};
    const struct dse_unit *listed = unit_find(NULL, unit);
    for (size_t i = 0; i < 2; i++) {
        char *suffix = spelled_suffix(unit, slashes[i]);
        cut(column, suffix, &length);
        free(suffix);
    }
    if (listed) cut(column, listed->suffix, &length);
    return length;
}

char *label_words(const char *column, const char *unit)
{
    char *words = xstrndup(column, length_without_unit(column, unit));
    for (char *p = words; *p; p++)
        if (*p == '_') *p = ' ';
    words[0] = (char)toupper((unsigned char)words[0]);
    return words;
}

/* A unit as it is printed: mm², µs. */
static void add_unit(struct text *t, const char *unit)
{
    if (strcmp(unit, "us") == 0) {
        text_add(t, "µs");
        return;
    }
    for (const char *p = unit; *p; p++) {
        bool power = (*p == '2' || *p == '3') && p > unit && isalpha((unsigned char)p[-1]);
        if (power)
            label_add_superscript(t, *p - '0');
        else
            text_add_bytes(t, p, 1);
    }
}

char *label_of_column(const char *column, const char *unit)
{
    struct text t;
    text_init(&t);
    char *words = label_words(column, unit);
    text_add(&t, words);
    if (unit && *unit) {
        if (*words) text_add(&t, " [");
        add_unit(&t, unit);
        if (*words) text_add(&t, "]");
    }
    free(words);
    return text_detach(&t);
}
