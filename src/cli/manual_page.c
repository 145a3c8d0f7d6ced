#include "cli/manual_page.h"

#include "base/xalloc.h"
#include "dse_config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 76 };

/* ---- roff ------------------------------------------------------------------------------------------------------------------ */

static void add_escaped(struct text *t, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\\')
            text_add(t, "\\e");
        else
            text_add_bytes(t, s + i, 1);
    }
}

/* A line that roff must not take for a request. */
static void begin_line(struct text *t, const char *s)
{
    if (*s == '.' || *s == '\'') text_add(t, "\\&");
}

void page_begin(struct text *t, const char *name, int section, const char *summary)
{
    text_addf(t, ".Dd %s\n.Dt ", DSE_MANUAL_DATE);
    for (const char *p = name; *p; p++) text_addf(t, "%c", toupper((unsigned char)*p));
    text_addf(t, " %d\n.Os\n.Sh NAME\n.Nm %s\n.Nd ", section, name);
    add_escaped(t, summary, strlen(summary));
    text_add(t, "\n");
}

void page_argument(struct text *t, const char *s)
{
    text_add(t, "\"\\&");
    for (; *s; s++) {
        if (*s == '"')
            text_add(t, "\\(dq");
        else
            add_escaped(t, s, 1);
    }
    text_add(t, "\"");
}

/* ---- prose ----------------------------------------------------------------------------------------------------------------- */

/* Words as they come: where a line begins and ends, and what is marked. */
struct prose {
    struct text *out;
    struct text word; /* escaped; its length without fonts is `width` */
    size_t width, column;
    char last; /* character that was added */
    bool marked, code, bold;
};

static void end_word(struct prose *p)
{
    if (!p->width) return;
    if (p->column && p->column + 1 + p->width > LINE) {
        text_add(p->out, "\n");
        p->column = 0;
    }
    if (p->column) text_add(p->out, " ");
    if (!p->column) begin_line(p->out, p->word.s);
    text_add(p->out, p->word.s);
    p->column += p->width + (p->column > 0);
    const bool ends = !p->code && (strchr(".!?", p->last) || (strchr(")\"", p->last) && p->width > 1 && strpbrk(p->word.s, ".!?")));
    if (ends) {
        text_add(p->out, "\n");
        p->column = 0;
    }
    text_release(&p->word);
    p->width = 0;
}

static void set_font(struct prose *p)
{
    text_add(&p->word, p->code || p->bold ? "\\fB" : "\\fR");
}

/* The length of "](link)" at s, 0 when it is none. */
static size_t link_length(const char *s)
{
    if (strncmp(s, "](", 2) != 0) return 0;
    const size_t n = strcspn(s, ")\n");
    return s[n] == ')' ? n + 1 : 0;
}

/* What is marked at s: its length, or 0. */
static size_t take_mark(struct prose *p, const char *s)
{
    if (*s == '`') {
        p->code = !p->code;
        set_font(p);
        return 1;
    }
    if (p->code) return 0;
    if (strncmp(s, "**", 2) == 0) {
        p->bold = !p->bold;
        set_font(p);
        return 2;
    }
    if (*s == '[' && strstr(s, "](")) return 1;
    return link_length(s);
}

void page_prose(struct text *t, const char *s, bool marked)
{
    struct prose p = {.out = t, .marked = marked};
    text_init(&p.word);
    while (*s) {
        const size_t mark = marked ? take_mark(&p, s) : 0;
        if (mark) {
            s += mark;
        } else if (isspace((unsigned char)*s)) {
            end_word(&p);
            s++;
        } else {
            add_escaped(&p.word, s, 1);
            p.last = *s++;
            p.width++;
        }
    }
    if (p.code || p.bold) {
        p.code = p.bold = false;
        set_font(&p);
    }
    end_word(&p);
    if (p.word.n) text_add(t, p.word.s);
    if (p.column || p.word.n) text_add(t, "\n");
    text_release(&p.word);
}

void page_literal(struct text *t, const char *s, size_t n)
{
    text_add(t, ".Bd -literal -offset indent\n");
    for (size_t at = 0; at < n;) {
        const size_t length = strcspn(s + at, "\n");
        begin_line(t, s + at);
        add_escaped(t, s + at, length);
        text_add(t, "\n");
        at += length + 1;
    }
    text_add(t, ".Ed\n");
}

void page_help(struct text *t, const char *s)
{
    bool first = true;
    while (*s) {
        if (*s == '\n') {
            s++;
            continue;
        }
        const bool literal = *s == ' ';
        const char *end = s; /* lines of one kind, up to an empty one */
        while (*end && *end != '\n' && (*end == ' ') == literal) {
            end += strcspn(end, "\n");
            end += *end == '\n';
        }
        char *piece = xstrndup(s, (size_t)(end - s));
        if (literal) {
            page_literal(t, piece, strlen(piece));
        } else {
            if (!first) text_add(t, ".Pp\n");
            page_prose(t, piece, false);
        }
        first = false;
        free(piece);
        s = end;
    }
}
