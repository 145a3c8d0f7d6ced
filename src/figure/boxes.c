#include "figure/layers.h"

#include "base/xalloc.h"
#include "figure/face.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOXES_MAX = 6000 }; /* more of them are painted as a raster */
static const double raster_cell_mm = 0.1;

/* ---- colours --------------------------------------------------------------------------------------------------------------- */

/* Nine stops of viridis (S. van der Walt and N. Smith, matplotlib). */
static const uint32_t stops[] = {0x440154, 0x472D7B, 0x3B528B, 0x2C728E, 0x21918C, 0x28AE80, 0x5EC962, 0xADDC30, 0xFDE725};
enum { STOPS = sizeof stops / sizeof *stops };

uint32_t value_colour(double at)
{
    double place = fmin(fmax(at, 0), 1) * (STOPS - 1);
    size_t i = place < STOPS - 1 ? (size_t)place : STOPS - 2;
    double part = place - (double)i;
    uint32_t colour = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double a = stops[i] >> shift & 255, b = stops[i + 1] >> shift & 255;
        colour |= (uint32_t)lround(a + (b - a) * part) << shift;
    }
    return colour;
}

char value_character(double at)
{
    static const char characters[VALUE_CHARACTERS + 1] = ".:-=+*#%@";
    int i = (int)(fmin(fmax(at, 0), 1) * VALUE_CHARACTERS);
    return characters[i < VALUE_CHARACTERS ? i : VALUE_CHARACTERS - 1];
}

/* ---- boxes ----------------------------------------------------------------------------------------------------------------- */

/* A box on the picture: 0 to 1 along each axis; low before high. */
struct placed {
    double x0, x1, y0, y1;
    uint32_t colour;
    char letter;
};

/* The part of a side of a box that lies within the axis, from 0 to 1. False when none of it does. */
static bool place_side(const struct axis *a, double v0, double v1, double *ret0, double *ret1)
{
    double p = isfinite(v0) ? axis_position(a, v0) : 0, q = isfinite(v1) ? axis_position(a, v1) : 1;
    *ret0 = fmin(fmax(fmin(p, q), 0), 1);
    *ret1 = fmin(fmax(fmax(p, q), 0), 1);
    return *ret1 > *ret0 || (p == q && p >= 0 && p <= 1);
}

static bool place_box(const struct plot *p, const struct layer *l, const struct box *b, struct placed *ret)
{
    const struct scene *s = p->scene;
    if (!place_side(&s->x, b->x0, b->x1, &ret->x0, &ret->x1) || !place_side(&s->y, b->y0, b->y1, &ret->y0, &ret->y1)) return false;
    if (l->style == LAYER_CELLS) {
        double at = axis_position(&s->z, b->value);
        ret->colour = value_colour(at);
        ret->letter = value_character(at);
    } else {
        uint32_t place = s->names.series.rank[b->series];
        ret->colour = series_fill(&s->names.series, place);
        ret->letter = plot_box_letter(place, b->quoted);
    }
    return true;
}

char plot_box_letter(size_t place, bool quoted)
{
    char letter = plot_letter(place);
    return quoted ? (char)(letter + ('a' - 'A')) : letter;
}

/* In a terminal a box is filled with its character. */
static void add_characters(struct plot *p, const struct layer *l)
{
    int columns = p->canvas->columns, rows = p->canvas->rows;
    for (const char *c = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.:-=+*#%@"; *c; c++) {
        size_t from = p->data.n, n = 0;
        for (size_t i = 0; i < l->n_boxes; i++) {
            struct placed b;
            if (!place_box(p, l, &l->boxes[i], &b) || b.letter != *c) continue;
            for (int row = (int)(b.y0 * rows); row <= (int)(b.y1 * rows) && row < rows; row++)
                for (int column = (int)(b.x0 * columns); column <= (int)(b.x1 * columns) && column < columns; column++) {
                    float pair[2] = {(float)((column + 0.5) / columns), (float)((row + 0.5) / rows)};
                    if ((double)pair[0] > b.x1 || (double)pair[0] < b.x0 || (double)pair[1] > b.y1) continue;
                    text_add_bytes(&p->data, (const char *)pair, sizeof pair);
                    n++;
                }
        }
        if (p->data.n == from) continue;
        plot_begin_data(p, from);
        text_addf(&p->command, " record=(%zu) format='%%float32%%float32' using 1:2 notitle with points pt \"%c\"", n, *c);
    }
}

static void add_box_record(struct plot *p, const struct placed *b)
{
    float record[7] = {(float)((b->x0 + b->x1) / 2),
                       (float)((b->y0 + b->y1) / 2),
                       (float)b->x0,
                       (float)b->x1,
                       (float)b->y0,
                       (float)b->y1,
                       (float)b->colour};
    text_add_bytes(&p->data, (const char *)record, sizeof record);
}

/* Add the boxes that are solid, or those that are hatched. */
static void add_vectors(struct plot *p, const struct layer *l, bool quoted, bool border)
{
    size_t n = 0, from = p->data.n;
    for (size_t i = 0; i < l->n_boxes; i++) {
        struct placed b;
        if (l->boxes[i].quoted != quoted) continue;
        if (!place_box(p, l, &l->boxes[i], &b)) continue;
        add_box_record(p, &b);
        n++;
    }
    if (!n) return;
    plot_begin_data(p, from);
    text_addf(&p->command,
              " record=(%zu) format='%%float32%%float32%%float32%%float32%%float32%%float32%%float32' using 1:2:3:4:5:6:7"
              " notitle with boxxyerror fs %s %s lc rgb variable",
              n, quoted ? BOXES_HATCHED : "solid 1", border ? "border rgb \"#333333\" lw 0.3" : "noborder");
}

static void add_raster(struct plot *p, const struct layer *l)
{
    int width = (int)fmax(1, p->width_mm / raster_cell_mm), height = (int)fmax(1, p->height_mm / raster_cell_mm);
    unsigned char *rgba = xcalloc((size_t)width * (size_t)height, 4);
    for (size_t i = 0; i < l->n_boxes; i++) {
        struct placed b;
        if (!place_box(p, l, &l->boxes[i], &b)) continue;
        int x1 = (int)ceil(b.x1 * width - 0.5), y1 = (int)ceil(b.y1 * height - 0.5);
        for (int y = (int)ceil(b.y0 * height - 0.5); y < y1; y++)
            for (int x = (int)ceil(b.x0 * width - 0.5); x < x1; x++) {
                unsigned char *cell = &rgba[4 * ((size_t)y * (size_t)width + (size_t)x)];
                for (int k = 0; k < 3; k++) cell[k] = (unsigned char)(b.colour >> (16 - 8 * k) & 255);
                cell[3] = 255;
            }
    }
    plot_add_image(p, rgba, width, height);
    free(rgba);
}

void plot_add_boxes(struct plot *p, const struct layer *l)
{
    const struct kind *kind = p->scene->figure->kind;
    if (p->canvas->format == FORMAT_TEXT)
        add_characters(p, l);
    else if (l->n_boxes > BOXES_MAX || p->scene->grid)
        add_raster(p, l);
    else
        for (int quoted = 0; quoted < 2; quoted++) add_vectors(p, l, quoted, (kind->names_x || kind->names_y) && l->n_boxes < 300);
}

void plot_add_cells(struct plot *p, const struct layer *l)
{
    if (p->canvas->format == FORMAT_TEXT)
        add_characters(p, l);
    else
        add_raster(p, l); /* boxes side by side would show seams */
}

/* ---- paths ----------------------------------------------------------------------------------------------------------------- */

/* Points from `from` on that belong to one series, as one element; a break between lines is a point that is none. */
static size_t add_path(struct plot *p, const struct layer *l, size_t from, const char *how)
{
    size_t i = from, n = 0, offset = p->data.n;
    for (; i < l->n_path && l->path[i].series == l->path[from].series; i++) {
        const struct path_point *q = &l->path[i];
        float gap[2] = {NAN, NAN};
        float pair[2] = {(float)axis_position(&p->scene->x, q->x), (float)axis_position(&p->scene->y, q->y)};
        if (q->first && i > from) {
            text_add_bytes(&p->data, (const char *)gap, sizeof gap);
            n++;
        }
        text_add_bytes(&p->data, (const char *)pair, sizeof pair);
        n++;
    }
    plot_begin_data(p, offset);
    text_addf(&p->command, " record=(%zu) format='%%float32%%float32' using 1:2 notitle with %s", n, how);
    return i;
}

static int by_rank(const void *a, const void *b, void *user)
{
    const struct path_point *p = *(const struct path_point *const *)a, *q = *(const struct path_point *const *)b;
    const uint32_t *rank = *(const uint32_t *const *)user;
    if (p->series != q->series)
        return rank[p->series] > rank[q->series] ? -1 : 1; /* the first of the legend is drawn last, on top */
    return (p > q) - (p < q);
}

/* The lines ordered by series. The caller frees path. */
static struct layer by_series(const struct plot *p, const struct layer *l)
{
    const struct path_point **firsts = xcalloc(l->n_path + 1, sizeof *firsts);
    size_t lines = 0;
    for (size_t i = 0; i < l->n_path; i++)
        if (l->path[i].first) firsts[lines++] = &l->path[i];
    const uint32_t *rank = p->scene->names.series.rank;
    qsort_r(firsts, lines, sizeof *firsts, by_rank, &rank);
    struct layer sorted = {.path = xcalloc(l->n_path + 1, sizeof *sorted.path)};
    for (size_t i = 0; i < lines; i++) {
        const struct path_point *q = firsts[i];
        do sorted.path[sorted.n_path++] = *q++;
        while (q < l->path + l->n_path && !q->first);
    }
    free(firsts);
    return sorted;
}

void plot_add_paths(struct plot *p, const struct layer *l)
{
    bool text = p->canvas->format == FORMAT_TEXT, contour = p->scene->n_axes == 0;
    struct layer sorted = by_series(p, l);
    for (size_t i = 0; i < sorted.n_path;) {
        struct text how;
        text_init(&how);
        uint32_t place = p->scene->names.series.rank[sorted.path[i].series];
        if (text)
            text_addf(&how, contour ? "dots" : "linespoints pt \"%c\"", plot_letter(place));
        else if (contour)
            text_addf(&how, "lines lw 0.6 lc rgb \"#FFFFFF\"");
        else
            text_addf(&how, "lines lw %s lc rgb \"#%s%06X\"", sorted.n_path > 4000 ? "0.3" : "0.6",
                      sorted.n_path > 4000 ? "80" : "20", series_colour(&p->scene->names.series, place));
        i = add_path(p, &sorted, i, how.s);
        text_release(&how);
    }
    free(sorted.path);
}

/* ---- notes ----------------------------------------------------------------------------------------------------------------- */

static uint32_t band_colour(const struct scene *s, uint32_t name)
{
    static const uint32_t light[] = {0xE8EEF4, 0xFBEBDD, 0xE3F1EA, 0xF6EAF1, 0xFBF3DC},
                          dark[] = {0x24303C, 0x3C2C1E, 0x1E3A2E, 0x38262F, 0x3A3320};
    enum { N = sizeof light / sizeof *light };
    return (s->figure->style == STYLE_DARK ? dark : light)[name % N];
}

/* A shaded range with its text at the top, upright where it is too narrow. */
static void add_band(struct text *t, const struct scene *s, const struct canvas *c, const struct band *b, double width_mm)
{
    double from = fmax(axis_position(&s->x, b->from), 0), to = fmin(axis_position(&s->x, b->to), 1);
    if (!(to > from)) return;
    const char *name = s->band_names.value[b->name].name;
    bool text = c->format == FORMAT_TEXT;
    if (!text) {
        script_add_number(t, "set object rect from first ", from);
        script_add_number(t, ",graph 0 to first ", to);
        text_addf(t, ",graph 1 behind fc rgb \"#%06X\" fs solid 1 noborder\n", band_colour(s, b->name));
    }
    double needs = face_width(name) * 0.85 * s->figure->font_size * 25.4 / 72;
    bool narrow = !text && needs > (to - from) * width_mm;
    text_add(t, "set label ");
    script_add_line(t, name);
    script_add_number(t, " at first ", (from + to) / 2);
    text_addf(t, ", graph 0.97 %s", narrow ? "right rotate by 90" : "center");
    if (!text) text_addf(t, " font \",%.1f\" textcolor rgb \"%s\"", 0.85 * s->figure->font_size, script_palette(s->figure)->faint);
    text_add(t, "\n");
}

static void add_rule(struct text *t, const struct scene *s, const struct note *n, bool upright)
{
    double at = upright ? axis_position(&s->x, n->x) : axis_position(&s->y, n->y);
    if (!(at >= 0 && at <= 1)) return;
    script_add_number(t, upright ? "set arrow from first " : "set arrow from graph 0, first ", at);
    script_add_number(t, upright ? ", graph 0 to first " : " to graph 1, first ", at);
    text_addf(t, "%s nohead front dt 2 lw 0.6 lc rgb \"%s\"\n", upright ? ", graph 1" : "", script_palette(s->figure)->faint);
}

void notes_write(struct text *t, const struct scene *s, const struct canvas *c, double width_mm)
{
    if (c->format != FORMAT_TEXT)
        text_addf(t, "set style textbox opaque margins 0.3,0.3 fc rgb \"%s\" noborder\n", script_palette(s->figure)->background);
    for (size_t i = 0; i < s->n_bands; i++) add_band(t, s, c, &s->band[i], width_mm);
    for (size_t i = 0; i < s->n_notes; i++) {
        const struct note *n = &s->note[i];
        double x = isnan(n->x) ? 0.99 : axis_position(&s->x, n->x), y = isnan(n->y) ? 0.97 : axis_position(&s->y, n->y);
        if (isnan(n->y)) add_rule(t, s, n, true);
        if (isnan(n->x)) add_rule(t, s, n, false);
        if (!n->text[0] || !(x >= 0 && x <= 1 && y >= 0 && y <= 1)) continue;
        text_add(t, "set label ");
        script_add_line(t, n->text);
        script_add_number(t, " at first ", x);
        script_add_number(t, ", first ", y);
        const char *align = isnan(n->y) ? "right rotate by 90 offset -0.6,0" : isnan(n->x) ? "right offset 0,0.5" : "center";
        text_addf(t, " front %s", c->format == FORMAT_TEXT && isnan(n->y) ? "right" : align);
        bool contour = s->n_layers > 1 && s->layer[0].style == LAYER_CELLS;
        if (c->format != FORMAT_TEXT)
            text_addf(t, " %s font \",%.1f\" textcolor rgb \"%s\"", contour ? "" : "boxed", 0.85 * s->figure->font_size,
                      contour ? "#FFFFFF" : script_palette(s->figure)->ink);
        text_add(t, "\n");
    }
}
