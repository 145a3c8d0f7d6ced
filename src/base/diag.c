#include "base/diag.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void diags_init(struct diags *d)
{
    *d = (struct diags){0};
}

void diags_release(struct diags *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->list[i].file);
        free(d->list[i].message);
        free(d->list[i].hint);
        free(d->list[i].source);
    }
    free(d->list);
    *d = (struct diags){0};
}

/* Byte offset of the column-th character of a line; its length when there are fewer. */
static size_t offset_of(const char *line, int column)
{
    const char *s = line;
    for (int i = 1; i < column && *s && *s != '\n'; i++)
        for (s++; (*s & 0xC0) == 0x80; s++) {
        }
    return (size_t)(s - line);
}

void diag_quote(struct diag *g, const char *text)
{
    enum { NEAR = 512, KEPT = 2 * NEAR }; /* bytes in front of the column, and in all */
    if (!text || g->line < 1) return;
    for (int i = 1; i < g->line; i++) {
        text = strchr(text, '\n');
        if (!text) return;
        text++;
    }
    size_t n = strcspn(text, "\r\n"), at = offset_of(text, g->column), start = 0;
    g->source_column = g->column;
    while (start < at && (at - start > NEAR || (text[start] & 0xC0) == 0x80)) {
        g->source_column -= (text[start] & 0xC0) != 0x80;
        start++;
    }
    free(g->source);
    if (start > n) start = n; /* the column lies behind the line's end */
    n -= start;
    g->source = xstrndup(text + start, n < KEPT ? n : KEPT);
}

static struct diag *append(struct diags *d, enum diag_severity severity, enum diag_class kind, struct srcloc loc)
{
    if (d->n == d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 8;
        d->list = xrealloc(d->list, d->capacity, sizeof *d->list);
    }
    struct diag *g = &d->list[d->n++];
    *g = (struct diag){.severity = severity, .kind = kind, .line = loc.line, .column = loc.column};
    if (loc.file) g->file = xstrdup(loc.file);
    return g;
}

/* What quotes a name of some megabytes is no message: keep its beginning and its end. Takes s. */
static char *shortened(char *s)
{
    enum { HEAD = 1500, TAIL = 400 };
    const size_t n = strlen(s);
    if (n <= DIAG_TEXT_MAX) return s;
    size_t head = HEAD, tail = n - TAIL;
    while ((s[head] & 0xC0) == 0x80 && head > 0) head--;
    while ((s[tail] & 0xC0) == 0x80) tail++;
    char *kept = xasprintf("%.*s ... %s", (int)head, s, s + tail);
    free(s);
    return kept;
}

bool diags_input(struct diags *d, struct srcloc loc, const char *source_text, const char *hint, const char *fmt, ...)
{
    d->errors++;
    if (d->n >= DIAGS_MAX) return false;
    va_list ap;
    va_start(ap, fmt);
    struct diag *g = append(d, DIAG_ERROR, DIAG_INPUT, loc);
    g->message = shortened(xvasprintf(fmt, ap));
    va_end(ap);
    g->hint = hint ? shortened(xstrdup(hint)) : NULL;
    diag_quote(g, source_text);
    return false;
}

bool diags_runtime(struct diags *d, const char *file, const char *fmt, ...)
{
    d->errors++;
    if (d->n >= DIAGS_MAX) return false;
    va_list ap;
    va_start(ap, fmt);
    append(d, DIAG_ERROR, DIAG_RUNTIME, (struct srcloc){.file = file})->message = shortened(xvasprintf(fmt, ap));
    va_end(ap);
    return false;
}

static void add_remark(struct diags *d, enum diag_severity severity, struct srcloc loc, const char *source_text, const char *fmt,
                       va_list ap)
{
    if (d->n >= DIAGS_MAX / 2) return; /* leave room for errors */
    struct diag *g = append(d, severity, DIAG_INPUT, loc);
    g->message = shortened(xvasprintf(fmt, ap));
    diag_quote(g, source_text);
}

void diags_warn(struct diags *d, struct srcloc loc, const char *source_text, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_remark(d, DIAG_WARNING, loc, source_text, fmt, ap);
    va_end(ap);
}

void diags_note(struct diags *d, struct srcloc loc, const char *source_text, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    add_remark(d, DIAG_NOTE, loc, source_text, fmt, ap);
    va_end(ap);
}

static bool same_file(const struct diag *a, const struct diag *b)
{
    return a->file && b->file ? strcmp(a->file, b->file) == 0 : a->file == b->file;
}

static bool says_the_same(const struct diag *a, const struct diag *b)
{
    return same_file(a, b) && a->line == b->line && a->column == b->column && strcmp(a->message, b->message) == 0;
}

void diags_move(struct diags *to, struct diags *from)
{
    to->errors += from->errors;
    for (size_t i = 0; i < from->n; i++) {
        struct diag *g = &from->list[i];
        bool said = false;
        for (size_t k = 0; k < to->n && !said; k++) said = says_the_same(g, &to->list[k]);
        if (said && g->severity == DIAG_ERROR) to->errors--;
        if (said || to->n >= DIAGS_MAX) continue;
        struct diag *place = append(to, g->severity, g->kind, (struct srcloc){.line = g->line, .column = g->column});
        *place = *g;
        *g = (struct diag){0};
    }
    diags_release(from);
}

int diags_exit_status(const struct diags *d)
{
    int status = 0;
    for (size_t i = 0; i < d->n; i++) {
        if (d->list[i].severity != DIAG_ERROR) continue;
        if (d->list[i].kind == DIAG_INPUT) return 2;
        status = 1;
    }
    return status;
}

/* The source line, then a caret under its column. Tabs are kept above the caret so that it lands under its character. A long line
 * is cut to a window around the column. */
static void print_source(const struct diag *g, FILE *out, const char *bold, const char *reset)
{
    enum { WIDTH = 120 };
    size_t at = offset_of(g->source, g->source_column);
    size_t start = at > WIDTH / 2 && strlen(g->source) > WIDTH ? at - WIDTH / 2 : 0;
    while (start > 0 && (g->source[start] & 0xC0) == 0x80) start--;
    char *shown = text_printable(g->source + start, WIDTH);
    fprintf(out, "%5d | %s%s\n", g->line, start ? "..." : "", shown);
    free(shown);
    if (g->column < 1) return;
    fprintf(out, "      | %s", start ? "   " : "");
    for (size_t i = start; i < at; i++) {
        if ((g->source[i] & 0xC0) == 0x80) continue; /* the rest of a UTF-8 character */
        fputc(g->source[i] == '\t' ? '\t' : ' ', out);
    }
    fprintf(out, "%s^%s\n", bold, reset);
}

/* A line that ends in text fit for a terminal. */
static void print_line(FILE *out, const char *text)
{
    char *shown = text_printable(text, SIZE_MAX);
    fprintf(out, "%s\n", shown);
    free(shown);
}

/* A complaint, and its place in the order of printing. */
struct ranked {
    const struct diag *diag;
    size_t file, added; /* which file, counted by their first complaints; which complaint of the list */
};

static int by_place(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->file != y->file) return (x->file > y->file) - (x->file < y->file);
    if (x->diag->line != y->diag->line) return (x->diag->line > y->diag->line) - (x->diag->line < y->diag->line);
    if (x->diag->column != y->diag->column) return (x->diag->column > y->diag->column) - (x->diag->column < y->diag->column);
    return (x->added > y->added) - (x->added < y->added);
}

/* The caller frees it. What names no file keeps its order among its kind. */
static struct ranked *rank(const struct diags *d)
{
    struct ranked *list = xcalloc(d->n + 1, sizeof *list);
    for (size_t i = 0; i < d->n; i++) {
        size_t first = 0;
        while (!same_file(&d->list[first], &d->list[i])) first++;
        list[i] = (struct ranked){&d->list[i], first, i};
    }
    qsort(list, d->n, sizeof *list, by_place);
    return list;
}

void diags_print(const struct diags *d, FILE *out, bool colour)
{
    static const char *const words[] = {"error", "warning", "note"};
    static const char *const colours[] = {"\033[1;31m", "\033[1;35m", "\033[1;36m"};
    const char *bold = colour ? "\033[1m" : "", *reset = colour ? "\033[0m" : "";
    struct ranked *ranked = rank(d);
    for (size_t i = 0; i < d->n; i++) {
        const struct diag *g = ranked[i].diag;
        char *file = text_printable(g->file ? g->file : "dse", SIZE_MAX);
        fprintf(out, "%s%s:%s", bold, file, reset);
        free(file);
        if (g->line) fprintf(out, "%s%d:%d:%s", bold, g->line, g->column, reset);
        fprintf(out, " %s%s:%s ", colour ? colours[g->severity] : "", words[g->severity], reset);
        print_line(out, g->message);
        if (g->source) print_source(g, out, colour ? "\033[1;32m" : "", reset);
        if (!g->hint) continue;
        fputs("  ", out);
        print_line(out, g->hint);
    }
    free(ranked);
    size_t shown = 0;
    for (size_t i = 0; i < d->n; i++) shown += d->list[i].severity == DIAG_ERROR;
    if (d->errors > shown) fprintf(out, "%sdse:%s and %zu errors more\n", bold, reset, d->errors - shown);
}
