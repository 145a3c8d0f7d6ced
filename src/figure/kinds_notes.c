/* Annotations and bands: what stands in a plot beside its data. */
#include "figure/kinds_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <string.h>

/* A number of a row on an axis; NaN for NULL. False with an error for what is none. */
static bool read_place(const struct scene *s, const struct rows *r, int column, const char *key, const struct query_spec *query,
                       enum scale scale, double *ret, struct diags *diags)
{
    enum cell_type type = r->type(r, column);
    *ret = (double)NAN;
    if (type == CELL_NULL) return true;
    double v = r->f64(r, column);
    if ((type != CELL_INTEGER && type != CELL_REAL) || !(fabs(v) < 1e300) || (scale != SCALE_LINEAR && v <= 0))
        return diags_input(diags, query->loc, s->figure->doc->text, NULL, "%s: %s is no place on its axis", key,
                           r->name(r, column));
    *ret = axis_scale(scale, v);
    return true;
}

/* The columns x, y, text: a text at a place; a rule where x or y is NULL. */
static bool add_annotations(struct scene *s, struct rows *r, struct diags *diags)
{
    static const char key[] = "annotation_sql";
    const struct figure *f = s->figure;
    const char *const names[] = {"x", "y", "text"};
    int column[3], more;
    for (int i = 0; i < 3; i++)
        if ((column[i] = rows_find(r, f, key, key, names[i], f->annotation.loc, diags)) < 0) return false;
    while ((more = r->next(r, diags)) > 0) {
        struct note n;
        if (!read_place(s, r, column[0], key, &f->annotation, f->x.scale, &n.x, diags) ||
            !read_place(s, r, column[1], key, &f->annotation, f->y.scale, &n.y, diags))
            return false;
        if (isnan(n.x) && isnan(n.y)) continue;
        if (s->n_notes == NOTES_MAX)
            return diags_input(diags, f->annotation.loc, f->doc->text, NULL, "annotation_sql: gives more than %d rows", NOTES_MAX);
        const char *text = r->type(r, column[2]) == CELL_NULL ? "" : r->text(r, column[2]);
        n.text = xstrdup(text ? text : "");
        s->note[s->n_notes++] = n;
    }
    return more == 0;
}

/* The columns x_from, x_to, text: a shaded range of x, in a colour of its own for each text. */
static bool add_bands(struct scene *s, struct rows *r, struct diags *diags)
{
    static const char key[] = "band_sql";
    const struct figure *f = s->figure;
    const char *const names[] = {"x_from", "x_to", "text"};
    int column[3], more;
    for (int i = 0; i < 3; i++)
        if ((column[i] = rows_find(r, f, key, key, names[i], f->band.loc, diags)) < 0) return false;
    while ((more = r->next(r, diags)) > 0) {
        struct band b;
        if (!read_place(s, r, column[0], key, &f->band, f->x.scale, &b.from, diags) ||
            !read_place(s, r, column[1], key, &f->band, f->x.scale, &b.to, diags))
            return false;
        const char *text = r->type(r, column[2]) == CELL_NULL ? "" : r->text(r, column[2]);
        int name = series_text(&s->band_names, text ? text : "");
        if (s->n_bands == BANDS_MAX || name < 0)
            return diags_input(diags, f->band.loc, f->doc->text, NULL, "band_sql: gives more than %d ranges or %d texts", BANDS_MAX,
                               SERIES_MAX);
        b.name = (uint32_t)name;
        if (b.to > b.from) s->band[s->n_bands++] = b;
    }
    return more == 0;
}

bool scene_add_notes(struct scene *s, const struct inputs *in, struct diags *diags)
{
    return (!in->annotation || add_annotations(s, in->annotation, diags)) && (!in->band || add_bands(s, in->band, diags));
}

/* Is a place on an axis, or none (NaN: a rule)? */
static bool is_on_axis(const struct axis *a, double v)
{
    double at = axis_position(a, v);
    return !(at < 0 || at > 1);
}

void scene_check_notes(const struct scene *s, struct diags *diags)
{
    const struct figure *f = s->figure;
    char number[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < s->n_notes; i++) {
        const struct note *n = &s->note[i];
        bool x = is_on_axis(&s->x, n->x), y = is_on_axis(&s->y, n->y);
        if (x && y) continue;
        const char *place = text_short_number(number, x ? axis_unscale(f->y.scale, n->y) : axis_unscale(f->x.scale, n->x));
        diags_warn(diags, f->annotation.loc, f->doc->text,
                   "annotation_sql: \"%s\" at %s = %s is outside of the axis, and not drawn", n->text, x ? "y" : "x", place);
    }
    for (size_t i = 0; i < s->n_bands; i++) {
        const struct band *b = &s->band[i];
        if (axis_position(&s->x, b->to) > 0 && axis_position(&s->x, b->from) < 1) continue;
        diags_warn(diags, f->band.loc, f->doc->text, "band_sql: \"%s\" from %s is outside of the axis, and not drawn",
                   s->band_names.value[b->name].name, text_short_number(number, axis_unscale(f->x.scale, b->from)));
    }
}
