#include "figure/script.h"

#include "base/xalloc.h"
#include "figure/face.h"
#include "figure/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double mm_per_inch = 25.4;

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

/* gnuplot's terminals disagree about their units. These factors make, in each, a font of 8 points 8 points high, a line of width
 * 1 one point wide and a round marker of size 1 eight and a half points wide: measured in pictures of gnuplot 5.4. */
struct units {
    double dpi; /* of the picture; 0: the figure's own */
    double font, line, point;
};
static const struct units units[] = {
    [FORMAT_PNG] = {.dpi = 0, .font = 1 / 96.0, .line = 1 / 72.0, .point = 1 / 72.0}, /* per dot an inch */
    [FORMAT_SVG] = {.dpi = 96, .font = 1 / 72.0, .line = 1 / 72.0, .point = 1.42 / 72},
    [FORMAT_PDF] = {.dpi = 72, .font = 0.75 / 72, .line = 2 / 72.0, .point = 1.18 / 72},
};

static void add_terminal(struct text *t, const struct figure *f, const struct layout *l, const struct canvas *c)
{
    if (c->format == FORMAT_TEXT) {
        text_addf(t, "set term dumb nofeed size %d,%d noenhanced mono\n", c->columns, c->rows);
        return;
    }
    const struct units *u = &units[c->format];
    double dpi = u->dpi > 0 ? u->dpi : f->dpi;
    if (c->format == FORMAT_PDF) {
        script_add_number(t, "set term pdfcairo size ", l->width / mm_per_inch);
        script_add_number(t, "in,", l->height / mm_per_inch);
        text_add(t, "in");
    } else {
        text_addf(t, "set term %s size %.0f,%.0f", c->format == FORMAT_PNG ? "pngcairo" : "svg", l->width / mm_per_inch * dpi,
                  l->height / mm_per_inch * dpi);
    }
    text_addf(t, " noenhanced background rgb \"%s\" font ", script_palette(f)->background);
    struct text font;
    text_init(&font);
    text_add(&font, f->font);
    script_add_number(&font, ",", f->font_size);
    script_add_string(t, font.s);
    text_release(&font);
    script_add_number(t, " fontscale ", dpi * u->font);
    script_add_number(t, " linewidth ", dpi * u->line);
    if (c->format != FORMAT_SVG) script_add_number(t, " pointscale ", dpi * u->point);
    text_add(t, "\n");
}

/* The ticks of an axis, with texts of their own or, NULL, the axis's. */
static void add_ticks(struct text *t, const struct axis *a, char (*texts)[AXIS_TEXT_MAX], const char *name, const char *how)
{
    text_addf(t, "set %stics scale 0.6,0.3 out nomirror %s (", name, how);
    for (size_t i = 0; i < a->n; i++) {
        if (i) text_add(t, ",");
        script_add_tick(t, texts ? texts[i] : a->tick[i].text);
        script_add_number(t, " ", a->tick[i].at);
        if (!a->tick[i].text[0]) text_add(t, " 1");
    }
    text_add(t, ")\n");
}

static void add_place(struct text *t, const struct layout *l, double x, double y, const char *how)
{
    script_add_number(t, " at screen ", x / l->width);
    script_add_number(t, ", screen ", y / l->height);
    text_addf(t, " %s textcolor rgb \"%s\"\n", how, l->ink);
}

/* A text at a place in millimetres: the centre (or left end) of its first line. */
static void add_text(struct text *t, const struct layout *l, const char *text, double x, double y, const char *how)
{
    if (!text[0]) return;
    text_add(t, "set label ");
    script_add_string(t, text);
    add_place(t, l, x, y, how);
}

/* The same of a name, which has room for one line. */
static void add_name(struct text *t, const struct layout *l, const char *name, double x, double y, const char *how)
{
    if (!name[0]) return;
    text_add(t, "set label ");
    script_add_line(t, name);
    add_place(t, l, x, y, how);
}

/* Title and labels. gnuplot's own places are for other proportions of font and picture, and may cover the ticks. */
static void add_labels(struct text *t, const struct layout *l)
{
    add_text(t, l, l->title, l->title_x, l->title_y, "center");
    add_text(t, l, l->label_x, l->label_x_x, l->label_x_y, "center");
    add_text(t, l, l->label_y, l->label_y_x, l->label_y_y, "center rotate by 90");
}

/* The names of categories below those of the groups of bars. */
static void add_categories(struct text *t, const struct scene *s, const struct layout *l)
{
    double width = l->width - l->left - l->right;
    for (size_t i = 0; i < s->names.x.n && s->groups; i++)
        add_name(t, l, s->names.x.value[s->names.x.order[i]].name, l->left + axis_position(&s->x, (double)i) * width, l->names_y,
                 "center");
}

/* Add the bar that says which colour is which value. */
static void add_value_bar(struct text *t, const struct scene *s, const struct layout *l)
{
    enum { STEPS = 64 };
    double height = l->height - l->bottom - l->top;
    for (int i = 0; i < STEPS; i++) {
        double low = l->bottom + height * i / STEPS, high = l->bottom + height * fmin(i + 1.2, STEPS) / STEPS;
        script_add_number(t, "set object rect from screen ", l->bar_x / l->width);
        script_add_number(t, ",screen ", low / l->height);
        script_add_number(t, " to screen ", (l->bar_x + l->bar_width) / l->width);
        script_add_number(t, ",screen ", high / l->height);
        text_addf(t, " fc rgb \"#%06X\" fs solid 1 noborder\n", value_colour((i + 0.5) / STEPS));
    }
    for (size_t i = 0; i < s->z.n; i++)
        add_text(t, l, s->z.tick[i].text, l->bar_x + l->bar_width + 0.8, l->bottom + height * s->z.tick[i].at, "left");
    add_text(t, l, l->label_z, l->bar_label_x, l->bottom + height / 2, "center rotate by 90");
}

/* The axes of parallel coordinates: a line and its ticks. */
static void add_columns(struct text *t, const struct scene *s, const struct layout *l)
{
    double width = l->width - l->left - l->right, height = l->height - l->bottom - l->top;
    for (size_t i = 0; i < s->n_axes; i++) {
        double at = axis_position(&s->x, (double)i);
        script_add_number(t, "set arrow from first ", at);
        script_add_number(t, ",graph 0 to first ", at);
        text_addf(t, ",graph 1 nohead front lw 0.7 lc rgb \"%s\"\n", script_palette(s->figure)->border);
        for (size_t k = 0; k < s->axes[i].n; k++)
            add_text(t, l, s->axes[i].tick[k].text, l->left + at * width - 0.5, l->bottom + height * s->axes[i].tick[k].at,
                     "right front");
    }
}

/* In a terminal nothing can be rotated: the label of y stands above its axis, and the title above that. */
static void add_terminal_labels(struct text *t, const struct scene *s, const struct canvas *c)
{
    char *title = face_wrap_characters(s->figure->title, c->columns - 2);
    int lines = title[0] ? 1 : 0;
    for (const char *p = title; *p; p++) lines += *p == '\n';
    text_add(t, "set xlabel ");
    script_add_string(t, s->x.label);
    text_add(t, "\nset label ");
    script_add_string(t, title);
    text_addf(t, " at screen 0.5, character %d center\nset label ", c->rows - 1);
    script_add_string(t, s->y.label);
    text_addf(t, " at screen 0, character %d left\nset tmargin %d\n", c->rows - lines - 1, lines + 1);
    free(title);
}

static void add_margin(struct text *t, const char *name, double share)
{
    text_addf(t, "set %s at screen", name);
    script_add_number(t, " ", share);
    text_add(t, "\n");
}

static void add_frame(struct text *t, const struct scene *s, const struct layout *l, const struct canvas *c)
{
    const struct palette *colours = script_palette(s->figure);
    text_add(t, "set xrange [0:1]\nset yrange [0:1]\n");
    bool drawn = c->format != FORMAT_TEXT;
    add_ticks(t, &s->x, drawn ? l->tick_x : NULL, "x",
              !drawn || !l->tilted ? ""
              : s->groups          ? "rotate by 90 right"
                                   : "rotate by 45 right");
    add_ticks(t, &s->y, NULL, "y", "");
    if (!drawn) {
        add_terminal_labels(t, s, c);
        return;
    }
    add_margin(t, "lmargin", l->left / l->width);
    add_margin(t, "rmargin", 1 - l->right / l->width);
    add_margin(t, "bmargin", l->bottom / l->height);
    add_margin(t, "tmargin", 1 - l->top / l->height);
    text_addf(t, "set border %d lw 0.5 lc rgb \"%s\"\nset tics textcolor rgb \"%s\"\n", s->n_axes ? 0 : 3, colours->border,
              colours->ink);
    if (s->n_axes)
        text_add(t, "unset ytics\nset xtics scale 0\n");
    else
        text_addf(t, "set grid %s back lt 1 lw 0.4 lc rgb \"%s\"\n", s->figure->kind->names_x ? "ytics" : "", colours->grid);
    add_labels(t, l);
    add_categories(t, s, l);
    add_columns(t, s, l);
    if (l->bar_width > 0) add_value_bar(t, s, l);
}

/* Add a line from (x, y) to the right. */
static void add_stroke(struct text *t, const struct layout *l, double x, double y, double length, const char *how)
{
    script_add_number(t, "set arrow from screen ", x / l->width);
    script_add_number(t, ",screen ", y / l->height);
    script_add_number(t, " to screen ", (x + length) / l->width);
    script_add_number(t, ",screen ", y / l->height);
    text_addf(t, " nohead %s\n", how);
}

/* Add the sample of a hatched box. */
static void add_hatched(struct text *t, const struct scene *s, const struct layout *l, double x, double y)
{
    double side = 0.8 * l->sample_width;
    x += (l->sample_width - side) / 2;
    script_add_number(t, "set object rect from screen ", x / l->width);
    script_add_number(t, ",screen ", (y - side / 2) / l->height);
    script_add_number(t, " to screen ", (x + side) / l->width);
    script_add_number(t, ",screen ", (y + side / 2) / l->height);
    text_addf(t, " fc rgb \"%s\" fs " BOXES_HATCHED " border rgb \"#333333\" lw 0.3\n", script_palette(s->figure)->faint);
}

/* The legend is drawn entry by entry: gnuplot's own takes no more width than the plot and knows nothing of its neighbours. */
static void add_legend(struct text *t, const struct plot *p, const struct layout *l, const struct entries *e)
{
    for (size_t i = 0; i < e->n; i++) {
        int row = (int)i / l->legend_columns, column = (int)i % l->legend_columns;
        double x = l->legend_x + l->column_x[column], y = l->legend_y - row * l->entry_height;
        bool joined = e->layer[i]->style == LAYER_STEPS || e->layer[i]->style == LAYER_LINES;
        struct text style;
        text_init(&style);
        plot_sample_colour(p, e->layer[i], e->place[i], &style);
        if (joined && e->place[i] != PLACE_LOSSY) add_stroke(t, l, x, y, l->sample_width, style.s);
        text_release(&style);
        plot_sample_point(p, e->layer[i], e->place[i], &style);
        if (e->place[i] == PLACE_QUOTED)
            add_hatched(t, p->scene, l, x, y);
        else
            add_text(t, l, " ", x + l->sample_width / 2, y, style.s);
        add_name(t, l, e->name[i], x + l->sample_width + l->gap_width, y, "left");
        text_release(&style);
    }
    if (e->n && e->heading) add_name(t, l, e->heading, l->heading_x, l->heading_y, "left");
}

/* Commands before the plot itself: terminal, axes, legend, notes. */
static void add_settings(struct text *t, const struct plot *p, const struct layout *l, const struct entries *e)
{
    const struct scene *s = p->scene;
    const struct canvas *c = p->canvas;
    add_terminal(t, s->figure, l, c);
    if (c->picture_path) {
        char *picture = xasprintf("%s.pdf", c->picture_path);
        text_add(t, "set output ");
        script_add_path(t, picture);
        text_add(t, "\n");
        free(picture);
    }
    text_add(t, "set encoding utf8\nset decimalsign \".\"\n");
    add_frame(t, s, l, c);
    bool key = c->format == FORMAT_TEXT && (e->n || s->figure->kind->colours_values);
    text_add(t, key ? "set key below center horizontal Left reverse samplen 1\n" : "unset key\n");
    if (c->format != FORMAT_TEXT) add_legend(t, p, l, e);
    notes_write(t, s, c, p->width_mm);
}

void script_write(struct text *ret, struct text *data, struct scene *s, const struct canvas *c)
{
    struct entries entries;
    struct layout layout;
    entries_init(&entries, s);
    layout_init(&layout, s, &entries);
    struct plot p = {.scene = s,
                     .canvas = c,
                     .point_scale = c->format == FORMAT_SVG ? units[FORMAT_SVG].dpi * units[FORMAT_SVG].point : 1,
                     .width_mm = layout.width - layout.left - layout.right,
                     .height_mm = layout.height - layout.bottom - layout.top};
    layout.ink = script_palette(s->figure)->ink;
    text_init(&p.command);
    text_init(&p.data);
    add_settings(ret, &p, &layout, &entries);
    if (c->format == FORMAT_TEXT) plot_add_entries(&p, &entries);
    for (size_t i = 0; i < s->n_layers; i++) plot_add_layer(&p, &s->layer[i]);
    text_add_bytes(ret, p.command.s, p.command.n);
    text_add(ret, "\n");
    text_add_bytes(data, p.data.s, p.data.n);
    text_add(ret, "\nset output\n");
    text_release(&p.command);
    text_release(&p.data);
    layout_release(&layout);
    entries_release(&entries);
}
