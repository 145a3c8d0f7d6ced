#include "base/text.h"

#include "base/diag.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char empty[1];

void text_init(struct text *t)
{
    *t = (struct text){.s = empty};
}

void text_release(struct text *t)
{
    if (t->capacity) free(t->s);
    text_init(t);
}

void text_add_bytes(struct text *t, const char *s, size_t n)
{
    if (t->n + n + 1 > t->capacity) {
        size_t capacity = 2 * (t->n + n + 1);
        t->s = xrealloc(t->capacity ? t->s : NULL, capacity, 1);
        t->capacity = capacity;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
    t->s[t->n] = '\0';
}

void text_add(struct text *t, const char *s)
{
    text_add_bytes(t, s, strlen(s));
}

void text_addf(struct text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *s = xvasprintf(fmt, ap);
    va_end(ap);
    text_add(t, s);
    free(s);
}

char *text_detach(struct text *t)
{
    char *s = t->capacity ? t->s : xstrdup("");
    text_init(t);
    return s;
}

/* ---- characters ----------------------------------------------------------------------------------------------------------- */

size_t text_utf8_length(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] < 0x80) return 1;
    size_t length = s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : s[0] >= 0xE0 && s[0] < 0xF0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    if (length > n) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool no_character = (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF4 && s[1] >= 0x90);
    return overlong || no_character ? 0 : length;
}

void text_add_json(struct text *t, const char *s)
{
    const size_t n = strlen(s);
    text_add(t, "\"");
    for (size_t i = 0, length; i < n; i += length ? length : 1) {
        length = text_utf8_length(s + i, n - i);
        if (length == 0)
            text_add(t, "\xEF\xBF\xBD");
        else if (s[i] == '"' || s[i] == '\\')
            text_addf(t, "\\%c", s[i]);
        else if (s[i] == '\n')
            text_add(t, "\\n");
        else if ((unsigned char)s[i] < ' ' || s[i] == 0x7f)
            text_addf(t, "\\u%04x", (unsigned)s[i]);
        else
            text_add_bytes(t, s + i, length);
    }
    text_add(t, "\"");
}

/* Edit distance with transpositions of neighbours, cut off above `limit`. Words longer than 63 characters are never near. */
static size_t edit_distance(const char *a, const char *b, size_t limit)
{
    enum { MAX = 64 };
    size_t na = strlen(a), nb = strlen(b);
    if (na >= MAX || nb >= MAX) return limit + 1;
    size_t row[3][MAX] = {{0}};
    for (size_t j = 0; j <= nb; j++) row[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *cur = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
        cur[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            int ca = tolower((unsigned char)a[i - 1]), cb = tolower((unsigned char)b[j - 1]);
            size_t best = up[j - 1] + (ca != cb);
            if (up[j] + 1 < best) best = up[j] + 1;
            if (cur[j - 1] + 1 < best) best = cur[j - 1] + 1;
            if (i > 1 && j > 1 && ca == tolower((unsigned char)b[j - 2]) && cb == tolower((unsigned char)a[i - 2]) &&
                up2[j - 2] + 1 < best)
                best = up2[j - 2] + 1;
            cur[j] = best;
        }
    }
    return row[na % 3][nb];
}

const char *text_nearest(const char *word, const char *const *names, size_t n)
{
    size_t limit = strlen(word) / 3 + 1, best = limit + 1;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        size_t d = edit_distance(word, names[i], limit);
        if (d < best) {
            best = d;
            found = names[i];
        }
    }
    return found;
}

size_t text_edits(const char *a, const char *b)
{
    const size_t na = strlen(a), nb = strlen(b);
    return edit_distance(a, b, na > nb ? na : nb);
}

char *text_join(const char *const *names, const char *between)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; names[i]; i++) text_addf(&t, "%s%s", i ? between : "", names[i]);
    return text_detach(&t);
}

/* printf of a double with a decimal point whatever the locale. */
static void print_double(char *buf, int digits, double v)
{
    snprintf(buf, TEXT_NUMBER_MAX, "%.*g", digits, v);
    const char *point = localeconv()->decimal_point;
    if (strcmp(point, ".") != 0) {
        char *p = strstr(buf, point);
        if (p) {
            *p = '.';
            memmove(p + 1, p + strlen(point), strlen(p + strlen(point)) + 1);
        }
    }
}

char *text_number(char *buf, double v)
{
    if (isnan(v)) return strcpy(buf, "nan");
    for (int digits = 15; digits <= 17; digits++) {
        double back;
        print_double(buf, digits, v);
        if (text_parse_f64(buf, &back) && back == v) break;
    }
    return buf;
}

char *text_short_number(char *buf, double v)
{
    double a = fabs(v);
    if (a >= 1000 && a < 1e9) {
        snprintf(buf, TEXT_NUMBER_MAX, "%.0f", v);
        return buf;
    }
    print_double(buf, 4, v);
    return buf;
}

char *text_count(char *buf, uint64_t v)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)v);
    char *p = buf;
    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0) *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return buf;
}

char *text_about_count(char *buf, double v)
{
    return v >= 0 && v < 1e15 ? text_count(buf, (uint64_t)v) : text_short_number(buf, v);
}

bool text_is_file_name(const char *s)
{
    enum { MOST = 64 };
    size_t n = strlen(s);
    return n > 0 && n <= MOST && s[0] != '-' && strspn(s, TEXT_ALNUM "_-") == n;
}

/* A number of at most 15 digits, with or without a point, is a whole number over a power of ten that doubles both have exactly: one
 * division rounds it as strtod does. False: another number, or none. */
static bool parse_short_decimal(const char *s, double *ret)
{
    enum { DIGITS = 15 };
    static const double tens[DIGITS + 1] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    int64_t whole = 0;
    int digits = 0, behind = 0;
    bool point = false;
    for (; *s && digits <= DIGITS; s++) {
        if (*s == '.' && !point) {
            point = true;
            continue;
        }
        if (*s < '0' || *s > '9') return false;
        whole = 10 * whole + (*s - '0');
        digits++;
        behind += point;
    }
    if (digits == 0 || digits > DIGITS) return false;
    *ret = (double)whole / tens[behind];
    return true;
}

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", NULL);
    if (!c_locale) out_of_memory(0);
}

double text_scan_f64(const char *s, const char **ret_end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    char *end;
    const double v = strtod_l(s, &end, c_locale);
    *ret_end = end;
    return v;
}

bool text_parse_f64(const char *s, double *ret)
{
    if (parse_short_decimal(s, ret)) return true;
    if (!*s || isspace((unsigned char)*s)) return false;
    const char *end;
    const double v = text_scan_f64(s, &end);
    if (*end) return false;
    *ret = v;
    return true;
}

double text_round_digits(double v, int digits)
{
    char buf[TEXT_NUMBER_MAX];
    const char *end;
    print_double(buf, digits, v);
    return text_scan_f64(buf, &end);
}

bool text_parse_i64(const char *s, int64_t *ret)
{
    if (!*s || isspace((unsigned char)*s)) return false;
    char *end;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    if (*end || errno) return false;
    *ret = v;
    return true;
}

uint64_t text_hash(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

/* How long is the UTF-8 character that p begins with, if it is one that a terminal shows? 0: it is none. */
static size_t shown_length(const unsigned char *p)
{
    const size_t n = *p < 0x80 ? 1 : *p >= 0xC2 && *p < 0xE0 ? 2 : *p >= 0xE0 && *p < 0xF0 ? 3 : *p >= 0xF0 && *p < 0xF5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    const bool control = (*p < 0x20 && *p != '\t' && *p != '\n') || *p == 0x7f || (*p == 0xC2 && p[1] < 0xA0);
    return control ? 0 : n;
}

char *text_printable(const char *s, size_t n)
{
    struct text t;
    text_init(&t);
    const char *end = s + (n == SIZE_MAX ? strlen(s) : strnlen(s, n));
    while (s < end) {
        const size_t length = shown_length((const unsigned char *)s);
        const bool whole = length > 0 && length <= (size_t)(end - s);
        text_add_bytes(&t, whole ? s : "?", whole ? length : 1);
        const size_t hidden = (unsigned char)*s == 0xC2 && (s[1] & 0xC0) == 0x80 ? 2 : 1;
        s += whole ? length : hidden;
    }
    return text_detach(&t);
}
