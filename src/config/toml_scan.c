#include "config/toml_scan.h"

#include "base/text.h"

#include <string.h>

struct scan {
    const char *s, *end;
    const char *line_start;
    int line;
    int nesting, dots;
};

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
    while (c->s < c->end && *c->s != '\n') c->s++;
}

static void count_newline(struct scan *c, const char *newline)
{
    c->line++;
    c->line_start = newline + 1;
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

static void skip_quoted(struct scan *c)
{
    char quote = *c->s;
    if (c->end - c->s >= 3 && c->s[1] == quote && c->s[2] == quote)
        skip_long_string(c, quote);
    else
        skip_string(c, quote);
}

/* Look at one character outside of strings and comments. */
static const char *look(struct scan *c)
{
    switch (*c->s) {
    case '[':
    case '{':
        c->dots = 0;
        if (++c->nesting > TOML_NESTING_MAX) return "is nested too deep: more than 64 brackets inside each other";
        break;
    case ']':
    case '}':
        c->dots = 0;
        if (c->nesting > 0) c->nesting--;
        break;
    case '\n':
        count_newline(c, c->s);
        c->dots = 0;
        break;
    case '=':
    case ',': c->dots = 0; break;
    case '.':
        if (++c->dots >= TOML_KEY_PARTS_MAX) return "is nested too deep: a key of more than 16 parts";
        break;
    default:
        if ((unsigned char)*c->s >= 0x80) return "has a character outside of quotes and comments that is not ASCII";
        break;
    }
    c->s++;
    return NULL;
}

const char *toml_scan(const char *text, size_t n, int *ret_line, int *ret_column)
{
    struct scan c = {.s = text, .end = text + n, .line_start = text, .line = 1};
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
