#include "figure/layout.h"

#include "base/xalloc.h"
#include "desc/label.h"
#include "figure/face.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ------------------------------------------------------------------------------------------------------------ */

/* Heights and gaps in units of the font size: of a line, in a legend, and between the names of neighbouring ticks. */
static const double line_height = 1.3, gap = 0.5, names_gap = 0.5;
static const double tick_mm = 1.6, edge_mm = 0.8; /* a tick with its gap; the rim of the picture */
static const double label_gap = 0.2;              /* between the ticks of x and its label, in lines */

static size_t count_lines(const char *s)
{
    if (!*s) return 0;
    size_t n = 1;
    for (; *s; s++) n += *s == '\n';
    return n;
}

/* The font's size in millimetres. */
static double em(const struct figure *f)
{
    return f->font_size * 25.4 / 72;
}

static char *wrap_mm(const struct figure *f, const char *s, double mm)
{
    return face_wrap(s, mm / em(f));
}

/* The same in as few lines, but of about equal length: a title does not end in a line of one word. */
static char *wrap_evenly(const struct figure *f, const char *s, double mm)
{
    char *best = wrap_mm(f, s, mm);
    size_t lines = count_lines(best);
    for (double shorter = 0.95 * mm; lines > 1 && shorter > mm / (double)lines; shorter *= 0.95) {
        char *text = wrap_mm(f, s, shorter);
        bool better = count_lines(text) == lines && face_width(text) * em(f) <= shorter;
        if (better) {
            free(best);
            best = text;
            continue;
        }
        free(text);
        break;
    }
    return best;
}

/* ---- legend ----------------------------------------------------------------------------------------------------------- */

/* Add entries that say what solid and hatched bars are. */
static void add_fillings(struct entries *ret, const struct scene *s)
{
    const struct layer *l = &s->layer[s->main];
    for (int quoted = 0; quoted < 2; quoted++) {
        bool any = false;
        for (size_t i = 0; i < l->n_boxes; i++) any |= l->boxes[i].quoted == quoted;
        if (!any) continue;
        ret->layer[ret->n] = &s->layer[s->main];
        ret->place[ret->n] = quoted ? PLACE_QUOTED : PLACE_ANY;
        ret->name[ret->n++] = quoted ? "quoted from the paper" : "modelled";
    }
}

/* Add the entry that says what hollow marks are. */
static void add_lossy(struct entries *ret, const struct scene *s)
{
    const char *given = s->figure->lossy_label;
    ret->lossy = given ? xstrdup(given) : s->budget ? xasprintf("lossy, %s", s->budget) : xstrdup("lossy");
    ret->layer[ret->n] = &s->layer[s->main];
    ret->place[ret->n] = PLACE_LOSSY;
    ret->name[ret->n++] = ret->lossy;
}

void entries_init(struct entries *ret, const struct scene *s)
{
    const struct figure *f = s->figure;
    *ret = (struct entries){0};
    if (f->legend == LEGEND_NONE) return;
    if (f->series.column)
        for (size_t i = 0; i < s->names.series.n; i++) {
            ret->layer[i] = &s->layer[s->main];
            ret->name[i] = s->names.series.value[s->names.series.order[i]].name;
            ret->place[i] = i;
            ret->n++;
        }
    for (size_t i = 0; i < s->n_layers; i++) {
        enum layer_style style = s->layer[i].style;
        if (!s->layer[i].legend || (f->series.column && style != LAYER_PUBLISHED && style != LAYER_TINT)) continue;
        ret->layer[ret->n] = &s->layer[i];
        ret->place[ret->n] = f->series.column && style == LAYER_TINT ? PLACE_ANY : 0;
        ret->name[ret->n] = ret->place[ret->n] == PLACE_ANY ? "dominated" : s->layer[i].legend;
        ret->n++;
    }
    if (f->quoted.column) add_fillings(ret, s);
    if (s->lossy) add_lossy(ret, s);
    if (!f->series.column) return;
    if (f->series.label)
        ret->heading = f->series.label[0] ? xstrdup(f->series.label) : NULL;
    else if (s->names.series.numeric)
        ret->heading = label_words(f->series.column, NULL);
}

void entries_release(struct entries *e)
{
    free(e->heading);
    free(e->lossy);
    *e = (struct entries){0};
}

static double text_mm(const struct figure *f, const char *text)
{
    return face_width(text) * em(f);
}

/* Sizes of an entry: a sample of a line is longer than that of a marker. */
static void size_entries(struct layout *l, const struct figure *f, const struct entries *e)
{
    for (size_t i = 0; i < e->n; i++) {
        bool joined = e->layer[i]->style == LAYER_STEPS || e->layer[i]->style == LAYER_LINES;
        l->sample_width = fmax(l->sample_width, (joined ? 2 : 1) * em(f));
    }
    l->gap_width = gap * em(f);
    l->entry_height = line_height * em(f);
}

/* Give each of so many columns the width of its longest entry. */
static void fill_columns(struct layout *l, const struct figure *f, const struct entries *e, int columns)
{
    double x = 0;
    for (int column = 0; column < columns; column++) {
        double longest = 0;
        for (size_t i = (size_t)column; i < e->n; i += (size_t)columns) longest = fmax(longest, text_mm(f, e->name[i]));
        l->column_x[column] = x;
        l->legend_width = x + l->sample_width + l->gap_width + longest;
        x = l->legend_width + 3 * l->gap_width;
    }
    l->legend_columns = columns;
    l->legend_rows = ((int)e->n + columns - 1) / columns;
}

static double heading_mm(const struct layout *l, const struct figure *f, const struct entries *e)
{
    return e->heading ? text_mm(f, e->heading) + 2 * l->gap_width : 0;
}

/* Columns and rows of the legend, and the margins that it takes. */
static void size_legend(struct layout *l, const struct figure *f, const struct entries *e)
{
    int n = (int)e->n;
    if (!n) return;
    double heading = heading_mm(l, f, e);
    if (f->legend == LEGEND_RIGHT) {
        fill_columns(l, f, e, 1);
        l->legend_rows += e->heading ? 1 : 0;
        l->right = fmin(fmax(l->legend_width, heading) + 2 * l->gap_width, f->width_mm / 2);
        return;
    }
    double room = f->width_mm - 2 * edge_mm - heading;
    int most = n;
    for (fill_columns(l, f, e, most); most > 1 && l->legend_width > room;) fill_columns(l, f, e, --most);
    fill_columns(l, f, e, (n + l->legend_rows - 1) / l->legend_rows); /* rows of about equal length */
    if (l->legend_width > room) fill_columns(l, f, e, most);
    l->bottom = l->legend_rows * l->entry_height + l->gap_width;
}

/* At the right side, in the middle of the plot; or below everything. */
static void place_legend(struct layout *l, const struct figure *f, const struct entries *e)
{
    double height = l->legend_rows * l->entry_height;
    if (f->legend == LEGEND_RIGHT) {
        l->legend_x = l->heading_x = l->width - l->right + l->gap_width;
        l->heading_y = (l->bottom + l->height - l->top + height - l->entry_height) / 2;
        l->legend_y = l->heading_y - (e->heading ? l->entry_height : 0);
        return;
    }
    double heading = heading_mm(l, f, e);
    l->heading_x = fmax(edge_mm, (l->width - heading - l->legend_width) / 2);
    l->legend_x = l->heading_x + heading;
    l->legend_y = l->heading_y = edge_mm + height - l->entry_height / 2;
}

/* ---- margins ---------------------------------------------------------------------------------------------------------- */

static double widest_tick(const struct figure *f, const struct axis *a)
{
    double widest = 0;
    for (size_t i = 0; i < a->n; i++) widest = fmax(widest, text_mm(f, a->tick[i].text));
    return widest;
}

/* How far the last tick's text reaches beyond the right end of the axis, if the plot is `width` wide. */
static double overhang(const struct figure *f, const struct axis *a, double width)
{
    double most = 0;
    for (size_t i = 0; i < a->n; i++) most = fmax(most, text_mm(f, a->tick[i].text) / 2 - (1 - a->tick[i].at) * width);
    return most;
}

/* The centre of a text of that length that is to stand around `at` within a side of `side`. */
static double keep_inside(const struct figure *f, const char *text, double at, double side)
{
    double half = text_mm(f, text) / 2 + edge_mm;
    return half > side / 2 ? side / 2 : fmin(fmax(at, half), side - half);
}

/* Where the texts around the plot stand, once the margins are known. */
static void place_texts(struct layout *l, const struct figure *f, double legend_height)
{
    double line = line_height * em(f);
    double middle_x = (l->left + l->width - l->right) / 2, middle_y = (l->bottom + l->height - l->top) / 2;
    l->title_x = keep_inside(f, l->title, middle_x, l->width);
    l->title_y = l->height - edge_mm - line / 2;
    l->label_x_x = keep_inside(f, l->label_x, middle_x, l->width);
    l->label_x_y = edge_mm + legend_height + line * ((double)count_lines(l->label_x) - 0.5);
    l->label_y_x = edge_mm + line / 2;
    l->label_y_y = keep_inside(f, l->label_y, middle_y, l->height);
}

/* The least distance of two ticks of an axis that is `width` long. */
static double tick_distance(const struct axis *a, double width)
{
    double least = width;
    for (size_t i = 1; i < a->n; i++) least = fmin(least, fabs(a->tick[i].at - a->tick[i - 1].at) * width);
    return least;
}

/* Do the texts of the ticks of x overlap when they stand side by side? Only names are that long. */
static bool ticks_collide(const struct scene *s, double width)
{
    if (!s->figure->kind->names_x || s->x.n < 2) return false;
    return widest_tick(s->figure, &s->x) + names_gap * em(s->figure) > tick_distance(&s->x, width);
}

/* Break names into lines as narrow as their ticks are apart. The number of lines; 0 when a word is too long for that. */
static size_t break_ticks(struct layout *l, const struct scene *s, double width)
{
    const struct axis *a = &s->x;
    double room = tick_distance(a, width) / em(s->figure) - names_gap;
    char(*broken)[AXIS_TEXT_MAX] = xcalloc(a->n, sizeof *broken);
    size_t lines = 1;
    for (size_t i = 0; i < a->n && lines; i++) {
        char *text = face_wrap(a->tick[i].text, room);
        size_t n = count_lines(text);
        if (face_width(text) > room)
            lines = 0;
        else if (n > lines)
            lines = n;
        memcpy(broken[i], text, strlen(text) + 1); /* as long as before: spaces became newlines */
        free(text);
    }
    if (lines)
        l->tick_x = broken;
    else
        free(broken);
    return lines;
}

/* Height of the texts of the ticks of x, and of what stands below them. */
static double tick_height(struct layout *l, const struct scene *s)
{
    const struct figure *f = s->figure;
    double line = line_height * em(f), widest = widest_tick(f, &s->x), width = l->width - l->left - l->right;
    bool collide = ticks_collide(s, width);
    size_t lines = collide && !s->groups ? break_ticks(l, s, width) : 1;
    l->tilted = s->groups ? collide : lines == 0;
    double height = !l->tilted ? line * (double)lines : s->groups ? widest + 0.4 * line : 0.75 * widest + line;
    l->names_y = l->bottom + edge_mm + line * (0.5 + label_gap + (double)count_lines(l->label_x));
    return height + (s->groups ? line : 0);
}

/* Make room for the bar of colours of values, with its ticks and its label. */
static void size_bar(struct layout *l, const struct scene *s)
{
    const struct figure *f = s->figure;
    if (!f->kind->colours_values) return;
    double line = line_height * em(f);
    l->label_z = wrap_mm(f, s->z.label, 0.7 * f->height_mm);
    l->bar_width = 1.2 * em(f);
    double ticks = tick_mm + widest_tick(f, &s->z);
    l->right = edge_mm + line + l->bar_width + ticks + 0.3 * line + line * (double)count_lines(l->label_z);
    l->bar_x = l->width - l->right + 0.8 * line;
    l->bar_label_x = l->bar_x + l->bar_width + ticks + 0.8 * line;
}

void layout_init(struct layout *ret, const struct scene *s, const struct entries *e)
{
    static const double least_plot = 0.25; /* height of the plot over the width of the picture */
    const struct figure *f = s->figure;
    *ret = (struct layout){
        .width = f->width_mm,
        .title = wrap_evenly(f, f->title, 0.9 * f->width_mm),
        .label_x = wrap_mm(f, s->x.label, 0.8 * f->width_mm),
        .label_y = wrap_mm(f, s->y.label, 0.7 * f->height_mm),
    };
    size_entries(ret, f, e);
    size_legend(ret, f, e);
    double line = line_height * em(f), legend_height = ret->bottom;
    size_bar(ret, s);
    ret->top = edge_mm + line * (0.4 + (double)count_lines(ret->title));
    ret->left = edge_mm + tick_mm + widest_tick(f, &s->y) + line * (0.6 + (double)count_lines(ret->label_y));
    ret->left = fmin(ret->left, 0.4 * ret->width); /* whatever the texts: there is a plot */
    ret->bottom += edge_mm + tick_mm + tick_height(ret, s) + line * (label_gap + (double)count_lines(ret->label_x));
    if (ret->tilted && !s->groups) /* the first of them reaches to the left */
        ret->left = fmin(fmax(ret->left, edge_mm + 0.75 * widest_tick(f, &s->x) - 0.5 * (ret->width - ret->left) / (double)s->x.n),
                         0.4 * ret->width);
    ret->right = fmax(ret->right, edge_mm + (ret->tilted ? 0 : overhang(f, &s->x, ret->width - ret->left - edge_mm)));
    double beside = f->legend == LEGEND_RIGHT ? ret->legend_rows * ret->entry_height : 0;
    ret->height = fmax(f->height_mm, ret->bottom + ret->top + fmax(least_plot * ret->width, beside));
    if (e->n) place_legend(ret, f, e);
    place_texts(ret, f, legend_height);
}

void layout_release(struct layout *l)
{
    free(l->title);
    free(l->label_x);
    free(l->label_y);
    free(l->label_z);
    free(l->tick_x);
    *l = (struct layout){0};
}
