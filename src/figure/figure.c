/* Drawing a figure: queries to rows, rows to a scene, the scene to gnuplot, gnuplot's picture to its place. */
#include "figure/figure.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/budget.h"
#include "figure/gnuplot.h"
#include "figure/kinds.h"
#include "figure/picture.h"
#include "figure/script.h"

#include <stdlib.h>
#include <string.h>

/* Quote the line of the figure file in errors about its SQL that were added since `from`: the database does not know it. */
static void quote_lines(const struct figure *f, struct diags *diags, size_t from)
{
    for (size_t i = from; i < diags->n; i++) {
        struct diag *g = &diags->list[i];
        if (g->file && strcmp(g->file, f->doc->file) == 0) diag_quote(g, f->doc->text);
    }
}

static enum better column_better(struct reader *r, const struct column_spec *c, char **ret_unit)
{
    char *doc = NULL;
    int direction = 0;
    if (!reader_column_info(r, c->column, ret_unit, &doc, &direction)) return BETTER_UNKNOWN;
    free(doc);
    return direction > 0 ? BETTER_MAX : direction < 0 ? BETTER_MIN : BETTER_UNKNOWN;
}

/* The queries of a figure; those that it does not give stay NULL. */
enum { QUERY, FRONT, REFERENCE, ANNOTATION, BAND, QUERIES };
struct queries {
    struct query *query[QUERIES];
    struct query_rows rows[QUERIES];
};

static bool queries_open(struct queries *q, const struct figure *f, struct reader *r, struct diags *diags)
{
    const struct query_spec *specs[QUERIES] = {&f->query, &f->front, &f->reference, &f->annotation, &f->band};
    bool ok = true;
    for (size_t i = 0; i < QUERIES; i++) {
        if (!specs[i]->sql) continue;
        q->query[i] = query_new(r, specs[i]->sql, specs[i]->loc, diags);
        if (q->query[i])
            rows_of_query(&q->rows[i], q->query[i]);
        else
            ok = false;
    }
    return ok;
}

static struct rows *rows_or_null(struct queries *q, size_t i)
{
    return q->query[i] ? &q->rows[i].rows : NULL;
}

/* The unit of a column, or NULL. The caller frees it. */
static char *unit_of(struct reader *r, const struct column_spec *c)
{
    char *unit = NULL;
    if (c->column) column_better(r, c, &unit);
    return unit;
}

static void fit_axes(struct scene *s, struct reader *r, const struct canvas *c, const char *unit_x, const char *unit_y)
{
    const struct figure *f = s->figure;
    scene_fit_axes(s, script_ticks_x(f, c), script_ticks_y(f, c), unit_x, unit_y);
    char *unit = unit_of(r, &f->value);
    scene_label_value(s, unit);
    free(unit);
    for (size_t i = 0; i < s->n_axes; i++) {
        unit = unit_of(r, &f->columns[i]);
        scene_label_column(s, i, unit);
        free(unit);
    }
}

/* The budget of the newest run that is done, in words; NULL: it has none. The caller frees it. */
static char *budget_of(struct reader *r)
{
    static const char sql[] = "SELECT substr(objectives, instr(objectives, ' within ') + 8) FROM run WHERE status = 'done' AND"
                              " instr(objectives, ' within ') ORDER BY id DESC LIMIT 1";
    struct diags ignored;
    diags_init(&ignored);
    struct query *q = query_new(r, sql, (struct srcloc){0}, &ignored);
    char *words = q && query_step(q, &ignored) > 0 && query_text(q, 0) ? xstrdup(query_text(q, 0)) : NULL;
    query_free(q);
    diags_release(&ignored);
    struct budget budget;
    char *ret = words && budget_parse(&budget, words) ? budget_limits_text(&budget) : NULL;
    free(words);
    return ret;
}

/* The scene of a figure from an open database, its axes fitted for the canvas. */
static bool read_scene(struct scene *ret, const struct figure *f, struct reader *r, const struct canvas *c, struct diags *diags)
{
    struct queries q = {0};
    bool ok = queries_open(&q, f, r, diags);
    if (ok) {
        struct inputs in = {.query = rows_or_null(&q, QUERY),
                            .front = rows_or_null(&q, FRONT),
                            .reference = rows_or_null(&q, REFERENCE),
                            .annotation = rows_or_null(&q, ANNOTATION),
                            .band = rows_or_null(&q, BAND)};
        char *unit_x = NULL, *unit_y = NULL;
        enum better better_x = BETTER_UNKNOWN, better_y = BETTER_UNKNOWN;
        if (f->x.column) better_x = column_better(r, &f->x, &unit_x);
        if (f->y.column) better_y = column_better(r, &f->y, &unit_y);
        ok = scene_build(ret, f, &in, better_x, better_y, diags);
        if (ok) {
            fit_axes(ret, r, c, unit_x, f->normalize ? NULL : unit_y);
            scene_check_notes(ret, diags);
            if (ret->lossy) ret->budget = budget_of(r);
        }
        free(unit_x);
        free(unit_y);
    }
    for (size_t i = 0; i < QUERIES; i++) query_free(q.query[i]);
    return ok;
}

/* Draw a picture into memory. */
static bool draw(const struct figure *f, struct reader *r, const struct canvas *c, struct text *ret, struct diags *diags)
{
    if (!gnuplot_check(diags)) return false;
    size_t before = diags->n;
    struct scene scene = {0};
    bool ok = read_scene(&scene, f, r, c, diags);
    quote_lines(f, diags, before);
    if (ok) {
        struct text script;
        text_init(&script);
        script_write(&script, &script, &scene, c);
        ok = gnuplot_run(script.s, script.n, ret, diags);
        text_release(&script);
    }
    scene_release(&scene);
    return ok;
}

bool figure_write_script(const struct figure *f, struct reader *r, const char *out, struct diags *diags)
{
    struct canvas canvas = {.format = FORMAT_PDF};
    size_t before = diags->n;
    struct scene scene = {0};
    bool ok = read_scene(&scene, f, r, &canvas, diags);
    quote_lines(f, diags, before);
    if (ok) {
        char *data_path = xasprintf("%s.dat", out);
        struct text script, data;
        text_init(&script);
        text_init(&data);
        canvas.data_path = data_path;
        canvas.picture_path = out;
        script_write(&script, &data, &scene, &canvas);
        ok = file_write(data_path, data.s, data.n, diags) && file_write(out, script.s, script.n, diags);
        text_release(&script);
        text_release(&data);
        free(data_path);
    }
    scene_release(&scene);
    return ok;
}

bool figure_render(const struct figure *f, struct reader *r, const char *out, struct diags *diags)
{
    struct canvas canvas = {0};
    if (!picture_format(out, &canvas.format, diags) || !picture_check(out, diags)) return false;
    struct text picture;
    text_init(&picture);
    bool ok = draw(f, r, &canvas, &picture, diags);
    if (ok) ok = picture_check_whole(canvas.format, &picture, diags);
    if (ok && canvas.format == FORMAT_PNG) picture_set_density(&picture, f->dpi);
    if (ok) ok = file_write(out, picture.s, picture.n, diags);
    text_release(&picture);
    return ok;
}

/* Write a picture of characters, without gnuplot's form feed, the blanks at the ends of lines and the empty lines around it. */
static bool write_lines(const char *s, FILE *out)
{
    size_t blank = 0;
    bool any = false;
    for (const char *next; *s; s = next) {
        size_t n = strcspn(s, "\n");
        next = s + n + (s[n] == '\n');
        if (*s == '\f') s++, n--;
        while (n && s[n - 1] == ' ') n--;
        if (n == 0) {
            blank += any;
            continue;
        }
        for (; blank; blank--) fputc('\n', out);
        fwrite(s, 1, n, out);
        fputc('\n', out);
        any = true;
    }
    return fflush(out) == 0 && !ferror(out);
}

bool figure_render_terminal(const struct figure *f, struct reader *r, int width, int height, FILE *out, struct diags *diags)
{
    enum { WIDTH_MIN = 40, WIDTH_MAX = 1000, HEIGHT_MIN = 12, HEIGHT_MAX = 400 };
    struct canvas canvas = {
        .format = FORMAT_TEXT,
        .columns = width < WIDTH_MIN   ? WIDTH_MIN
                   : width > WIDTH_MAX ? WIDTH_MAX
                                       : width,
        .rows = height < HEIGHT_MIN   ? HEIGHT_MIN
                : height > HEIGHT_MAX ? HEIGHT_MAX
                                      : height,
    };
    struct text picture;
    text_init(&picture);
    bool ok = draw(f, r, &canvas, &picture, diags);
    if (ok && !write_lines(picture.s, out)) ok = diags_runtime(diags, NULL, "cannot write the figure to the terminal");
    text_release(&picture);
    return ok;
}
