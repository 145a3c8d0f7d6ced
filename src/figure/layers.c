#include "figure/layers.h"
#include "figure/raster.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

enum {
    DOTS_MAX = 8000,       /* a cloud of more marks is drawn as a raster */
    LINE_MARKERS_MAX = 20, /* a line of more points has markers on some of them */
};
/* A line of more points is thinned to four of each column. */
enum { LINE_COLUMNS = 1024, LINE_POINTS_MAX = 4 * LINE_COLUMNS };
static const double raster_cell_mm = 0.2;

static void add_colour(struct text *t, uint32_t colour)
{
    text_addf(t, " lc rgb \"#%06X\"", colour);
}

/* gnuplot's filled point types, largest area first, and the characters that stand for them in a terminal. */
static const int filled[SERIES_MARKERS] = {7, 5, 9, 13, 11, 15}, hollow[SERIES_MARKERS] = {6, 4, 8, 12, 10, 14};

static void add_records(struct plot *p, size_t n)
{
    plot_begin_data(p, p->data.n);
    text_addf(&p->command, " record=(%zu) format='%%float32%%float32' using 1:2 notitle", n);
}

static void add_position(struct plot *p, double x, double y)
{
    float pair[2] = {(float)axis_position(&p->scene->x, x), (float)axis_position(&p->scene->y, y)};
    text_add_bytes(&p->data, (const char *)pair, sizeof pair);
}

static void add_positions(struct plot *p, const struct mark *m, size_t n)
{
    for (size_t i = 0; i < n; i++) add_position(p, m[i].x, m[i].y);
}

/* A light shade of a colour: two fifths of it, and three fifths of the background. */
static uint32_t tint(const struct plot *p, uint32_t colour)
{
    uint32_t light = 0, background = script_background(p->scene->figure);
    for (int shift = 0; shift <= 16; shift += 8)
        light |= ((3 * (background >> shift & 255) + 2 * (colour >> shift & 255) + 2) / 5) << shift;
    return light;
}

/* " pt ... ps ... lc ..." of the series at a place of the legend. */
static void add_point_style(const struct plot *p, struct text *t, size_t place, double size, uint32_t colour)
{
    if (p->canvas->format == FORMAT_TEXT) {
        text_addf(t, " pt \"%c\"", plot_letter(place));
        return;
    }
    text_addf(t, " pt %d", filled[series_marker(&p->scene->names.series, place)]);
    script_add_number(t, " ps ", size * p->point_scale);
    add_colour(t, colour);
}

/* The marks that are lossy, or those that are not, in front; returns how many. */
static size_t pick_marks(const struct mark *m, size_t n, bool lossy, struct mark *ret)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (((m[i].series & MARK_LOSSY) != 0) == lossy) ret[kept++] = m[i];
    return kept;
}

/* Hollow marks: the shape filled with the background, and its outline upon it. */
static void add_hollow_style(const struct plot *p, struct text *t, size_t place, double size, bool outline)
{
    const int marker = series_marker(&p->scene->names.series, place);
    text_addf(t, " pt %d", outline ? hollow[marker] : filled[marker]);
    script_add_number(t, " ps ", size * p->point_scale);
    text_add(t, " lw 0.9");
    add_colour(t, outline ? series_colour(&p->scene->names.series, place) : script_background(p->scene->figure));
}

/* Filled markers with a white rim, so that neighbours stay apart, or hollow ones. */
static void add_markers_of(struct plot *p, const struct mark *m, size_t n, size_t place, double size, bool rim, bool lossy)
{
    const bool text = p->canvas->format == FORMAT_TEXT;
    for (int pass = rim || (lossy && !text) ? 0 : 1; pass < 2 && n; pass++) {
        add_records(p, n);
        text_add(&p->command, " with points");
        if (lossy && !text)
            add_hollow_style(p, &p->command, place, size, pass);
        else
            add_point_style(p, &p->command, place, pass ? size : size + 0.12,
                            pass ? series_colour(&p->scene->names.series, place) : script_background(p->scene->figure));
        add_positions(p, m, n);
    }
}

static void add_both_markers(struct plot *p, const struct mark *m, size_t n, size_t place, double size, bool rim)
{
    struct mark *picked = xcalloc(n + 1, sizeof *picked);
    for (int lossy = 0; lossy < 2; lossy++) add_markers_of(p, picked, pick_marks(m, n, lossy, picked), place, size, rim, lossy);
    free(picked);
}

/* Markers, smaller where there are many, and then without a rim. */
static void add_markers(struct plot *p, const struct layer *l, const struct mark *m, size_t n, size_t place)
{
    const double size = l->points.n <= 80 ? 0.5 : l->points.n <= 300 ? 0.36 : 0.2;
    add_both_markers(p, m, n, place, size, l->points.n <= 300 && p->canvas->format != FORMAT_TEXT);
}

static void add_dots(struct plot *p, const struct layer *l, const struct mark *m, size_t n, size_t place)
{
    uint32_t colour = series_colour(&p->scene->names.series, place);
    bool text = p->canvas->format == FORMAT_TEXT;
    if (l->style == LAYER_MARKS) {
        add_markers(p, l, m, n, place);
        return;
    }
    add_records(p, n);
    if (text) {
        text_add(&p->command, " with points pt \".\"");
    } else {
        text_add(&p->command, " with points pt 7");
        script_add_number(&p->command, " ps ", 0.2 * p->point_scale);
        add_colour(&p->command, tint(p, colour));
    }
    add_positions(p, m, n);
}

static void add_raster(struct plot *p, const struct layer *l)
{
    int width = (int)fmax(1, p->width_mm / raster_cell_mm), height = (int)fmax(1, p->height_mm / raster_cell_mm);
    bool light = l->style == LAYER_TINT;
    unsigned char *rgba = raster_paint(p->scene, &l->points, width, height, light ? 0.3 : 0.55, light ? 0.65 : 1);
    plot_add_image(p, rgba, width, height);
    free(rgba);
}

/* The steps of a front: along x to the next point, and then to its height; the other way round where more of x is better. */
static void add_steps(struct plot *p, const struct mark *m, size_t n, uint32_t colour)
{
    bool up_first = p->scene->better_x == BETTER_MAX;
    add_records(p, 2 * n - 1);
    text_add(&p->command, " with lines lw 0.9");
    add_colour(&p->command, colour);
    for (size_t i = 0; i < n; i++) {
        if (i) add_position(p, up_first ? m[i - 1].x : m[i].x, up_first ? m[i].y : m[i - 1].y);
        add_position(p, m[i].x, m[i].y);
    }
}

/* Thin a line, in order of x, to the first, last, lowest and highest point of each column: what is drawn stays the same while
 * columns are about as wide as the line. (U. Jugel et al., "M4: a visualization-oriented time series data aggregation", VLDB
 * 2014.) */
static size_t thin_line(const struct axis *a, struct mark *m, size_t n)
{
    if (n <= LINE_POINTS_MAX) return n;
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        double column = floor(axis_position(a, m[i].x) * LINE_COLUMNS);
        size_t low = i, high = i;
        for (end = i + 1; end < n && floor(axis_position(a, m[end].x) * LINE_COLUMNS) == column; end++) {
            if (m[end].y < m[low].y) low = end;
            if (m[end].y > m[high].y) high = end;
        }
        const size_t corners[] = {i, low < high ? low : high, low < high ? high : low, end - 1};
        for (size_t j = 0; j < 4; j++)
            if (j == 0 || corners[j] != corners[j - 1]) m[kept++] = m[corners[j]];
    }
    return kept;
}

static void add_line(struct plot *p, struct mark *m, size_t n, size_t place)
{
    n = thin_line(&p->scene->x, m, n);
    bool text = p->canvas->format == FORMAT_TEXT;
    if (n <= LINE_MARKERS_MAX && !text && p->scene->lossy) { /* each point has its own mark */
        add_records(p, n);
        text_add(&p->command, " with lines lw 1");
        add_colour(&p->command, series_colour(&p->scene->names.series, place));
        add_positions(p, m, n);
        add_both_markers(p, m, n, place, 0.4, false);
        return;
    }
    add_records(p, n);
    text_add(&p->command, text ? " with points" : " with linespoints lw 1");
    if (n > LINE_MARKERS_MAX && !text) text_addf(&p->command, " pi %zu", (n + LINE_MARKERS_MAX / 2 - 1) / (LINE_MARKERS_MAX / 2));
    add_point_style(p, &p->command, place, 0.4, series_colour(&p->scene->names.series, place));
    add_positions(p, m, n);
}

/* Add published points as open diamonds, which nothing else is drawn as. */
static void add_published(struct plot *p, const struct mark *m, size_t n)
{
    bool text = p->canvas->format == FORMAT_TEXT;
    const struct palette *palette = script_palette(p->scene->figure);
    for (int pass = text ? 1 : 0; pass < 2; pass++) {
        add_records(p, n);
        text_add(&p->command, " with points pt ");
        if (text) {
            text_add(&p->command, "\"o\"");
        } else {
            text_addf(&p->command, "%d", pass ? 12 : 13);
            script_add_number(&p->command, " ps ", 0.62 * p->point_scale);
            text_addf(&p->command, " lw 0.8 lc rgb \"%s\"", pass ? palette->ink : palette->background);
        }
        add_positions(p, m, n);
    }
}

static void add_series(struct plot *p, const struct layer *l, struct mark *m, size_t n, size_t place)
{
    uint32_t colour = series_colour(&p->scene->names.series, place);
    switch (l->style) {
    case LAYER_TINT:
    case LAYER_MARKS: add_dots(p, l, m, n, place); break;
    case LAYER_STEPS:
        if (p->canvas->format != FORMAT_TEXT) add_steps(p, m, n, colour);
        /* fall through */
    case LAYER_FRONT: add_markers(p, l, m, n, place); break;
    case LAYER_LINES: add_line(p, m, n, place); break;
    case LAYER_PUBLISHED: add_published(p, m, n); break;
    case LAYER_BOXES:
    case LAYER_CELLS:
    case LAYER_PATHS: break; /* have no points */
    }
}

void plot_add_layer(struct plot *p, struct layer *l)
{
    const struct series *series = &p->scene->names.series;
    bool text = p->canvas->format == FORMAT_TEXT, cloud = l->style == LAYER_TINT || l->style == LAYER_MARKS;
    if (text && cloud) cloud_thin(&l->points, (size_t)4 * (size_t)p->canvas->columns * (size_t)p->canvas->rows);
    if (l->style == LAYER_BOXES) plot_add_boxes(p, l);
    if (l->style == LAYER_CELLS) plot_add_cells(p, l);
    if (l->style == LAYER_PATHS) plot_add_paths(p, l);
    if (l->points.n == 0) return;
    if (!text && cloud && l->points.n > DOTS_MAX) {
        add_raster(p, l);
        return;
    }
    struct mark *marks = cloud_sorted(&l->points, series->rank);
    for (size_t i = 0, n; i < l->points.n; i += n) {
        for (n = 1; i + n < l->points.n && mark_series(&marks[i + n]) == mark_series(&marks[i]); n++) continue;
        add_series(p, l, marks + i, n, series->rank[mark_series(&marks[i])]);
    }
    free(marks);
}

/* ---- legend ----------------------------------------------------------------------------------------------------------- */

/* The colour of the sample of a layer in the legend: that of a series, or grey. */
static uint32_t sample_colour(const struct plot *p, const struct layer *l, size_t place)
{
    if (place == PLACE_ANY || place == PLACE_QUOTED || place == PLACE_LOSSY)
        return (uint32_t)strtoul(script_palette(p->scene->figure)->faint + 1, NULL, 16);
    return (l->style == LAYER_BOXES ? series_fill : series_colour)(&p->scene->names.series, place);
}

void plot_sample_colour(const struct plot *p, const struct layer *l, size_t place, struct text *ret)
{
    uint32_t colour = sample_colour(p, l, place);
    text_add(ret, "lw 1");
    add_colour(ret, l->style == LAYER_TINT ? tint(p, colour) : colour);
}

void plot_sample_point(const struct plot *p, const struct layer *l, size_t place, struct text *ret)
{
    bool dot = l->style == LAYER_TINT;
    uint32_t colour = sample_colour(p, l, place);
    text_add(ret, "left point");
    if (l->style == LAYER_PUBLISHED || l->style == LAYER_BOXES) {
        text_add(ret, l->style == LAYER_BOXES ? " pt 5" : " pt 12");
        script_add_number(ret, " ps ", 0.62 * p->point_scale);
        if (l->style == LAYER_BOXES)
            add_colour(ret, colour);
        else
            text_addf(ret, " lw 0.8 lc rgb \"%s\"", script_palette(p->scene->figure)->ink);
        return;
    }
    if (place == PLACE_LOSSY) {
        text_addf(ret, " pt %d", hollow[0]);
        script_add_number(ret, " ps ", 0.5 * p->point_scale);
        text_add(ret, " lw 0.9");
        add_colour(ret, colour);
        return;
    }
    add_point_style(p, ret, dot ? 0 : place, 0.5, dot ? tint(p, colour) : colour);
}

void plot_add_entries(struct plot *p, const struct entries *e)
{
    if (e->heading) {
        plot_begin_element(p);
        text_add(&p->command, "keyentry with points pt \" \" title ");
        script_add_line(&p->command, e->heading);
    }
    if (p->scene->figure->kind->colours_values) /* of the scale of values its two ends */
        for (int end = 0; end < 2; end++) {
            const struct axis *z = &p->scene->z;
            char number[TEXT_NUMBER_MAX];
            plot_begin_element(p);
            text_addf(&p->command, "keyentry with points pt \"%c\" title ", value_character(end));
            script_add_line(&p->command, text_short_number(number, axis_unscale(z->scale, end ? z->high : z->low)));
        }
    for (size_t i = 0; i < e->n; i++) {
        plot_begin_element(p);
        text_addf(&p->command, "keyentry with points pt \"%c\" title ",
                  e->layer[i]->style == LAYER_TINT        ? '.'
                  : e->layer[i]->style == LAYER_PUBLISHED ? 'o'
                  : e->place[i] == PLACE_ANY              ? plot_box_letter(0, false)
                  : e->place[i] == PLACE_LOSSY            ? ' '
                  : e->place[i] == PLACE_QUOTED           ? plot_box_letter(0, true)
                                                          : plot_letter(e->place[i]));
        script_add_line(&p->command, e->name[i]);
    }
}
