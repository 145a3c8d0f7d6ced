#include "config/toml_scan.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

struct scan {
    const char *text, *s, *end;
    const char *line_start;
    int line;
    int nesting, dots;
    int tables, values;
    bool in_key;                     /* or in a header */
    char open[TOML_NESTING_MAX + 1]; /* the brackets that are open; of the innermost, open[nesting] */
    char before;                     /* the last character that was neither blank nor comment */
    const char *comma;               /* the same, if it is one behind something of an inline table; else NULL */
    const char *counted;             /* up to here, the columns of the joined line are counted: */
    int column;
    struct toml_joined *joined;
};

/* ---- joining ------------------------------------------------------------------------------------------------------------- */

static bool is_in_inline_table(const struct scan *c)
{
    return c->nesting > 0 && c->open[c->nesting] == '{';
}

/* Have blanks instead of s[0..n) for the parser. */
static void blank(struct scan *c, const char *s, size_t n)
{
    struct toml_joined *j = c->joined;
    if (!j->text) j->text = xstrndup(c->text, (size_t)(c->end - c->text));
    memset(j->text + (s - c->text), ' ', n);
}

/* The line ends at s, and the next is joined to it. */
static void join_line(struct scan *c)
{
    struct toml_joined *j = c->joined;
    const bool crlf = c->s > c->text && c->s[-1] == '\r';
    blank(c, c->s - crlf, 1U + crlf);
    for (const char *p = c->counted; p <= c->s; p++) c->column += ((unsigned char)j->text[p - c->text] & 0xC0) != 0x80;
    c->counted = c->s + 1;
    if ((j->n & (j->n - 1)) == 0) j->breaks = xrealloc(j->breaks, j->n ? 2 * j->n : 1, sizeof *j->breaks);
    j->breaks[j->n] = (struct toml_break){c->line - (int)j->n, c->column};
    j->n++;
}

void toml_joined_release(struct toml_joined *j)
{
    free(j->text);
    free(j->breaks);
}

void toml_joined_place(const struct toml_joined *j, int *line, int *column)
{
    size_t lo = 0, hi = j->n; /* breaks before lo are not behind the place, those from hi on are */
    while (lo < hi) {
        const size_t at = (lo + hi) / 2;
        const struct toml_break *b = &j->breaks[at];
        if (b->line < *line || (b->line == *line && b->column <= *column))
            lo = at + 1;
        else
            hi = at;
    }
    if (lo && j->breaks[lo - 1].line == *line) *column -= j->breaks[lo - 1].column - 1;
    *line += (int)lo;
}

/* ---- looking ------------------------------------------------------------------------------------------------------------- */

/* Find the first byte that no text in UTF-8 contains; NULL when there is none. */
static const char *find_rubbish(const char *text, size_t n, const char **ret_wrong)
{
    for (size_t i = 0; i < n;) {
        size_t length = text_utf8_length(text + i, n - i);
        *ret_wrong = text[i] == '\0' ? "is not a text file: it has a NUL byte" : length == 0 ? "is not UTF-8 text" : NULL;
        if (*ret_wrong) return text + i;
        i += length;
    }
    return NULL;
}

static void skip_comment(struct scan *c)
{
    const char *begin = c->s;
    while (c->s < c->end && *c->s != '\n') c->s++;
    if (is_in_inline_table(c)) blank(c, begin, (size_t)(c->s - begin));
}

static void count_newline(struct scan *c, const char *newline)
{
    c->line++;
    c->line_start = newline + 1;
    c->counted = newline + 1;
    c->column = 1;
}

/* Past a string of one line; past the end of the line when it is not closed, which is for the parser to say. */
static void skip_string(struct scan *c, char quote)
{
    for (c->s++; c->s < c->end && *c->s != '\n' && *c->s != quote; c->s++)
        if (quote == '"' && *c->s == '\\' && c->s + 1 < c->end && c->s[1] != '\n') c->s++;
    if (c->s < c->end && *c->s == quote) c->s++;
}

/* Past """...""" or '''...'''. Up to two quotes may stand right before the closing three. */
static void skip_long_string(struct scan *c, char quote)
{
    const char fence[] = {quote, quote, quote};
    for (c->s += 3; c->s < c->end; c->s++) {
        if (*c->s == '\n') count_newline(c, c->s);
        if (quote == '"' && *c->s == '\\' && c->s + 1 < c->end && c->s[1] != '\n') {
            c->s++;
            continue;
        }
        if (c->end - c->s < 3 || memcmp(c->s, fence, 3) != 0) continue;
        c->s += 3;
        for (int extra = 0; extra < 2 && c->s < c->end && *c->s == quote; extra++) c->s++;
        return;
    }
}

/* Note one character, for what stands behind it. */
static void note(struct scan *c, char at)
{
    if (strchr(" \t\r\n", at)) return;
    c->comma = at == ',' && c->before != ',' && c->before != '{' && is_in_inline_table(c) ? c->s : NULL;
    c->before = at;
}

static void skip_quoted(struct scan *c)
{
    char quote = *c->s;
    note(c, quote);
    if (c->end - c->s >= 3 && c->s[1] == quote && c->s[2] == quote)
        skip_long_string(c, quote);
    else
        skip_string(c, quote);
}

static void end_line(struct scan *c)
{
    c->dots = 0;
    if (is_in_inline_table(c)) {
        join_line(c);
        c->line++;
        c->line_start = c->s + 1;
    } else {
        count_newline(c, c->s);
    }
}

/* Count what there may be too many of, at one character. */
static const char *count_things(struct scan *c)
{
    const char at = *c->s;
    c->tables += c->in_key && (at == '.' || (at == '[' && c->nesting == 1));
    c->values += at == ',' || at == '=';
    if (at == '=')
        c->in_key = false;
    else if (at == '{' || (at == '\n' && c->nesting == 0))
        c->in_key = true;
    else if (at == ',')
        c->in_key = is_in_inline_table(c);
    return c->tables > TOML_TABLES_MAX   ? "has too many tables: more than 40,000 headers and dots in keys"
           : c->values > TOML_VALUES_MAX ? "has too many values: more than 1,000,000"
                                         : NULL;
}

/* Look at one character outside of strings and comments. */
static const char *look(struct scan *c)
{
    switch (*c->s) {
    case '[':
    case '{':
        c->dots = 0;
        if (++c->nesting > TOML_NESTING_MAX) return "is nested too deep: more than 64 brackets inside each other";
        c->open[c->nesting] = *c->s;
        break;
    case ']':
    case '}':
        c->dots = 0;
        if (*c->s == '}' && c->comma && is_in_inline_table(c)) blank(c, c->comma, 1);
        if (c->nesting > 0) c->nesting--;
        break;
    case '\n': end_line(c); break;
    case '=':
    case ',': c->dots = 0; break;
    case '.':
        if (++c->dots >= TOML_KEY_PARTS_MAX) return "is nested too deep: a key of more than 16 parts";
        break;
    default:
        if ((unsigned char)*c->s >= 0x80) return "has a character outside of quotes and comments that is not ASCII";
        break;
    }
    note(c, *c->s);
    const char *wrong = count_things(c);
    if (!wrong) c->s++;
    return wrong;
}

const char *toml_scan(const char *text, size_t n, struct toml_joined *ret, int *ret_line, int *ret_column)
{
    struct scan c = {
        .text = text, .s = text, .end = text + n, .line_start = text, .line = 1, .counted = text, .column = 1, .in_key = true};
    *ret = (struct toml_joined){0};
    c.joined = ret;
    const char *wrong = NULL, *rubbish = find_rubbish(text, n, &wrong);
    if (rubbish) c.end = rubbish; /* count lines up to there */
    while (c.s < c.end) {
        const char *deep = NULL;
        if (*c.s == '#')
            skip_comment(&c);
        else if (*c.s == '"' || *c.s == '\'')
            skip_quoted(&c);
        else
            deep = look(&c);
        if (!deep) continue;
        wrong = deep;
        break;
    }
    if (!wrong) return NULL;
    *ret_line = c.line;
    *ret_column = 1;
    for (const char *s = c.line_start; s < c.s; s++) *ret_column += ((unsigned char)*s & 0xC0) != 0x80;
    return wrong;
}
