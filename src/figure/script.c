#include "figure/script.h"

#include "base/xalloc.h"
#include "figure/layers.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mm_per_inch = 25.4, points_per_inch = 72, svg_dpi = 96;

/* ---- text ------------------------------------------------------------------------------------------------------------- */

/* Length of the UTF-8 character at p, or 0 when it is none. */
static size_t utf8_length(const unsigned char *p)
{
    if (p[0] < 0x80) return 1;
    size_t n = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4) return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    bool overlong = (p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xF0 && p[1] < 0x90);
    bool outside = (p[0] == 0xED && p[1] >= 0xA0) || (p[0] == 0xF4 && p[1] >= 0x90);
    return overlong || outside ? 0 : n;
}

static void add_escaped(struct text *t, const unsigned char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) text_addf(t, "\\%03o", p[i]);
}

void script_add_string(struct text *t, const char *s)
{
    const unsigned char *p = (const unsigned char *)s;
    bool escaped = false; /* gnuplot reads on after an escape as long as there are digits: those are escaped too */
    text_add(t, "\"");
    while (*p) {
        size_t n = utf8_length(p);
        bool plain = n == 1 && (isalpha(*p) || *p == ' ' || (isdigit(*p) && !escaped));
        escaped = !plain;
        if (plain)
            text_add_bytes(t, (const char *)p, 1);
        else if (n == 0)
            text_add(t, "\\357\\277\\275");
        else if (n == 1 && (*p < ' ' || *p == 0x7F) && *p != '\n')
            text_add(t, " ");
        else
            add_escaped(t, p, n);
        p += n ? n : 1;
    }
    text_add(t, "\"");
}

void script_add_number(struct text *t, const char *words, double v)
{
    char buf[TEXT_NUMBER_MAX];
    text_add(t, words);
    text_add(t, text_number(buf, v));
}

/* ---- terminal and axes ------------------------------------------------------------------------------------------------ */

int script_ticks_x(const struct figure *f, const struct canvas *c)
{
    double n = c->format == FORMAT_TEXT ? c->columns / 12.0 : 0.8 * f->width_mm / (1.4 * f->font_size);
    return (int)fmin(fmax(n, 2), 10);
}

int script_ticks_y(const struct figure *f, const struct canvas *c)
{
    double n = c->format == FORMAT_TEXT ? c->rows / 4.0 : 0.7 * f->height_mm / (1.0 * f->font_size);
    return (int)fmin(fmax(n, 2), 10);
}

/* Line width 1 is one typographic point in every format, and so is the unit of point sizes about 2 mm. */
static void add_terminal(struct text *t, const struct figure *f, const struct canvas *c)
{
    if (c->format == FORMAT_TEXT) {
        text_addf(t, "set term dumb size %d,%d noenhanced mono\n", c->columns, c->rows);
        return;
    }
    double dpi = c->format == FORMAT_PNG ? f->dpi : c->format == FORMAT_SVG ? svg_dpi : points_per_inch;
    double scale = dpi / points_per_inch;
    if (c->format == FORMAT_PDF) {
        script_add_number(t, "set term pdfcairo size ", f->width_mm / mm_per_inch);
        script_add_number(t, "in,", f->height_mm / mm_per_inch);
        text_add(t, "in");
    } else {
        text_addf(t, "set term %s size %.0f,%.0f", c->format == FORMAT_PNG ? "pngcairo" : "svg", f->width_mm / mm_per_inch * dpi,
                  f->height_mm / mm_per_inch * dpi);
    }
    text_add(t, " noenhanced background rgb \"white\" font ");
    struct text font;
    text_init(&font);
    text_add(&font, f->font);
    script_add_number(&font, ",", f->font_size);
    script_add_string(t, font.s);
    text_release(&font);
    /* Fonts: pngcairo takes points at 96 dpi, svg takes pixels. */
    script_add_number(t, " fontscale ", c->format == FORMAT_PNG ? dpi / 96 : scale);
    script_add_number(t, " linewidth ", scale);
    script_add_number(t, " pointscale ", scale);
    text_add(t, "\n");
}

static void add_ticks(struct text *t, const struct axis *a, const char *name)
{
    text_addf(t, "set %stics scale 0.6,0.3 out nomirror (", name);
    for (size_t i = 0; i < a->n; i++) {
        if (i) text_add(t, ",");
        script_add_string(t, a->tick[i].text);
        script_add_number(t, " ", a->tick[i].at);
        if (!a->tick[i].text[0]) text_add(t, " 1");
    }
    text_add(t, ")\n");
}

/* A text at a place in millimetres: the centre (or left end) of its first line. */
static void add_text(struct text *t, const struct figure *f, const char *text, double x, double y, const char *how)
{
    if (!text[0]) return;
    text_add(t, "set label ");
    script_add_string(t, text);
    script_add_number(t, " at screen ", x / f->width_mm);
    script_add_number(t, ", screen ", y / f->height_mm);
    text_addf(t, " %s\n", how);
}

/* Title and labels. gnuplot's own places are for other proportions of font and picture, and may cover the ticks. */
static void add_labels(struct text *t, const struct figure *f, const struct layout *l)
{
    add_text(t, f, l->title, l->title_x, l->title_y, "center");
    add_text(t, f, l->label_x, l->label_x_x, l->label_x_y, "center");
    add_text(t, f, l->label_y, l->label_y_x, l->label_y_y, "center rotate by 90");
}

static void add_terminal_label(struct text *t, const char *name, const char *label)
{
    text_addf(t, "set %s ", name);
    script_add_string(t, label);
    text_add(t, "\n");
}

static void add_margin(struct text *t, const char *name, double share)
{
    text_addf(t, "set %s at screen", name);
    script_add_number(t, " ", share);
    text_add(t, "\n");
}

static void add_frame(struct text *t, const struct scene *s, const struct layout *l, const struct canvas *c)
{
    const struct figure *f = s->figure;
    text_add(t, "set xrange [0:1]\nset yrange [0:1]\n");
    add_ticks(t, &s->x, "x");
    add_ticks(t, &s->y, "y");
    if (c->format == FORMAT_TEXT) {
        add_terminal_label(t, "xlabel", l->label_x);
        add_terminal_label(t, "ylabel", l->label_y);
        add_terminal_label(t, "title", l->title);
        return;
    }
    add_margin(t, "lmargin", l->left / f->width_mm);
    add_margin(t, "rmargin", 1 - l->right / f->width_mm);
    add_margin(t, "bmargin", l->bottom / f->height_mm);
    add_margin(t, "tmargin", 1 - l->top / f->height_mm);
    text_add(t, "set border 3 lw 0.5 lc rgb \"#444444\"\nset tics textcolor rgb \"#000000\"\n"
                "set grid back lt 1 lw 0.4 lc rgb \"#E4E4E4\"\n");
    add_labels(t, f, l);
}

static void add_legend(struct text *t, const struct scene *s, const struct layout *l, const struct entries *e,
                       const struct canvas *c)
{
    const struct figure *f = s->figure;
    if (!e->n) {
        text_add(t, "unset key\n");
        return;
    }
    struct text heading;
    text_init(&heading);
    enum layer_style style = e->layer[e->n - 1]->style;
    text_addf(t, "set key Left reverse samplen %s ", style == LAYER_STEPS || style == LAYER_LINES ? "1.6" : "0.6");
    if (c->format == FORMAT_TEXT) {
        text_add(t, f->legend == LEGEND_RIGHT ? "outside right center vertical" : "below center horizontal");
    } else if (f->legend == LEGEND_RIGHT) {
        script_add_number(t, "vertical left center at screen ", 1 - (l->right - 0.5) / f->width_mm);
        script_add_number(t, ",screen ", 0.5 * (l->bottom + f->height_mm - l->top) / f->height_mm);
    } else {
        if (e->heading) add_text(&heading, f, e->heading, l->legend_x, l->heading_y, "left");
        script_add_number(t, e->heading ? "horizontal left bottom at screen " : "horizontal center bottom at screen ",
                          e->heading ? (l->legend_x + l->heading_width) / f->width_mm : 0.5);
        script_add_number(t, ",screen ", l->legend_y / f->height_mm);
        text_addf(t, " maxcols %d", l->legend_columns);
    }
    text_add(t, "\n");
    text_add(t, heading.s);
    text_release(&heading);
    if (!e->heading || (f->legend == LEGEND_BELOW && c->format != FORMAT_TEXT)) return;
    text_add(t, "set key title ");
    script_add_string(t, e->heading);
    text_add(t, "\n");
}

void script_write(struct text *ret, struct scene *s, const struct canvas *c)
{
    struct entries entries;
    struct layout layout;
    entries_init(&entries, s);
    layout_init(&layout, s, &entries);
    struct plot p = {.scene = s,
                     .canvas = c,
                     .width_mm = s->figure->width_mm - layout.left - layout.right,
                     .height_mm = s->figure->height_mm - layout.bottom - layout.top};
    text_init(&p.command);
    text_init(&p.data);
    add_terminal(ret, s->figure, c);
    text_add(ret, "set encoding utf8\nset decimalsign \".\"\n");
    add_frame(ret, s, &layout, c);
    add_legend(ret, s, &layout, &entries, c);
    for (size_t i = 0; i < s->n_layers; i++) plot_add_layer(&p, &s->layer[i]);
    plot_add_entries(&p, &entries);
    text_add_bytes(ret, p.command.s, p.command.n);
    text_add(ret, "\n");
    text_add_bytes(ret, p.data.s, p.data.n);
    text_add(ret, "\nset output\n");
    text_release(&p.command);
    text_release(&p.data);
    layout_release(&layout);
    entries_release(&entries);
}
