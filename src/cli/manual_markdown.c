/* The documents of docs/ as pages: the Markdown that they use, and no more. */
#include "base/xalloc.h"
#include "cli/manual_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct markdown {
    struct text *out;
    const char *s;
    bool needs_paragraph; /* between two pieces of running text */
};

static size_t line_length(const char *s)
{
    return strcspn(s, "\n");
}

static void next_line(struct markdown *m)
{
    m->s += line_length(m->s);
    m->s += *m->s == '\n';
}

/* ---- lines that begin something ---------------------------------------------------------------------------------------------- */

/* "- " or "1. " behind spaces: the length up to its text, 0 when it is none. */
static size_t item_length(const char *s)
{
    size_t n = strspn(s, " ");
    if (s[n] == '-' && s[n + 1] == ' ') return n + 2;
    size_t digits = strspn(s + n, "0123456789");
    return digits && strncmp(s + n + digits, ". ", 2) == 0 ? n + digits + 2 : 0;
}

static bool begins_block(const char *s)
{
    return *s == '\n' || *s == '#' || strncmp(s, "| ", 2) == 0 || strncmp(s, "```", 3) == 0 || strncmp(s, "    ", 4) == 0 ||
           item_length(s) || strncmp(s, "<!--", 4) == 0 || strncmp(s, "![", 2) == 0;
}

static void heading(struct markdown *m)
{
    const size_t level = strspn(m->s, "#"), n = line_length(m->s);
    struct text words;
    text_init(&words);
    for (size_t i = level + strspn(m->s + level, " "); i < n; i++) {
        if (m->s[i] == '`' || m->s[i] == '*') continue;
        text_addf(&words, "%c", level <= 2 ? toupper((unsigned char)m->s[i]) : m->s[i]);
    }
    text_add(m->out, level <= 2 ? ".Sh " : ".Ss ");
    page_argument(m->out, words.s);
    text_add(m->out, "\n");
    text_release(&words);
    next_line(m);
    m->needs_paragraph = false;
}

static void fenced(struct markdown *m)
{
    next_line(m);
    const char *end = m->s;
    while (*end && strncmp(end, "```", 3) != 0) {
        end += line_length(end);
        end += *end == '\n';
    }
    page_literal(m->out, m->s, (size_t)(end - m->s));
    m->s = end;
    next_line(m);
    m->needs_paragraph = true;
}

static void indented(struct markdown *m)
{
    struct text code;
    text_init(&code);
    while (strncmp(m->s, "    ", 4) == 0) {
        text_add_bytes(&code, m->s + 4, line_length(m->s) - 4);
        text_add(&code, "\n");
        next_line(m);
    }
    page_literal(m->out, code.s, code.n);
    text_release(&code);
    m->needs_paragraph = true;
}

/* The lines of one paragraph or item from m->s + skip on, joined. The caller frees it. */
static char *running_text(struct markdown *m, size_t skip)
{
    struct text t;
    text_init(&t);
    m->s += skip;
    do {
        const size_t n = line_length(m->s), start = strspn(m->s, " ");
        text_add_bytes(&t, m->s + (start < n ? start : n), n - (start < n ? start : n));
        text_add(&t, " ");
        next_line(m);
    } while (*m->s && !begins_block(m->s));
    return text_detach(&t);
}

static void paragraph(struct markdown *m)
{
    char *s = running_text(m, 0);
    if (m->needs_paragraph) text_add(m->out, ".Pp\n");
    page_prose(m->out, s, true);
    m->needs_paragraph = true;
    free(s);
}

static void items(struct markdown *m)
{
    text_add(m->out, isdigit((unsigned char)m->s[strspn(m->s, " ")]) ? ".Bl -enum\n" : ".Bl -bullet\n");
    while (item_length(m->s)) {
        char *s = running_text(m, item_length(m->s));
        text_add(m->out, ".It\n");
        page_prose(m->out, s, true);
        free(s);
        if (*m->s == '\n' && item_length(m->s + 1)) m->s++;
    }
    text_add(m->out, ".El\n");
    m->needs_paragraph = true;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

enum { CELLS_MAX = 16 };

/* The cells of a line "| a | b |", in *m as copies. */
static size_t read_cells(struct markdown *m, char *cells[CELLS_MAX])
{
    const char *s = m->s + 1, *end = m->s + line_length(m->s);
    size_t n = 0;
    while (s < end && n < CELLS_MAX) {
        const char *start = s + strspn(s, " ");
        bool code = false;
        while (s < end && (code || *s != '|')) {
            code ^= *s == '`';
            s++;
        }
        const char *last = s;
        while (last > start && last[-1] == ' ') last--;
        if (s < end) cells[n++] = start < last ? xstrndup(start, (size_t)(last - start)) : xstrdup("");
        s++;
    }
    next_line(m);
    return n;
}

static void free_cells(char *cells[CELLS_MAX], size_t n)
{
    for (size_t i = 0; i < n; i++) free(cells[i]);
}

/* A list: the first cell of a row is what it is about; the others follow, of more than two with the words of the head. */
static void table(struct markdown *m)
{
    char *head[CELLS_MAX], *cells[CELLS_MAX];
    const size_t n_head = read_cells(m, head);
    if (strncmp(m->s, "|-", 2) == 0) next_line(m);
    text_add(m->out, ".Bl -tag -width Ds\n");
    while (strncmp(m->s, "| ", 2) == 0) {
        const size_t n = read_cells(m, cells);
        text_add(m->out, ".It Xo\n");
        page_prose(m->out, n && *cells[0] ? cells[0] : "-", true);
        text_add(m->out, ".Xc\n");
        for (size_t i = 1; i < n; i++) {
            if (!*cells[i]) continue;
            char *words = n > 2 && i < n_head && *head[i] ? xasprintf("%s: %s", head[i], cells[i]) : xstrdup(cells[i]);
            if (i > 1) text_add(m->out, ".br\n");
            page_prose(m->out, words, true);
            free(words);
        }
        free_cells(cells, n);
    }
    free_cells(head, n_head);
    text_add(m->out, ".El\n");
    m->needs_paragraph = true;
}

/* ---- a document ------------------------------------------------------------------------------------------------------------ */

static void skip_comment(struct markdown *m)
{
    const char *end = strstr(m->s, "-->");
    m->s = end ? end : m->s + strlen(m->s);
    next_line(m);
}

void page_markdown(struct text *t, const char *s)
{
    struct markdown m = {.out = t, .s = s};
    while (*m.s) {
        if (*m.s == '\n')
            m.s++;
        else if (*m.s == '#')
            heading(&m);
        else if (strncmp(m.s, "```", 3) == 0)
            fenced(&m);
        else if (strncmp(m.s, "| ", 2) == 0)
            table(&m);
        else if (strncmp(m.s, "<!--", 4) == 0)
            skip_comment(&m);
        else if (strncmp(m.s, "![", 2) == 0)
            next_line(&m);
        else if (item_length(m.s))
            items(&m);
        else if (strncmp(m.s, "    ", 4) == 0)
            indented(&m);
        else
            paragraph(&m);
    }
}
