#include "base/wrap.h"

#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Bytes of the character at s, which is not at its end. */
static size_t character(const char *s)
{
    size_t n = text_utf8_length(s, strnlen(s, 4));
    return n ? n : 1;
}

static size_t width_of(const char *s, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i += character(s + i)) n++;
    return n;
}

size_t wrap_width(const char *s)
{
    return width_of(s, strlen(s));
}

size_t wrap_bytes(const char *s, size_t width)
{
    size_t bytes = 0;
    for (; s[bytes] && width > 0; width--) bytes += character(s + bytes);
    return bytes;
}

/* Bytes of the piece at s, up to the white space or behind the character where it may end. */
static size_t piece(const char *s, const char *breaks)
{
    size_t n = 0;
    while (s[n] && !is_blank(s[n])) {
        bool last = breaks && strchr(breaks, s[n]);
        n++;
        if (last) break;
    }
    return n;
}

size_t wrap_longest(const char *s, const char *breaks)
{
    size_t longest = 0;
    while (*s) {
        size_t n = piece(s, breaks), width = width_of(s, n);
        if (width > longest) longest = width;
        s += n ? n : 1;
    }
    return longest;
}

static size_t new_line(struct text *t, size_t indent)
{
    text_addf(t, "\n%*s", (int)indent, "");
    return indent;
}

/* Add a piece that is longer than a line, cut where lines end. */
static size_t add_piece(struct text *t, const char *s, size_t bytes, size_t width, size_t used, size_t indent)
{
    for (size_t i = 0, n; i < bytes; i += n, used++) {
        n = character(s + i);
        if (used >= width && used > indent) used = new_line(t, indent);
        text_add_bytes(t, s + i, n);
    }
    return used;
}

size_t wrap_add(struct text *t, const char *s, size_t width, size_t used, size_t indent, const char *breaks)
{
    if (indent >= width) indent = 0;
    bool first = true;
    while (*s) {
        size_t blanks = strspn(s, " \n\t\r"), n = piece(s + blanks, breaks);
        size_t gap = first ? blanks : blanks > 0;
        if (n == 0) break;
        if (used + gap + width_of(s + blanks, n) > width && used > indent) {
            used = new_line(t, indent);
        } else {
            if (gap > width) gap = 0;
            text_addf(t, "%*s", (int)gap, "");
            used += gap;
        }
        used = add_piece(t, s + blanks, n, width, used, indent);
        s += blanks + n;
        first = false;
    }
    return used;
}
