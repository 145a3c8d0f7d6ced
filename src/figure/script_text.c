#include "figure/script_text.h"

#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>

/* ---- text ------------------------------------------------------------------------------------------------------------- */

static void add_escaped(struct text *t, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) text_addf(t, "\\%03o", p[i]);
}

static void add_string(struct text *t, const char *s, bool lines)
{
    const unsigned char *p = (const unsigned char *)s;
    bool escaped = false; /* gnuplot reads on after an escape as long as there are digits: those are escaped too */
    text_add(t, "\"");
    while (*p) {
        size_t n = text_utf8_length((const char *)p, 4); /* reads no further than a NUL */
        bool plain = n == 1 && (isalpha(*p) || *p == ' ' || (isdigit(*p) && !escaped));
        escaped = !plain;
        if (plain)
            text_add_bytes(t, (const char *)p, 1);
        else if (n == 0)
            text_add(t, "\\357\\277\\275");
        else if (n == 1 && (*p < ' ' || *p == 0x7F) && !(lines && *p == '\n'))
            text_add(t, " ");
        else
            add_escaped(t, p, n);
        p += n ? n : 1;
    }
    text_add(t, "\"");
}

void script_add_string(struct text *t, const char *s)
{
    add_string(t, s, true);
}

void script_add_line(struct text *t, const char *s)
{
    add_string(t, s, false);
}

void script_add_tick(struct text *t, const char *s)
{
    struct text doubled;
    text_init(&doubled);
    for (; *s; s++) text_add_bytes(&doubled, *s == '%' ? "%%" : s, *s == '%' ? 2 : 1);
    script_add_string(t, doubled.s);
    text_release(&doubled);
}

void script_add_path(struct text *t, const char *path)
{
    char *plain = xasprintf("%s%s", path[0] == '/' || path[0] == '.' ? "" : "./", path);
    script_add_line(t, plain);
    free(plain);
}

void script_add_number(struct text *t, const char *words, double v)
{
    char buf[TEXT_NUMBER_MAX];
    text_add(t, words);
    text_add(t, text_number(buf, v));
}

/* ---- colours ------------------------------------------------------------------------------------------------------------ */

static const struct palette palettes[] = {
    [STYLE_LIGHT] = {"#FFFFFF", "#000000", "#444444", "#555555", "#E4E4E4"},
    [STYLE_DARK] = {"#1B1E24", "#E8E8E8", "#A0A0A0", "#B8B8B8", "#343943"},
};

const struct palette *script_palette(const struct figure *f)
{
    return &palettes[f->style];
}

uint32_t script_background(const struct figure *f)
{
    return (uint32_t)strtoul(script_palette(f)->background + 1, NULL, 16);
}
