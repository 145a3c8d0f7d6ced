/* Text: a growing string, nearest names, numbers as text. */
#ifndef DSE_BASE_TEXT_H
#define DSE_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A growing string. `s` is always NUL-terminated and never NULL (it points to a constant "" while empty). */
struct text {
    char *s;
    size_t n, capacity;
};

void text_init(struct text *t);
void text_release(struct text *t);
void text_add(struct text *t, const char *s);
void text_add_bytes(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Hand the string over to the caller, who frees it; t is empty again. */
char *text_detach(struct text *t);

/* Bytes of the UTF-8 character at s[0..n), n > 0; 0 when it is none. */
size_t text_utf8_length(const char *s, size_t n);
/* A string as JSON has it, in quotes. Bytes that are not UTF-8 become U+FFFD. */
void text_add_json(struct text *t, const char *s);

/* Are they the same text? Made for long lists of names, most of which differ in the first letter. */
static inline bool text_equal(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}
/* The name among names[0..n) that a user most likely meant by `word` (edit distance, at most a third of the word's length plus
 * one), or NULL. */
const char *text_nearest(const char *word, const char *const *names, size_t n);
/* How many letters must be put in, left out, replaced or swapped with their neighbour to make b of a, whatever their case. */
size_t text_edits(const char *a, const char *b);

/* The names, closed by NULL, joined with `between` in between. The caller frees the text. */
char *text_join(const char *const *names, const char *between);

/* Shortest decimal text that reads back as the same double ("0.1", "1e+30", "4096"); "nan", "inf", "-inf". buf holds
 * TEXT_NUMBER_MAX bytes. Returns buf. Independent of the locale. */
enum { TEXT_NUMBER_MAX = 32 };
char *text_number(char *buf, double v);
/* Four significant digits for people: "1.536e+06" becomes "1536000", "0.0001234" stays. Returns buf. */
char *text_short_number(char *buf, double v);
/* "1,234,567". buf holds TEXT_NUMBER_MAX bytes. Returns buf. */
char *text_count(char *buf, uint64_t v);
/* The same for a number that may be too large to be exact: "1e+18" from 10^15 on. */
char *text_about_count(char *buf, double v);
/* Parse a whole string as a double or an integer, independent of the locale; false when anything else stands in it. Underscores
 * as in TOML are not accepted. inf and nan parse. */
bool text_parse_f64(const char *s, double *ret);
/* The number at the beginning of a text and where it ends, as strtod has them in the locale "C"; *ret_end may be &s. */
double text_scan_f64(const char *s, const char **ret_end);
/* The double nearest to v as it is written with so many significant digits. */
double text_round_digits(double v, int digits);
bool text_parse_i64(const char *s, int64_t *ret);
/* A copy of at most n bytes (SIZE_MAX: all) fit for a terminal: control characters, of ASCII and of Unicode, but for tabs and ends
 * of lines, and what is not UTF-8 become '?'. The caller frees it. */
char *text_printable(const char *s, size_t n);
/* ASCII letters and digits, whatever the locale, for use with strspn. */
#define TEXT_ALNUM "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
/* Can files be named by s? It must be no path and no option, and nothing that a shell or a page takes for more than a name. */
#define TEXT_FILE_NAME_RULE "letters, digits, _ and -; at most 64"
bool text_is_file_name(const char *s);
/* 64-bit FNV-1a over all data so far: `h` is the hash of what came before, and TEXT_HASH_INIT at the start. */
#define TEXT_HASH_INIT 0xcbf29ce484222325u
uint64_t text_hash(uint64_t h, const void *data, size_t n);

#endif
