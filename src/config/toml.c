#include "config/toml.h"

#include "base/file.h"
#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/toml_shim.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- places --------------------------------------------------------------------------------------------------------------- */

/* A look at the text before toml++ sees it. Internal to src/config.
 *
 * toml++ frees its tables by recursion and puts no limit on the parts of a dotted key: two million dots overflow the stack.
 * It looks for each table among all that dotted keys and headers made, which takes a time that grows with their square. Version 3.3
 * runs into undefined behaviour where it asks whether U+00A1 to U+0499 are spaces. So this finds what is nested too deep, what
 * there is too much of, what is not ASCII outside of strings and comments (TOML has no such thing), and bytes that no text in UTF-8
 * has.
 *
 * toml++ 3.3 reads TOML 1.0, where an inline table is one line. Those of TOML 1.1, over several lines, with comments and a comma at
 * their end, are made one line here.
 */

enum {
    TOML_NESTING_MAX = 64,   /* brackets and braces inside each other */
    TOML_KEY_PARTS_MAX = 16, /* parts of a dotted key */
    TOML_TABLES_MAX = 40000, /* headers, and dots of keys */
    TOML_VALUES_MAX = 1000000,
};

/* The text as the parser takes it. */
struct toml_joined {
    char *text; /* as long as what it was made of; NULL: that is as it must be */
    struct toml_break {
        int line, column;
    } * breaks; /* where in it lines begin that were joined to those in front of them, in order */
    size_t n;
};

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

static void toml_joined_release(struct toml_joined *j)
{
    free(j->text);
    free(j->breaks);
}

/* A place in the joined text becomes that in the file. */
static void toml_joined_place(const struct toml_joined *j, int *line, int *column)
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

/* NULL when text[0..n) can be given to the parser, as *ret says; else what is wrong, with its place (columns count characters).
 * Release *ret in any case. */
static const char *toml_scan(const char *text, size_t n, struct toml_joined *ret, int *ret_line, int *ret_column)
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

/* ---- documents ------------------------------------------------------------------------------------------------------------ */

enum { FILE_MAX = 8 << 20 };

void toml_node_release(struct toml_node *node)
{
    free(node->key);
    if (node->type == TOML_STRING || node->type == TOML_DATETIME) free(node->string);
    for (size_t i = 0; i < node->n; i++) toml_node_release(&node->children[i]);
    free(node->children);
}

void toml_free(struct toml_doc *doc)
{
    if (!doc) return;
    toml_node_release(&doc->root);
    free(doc->file);
    free(doc->text);
    free(doc);
}

/* Places in the joined text become those in the file. */
static void unjoin(const struct toml_joined *j, struct toml_node *node)
{
    if (j->n == 0) return;
    toml_joined_place(j, &node->line, &node->column);
    if (node->key) toml_joined_place(j, &node->key_line, &node->key_column);
    for (size_t i = 0; i < node->n; i++) unjoin(j, &node->children[i]);
}

struct toml_doc *toml_read_text(const char *name, const char *text, size_t n, struct diags *diags)
{
    static const char bom[] = "\xEF\xBB\xBF";
    if (n >= 3 && memcmp(text, bom, 3) == 0) {
        text += 3;
        n -= 3;
    }
    struct toml_doc *doc = xcalloc(1, sizeof *doc);
    doc->file = xstrdup(name);
    doc->text = xstrndup(text, n);
    doc->root.type = TOML_TABLE;
    struct srcloc loc = {.file = name};
    struct toml_joined joined;
    const char *wrong = toml_scan(text, n, &joined, &loc.line, &loc.column);
    char *message = NULL;
    const bool ok = !wrong && toml_shim_parse(joined.text ? joined.text : text, n, &doc->root, &loc.line, &loc.column, &message);
    if (ok)
        unjoin(&joined, &doc->root);
    else if (!wrong)
        toml_joined_place(&joined, &loc.line, &loc.column);
    toml_joined_release(&joined);
    if (ok) return doc;
    if (wrong)
        diags_input(diags, loc, doc->text, NULL, "%s", wrong);
    else
        diags_input(diags, loc, doc->text, NULL, "is not TOML: %s", message ? message : "out of memory");
    free(message);
    toml_free(doc);
    return NULL;
}

struct toml_doc *toml_read_file(const char *path, struct diags *diags)
{
    char *text;
    size_t n;
    if (!text_read_file(path, FILE_MAX, &text, &n, diags)) return NULL;
    struct toml_doc *doc = toml_read_text(path, text, n, diags);
    free(text);
    return doc;
}

const struct toml_node *toml_get(const struct toml_node *table, const char *key)
{
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->children[i].key, key) == 0) return &table->children[i];
    return NULL;
}

const char *toml_type_name(enum toml_type type)
{
    static const char *const names[] = {
        [TOML_STRING] = "a string",       [TOML_INTEGER] = "an integer",      [TOML_FLOAT] = "a number",
        [TOML_BOOLEAN] = "true or false", [TOML_DATETIME] = "a date or time", [TOML_ARRAY] = "a list",
        [TOML_TABLE] = "a table",
    };
    return names[type];
}

struct srcloc toml_loc(const struct toml_doc *doc, const struct toml_node *node)
{
    return (struct srcloc){doc->file, node->line, node->column};
}

struct srcloc toml_key_loc(const struct toml_doc *doc, const struct toml_node *node)
{
    if (!node->key) return toml_loc(doc, node);
    return (struct srcloc){doc->file, node->key_line, node->key_column};
}

struct srcloc toml_string_loc(const struct toml_doc *doc, const struct toml_node *node)
{
    struct srcloc loc = toml_loc(doc, node);
    const char *s = doc->text;
    for (int line = 1; line < loc.line && (s = strchr(s, '\n')) != NULL; line++) s++;
    if (!s) return loc;
    for (int column = 1; column < loc.column && *s; column++)
        for (s++; (*s & 0xC0) == 0x80; s++) {
        }
    bool three = strncmp(s, "\"\"\"", 3) == 0 || strncmp(s, "'''", 3) == 0;
    loc.column += three ? 3 : 1;
    if (!three || s[3 + strspn(s + 3, "\r")] != '\n') return loc;
    return (struct srcloc){loc.file, loc.line + 1, 1};
}

const struct toml_node *toml_expect(const struct toml_doc *doc, const struct toml_node *table, const char *key, enum toml_type type,
                                    struct diags *diags)
{
    const struct toml_node *node = toml_get(table, key);
    if (!node || node->type == type) return node;
    diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s: %s is needed, not %s", key, toml_type_name(type),
                toml_type_name(node->type));
    return NULL;
}

bool toml_check_keys(const struct toml_doc *doc, const struct toml_node *table, const char *const *allowed, size_t n,
                     struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < table->n; i++) {
        const char *key = table->children[i].key;
        bool known = false;
        for (size_t k = 0; k < n && !known; k++) known = strcmp(allowed[k], key) == 0;
        if (known) continue;
        ok = false;
        if (diags_is_full(diags)) continue;
        struct text hint;
        text_init(&hint);
        const char *near = text_nearest(key, allowed, n);
        if (near) text_addf(&hint, "did you mean \"%s\"?", near);
        for (size_t k = 0; !near && k < n; k++) text_addf(&hint, "%s%s", k ? ", " : "known keys: ", allowed[k]);
        diags_input(diags, toml_key_loc(doc, &table->children[i]), doc->text, hint.s, "unknown key \"%s\"", key);
        text_release(&hint);
    }
    return ok;
}
