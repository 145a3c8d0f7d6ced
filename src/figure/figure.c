/* Drawing a figure: queries to rows, rows to a scene, the scene to gnuplot, gnuplot's picture to its place. */
#include "figure/figure.h"

#include "base/text.h"
#include "base/xalloc.h"
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

/* The scene of a figure from an open database, its axes fitted for the canvas. */
static bool read_scene(struct scene *ret, const struct figure *f, struct reader *r, const struct canvas *c, struct diags *diags)
{
    bool ok = false;
    struct query *query = query_new(r, f->query.sql, f->query.loc, diags);
    struct query *front = f->front.sql ? query_new(r, f->front.sql, f->front.loc, diags) : NULL;
    if (query && (front || !f->front.sql)) {
        struct query_rows query_rows, front_rows;
        rows_of_query(&query_rows, query);
        if (front) rows_of_query(&front_rows, front);
        struct inputs in = {.query = &query_rows.rows, .front = front ? &front_rows.rows : NULL};
        char *unit_x = NULL, *unit_y = NULL;
        enum better better_x = column_better(r, &f->x, &unit_x), better_y = column_better(r, &f->y, &unit_y);
        ok = scene_build(ret, f, &in, better_x, better_y, diags);
        if (ok) scene_fit_axes(ret, script_ticks_x(f, c), script_ticks_y(f, c), unit_x, unit_y);
        free(unit_x);
        free(unit_y);
    }
    query_free(front);
    query_free(query);
    return ok;
}

/* Draw into memory. */
static bool draw(const struct figure *f, const char *db, const struct canvas *c, struct text *ret, struct diags *diags)
{
    if (!gnuplot_check(diags)) return false;
    struct reader *r = reader_open(db, diags);
    if (!r) return false;
    size_t before = diags->n;
    struct scene scene = {0};
    bool ok = read_scene(&scene, f, r, c, diags);
    quote_lines(f, diags, before);
    reader_close(r);
    if (ok) {
        struct text script;
        text_init(&script);
        script_write(&script, &scene, c);
        ok = gnuplot_run(script.s, script.n, ret, diags);
        text_release(&script);
    }
    scene_release(&scene);
    return ok;
}

bool figure_render(const struct figure *f, const char *db, const char *out, struct diags *diags)
{
    struct canvas canvas = {0};
    if (!picture_format(out, &canvas.format, diags) || !picture_check(out, diags)) return false;
    struct text picture;
    text_init(&picture);
    bool ok = draw(f, db, &canvas, &picture, diags);
    if (ok) ok = picture_check_whole(canvas.format, &picture, diags);
    if (ok && canvas.format == FORMAT_PNG) picture_set_density(&picture, f->dpi);
    if (ok) ok = picture_write(out, picture.s, picture.n, diags);
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

bool figure_render_terminal(const struct figure *f, const char *db, int width, int height, FILE *out, struct diags *diags)
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
    bool ok = draw(f, db, &canvas, &picture, diags);
    if (ok && !write_lines(picture.s, out)) ok = diags_runtime(diags, NULL, "cannot write the figure to the terminal");
    text_release(&picture);
    return ok;
}
